//! The side of the gateway that faces MCP servers: how each is spoken to, the links to it, what it offers, what it is
//! listened to for, and whose consent it wants. It must not know clients' transports, sessions or profiles: what must go up
//! goes through [`LinkUser`](link::LinkUser) and [`Audience`].
//!
//! | room | is for |
//! |---|---|
//! | [`negotiation`] | in which version and over which transport a server is spoken to |
//! | [`oauth`] | this gateway as an OAuth client of servers, on behalf of their users |
//! | [`embedded`] | servers that live in the binary |
//! | [`health`] | the state of a server, since when, and why |
//! | [`server`], [`destination`], [`bulletin`] | one configured server: what is known of it, where it is, what the log says of it |
//! | `liveness`, [`server_shutdown`] | when a server last answered; its end |
//! | [`egress`] | what a thread needs to reach servers |
//! | [`link`] | one open link: requests over it, and what it is told |
//! | [`pool`] | links that are opened when they are needed: shared ones, and those that one call has for itself |
//! | [`catalogue`] | what a server offers to one kind of client: fetched, kept, fetched again |
//! | [`subscriptions`] | resources that anybody listens to: the server is told once |
//! | [`hearing`], [`changes`] | what servers say unasked |
//! | [`upstream`], [`upstreams`], [`per_caller`] | all of that for one server; all servers; servers that callers have for themselves |
//! | [`quota`], [`concurrency`], [`drain`], [`closing`], [`web`], [`mask`], [`starts`] | shares of what is scarce; calls at once; waiting until nothing runs; links closed in the background; documents of other servers; secrets that nobody may see; how many links are opened at a time |
//!
//! Each may use what stands above it.

// Whether a future may change threads is told from all that is nested in it.
#![recursion_limit = "256"]

pub mod bulletin;
pub mod catalogue;
pub mod changes;
pub mod closing;
pub mod concurrency;
pub mod destination;
pub mod drain;
pub mod egress;
pub mod embedded;
pub mod health;
pub mod hearing;
pub mod link;
pub mod link_key;
mod liveness;
pub mod mask;
pub mod negotiation;
pub mod oauth;
pub mod per_caller;
pub mod pool;
pub mod quota;
pub mod server;
pub mod server_shutdown;
pub mod starts;
pub mod subscriptions;
pub mod upstream;
pub mod upstreams;
pub mod web;

pub use egress::{Audience, Egress, EgressProcess};
pub use link_key::LinkKey;
pub use server::Server;
pub use upstream::Upstream;
pub use upstreams::Upstreams;

/// The gateway's introduction to servers.
pub const CLIENT_INFO: &str =
    concat!("{\"name\":\"dragoman\",\"version\":\"", env!("CARGO_PKG_VERSION"), "\"}");

/// The message for a failure of the operating system's random number generator.
pub const NO_RANDOM: &str = "the operating system's random number generator failed";
