//! Consent of servers' users, over real sockets: how it is asked for, what browsers bring back, how tokens are kept,
//! exchanged and shown, and what hostile servers and browsers try.

#[path = "../support/mod.rs"]
mod support;

mod apart;
mod attacks;
mod browser;
mod given;
mod mix_up;
mod phished;
mod renewed;
mod rig;
mod told;
