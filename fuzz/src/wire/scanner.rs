//! The JSON scanner and the frame parser, compared with `serde_json`.

use bytes::Bytes;
use proto::json::{Elements, JsonError, MAX_DEPTH, Members, Problem, Scanner, Span, quote, unquote};
use proto::rpc::{Frame, FrameError, FrameFault, FrameKind, FrameLimits, Message};
use serde_json::value::RawValue;

use super::reference::{self, Object};

/// The fuzzer's entry.
pub fn fuzz(input: &[u8]) {
    check(input, MAX_DEPTH);
    if let [depth, rest @ ..] = input {
        check(rest, u32::from(*depth % 16));
    }
    quoting(&String::from_utf8_lossy(input));
}

/// Checks any bytes: all our parsers of JSON text agree with `serde_json`, apart from the limit on nesting.
pub fn check(text: &[u8], max_depth: u32) {
    document(text, max_depth);
    members(text, max_depth);
    elements(text);
    string(text);
    frame(text, max_depth);
    message(text, max_depth);
}

/// Checks that the validator accepts exactly the texts that `serde_json` accepts, up to the maximum depth.
fn document(text: &[u8], max_depth: u32) {
    let ours = scan(text, max_depth);
    match reference::value(text) {
        None => assert!(ours.is_err(), "accepts what is not JSON"),
        Some(_) if reference::depth(text) > max_depth as usize => {
            assert_eq!(ours.map_err(|error| error.problem), Err(Problem::Depth));
        }
        Some(_) => assert_eq!(ours, Ok(())),
    }
    if let Err(error) = ours {
        assert!(error.at <= text.len());
    }
}

fn scan(text: &[u8], max_depth: u32) -> Result<(), JsonError> {
    Scanner::new(text, max_depth)?.document()
}

/// Checks that members are found in order, each with the exact position of its value, and that they are looked up by
/// their decoded keys.
fn members(text: &[u8], max_depth: u32) {
    let ours = Members::of_document(text, max_depth);
    let is_object = reference::value(text).is_some_and(|value| value.starts_with('{'));
    assert_eq!(ours.is_ok(), is_object && scan(text, max_depth).is_ok());
    let (Ok(ours), Some(theirs)) = (ours, Object::read(text)) else { return };
    assert_eq!(ours.len(), theirs.0.len());
    for (member, (key, value)) in ours.iter().zip(&theirs.0) {
        assert_eq!(unquote(member.key.of(text)).as_deref(), Some(&**key));
        assert_eq!(member.value.of(text), value.get().as_bytes());
        let last = theirs.all(key).pop();
        assert_eq!(ours.get(text, key).map(|span| span.of(text)), last.map(str::as_bytes));
    }
}

fn elements(text: &[u8]) {
    let Some(value) = reference::value(text).filter(|_| scan(text, MAX_DEPTH).is_ok()) else { return };
    let start = text.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
    let ours = Elements::of_value(text, Span::new(start, start + value.len()));
    assert_eq!(ours.is_some(), value.starts_with('['));
    if let (Some(ours), Ok(theirs)) = (ours, serde_json::from_str::<Vec<&RawValue>>(value)) {
        assert!(ours.iter().map(|span| span.of(text)).eq(theirs.iter().map(|value| value.get().as_bytes())));
    }
}

/// Checks that strings are decoded in the same way, and that those that a `str` cannot contain are rejected.
fn string(text: &[u8]) {
    let Some(value) = reference::value(text).filter(|value| value.starts_with('"')) else { return };
    let inner = &value.as_bytes()[1..value.len() - 1];
    assert_eq!(unquote(inner).map(String::from), serde_json::from_str(value).ok());
}

/// Checks that any text can be quoted, and that both parsers read it back.
pub fn quoting(text: &str) {
    let quoted = quote(text);
    assert_eq!(serde_json::from_str::<String>(&quoted).ok().as_deref(), Some(text));
    assert_eq!(unquote(&quoted.as_bytes()[1..quoted.len() - 1]).as_deref(), Some(text));
}

/// Checks that a frame is accepted exactly if the text is a message, and that it returns the members as written.
fn frame(text: &[u8], max_depth: u32) {
    let limits = FrameLimits { depth: max_depth, batch: 4 };
    let ours = Frame::parse(Bytes::copy_from_slice(text), limits);
    if let Err(error) = scan(text, max_depth) {
        match ours {
            Err(FrameError { fault: FrameFault::Json(ours), id: None }) => assert_eq!(ours, error),
            other => panic!("{error} gave {other:?}"),
        }
        return;
    }
    // Only `serde_json` rejects keys that a `String` cannot contain, so the members of such a text are not compared.
    let Some(object) = Object::read(text) else {
        assert!(ours.is_err() || reference::value(text).is_some_and(|value| value.starts_with('{')));
        return;
    };
    if object
        .all("params")
        .iter()
        .any(|params| params.starts_with('{') && Object::read(params.as_bytes()).is_none())
    {
        return;
    }
    match (ours, expected(&object)) {
        (Ok(frame), Some(kind)) => {
            assert_eq!(frame.kind(), kind);
            assert_eq!(frame.text(), text);
            shown(&frame, &object);
        }
        (Err(error), None) => assert!(!matches!(error.fault, FrameFault::Json(_))),
        (ours, expected) => panic!("expected {expected:?}, read {ours:?}"),
    }
}

fn shown(frame: &Frame, object: &Object<'_>) {
    let text = frame.text();
    let first = |key| object.all(key).first().copied();
    let id = first("id").filter(|id| *id != "null");
    assert_eq!(frame.id().map(|id| &**id.json()), id.map(str::as_bytes));
    assert_eq!(frame.id_span().map(|span| span.of(text)), first("id").map(str::as_bytes));
    let payload = first("result").or(first("error"));
    assert_eq!(frame.payload().map(|span| span.of(text)), payload.map(str::as_bytes));
    if let Some(method) = first("method").and_then(|method| serde_json::from_str::<String>(method).ok()) {
        assert_eq!(frame.method(), method);
    }
    let written = first("params").filter(|_| first("method").is_some());
    assert_eq!(frame.params().map(|params| params.members.span().of(text)), written.map(str::as_bytes));
    let meta = written.and_then(|params| Object::read(params.as_bytes())).map(|params| params.all("_meta"));
    if let Some(meta) = meta {
        let ours = frame.params().and_then(|params| params.meta.as_ref()).map(|meta| meta.span().of(text));
        assert_eq!(ours, meta.first().map(|meta| meta.as_bytes()));
    }
}

/// Returns the kind of message that an object is; `None` if it is not a message.
fn expected(object: &Object<'_>) -> Option<FrameKind> {
    let keys = ["jsonrpc", "id", "method", "params", "result", "error"];
    let [version, id, method, params, result, error] = keys.map(|key| object.all(key));
    let unique = [&version, &id, &method, &result, &error].iter().all(|values| values.len() < 2);
    if !unique || params.len() > 1 || version != ["\"2.0\""] {
        return None;
    }
    let kind = match (method.len(), result.len(), error.len()) {
        (1, 0, 0) if id.is_empty() => FrameKind::Notification,
        (1, 0, 0) => FrameKind::Request,
        (0, 1, 0) => FrameKind::Response,
        (0, 0, 1) => FrameKind::Error,
        _ => return None,
    };
    let id_fits = match id.first() {
        None => kind != FrameKind::Response,
        Some(&"null") => kind == FrameKind::Error,
        Some(id) => id.len() <= 1024 && (id.starts_with('"') || is_integer(id)),
    };
    let method_fits = method.iter().all(|method| method.starts_with('"'));
    let params_fit = method.is_empty() || params.iter().all(|params| params_fit(params));
    (id_fits && method_fits && params_fit).then_some(kind)
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn params_fit(params: &str) -> bool {
    let Some(params) = Object::read(params.as_bytes()) else { return false };
    let meta = params.all("_meta");
    meta.len() < 2 && meta.iter().all(|meta| meta.starts_with('{'))
}

/// Checks that a batch is an array with a permitted number of messages, each of which is parsed on its own.
fn message(text: &[u8], max_depth: u32) {
    let limits = FrameLimits { depth: max_depth, batch: 4 };
    let ours = Message::parse(Bytes::copy_from_slice(text), limits);
    let array = scan(text, max_depth).ok().and_then(|()| serde_json::from_slice::<Vec<&RawValue>>(text).ok());
    match (ours, array) {
        (Ok(Message::Batch(batch)), Some(array)) => {
            assert!((1..=4).contains(&array.len()));
            assert_eq!(batch.messages.len(), array.len());
            for (message, value) in batch.messages.iter().zip(array) {
                if let Ok(frame) = message {
                    assert_eq!(frame.text(), value.get().as_bytes());
                }
            }
        }
        (Ok(Message::Batch(batch)), None) => panic!("no array, read {batch:?}"),
        (Ok(Message::Single(_)), array) => assert!(array.is_none()),
        (Err(error), Some(array)) => {
            assert_eq!(error.fault, FrameFault::BatchSize(4));
            assert!(array.is_empty() || array.len() > 4);
        }
        (Err(_), None) => {}
    }
}
