//! The connections to one origin that wait for requests: the idle HTTP/1.1 ones, newest first, or the single HTTP/2 connection that
//! all requests share. This module must not know how connections are made.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use hyper::client::conn::http2;

use super::link::Link;
use super::request_body::RequestBody;

/// The connections that wait for requests.
#[derive(Default)]
pub(super) struct Pool {
    /// Idle connections, longest idle first.
    idle: VecDeque<IdleLink>,
    shared: Option<SharedHttp2>,
    /// True after ALPN chose HTTP/1.1.
    pub(super) alpn_http1: bool,
    /// True while a task removes connections that have been idle for too long.
    pub(super) sweeping: bool,
    /// The [`Trust::generation`](super::Trust::generation) of the connections.
    generation: u64,
}

/// An idle HTTP/1.1 connection.
pub(super) struct IdleLink {
    pub(super) link: Box<Link>,
    pub(super) until: Instant,
    /// The time until which the connection is trusted for a request that must not be sent twice.
    pub(super) trusted: Instant,
}

struct SharedHttp2 {
    sender: http2::SendRequest<RequestBody>,
    used: Instant,
}

impl Pool {
    /// Drops the connections from before the latest change to the TLS settings.
    pub(super) fn begin(&mut self, generation: u64) {
        if self.generation < generation {
            self.idle.clear();
            self.shared = None;
            self.generation = generation;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.idle.is_empty() && self.shared.is_none()
    }

    /// The HTTP/2 connection, if it is open.
    pub(super) fn shared(&mut self, now: Instant) -> Option<http2::SendRequest<RequestBody>> {
        let shared = self.shared.as_mut().filter(|shared| !shared.sender.is_closed());
        let Some(shared) = shared else {
            self.shared = None;
            return None;
        };
        shared.used = now;
        Some(shared.sender.clone())
    }

    /// Sets the HTTP/2 connection.
    pub(super) fn share(&mut self, sender: http2::SendRequest<RequestBody>, now: Instant) {
        self.shared = Some(SharedHttp2 { sender, used: now });
    }

    /// Takes an idle connection for a request, which may be sent twice if `repeatable`.
    pub(super) fn idle(&mut self, now: Instant, repeatable: bool) -> Option<Box<Link>> {
        while let Some(mut idle) = self.idle.pop_back() {
            if idle.until <= now || !idle.link.is_quiet() {
                continue;
            }
            if repeatable || idle.trusted > now {
                return Some(idle.link);
            }
            // The connections before it are even older. This one can still serve requests that may be sent
            // twice.
            self.idle.push_back(idle);
            return None;
        }
        None
    }

    /// Adds an idle connection, and drops the oldest one if there are more than `most`.
    pub(super) fn keep(&mut self, idle: IdleLink, most: usize) {
        self.idle.push_back(idle);
        if self.idle.len() > most {
            self.idle.pop_front();
        }
    }

    /// Drops connections that have been idle for too long; returns true if some are left.
    pub(super) fn tidy(&mut self, now: Instant, idle_timeout: Duration) -> bool {
        self.idle.retain_mut(|idle| idle.until > now && idle.link.is_quiet());
        let unused = |shared: &SharedHttp2| {
            shared.sender.is_closed() || now.saturating_duration_since(shared.used) > idle_timeout
        };
        // Requests that are still running keep the connection open themselves.
        if self.shared.as_ref().is_some_and(unused) {
            self.shared = None;
        }
        !self.is_empty()
    }
}
