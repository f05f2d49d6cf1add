//! Moves frames: Streamable HTTP and stdio, in both directions.

pub mod child;
pub mod net;
pub mod up;
