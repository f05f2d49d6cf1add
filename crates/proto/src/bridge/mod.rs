//! Translation between eras: small pure state machines and rewriting functions, one for each difference.
//!
//! | module | is for |
//! |---|---|
//! | [`handshake`] | introductions: capabilities, envelopes, parameters of requests |
//! | [`shape`] | data: results, errors, listed items, questions and their answers, notifications |
//! | [`input`] | questions during a request: as requests, or as results that ask for input |
//! | [`level()`] | levels of log messages |
//! | [`listen`] | change notices: subscriptions in a session, or a stream |
//! | [`tasks`] | tasks: the experimental form of 2025-11-25 and the extension |
//!
//! This module must not know transports, sessions or time.

pub mod handshake;
pub mod input;
mod level;
pub mod listen;
pub mod shape;
pub mod tasks;

pub use level::level;
