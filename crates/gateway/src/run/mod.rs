//! The startup of the gateway, its periodic jobs, and its shutdown.
//!
//! | file | is for |
//! |---|---|
//! | [`start`] | starts serving threads from a checked configuration |
//! | `sweep` | periodic jobs |
//! | `local_address` | the Unix socket for clients |
//! | `beside_clients`, `peers` | the sockets beside those for clients over the network; the listener for the other gateways of the cluster |
//! | `control` | the socket on which the local user reaches this process |
//! | `shutdown`, `server_sessions` | the common end of all threads; the end of sessions at servers |
//! | `cluster`, `shared_consents` | the cluster, connected with this gateway's sessions, keys, operators and consents |
//! | `exports` | the export of telemetry to collectors |
//! | `service_notice` | notices to the service manager that started this process |
//! | `open_files` | the limit of open files |

mod beside_clients;
mod cluster;
mod control;
mod exports;
mod local_address;
mod open_files;
mod peers;
mod server_sessions;
mod service_notice;
mod shared_consents;
mod shutdown;
mod start;
mod sweep;

pub use open_files::may_open_files;
pub use start::{ListeningPlaces, Options, Ready, serve, stdio};
