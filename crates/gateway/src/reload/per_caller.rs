//! Per-caller servers, which require each caller's own consent: separates callers, and removes one caller's servers
//! when they are idle. This module must not know how consent is given.

use std::time::Duration;

use engine::catalogue::UpstreamId;
use upstream::closing;

use crate::process::Shard;

/// Separates callers in views and sessions that were created before a server required consent.
pub(crate) fn separate_callers(shard: &Shard) {
    let all = shard.view.state.upstreams.all();
    let news = all.iter().map(|one| &one.common.server).filter(|server| server.take_news());
    let news: Vec<UpstreamId> = news.map(|server| server.spec.id).collect();
    if news.is_empty() {
        return;
    }
    for id in news {
        shard.view.state.views.part(&shard.view, id);
    }
    for session in shard.session.state.sessions.all() {
        session.follow(&shard.session);
    }
}

/// Removes per-caller servers that have been idle for the time `after`; the consents are kept.
pub(crate) fn shed(shard: &Shard, after: Duration) {
    for one in shard.view.state.upstreams.all().iter() {
        for (caller, upstream) in one.idle(after) {
            let gone = shard.view.state.views.let_go(&upstream.server, || one.remove(&caller)).flatten();
            let Some(upstream) = gone else { continue };
            let egress = shard.egress.clone();
            closing::beside(async move {
                upstream.server.end();
                for cell in upstream.cells() {
                    cell.retire();
                    cell.close(&egress).await;
                }
                upstream.forget_all();
            });
        }
    }
}
