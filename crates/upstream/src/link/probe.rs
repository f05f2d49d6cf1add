//! The question that settles a doubt: after a refusal that may say that a server speaks another era now, or has forgotten a
//! session, the server is asked something harmless on the same link. Only what this shows counts; else the refusal is the
//! server's own answer to the request. It must not know what was refused.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use proto::era::{discover_request, initialize_request, server_hello};
use proto::mcp::Method;
use proto::rpc::{Frame, Id, Kind as FrameKind, RpcError, code};
use tokio::sync::Mutex;
use tokio::time::timeout;
use transport::net::client::Client;
use transport::up::{HttpLink, LinkError};

use crate::server::{Kind, mirror};

/// The time that the server may take. One that answers its calls needs no time for this.
const PATIENCE: Duration = Duration::from_secs(2);

/// The time for which what it showed holds: a server that refuses every call is not asked once a call.
const HOLDS: Duration = Duration::from_secs(1);

/// The ids of these requests, beyond all that calls get, and still exact in every JSON parser.
static NEXT_ID: AtomicU64 = AtomicU64::new(1 << 52);

/// A refusal, as far as two of them can be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    status: u16,
    code: Option<i32>,
    message: Option<Bytes>,
}

impl Rejection {
    /// A status without a message.
    pub fn bare(status: u16) -> Self {
        Self { status, code: None, message: None }
    }

    /// An answer, with its status.
    pub fn of(answer: &Frame, status: u16) -> Self {
        let error = answer.payload().and_then(|span| RpcError::of_value(answer.text(), span));
        Self {
            status,
            code: error.map(|error| error.code),
            message: error.and_then(|error| Some(error.message?.share(answer.text()))),
        }
    }
}

/// What the server made of the question.
#[derive(Debug, Clone)]
pub(super) enum Reaction {
    /// It speaks the era, and knows the session.
    Alive,
    /// It does not know the question.
    Unknown,
    Rejected(Rejection),
    /// It said nothing that can be used.
    Silent,
}

/// What was last learnt on one link, and the turn to ask.
#[derive(Default)]
pub(super) struct LinkProbe(Mutex<Option<(Instant, Reaction)>>);

impl LinkProbe {
    /// What the server makes of the question now. One is asked at a time; whoever waited for it takes what it showed.
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

/// Asks on the link itself: `ping` where there are sessions, else what the server speaks.
async fn ask(client: &Client, link: &HttpLink) -> Reaction {
    let (era, key) = (link.era(), NEXT_ID.fetch_add(1, Ordering::Relaxed));
    let id = Id::number(key);
    let (request, mirror) = if era.has_sessions() {
        let method = Method::Ping.name();
        (Bytes::from(format!("{{\"jsonrpc\":\"2.0\",\"id\":{key},\"method\":\"{method}\"}}")), None)
    } else {
        (discover_request(&id, era, crate::CLIENT_INFO), mirror(era, Method::Discover))
    };
    match link.asked(client, request, key, mirror.as_ref()).await {
        Ok(answer) if answer.frame.kind() == FrameKind::Error => {
            let rejection = Rejection::of(&answer.frame, answer.status);
            if rejection.code == Some(code::METHOD_NOT_FOUND) {
                Reaction::Unknown
            } else {
                Reaction::Rejected(rejection)
            }
        }
        // What discovers other versions only has not refused in the same words; that it is another shows when it is opened.
        Ok(answer) if !era.has_sessions() && server_hello(&answer.frame, era).is_err() => {
            Reaction::Rejected(Rejection::bare(answer.status))
        }
        Ok(_) => Reaction::Alive,
        Err(LinkError::Status { status, .. }) => Reaction::Rejected(Rejection::bare(status)),
        Err(LinkError::SessionGone) => Reaction::Rejected(Rejection::bare(404)),
        Err(_) => Reaction::Silent,
    }
}

/// Returns true if the server refuses another session of its era: a server that does so takes none.
pub(super) async fn refuses_sessions(client: &Client, link: &HttpLink) -> bool {
    let (era, key) = (link.era(), NEXT_ID.fetch_add(1, Ordering::Relaxed));
    let request = initialize_request(&Id::number(key), era, &Kind::plain(era).own_hello());
    let mut sibling = link.sibling();
    let opened = timeout(PATIENCE, sibling.introduce(client, request, key, None)).await;
    if let Ok(Ok(_)) = opened {
        sibling.close(client).await;
    }
    matches!(opened, Ok(Err(LinkError::Refused { .. } | LinkError::Status { .. } | LinkError::Hello(_))))
}
