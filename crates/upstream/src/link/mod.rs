//! One open link to a server over any transport: its requests, the messages that have not been answered yet, and its
//! users. This module must not know when links are opened.
//!
//! | file | is for |
//! |---|---|
//! | [`open_link`] | the link and its state |
//! | `activity`, `announced` | the use of the link over time; the state that was sent to the server |
//! | [`hold`] | holds of calls on links |
//! | `recipients` | the receivers of the messages that the server sends |
//! | `roots` | the question for the client's roots, right after a link is opened |
//! | [`adopted`] | links that continue the connection of another process for one request |
//! | [`user`] | a client with a session, as links see it |
//! | [`reply`] | replies to requests |
//! | `native_reply` | answers of embedded servers that take long, and their progress |
//! | [`sending`] | requests, and retries after refusals |
//! | `probe`, `mismatched` | the probe that finds out whether the server was replaced; the conclusions from its result |
//! | `outbox` | messages that need no answer |
//! | [`requests`] | the gateway's own requests |

mod activity;
pub mod adopted;
mod announced;
pub mod hold;
mod inbox;
mod mismatched;
mod native_reply;
pub mod open_link;
mod outbox;
mod probe;
mod recipients;
pub mod reply;
pub mod requests;
mod roots;
pub mod sending;
pub mod user;

pub use crate::negotiation::wire::Wire;
pub use hold::{HeldLink, HoldKeeper, LinkHold};
pub use inbox::{Inbound, Inbox, InboxSender};
pub use open_link::{DOUBTFUL, OpenLink};
pub use sending::RequestOrigin;
pub use user::LinkUser;
