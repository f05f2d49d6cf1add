//! The transports, which move frames in both directions: Streamable HTTP, HTTP+SSE and stdio.

pub mod budget;
pub mod child;
pub mod files;
pub mod memory;
pub mod net;
pub mod task;
pub mod up;
