//! In which era, and over which transport, an upstream is spoken to: tried in turn, and remembered. It must not know how a
//! connection is made.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use engine::config::HttpTransport;
use parking_lot::Mutex;
use proto::era::{Era, HelloFault, Lifecycle, Web, newest_handshake, newest_stateless};
use proto::rpc::code;
use transport::up::LinkError;

/// The time for which a server may keep silent on a question that it may not know. Those that know it need no time.
pub const PROBE: Duration = Duration::from_secs(5);

/// One way to speak to an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rung {
    /// The era to ask for; a server with a handshake may answer in another one.
    pub era: &'static Era,
    /// The transport, where it is HTTP.
    pub web: Web,
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let web = match self.web {
            Web::Streamable => "",
            Web::EventStream => " over HTTP+SSE",
        };
        write!(f, "protocol version {}{web}", self.era)
    }
}

/// Which transports may be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// One endpoint; `true` when HTTP+SSE may be tried as well.
    Streamable(bool),
    /// HTTP+SSE only.
    EventStream,
    /// A child, whose pipe carries everything.
    Pipe,
}

impl Reach {
    /// Over HTTP, as configured.
    pub fn of(transport: HttpTransport) -> Self {
        match transport {
            HttpTransport::Auto => Self::Streamable(true),
            HttpTransport::Streamable => Self::Streamable(false),
            HttpTransport::Sse => Self::EventStream,
        }
    }
}

/// What an upstream is known to speak. Nothing is known at first, and nothing is when no way works any more.
#[derive(Debug, Default)]
pub struct Ladder(Mutex<Known>);

#[derive(Debug, Default, Clone, Copy)]
struct Known {
    handshake: Option<bool>,
    stateless: Option<bool>,
    /// True if one endpoint was refused in every era, and two work.
    two_endpoints: bool,
}

impl Known {
    fn is_refused(self, rung: Rung) -> bool {
        match (rung.web, rung.era.lifecycle) {
            (Web::EventStream, _) => false,
            (Web::Streamable, Lifecycle::Handshake) => self.two_endpoints || self.handshake == Some(false),
            (Web::Streamable, Lifecycle::Stateless) => self.two_endpoints || self.stateless == Some(false),
        }
    }

    fn note(&mut self, rung: Rung, works: bool) {
        match (rung.web, rung.era.lifecycle) {
            (Web::EventStream, _) => self.two_endpoints = works,
            (Web::Streamable, Lifecycle::Handshake) => self.handshake = Some(works),
            (Web::Streamable, Lifecycle::Stateless) => self.stateless = Some(works),
        }
    }
}

impl Ladder {
    /// The ways to try for clients of `era`, the most fitting first: the client's own kind, so that nothing has to be
    /// translated that need not be. What is known not to work comes last, for it may be another server now.
    pub fn rungs(&self, reach: Reach, era: &'static Era) -> Vec<Rung> {
        let known = *self.0.lock();
        let other = match era.lifecycle {
            Lifecycle::Handshake => newest_stateless(),
            Lifecycle::Stateless => newest_handshake(),
        };
        let mut rungs: Vec<Rung> = Vec::with_capacity(3);
        if reach != Reach::EventStream {
            rungs.extend([era, other].map(|era| Rung { era, web: Web::Streamable }));
        }
        if matches!(reach, Reach::EventStream | Reach::Streamable(true)) {
            let era = if era.has_sessions() { era } else { other };
            rungs.push(Rung { era, web: Web::EventStream });
        }
        rungs.sort_by_key(|rung| known.is_refused(*rung));
        rungs
    }

    /// Returns true if it is known to speak without sessions, and not with them.
    pub fn is_stateless_only(&self) -> bool {
        let known = self.0.lock();
        known.stateless == Some(true) && known.handshake == Some(false)
    }

    /// Returns true if it is known to take this way.
    pub fn takes(&self, rung: Rung) -> bool {
        let known = self.0.lock();
        match (rung.web, rung.era.lifecycle) {
            (Web::EventStream, _) => known.two_endpoints,
            (Web::Streamable, Lifecycle::Handshake) => known.handshake == Some(true),
            (Web::Streamable, Lifecycle::Stateless) => known.stateless == Some(true),
        }
    }

    /// Remembers that a way works, and which were refused before it. Only then do refusals say something: who refuses
    /// everything may be gone, or ill.
    pub fn settle(&self, works: Rung, refused: &[Rung]) {
        let mut known = self.0.lock();
        if works.web == Web::Streamable {
            known.two_endpoints = false;
        }
        for rung in refused {
            known.note(*rung, false);
        }
        known.note(works, true);
    }

    /// Takes it that a child was silent for all of its time. A question of the other era may have confused it, so the next
    /// child is asked for a handshake first.
    pub fn was_silent(&self, refused: &[Rung]) {
        let confuses = |rung: &Rung| rung.era.lifecycle == Lifecycle::Stateless;
        let stateless = refused.iter().any(confuses).then_some(false);
        *self.0.lock() = Known { stateless, ..Known::default() };
    }

    /// Forgets everything: it may be another server now.
    pub fn forget(&self) {
        *self.0.lock() = Known::default();
    }
}

/// The ways that are left to try, and why those before did not work.
#[derive(Debug)]
pub struct Climb {
    left: VecDeque<Rung>,
    refused: Vec<Rung>,
    failure: Option<LinkError>,
    is_over: bool,
}

impl Climb {
    /// In this order.
    pub fn new(rungs: Vec<Rung>) -> Self {
        Self { left: rungs.into(), refused: Vec::new(), failure: None, is_over: false }
    }

    /// The next way, and whether it was tried before.
    pub fn next_rung(&mut self) -> Option<(Rung, bool)> {
        let rung = self.left.pop_front()?;
        Some((rung, self.refused.contains(&rung)))
    }

    /// Takes it that a way did not work.
    pub fn failed(&mut self, rung: Rung, why: LinkError) {
        let verdict = verdict(&why, rung);
        if verdict == Verdict::Refused && !self.refused.contains(&rung) {
            self.refused.push(rung);
            // It may only have been slow to start; then it has time enough in the end.
            if matches!(why, LinkError::Late(_)) {
                self.left.push_back(rung);
            }
        }
        if verdict == Verdict::Final {
            self.left.clear();
            self.is_over = true;
        }
        self.failure = Some(match self.failure.take() {
            Some(old) => more_telling(old, why),
            None => why,
        });
    }

    /// Returns true when no other way is left.
    pub fn is_last(&self) -> bool {
        self.left.is_empty()
    }

    /// Takes it that a way which was too late was answered all the same.
    pub fn answered(&mut self, rung: Rung) {
        self.refused.retain(|other| *other != rung);
        self.left.retain(|other| *other != rung);
    }

    /// The ways that were refused.
    pub fn refused(&self) -> &[Rung] {
        &self.refused
    }

    /// The reason why no way works, and whether all of them were tried.
    pub fn failure(self) -> (LinkError, bool) {
        (self.failure.unwrap_or(LinkError::Closed), !self.is_over)
    }
}

/// What it means that a way into a conversation did not work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The upstream does not speak the era or the transport.
    Refused,
    /// It may, or not; another way may work.
    Unclear,
    /// No other way would work either.
    Final,
}

/// What a failed introduction means. Servers refuse what they do not know in all sorts of ways, also by silence or by
/// their end; what keeps every client out (credentials, redirects, an address where nobody is) is no refusal.
pub fn verdict(error: &LinkError, asked: Rung) -> Verdict {
    let is_stateless = asked.era.lifecycle == Lifecycle::Stateless;
    match error {
        // Only a server without sessions has these. One that does not take this version may still take a handshake.
        LinkError::Refused { code: code::HEADER_MISMATCH | code::MISSING_CAPABILITY, .. } if is_stateless => {
            Verdict::Final
        }
        LinkError::Status { status: 401 | 403 | 407 | 408 | 429, .. } | LinkError::Unauthorized(_) => {
            Verdict::Final
        }
        LinkError::Refused { .. }
        | LinkError::Hello(_)
        | LinkError::EventStream(_)
        | LinkError::Child(_)
        | LinkError::Status { status: 200..=299 | 400..=499 | 501, .. } => Verdict::Refused,
        // A fault of its own, perhaps over a question that it does not know.
        LinkError::Status { status: 500..=599, .. } if is_stateless => Verdict::Unclear,
        // A server that answers no POST may be one of two endpoints; a page is no message.
        LinkError::NotAMessage(_) if asked.web == Web::Streamable => Verdict::Refused,
        LinkError::Late(_) | LinkError::Closed if is_stateless => Verdict::Refused,
        LinkError::Http(e) if is_stateless && !e.is_unsent() => Verdict::Unclear,
        _ => Verdict::Final,
    }
}

/// Which of two failures says more to a person: what a server answered in words, rather than a bare status, or that it
/// does not know the first question of another era.
fn more_telling(old: LinkError, new: LinkError) -> LinkError {
    let rank = |error: &LinkError| match error {
        LinkError::Refused { code: code::METHOD_NOT_FOUND, .. } => 2,
        LinkError::Refused { .. } | LinkError::Hello(HelloFault::Version(_) | HelloFault::Member(..)) => 5,
        LinkError::Hello(_) | LinkError::NotStarted { .. } => 4,
        LinkError::Child(_) | LinkError::NotAMessage(_) => 3,
        LinkError::Status { .. } | LinkError::Late(_) => 1,
        _ => 0,
    };
    // A probe is given less time than the last try.
    if let (LinkError::Late(short), LinkError::Late(long)) = (&old, &new) {
        return if long > short { new } else { old };
    }
    if rank(&new) > rank(&old) { new } else { old }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(ladder: &Ladder, reach: Reach, era: &'static Era) -> Vec<(&'static str, Web)> {
        ladder.rungs(reach, era).iter().map(|rung| (rung.era.version, rung.web)).collect()
    }

    fn streamable(era: &'static Era) -> Rung {
        Rung { era, web: Web::Streamable }
    }

    #[test]
    fn the_clients_own_kind_comes_first_and_what_was_refused_last() {
        let (new, old) = (newest_stateless(), newest_handshake());
        let ladder = Ladder::default();
        let [one, other] = [new, old].map(|era| (era.version, Web::Streamable));
        let two = (old.version, Web::EventStream);
        assert_eq!(tried(&ladder, Reach::Streamable(true), new), [one, other, two]);
        assert_eq!(tried(&ladder, Reach::Streamable(false), old), [other, one]);
        assert_eq!(tried(&ladder, Reach::Pipe, old), [other, one]);
        assert_eq!(tried(&ladder, Reach::EventStream, new), [two]);
        ladder.settle(streamable(old), &[streamable(new)]);
        assert_eq!(tried(&ladder, Reach::Streamable(true), new), [other, two, one]);
        assert_eq!(tried(&ladder, Reach::Pipe, new), [other, one]);
        assert!(!ladder.is_stateless_only());
        ladder.settle(streamable(new), &[streamable(old)]);
        assert_eq!(tried(&ladder, Reach::Pipe, old), [one, other]);
        assert!(ladder.is_stateless_only() && ladder.takes(streamable(new)));
        ladder.forget();
        assert_eq!(tried(&ladder, Reach::Streamable(true), new), [one, other, two]);
    }

    #[test]
    fn an_upstream_of_two_endpoints_is_asked_there_first() {
        let (new, old) = (newest_stateless(), newest_handshake());
        let ladder = Ladder::default();
        let [one, other] = [old, new].map(|era| (era.version, Web::Streamable));
        let two = (old.version, Web::EventStream);
        ladder.settle(Rung { era: old, web: Web::EventStream }, &[streamable(old), streamable(new)]);
        assert_eq!(tried(&ladder, Reach::Streamable(true), old), [two, one, other]);
        ladder.settle(streamable(old), &[]);
        assert_eq!(tried(&ladder, Reach::Streamable(true), old), [one, two, other]);
    }

    #[test]
    fn only_what_says_something_about_the_era_leads_on() {
        let refused = |code| LinkError::Refused { code, message: String::new() };
        let status = |status| LinkError::Status { status, body: String::new() };
        let (new, old) = (streamable(newest_stateless()), streamable(newest_handshake()));
        for (error, stateless, handshake) in [
            (refused(code::METHOD_NOT_FOUND), Verdict::Refused, Verdict::Refused),
            (refused(code::REFUSED), Verdict::Refused, Verdict::Refused),
            (refused(code::UNSUPPORTED_VERSION), Verdict::Refused, Verdict::Refused),
            (refused(code::HEADER_MISMATCH), Verdict::Final, Verdict::Refused),
            (status(200), Verdict::Refused, Verdict::Refused),
            (status(400), Verdict::Refused, Verdict::Refused),
            (status(404), Verdict::Refused, Verdict::Refused),
            (status(405), Verdict::Refused, Verdict::Refused),
            (status(401), Verdict::Final, Verdict::Final),
            (status(301), Verdict::Final, Verdict::Final),
            (status(501), Verdict::Refused, Verdict::Refused),
            (status(503), Verdict::Unclear, Verdict::Final),
            (LinkError::Late(5), Verdict::Refused, Verdict::Final),
            (LinkError::NotAMessage(String::new()), Verdict::Refused, Verdict::Refused),
            (LinkError::SessionGone, Verdict::Final, Verdict::Final),
        ] {
            assert_eq!((verdict(&error, new), verdict(&error, old)), (stateless, handshake), "{error}");
        }
    }

    #[test]
    fn who_was_too_late_is_asked_once_more_in_the_end() {
        let (new, old) = (streamable(newest_stateless()), streamable(newest_handshake()));
        let status = |status| LinkError::Status { status, body: String::new() };
        let mut climb = Climb::new(vec![new, old]);
        assert_eq!(climb.next_rung(), Some((new, false)));
        climb.failed(new, LinkError::Late(5));
        assert_eq!(climb.next_rung(), Some((old, false)));
        climb.failed(old, status(400));
        assert_eq!(climb.next_rung(), Some((new, true)));
        climb.failed(new, LinkError::Late(30));
        assert_eq!((climb.next_rung(), climb.refused()), (None, &[new, old][..]));
        assert!(matches!(climb.failure(), (LinkError::Late(30), true)));
        let mut climb = Climb::new(vec![new, old]);
        climb.failed(new, status(401));
        assert_eq!(climb.next_rung(), None);
        assert!(matches!(climb.failure(), (LinkError::Status { status: 401, .. }, false)));
    }

    #[test]
    fn words_say_more_than_a_status() {
        let page = || LinkError::Status { status: 404, body: String::new() };
        let refused = |code| LinkError::Refused { code, message: String::new() };
        let told = more_telling(page(), refused(code::METHOD_NOT_FOUND));
        assert!(matches!(told, LinkError::Refused { .. }));
        let told = more_telling(told, refused(code::INTERNAL_ERROR));
        assert!(matches!(told, LinkError::Refused { code: code::INTERNAL_ERROR, .. }));
        let told = more_telling(told, page());
        assert!(matches!(told, LinkError::Refused { code: code::INTERNAL_ERROR, .. }));
    }
}
