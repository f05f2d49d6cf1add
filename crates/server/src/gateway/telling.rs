//! Links that one call has for itself are told what others listen to, too: a server may know of a change only in the
//! session in which it was made. The call waits for that a moment at most.

use std::sync::Arc;
use std::time::Duration;

use proto::json::quote;
use proto::mcp::Method;
use tokio::task::JoinSet;

use super::Shard;
use super::link::OpenLink;
use super::requests::request;

/// How long a call waits for what only others want.
const PATIENCE: Duration = Duration::from_millis(250);

/// How many resources are told of at once.
const AT_ONCE: usize = 16;

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

/// Tells until there is nothing new.
async fn tell(shard: &Shard, link: &Arc<OpenLink>) {
    loop {
        let wanted = link.upstream.topics.wanted_now();
        let mut news = link.note_topics(&wanted).into_iter();
        if news.len() == 0 || !link.is_alive() {
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
