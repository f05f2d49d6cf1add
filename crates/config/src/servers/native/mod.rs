//! Embedded servers: their names, and the keys beside `native`.

mod link;
mod server;
mod site;

pub(crate) use link::read_link;
pub use link::{NativeLink, Source, UnknownArguments};
pub use server::Native;
pub use site::{Answers, Requests, Site};
