//! The probe: a harmless request on the same link after an ambiguous refusal, which may mean that the server now uses
//! another version or has forgotten the session. Only the reaction to the probe can prove that. Without such proof, the
//! refusal counts as the server's own answer. This module must not know the refused request.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::exchange::Mirror;
use proto::era::{Era, discover_request, initialize_request, server_hello};
use proto::mcp::Method;
use proto::rpc::{Frame, FrameKind, FrameLimits, Id, RpcError, code};
use tokio::sync::Mutex;
use tokio::time::timeout;
use transport::net::client::Client;
use transport::up::{HttpLink, LinkError};

use crate::link_key::LinkKey;
use crate::server::mirror;

/// The time limit for the server's reaction. A server that answers its calls answers the probe immediately.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// The time for which a reaction is reused, so that a server that refuses every call is not probed for each of them.
const HOLDS: Duration = Duration::from_secs(1);

/// The ids of probes: larger than those of all calls, and still exact in every JSON parser.
static NEXT_ID: AtomicU64 = AtomicU64::new(1 << 52);

/// A refusal, in a form that can be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rejection {
    status: u16,
    code: Option<i32>,
    message: Option<Bytes>,
}

impl Rejection {
    /// Creates the rejection for a status without a message.
    pub(super) fn bare(status: u16) -> Self {
        Self { status, code: None, message: None }
    }

    /// Creates the rejection for an answer with its status.
    pub(super) fn of(answer: &Frame, status: u16) -> Self {
        let error = answer.payload().and_then(|span| RpcError::of_value(answer.text(), span));
        Self {
            status,
            code: error.map(|error| error.code),
            message: error.and_then(|error| Some(error.message?.share(answer.text()))),
        }
    }
}

/// The server's reaction to the probe.
#[derive(Debug, Clone)]
pub(super) enum Reaction {
    /// The server uses the version, and knows the session.
    Alive,
    /// The server does not know the probe's method.
    Unknown,
    Rejected(Rejection),
    /// The server gave no usable answer.
    Silent,
}

/// The latest reaction on one link, and a lock that admits one probe at a time.
#[derive(Default)]
pub(super) struct LinkProbe(Mutex<Option<(Instant, Reaction)>>);

impl LinkProbe {
    /// Returns the server's current reaction. Only one caller at a time sends the probe; callers that waited for it
    /// use its result.
    pub(super) async fn reaction(&self, client: &Client, link: &HttpLink) -> Reaction {
        let came = Instant::now();
        let mut last = self.0.lock().await;
        if let Some((at, reaction)) = &*last {
            let is_clear = !matches!(reaction, Reaction::Silent);
            if *at >= came || (is_clear && at.elapsed() < HOLDS) {
                return reaction.clone();
            }
        }
        let reaction = timeout(PATIENCE, ask(client, link)).await.unwrap_or(Reaction::Silent);
        *last = Some((Instant::now(), reaction.clone()));
        reaction
    }
}

/// Sends the probe on the link itself.
async fn ask(client: &Client, link: &HttpLink) -> Reaction {
    let (era, key) = (link.era(), NEXT_ID.fetch_add(1, Ordering::Relaxed));
    let (request, mirror) = question(era, key);
    match link.asked(client, request, key, mirror.as_ref(), FrameLimits::default()).await {
        Ok(answer) if answer.frame.kind() == FrameKind::Error => {
            let rejection = Rejection::of(&answer.frame, answer.status);
            if rejection.code == Some(code::METHOD_NOT_FOUND) {
                Reaction::Unknown
            } else {
                Reaction::Rejected(rejection)
            }
        }
        // A server that offers only other versions did not refuse the probe with the same error as the request.
        // Reopening the link will show that it is another server.
        Ok(answer) if !era.has_sessions() && server_hello(&answer.frame, era).is_err() => {
            Reaction::Rejected(Rejection::bare(answer.status))
        }
        Ok(_) => Reaction::Alive,
        Err(LinkError::Status { status, .. }) => Reaction::Rejected(Rejection::bare(status)),
        Err(LinkError::Unauthorized(refusal)) => Reaction::Rejected(Rejection::bare(refusal.status)),
        Err(_) => Reaction::Silent,
    }
}

/// Returns the probe's request: `ping` in versions with sessions, otherwise `server/discover`.
pub(super) fn question(era: &'static Era, key: u64) -> (Bytes, Option<Mirror>) {
    if era.has_sessions() {
        let method = Method::Ping.name();
        (Bytes::from(format!("{{\"jsonrpc\":\"2.0\",\"id\":{key},\"method\":\"{method}\"}}")), None)
    } else {
        (discover_request(&Id::number(key), era, crate::CLIENT_INFO), mirror(era, Method::Discover))
    }
}

/// Returns true if the server refuses another session of its own version, which means that it accepts no sessions at
/// all.
pub(super) async fn refuses_sessions(client: &Client, link: &HttpLink) -> bool {
    let (era, key) = (link.era(), NEXT_ID.fetch_add(1, Ordering::Relaxed));
    let request = initialize_request(&Id::number(key), era, &LinkKey::plain(era).own_hello());
    let mut sibling = link.sibling();
    let opened = timeout(PATIENCE, sibling.introduce(client, request, key, None)).await;
    if let Ok(Ok(_)) = opened {
        sibling.close(client).await;
    }
    matches!(opened, Ok(Err(LinkError::Refused { .. } | LinkError::Status { .. } | LinkError::Hello(_))))
}
