//! The entry points for clients. It must not know how a call is performed.
//!
//! | folder, file | is for |
//! |---|---|
//! | [`lines`] | clients with one ordered stream of messages in each direction |
//! | [`dialect`] | the loop around the row of an endpoint that imitates another system |
//! | [`stdio`] | the one client over stdin and stdout |
//! | [`http`] | Streamable HTTP, HTTP+SSE and the management API |

pub(crate) mod dialect;
pub(crate) mod http;
pub(crate) mod lines;
pub(crate) mod stdio;
