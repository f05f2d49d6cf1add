//! The admin pages: pure functions from plain data to HTML, with their style sheet, scripts and icons.
//!
//! The gateway gathers the data ([`model`]), calls a function of [`page`] and serves the result below [`route::ROOT`]. This crate must
//! not know the gateway, and has no IO and no clock: the time is an argument.
//!
//! | for | use |
//! |---|---|
//! | a page | the function of [`page`] with the name of the page, a [`model::PageFrame`], and the struct of [`model`] with that name |
//! | the header of each page and asset | [`asset::CONTENT_SECURITY_POLICY`] |
//! | the style sheet and the scripts | [`asset::find`], with [`asset::CACHE_CONTROL`] |
//! | the addresses, the fields of forms, the events of streams | [`route`] |
//! | the record of calls for spreadsheets | [`csv::HEAD`], [`csv::call_line`] |
//! | text of servers, clients and people | [`model::ForeignText`] |

pub mod asset;
pub mod csv;
mod foreign;
pub mod model;
pub mod page;
mod part;
pub mod route;

pub use maud::Markup;
