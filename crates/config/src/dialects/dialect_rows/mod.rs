//! Rows of data that describe the behavior of an endpoint where MCP systems disagree. Only `dialect` interprets the
//! rows, and this module must not know it.
//!
//! | file | is for |
//! |---|---|
//! | `row` | the columns of a row |
//! | `cell`, `words` | the allowed values of a column; the words of a choice |
//! | `fault_text` | texts with placeholders |
//! | `set`, `sense` | columns that a configuration sets; values that are rejected |
//! | `built_in`, `parts` | the built-in rows, one file for each system, and their building blocks |

mod bb;
mod buddyboss;
mod built_in;
pub mod cell;
pub mod fault_text;
mod gateway;
mod kulturarv;
pub mod parts;
pub mod row;
pub mod sense;
pub mod set;
mod wordpress;
pub mod words;

pub use cell::{CellKind, Choice, Object, Text};
pub use fault_text::{FaultText, Template};
pub use row::{Column, Dialect, Variant};
pub use set::UnfitValue;
pub use words::{
    ArgumentsMissing, Batches, Channel, Check, ErrorId, Gate, GetAnswer, Ids, Needed, NoId, NullId, Origins,
    Output, ParamsShape, RateHeaders, Repair, RequiredStyle, SchemaPart, Sessions, Streams, SuccessFlag,
    ToolOrder, UnknownSession, VersionPolicy,
};
