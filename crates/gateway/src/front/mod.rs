//! The entry points for clients. This module must not know how a call is performed.
//!
//! | folder, file | is for |
//! |---|---|
//! | [`lines`] | clients with one ordered stream of messages in each direction |
//! | [`dialect`] | endpoints that imitate another system, over any transport |
//! | [`stdio`] | the one client over stdin and stdout |
//! | [`http`] | Streamable HTTP, HTTP+SSE and the management API |

pub(crate) mod dialect;
pub mod http;
pub(crate) mod lines;
pub(crate) mod stdio;
