//! The public URIs of a profile's resources: which of several equal ones are told apart, and how. Access rules and records mean a
//! resource by its server and the server's own URI. This module must not know who sees what.
//!
//! | file | is for |
//! |---|---|
//! | [`public`] | which URIs need this form, and the table of both forms |
//! | [`links`] | the links of MCP Apps in `_meta` |
//! | [`messages`] | the URIs in a server's messages |

mod links;
mod messages;
mod public;

pub(super) use links::linked;
pub(super) use messages::published;
pub(super) use public::{PublicUri, PublicUris};
