//! Sessions and event streams. A session's id is a secret of its client, so it is never shown: sessions are distinguished by
//! a digest. This module must not know transports.

use std::fmt::Write as _;
use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use schemars::JsonSchema;
use serde::Serialize;

use super::keys::key_names;
use super::moment::PointInTime;
use gateway::key_names::KeyNames;
use gateway::process::Shard;
use gateway::session::session::{ClientChannel, Session};

/// The number of characters of a digest that identify a session.
const DIGITS: usize = 16;

/// The sessions on one page, and the open event streams.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionPage {
    /// The number of chosen sessions on all pages.
    pub(crate) total: usize,
    /// The sessions, the most recently used first.
    pub(crate) sessions: Vec<ListedSession>,
    /// The number of open event streams, whether they belong to a session or not.
    pub(crate) streams: usize,
    /// The numbers of event streams by principal.
    pub(crate) streams_by_principal: Vec<StreamCount>,
}

/// The event streams of a principal.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StreamCount {
    pub(crate) principal: String,
    pub(crate) streams: usize,
}

/// A session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListedSession {
    /// The beginning of a digest of the session's id.
    pub(crate) id: String,
    /// `http` (Streamable HTTP), `lines` (HTTP+SSE or stdio) or `dialect`.
    pub(crate) kind: &'static str,
    pub(crate) profile: String,
    pub(crate) principal: String,
    /// The name of the principal's API key, looked up now; `null` for other principals.
    pub(crate) principal_name: Option<String>,
    pub(crate) address: Option<String>,
    /// The name and version of the client, as it states them.
    pub(crate) client: Option<String>,
    /// The protocol version; `null` for endpoints with a dialect.
    pub(crate) era: Option<&'static str>,
    pub(crate) opened: PointInTime,
    pub(crate) idle_seconds: u64,
    /// The number of running requests.
    pub(crate) running: usize,
    /// True if the client has a stream for messages that belong to no request.
    pub(crate) has_stream: bool,
    /// The number of resources to which the client is subscribed.
    pub(crate) subscriptions: usize,
    /// The number of questions of servers that the client has not answered.
    pub(crate) questions: usize,
    /// The questions that the client can be asked: `elicitation`, `roots`, `sampling`.
    pub(crate) capabilities: Vec<String>,
}

/// The filter for a list of sessions.
#[derive(Debug, Clone)]
pub(crate) struct SessionQuery {
    pub(crate) profile: Option<String>,
    pub(crate) principal: Option<String>,
    pub(crate) offset: u64,
    pub(crate) limit: u64,
}

/// Returns the digest under which a session is shown.
fn shown_id(id: &str) -> String {
    let mut text = String::with_capacity(64);
    for byte in digest(&SHA256, id.as_bytes()).as_ref() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text.truncate(DIGITS);
    text
}

/// Returns the chosen sessions.
pub(crate) async fn sessions(shard: &Arc<Shard>, query: SessionQuery) -> SessionPage {
    let (own, names) = (shard.clone(), key_names(shard).await);
    // There may be many sessions.
    let gathered = transport::task::spawn_blocking(move || gather(&own, &names, &query)).await;
    gathered.unwrap_or(SessionPage {
        total: 0,
        sessions: Vec::new(),
        streams: 0,
        streams_by_principal: Vec::new(),
    })
}

fn gather(shard: &Shard, names: &KeyNames, query: &SessionQuery) -> SessionPage {
    let of_protocol = shard.session.state.sessions.all();
    let of_dialects = shard.gateway.process.dialect_sessions.listed();
    let all = of_protocol.iter().map(|session| one(shard, session));
    let dialects = of_dialects.iter().map(|(id, session)| ListedSession {
        id: shown_id(id),
        kind: "dialect",
        profile: slug(shard, session.profile),
        principal: session.identity().id().to_owned(),
        principal_name: None,
        address: session.identity().address().map(|address| address.to_string()),
        client: session.program().map(ToString::to_string),
        era: None,
        opened: PointInTime::before(session.opened_for()),
        idle_seconds: session.idle_for().as_secs(),
        running: session.requests.count(),
        has_stream: session.has_stream(),
        subscriptions: 0,
        questions: 0,
        capabilities: Vec::new(),
    });
    let is_chosen = |session: &ListedSession| {
        query.profile.as_ref().is_none_or(|profile| session.profile == *profile)
            && query.principal.as_ref().is_none_or(|caller| names.is_called(&session.principal, caller))
    };
    let mut sessions: Vec<ListedSession> = all.chain(dialects).filter(is_chosen).collect();
    for session in &mut sessions {
        session.principal_name = names.name_of(&session.principal).map(str::to_owned);
    }
    sessions.sort_by(|one, other| (one.idle_seconds, &one.id).cmp(&(other.idle_seconds, &other.id)));
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let total = sessions.len();
    let sessions = sessions.into_iter().skip(count(query.offset)).take(count(query.limit)).collect();
    let (streams, streams_by_principal) = streams(shard);
    SessionPage { total, sessions, streams, streams_by_principal }
}

fn slug(shard: &Shard, profile: usize) -> String {
    shard.gateway.snapshot.profiles.get(profile).map(|profile| profile.slug.to_string()).unwrap_or_default()
}

fn one(shard: &Shard, session: &Session) -> ListedSession {
    let (kind, has_stream) = match &session.channel {
        ClientChannel::Http(streams) => ("http", streams.has_standing()),
        ClientChannel::Pipe(_) => ("lines", true),
    };
    ListedSession {
        id: shown_id(&session.id),
        kind,
        profile: slug(shard, session.profile),
        principal: session.identity.id().to_owned(),
        principal_name: None,
        address: session.identity.address().map(|address| address.to_string()),
        client: session.identity.client_label.as_ref().map(ToString::to_string),
        era: Some(session.era().version),
        opened: PointInTime::before(session.usage.age()),
        idle_seconds: session.usage.idle().as_secs(),
        running: session.requests.count(),
        has_stream,
        subscriptions: session.interests.subscriptions.count(),
        questions: session.asks.lock().len(),
        capabilities: askable(&session.client.capabilities),
    }
}

/// Returns the questions that a client with these capabilities can be asked.
fn askable(capabilities: &[u8]) -> Vec<String> {
    let declared: serde_json::Value = serde_json::from_slice(capabilities).unwrap_or_default();
    let words = ["elicitation", "roots", "sampling"];
    words.iter().filter(|word| declared.get(**word).is_some()).map(|word| (*word).to_owned()).collect()
}

/// The maximum number of principals whose event streams are counted separately.
const MOST_PRINCIPALS: usize = 100;

fn streams(shard: &Shard) -> (usize, Vec<StreamCount>) {
    let mut by_principal = std::collections::BTreeMap::<String, usize>::new();
    let open = shard.session.state.holders.open.lock();
    for held in open.values() {
        *by_principal.entry(held.principal.id.to_string()).or_default() += 1;
    }
    let mut counts: Vec<StreamCount> =
        by_principal.into_iter().map(|(principal, streams)| StreamCount { principal, streams }).collect();
    counts.sort_by_key(|count| std::cmp::Reverse(count.streams));
    counts.truncate(MOST_PRINCIPALS);
    (open.len(), counts)
}

/// Ends the session with this shown id; returns its principal, or `None` if there is no such session.
pub(crate) async fn end(shard: &Arc<Shard>, id: &str) -> Option<String> {
    let (own, wanted) = (shard.clone(), id.to_owned());
    let found = transport::task::spawn_blocking(move || {
        let sessions = own.session.state.sessions.those(|session| shown_id(&session.id) == wanted);
        if let Some(session) = sessions.first() {
            return Some((session.id.clone(), true));
        }
        let listed = own.gateway.process.dialect_sessions.listed();
        listed.into_iter().map(|(id, _)| id).find(|id| shown_id(id) == wanted).map(|id| (id, false))
    });
    let (id, is_of_protocol) = found.await.ok().flatten()?;
    if !is_of_protocol {
        return shard.gateway.process.dialect_sessions.end(&id);
    }
    let session = shard.session.state.sessions.remove(&id)?;
    let principal = session.identity.id().to_owned();
    shard.session.state.end_for_good(&session);
    session.end(&shard.session).await;
    Some(principal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_id_is_no_session_id() {
        let shown = shown_id("a secret of the client");
        assert_eq!(shown.len(), DIGITS);
        assert!(shown.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_ne!(shown, shown_id("another secret"));
    }
}
