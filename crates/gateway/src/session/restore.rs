//! Restores a session that is not in this process's memory: after a restart, or if an unused session was forgotten.
//! This module must not know HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use cluster::SharedSession;
use proto::era::ClientHello;
use proto::json::quote;
use proto::mcp::{Method, Notice};
use proto::rpc::Frame;
use store::sessions::{OpenRow, SessionEnd, SessionKey, SessionRow};
use tokio::time::Instant;
use upstream::quota::QuotaError;

use super::changed::notify_changed;
use super::context::{SessionContext, SessionState};
use super::ending;
use super::handshake::{PendingSession, introduction};
use super::id::SessionClaims;
use super::kept::{introduction_of, millis, now_ms};
use super::session::{ClientChannel, NewSession, Session};
use super::streams::{STANDING, Streams};
use crate::admission::Identity;

/// The time for which a notification waits for the client to read earlier notifications.
const READ_TIME: Duration = Duration::from_secs(10);

/// Restores the session with this id, if this caller opened it at this profile, and if it has not ended. Like a new
/// session, a restored session needs a permit.
///
/// # Errors
/// Fails if there are too many sessions.
pub(crate) async fn restore(
    context: &Arc<SessionContext>,
    id: &str,
    (identity, profile): (&Identity, usize),
) -> Result<Option<Arc<Session>>, QuotaError> {
    let (state, snapshot) = (&context.state, context.egress.snapshot());
    let claims = state.sealer.session(id).filter(|claims| claims.is_of(identity, profile, snapshot));
    let Some(claims) = claims else { return Ok(None) };
    let _turn = state.turns.take(claims.key).await;
    if let Some(session) = state.sessions.get(id) {
        return Ok(Some(session));
    }
    let row = match load(state, claims.key).await {
        Some(SessionRow::Ended(_)) => return Ok(None),
        Some(SessionRow::Open(row)) => Some(row),
        None => None,
    };
    let issued = i64::try_from(claims.issued).unwrap_or(i64::MAX).saturating_mul(1000);
    let used = row.as_ref().map_or(issued, |row| row.used_ms);
    if now_ms() >= used.saturating_add(millis(snapshot.limits.session_lifetime)) {
        return Ok(None);
    }
    let Some(hello) = hello(context, &claims, row.as_ref()) else { return Ok(None) };
    let permit = ending::permit(context, identity)?;
    let channel = ClientChannel::Http(Streams::new(&snapshot.limits, state.sealer.short_number()));
    let (id, key) = (id.into(), Some(claims.key));
    let new_session =
        NewSession { id, key, profile, identity: identity.clone(), era: claims.era, hello, channel };
    let session = Session::new(new_session, &snapshot.limits, state.sealer.clone());
    let (level, subscriptions) = row.map(|row| (row.level, row.subscriptions)).unwrap_or_default();
    *session.interests.level.lock() = level.map(Bytes::from);
    for state in session.kept.iter().flat_map(|kept| [&kept.returned, &kept.is_stored]) {
        state.store(true, Ordering::Relaxed);
    }
    state.copy_events(&session, &snapshot.limits);
    let pending = PendingSession::new(context, session);
    pending.session().find_view(&context.view).await;
    state.sessions.add(pending.session(), Some(permit));
    if state.has_ended(&claims.key) {
        // The session has meanwhile ended at another replica, which could not find it in this replica's memory.
        state.sessions.remove(&pending.session().id);
        return Ok(None);
    }
    let session = pending.keep();
    session.touch();
    session.resume_resources(context, serde_json::from_str(&subscriptions).unwrap_or_default());
    state.note_change(&session);
    tracing::debug!("restored a session that was opened earlier");
    Ok(Some(session))
}

/// Loads the latest stored state of a session.
async fn load(state: &SessionState, key: SessionKey) -> Option<SessionRow> {
    if state.has_ended(&key) {
        return Some(SessionRow::Ended(SessionEnd { at_ms: 0, was_stored: true }));
    }
    let own = async {
        let store = state.store.clone()?;
        transport::task::spawn_blocking(move || store.load(&key)).await.ok().flatten()
    };
    let shared = async {
        let found = state.cluster.get()?.session(&key).await;
        found
            .inspect_err(|e| tracing::warn!("cannot read a session from the cluster's store; restoring it from this gateway's own data: {e}"))
            .ok()
            .flatten()
    };
    latest(tokio::join!(own, shared))
}

/// Returns the later of two states of a session. An ended session stays ended.
fn latest(known: (Option<SessionRow>, Option<SharedSession>)) -> Option<SessionRow> {
    match known {
        (own @ Some(SessionRow::Ended(_)), _) | (own, None) => own,
        (_, Some(SharedSession::Ended)) => Some(SessionRow::Ended(SessionEnd { at_ms: 0, was_stored: true })),
        (Some(SessionRow::Open(own)), Some(SharedSession::Open(shared))) if own.used_ms > shared.used_ms => {
            Some(SessionRow::Open(own))
        }
        (_, Some(SharedSession::Open(shared))) => Some(SessionRow::Open(shared)),
    }
}

/// Returns the client's introduction: the stored one, or else one with the facts about the client that the
/// session's id contains.
fn hello(context: &SessionContext, claims: &SessionClaims, row: Option<&OpenRow>) -> Option<ClientHello> {
    let known = || introduction_of(claims.era, claims.askable).into_bytes();
    let params = row.map_or_else(known, |row| row.introduction.clone());
    let head =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"{}\",\"params\":", Method::Initialize.name());
    let text = [head.as_bytes(), &params, b"}"].concat();
    let frame = Frame::parse(text.into(), context.egress.frame_limits()).ok()?;
    introduction(&frame).ok()
}

impl Session {
    fn returned(&self) -> Option<&AtomicBool> {
        self.kept.as_ref().map(|kept| &kept.returned)
    }

    /// Records that the client may have missed notifications, because another process had its standing stream.
    pub(crate) fn note_missed(&self) {
        if let Some(returned) = self.returned() {
            returned.store(true, Ordering::Relaxed);
        }
    }

    /// Notifies the client of a restored session, only once, that all lists and resources may have changed. The client
    /// must have opened its standing stream, which carries the messages that belong to no request.
    pub(crate) fn announce_return(self: &Arc<Self>) {
        if !self.returned().is_some_and(|returned| returned.swap(false, Ordering::Relaxed)) {
            return;
        }
        let lists = [
            ("tools", Notice::ToolsChanged),
            ("prompts", Notice::PromptsChanged),
            ("resources", Notice::ResourcesChanged),
        ];
        if let Some(view) = self.view().map(|cell| cell.view()) {
            for (_, notice) in lists.iter().filter(|(name, _)| view.declares(name, Some("listChanged"))) {
                notify_changed(self, *notice);
            }
        }
        let (session, uris) = (self.clone(), self.interests.subscriptions.all());
        if !uris.is_empty() {
            // A stream has no room for many notifications unless the client reads it.
            transport::task::spawn(async move {
                let ClientChannel::Http(streams) = &session.channel else { return };
                for uri in uris {
                    streams.push_when_read(STANDING, updated(&uri), Instant::now() + READ_TIME).await;
                }
            });
        }
    }

    /// Notifies the client that a resource may have changed.
    pub(super) fn send_updated(&self, uri: &str) {
        self.send(updated(uri), false);
    }
}

/// Returns the notification that a resource may have changed.
fn updated(uri: &str) -> Bytes {
    let params = format!("\"uri\":{}", quote(uri));
    proto::era::notice(Notice::ResourceUpdated.name(), params.as_bytes())
}
