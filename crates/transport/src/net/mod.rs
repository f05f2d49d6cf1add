//! HTTP infrastructure: runtimes, listeners, connections, bodies and a client. It moves requests and answers as bytes,
//! and must not know MCP, configuration files or access rights.
//!
//! | file | is for |
//! |---|---|
//! | [`runtime`] | one single-threaded runtime per core, or one work-stealing runtime; the same futures run on both |
//! | [`stop`] | the signal that the process is about to end |
//! | [`listen`] | listening sockets, one per shard, never shared with another process by accident |
//! | [`accept`] | the accept loop: back-off, connection cap, graceful drain |
//! | [`tls`] | TLS to clients: certificate, key, authorities, all replaceable |
//! | [`pem`] | certificates and keys in PEM, and their files |
//! | [`peer_key`] | TLS between the gateways of a cluster: keys instead of certificates |
//! | `handshake` | a limit on concurrent TLS handshakes |
//! | `handler` | the code that answers requests |
//! | `serve` | one accepted connection, from its first byte to its end (HTTP/1.1, HTTP/2, TLS) |
//! | `server_limits`, `head_limits`, `goodbye` | limits for clients; the end of a connection that is not served |
//! | `supervised` | a connection that follows commands, and releases its buffers while it is at rest |
//! | `roster` | all connections of a shard: which are idle or stalled, and which must end |
//! | `delayed_waker` | a connection's waker, and the body of a request |
//! | `unread` | the body of a request that was answered before it was read |
//! | [`local`] | a Unix socket in a folder, for processes of the same user, and requests over it |
//! | [`body`] | the body type of all messages that Dragoman sends |
//! | [`relay`] | a body from another peer, passed on |
//! | [`collect`](mod@collect) | a whole body under a cap and a deadline |
//! | [`client`] | requests to upstreams over pooled connections |

pub mod accept;
pub mod body;
pub mod client;
pub mod collect;
mod delayed_waker;
pub mod fields;
mod goodbye;
mod handler;
mod handshake;
mod head_limits;
mod inherited;
mod io;
pub mod listen;
pub mod local;
pub mod peer_key;
pub mod pem;
pub mod relay;
mod roster;
pub mod runtime;
mod serve;
mod server_limits;
pub mod stop;
mod supervised;
pub mod tls;
mod unread;

pub use accept::{ConnectionCap, ServeError, serve};
pub use body::{Body, BodyError, BodySender};
pub use client::{
    Client, ClientError, ClientLimits, Origin, Protocol, Replay, ResponseBody, Route, Template, TlsFiles,
    Trust, WireError,
};
pub use collect::{CollectError, collect, collect_after, collect_within, discard};
pub use delayed_waker::Incoming;
pub use handler::{Arrived, Handler, Responding};
pub use inherited::inherited_listeners;
pub use listen::{BindError, Listeners};
pub use peer_key::{PeerKey, PeerKeyError, PeerPublicKey};
pub use relay::{Relay, Rewrite};
pub use runtime::{BoxError, RunError, RuntimeKind, Shard, run};

pub use server_limits::{ServerLimits, SharedServerLimits};
pub use stop::Stop;
pub use tls::ServerTls;

#[cfg(test)]
mod tests;
