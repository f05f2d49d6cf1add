//! In which era, and over which transport, an upstream is spoken to: tried in turn, and remembered. It must not know how a
//! connection is made.

use parking_lot::Mutex;
use proto::era::{Era, HelloFault, Lifecycle, Web, newest_handshake, newest_stateless};
use proto::rpc::code;
use transport::up::LinkError;

/// One way to speak to an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rung {
    /// The era to ask for; a server with a handshake may answer in another one.
    pub(crate) era: &'static Era,
    /// The transport, where it is HTTP.
    pub(crate) web: Web,
}

/// Which transports may be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// One endpoint; `true` when HTTP+SSE may be tried as well.
    Streamable(bool),
    /// HTTP+SSE only.
    EventStream,
    /// A child, whose pipe carries everything.
    Pipe,
}

/// What an upstream is known to speak. Nothing is known at first, and nothing is when no way works any more.
#[derive(Debug, Default)]
pub(crate) struct Ladder(Mutex<Known>);

#[derive(Debug, Default, Clone, Copy)]
struct Known {
    handshake: Option<bool>,
    stateless: Option<bool>,
    /// Whether one endpoint was refused in every era.
    two_endpoints: bool,
}

impl Ladder {
    /// The ways to try for clients of `era`, the most fitting first: the client's own kind, so that nothing has to be
    /// translated that need not be; what is known not to work is left out.
    pub(crate) fn rungs(&self, reach: Reach, era: &'static Era) -> Vec<Rung> {
        let known = *self.0.lock();
        let other = match era.lifecycle {
            Lifecycle::Handshake => newest_stateless(),
            Lifecycle::Stateless => newest_handshake(),
        };
        let mut rungs: Vec<Rung> = Vec::with_capacity(3);
        if reach != Reach::EventStream && !known.two_endpoints {
            let works = |era: &Era| match era.lifecycle {
                Lifecycle::Handshake => known.handshake != Some(false),
                Lifecycle::Stateless => known.stateless != Some(false),
            };
            let own = [era, other].into_iter().filter(|era| works(era));
            rungs.extend(own.map(|era| Rung { era, web: Web::Streamable }));
        }
        let tried_elsewhere = known.handshake == Some(true) || known.stateless == Some(true);
        if reach == Reach::EventStream
            || known.two_endpoints
            || (reach == Reach::Streamable(true) && !tried_elsewhere)
        {
            let era = if era.has_sessions() { era } else { other };
            rungs.push(Rung { era, web: Web::EventStream });
        }
        rungs
    }

    /// Whether it is known to speak without sessions, and not with them.
    pub(crate) fn is_stateless_only(&self) -> bool {
        let known = self.0.lock();
        known.stateless == Some(true) && known.handshake == Some(false)
    }

    /// Remembers that a way works.
    pub(crate) fn works(&self, rung: Rung) {
        let mut known = self.0.lock();
        match (rung.web, rung.era.lifecycle) {
            (Web::EventStream, _) => known.two_endpoints = true,
            (Web::Streamable, Lifecycle::Handshake) => known.handshake = Some(true),
            (Web::Streamable, Lifecycle::Stateless) => known.stateless = Some(true),
        }
    }

    /// Remembers that the upstream does not speak a way, though it is there.
    pub(crate) fn refused(&self, rung: Rung) {
        let mut known = self.0.lock();
        match (rung.web, rung.era.lifecycle) {
            (Web::EventStream, _) => {}
            (Web::Streamable, Lifecycle::Handshake) => known.handshake = Some(false),
            (Web::Streamable, Lifecycle::Stateless) => known.stateless = Some(false),
        }
    }

    /// Forgets everything: it may be another server now.
    pub(crate) fn forget(&self) {
        *self.0.lock() = Known::default();
    }
}

/// Whether an opening failed because the upstream does not speak the era or the transport.
pub(crate) fn is_refusal(error: &LinkError, asked: Rung) -> bool {
    match error {
        LinkError::Refused { code, .. } if !asked.era.has_sessions() => {
            // Only a server without sessions has these, so it wants something else than a handshake.
            !matches!(*code, code::HEADER_MISMATCH | code::MISSING_CAPABILITY | code::UNSUPPORTED_VERSION)
        }
        LinkError::Hello(HelloFault::Version(_) | HelloFault::NotSpoken(_) | HelloFault::Member(..))
        | LinkError::EventStream(_)
        | LinkError::Refused { .. }
        // Servers refuse what they do not know in all sorts of ways; those that keep a client out are not among them.
        | LinkError::Status { status: 400 | 404..=406 | 415 | 422 | 501, .. } => true,
        // A server that answers no POST may be one of two endpoints; a page is no message.
        LinkError::NotAMessage(_) => asked.web == Web::Streamable,
        // A child may keep silent on a question that it does not know, or die of it.
        LinkError::Late(_) | LinkError::Child(_) => asked.era.lifecycle == Lifecycle::Stateless,
        _ => false,
    }
}

/// Which of two failures says more to a person: what a server answered in words, rather than a bare status.
pub(crate) fn more_telling(old: LinkError, new: LinkError) -> LinkError {
    let rank = |error: &LinkError| match error {
        LinkError::Refused { .. } | LinkError::Hello(_) => 3,
        LinkError::Child(_) | LinkError::Late(_) | LinkError::NotAMessage(_) => 2,
        LinkError::Status { .. } => 1,
        _ => 0,
    };
    if rank(&new) > rank(&old) { new } else { old }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(ladder: &Ladder, reach: Reach, era: &'static Era) -> Vec<(&'static str, Web)> {
        ladder.rungs(reach, era).iter().map(|rung| (rung.era.version, rung.web)).collect()
    }

    #[test]
    fn the_clients_own_kind_comes_first_and_what_is_refused_is_left_out() {
        let (new, old) = (newest_stateless(), newest_handshake());
        let ladder = Ladder::default();
        let streamable = |era: &'static Era| (era.version, Web::Streamable);
        let all = [streamable(new), streamable(old), (old.version, Web::EventStream)];
        assert_eq!(tried(&ladder, Reach::Streamable(true), new), all);
        assert_eq!(tried(&ladder, Reach::Streamable(false), old), [streamable(old), streamable(new)]);
        assert_eq!(tried(&ladder, Reach::EventStream, new), [(old.version, Web::EventStream)]);
        ladder.refused(Rung { era: new, web: Web::Streamable });
        ladder.works(Rung { era: old, web: Web::Streamable });
        assert_eq!(tried(&ladder, Reach::Streamable(true), new), [streamable(old)]);
        assert_eq!(tried(&ladder, Reach::Pipe, new), [streamable(old)]);
        ladder.forget();
        assert_eq!(tried(&ladder, Reach::Streamable(true), new).len(), 3);
    }

    #[test]
    fn an_upstream_of_two_endpoints_is_known_by_its_stream() {
        let old = newest_handshake();
        let ladder = Ladder::default();
        ladder.works(Rung { era: old, web: Web::EventStream });
        assert_eq!(tried(&ladder, Reach::Streamable(true), old), [(old.version, Web::EventStream)]);
    }
}
