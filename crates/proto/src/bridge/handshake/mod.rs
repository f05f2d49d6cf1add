//! Introductions and envelopes between eras.
//!
//! | file | is for |
//! |---|---|
//! | `capabilities` | a peer's capabilities, translated |
//! | `request` | the envelope and the parameters of a client's request |
//!
//! This module must not know the contents of results.

mod capabilities;
mod request;

#[cfg(test)]
mod tests;

pub use crate::era::identity;
pub use capabilities::{client_capabilities, server_capabilities};
pub use request::{Envelope, is_alike, request};
