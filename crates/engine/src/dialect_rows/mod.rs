//! How an endpoint behaves where systems that speak MCP disagree: rows of data. `dialect` is the one interpreter, which this
//! must not know.
//!
//! | file | is for |
//! |---|---|
//! | `row` | the columns of a row |
//! | `cell`, `words` | what may stand in one; the words that are chosen from |
//! | `say` | texts with places in them |
//! | `set`, `sense` | a column set by a configuration; columns that contradict each other |
//! | `built_in`, `parts` | the rows that are built in, one file a system, and what they are written with |

mod bb;
mod buddyboss;
mod built_in;
pub(crate) mod cell;
mod gateway;
mod kulturarv;
mod parts;
pub(crate) mod row;
pub(crate) mod say;
mod sense;
pub(crate) mod set;
mod wordpress;
pub(crate) mod words;

pub use cell::{Choice, Kind, Object, Text};
pub use row::{Column, Dialect, Variant};
pub use say::{Say, Template};
pub use set::Unfit;
pub use words::{
    ArgumentsMissing, Batches, Channel, Check, ErrorId, Gate, GetAnswer, Ids, Mend, Needed, NoId, NullId,
    Origins, Output, ParamsShape, RateHeaders, RequiredStyle, SchemaPart, Sessions, Streams, SuccessFlag,
    ToolOrder, UnknownSession, VersionPolicy,
};
