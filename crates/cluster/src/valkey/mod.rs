//! The store, a Valkey or Redis server: one connection, which is opened again whenever it is lost. This module must not know what is stored.
//!
//! | file | is for |
//! |---|---|
//! | `breaker` | the circuit breaker, which stops commands after failures (pure) |
//! | `server_facts` | the facts that decide whether a store can be used (pure) |
//! | `connecting` | a new connection: TCP, TLS, credentials, the checks of the store |
//! | `connection` | an open connection: commands out, replies and announcements in |
//! | `store` | the handle with which commands are sent, and the task that keeps the connection |
//! | `health` | the state of the connection, for people |
//! | `error` | failures of commands |

mod breaker;
mod connecting;
mod connection;
mod error;
mod health;
mod server_facts;
mod store;

pub(crate) use connecting::StoreAddress;
pub use error::StoreError;
pub use health::{StoreHealth, StoreState};
pub use server_facts::UnfitStore;
pub(crate) use store::Store;
