//! What servers of tools share: rows that say what a tool is, its arguments read and checked, lists and answers.
//!
//! A tool is a row; nothing here knows a particular one, or what HTTP is.
//!
//! | file | is for |
//! |---|---|
//! | `row` | a tool, and what it does to the world |
//! | `argument` | an argument: what it may be, where it goes |
//! | `schema` | rows as `tools/list` shows them |
//! | `values` | the arguments of one call, checked |
//! | `read` | reading them, by the policy of the server |
//! | `lenient` | the policy that bends what it is given into what it expects |
//! | `trouble` | why a call fails, and how that is said |
//! | `called` | a call: its tool and values, and what rules about arguments see of them |
//! | `server` | the server itself: methods, calls |
//! | `offers` | resources and prompts beside tools |
//! | `found` | tools that are found at the place that is asked |

mod argument;
mod called;
mod found;
mod lenient;
mod offers;
mod read;
mod row;
mod schema;
mod server;
mod trouble;
mod values;

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use argument::Kind;
pub(crate) use argument::{
    Argument, Form, Literal, any, flag, html, int, integers, list, number, object, objects, raw, text, user,
};
pub(crate) use found::Found;
pub(crate) use offers::{Offers, Prompt, Resource};
pub(crate) use read::Policy;
#[cfg(test)]
pub(crate) use row::Act;
pub(crate) use row::{Effect, Tool, local, tool};
pub use server::ToolServer;
pub(crate) use server::{Channel, Family};
pub(crate) use trouble::{Condition, Trouble};
pub(crate) use values::Values;
