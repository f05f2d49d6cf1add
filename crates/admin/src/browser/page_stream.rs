//! Streams of live updates for pages: HTML elements that replace elements of the page. A stream ends with the
//! operator's session. This module must not know how an element looks.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::Response;
use pages::Markup;
use proto::codec::sse::{KEEP_ALIVE, encode_event};
use tokio::time::{MissedTickBehavior, interval};
use transport::net::{Body, BodySender};

use super::page_request::PageRequest;
use super::pages_state::PagesState;
use gateway::changes::Refusal;
use gateway::front::http::answer;
use gateway::management::logins;
use gateway::process::Thread;

/// The maximum number of open streams of all operators together.
const MOST: usize = 64;

/// The number of events that may wait for a browser; further events are dropped.
const WAITING: usize = 256;

/// The time between two checks of whether the session is still open.
const CHECK: Duration = Duration::from_secs(5);

/// An open stream. Dropping it makes room for another one.
pub(super) struct PageStream {
    sender: BodySender,
    state: Arc<PagesState>,
    pub(super) thread: Arc<Thread>,
    cookie: String,
}

impl Drop for PageStream {
    fn drop(&mut self) {
        self.state.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

impl PageStream {
    /// Opens a stream.
    ///
    /// # Errors
    /// Fails if too many streams are open.
    pub(super) fn open(request: &PageRequest) -> Result<(Self, Response<Body>), Refusal> {
        let refused = || {
            let message =
                format!("{MOST} pages with live updates are open, which is the maximum; close some");
            Refusal::new(429, "TOO_MANY_STREAMS", message)
        };
        let shard = &request.shard;
        let thread = shard.thread().ok_or_else(refused)?;
        let state = request.state.clone();
        let one_more = |now: usize| (now < MOST).then_some(now + 1);
        state.streams.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).map_err(|_| refused())?;
        let (sender, body) = Body::channel(WAITING);
        let cookie = request.cookie.clone();
        Ok((Self { sender, state, thread, cookie }, answer::events(body)))
    }

    /// Sends an element; an event is dropped if the browser is too slow.
    pub(super) fn send(&self, event: &str, id: Option<&str>, element: Markup) {
        let mut bytes = BytesMut::new();
        encode_event(&mut bytes, Some(event), id, None, element.into_string().as_bytes());
        drop(self.sender.try_send(bytes.freeze()));
    }

    /// Returns true if somebody may still read the stream. Sends a comment to the browser to detect a lost
    /// connection.
    pub(super) fn is_wanted(&self) -> bool {
        let is_open = || {
            let gateway = &self.thread.now().gateway;
            gateway.admin.as_ref().is_some_and(|door| logins::is_open(gateway, door, &self.cookie))
        };
        drop(self.sender.try_send(Bytes::from_static(KEEP_ALIVE)));
        !self.sender.is_gone() && is_open()
    }

    /// Waits until the stream is no longer wanted, or the gateway stops.
    pub(super) async fn over(&self) {
        let stop = self.thread.now().gateway.process.stop.clone();
        let mut checks = interval(CHECK);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.stopped() => return,
                _ = checks.tick() => if !self.is_wanted() { return },
            }
        }
    }
}
