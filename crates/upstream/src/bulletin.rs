//! Log lines about a server: its failures, and notes about the server. Each line is logged only once. This module must
//! not know how servers are reached.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use engine::catalogue::{ListKind, UpstreamCatalogue};
use parking_lot::Mutex;
use transport::up::LinkError;

use crate::health::HealthCause;
use crate::server::Server;

/// The number of notes about one server that are remembered.
const MAX_NOTES: usize = 256;

/// The latest log lines about a server, remembered so that the log contains only one line for each change.
#[derive(Default)]
pub struct Bulletin(Mutex<LastReported>);

#[derive(Default)]
struct LastReported {
    /// The failure that the last line reported, without the digits.
    failure: Option<String>,
    notes: HashSet<u64>,
}

impl Bulletin {
    /// Records that the server has answered, so the next failure is logged even if it is the same as the last one.
    pub fn is_well(&self) {
        self.0.lock().failure = None;
    }

    /// Records a failure. Returns `true` if the failure differs from the last one; differences in digits, such as
    /// times or process ids, are ignored.
    pub fn fails(&self, reason: &str) -> bool {
        let bare = || reason.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
        let mut said = self.0.lock();
        let news = Some(bare());
        let is_news = said.failure != news;
        said.failure = news;
        is_news
    }

    /// Returns true if the note has not been logged before.
    pub fn is_new(&self, note: &str) -> bool {
        let mut said = self.0.lock();
        if said.notes.len() >= MAX_NOTES {
            said.notes.clear();
        }
        let mut digest = DefaultHasher::new();
        note.hash(&mut digest);
        said.notes.insert(digest.finish())
    }
}

impl Server {
    /// Logs the number of items in the server's fetched lists, and the notes about the lists.
    pub fn tell_lists(&self, catalogue: &UpstreamCatalogue) {
        let name = self.name();
        let [tools, prompts, resources, templates] = ListKind::ALL.map(|kind| catalogue.list(kind).len());
        let era = catalogue.hello.era;
        tracing::info!(server = %name, %era, "lists fetched: {tools} tools, {prompts} prompts, {resources} resources, {templates} templates");
        self.bulletin.is_well();
        for note in &catalogue.notes {
            self.tell(note);
        }
    }

    /// Determines which families of clients refuse tools in the server's list, and logs them. For hundreds of
    /// tools, this takes milliseconds.
    pub fn tell_refusals(&self, catalogue: &UpstreamCatalogue) {
        let all = catalogue.refusals();
        if all.is_empty() {
            return;
        }
        let families: Vec<&str> = all.iter().map(|one| one.family.name).collect();
        let (name, families) = (self.name(), families.join(", "));
        let note = format!("clients of these families refuse some of the tools: {families}");
        if self.bulletin.is_new(&note) {
            tracing::info!(server = %name, "{note}; `dragoman list {name}` shows the tools and the reasons");
        }
    }

    /// Returns the reason why some of the server's lists could not be fetched; `None` if all were fetched.
    pub fn flaw(&self, catalogue: &UpstreamCatalogue) -> Option<HealthCause> {
        let failed = ListKind::ALL.into_iter().filter(|kind| catalogue.failure(*kind).is_some());
        let failed: Vec<&str> = failed.map(|kind| kind.method().name()).collect();
        let reasons: Vec<&str> = catalogue.failures().collect();
        (!failed.is_empty())
            .then(|| HealthCause::of_lists(failed.join(", "), self.concealed(&reasons.join("; "))))
    }

    /// Logs a failure: as a warning if it is new, otherwise at the debug level; `what` is the beginning of the log
    /// message.
    pub fn tell_failure(&self, what: &str, error: &LinkError) {
        let (name, reason) = (self.name(), self.describe(error));
        // A change of state logs the reason as well; and the reason of a failing server that is not tried now was
        // logged before.
        let is_told = matches!(error, LinkError::Resting { .. }) || self.health.has_told(&reason);
        if self.bulletin.fails(&reason) && !is_told {
            tracing::warn!(server = %name, "{what}the server {reason}");
        } else {
            tracing::debug!(server = %name, "{what}the server {reason}");
        }
    }

    /// Logs that the server's child process prints lines that are not protocol messages; the log line quotes the first
    /// of them.
    pub fn note_talk(&self, line: &str) {
        let line = self.mask.show(&line);
        self.tell(&format!(
            "stdout has lines that are not messages; they are ignored. The first is {line:?}"
        ));
    }

    /// Logs a note about the server as a warning, once.
    fn tell(&self, note: &str) {
        let name = self.name();
        if self.bulletin.is_new(note) {
            tracing::warn!(server = %name, "{note}");
        } else {
            tracing::debug!(server = %name, "{note}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_news_once() {
        let bulletin = Bulletin::default();
        assert!(bulletin.fails("npm failed, see 12.log") && !bulletin.fails("npm failed, see 13.log"));
        assert!(bulletin.fails("it exited") && !bulletin.fails("it exited"));
        bulletin.is_well();
        assert!(bulletin.fails("it exited") && !bulletin.fails("it exited"));
        assert!(bulletin.is_new("a") && !bulletin.is_new("a") && bulletin.is_new("b"));
    }
}
