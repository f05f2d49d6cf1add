//! The views of clients without a session, over any transport.

use std::sync::Arc;

use bytes::Bytes;
use engine::catalogue::View;
use proto::bridge::input::{Askable, questions_of};
use proto::era::Era;
use proto::mcp::meta;
use proto::rpc::Frame;

use crate::admission::Identity;
use crate::admission::rates::{LimitedMessage, Rates};
use crate::call::CallContext;
use crate::view::view_cell::ViewCell;
use crate::view::{ClientClass, NoKnownView};
use upstream::catalogue::Learner;
use upstream::pool::DedicatedLink;
use upstream::{LinkKey, Upstream};

/// Returns the view of clients without a session that use this era and cannot answer servers' questions.
pub async fn view(
    context: &Arc<CallContext>,
    profile: usize,
    era: &'static Era,
    identity: &Identity,
) -> Arc<ViewCell> {
    context.view.state.views.get(&context.view, profile, ClientClass::plain(era), identity, |_| None).await
}

/// Returns the view of a client without a session, whose request declares its capabilities.
pub async fn view_of(
    context: &Arc<CallContext>,
    profile: usize,
    era: &'static Era,
    (identity, frame): (&Identity, &Frame),
) -> Arc<ViewCell> {
    let span = frame.meta(meta::CLIENT_CAPABILITIES).ok().flatten();
    let capabilities = span.map_or(&b"{}"[..], |span| span.of(frame.text()));
    let clients = ClientClass::new(era, Askable::of(era, capabilities));
    let learner = |upstream: &Arc<Upstream>| learner(context, upstream, era, (identity, capabilities));
    context.view.state.views.get(&context.view, profile, clients, identity, learner).await
}

/// Returns the link over which to fetch the lists that a server shows to clients like this one. If the server
/// accepts capabilities per request, this is the shared link. Otherwise, it is a dedicated link.
fn learner(
    context: &Arc<CallContext>,
    upstream: &Arc<Upstream>,
    era: &'static Era,
    (identity, capabilities): (&Identity, &[u8]),
) -> Option<Learner> {
    let asks = questions_of(capabilities);
    if !upstream.server.link_era(era).has_sessions() {
        let cell = upstream.shared_link(era);
        return Some(Learner { cell, dedicated: None, capabilities: Bytes::from(asks), era });
    }
    // On the only link of a server, everybody sees the same lists.
    if upstream.server.spec.is_single() {
        return None;
    }
    let kind = LinkKey { era, capabilities: Bytes::from(asks) };
    let capabilities = kind.capabilities.clone();
    let dedicated = DedicatedLink::take(&context.egress, &upstream.links, &kind, identity.holder()).ok()?;
    Some(Learner { cell: dedicated.cell.clone(), dedicated: Some(dedicated), capabilities, era })
}

/// Returns a message in the form that a profile's rate limits need. If tools are counted separately, and no view of the
/// caller is known yet, the tool is looked up in the view for clients of this era.
pub(crate) async fn counted<'f>(
    context: &Arc<CallContext>,
    rates: &Rates,
    (profile, era): (usize, &'static Era),
    identity: &Identity,
    frame: &'f Frame,
) -> LimitedMessage<'f> {
    let searches = || context.egress.snapshot().profiles[profile].rules.tools.is_searched();
    let mut counted = rates.nowhere(frame, searches);
    let Some(tool) = counted.tool() else { return counted };
    let identity = match context.view.state.views.show(&context.view, profile, identity, tool) {
        Ok(identity) => identity,
        Err(NoKnownView) => Box::pin(view(context, profile, era, identity)).await.view().identity_of(tool),
    };
    counted.set_identity(identity);
    counted
}

/// Returns the view of a client without a session for one request, including the servers that the request may concern.
pub async fn view_for(context: &Arc<CallContext>, cell: &Arc<ViewCell>, frame: &Frame) -> Arc<View> {
    let view = cell.view();
    if !cell.is_early_for(frame, &view) {
        return view;
    }
    Box::pin(cell.complete(&context.view, frame)).await;
    cell.view()
}
