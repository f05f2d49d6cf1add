//! The parts of RESP 3, the protocol of Redis and Valkey, that a cluster needs. Pure; this module must not know
//! connections or keys.
//!
//! | file | is for |
//! |---|---|
//! | `command` | commands as bytes |
//! | `decoder` | replies from bytes, in pieces of any size |
//! | `reply` | the value of a reply |

mod command;
mod decoder;
mod reply;
#[cfg(test)]
mod tests;

pub(crate) use command::StoreCommand;
pub(crate) use decoder::{Decoder, RespFault};
pub(crate) use reply::StoreReply;
