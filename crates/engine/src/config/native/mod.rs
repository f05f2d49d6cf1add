//! What is said of an embedded server: which one, which site it works on, which sources it asks.

mod model;
mod read;

pub use model::{Answers, Native, NativeLink, Requests, Site, SiteRate, Source, UnknownArguments};
pub(super) use read::{KEYS, read_link};
