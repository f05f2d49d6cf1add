//! What is written down of changes of the configuration: who changed what, in the log and in the record of calls. It must not
//! know how they are made.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Shard;
use crate::audit::{Entry, Outcome};
use crate::gateway::admission::client_label;
use crate::gateway::admission::identity::Identity;
use crate::manage::Differences;

/// Who changes what is configured by writing its file.
const FILE: &str = "file";
/// So much is written down of a change, in bytes.
const LONGEST: usize = 1000;

/// A change of the configuration, or what became of the wish for one.
pub(crate) struct Deed<'a> {
    /// Who wanted it.
    pub(crate) who: Arc<str>,
    /// From where, where that is known.
    pub(crate) address: Option<IpAddr>,
    /// What was asked for.
    pub(crate) asked: Cow<'static, str>,
    /// The server that it is about.
    pub(crate) server: Option<&'a str>,
    /// The profile that it is about.
    pub(crate) profile: Option<&'a str>,
    /// What became of it.
    pub(crate) outcome: Outcome,
    /// The status of its refusal.
    pub(crate) status: Option<u16>,
    /// What differs since.
    pub(crate) what: Option<&'a Differences>,
    /// The time that it took.
    pub(crate) took: Duration,
}

impl<'a> Deed<'a> {
    /// The file of the configuration was read again.
    pub(super) fn reread(outcome: Outcome, what: Option<&'a Differences>) -> Self {
        let (who, asked) = (FILE.into(), "reload".into());
        Self {
            who,
            address: None,
            asked,
            server: None,
            profile: None,
            outcome,
            status: None,
            what,
            took: Duration::ZERO,
        }
    }

    /// A manager was refused, with this status.
    pub(crate) fn denied(identity: &Identity, asked: String, status: u16) -> Self {
        let (who, asked, outcome) = (identity.principal.id.clone(), asked.into(), Outcome::Denied);
        let (status, address) = (Some(status), identity.address());
        Self {
            who,
            address,
            asked,
            server: None,
            profile: None,
            outcome,
            status,
            what: None,
            took: Duration::ZERO,
        }
    }
}

/// Puts it into the record of calls, where there is one.
pub(crate) fn record(shard: &Shard, deed: &Deed<'_>) {
    let sink = &shard.call.state.audit;
    if !sink.is_on() {
        return;
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    sink.record(Entry {
        at_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
        principal: deed.who.clone(),
        profile: deed.profile.unwrap_or_default().into(),
        upstream: deed.server.map(Into::into),
        tool: None,
        method: said(deed),
        outcome: deed.outcome,
        code: deed.status.map(i64::from),
        duration_us: u64::try_from(deed.took.as_micros()).unwrap_or(u64::MAX),
        request_bytes: 0,
        response_bytes: 0,
        arguments: None,
        address: deed.address.map(client_label::address),
        client: None,
    });
}

/// What was asked for, and what came of it: names alone.
fn said(deed: &Deed<'_>) -> Cow<'static, str> {
    let Some(what) = deed.what else { return deed.asked.clone() };
    let mut text = format!("{}: {what}", deed.asked);
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push('…');
    }
    text.into()
}

/// Puts it into both.
pub(crate) fn tell(shard: &Shard, deed: &Deed<'_>) {
    let Deed { who, asked, status, .. } = deed;
    if let (Outcome::Ok, Some(what)) = (deed.outcome, deed.what) {
        tracing::info!(%who, %asked, %what, "a manager has changed the configuration");
    } else {
        tracing::warn!(%who, %asked, status, "a manager was refused");
    }
    record(shard, deed);
}
