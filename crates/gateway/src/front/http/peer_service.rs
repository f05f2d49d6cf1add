//! The service at the address for the other gateways of the cluster. It answers the requests that they pass on, and nothing else.
//! This module must not know what the requests mean.

use std::net::SocketAddr;

use cluster::peers::PassedOn;
use http::header::HOST;
use http::{HeaderValue, Response, StatusCode, Uri};
use transport::net::{Arrived, Body, Handler, Responding};

use super::answer;
use super::replicas::NOTE;
use super::replicas::movable::members;
use super::service::Service;

/// The service at the address for the other gateways.
#[derive(Clone)]
pub(crate) struct PeerService(Service);

impl PeerService {
    pub(crate) fn new(service: Service) -> Self {
        Self(service)
    }

    async fn respond(&self, mut request: Arrived) -> Response<Body> {
        let shard = self.0.thread().now();
        let note = request.headers_mut().remove(&NOTE);
        let note = note.as_ref().and_then(|note| note.to_str().ok());
        let passed = note.and_then(|note| members(&shard)?.opened(note));
        let Some(PassedOn { client, host }) = passed else {
            let message = "only the other gateways of this cluster can send requests here; clients connect at the addresses in `listen`";
            return answer::refusal(StatusCode::FORBIDDEN, message);
        };
        // The request gets back the head that it had when it arrived at the other gateway.
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
        let Ok(uri) = target.parse::<Uri>() else { return answer::not_allowed() };
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.remove(HOST);
        headers.extend(host.and_then(|host| HeaderValue::from_str(&host).ok()).map(|host| (HOST, host)));
        self.0.respond_passed_on(request, client).await
    }
}

impl Handler for PeerService {
    fn handle(&self, request: Arrived, _: SocketAddr) -> Responding<'_> {
        Box::pin(self.respond(request))
    }
}
