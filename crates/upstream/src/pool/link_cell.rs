//! A link that is opened when it is first needed, and again when it is gone.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use transport::child::backoff::Backoff;
use transport::up::LinkError;

use super::opening::Opening;
use crate::egress::Egress;
use crate::link::sending::CREDENTIALS;
use crate::link::{LinkUser, OpenLink, Wire};
use crate::server::{Kind, Server};

/// Who is told when a link was opened.
pub trait LinkListener: Send + Sync {
    /// A link is open.
    fn opened(self: Arc<Self>, egress: &Egress, opened: OpenedLink<'_>);
}

/// A link that was opened just now.
pub struct OpenedLink<'a> {
    /// The link.
    pub link: &'a Arc<OpenLink>,
    /// The cell that keeps it.
    pub cell: &'a Arc<LinkCell>,
    /// The kind of client whose offers change with what is heard there.
    pub seen_as: Kind,
    /// True if it takes the place of one that is gone.
    pub was_gone: bool,
    /// The sessions whose calls went over that one.
    pub users: Vec<Arc<dyn LinkUser>>,
}

/// A link that is opened when it is first needed, and again when it is gone; one opening at a time.
pub struct LinkCell {
    server: Arc<Server>,
    listener: Weak<dyn LinkListener>,
    kind: Kind,
    params: Bytes,
    session: Option<Weak<dyn LinkUser>>,
    /// True if calls have it for themselves, one after the other.
    is_leased: bool,
    open: ArcSwapOption<OpenLink>,
    opening: tokio::sync::Mutex<Backoff>,
    openings: AtomicU64,
    /// True if nobody will use it any more.
    retired: AtomicBool,
    /// True if it was let go until somebody needs it.
    resting: AtomicBool,
}

impl LinkCell {
    /// One that leads to a server, for clients of this kind; `params` are those of `initialize`.
    pub(super) fn new(
        (server, listener): (Arc<Server>, Weak<dyn LinkListener>),
        kind: Kind,
        params: Bytes,
        session: Option<Weak<dyn LinkUser>>,
    ) -> Self {
        let opening = tokio::sync::Mutex::new(Backoff::default());
        Self {
            server,
            listener,
            kind,
            params,
            session,
            is_leased: false,
            open: ArcSwapOption::empty(),
            opening,
            openings: AtomicU64::new(0),
            retired: AtomicBool::new(false),
            resting: AtomicBool::new(false),
        }
    }

    /// The same, for calls that have it for themselves.
    pub(super) fn leased(mut self) -> Self {
        self.is_leased = true;
        self
    }

    /// The kind of client whose offers change with what is heard here. Who leases a link sees what all of its era see.
    fn seen_as(&self) -> Kind {
        if self.is_leased { Kind::plain(self.kind.era) } else { self.kind.clone() }
    }

    /// Returns true if it leads to this server, as this caller or all callers have it.
    pub fn is_to(&self, server: &Server) -> bool {
        std::ptr::eq(Arc::as_ptr(&self.server), server)
    }

    /// The open link, if there is one.
    pub fn current(&self) -> Option<Arc<OpenLink>> {
        self.open.load_full().filter(|link| link.is_alive())
    }

    /// The open link; opens it when there is none.
    ///
    /// # Errors
    /// Why it cannot be opened; while an upstream keeps failing, at once and with the same reason.
    pub async fn get(self: &Arc<Self>, egress: &Egress) -> Result<Arc<OpenLink>, LinkError> {
        if let Some(link) = self.current() {
            return Ok(link);
        }
        // Dropped after what says that it is being opened.
        let _over = Over(&self.server);
        let mut backoff = self.opening.lock().await;
        if let Some(link) = self.current() {
            return Ok(link);
        }
        if self.is_over() {
            return Err(LinkError::Closed);
        }
        let is_child = self.server.is_child();
        let old = self.open.swap(None);
        let users = old.as_ref().map(|old| old.users()).unwrap_or_default();
        if let Some(old) = old.filter(|_| is_child) {
            let why = old.why_gone().unwrap_or_else(|| "it ended on its own".to_owned());
            backoff.ended(Instant::now(), why);
        }
        self.wait_out(&backoff).await?;
        self.resting.store(false, Ordering::SeqCst);
        let opening = Opening {
            egress,
            server: &self.server,
            kind: &self.kind,
            params: &self.params,
            own: self.session.is_some() || self.is_leased,
        };
        match opened(&opening).await {
            Ok(link) => {
                backoff.started(Instant::now());
                let link = Arc::new(link);
                let before = self.openings.fetch_add(1, Ordering::Relaxed);
                self.open.store(Some(link.clone()));
                // Whoever wanted it has gone meanwhile.
                if self.is_over() {
                    self.close(egress).await;
                    return Err(LinkError::Closed);
                }
                if let Some(session) = self.session.as_ref().and_then(Weak::upgrade) {
                    link.add_user(&session);
                }
                if let Some(listener) = self.listener.upgrade() {
                    let (seen_as, was_gone) = (self.seen_as(), before > 0);
                    listener.opened(egress, OpenedLink { link: &link, cell: self, seen_as, was_gone, users });
                }
                Ok(link)
            }
            Err(e) => {
                if is_child {
                    backoff.ended(Instant::now(), e.to_string());
                }
                Err(e)
            }
        }
    }

    /// Waits out a short rest of a child that keeps ending; refuses during a long one.
    async fn wait_out(&self, backoff: &Backoff) -> Result<(), LinkError> {
        let now = Instant::now();
        let Some(at) = backoff.next_start(now) else { return Ok(()) };
        let wait = at - now;
        if wait > SHORT_REST {
            return Err(LinkError::Resting(backoff.reason(now).unwrap_or_default()));
        }
        tokio::time::sleep(wait).await;
        Ok(())
    }

    /// Returns true if it should be open although nobody asks for it now.
    pub fn is_wanted(&self) -> bool {
        self.server.over_http()
            && !self.is_over()
            && !self.server.leaving.is_stopped()
            && !self.is_resting()
            && self.session.as_ref().is_none_or(|session| session.strong_count() > 0)
    }

    /// Returns true if it serves one session alone.
    pub fn is_own(&self) -> bool {
        self.session.is_some()
    }

    /// Lets the link go, if there is one.
    pub async fn close(&self, egress: &Egress) {
        if let Some(link) = self.open.swap(None) {
            link.close(&egress.client).await;
        }
    }

    /// Lets the link go until somebody needs it.
    pub async fn rest(&self, egress: &Egress) {
        self.resting.store(true, Ordering::SeqCst);
        self.close(egress).await;
    }

    /// Returns true if it was let go until somebody needs it.
    pub fn is_resting(&self) -> bool {
        self.resting.load(Ordering::SeqCst)
    }

    /// Returns true if an HTTP server keeps a session for it, as far as its era has them.
    pub fn has_session(&self) -> bool {
        self.current().is_some_and(|link| matches!(link.wire, Wire::Http(_)) && link.era.has_sessions())
    }

    /// From now on no link is opened, and one that is being opened is let go as soon as it is open.
    pub fn retire(&self) {
        self.retired.store(true, Ordering::SeqCst);
    }

    /// Returns true if no link is opened any more: of this cell, or to its server.
    fn is_over(&self) -> bool {
        self.is_retired() || self.server.has_ended()
    }

    /// Returns true if a call or a task needs its link, or waits for it to be opened.
    pub fn is_needed(&self) -> bool {
        self.is_opening() || self.current().is_some_and(|link| link.is_needed())
    }

    /// Returns true if it is being opened.
    pub fn is_opening(&self) -> bool {
        self.opening.try_lock().is_err()
    }

    /// Returns true if nobody will use it any more.
    pub fn is_retired(&self) -> bool {
        self.retired.load(Ordering::SeqCst)
    }
}

impl Drop for LinkCell {
    fn drop(&mut self) {
        // What listens to the link ends with it.
        if let Some(link) = self.open.swap(None) {
            link.bury();
        }
    }
}

/// Says that an opening has ended, however it has.
struct Over<'a>(&'a Server);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.quiet.note();
    }
}

/// Opens a link, with other credentials when it is refused for want of them, and there are some.
async fn opened(opening: &Opening<'_>) -> Result<OpenLink, LinkError> {
    let mut opened = opening.run().await;
    for _ in 0..CREDENTIALS {
        match &opened {
            Err(LinkError::Unauthorized(refusal)) if opening.server.is_let_in(refusal).await => {
                opened = opening.run().await;
            }
            _ => break,
        }
    }
    opened
}

/// A rest that a caller waits out rather than being refused.
const SHORT_REST: Duration = Duration::from_secs(1);
