//! A call whose upstream does not agree with the headers that its list asked for: the list has changed since it was read, so
//! it is read again, and the call goes out once more (MCP 2026-07-28, streamable HTTP: custom headers from parameters). It
//! must not know which headers those are.

use engine::exchange::{Dispatch, dispatch};
use engine::tasks::TaskIds;

use crate::gateway::call::call::Call;
use crate::gateway::call::caller::Request;

impl Call {
    /// Reads its upstream's lists again and begins anew; `false` when that leads nowhere, and the answer stands.
    pub(crate) async fn relist(&mut self) -> bool {
        if std::mem::replace(&mut self.relisted, true) {
            return false;
        }
        let Some(link) = self.link.as_deref().cloned() else { return false };
        let context = self.context.clone();
        let Some(cell) = self.caller.view() else { return false };
        let kind = &cell.kind;
        let offer = self.upstream.offer(kind);
        if self.caller.era() == link.era {
            // Who sends such headers itself reads the list again itself; what it then reads shall be new.
            tokio::spawn(async move { offer.refresh(&context.egress, &link).await });
            return false;
        }
        let deadline = self.exchange.deadline();
        let refreshed = tokio::time::timeout_at(deadline.into(), offer.refresh(&context.egress, &link)).await;
        if !matches!(refreshed, Ok(true)) {
            return false;
        }
        let view = cell.view();
        let info = &context.egress.snapshot.profiles[cell.profile].server_info;
        let frame = self.exchange.request().clone();
        let ids = TaskIds::new(context.sealer(), self.caller.owner(), kind.era);
        match dispatch(&frame, &view, info, ids) {
            Ok(Dispatch::Forward(route)) if route.upstream == self.upstream.server.spec.id => {
                let server = view.upstream_era(route.upstream).unwrap_or(kind.era);
                // The client's own headers followed the list that it knows; its body is what counts.
                let request = Request::in_session(frame, (route, server), info, None);
                matches!(self.begin_again(request), Ok(true))
            }
            _ => false,
        }
    }
}
