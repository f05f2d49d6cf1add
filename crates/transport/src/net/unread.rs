//! The body of a request that was answered before it was read. It must not know why.
//!
//! hyper closes an HTTP/1.1 connection when the rest of a body has not come yet as its answer is sent, and has by then told
//! the client that the connection stays: the client's next request over it fails. So a short rest is read first, and with
//! a long one the answer says that the connection ends (RFC 9112, 9.6).

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use http::header::{CONNECTION, EXPECT};
use http::{HeaderMap, HeaderValue};
use http_body::Body as _;

use super::bell::Incoming;

/// Bytes that are read for the connection's sake alone, and how long they may take to come.
const LONGEST: u64 = 64 * 1024;
const PATIENCE: Duration = Duration::from_secs(1);

thread_local! {
    /// A body that was dropped before its end, by the handler that is being polled on this thread.
    static DROPPED: RefCell<Option<hyper::body::Incoming>> = const { RefCell::new(None) };
}

/// Keeps a body that nobody reads any more for [`Unread::collect`].
pub(super) fn dropped(body: hyper::body::Incoming) {
    DROPPED.set(Some(body));
}

/// What a handler has left unread.
pub(super) struct Unread {
    body: Option<Incoming>,
    /// The client waits for our word before it sends the body (RFC 9110, 10.1.1).
    awaits_word: bool,
}

impl Unread {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        // A request of before, on a task that has been dropped, may have left its own here.
        DROPPED.take();
        Self { body: None, awaits_word: headers.contains_key(EXPECT) }
    }

    /// Takes what a poll of the handler has dropped.
    pub(super) fn collect(&mut self) {
        if let Some(body) = DROPPED.take() {
            self.body = Some(Incoming::new(body));
        }
    }

    /// Reads the rest if it is short and comes soon; else says in the answer's head that the connection ends.
    pub(super) async fn settle(self, answer: &mut HeaderMap) {
        let Self { body: Some(body), awaits_word } = self else { return };
        let ended = async { !awaits_word && ended(body).await };
        if tokio::time::timeout(PATIENCE, ended).await == Ok(true) {
            return;
        }
        // hyper ends the connection when nobody holds the body any more.
        DROPPED.take();
        answer.insert(CONNECTION, HeaderValue::from_static("close"));
    }
}

/// Reads to the end; false when it does not come within [`LONGEST`].
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
