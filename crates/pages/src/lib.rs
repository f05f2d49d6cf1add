//! The admin pages: pure functions from plain data to HTML, with their style sheet, scripts and icons.
//!
//! The gateway gathers the data ([`model`]), calls a function of [`page`] and serves the result below [`route::ROOT`]. This crate must
//! not know the gateway, and has no IO and no clock: the time is an argument.

pub mod asset;
pub mod csv;
mod foreign;
pub mod model;
pub mod page;
mod part;
pub mod route;

pub use maud::Markup;
