//! The Model Context Protocol on bytes.
//!
//! A message is one [`bytes::Bytes`] buffer and the places of its members in it; an edit is a splice. What this crate
//! does not understand it forwards unchanged, so there is a type for a message only where the gateway acts on it.
//!
//! Pure: no clock, no randomness, no files, no runtime. Only [`era`] and [`bridge`] know that protocol versions differ.
//!
//! | module | is for |
//! |---|---|
//! | [`json`] | finding and replacing members of JSON text without building a tree |
//! | [`rpc`] | JSON-RPC 2.0 frames, ids, batches, errors |
//! | [`codec`] | frames on a wire: event streams, lines, mirrored HTTP headers |
//! | [`mcp`] | the names of the protocol: methods, notifications, reserved `_meta` keys |
//! | [`era`] | what each protocol version does differently, one row a version |
//! | [`bridge`] | what is said in one era, said in another |

pub mod bridge;
pub mod codec;
pub mod era;
pub mod json;
pub mod mcp;
pub mod rpc;
