//! Transports that move frames: Streamable HTTP, HTTP+SSE and stdio, in both directions.

pub mod budget;
pub mod child;
pub mod files;
pub mod memory;
pub mod net;
pub mod up;
