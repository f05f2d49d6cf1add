//! Consent of servers' users, over real sockets: requests for it, browsers' redirects, storage, exchange and use of
//! tokens, and the attacks of hostile servers and browsers.

#[path = "../support/mod.rs"]
mod support;

mod apart;
mod attacks;
mod browser;
mod described;
mod given;
mod machine;
mod mix_up;
mod phished;
mod renewed;
mod rig;
mod told;
