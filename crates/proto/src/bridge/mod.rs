//! What is said in one era, said in another: small pure machines and rewritings, one for each thing that differs.
//!
//! | module | is for |
//! |---|---|
//! | [`handshake`] | introductions: capabilities, envelopes, what a request carries |
//! | [`shape`] | data: results, errors, listed items, questions and their answers, notifications |
//! | [`input`] | questions while a request is worked on: as requests, or as results that ask for input |
//! | [`level()`] | levels of log messages |
//! | [`listen`] | notices of changes: subscriptions in a session, or a stream that is asked for |
//! | [`tasks`] | long work: the experiment of 2025-11-25 and the extension |
//!
//! It must not know transports, sessions or time.

pub mod handshake;
pub mod input;
mod level;
pub mod listen;
pub mod shape;
pub mod tasks;

pub use level::level;
