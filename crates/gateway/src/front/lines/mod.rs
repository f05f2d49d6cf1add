//! Clients with one ordered stream of messages in each direction: one over stdin and stdout, or many over HTTP+SSE. They
//! must not know what a message means.
//!
//! | file | is for |
//! |---|---|
//! | [`client`], `stateless` | such a client, in eras with a handshake and without |
//! | [`stdin`] | the lines of stdin |

pub(crate) mod client;
mod stateless;
pub(crate) mod stdin;
