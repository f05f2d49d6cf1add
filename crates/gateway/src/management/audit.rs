//! The record of configuration changes: which caller changed what, in the log and in the record of calls. This module
//! must not know how changes are made.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::admission::audit::{AuditEntry, CallOutcome};
use crate::admission::client_label;
use crate::admission::identity::Identity;
use crate::changes::Differences;
use crate::process::Shard;

/// The author of a change that was made in the configuration file.
const FILE: &str = "file";
/// The maximum length of a change's description, in bytes.
const LONGEST: usize = 1000;

/// A change to the configuration, or a refused attempt to change it.
pub struct ManagementAction<'a> {
    /// The author of the change.
    pub who: Arc<str>,
    /// The author's address, if known.
    pub address: Option<IpAddr>,
    /// The request: its method and path, or a description.
    pub asked: Cow<'static, str>,
    /// The server that the change concerns.
    pub server: Option<&'a str>,
    /// The profile that the change concerns.
    pub profile: Option<&'a str>,
    /// The outcome of the request.
    pub outcome: CallOutcome,
    /// The HTTP status of the refusal, if there was one.
    pub status: Option<u16>,
    /// The differences between the configurations before and after the change.
    pub what: Option<&'a (dyn fmt::Display + Sync)>,
    /// The time that the change took.
    pub took: Duration,
}

impl<'a> ManagementAction<'a> {
    /// Creates the record of a reload of the configuration file.
    pub(crate) fn reread(outcome: CallOutcome, what: Option<&'a Differences>) -> Self {
        let what = what.map(|what| -> &(dyn fmt::Display + Sync) { what });
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

    /// Creates the record of a request that was refused with this status.
    pub fn denied(identity: &Identity, asked: String, status: u16) -> Self {
        let (who, asked, outcome) = (identity.principal.id.clone(), asked.into(), CallOutcome::Denied);
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

/// Writes the change to the record of calls, if there is one.
pub fn record(shard: &Shard, action: &ManagementAction<'_>) {
    let sink = &shard.call.state.audit;
    if !sink.is_on() {
        return;
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    sink.record(AuditEntry {
        at_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
        principal: action.who.clone(),
        profile: action.profile.unwrap_or_default().into(),
        upstream: action.server.map(Into::into),
        tool: None,
        method: summary(action),
        outcome: action.outcome,
        code: action.status.map(i64::from),
        duration_us: u64::try_from(action.took.as_micros()).unwrap_or(u64::MAX),
        request_bytes: 0,
        response_bytes: 0,
        tries: 0,
        waited_us: 0,
        cached: false,
        reason: None,
        arguments: None,
        address: action.address.map(client_label::address),
        client: None,
    });
}

/// Returns the request, followed by the differences if there are any. A long text is truncated.
fn summary(action: &ManagementAction<'_>) -> Cow<'static, str> {
    let Some(what) = action.what else { return action.asked.clone() };
    let mut text = format!("{}: {what}", action.asked);
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push('…');
    }
    text.into()
}

/// Writes an operation that changes something other than the configuration to the log and to the record of calls.
pub(crate) fn log_and_record_operation(shard: &Shard, action: &ManagementAction<'_>) {
    let ManagementAction { who, asked, .. } = action;
    if let (CallOutcome::Ok, Some(what)) = (action.outcome, action.what) {
        tracing::info!(%who, %asked, %what, "performed an operation through the management API");
    } else {
        tracing::warn!(%who, %asked, status = action.status, "refused a management request");
    }
    record(shard, action);
}

/// Writes the change to the log and to the record of calls.
pub fn log_and_record(shard: &Shard, action: &ManagementAction<'_>) {
    let ManagementAction { who, asked, status, .. } = action;
    if let (CallOutcome::Ok, Some(what)) = (action.outcome, action.what) {
        tracing::info!(%who, %asked, %what, "changed the configuration through the management API");
    } else {
        tracing::warn!(%who, %asked, status, "refused a management request");
    }
    record(shard, action);
}
