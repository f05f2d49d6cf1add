//! The data of messages between eras: what a peer of one era wrote, as a peer of another can read it.
//!
//! Everything here goes by the rows of [`crate::era`], leaves alone what it does not know, and gives back the same bytes
//! where there is nothing to change. Between equal eras that is always so. It must not know who asked, or why, and no
//! request of a session.
//!
//! | module | is for |
//! |---|---|
//! | `edit` | changing members of one object, elements of one array |
//! | `item` | listed tools, prompts, resources, templates |
//! | `result` | results of a client's requests: what each carries besides its data |
//! | `tool_result` | the data of `tools/call` |
//! | `content` | content blocks |
//! | `error` | error objects |
//! | `question` | what a server asks of a client, and the answers: `elicitation`, `sampling` |
//! | `notification` | notifications, both ways |
//! | `params` | what a client's request carries |

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

pub use error::error;
pub use item::{Listed, item};
pub use notification::{client_notification, notification};
pub use params::params;
pub use question::{Unaskable, answer, question};
pub use result::{Own, result};
