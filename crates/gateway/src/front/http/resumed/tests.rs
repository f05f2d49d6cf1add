//! Tests what a client gets again of a call whose gateway has ended.

use cluster::NewEvents;

use super::*;

/// Returns the copy of a stream with these requests and events; it has ended after `end` events.
fn copy(requests: &[&str], events: &[(u64, &str)], end: Option<u64>) -> StreamCopy {
    let own = |text: &&str| Bytes::copy_from_slice(text.as_bytes());
    let events = events.iter().map(|(number, data)| (*number, own(data))).collect();
    let requests = requests.iter().map(own).collect();
    [NewEvents { epoch: 1, stream: 1, events, requests, end }].into_iter().collect()
}

fn answer(id: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}")
}

const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;

/// A question has an id, too, but is no answer.
const QUESTION: &str = r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}"#;

/// Returns the numbers of the events that a client gets, and the ids of the lost answers; `None` if it gets nothing.
fn replay(copy: &StreamCopy, last: u64) -> Option<(Vec<u64>, Vec<String>)> {
    let numbers = |events: Vec<(u64, Bytes)>| events.into_iter().map(|(number, _)| number).collect();
    match call_replay(copy, last, FrameLimits::default()) {
        CallReplay::Events(events) => Some((numbers(events), vec![])),
        CallReplay::Unfinished(events, open) => {
            let id = |id: Id| String::from_utf8_lossy(id.json()).into_owned();
            Some((numbers(events), open.into_iter().map(id).collect()))
        }
        CallReplay::Lost => None,
    }
}

#[test]
fn a_call_that_has_ended_is_sent_again_after_the_last_event() {
    let text = answer("1");
    let whole = copy(&["1"], &[(0, ""), (1, NOTE), (2, &text)], Some(3));
    assert_eq!(replay(&whole, 0), Some((vec![1, 2], vec![])));
    assert_eq!(replay(&whole, 2), Some((vec![], vec![])), "the client has all events");
    assert_eq!(replay(&whole, 3), None, "this event never existed");
    // Notifications may be missing, but not the answer.
    let gap = copy(&["1"], &[(0, ""), (2, &text)], Some(3));
    assert_eq!(replay(&gap, 0), Some((vec![2], vec![])));
    assert_eq!(replay(&copy(&["1"], &[(0, ""), (1, NOTE)], Some(3)), 0), None, "the answer was too large");
    assert_eq!(replay(&StreamCopy::default(), 0), None, "nothing is kept");
}

#[test]
fn a_call_that_was_running_gets_an_error_after_its_events() {
    let lost = |id: &str| vec![id.to_owned()];
    let running = copy(&["\"a\""], &[(0, ""), (1, NOTE), (2, QUESTION)], None);
    assert_eq!(replay(&running, 0), Some((vec![1, 2], lost("\"a\""))));
    assert_eq!(replay(&running, 2), Some((vec![], lost("\"a\""))));
    assert_eq!(replay(&running, 9), Some((vec![], lost("\"a\""))), "its last events were not copied in time");
    let asked = copy(&["1"], &[(0, QUESTION)], None);
    assert_eq!(replay(&asked, 0), Some((vec![], lost("1"))), "a question with the same id is no answer");
    let gap = copy(&["1"], &[(0, ""), (2, NOTE)], None);
    assert_eq!(replay(&gap, 0), Some((vec![], lost("1"))), "not a part of the events");
    // The answer was copied, but not the end of the stream.
    let text = answer("1");
    assert_eq!(replay(&copy(&["1"], &[(0, ""), (1, &text)], None), 0), Some((vec![1], vec![])));
    // Ids that are too long are not copied.
    assert_eq!(replay(&copy(&[], &[(0, ""), (1, NOTE)], None), 0), Some((vec![1], vec![])));
    assert_eq!(replay(&copy(&[], &[(0, ""), (1, NOTE)], None), 1), None);
}

#[test]
fn each_request_of_a_batch_gets_its_answer_or_an_error() {
    let (one, two) = (answer("1"), answer("2"));
    let running = copy(&["1", "2", "3"], &[(0, &two), (1, NOTE), (2, &one)], None);
    assert_eq!(replay(&running, 0), Some((vec![1, 2], vec!["3".to_owned()])));
    let done = copy(&["1", "2"], &[(0, &two), (1, &one)], None);
    assert_eq!(replay(&done, 0), Some((vec![1], vec![])));
    // Nobody knows whether the missing events were answers.
    assert_eq!(replay(&copy(&["1", "2"], &[(1, &one)], None), 1), None);
    assert_eq!(replay(&copy(&["1", "2"], &[(0, &one), (2, NOTE)], Some(3)), 0), None);
}
