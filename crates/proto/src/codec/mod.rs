//! Codecs that turn incoming bytes into complete pieces: lines, server-sent events, header values.
//!
//! Each decoder takes chunks of any size and returns pieces. A piece within one chunk shares that chunk's memory.
//! All input may be hostile: every decoder has a cap, and continues after a piece that exceeds it. These modules
//! must not know JSON-RPC, protocol versions or the origin of the bytes.

pub mod headers;
pub mod line;
pub mod sse;
