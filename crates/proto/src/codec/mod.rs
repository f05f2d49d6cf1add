//! Codecs that turn incoming bytes into whole pieces: lines, server-sent events, header values.
//!
//! Each decoder takes chunks of any size and returns pieces, which share the chunk's memory if a piece lies within
//! one chunk. All input is hostile: every decoder has a cap, and continues after a piece that exceeds it. Nothing
//! here knows JSON-RPC, protocol versions or where the bytes come from.

pub mod headers;
pub mod line;
pub mod sse;
