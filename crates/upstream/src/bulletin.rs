//! The changes of a server's state as the log tells them: each once. It must not know how servers are reached.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::time::{Duration, Instant};

use engine::catalogue::{ListKind, Offer};
use parking_lot::Mutex;
use transport::up::LinkError;

use crate::server::Server;

/// The part of the log that tells of servers that are ready, also where only warnings are wanted of everything else.
pub const TARGET: &str = "dragoman::state";

/// The number of notes about one server that are remembered.
const MAX_NOTES: usize = 256;

/// What was said of a server last, so that the log has one line for each change.
#[derive(Default)]
pub struct Bulletin(Mutex<Said>);

#[derive(Default)]
struct Said {
    /// The time when it was first asked since it was last ready.
    since: Option<Instant>,
    /// True if the last line said that it is ready.
    is_ready: bool,
    /// What was wrong, as the last line had it, without its numbers.
    trouble: Option<String>,
    notes: HashSet<u64>,
}

impl Bulletin {
    /// Takes it that the server is being asked.
    pub fn begins(&self) {
        let mut said = self.0.lock();
        if !said.is_ready {
            said.since.get_or_insert_with(Instant::now);
        }
    }

    /// Takes it that the server answered: the time that it took, if that is news.
    pub fn is_ready(&self) -> Option<Duration> {
        let mut said = self.0.lock();
        said.trouble = None;
        if std::mem::replace(&mut said.is_ready, true) {
            return None;
        }
        Some(said.since.take().map(|since| since.elapsed()).unwrap_or_default())
    }

    /// Takes it that something is wrong: `true` if that is news. Times and numbers of processes in it are none.
    pub fn fails(&self, reason: &str) -> bool {
        let bare = || reason.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
        let mut said = self.0.lock();
        if said.is_ready {
            (said.is_ready, said.since) = (false, Some(Instant::now()));
        }
        let news = Some(bare());
        let is_news = said.trouble != news;
        said.trouble = news;
        is_news
    }

    /// Returns true for a note that was not said before.
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
    /// Logs that its lists are there, once until something is wrong again.
    pub fn tell_ready(&self, offer: &Offer) {
        let name = self.name();
        let [tools, prompts, resources, templates] = ListKind::ALL.map(|kind| offer.list(kind).len());
        let era = offer.hello.era;
        tracing::info!(server = %name, %era, "lists fetched: {tools} tools, {prompts} prompts, {resources} resources, {templates} templates");
        if let Some(taken) = self.bulletin.is_ready().filter(|_| !self.is_native()) {
            let taken = Duration::from_millis(u64::try_from(taken.as_millis()).unwrap_or(u64::MAX));
            tracing::info!(target: TARGET, server = %name, "ready after {taken:?}, tools: {tools}");
        }
        for note in &offer.notes {
            self.tell(note);
        }
    }

    /// Logs what is wrong with it, once until that changes; `what` is the beginning of the sentence.
    pub fn tell_failure(&self, what: &str, error: &LinkError) {
        let (name, reason) = (self.name(), self.told(error));
        // Why it is left alone has been said.
        if !matches!(error, LinkError::Resting(_)) && self.bulletin.fails(&reason) {
            tracing::warn!(server = %name, "{what}{reason}");
        } else {
            tracing::debug!(server = %name, "{what}{reason}");
        }
    }

    /// Logs that its child prints what is no message, and the first line of that.
    pub fn note_talk(&self, line: &str) {
        let line = self.mask.show(&line);
        self.tell(&format!(
            "it prints lines on stdout that are no messages; they are left out, the first is {line:?}"
        ));
    }

    /// Logs a note about it, once.
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
        bulletin.begins();
        assert!(bulletin.fails("npm failed, see 12.log") && !bulletin.fails("npm failed, see 13.log"));
        assert!(bulletin.fails("it exited") && bulletin.is_ready().is_some());
        assert!(bulletin.is_ready().is_none() && bulletin.fails("it exited") && !bulletin.fails("it exited"));
        assert!(bulletin.is_new("a") && !bulletin.is_new("a") && bulletin.is_new("b"));
    }
}
