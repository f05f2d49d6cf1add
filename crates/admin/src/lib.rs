//! The operators' side of the gateway: the admin pages, the management API, and the figures of the process. This
//! crate must not know how clients are served; it reads the state of a running gateway, and it changes the
//! configuration through [`gateway::changes`].
//!
//! | module | is for |
//! |---|---|
//! | `insight` | what an operator can see of a running gateway, as plain data |
//! | `exposition` | the figures of the process, in the text formats of Prometheus |
//! | `api` | the management API: the table of its operations, and its published description |
//! | `browser` | the admin pages: admission, forms, and one file for each page |
//! | `metrics` | `/metrics` |
//! | `control_socket` | the management API for the user who runs the process |
//! | [`endpoints`] | the endpoints, as the gateway needs them |

// The compiler examines everything nested in a future to find out whether the future is `Send`.
#![recursion_limit = "256"]

mod api;
mod browser;
mod control_socket;
pub mod endpoints;
mod exposition;
mod insight;
mod metrics;
