//! The data of messages between eras: data from a peer of one era, rewritten for a peer of another.
//!
//! All functions follow the rows of [`crate::era`], leave unknown members alone, and return the same bytes if nothing has to
//! change, as is always the case between equal eras. This module must not know who sent a request or why, or the other requests
//! of a session.
//!
//! | module | is for |
//! |---|---|
//! | `edit` | changes to members of one object or elements of one array |
//! | `item` | listed tools, prompts, resources, templates |
//! | `result` | results of a client's requests, apart from the data of `tools/call` |
//! | `tool_result` | the data of `tools/call` |
//! | `content` | content blocks |
//! | `error` | error objects |
//! | `question` | questions from a server to a client, and the answers: `elicitation`, `sampling` |
//! | `notification` | notifications in both directions |
//! | `params` | parameters of a client's request |

mod content;
mod edit;
mod elicitation;
mod error;
mod item;
mod notification;
mod params;
mod question;
mod result;
mod sampling;
mod tool_result;

#[cfg(test)]
mod tests;

pub use content::{decoded_length, tool_block};
pub use error::error;
pub use item::{Listed, item};
pub use notification::{client_notification, notification};
pub use params::params;
pub use question::{UnaskableQuestion, answer, question};
pub use result::{GatewayIdentity, ResultChanges, result};
