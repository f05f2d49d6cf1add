//! The side of the gateway that faces MCP servers: negotiation, links, catalogues, notifications and OAuth consent.
//! This crate must not know clients' transports, sessions or profiles: everything for clients goes through
//! [`LinkUser`](link::LinkUser) and [`Audience`].
//!
//! | module | is for |
//! |---|---|
//! | [`negotiation`] | the choice of the protocol version and the transport for a server |
//! | [`oauth`] | this gateway as an OAuth client of servers, on behalf of their users |
//! | [`embedded`] | servers that live in the binary |
//! | [`health`] | the state of a server, the time at which it began, and the reason |
//! | [`definitions`] | the record of a server's tool definitions: first seen, changed, approved |
//! | [`server`], [`destination`], [`bulletin`], `separation` | one configured server: the facts about it, its address, its log lines; whether callers are separated |
//! | `liveness`, [`roots_habit`], [`server_shutdown`] | the time when a server last answered; whether it asks for roots right after a link opens; its shutdown |
//! | [`egress`] | the means by which a thread reaches servers |
//! | [`link`] | one open link: its requests, and the messages that it receives |
//! | [`pool`] | links that are opened on demand: shared links, and dedicated links for one call each |
//! | [`catalogue`] | the items that a server lists: fetched, stored, fetched again |
//! | [`subscriptions`] | the resources that clients listen to: one subscription at the server serves all clients |
//! | [`hearing`], [`changes`] | the unsolicited messages from servers |
//! | [`upstream`], [`upstreams`], [`per_caller`] | one server with its links, lists and subscriptions; all servers; per-caller upstreams |
//! | [`quota`], [`concurrency`], [`drain`], [`closing`], [`web`], [`mask`], [`starts`] | shares of scarce resources; concurrent calls; waiting until nothing runs; links closed in the background; documents of other servers; masked secrets; the number of links that are opened at a time |
//!
//! Each module may use the modules above it.

// The compiler descends into all futures nested in a future to find out whether it is `Send`.
#![recursion_limit = "256"]

pub mod bulletin;
pub mod catalogue;
pub mod changes;
pub mod closing;
pub mod concurrency;
pub mod definitions;
pub mod destination;
pub mod drain;
pub mod egress;
pub mod embedded;
pub mod health;
pub mod hearing;
mod last_words;
pub mod link;
pub mod link_key;
mod liveness;
pub mod mask;
pub mod negotiation;
pub mod oauth;
pub mod per_caller;
pub mod pool;
pub mod quota;
pub mod roots_habit;
pub mod route;
mod separation;
pub mod server;
pub mod server_shutdown;
pub mod starts;
pub mod subscriptions;
pub mod upstream;
pub mod upstreams;
pub mod web;

pub use egress::{Audience, Egress, EgressProcess, ServerMarks};
pub use link_key::LinkKey;
pub use server::Server;
pub use upstream::Upstream;
pub use upstreams::Upstreams;

/// The implementation info with which the gateway introduces itself to servers.
pub const CLIENT_INFO: &str =
    concat!("{\"name\":\"dragoman\",\"version\":\"", env!("CARGO_PKG_VERSION"), "\"}");

/// The message for a failure of the operating system's random number generator.
pub const NO_RANDOM: &str = "the operating system's random number generator failed";
