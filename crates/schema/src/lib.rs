//! Checks of a call's arguments against the JSON Schema of a tool, within a budget: both come from other parties,
//! and a single page of alternatives can require more time or memory than is available. This crate must not know
//! tools, servers or messages; it is pure.
//!
//! The crate is separate because the validation library's code is generic over the form of values, and is compiled
//! where it is used: here, it is optimized for size rather than speed (docs/performance.md, "Size").
//!
//! | module | is for |
//! |---|---|
//! | [`arguments`] | values in the form that the library reads |
//! | [`cost`] | an upper bound for the work of a validation |
//! | `compiled` | a compiled schema |

pub mod arguments;
mod compiled;
pub mod cost;

pub use compiled::CompiledSchema;
