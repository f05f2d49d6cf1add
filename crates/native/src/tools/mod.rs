//! The parts that servers of tools share: rows that describe tools, lists and answers. Arguments are read in `arguments`.
//!
//! A tool is a row. This module must not know any particular tool, or what HTTP is.
//!
//! | file | is for |
//! |---|---|
//! | `row` | a tool, and its effect on the environment |
//! | `compact` | arguments and schemas of compact answers |
//! | `schema` | rows as `tools/list` shows them |
//! | `called` | a call: its tool, its values, and the readings of its arguments for access rules |
//! | `server` | the server itself: methods, calls |
//! | `offers` | resources and prompts in addition to tools |
//! | `found` | tools that are found at the site |

mod called;
mod compact;
mod found;
mod offers;
mod row;
mod schema;
mod server;

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use crate::arguments::argument::ArgumentType;
pub(crate) use crate::arguments::argument::{
    Form, Literal, ToolArgument, any, flag, html, int, integers, list, number, object, objects, raw, text,
    user,
};
pub(crate) use crate::arguments::call_failure::{CallFailure, Condition};
pub(crate) use crate::arguments::read::Policy;
pub(crate) use crate::arguments::values::Values;
pub(crate) use found::ToolFinder;
pub(crate) use offers::{OfferTable, Prompt, ResourceRow};
#[cfg(test)]
pub(crate) use row::ToolAction;
pub(crate) use row::{Effect, ToolRow, Wording, local, titled, tool};
pub use server::ToolServer;
pub(crate) use server::{Channel, Family};
