//! Sends subscriptions on all links: a server may only report a change in the session that subscribed, and each link to a
//! child is a separate process. A call waits for this only a moment.

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

/// The time for which a call waits for other clients' subscriptions.
const PATIENCE: Duration = Duration::from_millis(250);

/// The number of links that are sent subscriptions at a time.
const AT_ONCE: usize = 16;

/// Returns true if a shared child has not received all subscriptions of its upstream yet.
pub fn is_behind(topics: &Topics, link: &OpenLink) -> bool {
    matches!(link.wire, Wire::Pipe(_))
        && !link.own
        && link.era.has_sessions()
        && link.announced.topics_revision.load(Ordering::Acquire) != topics.revision()
}

/// Sends a link the subscriptions of its upstream; continues in the background if that takes longer.
pub async fn announce_topics(
    egress: &Egress,
    links: &Arc<Links>,
    topics: &Arc<Topics>,
    link: &Arc<OpenLink>,
) {
    if !link.announced.begin_announcing() {
        return;
    }
    let (egress, links, topics, link) = (egress.clone(), links.clone(), topics.clone(), link.clone());
    let announcing = tokio::spawn(async move { announce(&egress, &links, &topics, &link).await });
    // Dropping the handle lets the task continue.
    let _ = tokio::time::timeout(PATIENCE, announcing).await;
}

/// All subscriptions at the server, except those of sessions with their own connection.
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

/// Sends changes until there are no new ones.
async fn announce(egress: &Egress, links: &Links, topics: &Topics, link: &Arc<OpenLink>) {
    loop {
        let revision = topics.revision();
        let wanted = wanted(links, topics);
        let mut news = link.announced.note_topics(&wanted).into_iter();
        if news.len() == 0 || !link.is_alive() {
            link.announced.topics_revision.store(revision, Ordering::Release);
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
