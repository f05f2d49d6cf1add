//! The Model Context Protocol at the level of bytes.
//!
//! A message is one [`bytes::Bytes`] buffer and the spans of its members in it; an edit is a splice. Unknown members and
//! messages are forwarded unchanged, so only messages that the gateway acts on have types.
//!
//! Pure: no clock, no randomness, no files, no runtime. Only [`era`] and [`bridge`] know that protocol versions differ.
//!
//! | module | is for |
//! |---|---|
//! | [`json`] | finding and replacing members of JSON text without building a tree |
//! | [`rpc`] | JSON-RPC 2.0 frames, ids, batches, errors |
//! | [`codec`] | frames on a wire: event streams, lines, mirrored HTTP headers |
//! | [`mcp`] | the names of the protocol: methods, notifications, reserved `_meta` keys |
//! | [`era`] | the differences between protocol versions, one row for each |
//! | [`bridge`] | translation between eras |

pub mod bridge;
pub mod codec;
pub mod era;
pub mod json;
pub mod mcp;
pub mod rpc;
