//! A link that is opened at its first use, and again after it is lost.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use engine::catalogue::UpstreamId;
use proto::bridge::input::Askable;
use proto::era::Era;
use tokio::sync::Semaphore;
use transport::child::SpawnError;
use transport::child::backoff::Backoff;
use transport::up::LinkError;

use super::dedicated::{Dedicated, new_owner};
use super::dispatch::OwnerId;
use super::opening::LinkOpening;
use super::rights::{Admission, Reserved};
use super::single::SingleLink;
use super::starts::Starts;
use crate::egress::{Egress, Updating};
use crate::health::{HealthEvent, OpeningWatch};
use crate::link::sending::with_credentials;
use crate::link::{LinkUser, OpenLink, Wire};
use crate::link_key::LinkKey;
use crate::quota::Holder;
use crate::server::Server;

/// The receiver of links that have been opened.
pub trait LinkListener: Send + Sync {
    /// Handles a link that was opened. Calls over the link begin once the returned update has finished.
    fn opened(self: Arc<Self>, egress: &Egress, opened: OpenedLink<'_>) -> Updating;
}

/// A link that has just been opened.
pub struct OpenedLink<'a> {
    /// The link.
    pub link: &'a Arc<OpenLink>,
    /// The cell that keeps the link.
    pub cell: &'a Arc<LinkCell>,
    /// The version that was requested: the clients' version, or the one version in which all clients share the link.
    pub asked: &'static Era,
    /// The questions that were declared to the server on the link, so the server may ask them.
    pub askable: Askable,
    /// True if the link replaces one that was lost.
    pub was_gone: bool,
    /// The sessions whose calls used the lost link.
    pub users: Vec<Arc<dyn LinkUser>>,
}

/// A link that is opened at its first use, and again after it is lost. Only one opening runs at a time.
pub struct LinkCell {
    pub(super) server: Arc<Server>,
    listener: Weak<dyn LinkListener>,
    pub(super) kind: LinkKey,
    params: Bytes,
    pub(super) session: Option<Weak<dyn LinkUser>>,
    /// The pool from which the cell's links come, if owners take turns on them.
    pub(super) pool: Option<Arc<Dedicated>>,
    /// The turns on the link, if it is the only link of its server.
    pub(super) single: Option<Arc<SingleLink>>,
    /// The caller for whom the cell gets links from the pool.
    pub(super) holder: Option<Holder>,
    /// The cell's number as an owner in the pool.
    pub(super) owner: OwnerId,
    /// The number of the last link that the cell had.
    pub(super) last: AtomicU64,
    pub(super) open: ArcSwapOption<OpenLink>,
    pub(super) opening: tokio::sync::Mutex<Starts>,
    /// The permit of the link's process, if the cell has no pool: the next process starts when the previous one has ended.
    pub(super) process: Arc<Semaphore>,
    openings: AtomicU64,
    /// True if the cell will not be used again.
    retired: AtomicBool,
    /// True if the link was closed until its next use.
    resting: AtomicBool,
}

impl LinkCell {
    /// Creates a cell for clients with this key; `params` are the params of `initialize`.
    pub(super) fn new(
        (server, listener): (Arc<Server>, Weak<dyn LinkListener>),
        kind: LinkKey,
        params: Bytes,
        session: Option<Weak<dyn LinkUser>>,
    ) -> Self {
        let opening = tokio::sync::Mutex::default();
        Self {
            server,
            listener,
            kind,
            params,
            session,
            pool: None,
            single: None,
            holder: None,
            owner: new_owner(),
            last: AtomicU64::new(0),
            open: ArcSwapOption::empty(),
            opening,
            process: Arc::new(Semaphore::new(1)),
            openings: AtomicU64::new(0),
            retired: AtomicBool::new(false),
            resting: AtomicBool::new(false),
        }
    }

    /// Makes the cell take its links from a pool.
    pub(super) fn pooled(mut self, pool: Arc<Dedicated>, holder: Holder) -> Self {
        (self.pool, self.holder) = (Some(pool), Some(holder));
        self
    }

    /// Makes the cell's link the only link of its server, which clients use in turn; `None` changes nothing.
    pub(super) fn single(mut self, single: Option<Arc<SingleLink>>) -> Self {
        self.single = single;
        self
    }

    /// Returns the capabilities that are declared to the server: a JSON object in the form of [`LinkCell::era`].
    pub fn capabilities(&self) -> &Bytes {
        &self.kind.capabilities
    }

    /// Returns the version of the clients that use the link.
    pub fn era(&self) -> &'static Era {
        self.kind.era
    }

    /// Returns the questions that are declared to the server on the link, so the server may ask them.
    pub fn askable(&self) -> Askable {
        Askable::of(self.kind.era, &self.kind.capabilities)
    }

    /// Returns true if the link leads to exactly this server: the common one, or one caller's own.
    pub fn is_to(&self, server: &Server) -> bool {
        std::ptr::eq(Arc::as_ptr(&self.server), server)
    }

    /// Returns true if the cell's links lead to the server with this id.
    pub fn is_of(&self, server: UpstreamId) -> bool {
        self.server.spec.id == server
    }

    /// Returns the open link, if there is one.
    pub fn current(&self) -> Option<Arc<OpenLink>> {
        self.open.load_full().filter(|link| link.is_alive())
    }

    /// Returns the open link; opens one if there is none.
    ///
    /// # Errors
    /// Returns the reason why the link cannot be opened. While an upstream keeps failing, the same reason is returned
    /// immediately.
    pub async fn get(self: &Arc<Self>, egress: &Egress) -> Result<Arc<OpenLink>, LinkError> {
        if let Some(link) = self.current() {
            return Ok(link);
        }
        // This is declared before the lock, so that it is dropped after the lock: as long as the lock is held, an
        // opening counts as running.
        let _over = Over(&self.server);
        let mut starts = loop {
            let mut starts = self.opening.lock().await;
            if let Some(link) = self.current() {
                return Ok(link);
            }
            if self.is_over() {
                return Err(LinkError::Closed);
            }
            self.leave(&mut starts);
            let Some(wait) = starts.wait()? else { break starts };
            // This releases the lock, so that other callers can see without delay that they have to wait.
            drop(starts);
            tokio::time::sleep(wait).await;
        };
        self.resting.store(false, Ordering::SeqCst);
        let reserved = match self.admitted(egress).await? {
            Some(Admission::Adopted(link)) => {
                self.join_session(&link);
                return Ok(link);
            }
            Some(Admission::Opens(reserved)) => Some(reserved),
            None => None,
        };
        let asked = self.server.link_era(self.kind.era);
        let single = self.single.as_ref().map(|single| single.declares(self.kind.era));
        let single = single.map(|kind| (kind.own_hello(), kind));
        let (params, kind) =
            single.as_ref().map_or((&self.params, &self.kind), |(params, kind)| (params, kind));
        let opening = LinkOpening {
            egress,
            server: &self.server,
            kind,
            params,
            own: self.session.is_some() || self.pool.is_some(),
            companion: self.companion(egress, reserved.as_ref()).await,
        };
        let watch = self.is_shared().then(|| self.server.health.opening());
        let opened = with_credentials(opening.server, || opening.run());
        match egress.starts().run(self.server.is_child(), Box::pin(opened)).await {
            Ok(link) => {
                self.server.note_up();
                if let Some(watch) = watch {
                    watch.ended(Ok(()));
                }
                let users = starts.began();
                self.take_up(egress, Arc::new(link), reserved, (asked, users)).await
            }
            Err(e) => {
                self.note_failure(&e, watch, &mut starts);
                Err(e)
            }
        }
    }

    /// Records that an opening has failed.
    fn note_failure(&self, why: &LinkError, watch: Option<OpeningWatch<'_>>, starts: &mut Starts) {
        // A lack of free processes reveals nothing about the server.
        if !self.is_shared() && matches!(why, LinkError::Spawn(SpawnError::TooMany { .. })) {
            return;
        }
        let server = &self.server;
        server.note_down();
        match watch {
            Some(watch) => watch.ended(Err(server.failure_to_open(why))),
            // The failure of one owner's process reveals nothing about the shared process.
            None if !server.is_child() => {
                server.health.note(HealthEvent::StreamFailed(server.failure_to_open(why)));
            }
            None => {}
        }
        if server.is_child() {
            starts.is_final = why.passing().is_none();
            starts.backoff.ended(Instant::now(), why.to_string());
            self.note_next_start(&starts.backoff);
        }
    }

    fn note_next_start(&self, backoff: &Backoff) {
        if let Some(at) = backoff.next_start(Instant::now()).filter(|_| self.is_shared()) {
            self.server.health.note(HealthEvent::NextStart(at));
        }
    }

    /// Returns true if all clients share the cell's link.
    pub fn is_shared(&self) -> bool {
        self.session.is_none() && self.pool.is_none()
    }

    /// Records that the cell's link has ended by itself.
    pub fn note_end(&self, link: &OpenLink) {
        if self.is_shared()
            && let Some(why) = link.wire.why_closed().and_then(|why| self.server.own_end(&why))
        {
            self.server.health.note(HealthEvent::LinkEnded(link.id, why));
        }
    }

    /// Makes a link that was just opened the link of this cell.
    async fn take_up(
        self: &Arc<Self>,
        egress: &Egress,
        link: Arc<OpenLink>,
        reserved: Option<Reserved>,
        (asked, users): (&'static Era, Vec<Arc<dyn LinkUser>>),
    ) -> Result<Arc<OpenLink>, LinkError> {
        let before = self.openings.fetch_add(1, Ordering::Relaxed);
        self.open.store(Some(link.clone()));
        // The cell was retired in the meantime.
        if self.is_over() {
            self.close(egress).await;
            return Err(LinkError::Closed);
        }
        if let Some(reserved) = reserved {
            reserved.opened(self, &link);
        }
        self.join_session(&link);
        if let Some(listener) = self.listener.upgrade() {
            let (askable, was_gone) = (self.askable(), before > 0);
            let opened = OpenedLink { link: &link, cell: self, asked, askable, was_gone, users };
            let updating = listener.opened(egress, opened);
            updating.finished().await;
        }
        Ok(link)
    }

    fn join_session(&self, link: &Arc<OpenLink>) {
        if let Some(session) = self.session.as_ref().and_then(Weak::upgrade) {
            link.add_user(&session);
        }
    }

    /// Removes the cell's link, which was lost, and records how it ended.
    fn leave(&self, starts: &mut Starts) {
        let Some(old) = self.open.swap(None) else { return };
        self.note_end(&old);
        if self.server.is_child() {
            if old.activity.carried_calls() {
                starts.backoff.served();
            }
            starts.is_final = false;
            let why = old.why_gone().unwrap_or_else(|| "the server's process ended on its own".to_owned());
            starts.backoff.ended(Instant::now(), why);
            self.note_next_start(&starts.backoff);
        }
        starts.users = old.recipients.users().iter().map(Arc::downgrade).collect();
    }

    /// Returns true if the link should be open although no request needs it now.
    pub fn is_wanted(&self) -> bool {
        self.server.over_http()
            && !self.is_over()
            && !self.server.shutdown.begun.is_stopped()
            && !self.is_resting()
            && self.session.as_ref().is_none_or(|session| session.strong_count() > 0)
    }

    /// Returns true if the link serves only one session at a time.
    pub fn is_own(&self) -> bool {
        self.session.is_some()
    }

    /// Closes the link, if it is open.
    pub async fn close(&self, egress: &Egress) {
        if let Some(link) = self.open.swap(None) {
            link.close(egress.client()).await;
        }
    }

    /// Closes the link until its next use.
    pub async fn rest(&self, egress: &Egress) {
        self.resting.store(true, Ordering::SeqCst);
        self.close(egress).await;
    }

    /// Returns true if the link has ended by itself, and no new link has been opened since.
    pub fn has_died(&self) -> bool {
        let is_dead = self.open.load().as_ref().is_some_and(|link| !link.is_alive());
        is_dead && !self.is_resting() && !self.is_over()
    }

    /// Returns true if the link was closed until its next use.
    pub fn is_resting(&self) -> bool {
        self.resting.load(Ordering::SeqCst)
    }

    /// Returns true if an HTTP server keeps a session for the link, in versions with sessions.
    pub fn has_session(&self) -> bool {
        self.current().is_some_and(|link| matches!(link.wire, Wire::Http(_)) && link.era.has_sessions())
    }

    /// Prevents any further opening; a link that is being opened is closed as soon as it is open.
    pub fn retire(&self) {
        self.retired.store(true, Ordering::SeqCst);
    }

    /// Returns true if this cell opens no more links, because it is retired or its server has ended.
    fn is_over(&self) -> bool {
        self.is_retired() || self.server.has_ended()
    }

    /// Returns true if a call or a task uses the link, or waits for it to be opened.
    pub fn is_needed(&self) -> bool {
        self.is_opening() || self.current().is_some_and(|link| link.activity.is_needed())
    }

    /// Returns true if the link is being opened.
    pub fn is_opening(&self) -> bool {
        self.opening.try_lock().is_err()
    }

    /// Returns true if the cell will not be used again.
    pub fn is_retired(&self) -> bool {
        self.retired.load(Ordering::SeqCst)
    }
}

impl Drop for LinkCell {
    fn drop(&mut self) {
        // The tasks that listen on the link end with it.
        if let Some(link) = self.open.swap(None) {
            link.bury();
        }
    }
}

/// Signals the end of an opening when dropped.
struct Over<'a>(&'a Server);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.shutdown.drain.note();
    }
}
