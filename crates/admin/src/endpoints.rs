//! The endpoints for operators, as the gateway needs them. This module must not know what they show.

use std::net::SocketAddr;
use std::sync::Arc;

use config::{Management, Metrics};
use gateway::OperatorEndpoints;
use gateway::admission::admin::AdminDoor;
use gateway::process::{Shard, Thread};
use transport::net::{Arrived, Handler, Responding};

use crate::browser::PagesState;
use crate::control_socket::ControlService;
use crate::metrics::MetricsService;
use crate::{api, browser, metrics};

/// The admin pages, the management API, and the figures of one process.
#[derive(Default)]
pub struct Endpoints {
    /// The data that pages keep between requests.
    pages: Arc<PagesState>,
}

impl OperatorEndpoints for Endpoints {
    fn page<'a>(
        &'a self,
        shard: &'a Arc<Shard>,
        door: &'a AdminDoor,
        request: Arrived,
        peer: SocketAddr,
    ) -> Responding<'a> {
        Box::pin(browser::respond((shard, &self.pages), door, request, peer))
    }

    fn management<'a>(
        &'a self,
        shard: &'a Arc<Shard>,
        management: &'a Management,
        request: Arrived,
        peer: SocketAddr,
    ) -> Responding<'a> {
        Box::pin(api::respond(shard, management, request, peer))
    }

    fn metrics<'a>(
        &'a self,
        shard: &'a Arc<Shard>,
        metrics: &'a Metrics,
        request: &'a Arrived,
        peer: SocketAddr,
    ) -> Responding<'a> {
        Box::pin(metrics::respond(shard, metrics, request, peer))
    }

    fn control_service(&self, thread: Arc<Thread>) -> Box<dyn Handler> {
        Box::new(ControlService::new(thread))
    }

    fn metrics_service(&self, thread: Arc<Thread>) -> Box<dyn Handler> {
        Box::new(MetricsService::new(thread))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_gateway_and_the_pages_agree_on_their_path() {
        assert_eq!(gateway::front::http::operators::ADMIN_ROOT, pages::route::ROOT);
    }
}
