//! Servers that callers have for themselves, because each gives a consent of its own: who is told, and when they are let go. It
//! must not know how consent is given.

use std::time::Duration;

use engine::catalogue::UpstreamId;
use upstream::parting;

use super::Shard;

/// Tells views and sessions that have begun before a server wanted consent that callers are apart there.
pub(super) fn tell_news(shard: &Shard) {
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

/// Lets go of what callers have had for themselves and not used for so long: what they allowed is kept.
pub(super) fn shed(shard: &Shard, after: Duration) {
    for one in shard.view.state.upstreams.all().iter() {
        for (caller, upstream) in one.idle(after) {
            let gone = shard.view.state.views.let_go(&upstream.server, || one.remove(&caller)).flatten();
            let Some(upstream) = gone else { continue };
            let egress = shard.egress.clone();
            parting::beside(async move {
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
