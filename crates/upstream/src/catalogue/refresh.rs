//! Fetches a catalogue over the shared links, one fetch at a time. This module must not know who asked for it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use engine::catalogue::{Gather, GatherLimits, ListKind, UpstreamAbsence, UpstreamCatalogue};
use proto::era::Era;
use proto::json::LIST_DEPTH;
use proto::mcp::Notice;
use proto::rpc::{FrameLimits, Id};
use tokio::sync::watch;
use tokio::time::timeout;
use transport::up::LinkError;

use super::cell::Catalogue;
use super::lifecycle_lists::LifecycleLists;
use crate::definitions::ListSlot;
use crate::destination::Destination;
use crate::egress::Egress;
use crate::embedded::ArgumentInterpreter;
use crate::health::HealthEvent;
use crate::link::OpenLink;
use crate::pool::LinkCell;

impl Catalogue {
    /// Starts a fetch for clients of a version, unless a fetch is running. The returned receiver signals the end of the
    /// fetch.
    pub fn fetch(self: &Arc<Self>, egress: &Egress, client: &'static Era) -> watch::Receiver<u64> {
        let done = self.done.subscribe();
        {
            let mut busy = self.busy.lock();
            if busy.fetching {
                return done;
            }
            busy.begin();
            self.unsettled.store(true, Ordering::Relaxed);
        }
        self.server.health.note(HealthEvent::ListingBegan);
        let (catalogue, egress) = (self.clone(), egress.clone());
        transport::task::spawn(async move {
            // However this fetch ends, the next one must be possible.
            let _idle = Idle { catalogue: &catalogue, of_all_lists: false };
            catalogue.learn_lifecycle(&egress, client).await;
            let lifecycle = catalogue.lifecycle(client);
            let outcome = catalogue.try_fetch(&egress, lifecycle.era()).await;
            catalogue.settle(&egress, lifecycle, outcome).await;
        });
        done
    }

    /// Fetches all known lists again, because they may have changed. Returns once the lists are at least as new as
    /// this call. If there are several concurrent calls, only one of them fetches. Returns `false` if this call
    /// tried to fetch the lists and failed.
    pub async fn refresh(&self, egress: &Egress) -> bool {
        // The running fetch may have sent its requests before the change.
        let wanted = self.busy.lock().begun + 1;
        self.refresh_to(egress, wanted).await
    }

    /// Fetches all known lists again, unless the fetch with the number `wanted` or a later fetch has ended. Waits
    /// for a running fetch first.
    pub async fn refresh_to(&self, egress: &Egress, wanted: u64) -> bool {
        let mut done = self.done.subscribe();
        loop {
            {
                let mut busy = self.busy.lock();
                if busy.ended >= wanted {
                    return true;
                }
                if !busy.fetching {
                    busy.begin();
                    self.unsettled.store(true, Ordering::Relaxed);
                    break;
                }
            }
            if done.changed().await.is_err() {
                return false;
            }
        }
        self.server.health.note(HealthEvent::ListingBegan);
        let _idle = Idle { catalogue: self, of_all_lists: true };
        let mut fetched = true;
        for lifecycle in self.lifecycles.iter().filter(|lifecycle| !lifecycle.is_unknown()) {
            let outcome = self.try_fetch(egress, lifecycle.era()).await;
            if let (Err(e), true) = (&outcome, lifecycle.known().is_some()) {
                let what = "the server's lists may have changed, but cannot be fetched: ";
                self.server.health.note(HealthEvent::ListsFailed(self.server.failure(e)));
                self.server.tell_failure(what, e);
                // A later fetch tries this list again.
                lifecycle.miss(self.absence_for(e));
                fetched = false;
                continue;
            }
            fetched &= outcome.is_ok();
            self.settle(egress, lifecycle, outcome).await;
        }
        fetched
    }

    /// Waits for the running fetch, if any, and then fetches the lists again: the running fetch may have been
    /// refused something that is allowed now.
    pub async fn fetch_again(self: &Arc<Self>, egress: &Egress) {
        let mut done = self.done.subscribe();
        while self.busy.lock().fetching && done.changed().await.is_ok() {}
        self.refresh(egress).await;
    }

    /// Fetches the lists again because they are old. Links that were resting before rest again afterwards, unless a
    /// client has used them in the meantime.
    pub async fn renew(&self, egress: &Egress) {
        let rested: Vec<Arc<LinkCell>> = self.cells().filter(|cell| cell.is_resting()).collect();
        self.refresh(egress).await;
        for cell in rested {
            if cell.current().is_some_and(|link| !link.was_used()) {
                cell.rest(egress).await;
            }
        }
    }

    /// Tries a server again without a client's request, if the server's health state requires this now. The attempt
    /// fetches the server's lists, which shows whether the server works.
    pub fn retry_if_due(self: &Arc<Self>, egress: &Egress) {
        if self.server.shutdown.begun.is_stopped() {
            return;
        }
        let health = &self.server.health;
        let is_due = health.is_try_due();
        // The server's process may have ended just after its lists arrived, so nothing looks wrong yet.
        if !is_due && (health.is_down() || !self.cells().any(|cell| cell.has_died())) {
            return;
        }
        let known = self.lifecycles.iter().any(|lifecycle| !lifecycle.is_unknown());
        if let Some(lifecycle) = self.lifecycles.iter().find(|lifecycle| lifecycle.has_failed() || !known) {
            drop(self.fetch(egress, lifecycle.era()));
        } else {
            let (catalogue, egress) = (self.clone(), egress.clone());
            transport::task::spawn(async move { catalogue.refresh(&egress).await });
        }
    }

    /// Returns true if the lists can be fetched without starting a child. A resting child need not be started,
    /// because its lists have not changed.
    pub fn can_be_asked(&self) -> bool {
        self.server.over_http() || self.cells().any(|cell| cell.current().is_some())
    }

    /// Returns true if announced changes are received on a link that was opened for clients of this version.
    pub fn is_heard_on(&self, asked: &'static Era) -> bool {
        self.lifecycles
            .iter()
            .any(|lifecycle| !lifecycle.is_unknown() && self.server.link_era(lifecycle.era()) == asked)
    }

    /// Returns the links over which the catalogue is fetched.
    fn cells(&self) -> impl Iterator<Item = Arc<LinkCell>> {
        let links = self.links.upgrade();
        let known = self.lifecycles.iter().filter(|lifecycle| !lifecycle.is_unknown());
        known.filter_map(move |lifecycle| links.as_ref()?.known_shared_link(lifecycle.era()))
    }

    async fn try_fetch(&self, egress: &Egress, era: &'static Era) -> Result<UpstreamCatalogue, LinkError> {
        let cell = self.links.upgrade().ok_or(LinkError::Closed)?.shared_link(era);
        self.gather_over(egress, &cell, &|_| "{}".to_owned()).await
    }

    pub(super) async fn gather_over(
        &self,
        egress: &Egress,
        cell: &Arc<LinkCell>,
        capabilities: &(dyn Fn(&'static Era) -> String + Send + Sync),
    ) -> Result<UpstreamCatalogue, LinkError> {
        let first = cell.get(egress).await?;
        match self.gather(egress, &first, capabilities(first.era)).await {
            // Servers forget sessions, and some keep only the newest one; another session is opened immediately.
            Err(LinkError::SessionGone) => {
                let another = cell.get(egress).await?;
                self.gather(egress, &another, capabilities(another.era)).await
            }
            gathered => gathered,
        }
    }

    /// Fetches the lists over a link. If they lead back to this gateway, the items that come from here are left
    /// out.
    async fn gather(
        &self,
        egress: &Egress,
        link: &Arc<OpenLink>,
        capabilities: String,
    ) -> Result<UpstreamCatalogue, LinkError> {
        let through = self.known_circle(egress);
        let mut lists = self.gather_through(egress, link, capabilities.clone(), through.clone()).await?;
        let Some(mark) = self.own_mark(egress, &lists) else { return Ok(lists) };
        if through.is_none_or(|through| through != mark) {
            lists = self.gather_through(egress, link, capabilities, Some(mark)).await?;
        }
        lists
            .notes
            .push("the server's address leads back to this gateway; the items that it gets from this gateway are left out".to_owned());
        Ok(lists)
    }

    async fn gather_through(
        &self,
        egress: &Egress,
        link: &Arc<OpenLink>,
        capabilities: String,
        through: Option<Box<str>>,
    ) -> Result<UpstreamCatalogue, LinkError> {
        let limits = &egress.snapshot().limits;
        let caps = GatherLimits { pages: limits.list_pages, entries: limits.catalogue_entries };
        let mut gather = Gather::new(link.hello.clone(), caps, crate::CLIENT_INFO)
            .serving(self.server.spec.tools.clone())
            .for_clients(capabilities)
            .through(through);
        let patience = egress.snapshot().calls(&self.server.spec).usual.timeouts.idle;
        // An item that is nested too deeply must not hide the others: each item is checked separately.
        let frames = FrameLimits { depth: LIST_DEPTH, ..egress.frame_limits() };
        let mut first_fault = None;
        while let Some(list) = gather.wants() {
            let key = egress.next_key();
            let Some(body) = gather.request(&Id::number(key)) else { break };
            let request = self.server.own_request(link.era, key, body, list.method());
            let answer = link.ask(egress.client(), request, frames);
            let answer = timeout(patience, answer).await;
            let answer = answer.unwrap_or_else(|_| Err(LinkError::Late(patience.as_secs())));
            match answer {
                Err(e @ (LinkError::SessionGone | LinkError::Child(_))) => {
                    link.bury();
                    return Err(e);
                }
                // The server has stopped answering; the next request would have to wait just as long.
                Err(e @ LinkError::Late(_)) if list != ListKind::Tools => {
                    while gather.wants().is_some() {
                        gather.fail(self.server.describe(&e));
                    }
                    first_fault.get_or_insert(e);
                }
                Err(e) if is_of_one_list(&e) => {
                    gather.fail(self.server.describe(&e));
                    first_fault.get_or_insert(e);
                }
                answer => {
                    if let Err(fault) = gather.feed(&answer?) {
                        first_fault.get_or_insert(LinkError::NotAMessage(fault.to_string()));
                    }
                }
            }
        }
        if let Some(fault) = first_fault.filter(|_| gather.is_in_vain()) {
            return Err(fault);
        }
        let mut catalogue = gather.finish();
        if let Destination::Native(server) = &self.server.destination {
            catalogue.reader = Some(ArgumentInterpreter::of(server));
        }
        Ok(catalogue)
    }

    /// Determines, in the background, which families of clients refuse tools in the list.
    fn examine(&self, lifecycle: &LifecycleLists) {
        if let Some(listed) = lifecycle.known() {
            let server = self.server.clone();
            drop(transport::task::spawn_blocking(move || server.tell_refusals(&listed)));
        }
    }

    fn absence_for(&self, error: &LinkError) -> UpstreamAbsence {
        UpstreamAbsence { reason: self.server.describe(error), retry: true }
    }

    /// Stores the lists that were fetched for a lifecycle. The server may have answered in the other lifecycle.
    async fn settle(
        &self,
        egress: &Egress,
        asked: &LifecycleLists,
        outcome: Result<UpstreamCatalogue, LinkError>,
    ) {
        let mut turned = None;
        match outcome {
            Ok(catalogue) => {
                self.server.note_hang(false);
                self.is_borrowed.store(false, Ordering::Relaxed);
                let answered = catalogue.listed_in.lifecycle;
                let lifecycle = self.lifecycles.iter().find(|lists| lists.lifecycle == answered);
                let lifecycle =
                    if self.server.is_native() { &self.lifecycles[0] } else { lifecycle.unwrap_or(asked) };
                let before = lifecycle.known();
                let entries = egress.snapshot().limits.catalogue_entries;
                let catalogue = match &before {
                    Some(before) => catalogue.completed(before, entries),
                    None => catalogue,
                };
                let catalogue = self.shared(catalogue);
                let tools = catalogue.list(ListKind::Tools).len();
                self.server.health.note(match self.server.flaw(&catalogue) {
                    None => HealthEvent::ListsFetched(tools, catalogue.left_out),
                    Some(why) => HealthEvent::ListsFetchedInPart(tools, catalogue.left_out, why),
                });
                self.server.tell_lists(&catalogue);
                if before.as_ref().is_some_and(|before| !before.same_lists(&catalogue)) {
                    self.gated.grow_stale();
                }
                turned = self.turned(egress, before.as_deref(), &catalogue);
                let is_news =
                    before.is_none_or(|before| !before.is_confirmed || !before.same_lists(&catalogue));
                self.keep(lifecycle, catalogue);
                if is_news {
                    self.save();
                }
                self.examine(lifecycle);
                // The server no longer supports the other lifecycle.
                if !std::ptr::eq(lifecycle, asked) {
                    asked.forget();
                    self.server.definitions.forget_list(self.source(ListSlot::Lifecycle(asked.index())));
                }
            }
            // The server is no longer configured.
            Err(_) if self.server.has_ended() => return,
            Err(e) => {
                self.server.health.note(HealthEvent::ListsFailed(self.server.failure(&e)));
                self.server.tell_failure("", &e);
                asked.miss(self.absence_for(&e));
            }
        }
        self.tell(egress).finished().await;
        if let Some(announce) = turned {
            announce(&[Notice::ToolsChanged]);
        }
    }
}

/// Returns true if a failure concerns one list, and reveals nothing about the server's other lists.
fn is_of_one_list(error: &LinkError) -> bool {
    match error {
        LinkError::NotAMessage(_) | LinkError::TooLong(_) => true,
        LinkError::Status { status, .. } => *status != 401 && error.passing().is_none(),
        _ => false,
    }
}

/// Ends a fetch when dropped, even after a panic.
struct Idle<'a> {
    catalogue: &'a Catalogue,
    of_all_lists: bool,
}

impl Drop for Idle<'_> {
    fn drop(&mut self) {
        let Self { catalogue, of_all_lists } = self;
        catalogue.first_awaited.store(false, Ordering::Relaxed);
        {
            let mut busy = catalogue.busy.lock();
            busy.end(*of_all_lists);
            catalogue.unsettled.store(busy.is_change_announced(), Ordering::Relaxed);
        }
        catalogue.server.health.note(HealthEvent::ListingEnded);
        // This is signalled last: callers that found this fetch running are already watching.
        catalogue.done.send_modify(|done| *done += 1);
    }
}
