//! The links to one server that belong to no session: those that clients of one version share, and those that belong
//! to one call. This module must not know which messages arrive on them.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use parking_lot::Mutex;
use proto::era::Era;
use transport::child::LastOutput;

use super::dedicated::{Dedicated, PoolFigures};
use super::link_cell::{LinkCell, LinkListener};
use super::single::SingleLink;
use crate::closing;
use crate::egress::Egress;
use crate::health::HealthEvent;
use crate::link::{LinkUser, OpenLink, Wire};
use crate::link_key::LinkKey;
use crate::quota::{Holder, Quota};
use crate::server::Server;

/// The number of lines from the end of stderr that are shown.
const LINES: usize = 20;

/// The maximum length of a shown line, in characters.
const LINE: usize = 400;

/// Figures about the links to one server.
#[derive(Debug, Clone, Copy)]
pub struct LinkFigures {
    /// The number of open links that clients share.
    pub shared: usize,
    /// The links that serve one owner at a time.
    pub dedicated: PoolFigures,
}

/// A line that a server wrote to stderr, with secrets masked.
#[derive(Debug, Clone)]
pub struct StderrLine {
    /// The time at which the line began to arrive, in milliseconds since 1970, if it is known.
    pub at: Option<u64>,
    /// The line, shortened.
    pub text: String,
}

/// Returns the last lines of an output that is shown as `text`.
fn last_lines(output: &LastOutput, text: &str) -> Vec<StderrLine> {
    let cut = |line: &str| match line.char_indices().nth(LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    };
    let timed = output.timed(text).rev().take(LINES);
    let mut last: Vec<StderrLine> = timed.map(|(at, line)| StderrLine { at, text: cut(line) }).collect();
    last.reverse();
    last
}

/// The links to one server.
pub struct Links {
    server: Arc<Server>,
    /// The receiver of each opened link.
    listener: Weak<dyn LinkListener>,
    /// The permits of calls that need a link for themselves.
    pub(super) dedicated_calls: Arc<Quota>,
    /// The links that serve one owner at a time.
    pub dedicated: Arc<Dedicated>,
    /// The turns on the only link, if the server has one link for all clients.
    single: Option<Arc<SingleLink>>,
    /// The shared link that was last requested; nearly all requests need the same one.
    recent: ArcSwapOption<(&'static Era, Arc<LinkCell>)>,
    /// The shared links, by requested version. On these links, servers cannot ask clients anything.
    shared: Mutex<HashMap<&'static Era, Arc<LinkCell>>>,
    /// The links that serve one call at a time.
    of_calls: Mutex<Vec<Weak<LinkCell>>>,
}

impl Links {
    /// Creates an empty set of links. If `common` is given, the dedicated links count toward the same limit as
    /// those in `common`, the links of the upstream that callers share.
    pub fn new(server: Arc<Server>, listener: Weak<dyn LinkListener>, common: Option<&Self>) -> Self {
        let family = common.map(|common| common.dedicated.family.clone());
        let dedicated = Dedicated::new(&server.spec, server.is_child(), family);
        Self {
            dedicated_calls: Quota::new(dedicated.max_calls()),
            single: server.spec.is_single().then(|| SingleLink::new(dedicated.dormant.clone())),
            dedicated,
            server,
            listener,
            recent: ArcSwapOption::empty(),
            shared: Mutex::default(),
            of_calls: Mutex::default(),
        }
    }

    /// Returns the server of these links.
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    fn cell(&self, kind: LinkKey, params: Bytes, session: Option<Weak<dyn LinkUser>>) -> LinkCell {
        LinkCell::new((self.server.clone(), self.listener.clone()), kind, params, session)
    }

    /// Returns the turns on the only link, if clients take turns there because the server may ask them something.
    pub fn single(&self) -> Option<&Arc<SingleLink>> {
        self.single.as_ref().filter(|_| self.server.may_ask())
    }

    /// Returns the link that clients of this version share.
    pub fn shared_link(&self, client: &'static Era) -> Arc<LinkCell> {
        let asked = self.server.link_era(client);
        if let Some(recent) = self.recent.load().as_ref().filter(|recent| recent.0 == asked) {
            return recent.1.clone();
        }
        let cell = {
            let mut shared = self.shared.lock();
            if !shared.contains_key(asked) {
                self.take_over(&mut shared, asked);
            }
            let kind = LinkKey::plain(asked);
            let new = || {
                let cell = self.cell(kind.clone(), kind.own_hello(), None);
                Arc::new(cell.single(self.single().cloned()))
            };
            shared.entry(asked).or_insert_with(new).clone()
        };
        self.recent.store(Some(Arc::new((asked, cell.clone()))));
        cell
    }

    /// Reuses a link that was opened before the server's versions were known, if that link fits the version that is
    /// wanted now.
    fn take_over(&self, shared: &mut HashMap<&'static Era, Arc<LinkCell>>, asked: &'static Era) {
        let is_it = |(old, cell): &(&&'static Era, &Arc<LinkCell>)| {
            self.server.link_era(old) == asked && cell.current().is_some_and(|link| link.era == asked)
        };
        let old = shared.iter().find(is_it).map(|(old, _)| *old);
        if let Some(cell) = old.and_then(|old| shared.remove(old)) {
            shared.insert(asked, cell);
        }
    }

    /// Returns the link that clients of this version share, if such a link already exists.
    pub fn known_shared_link(&self, client: &'static Era) -> Option<Arc<LinkCell>> {
        let asked = self.server.link_era(client);
        self.shared.lock().get(asked).cloned()
    }

    /// Returns a link for calls that use it alone, one after the other.
    pub(super) fn link_of_call(&self, kind: &LinkKey, holder: Holder) -> Arc<LinkCell> {
        if self.single.is_some() {
            return self.shared_link(kind.era);
        }
        let cell = self.cell(kind.clone(), kind.own_hello(), None);
        let cell = Arc::new(cell.pooled(self.dedicated.clone(), holder));
        let mut of_calls = self.of_calls.lock();
        of_calls.retain(|cell| cell.strong_count() > 0);
        of_calls.push(Arc::downgrade(&cell));
        cell
    }

    /// Returns a link for one session. Depending on the server's affinity, the session keeps the link or takes turns
    /// with others; `params` are the params of the client's `initialize`.
    pub fn own_link(
        &self,
        kind: &LinkKey,
        params: Bytes,
        session: Weak<dyn LinkUser>,
        holder: Holder,
    ) -> Arc<LinkCell> {
        let cell = self.cell(kind.clone(), params, Some(session));
        Arc::new(cell.pooled(self.dedicated.clone(), holder))
    }

    /// Returns all links that belong to no session.
    pub fn cells(&self) -> Vec<Arc<LinkCell>> {
        let mut cells: Vec<_> = self.shared.lock().values().cloned().collect();
        cells.extend(self.of_calls.lock().iter().filter_map(Weak::upgrade));
        for kept in self.dedicated.kept_cells() {
            if !cells.iter().any(|cell| Arc::ptr_eq(cell, &kept)) {
                cells.push(kept);
            }
        }
        cells
    }

    /// Returns the numbers of the server's open links.
    pub fn figures(&self) -> LinkFigures {
        let cells: Vec<Arc<LinkCell>> = self.shared.lock().values().cloned().collect();
        let shared = cells.iter().filter(|cell| cell.current().is_some()).count();
        let mut dedicated = self.dedicated.figures();
        dedicated.waiting += self.single.as_ref().map_or(0, |single| single.waiting());
        LinkFigures { shared, dedicated }
    }

    /// Returns the number of times that an owner was moved to another dedicated link. All callers of the server are
    /// counted, including those that have no links any more.
    pub fn moves(&self) -> u64 {
        self.dedicated.moves_of_server()
    }

    /// Returns the last lines that the shared process wrote to stderr, with secrets masked; the process may have
    /// ended since, or may never have answered. Returns no lines if the server is not a process.
    pub fn last_words(&self) -> Vec<StderrLine> {
        let cells: Vec<Arc<LinkCell>> = self.shared.lock().values().cloned().collect();
        let outputs = cells.iter().filter_map(|cell| match &cell.open.load_full()?.wire {
            Wire::Pipe(pipe) => Some(pipe.stderr()),
            _ => None,
        });
        let longest = outputs.max_by_key(|output| output.text.len()).filter(|output| !output.text.is_empty());
        let output = longest.unwrap_or_else(|| self.server.last_words.output());
        // Secrets are masked before lines are cut, because half a secret would not be recognized.
        last_lines(&output, &self.server.mask.show(&output.text))
    }

    /// Returns the sessions whose calls use these links.
    pub fn users(&self) -> Vec<Arc<dyn LinkUser>> {
        self.cells()
            .iter()
            .filter_map(|cell| cell.current())
            .flat_map(|link| link.recipients.users())
            .collect()
    }

    /// Closes shared children and server sessions that have not been used for the time `after`; they are opened
    /// again when a client needs them. Links over which clients receive notifications of changes stay open.
    pub fn rest_idle(
        &self,
        egress: &Egress,
        after: Duration,
        is_heard: impl Fn(&'static Era, &OpenLink) -> bool,
    ) {
        let cells: Vec<(&'static Era, Arc<LinkCell>)> =
            self.shared.lock().iter().map(|(asked, cell)| (*asked, cell.clone())).collect();
        let mut open = cells.iter().filter(|(_, cell)| cell.current().is_some()).count();
        for (asked, cell) in cells {
            let Some(link) = cell.current() else { continue };
            let rests = match &link.wire {
                Wire::Pipe(_) => "stopping an unused child process",
                Wire::Http(_) if link.era.has_sessions() => "closing an unused session at the server",
                _ => continue,
            };
            if link.activity.idle() > after && !link.is_used() && !is_heard(asked, &link) {
                tracing::info!(server = %self.server.name(), "{rests} after {after:?}");
                open = open.saturating_sub(1);
                if open == 0 && self.server.is_child() {
                    self.server.health.note(HealthEvent::Rested);
                }
                let egress = egress.clone();
                closing::beside(async move { cell.rest(&egress).await });
            }
        }
        self.dedicated.shed(egress, after);
    }

    /// Forgets all links. Call this only after the links are closed.
    pub fn forget_all(&self) {
        self.recent.store(None);
        self.shared.lock().clear();
        self.dedicated.forget_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_few_and_short() {
        let mut lines: Vec<String> = (1..=30).map(|n| format!("line {n}")).collect();
        lines.push("x".repeat(5000));
        let text = lines.join("\n");
        let output = LastOutput { text: text.as_str().into(), times: [7].into() };
        let last = last_lines(&output, &text);
        assert_eq!((last.len(), last[0].text.as_str(), last[0].at), (LINES, "line 12", None));
        assert_eq!((last[LINES - 1].text.chars().count(), last[LINES - 1].at), (LINE + 1, Some(7)));
        assert!(last_lines(&LastOutput::default(), "").is_empty());
    }
}
