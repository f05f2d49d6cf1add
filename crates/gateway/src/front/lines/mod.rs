//! Clients with one ordered stream of messages in each direction: one client over stdin and stdout, or many over
//! HTTP+SSE. It must not know what a message means.
//!
//! | file | is for |
//! |---|---|
//! | [`client`], `stateless` | such a client, in eras with and without a handshake |
//! | [`stdin`] | the lines of stdin |

pub(crate) mod client;
mod stateless;
pub(crate) mod stdin;
