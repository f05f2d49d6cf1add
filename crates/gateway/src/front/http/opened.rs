//! Opens the standing stream of a session, and answers requests for streams. This module must not know resumption.

use std::sync::Arc;

use http::{Response, StatusCode};
use transport::net::Body;

use super::answer;
use crate::session::Session;
use crate::session::streams::{StreamFault, Streams};

/// Opens a new standing stream.
pub(super) fn standing(session: &Arc<Session>, streams: &Streams) -> Result<Body, StreamFault> {
    let opened = streams.open_standing(session.era().primes_streams);
    // A client that was connected before a restart may have missed changes; after this notice it can fetch everything again.
    opened.inspect(|_| session.announce_return())
}

/// Returns the response with a stream, or the reason why it cannot be opened.
pub(super) fn opened_stream(opened: Result<Body, StreamFault>) -> Response<Body> {
    let fault = match opened {
        Ok(body) => return answer::events(body),
        Err(fault) => fault,
    };
    let status = match fault {
        StreamFault::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
        StreamFault::Gap | StreamFault::Lost => StatusCode::BAD_REQUEST,
        StreamFault::Unreadable => StatusCode::SERVICE_UNAVAILABLE,
    };
    answer::refusal(status, &fault.to_string())
}
