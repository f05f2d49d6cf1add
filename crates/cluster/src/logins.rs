//! Logins of operators: which of them have ended, and which attempts to log in have failed. Logins themselves are in sealed
//! cookies, so that each replica can read them without the store. Each replica has all ends in memory; the store has them
//! for replicas that start later. This module must not know how somebody logs in.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::families::StoreKeys;
use crate::notices::{self, Notice};
use crate::resp::{StoreCommand, StoreReply};
use crate::sealed::{SealedValues, StoredValue};

/// A digest or a random number that names a login, or all logins of one operator.
pub type LoginMark = [u8; 16];

/// The maximum number of ends that a replica remembers. Above it, the ones that matter for the shortest time are forgotten.
const MOST_ENDS: usize = 10_000;

/// The maximum number of attempts that wait for the store. Above it, the oldest ones are forgotten.
const MOST_ATTEMPTS: usize = 1000;

/// The number of ends that are written and announced in one batch.
const AT_ONCE: usize = 200;

/// The end of logins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EndedLogin {
    /// The time of the end: logins that were opened before this time have ended.
    at_ms: u64,
    /// The time after which no login can have been opened before the end.
    until_ms: u64,
}

/// An attempt to log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LoginAttempt {
    /// The attempt from this address failed.
    Failed(IpAddr),
    /// The attempt from this address succeeded.
    Succeeded(IpAddr),
}

/// The events that a replica announces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoginNews {
    /// The id of the replica.
    from: String,
    ended: Vec<(String, EndedLogin)>,
    attempts: Vec<LoginAttempt>,
}

/// The ends that a replica knows, and the events that it has not announced yet.
#[derive(Default)]
pub(crate) struct LoginEnds {
    ends: HashMap<LoginMark, EndedLogin>,
    unsent: HashSet<LoginMark>,
    attempts: Vec<LoginAttempt>,
    /// The fields in the store that no longer matter.
    outdated: Vec<String>,
}

/// Events that are being announced.
#[derive(Debug, Default)]
pub(crate) struct LoginBatch {
    ended: Vec<(LoginMark, EndedLogin)>,
    attempts: Vec<LoginAttempt>,
    outdated: Vec<String>,
}

impl LoginEnds {
    /// Records an end that another replica has announced or written. Of two ends, the later one counts.
    fn learn(&mut self, mark: LoginMark, end: EndedLogin, now_ms: u64) {
        if end.until_ms <= now_ms {
            return;
        }
        if self.ends.len() >= MOST_ENDS && !self.ends.contains_key(&mark) {
            self.make_room(now_ms);
        }
        let known = self.ends.entry(mark).or_insert(end);
        known.at_ms = known.at_ms.max(end.at_ms);
        known.until_ms = known.until_ms.max(end.until_ms);
    }

    /// Records an end that this replica must announce.
    fn end(&mut self, mark: LoginMark, end: EndedLogin) {
        self.learn(mark, end, end.at_ms);
        self.unsent.insert(mark);
    }

    /// Ends the logins that were opened before now. `longest_ms` is the maximum duration of a login.
    pub(crate) fn end_now(&mut self, mark: LoginMark, now_ms: u64, longest_ms: u64) {
        self.end(mark, EndedLogin { at_ms: now_ms, until_ms: now_ms.saturating_add(longest_ms) });
    }

    /// Records an attempt that this replica must announce.
    pub(crate) fn attempt(&mut self, attempt: LoginAttempt) {
        if self.attempts.len() >= MOST_ATTEMPTS {
            self.attempts.remove(0);
        }
        self.attempts.push(attempt);
    }

    /// Returns true if a login that was opened at this time has ended.
    pub(crate) fn has_ended(&self, mark: &LoginMark, opened_ms: u64) -> bool {
        self.ends.get(mark).is_some_and(|end| opened_ms <= end.at_ms)
    }

    fn make_room(&mut self, now_ms: u64) {
        self.ends.retain(|_, end| end.until_ms > now_ms);
        if self.ends.len() >= MOST_ENDS {
            let mut times: Vec<u64> = self.ends.values().map(|end| end.until_ms).collect();
            times.sort_unstable();
            let middle = times[times.len() / 2];
            self.ends.retain(|_, end| end.until_ms > middle);
        }
        self.unsent.retain(|mark| self.ends.contains_key(mark));
    }

    /// Compares all ends with those in the store, after the connection was lost: the ones that the store lacks are written
    /// again.
    pub(crate) fn compare(&mut self, keys: &StoreKeys, values: &SealedValues, reply: &StoreReply, now: u64) {
        let mut stored = HashSet::new();
        let (fields, _) = reply.list().as_chunks::<2>();
        for [name, sealed] in fields {
            let Some(name) = name.text() else { continue };
            let end = sealed.bytes().map(|sealed| values.value::<EndedLogin>(&place(keys, name), sealed));
            let end = match end {
                Some(StoredValue::Known(end)) => Some(end),
                Some(StoredValue::Newer) => continue,
                Some(StoredValue::Foreign) | None => None,
            };
            match mark(name).zip(end).filter(|(_, end)| end.until_ms > now) {
                Some((mark, end)) => {
                    self.learn(mark, end, now);
                    stored.insert(mark);
                }
                None if self.outdated.len() < MOST_ENDS => self.outdated.push(name.to_owned()),
                None => {}
            }
        }
        self.unsent.extend(self.ends.keys().filter(|mark| !stored.contains(*mark)));
    }

    /// Takes over what another replica has announced; returns its attempts.
    pub(crate) fn take_news(&mut self, news: LoginNews, me: &str, now: u64) -> Vec<LoginAttempt> {
        if news.from == me {
            return Vec::new();
        }
        for (name, end) in news.ended {
            if let Some(mark) = mark(&name) {
                self.learn(mark, end, now);
            }
        }
        news.attempts
    }

    /// Takes the next events to announce; `None` if there are none.
    pub(crate) fn take(&mut self) -> Option<LoginBatch> {
        let marks: Vec<_> = self.unsent.iter().copied().take(AT_ONCE).collect();
        let ended = marks.into_iter().filter_map(|mark| {
            self.unsent.remove(&mark);
            Some((mark, *self.ends.get(&mark)?))
        });
        let ended = ended.collect();
        let attempts = self.attempts.drain(..self.attempts.len().min(AT_ONCE)).collect();
        let outdated = self.outdated.drain(..self.outdated.len().min(AT_ONCE)).collect();
        let batch = LoginBatch { ended, attempts, outdated };
        let is_empty = batch.ended.is_empty() && batch.attempts.is_empty() && batch.outdated.is_empty();
        (!is_empty).then_some(batch)
    }

    /// Puts back events that could not be announced.
    pub(crate) fn put_back(&mut self, batch: LoginBatch) {
        self.unsent.extend(batch.ended.iter().map(|(mark, _)| mark));
        let meanwhile = std::mem::replace(&mut self.attempts, batch.attempts);
        for attempt in meanwhile {
            self.attempt(attempt);
        }
    }
}

impl LoginBatch {
    /// Returns the commands that write and announce the events; `me` is the id of this replica.
    pub(crate) fn commands(&self, keys: &StoreKeys, values: &SealedValues, me: &str) -> Vec<StoreCommand> {
        let ended: Vec<_> = self.ended.iter().map(|(mark, end)| (name(mark), *end)).collect();
        let write = ended.iter().filter_map(|(name, end)| {
            let sealed = values.write(&place(keys, name), end)?;
            Some(StoreCommand::new("HSET").arg(keys.logins()).arg(name).arg(sealed))
        });
        let mut commands: Vec<_> = write.collect();
        let forget = self.outdated.iter();
        commands.extend(forget.map(|name| StoreCommand::new("HDEL").arg(keys.logins()).arg(name)));
        if !ended.is_empty() || !self.attempts.is_empty() {
            let news = LoginNews { from: me.to_owned(), ended, attempts: self.attempts.clone() };
            commands.extend(notices::send(keys, values, &Notice::Logins(news)).into_iter().flatten());
        }
        commands
    }
}

/// Returns the command that reads all ends.
pub(crate) fn read_all(keys: &StoreKeys) -> StoreCommand {
    StoreCommand::new("HGETALL").arg(keys.logins())
}

fn name(mark: &LoginMark) -> String {
    format!("{:032x}", u128::from_be_bytes(*mark))
}

/// Reads a mark; `None` for any other text.
fn mark(name: &str) -> Option<LoginMark> {
    let fits = name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    u128::from_str_radix(name, 16).ok().filter(|_| fits).map(u128::to_be_bytes)
}

/// The context of a sealed end.
fn place(keys: &StoreKeys, name: &str) -> String {
    format!("{}/{name}", keys.logins())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, parts, stays_readable, text};

    const MARK: LoginMark = [7; 16];

    fn end(at_ms: u64, until_ms: u64) -> EndedLogin {
        EndedLogin { at_ms, until_ms }
    }

    fn with(mark: LoginMark, ended: EndedLogin) -> LoginEnds {
        let mut ends = LoginEnds::default();
        ends.end(mark, ended);
        ends
    }

    #[test]
    fn ends_of_a_newer_version_stay_in_the_store() {
        let (keys, values) = cluster();
        stays_readable::<EndedLogin>(r#"{"atMs":1,"untilMs":2}"#);
        let name = "07070707070707070707070707070707";
        let stored = |sealed| {
            let mut ends = LoginEnds::default();
            ends.compare(&keys, &values, &StoreReply::List(vec![text(name), text(sealed)]), 1);
            ends.outdated
        };
        assert_eq!(stored(values.write(&place(&keys, name), &("format 2",)).unwrap()), [""; 0]);
        assert_eq!(stored(b"garbage".to_vec()), [name]);
    }

    #[test]
    fn what_was_opened_before_the_end_has_ended() {
        let ends = with(MARK, end(100, 200));
        assert!(ends.has_ended(&MARK, 0) && ends.has_ended(&MARK, 100));
        assert!(!ends.has_ended(&MARK, 101), "an operator who was removed can be added again");
        assert!(!ends.has_ended(&[8; 16], 0));
    }

    #[test]
    fn an_end_reaches_the_others_through_notices_and_through_the_store() {
        let (keys, values) = cluster();
        let mut ends = with(MARK, end(100, 200));
        ends.attempt(LoginAttempt::Failed([127, 0, 0, 1].into()));
        let batch = ends.take().unwrap();
        let commands: Vec<_> = batch.commands(&keys, &values, "me").iter().map(parts).collect();
        let names: Vec<_> = commands.iter().map(|command| command[0].as_str()).collect();
        assert_eq!(names, ["HSET", "XADD", "PUBLISH"]);
        assert_eq!(commands[0][1..3], ["test:logins", "07070707070707070707070707070707"]);
        assert!(ends.take().is_none(), "it is announced once");
        let mut late = LoginEnds::default();
        let stored = StoreReply::List(vec![text(&commands[0][2]), text(&commands[0][3])]);
        late.compare(&keys, &values, &stored, 150);
        assert!(late.has_ended(&MARK, 100) && late.take().is_none());
        let read = values.read::<Notice>("test:log", commands[1][7].as_bytes()).unwrap();
        let Notice::Logins(news) = read else { panic!("{read:?}") };
        let mut other = LoginEnds::default();
        assert_eq!(other.take_news(news.clone(), "me", 150), [], "its own");
        assert_eq!(other.take_news(news, "other", 150), [LoginAttempt::Failed([127, 0, 0, 1].into())]);
        assert!(other.has_ended(&MARK, 100) && other.take().is_none(), "others do not announce it again");
    }

    #[test]
    fn a_store_that_lost_an_end_gets_it_again_and_loses_what_is_over() {
        let (keys, values) = cluster();
        let mut ends = with(MARK, end(100, 200));
        ends.take();
        let over = values.write(&place(&keys, &name(&[9; 16])), &end(1, 2)).unwrap();
        let elsewhere = values.write(&place(&keys, &name(&MARK)), &end(300, 400)).unwrap();
        let stored = StoreReply::List(vec![
            text(name(&[9; 16])),
            text(over),
            text(name(&[8; 16])),
            text(elsewhere),
            text("x"),
            text("garbage"),
        ]);
        ends.compare(&keys, &values, &stored, 150);
        assert!(!ends.has_ended(&[8; 16], 0), "it was copied from another name");
        let batch = ends.take().unwrap();
        assert_eq!(batch.ended, [(MARK, end(100, 200))]);
        assert_eq!(batch.outdated, [name(&[9; 16]), name(&[8; 16]), "x".to_owned()]);
    }

    #[test]
    fn what_could_not_be_announced_is_announced_later_in_the_same_order() {
        let mut ends = with(MARK, end(100, 200));
        let attempts = [1, 2, 3].map(|last| LoginAttempt::Failed([127, 0, 0, last].into()));
        ends.attempt(attempts[0]);
        let batch = ends.take().unwrap();
        ends.attempt(attempts[1]);
        ends.put_back(batch);
        ends.attempt(attempts[2]);
        let batch = ends.take().unwrap();
        assert_eq!((batch.ended.len(), &batch.attempts[..]), (1, &attempts[..]));
    }

    #[test]
    fn many_ends_and_attempts_cost_bounded_memory() {
        let mut ends = LoginEnds::default();
        for number in 0..3 * MOST_ENDS as u64 {
            ends.end(u128::from(number).to_be_bytes(), end(0, 1000 + number));
            ends.attempt(LoginAttempt::Succeeded([127, 0, 0, 1].into()));
            assert!(ends.ends.len() <= MOST_ENDS && ends.unsent.len() <= MOST_ENDS);
        }
        assert!(ends.has_ended(&u128::from(3 * MOST_ENDS as u64 - 1).to_be_bytes(), 0));
        assert_eq!(ends.attempts.len(), MOST_ATTEMPTS);
        let mut sent = 0;
        while let Some(batch) = ends.take() {
            assert!(batch.ended.len() <= AT_ONCE && batch.attempts.len() <= AT_ONCE);
            sent += batch.ended.len();
        }
        assert_eq!(sent, ends.ends.len());
    }
}
