//! Links are told what is listened to on others, too: a server may know of a change only in the session in which it was made,
//! and each link to a child is a process, which knows of no other. A call waits for that a moment at most.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use proto::json::quote;
use proto::mcp::Method;
use tokio::task::JoinSet;

use super::topics::Topics;
use crate::egress::Egress;
use crate::link::requests::request;
use crate::link::{OpenLink, Wire};
use crate::pool::Links;

/// The time for which a call waits for what only others want.
const PATIENCE: Duration = Duration::from_millis(250);

/// The number of resources that are told of at once.
const AT_ONCE: usize = 16;

/// Returns true if a child that calls share has not been told what is listened to at its upstream.
pub fn is_behind(topics: &Topics, link: &OpenLink) -> bool {
    matches!(link.wire, Wire::Pipe(_))
        && !link.own
        && link.era.has_sessions()
        && link.told.load(Ordering::Acquire) != topics.revision()
}

/// Tells a link what is listened to at its upstream; goes on beside the caller when that takes longer.
pub async fn tell_also(egress: &Egress, links: &Arc<Links>, topics: &Arc<Topics>, link: &Arc<OpenLink>) {
    if !link.begin_telling() {
        return;
    }
    let (egress, links, topics, link) = (egress.clone(), links.clone(), topics.clone(), link.clone());
    let telling = tokio::spawn(async move { tell(&egress, &links, &topics, &link).await });
    // Dropping the handle lets it go on.
    let _ = tokio::time::timeout(PATIENCE, telling).await;
}

/// All that anybody listens to there, but for sessions that have a connection for themselves.
fn wanted(links: &Links, topics: &Topics) -> Vec<String> {
    let mut wanted = topics.wanted_now();
    if links.server().is_child() {
        for user in links.users() {
            wanted.extend(user.taken_at(links.server()));
        }
        wanted.sort_unstable();
        wanted.dedup();
    }
    wanted
}

/// Tells until there is nothing new.
async fn tell(egress: &Egress, links: &Links, topics: &Topics, link: &Arc<OpenLink>) {
    loop {
        let revision = topics.revision();
        let wanted = wanted(links, topics);
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
                let (egress, link) = (egress.clone(), link.clone());
                let method = if on { Method::Subscribe } else { Method::Unsubscribe };
                told.spawn(async move {
                    request(&egress, &link, method, &format!("\"uri\":{}", quote(&uri))).await
                });
            }
            if told.join_next().await.is_none() {
                break;
            }
        }
    }
}
