//! What the gateway decides: configuration, catalogue, names, one exchange's life.
//!
//! Pure: no runtime, clock, randomness or files. Time is an argument; what is random or secret comes in through a port.
//!
//! | module | is for |
//! |---|---|
//! | [`config`] | the configuration's text, checked, as values |
//! | [`principal`], [`access`] | who asks; who may use what |
//! | [`client_address`] | who the client is, behind the proxies that are trusted |
//! | [`credential`] | credentials as requests show them, taken apart |
//! | [`catalogue`] | what upstreams offer, merged into what a client sees |
//! | [`dialect_rows`], [`dialect`] | how an endpoint behaves where systems disagree: rows of data; the one interpreter |
//! | [`exchange`] | one client request from its arrival to its answer |
//! | [`redaction`] | arguments of calls without the secrets in them |
//! | [`rate`] | how many requests in how much time |
//! | [`tasks`] | upstreams' tasks under ids of ours |
//! | [`snapshot`], [`places`] | the configuration compiled; what is served at which path |
//! | [`list_kind`], [`sealer`] | what servers list; the port to what seals states |
//! | [`session`] | what a handshake era keeps for a client: open questions, events to replay |
//! | [`fault`] | an error as a client gets it |

pub mod access;
pub mod catalogue;
pub mod client_address;
pub mod config;
pub mod credential;
pub mod dialect;
pub mod dialect_rows;
pub mod exchange;
pub mod fault;
pub mod list_kind;
pub mod places;
pub mod principal;
pub mod rate;
pub mod redaction;
pub mod sealer;
pub mod session;
pub mod snapshot;
pub mod tasks;

pub use client_address::ClientAddress;
pub use fault::{Blame, Condition, Fault};
pub use snapshot::Snapshot;
