//! The body of a request, with a size cap and a deadline. This module must not know the content.

use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode};
use tokio::time::Instant;
use transport::budget::Part;
use transport::net::{Body, CollectError, Incoming, collect_within, discard};

use super::answer;
use crate::process::Shard;

/// The time that a client may take to send a body.
const BODY_TIME: Duration = Duration::from_secs(30);

/// The number of bytes of an overlong body that are still read and discarded, and the time limit for this.
const UNREAD: u64 = 32 << 20;
const UNREAD_TIME: Duration = Duration::from_secs(5);

/// The reason why a body could not be read.
pub(super) struct UnreadableBody {
    /// The HTTP status.
    pub(super) status: StatusCode,
    /// The message for people.
    pub(super) message: String,
}

/// Reads a body with a size cap and a deadline; fails with the response to send.
pub async fn read(shard: &Shard, body: &mut Incoming) -> Result<Bytes, Box<Response<Body>>> {
    let read = collected(shard, body).await;
    read.map_err(|unread| Box::new(answer::refusal(unread.status, &unread.message)))
}

/// Reads a body of at most `cap` bytes, with a deadline; fails with the response to send.
pub(super) async fn read_at_most(cap: usize, body: &mut Incoming) -> Result<Bytes, Box<Response<Body>>> {
    let read = collect_within(body, Part::Requests, cap, BODY_TIME).await;
    read.map_err(|error| Box::new(answer::refusal(unread(&error).status, &error.to_string())))
}

/// Reads a body with a size cap and a deadline, for callers that write the refusal themselves.
pub(super) async fn collected(shard: &Shard, body: &mut Incoming) -> Result<Bytes, UnreadableBody> {
    let cap = shard.gateway.snapshot.limits.request_body;
    let read = collect_within(&mut *body, Part::Requests, cap, BODY_TIME).await;
    if let Err(CollectError::TooLarge { .. }) = read {
        // Many clients read the answer only after they have sent the whole body.
        Box::pin(discard(body, UNREAD, Instant::now() + UNREAD_TIME)).await;
    }
    read.map_err(|e| unread(&e))
}

fn unread<E: std::fmt::Display>(error: &CollectError<E>) -> UnreadableBody {
    let status = match error {
        CollectError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        CollectError::TimedOut { .. } => StatusCode::REQUEST_TIMEOUT,
        CollectError::OutOfMemory(..) => StatusCode::SERVICE_UNAVAILABLE,
        CollectError::Broken(_) => StatusCode::BAD_REQUEST,
    };
    let help = if status == StatusCode::PAYLOAD_TOO_LARGE {
        " (`limits.requestBody` in the configuration); instead of a large file in base64, send its URL, to this tool or to a similar one"
    } else {
        ""
    };
    UnreadableBody { status, message: format!("{error}{help}") }
}
