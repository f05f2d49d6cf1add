//! One open link to a server over any transport: requests, unanswered messages, and its users. It must not know when
//! links are opened.
//!
//! | file | is for |
//! |---|---|
//! | [`open_link`] | the link and its state |
//! | [`user`] | a client with a session, as links see it |
//! | [`reply`] | replies to requests |
//! | [`sending`] | requests, and retries after refusals |
//! | `probe`, `doubt` | the probe that finds out if the server was replaced; the meaning of a refusal then |
//! | `outbox` | messages that need no answer |
//! | [`requests`] | the gateway's own requests |

mod doubt;
pub mod open_link;
mod outbox;
mod probe;
pub mod reply;
pub mod requests;
pub mod sending;
pub mod user;

pub use crate::negotiation::wire::Wire;
pub use open_link::{HeldLink, Inbound, LinkHold, OpenLink};
pub use user::LinkUser;
