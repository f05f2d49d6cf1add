//! HTTP between processes of the same user on this machine, over a Unix socket in a folder. This module must not know
//! what is served.
//!
//! Both sides check the other side's user, so the permissions of the folder and of the socket are not the only protection.
//!
//! | file | is for |
//! |---|---|
//! | `path` | the paths of the socket and its lock, which may be longer than the system allows for sockets |
//! | `socket` | the listening socket: one process per folder, left-over sockets replaced |
//! | `serve` | the connections to the socket |
//! | `client` | one request over the socket |

mod client;
mod path;
mod serve;
mod socket;

pub use client::{LocalAnswer, LocalClientError, LocalRequest, ask};
pub use path::{LOCK, SOCKET};
pub use serve::{serve_local, serve_local_clients};
pub use socket::{LocalBindError, LocalSocket};
