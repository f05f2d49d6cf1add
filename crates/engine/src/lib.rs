//! What the gateway decides: configuration, catalogue, names, one exchange's life. Pure.

pub mod config;
