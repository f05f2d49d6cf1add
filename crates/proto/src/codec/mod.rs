//! Codecs between bytes as they arrive and whole pieces: lines, server-sent events, header values.
//!
//! Each decoder is fed chunks of any size and hands out pieces that share the chunk's memory wherever a piece lies in
//! one chunk. All input is hostile: every decoder has a cap and goes on after a piece that is over it.
//! Nothing here knows JSON-RPC, protocol versions or where the bytes come from.

pub mod headers;
pub mod line;
pub mod sse;
