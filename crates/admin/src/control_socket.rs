//! The service of the control socket: the management API for the user that runs this process. This module must not know
//! how the socket is opened.

use std::net::SocketAddr;
use std::sync::Arc;

use engine::access::{Principal, Scheme};
use http::{Response, StatusCode};
use transport::net::{Body, Handler, Responding};

use crate::api;
use gateway::admission::Identity;
use gateway::front::http::answer;
use gateway::process::threads::Thread;
use transport::net::Arrived;

/// The name of the caller, for the log and the record of calls.
pub(crate) const LOCAL: &str = "local";

const NOTHING: &str = r#"{"error":{"code":"NOT_FOUND","message":"only paths below /api are served here"}}"#;

/// The service of the control socket.
#[derive(Clone)]
pub(crate) struct ControlService {
    thread: Arc<Thread>,
    identity: Identity,
}

impl ControlService {
    pub(crate) fn new(thread: Arc<Thread>) -> Self {
        let principal = Principal::new(LOCAL, Scheme::Anyone);
        Self { thread, identity: Identity::of(Arc::new(principal), None) }
    }

    async fn respond(&self, request: Arrived) -> Response<Body> {
        match request.uri().path() {
            "/health" => answer::text(StatusCode::OK, "ok\n"),
            path if path.starts_with(api::ROOT) => {
                let caller = (self.identity.clone(), api::Door::ControlSocket);
                api::respond_to(&self.thread.now(), caller, request).await
            }
            _ => answer::message(404, NOTHING.into()),
        }
    }
}

impl Handler for ControlService {
    fn handle(&self, request: Arrived, _peer: SocketAddr) -> Responding<'_> {
        Box::pin(self.respond(request))
    }
}
