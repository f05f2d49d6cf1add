//! Consent of servers' users, over real sockets: requests for it, browsers' redirects, storage, exchange and use of
//! tokens, and the attacks of hostile servers and browsers.

#[path = "../support/mod.rs"]
mod support;

#[path = "../admin/browser.rs"]
#[expect(dead_code, reason = "only the tests of the pages use all of it")]
mod admin_browser;

mod apart;
mod attacks;
mod browser;
mod described;
mod given;
mod machine;
mod mix_up;
mod phished;
mod played;
mod renewed;
mod revoked;
mod rig;
mod told;
