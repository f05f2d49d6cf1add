//! The body of a request that was answered before the body was read. This module must not know why this happened.
//!
//! hyper closes an HTTP/1.1 connection if the rest of a body has not arrived when the answer is sent, although the
//! client has been told that the connection stays open. The client's next request on it then fails. So a short rest is
//! read first. If the rest is long, the answer announces that the connection will close (RFC 9112, 9.6).

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use http::header::{CONNECTION, EXPECT};
use http::{HeaderMap, HeaderValue};
use http_body::Body as _;

use super::delayed_waker::Incoming;

/// The number of bytes that are read only to keep the connection open, and the time within which they must arrive.
const LONGEST: u64 = 64 * 1024;
const PATIENCE: Duration = Duration::from_secs(1);

thread_local! {
    /// A body that was dropped before its end by the handler that was polled on this thread.
    static DROPPED: RefCell<Option<hyper::body::Incoming>> = const { RefCell::new(None) };
}

/// Stores a dropped body for [`UnreadBody::collect`].
pub(super) fn dropped(body: hyper::body::Incoming) {
    DROPPED.set(Some(body));
}

/// The part of a body that a handler has not read.
pub(super) struct UnreadBody {
    body: Option<Incoming>,
    /// True if the client waits for permission before it sends the body (RFC 9110, 10.1.1).
    awaits_word: bool,
}

impl UnreadBody {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        // An earlier request, on a task that was dropped, may have left its body here.
        DROPPED.take();
        Self { body: None, awaits_word: headers.contains_key(EXPECT) }
    }

    /// Takes a body that a poll of the handler has dropped.
    pub(super) fn collect(&mut self) {
        if let Some(body) = DROPPED.take() {
            self.body = Some(Incoming::new(body));
        }
    }

    /// Returns true if the handler has left a part of the body unread.
    pub(super) fn is_left(&self) -> bool {
        self.body.is_some()
    }

    /// Reads the rest of the body if it is short and arrives soon; otherwise, announces in a header of the answer that
    /// the connection will close.
    pub(super) async fn settle(self, answer: &mut HeaderMap) {
        let Self { body: Some(body), awaits_word } = self else { return };
        let ended = async { !awaits_word && ended(body).await };
        if tokio::time::timeout(PATIENCE, ended).await == Ok(true) {
            return;
        }
        // hyper ends the connection when the body is dropped.
        DROPPED.take();
        answer.insert(CONNECTION, HeaderValue::from_static("close"));
    }
}

/// Reads to the end of the body; returns false if the end does not come within [`LONGEST`].
async fn ended(mut body: Incoming) -> bool {
    if body.size_hint().upper().is_some_and(|length| length > LONGEST) {
        return false;
    }
    let mut read = 0;
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let Ok(frame) = frame else { return false };
        read += frame.data_ref().map_or(0, |data| data.len() as u64);
        if read > LONGEST {
            return false;
        }
    }
    true
}
