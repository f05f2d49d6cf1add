//! Sends subscriptions on all links: a server may report a change only in the session that subscribed, and each
//! link to a child is a separate process. A call waits only briefly until subscriptions have been sent.

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

/// The maximum number of links on which subscriptions are sent at the same time.
const AT_ONCE: usize = 16;

/// Returns true if a shared child has not received all subscriptions of its upstream yet.
pub fn is_behind(topics: &Topics, link: &OpenLink) -> bool {
    matches!(link.wire, Wire::Pipe(_))
        && !link.own
        && link.era.has_sessions()
        && link.announced.topics_revision.load(Ordering::Acquire) != topics.revision()
}

/// Sends the subscriptions of an upstream on a link; continues in the background if this takes longer than a moment.
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
    let announcing = transport::task::spawn(async move { announce(&egress, &links, &topics, &link).await });
    // If this times out, dropping the handle lets the task continue.
    let _ = tokio::time::timeout(PATIENCE, announcing).await;
}

/// Returns all subscriptions at the server, except those of sessions with a connection of their own.
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
                told.spawn(transport::task::boxed(async move {
                    request(&egress, &link, method, &format!("\"uri\":{}", quote(&uri))).await
                }));
            }
            if told.join_next().await.is_none() {
                break;
            }
        }
    }
}
