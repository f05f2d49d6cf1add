//! The one interpreter of tools that send requests: rows in, requests out, answers shaped.
//!
//! All escaping is done here, by where a value goes; a row never joins texts. What a particular service is must not be
//! known here.
//!
//! | file | is for |
//! |---|---|
//! | `step` | what a row says of its requests |
//! | `source`, `content_format` | content as those who edit it see it; in which form it is shown |
//! | `shape` | what of an answer is shown, and in which manner |
//! | `unread`, `unreadable` | answers that are no JSON, and the trouble with them |
//! | `normalize` | answers of PHP made regular |
//! | `place` | where requests go, and what that service's errors look like |
//! | `url` | URLs of places, written in one way |
//! | `offered`, `doubted` | what sites say that they have, and how they are asked |
//! | `known`, `entry` | whether a place knows those whose credentials it is shown |
//! | `request` | a step and a call's values as a request |
//! | `settled` | values that name a place, in the way in which they are sent |
//! | `open` | requests whose route a call says |
//! | `world` | running steps: deadlines, attempts, what is kept |
//! | `cache` | answers that are kept for a while |
//! | `file` | files that calls bring or name |
//! | `brought` | files that services answer with |
//! | `fetch` | files that calls name by URL |
//! | `multipart` | bodies with files (RFC 7578) |
//! | `encode` | values in URLs (RFC 3986) |

mod brought;
mod cache;
mod content_format;
mod doubted;
mod encode;
mod entry;
mod fetch;
mod file;
mod known;
mod multipart;
mod normalize;
mod offered;
mod open;
mod place;
mod request;
mod settled;
mod shape;
mod source;
mod step;
mod unread;
mod unreadable;
mod url;
mod world;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use cache::Cache;
pub(crate) use content_format::{CONTENT_FORMAT, CONTENT_NOTE};
pub(crate) use file::FileFrom;
pub(crate) use known::AcceptedCredentials;
pub(crate) use offered::Offered;
pub(crate) use open::is_listed;
pub(crate) use place::{Doubt, EntryCheck, RequestTarget, RequestTargets};
pub(crate) use settled::settled;
pub use shape::AnswerStyle;
pub(crate) use shape::{CallAnswer, From, Pick, Shape, pick, told};
pub(crate) use source::{ALLOW_MARKUP_LOSS, RENDERED};
pub(crate) use step::{
    Bind, CallerRequest, Check, Encoding, Field, FieldSource, Missing, Step, StepCondition, content, delete,
    edit, fixed, get, patch, post, purge, put, query, value,
};
pub(crate) use unread::{UnreadableKind, json};
pub(crate) use url::base_url;
pub(crate) use world::{RAW, RequestLimits, World};
