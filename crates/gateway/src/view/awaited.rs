//! Calls that wait briefly for lists that are being fetched: calls with an unknown name while a server's lists are
//! being fetched, and the first calls to a server after startup, while the known list of its tools is from an
//! earlier run. This module must not know how lists are fetched.

use std::time::Duration;

use engine::catalogue::View;
use engine::exchange::{may_gain, may_own};
use proto::mcp::Method;
use proto::rpc::Frame;
use tokio::time::timeout;

use super::context::ViewContext;
use super::view_cell::ViewCell;
use upstream::Upstream;

/// The time for which a call waits, counted from the beginning of the fetch.
const MOMENT: Duration = Duration::from_millis(500);

impl ViewCell {
    /// Returns true if a call has to wait for lists that are being fetched.
    pub(super) fn awaits_lists(&self, frame: &Frame, view: &View) -> bool {
        let basis = self.basis.load();
        basis
            .upstreams
            .iter()
            .any(|upstream| upstream.catalogue.is_unsettled() && is_awaited(upstream, frame, view))
    }

    /// Waits for the lists that the call has to wait for. After that, the view includes these lists.
    pub(super) async fn await_lists(&self, context: &ViewContext, frame: &Frame, view: &View) {
        for upstream in &self.basis.load_full().upstreams {
            if !upstream.catalogue.is_unsettled() || !is_awaited(upstream, frame, view) {
                continue;
            }
            let catalogue = &upstream.catalogue;
            let mut done = catalogue.watch();
            if catalogue.is_first_awaited() {
                drop(catalogue.fetch(&context.egress, self.clients.era));
            }
            let settled = async { while catalogue.is_unsettled() && done.changed().await.is_ok() {} };
            let _ = timeout(MOMENT.saturating_sub(catalogue.under_way()), settled).await;
        }
    }
}

/// Returns true if a call may be meant for a server whose lists are being fetched, and if these lists matter for
/// the call.
fn is_awaited(upstream: &Upstream, frame: &Frame, view: &View) -> bool {
    let names = matches!(Method::from_name(&frame.method()), Some(Method::ToolsCall | Method::PromptsGet));
    names
        && may_own(frame, view, upstream.name())
        && (upstream.catalogue.is_first_awaited() || may_gain(frame, view))
        && upstream.catalogue.under_way() < MOMENT
        && !upstream.server.hung_lately()
}
