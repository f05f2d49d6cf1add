//! The arguments of tools: what each may be, how those of a call are read and checked, and why a call fails. It must not know
//! any tool, or what HTTP is.
//!
//! | file | is for |
//! |---|---|
//! | [`argument`] | an argument: what it may be, where it goes |
//! | [`values`] | the arguments of one call, checked |
//! | [`read`] | reading them, by the policy of the server |
//! | `lenient` | the policy that bends what it is given into what it expects |
//! | [`trouble`] | why a call fails, and how that is said |

pub(crate) mod argument;
mod lenient;
pub(crate) mod read;
pub(crate) mod trouble;
pub(crate) mod values;
