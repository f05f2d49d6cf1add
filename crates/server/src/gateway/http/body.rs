//! The body of a request, under its cap and in its time. It must not know what is in it.

use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode};
use tokio::time::Instant;
use transport::net::{Body, CollectError, Incoming, collect, discard};

use super::answer;
use crate::gateway::Shard;

/// The time that a client may take to send a body.
pub(super) const BODY_TIME: Duration = Duration::from_secs(30);

/// How much of a body that is too long is taken all the same, and how long that may take.
const UNREAD: u64 = 32 << 20;
const UNREAD_TIME: Duration = Duration::from_secs(5);

/// The reason why a body could not be read.
pub(super) struct Unread {
    /// What HTTP calls it.
    pub(super) status: StatusCode,
    /// The same for people.
    pub(super) message: String,
}

/// Reads a body under its cap and in its time.
pub(super) async fn read(shard: &Shard, body: &mut Incoming) -> Result<Bytes, Box<Response<Body>>> {
    let read = collected(shard, body).await;
    read.map_err(|unread| Box::new(answer::refusal(unread.status, &unread.message)))
}

/// The same for whoever has words of its own for what went wrong.
pub(super) async fn collected(shard: &Shard, body: &mut Incoming) -> Result<Bytes, Unread> {
    let cap = shard.gateway.snapshot.limits.request_body;
    let read = collect(&mut *body, cap, Instant::now() + BODY_TIME).await;
    if let Err(CollectError::TooLarge { .. }) = read {
        // Many clients look for an answer only when they have sent everything.
        Box::pin(discard(body, UNREAD, Instant::now() + UNREAD_TIME)).await;
    }
    read.map_err(|e| unread(&e))
}

fn unread<E: std::fmt::Display>(error: &CollectError<E>) -> Unread {
    let status = match error {
        CollectError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        CollectError::TimedOut { .. } => StatusCode::REQUEST_TIMEOUT,
        CollectError::Broken(_) => StatusCode::BAD_REQUEST,
    };
    let mend = if status == StatusCode::PAYLOAD_TOO_LARGE {
        " (`limits.requestBody` in the configuration)"
    } else {
        ""
    };
    Unread { status, message: format!("{error}{mend}") }
}
