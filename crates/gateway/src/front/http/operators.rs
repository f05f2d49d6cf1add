//! The interface of the endpoints for operators: the crate `admin` implements it, and the program passes the
//! implementation to [`serve`](crate::serve). This module must not know what operators see.

use std::net::SocketAddr;
use std::sync::Arc;

use config::{Management, Metrics};
use transport::net::{Arrived, Handler, Responding};

use crate::admission::admin::AdminDoor;
use crate::process::{Shard, Thread};

/// The path of the pages.
pub const ADMIN_ROOT: &str = "/admin";

/// The path below which the management API is served.
pub const API_ROOT: &str = "/api/";

/// The path of the metrics of the process.
pub const METRICS_PATH: &str = "/metrics";

/// The operators' pages, the management API, and the metrics of a process.
pub trait OperatorEndpoints: Send + Sync + 'static {
    /// Answers a request for a page below `/admin`.
    fn page<'a>(
        &'a self,
        shard: &'a Arc<Shard>,
        door: &'a AdminDoor,
        request: Arrived,
        peer: SocketAddr,
    ) -> Responding<'a>;

    /// Answers a request below [`API_ROOT`].
    fn management<'a>(
        &'a self,
        shard: &'a Arc<Shard>,
        management: &'a Management,
        request: Arrived,
        peer: SocketAddr,
    ) -> Responding<'a>;

    /// Answers a request for the metrics at an address that also serves clients.
    fn metrics<'a>(
        &'a self,
        shard: &'a Arc<Shard>,
        metrics: &'a Metrics,
        request: &'a Arrived,
        peer: SocketAddr,
    ) -> Responding<'a>;

    /// Returns the service at the control socket, through which the local user manages the gateway.
    fn control_service(&self, thread: Arc<Thread>) -> Box<dyn Handler>;

    /// Returns the service at the separate address for metrics.
    fn metrics_service(&self, thread: Arc<Thread>) -> Box<dyn Handler>;
}

/// Returns true if the pages are at this path.
pub fn is_page(path: &str) -> bool {
    path.strip_prefix(ADMIN_ROOT).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_the_pages_lead_to_them() {
        assert!(["/admin", "/admin/", "/admin/x"].iter().all(|path| is_page(path)));
        assert!(!["/administrator", "/", "/Admin", "/api/admin"].iter().any(|path| is_page(path)));
    }
}
