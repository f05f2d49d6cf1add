//! Introductions and envelopes between eras.
//!
//! | file | is for |
//! |---|---|
//! | `capabilities` | what a peer can do, in another era's words |
//! | `request` | what a client's request carries besides what it asks for |
//!
//! It must not know what a result holds.

mod capabilities;
mod request;

#[cfg(test)]
mod tests;

pub use crate::era::identity;
pub use capabilities::{client_capabilities, server_capabilities};
pub use request::{Envelope, request};
