//! JSON text as it is on the wire: a strict validator, the spans of members, and splices.
//!
//! This module builds no tree and changes no spelling, and it must not know JSON-RPC or MCP.

mod cut;
mod error;
mod members;
mod scan;
mod span;
mod splice;
mod text;

#[cfg(test)]
mod tests;

pub use cut::{cut_string, string_length, string_value};
pub use error::{JsonError, Problem};
pub use members::{Duplicate, Elements, Member, Members};
pub use scan::{LIST_DEPTH, MAX_DEPTH, Scanner};
pub use span::Span;
pub use splice::Splice;
pub use text::{quote, quote_into, unquote};
