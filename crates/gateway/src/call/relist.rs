//! Handles a call that the upstream rejects because of its headers, although they match the upstream's list of
//! tools as it was last fetched. The list has probably changed, so it is fetched again, and the call is sent once
//! more (MCP 2026-07-28, streamable HTTP: custom headers from parameters). This module must not know the headers.

use engine::exchange::{Dispatch, dispatch};
use engine::tasks::TaskIds;

use crate::call::call::Call;
use crate::call::caller::Request;
use crate::call::retries::RENEGOTIATIONS;
use crate::view::ViewCell;
use proto::era::{Era, by_version};

impl Call {
    /// Fetches the lists of the call's upstream again, and restarts the exchange. Returns `false` if the new lists change
    /// nothing; the answer then remains valid.
    pub(crate) async fn relist(&mut self) -> bool {
        if std::mem::replace(&mut self.retries.rewrites.relisted, true) {
            return false;
        }
        let Some(server) = self.link().map(|link| link.era) else { return false };
        let context = self.context.clone();
        let Some(cell) = self.caller.view() else { return false };
        let catalogue = self.upstream.catalogue.clone();
        if self.caller.era() == server {
            // A client that sends such headers fetches the list again by itself; make sure that the client gets a fresh
            // list.
            transport::task::spawn(async move { catalogue.refresh(&context.egress).await });
            return false;
        }
        let deadline = self.exchange.deadline();
        let refreshed = tokio::time::timeout_at(deadline.into(), catalogue.refresh(&context.egress)).await;
        if !matches!(refreshed, Ok(true)) {
            return false;
        }
        self.dispatched_again(&cell, server, |call, request| matches!(call.begin_again(request), Ok(true)))
    }

    /// Rewrites the call's request for the version that the link actually uses; returns `false` if the request cannot
    /// be rewritten.
    pub(super) fn rewrite(&mut self, speaks: &str) -> bool {
        if self.retries.rewrites.renegotiated == RENEGOTIATIONS {
            return false;
        }
        self.retries.rewrites.renegotiated += 1;
        let (Some(cell), Some(server)) = (self.caller.view(), by_version(speaks)) else { return false };
        self.dispatched_again(&cell, server, |call, request| call.begin_anew(request).is_ok())
    }

    /// Dispatches the call's request again, and restarts the exchange if the request still goes to the same server.
    fn dispatched_again(
        &mut self,
        cell: &ViewCell,
        server: &'static Era,
        begin: impl FnOnce(&mut Self, Request<'_>) -> bool,
    ) -> bool {
        let (context, view) = (self.context.clone(), cell.view());
        let info = &context.egress.snapshot().profiles[cell.profile].server_info;
        let (frame, owner) = (self.exchange.request().clone(), self.caller.owner().to_owned());
        let ids = TaskIds::new(context.sealer(), &owner, cell.clients.era);
        match dispatch(&frame, &view, info, ids) {
            Ok(Dispatch::Forward(mut route)) if route.upstream == self.upstream.server.spec.id => {
                route.unchecked = self.retries.rewrites.unchecked;
                route.keeps_tasks = context.state.homes.has_room();
                // The client's own headers were based on the list that the client knows; the body of the request is
                // authoritative.
                let (headers, carried, counted) = (None, self.connection.carried.clone(), false);
                let identity = self.caller.identity().clone();
                let (whole, slot) = (self.connection.documented, None);
                let request = Request {
                    frame,
                    route,
                    server,
                    headers,
                    server_info: info,
                    identity: &identity,
                    carried,
                    counted,
                    whole,
                    slot,
                    arrived: None,
                    orphan: None,
                };
                begin(self, request)
            }
            _ => false,
        }
    }
}
