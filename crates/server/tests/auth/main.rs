//! Access control over real sockets: each authentication method, each place that authenticates, the owners of sessions,
//! and the record of all this. Tokens of a real identity provider are tested in `tests/auth`.

#[path = "../support/mod.rs"]
mod support;

#[path = "../admin/browser.rs"]
#[expect(dead_code, reason = "only the tests of the pages use all of it")]
mod admin_browser;

mod affinity;
mod hosted_clients;
mod logs;
mod owners;
mod places;
mod rig;
mod secrets;
mod sign_in;
mod ways;
