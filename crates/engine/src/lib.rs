//! The decisions of the gateway: catalogue, names, and the course of one exchange.
//!
//! Pure: no runtime, clock, randomness or files. Time is an argument; randomness and secrets are supplied through a port.
//!
//! | module | is for |
//! |---|---|
//! | [`passed_headers`] | headers of clients' requests that are passed on to servers |
//! | [`principal`], [`access`] | the identity of a caller; access rules |
//! | [`client_address`] | the client's address, behind trusted proxies |
//! | [`credential`] | credentials of requests, parsed but not verified |
//! | [`site_rights`] | the rights of an account at a WordPress site |
//! | [`catalogue`] | the catalogues of upstreams, merged into a client's view |
//! | [`dialect`] | an endpoint's behavior where systems disagree: the interpreter of `config::dialect_rows` |
//! | [`exchange`] | one client request from its arrival to its answer |
//! | [`redaction`] | arguments of calls with their secrets redacted |
//! | [`rate`] | rate limits |
//! | [`tasks`] | upstreams' tasks under the gateway's ids |
//! | [`call_rules`] | the rules for requests to one server, compiled |
//! | [`snapshot`], [`places`] | the compiled configuration; the served paths |
//! | [`result_cap`], [`cached_calls`], [`kept_results`] | long results, shortened; calls whose results may be kept; kept
//! results |
//! | [`known_servers`] | servers for which one process serves all clients |
//! | [`list_kind`], [`sealer`] | the kinds of listed items; the port for sealing |
//! | [`meters`] | counters and histograms of calls |
//! | [`pinning`] | definitions of tools: recorded, compared, approved |
//! | [`injected_arguments`] | arguments that clients add to those of the model |
//! | [`schema_family`] | forms of input schemas that families of clients accept |
//! | [`search`], [`tokens`] | the search over a profile's tools; the estimated tokens of a tool |
//! | [`session`] | state for clients of handshake eras: open questions, events to replay |
//! | [`fault`] | an error in the form that a client gets |

pub mod access;
pub mod cached_calls;
pub mod call_rules;
pub mod catalogue;
pub mod client_address;
pub mod credential;
pub mod dialect;
pub mod exchange;
pub mod fault;
pub mod injected_arguments;
pub mod kept_results;
pub mod known_servers;
pub mod list_kind;
pub mod meters;
pub mod passed_headers;
pub mod pinning;
pub mod places;
pub mod principal;
pub mod rate;
pub mod redaction;
pub mod result_cap;
pub mod schema_family;
pub mod sealer;
pub mod search;
pub mod session;
pub mod site_rights;
pub mod snapshot;
pub mod tasks;
pub mod tokens;

pub use client_address::ClientAddress;
pub use fault::{Blame, Condition, Fault};
pub use snapshot::Snapshot;
