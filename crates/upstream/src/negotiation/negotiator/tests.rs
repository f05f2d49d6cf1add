//! Tests of the negotiator: the candidates, their order, and the results that are remembered.

use super::*;

fn tried(
    negotiator: &Negotiator,
    transports: TransportChoice,
    era: &'static Era,
) -> Vec<(&'static str, Web)> {
    negotiator
        .candidates_over(transports, era)
        .iter()
        .map(|candidate| (candidate.era.version, candidate.web))
        .collect()
}

fn streamable(era: &'static Era) -> Candidate {
    Candidate { era, web: Web::Streamable }
}

#[test]
fn the_clients_own_kind_comes_first_and_what_was_refused_last() {
    let (new, old) = (newest_stateless(), newest_handshake());
    let negotiator = Negotiator::new(TransportChoice::Pipe);
    let [one, other] = [new, old].map(|era| (era.version, Web::Streamable));
    let two = (old.version, Web::EventStream);
    assert_eq!(tried(&negotiator, TransportChoice::Streamable(true), new), [one, other, two]);
    assert_eq!(tried(&negotiator, TransportChoice::Streamable(false), old), [other, one]);
    assert_eq!(tried(&negotiator, TransportChoice::Pipe, old), [other, one]);
    assert_eq!(tried(&negotiator, TransportChoice::EventStream, new), [two]);
    negotiator.settle(streamable(old), &[streamable(new)]);
    assert_eq!(tried(&negotiator, TransportChoice::Streamable(true), new), [other, two, one]);
    assert_eq!(tried(&negotiator, TransportChoice::Pipe, new), [other, one]);
    assert!(!negotiator.is_stateless_only());
    negotiator.settle(streamable(new), &[streamable(old)]);
    assert_eq!(tried(&negotiator, TransportChoice::Pipe, old), [one, other]);
    assert!(negotiator.is_stateless_only() && negotiator.takes(streamable(new)));
    negotiator.forget();
    assert_eq!(tried(&negotiator, TransportChoice::Streamable(true), new), [one, other, two]);
}

#[test]
fn an_upstream_of_two_endpoints_is_asked_there_first() {
    let (new, old) = (newest_stateless(), newest_handshake());
    let negotiator = Negotiator::new(TransportChoice::Pipe);
    let [one, other] = [old, new].map(|era| (era.version, Web::Streamable));
    let two = (old.version, Web::EventStream);
    negotiator.settle(Candidate { era: old, web: Web::EventStream }, &[streamable(old), streamable(new)]);
    assert_eq!(tried(&negotiator, TransportChoice::Streamable(true), old), [two, one, other]);
    negotiator.settle(streamable(old), &[]);
    assert_eq!(tried(&negotiator, TransportChoice::Streamable(true), old), [one, two, other]);
}

fn not_kept() -> LinkError {
    LinkError::SessionNotKept { status: 400, body: String::new() }
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
        (not_kept(), Verdict::Refused, Verdict::Refused),
    ] {
        assert_eq!((verdict(&error, new), verdict(&error, old)), (stateless, handshake), "{error}");
    }
}

#[test]
fn who_forgets_a_new_session_is_asked_once_more_at_once() {
    let (new, old) = (streamable(newest_stateless()), streamable(newest_handshake()));
    let mut candidates = Candidates::new(vec![old, new]);
    assert_eq!(candidates.next_candidate(), Some((old, false)));
    candidates.failed(old, not_kept());
    assert_eq!(candidates.next_candidate(), Some((old, true)));
    candidates.failed(old, not_kept());
    assert_eq!(candidates.next_candidate(), Some((new, false)));
    candidates.failed(new, LinkError::Status { status: 404, body: String::new() });
    assert!(matches!(candidates.failure(), (LinkError::SessionNotKept { status: 400, .. }, true)));
}

#[test]
fn who_was_too_late_is_asked_once_more_in_the_end() {
    let (new, old) = (streamable(newest_stateless()), streamable(newest_handshake()));
    let status = |status| LinkError::Status { status, body: String::new() };
    let mut candidates = Candidates::new(vec![new, old]);
    assert_eq!(candidates.next_candidate(), Some((new, false)));
    candidates.failed(new, LinkError::Late(5));
    assert_eq!(candidates.next_candidate(), Some((old, false)));
    candidates.failed(old, status(400));
    assert_eq!(candidates.next_candidate(), Some((new, true)));
    candidates.failed(new, LinkError::Late(30));
    assert_eq!((candidates.next_candidate(), candidates.refused()), (None, &[new, old][..]));
    assert!(matches!(candidates.failure(), (LinkError::Late(30), true)));
    let mut candidates = Candidates::new(vec![new, old]);
    candidates.failed(new, status(401));
    assert_eq!(candidates.next_candidate(), None);
    assert!(matches!(candidates.failure(), (LinkError::Status { status: 401, .. }, false)));
}

#[test]
fn words_say_more_than_a_status() {
    let of_handshake = |why| FailedCandidate { why, is_refused_probe: false };
    let page = || of_handshake(LinkError::Status { status: 404, body: String::new() });
    let refused = |code| of_handshake(LinkError::Refused { code, message: String::new() });
    let told = more_telling(page(), refused(code::METHOD_NOT_FOUND));
    assert!(matches!(told.why, LinkError::Refused { .. }));
    let told = more_telling(told, refused(code::INTERNAL_ERROR));
    assert!(matches!(told.why, LinkError::Refused { code: code::INTERNAL_ERROR, .. }));
    let told = more_telling(told, page());
    assert!(matches!(told.why, LinkError::Refused { code: code::INTERNAL_ERROR, .. }));
}

#[test]
fn a_failure_that_passes_is_not_hidden_by_the_refusal_of_a_probe() {
    let away = || LinkError::Status { status: 503, body: String::new() };
    let lasting = || LinkError::Status { status: 404, body: String::new() };
    let (probe, handshake) = (streamable(newest_stateless()), streamable(newest_handshake()));
    for code in [code::METHOD_NOT_FOUND, code::INVALID_PARAMS, -32000] {
        let refused = || LinkError::Refused { code, message: String::new() };
        for failures in [
            [(probe, refused()), (handshake, LinkError::Closed)],
            [(probe, refused()), (handshake, away())],
            [(handshake, away()), (probe, refused())],
        ] {
            let mut candidates = Candidates::new(Vec::new());
            for (candidate, why) in failures {
                candidates.failed(candidate, why);
            }
            assert!(candidates.failure().0.passing().is_some(), "{code}: callers can wait for the server");
        }
        let mut candidates = Candidates::new(Vec::new());
        candidates.failed(probe, refused());
        candidates.failed(handshake, lasting());
        assert!(matches!(candidates.failure().0, LinkError::Refused { .. }), "a lasting status says less");
    }
}

#[test]
fn a_server_with_a_handshake_may_serve_clients_without_one_too() {
    let negotiator = Negotiator::new(TransportChoice::Pipe);
    assert!(!negotiator.may_be_stateless_too(), "nothing is known");
    negotiator.settle(streamable(newest_handshake()), &[]);
    assert!(negotiator.may_be_stateless_too() && !negotiator.is_stateless_too());
    negotiator.note_stateless(true);
    assert!(negotiator.is_stateless_too() && !negotiator.may_be_stateless_too());
    assert!(!negotiator.is_stateless_only() && !negotiator.is_handshake_only());
    negotiator.note_stateless(false);
    assert!(!negotiator.is_stateless_too() && negotiator.is_handshake_only());
    assert!(!negotiator.may_be_stateless_too(), "it is asked once");
}
