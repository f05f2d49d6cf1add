//! Spans as the crate of OpenTelemetry decodes them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use engine::meters::OperationOutcome;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;

use super::*;
use crate::telemetry::export::{ExportBatch, ResourceAttributes};

/// The facts of an operation that has all of them.
struct Facts {
    method: Cow<'static, str>,
    target: Arc<str>,
    profile: Arc<str>,
    upstream: Arc<str>,
    address: (Arc<str>, u16),
}

impl Facts {
    fn new() -> Self {
        Self {
            method: Cow::Borrowed("tools/call"),
            target: "up__echo".into(),
            profile: "default".into(),
            upstream: "up".into(),
            address: ("host.example".into(), 8443),
        }
    }

    fn of(&self) -> OperationFacts<'_> {
        OperationFacts {
            method: &self.method,
            target: Some(&self.target),
            is_tool: true,
            own_target: Some(b"echo"),
            profile: &self.profile,
            upstream: Some(&self.upstream),
            client: Some(TracedPeer { version: "2025-11-25", is_pipe: false }),
            server: Some(TracedPeer { version: "2025-06-18", is_pipe: false }),
            address: Some(&self.address),
        }
    }
}

fn request_of(ids: TraceIds, operation: &Arc<TracedOperation>) -> TracedRequest {
    TracedRequest {
        ids,
        trace_state: None,
        operation: operation.clone(),
        resource: None,
        id: b"7".as_slice().into(),
        session: None,
    }
}

/// A request with these ids.
pub(super) fn request(ids: TraceIds) -> TracedRequest {
    request_of(ids, &TracedOperation::of(&Facts::new().of()))
}

/// The end of a request that took three milliseconds, one of them at the server.
pub(super) fn end() -> TracedEnd {
    let ended = Instant::now();
    let before = |ms| ended.checked_sub(Duration::from_millis(ms)).unwrap();
    TracedEnd {
        started: before(3),
        ended,
        sent: Some((before(2), before(1))),
        outcome: OperationOutcome::Ok,
        code: None,
        tries: 1,
        cached: false,
    }
}

fn batch() -> SpanBatch {
    let resource: Arc<ResourceAttributes> = vec![("service.name".to_owned(), "gate".to_owned())].into();
    SpanBatch::new(&resource)
}

fn decoded(batch: &mut SpanBatch) -> Vec<Span> {
    let request = ExportTraceServiceRequest::decode(batch.body()).expect("a request of OTLP");
    let [of_resource] = &request.resource_spans[..] else { panic!("{request:?}") };
    let [of_scope] = &of_resource.scope_spans[..] else { panic!("{request:?}") };
    assert_eq!(of_resource.resource.as_ref().unwrap().attributes[0].key, "service.name");
    assert_eq!(of_scope.scope.as_ref().unwrap().name, "dragoman");
    of_scope.spans.clone()
}

/// The two spans of a request.
fn spans_of(request: &TracedRequest, end: &TracedEnd) -> [Span; 2] {
    let mut batch = batch();
    batch.add(request, end);
    decoded(&mut batch).try_into().expect("two spans")
}

fn attributes(span: &Span) -> BTreeMap<&str, String> {
    let text = |value: &Value| match value {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        Value::BoolValue(flag) => flag.to_string(),
        other => panic!("{other:?}"),
    };
    let pair = |one: &opentelemetry_proto::tonic::common::v1::KeyValue| {
        text(one.value.as_ref().unwrap().value.as_ref().unwrap())
    };
    let all: BTreeMap<_, _> = span.attributes.iter().map(|one| (one.key.as_str(), pair(one))).collect();
    assert_eq!(all.len(), span.attributes.len(), "an attribute occurs twice in {span:?}");
    all
}

fn ids(parent: Option<TraceContext>, link: Option<TraceContext>) -> TraceIds {
    TraceIds::new([0xab; 16], parent.map(|parent| parent.span), link)
}

const OTHER: TraceContext = TraceContext { trace: [3; 16], span: [4; 8], is_sampled: true };

#[test]
fn both_spans_of_a_call_have_all_facts() {
    let request =
        TracedRequest { session: Some(hex_digits(0x0123_4567_89ab_cdef)), ..request(ids(None, None)) };
    let end = end();
    let [served, sent] = spans_of(&request, &end);
    let common = [
        ("dragoman.upstream", "up"),
        ("gen_ai.operation.name", "execute_tool"),
        ("mcp.method.name", "tools/call"),
        ("network.protocol.name", "http"),
        ("network.transport", "tcp"),
    ];
    let with = |own: &[(&'static str, &str)]| -> BTreeMap<&'static str, String> {
        common.iter().chain(own).map(|(key, value)| (*key, (*value).to_owned())).collect()
    };
    let of_client = [
        ("dragoman.profile", "default"),
        ("gen_ai.tool.name", "up__echo"),
        ("jsonrpc.request.id", "7"),
        ("mcp.protocol.version", "2025-11-25"),
        ("mcp.session.id", "0123456789abcdef"),
    ];
    assert_eq!(attributes(&served), with(&of_client));
    let of_server = [
        ("gen_ai.tool.name", "echo"),
        ("mcp.protocol.version", "2025-06-18"),
        ("server.address", "host.example"),
        ("server.port", "8443"),
    ];
    assert_eq!(attributes(&sent), with(&of_server));
    assert_eq!((served.name.as_str(), sent.name.as_str()), ("tools/call up__echo", "tools/call echo"));
    assert_eq!((served.kind, sent.kind), (2, 3));
    assert_eq!((&served.trace_id[..], &sent.trace_id[..]), (&[0xab; 16][..], &[0xab; 16][..]));
    assert_eq!((&served.span_id[..], &sent.span_id[..]), (&request.ids.served[..], &request.ids.sent[..]));
    assert!(served.parent_span_id.is_empty() && sent.parent_span_id == served.span_id);
    assert_eq!((served.flags, sent.flags), (0x101, 0x101));
    assert!(served.status.is_none() && sent.status.is_none() && served.links.is_empty());
    let now = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap();
    let age = now.abs_diff(served.end_time_unix_nano);
    assert!(age < 60_000_000_000, "{age}");
    let before = |time| served.end_time_unix_nano - time;
    assert_eq!(before(served.start_time_unix_nano), 3_000_000);
    assert_eq!((before(sent.start_time_unix_nano), before(sent.end_time_unix_nano)), (2_000_000, 1_000_000));
}

#[test]
fn times_long_before_the_export_are_those_of_the_calendar() {
    let mut batch = batch();
    let (end, before) = (end(), |at: Instant| at.checked_sub(Duration::from_secs(10)).unwrap());
    batch.add(&request(ids(None, None)), &TracedEnd { sent: None, ..end });
    let earlier = TracedEnd { started: before(end.started), ended: before(end.ended), sent: None, ..end };
    batch.add(&request(ids(None, None)), &earlier);
    let spans = decoded(&mut batch);
    let late = |span: fn(&Span) -> u64| (span(&spans[0]) - span(&spans[1])).abs_diff(10_000_000_000);
    let late = [late(|span| span.start_time_unix_nano), late(|span| span.end_time_unix_nano)];
    assert!(late.iter().all(|late| *late < 1_000_000_000), "{late:?}");
}

#[test]
fn rare_facts_are_in_the_spans_to_which_they_belong() {
    let request = TracedRequest {
        trace_state: Some("vendor=1".into()),
        resource: Some("file:///a".into()),
        id: Vec::new().into(),
        ..request(ids(Some(OTHER), Some(OTHER)))
    };
    let end =
        TracedEnd { tries: 3, cached: true, code: Some(-32603), outcome: OperationOutcome::Error, ..end() };
    let spans = spans_of(&request, &end);
    for span in &spans {
        let attributes = attributes(span);
        assert_eq!(span.trace_state, "vendor=1");
        assert_eq!(attributes["mcp.resource.uri"], "file:///a");
        assert_eq!(
            (&*attributes["rpc.response.status_code"], &*attributes["error.type"]),
            ("-32603", "-32603")
        );
        assert_eq!(span.status.as_ref().map(|status| status.code), Some(2));
        assert!(!attributes.contains_key("jsonrpc.request.id") && !attributes.contains_key("mcp.session.id"));
    }
    let [served, sent] = &spans;
    assert_eq!((&served.parent_span_id[..], served.flags), (&[4; 8][..], 0x301));
    assert_eq!((&sent.parent_span_id[..], sent.flags), (&served.span_id[..], 0x101));
    assert_eq!((&served.links[0].trace_id[..], &served.links[0].span_id[..]), (&[3; 16][..], &[4; 8][..]));
    assert!(sent.links.is_empty());
    let (of_served, of_sent) = (attributes(served), attributes(sent));
    assert_eq!(
        (of_served.get("dragoman.cache").map(|flag| &**flag), of_served.get("dragoman.tries")),
        (Some("true"), None)
    );
    assert_eq!((of_sent.get("dragoman.cache"), &*of_sent["dragoman.tries"]), (None, "3"));
}

#[test]
fn mistakes_of_a_client_are_errors_only_towards_the_server() {
    use OperationOutcome::{Cancelled, Denied, Error, NotFound, Ok, ToolError};
    for (outcome, code, served, sent) in [
        (Ok, None, None, None),
        (Error, Some(-32602), None, Some("-32602")),
        (Error, Some(-32000), Some("-32000"), Some("-32000")),
        (ToolError, None, Some("tool_error"), Some("tool_error")),
        (Denied, Some(-32001), None, Some("-32001")),
        (NotFound, None, None, Some(NotFound.name())),
        (Cancelled, None, Some(Cancelled.name()), Some(Cancelled.name())),
    ] {
        let end = TracedEnd { outcome, code, ..end() };
        let spans = spans_of(&request(ids(None, None)), &end);
        let found = spans.each_ref().map(|span| attributes(span).get("error.type").cloned());
        assert_eq!(found, [served, sent].map(|kind| kind.map(str::to_owned)), "{outcome:?} {code:?}");
        let is_error = spans.each_ref().map(|span| span.status.is_some());
        assert_eq!(is_error, [served.is_some(), sent.is_some()], "{outcome:?} {code:?}");
    }
}

#[test]
fn a_request_that_was_not_sent_has_one_span() {
    let mut batch = batch();
    batch.add(&request(ids(None, None)), &TracedEnd { sent: None, ..end() });
    assert_eq!(decoded(&mut batch).iter().map(|span| span.kind).collect::<Vec<_>>(), [2]);
}

#[test]
fn texts_of_any_length_are_read_back_and_clipped() {
    for length in [0, 1, 100, 127, 128, 1024, 5000] {
        let name: Arc<str> = "é".repeat(length).into();
        let facts = Facts { target: name.clone(), ..Facts::new() };
        let operation = TracedOperation::of(&OperationFacts { own_target: None, ..facts.of() });
        let request = TracedRequest {
            id: "7".repeat(256).into_bytes().into(),
            trace_state: Some("s".repeat(512).into()),
            ..request_of(ids(None, None), &operation)
        };
        let expected = &name[..name.floor_char_boundary(1024)];
        for span in spans_of(&request, &end()) {
            assert_eq!(attributes(&span)["gen_ai.tool.name"], expected);
            assert_eq!(span.name, format!("tools/call {}", &name[..name.floor_char_boundary(128)]));
            assert_eq!(span.trace_state.len(), 512);
        }
    }
}

#[test]
fn operations_that_differ_in_one_fact_have_spans_of_their_own() {
    let facts = Facts::new();
    let (method, name): (_, Arc<str>) = (Cow::Owned("prompts/get".to_owned()), "other".into());
    let (pipe, address) = (TracedPeer { version: "2025-11-25", is_pipe: true }, (facts.address.0.clone(), 1));
    let version = TracedPeer { version: "2026-07-28", is_pipe: false };
    let of = facts.of();
    let all = [
        of,
        OperationFacts { method: &method, ..of },
        OperationFacts { target: Some(&name), ..of },
        OperationFacts { target: None, ..of },
        OperationFacts { is_tool: false, ..of },
        OperationFacts { own_target: Some(b"echo2"), ..of },
        OperationFacts { own_target: None, ..of },
        OperationFacts { profile: &name, ..of },
        OperationFacts { upstream: Some(&name), ..of },
        OperationFacts { upstream: None, ..of },
        OperationFacts { client: Some(pipe), ..of },
        OperationFacts { client: None, ..of },
        OperationFacts { server: Some(version), ..of },
        OperationFacts { address: Some(&address), ..of },
        OperationFacts { address: None, ..of },
    ];
    let seen = |facts: &OperationFacts<'_>| {
        let operation = TracedOperation::of(facts);
        let spans = spans_of(&request_of(ids(None, None), &operation), &end());
        let kept = spans.each_ref().map(|span| (span.name.clone(), format!("{:?}", attributes(span))));
        (operation, kept)
    };
    let first = all.each_ref().map(seen);
    for (at, (operation, kept)) in first.iter().enumerate() {
        assert!(first[..at].iter().all(|(_, other)| other != kept), "{at}: {kept:?}");
        let (again, spans) = seen(&all[at]);
        assert!(Arc::ptr_eq(operation, &again) && spans == *kept, "{at}");
    }
}

#[test]
fn operations_beyond_the_cap_are_encoded_again() {
    let facts = Facts::new();
    let of = |number: usize| {
        let target: Arc<str> = format!("tool{number}").into();
        TracedOperation::of(&OperationFacts { target: Some(&target), ..facts.of() })
    };
    let first = of(0);
    assert!((1..64).all(|number| Arc::strong_count(&of(number)) == 2));
    assert!(Arc::ptr_eq(&first, &of(0)));
    of(64);
    assert!(!Arc::ptr_eq(&first, &of(0)));
    assert_eq!(Arc::strong_count(&first), 1);
}

#[test]
fn an_operation_moves_to_another_server() {
    let facts = Facts::new();
    let operation = TracedOperation::of(&facts.of());
    let other: Arc<str> = "other".into();
    assert!(operation.is_at(Some(&"up".into())) && !operation.is_at(Some(&other)) && !operation.is_at(None));
    let moved = operation.at(Some(&other));
    assert!(moved.is_at(Some(&other)));
    let spans = spans_of(&request_of(ids(None, None), &moved), &end());
    assert!(spans.iter().all(|span| attributes(span)["dragoman.upstream"] == "other"));
    assert!(Arc::ptr_eq(&operation, &moved.at(Some(&facts.upstream))));
}

#[test]
fn a_batch_is_used_again_with_the_memory_of_its_body() {
    let mut batch = batch();
    for _ in 0..100 {
        batch.add(&request(ids(None, None)), &end());
    }
    let body = batch.body();
    let (copy, at) = (body.clone(), body.as_ptr());
    assert!(batch.reuse(body).is_none(), "the body is in use");
    let mut batch = super::spans::batch();
    batch.add(&request(ids(None, None)), &end());
    drop(copy);
    let body = batch.body();
    let at_first = body.as_ptr();
    let mut batch = batch.reuse(body).expect("nobody else has the body");
    assert_eq!(batch.len(), 0);
    batch.add(&request(ids(None, None)), &end());
    let body = batch.body();
    assert_ne!(at, at_first);
    assert_eq!(body.as_ptr(), at_first);
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    assert_eq!(request.resource_spans[0].scope_spans[0].spans.len(), 2);
}

#[test]
fn a_batch_with_many_bytes_is_large() {
    let mut batch = batch();
    let state: Box<str> = "s".repeat(512).into();
    let request = TracedRequest { trace_state: Some(state), ..request(ids(None, None)) };
    while !batch.is_large() {
        batch.add(&request, &end());
    }
    assert_eq!(decoded(&mut batch).len(), 2 * batch.len());
    assert!((1000..5000).contains(&batch.len()), "{}", batch.len());
}
