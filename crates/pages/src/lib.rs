//! The admin pages: pure functions from plain data to HTML, with their style sheet, scripts and icons.
//!
//! The gateway gathers the data ([`model`]), calls a function of `page` and serves the result. This crate must not know the gateway, and
//! has no IO and no clock: the time is an argument.

mod foreign;
pub mod model;
