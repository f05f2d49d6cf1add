//! JSON-RPC 2.0 as MCP uses it: frames, ids, batches, errors.
//!
//! A frame holds the bytes as received, and the spans of the members that the gateway acts on. This module must not
//! know eras.

mod batch;
mod envelope_members;
mod error;
mod frame;
mod id;
mod params;
mod stream;

#[cfg(test)]
mod tests;

pub use batch::{Batch, Message, array};
pub use error::{RpcError, code, error_response, result_pieces, result_response};
pub use frame::{Frame, FrameError, FrameFault, FrameKind, FrameLimits};
pub use id::{Id, IdError};
pub use params::Params;
pub use stream::{IdSwap, StreamFault};
