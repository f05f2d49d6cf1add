//! Results of tools that are longer than their server's `maxResult`: text is cut, and everything that is left out can be
//! read as a resource of the gateway.
//!
//! ```text
//!  result ─► shorten ─► Shortened ─► rest: the contents of the resource, for the reader
//!                           └──────► finish: the result with a notice and a link
//! ```
//!
//! | file | is for |
//! |---|---|
//! | `plan` | what stays, what is cut, what is left out |
//! | `item` | one block of content, and its contents as a resource |
//! | `wording` | the notice, the link and the reasons, for models and people |
//! | `uri` | the URIs of the parts that are left out |
//!
//! This module must not know where a rest is kept, or who may read it.

mod item;
mod plan;
mod uri;
mod wording;

#[cfg(test)]
mod tests;

pub use plan::{CapRules, ShortenedResult, UncutReason, shorten};
pub use uri::{RestId, rest_id};
