//! Links are told what is listened to on others, too: a server may know of a change only in the session in which it was made,
//! and each link to a child is a process, which knows of no other. A call waits for that a moment at most.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use proto::json::quote;
use proto::mcp::Method;
use tokio::task::JoinSet;

use super::Shard;
use super::link::OpenLink;
use super::requests::request;
use super::session::Session;
use super::upstream::{Place, Upstream};
use super::wire::Wire;

/// How long a call waits for what only others want.
const PATIENCE: Duration = Duration::from_millis(250);

/// How many resources are told of at once.
const AT_ONCE: usize = 16;

/// Whether a child that calls share has not been told what is listened to at its upstream.
pub(super) fn is_behind(link: &OpenLink) -> bool {
    matches!(link.wire, Wire::Pipe(_))
        && !link.own
        && link.era.has_sessions()
        && link.told.load(Ordering::Acquire) != link.upstream.topics.revision()
}

/// Tells a link what is listened to at its upstream; goes on beside the caller when that takes longer.
pub(super) async fn tell_also(shard: &Shard, link: &Arc<OpenLink>) {
    if !link.begin_telling() {
        return;
    }
    let (shard, link) = (shard.clone(), link.clone());
    let telling = tokio::spawn(async move { tell(&shard, &link).await });
    // Dropping the handle lets it go on.
    let _ = tokio::time::timeout(PATIENCE, telling).await;
}

/// All that anybody listens to there, but for sessions that have a connection for themselves.
fn wanted(upstream: &Upstream) -> Vec<String> {
    let mut wanted = upstream.topics.wanted_now();
    if matches!(upstream.place, Place::Child(_)) {
        for session in sharers(upstream) {
            wanted.extend(session.taken_at(upstream));
        }
        wanted.sort_unstable();
        wanted.dedup();
    }
    wanted
}

/// The sessions that share their connection to an upstream.
pub(super) fn sharers(upstream: &Upstream) -> Vec<Arc<Session>> {
    upstream.cells().iter().filter_map(|cell| cell.current()).flat_map(|link| link.users()).collect()
}

/// Tells until there is nothing new.
async fn tell(shard: &Shard, link: &Arc<OpenLink>) {
    loop {
        let revision = link.upstream.topics.revision();
        let wanted = wanted(&link.upstream);
        let mut news = link.note_topics(&wanted).into_iter();
        if news.len() == 0 || !link.is_alive() {
            link.told.store(revision, Ordering::Release);
            return;
        }
        let mut told = JoinSet::new();
        loop {
            while told.len() < AT_ONCE
                && let Some((uri, on)) = news.next()
            {
                let (shard, link) = (shard.clone(), link.clone());
                let method = if on { Method::Subscribe } else { Method::Unsubscribe };
                told.spawn(async move {
                    request(&shard, &link, method, &format!("\"uri\":{}", quote(&uri))).await
                });
            }
            if told.join_next().await.is_none() {
                break;
            }
        }
    }
}
