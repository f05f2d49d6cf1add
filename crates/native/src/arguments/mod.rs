//! The arguments of tools: their types and limits, how the arguments of a call are read and checked, and why a call
//! fails. This module must not know any tool, or what HTTP is.
//!
//! | file | is for |
//! |---|---|
//! | [`argument`] | an argument: its type, its limits, and its place in a request |
//! | [`values`] | the arguments of one call, checked |
//! | [`read`] | reading the arguments according to the server's policy |
//! | `lenient` | the policy that converts values to the expected type |
//! | [`call_failure`] | why a call fails, and how the failure is reported |

pub(crate) mod argument;
pub(crate) mod call_failure;
mod lenient;
pub(crate) mod read;
pub(crate) mod values;
