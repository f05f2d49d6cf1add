//! The public URIs of a profile's resources: if several servers have the same URI, each server's resource gets a different
//! public URI. Access rules and records refer to a resource by its server and the server's own URI. This module must not know
//! who sees what.
//!
//! | file | is for |
//! |---|---|
//! | [`public`] | decides which URIs carry their server's name; contains the table of own and public URIs |
//! | [`claims`] | the URIs that servers claim by their templates |
//! | [`links`] | the links of MCP Apps in `_meta` |
//! | [`messages`] | the URIs in a server's messages |

mod claims;
mod links;
mod messages;
mod public;

pub(super) use links::linked;
pub(super) use messages::published;
pub(super) use public::{PublicUri, PublicUris};
