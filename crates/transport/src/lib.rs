//! Moves frames: Streamable HTTP and stdio, in both directions.
