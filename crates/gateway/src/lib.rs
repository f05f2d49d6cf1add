//! The side that faces MCP clients: authentication, views, sessions, calls, and the transports for clients. This crate
//! must not know how a server is reached (the crate `upstream` knows this), or how the configuration is found and read.
//!
//! | module | is for |
//! |---|---|
//! | `telemetry` | the metrics of requests |
//! | `admission` | authentication, rate limits, and the record of calls |
//! | `control` | the command line's access to a running gateway |
//! | `changes` | changes to servers and profiles while serving: valid requests, and the resulting configuration |
//! | `definitions` | reviews of tools' definitions: the changes that await approval, for people and programs |
//! | `view` | one profile as one server: from catalogues to ready bytes |
//! | `session` | the state of a client with a handshake: streams, subscriptions, open questions |
//! | `call` | one request from a client: decided, forwarded, answered, parked, recorded |
//! | `dialect_session` | the state of clients at endpoints that imitate another system |
//! | `process` | the gateway under one configuration, the state that outlives it, and each thread's handle to both |
//! | `management` | the operations of the management API, and their record |
//! | [`KeyNames`] | the names of API keys, for lists of callers |
//! | `front` | transports for clients: HTTP, event streams, lines, dialects |
//! | [`machine`] | checks of the machine: certificate, clock, state folder |
//! | `tls` | the files of `tls`: read, checked, and reloaded |
//! | `reload` | puts a new configuration into force while serving |
//! | `run` | start, periodic jobs, shutdown |
//!
//! Each module may use the modules above it.

// The compiler examines everything nested in a future to find out whether the future is `Send`.
#![recursion_limit = "256"]

pub mod admission;
pub mod call;
pub mod changes;
pub mod control;
pub mod definitions;
mod dialect_session;
pub mod front;
pub mod key_names;
pub mod machine;
pub mod management;
pub mod process;
mod reload;
mod run;
pub mod session;
pub mod telemetry;
pub mod tls;
pub mod view;

pub use front::http::operators::OperatorEndpoints;
pub use key_names::KeyNames;
pub use reload::{Origin, UnreadConfig};
pub use run::{ListeningPlaces, Options, Ready, may_open_files, serve, stdio};
