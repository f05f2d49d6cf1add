//! Who may come in, over real sockets: each way to show who one is, each place that asks, whose a session is, and what is
//! written down of it. Tokens of a real identity provider are in `tests/auth`.

#[path = "../support/mod.rs"]
mod support;

mod affinity;
mod logs;
mod owners;
mod places;
mod rig;
mod secrets;
mod ways;
