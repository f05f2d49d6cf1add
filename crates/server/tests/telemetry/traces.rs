//! Spans of requests, as a stand-in for a collector receives them. Bodies are decoded by the crate of OpenTelemetry, not by code
//! of ours.

use std::io::Read as _;

use flate2::read::GzDecoder;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use serde_json::{Value, json};
use testkit::collector::{Post, TelemetryCollector};

use crate::attributes;
use crate::figures::Figures;
use crate::support::*;

/// The kinds of spans.
const SERVER: i32 = 2;
const CLIENT: i32 = 3;

/// The span of the client in every test.
const OWN_SPAN: &str = "00f067aa0ba902b7";

/// A gateway that sends its traces to a collector.
async fn traced(config: &str, env: &[(&str, &str)]) -> (Gateway, TelemetryCollector) {
    let collector = TelemetryCollector::start().await.expect("a free port");
    let url = collector.url();
    let ours = [("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()), ("OTEL_BSP_SCHEDULE_DELAY", "20")];
    let env: Vec<_> = ours.iter().chain(env).copied().collect();
    let gateway = Gateway::start_with(&Start { config, env: &env, ..Start::default() }).await;
    (gateway, collector)
}

fn decoded(post: &Post) -> ExportTraceServiceRequest {
    assert_eq!(post.path, "/v1/traces");
    assert_eq!(post.header("content-type"), "application/x-protobuf");
    let mut body = post.body.clone();
    if post.header("content-encoding") == "gzip" {
        let mut plain = Vec::new();
        GzDecoder::new(&body[..]).read_to_end(&mut plain).expect("gzip");
        body = plain;
    }
    ExportTraceServiceRequest::decode(&body[..]).expect("a request of OTLP")
}

fn spans_of(posts: &[Post]) -> Vec<Span> {
    let requests = posts.iter().map(decoded);
    requests
        .flat_map(|request| request.resource_spans)
        .flat_map(|one| one.scope_spans)
        .flat_map(|one| one.spans)
        .collect()
}

/// All spans, once there is this number of them.
async fn spans(collector: &TelemetryCollector, count: usize) -> Vec<Span> {
    let mut posts = soon("a post", collector.posts(1)).await;
    while spans_of(&posts).len() < count {
        posts = soon("further spans", collector.posts(posts.len() + 1)).await;
    }
    spans_of(&posts)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// The value of a span's attribute as text; empty if there is none.
fn attribute(span: &Span, key: &str) -> String {
    attributes::attribute(&span.attributes, key)
}

/// A call of a tool that returns the message as its server received it.
fn call(tool: &str, meta: &Value) -> Value {
    json!({"name": tool, "arguments": {}, "_meta": meta})
}

/// The message as the server received it.
fn received(answer: &Value) -> Value {
    let text =
        answer["result"]["_meta"]["received"].as_str().unwrap_or_else(|| panic!("nothing in {answer}"));
    serde_json::from_str(text).expect("the message")
}

fn traceparent(number: usize, sampled: bool) -> String {
    format!("00-{:032x}-{OWN_SPAN}-0{}", number + 1, u8::from(sampled))
}

#[tokio::test]
async fn spans_of_client_gateway_and_server_join_in_every_version() {
    let web = OddHttp::start(&[]).await;
    let config = format!("mcpServers:\n  pipe: {}\n  web: {}\n", odd_stdio(&[]), web.config());
    let (gateway, collector) = traced(&config, &[]).await;
    let mut seen = Vec::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN] {
        for server in ["pipe", "web"] {
            let parent = traceparent(seen.len(), true);
            let meta = json!({"traceparent": parent, "tracestate": "vendor=1", "baggage": "user=ann"});
            let params = call(&format!("{server}__raw"), &meta);
            let answer = if version == MODERN {
                Modern::new(gateway.http()).ask("tools/call", &params).await
            } else {
                let session = Legacy::open_at(gateway.http(), "/mcp", version, &json!({})).await;
                session.ask("tools/call", &params).await
            };
            seen.push((version, server, received(&answer)["params"]["_meta"].clone()));
        }
    }
    let spans = spans(&collector, 2 * seen.len()).await;
    for (number, (version, server, meta)) in seen.iter().enumerate() {
        let what = format!("{version} {server}");
        let of = |kind| {
            let is =
                |span: &&Span| hex(&span.trace_id) == format!("{:032x}", number + 1) && span.kind == kind;
            spans.iter().find(is).unwrap_or_else(|| panic!("{what}: no span of kind {kind}"))
        };
        let (served, sent) = (of(SERVER), of(CLIENT));
        assert_eq!(hex(&served.parent_span_id), OWN_SPAN, "{what}");
        assert_eq!(sent.parent_span_id, served.span_id, "{what}");
        let own = format!("00-{}-{}-01", hex(&sent.trace_id), hex(&sent.span_id));
        assert_eq!(meta["traceparent"], own, "{what}");
        assert_eq!(meta["tracestate"], "vendor=1", "{what}");
        assert_eq!(meta["baggage"].is_null(), *server == "web", "{what}");
        assert_eq!(
            (served.name.as_str(), served.trace_state.as_str()),
            (&*format!("tools/call {server}__raw"), "vendor=1")
        );
        assert_eq!(sent.name, "tools/call raw", "{what}");
        assert!(served.start_time_unix_nano <= sent.start_time_unix_nano, "{what}");
        assert!(sent.start_time_unix_nano <= sent.end_time_unix_nano, "{what}");
        assert!(sent.end_time_unix_nano <= served.end_time_unix_nano, "{what}");
        for (key, value) in [
            ("mcp.method.name", "tools/call"),
            ("gen_ai.operation.name", "execute_tool"),
            ("mcp.protocol.version", *version),
            ("network.transport", "tcp"),
            ("dragoman.upstream", *server),
            ("dragoman.profile", "default"),
            ("error.type", ""),
        ] {
            assert_eq!(attribute(served, key), value, "{what}: {key}");
        }
        let has_session = !attribute(served, "mcp.session.id").is_empty();
        assert_eq!(has_session, *version != MODERN, "{what}");
        let transport = if *server == "pipe" { "pipe" } else { "tcp" };
        assert_eq!(attribute(sent, "network.transport"), transport, "{what}");
        assert_eq!(attribute(sent, "server.address").is_empty(), *server == "pipe", "{what}");
    }
}

#[tokio::test]
async fn what_is_not_sampled_passes_untouched() {
    let env = [("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "0")];
    let config = format!("mcpServers:\n  pipe: {}\n", odd_stdio(&[]));
    let (gateway, collector) = traced(&config, &env).await;
    let session = Legacy::open(gateway.http()).await;
    let meta = json!({"traceparent": traceparent(6, false), "baggage": "user=ann"});
    let kept = received(&session.ask("tools/call", &call("pipe__raw", &meta)).await);
    assert_eq!(kept["params"]["_meta"], meta);
    let none = received(&session.ask("tools/call", &json!({"name": "pipe__raw", "arguments": {}})).await);
    assert!(none["params"]["_meta"].is_null(), "{none}");
    // The client's decision applies, whatever the ratio is.
    let meta = json!({"traceparent": traceparent(7, true)});
    session.ask("tools/call", &call("pipe__raw", &meta)).await;
    let spans = spans(&collector, 2).await;
    assert!(spans.iter().all(|span| hex(&span.trace_id).ends_with('8')), "{spans:?}");
}

#[tokio::test]
async fn headers_name_the_parent_or_else_a_link() {
    let (gateway, collector) = traced("mcpServers: { demo: { native: demo } }\n", &[]).await;
    let session = Legacy::open(gateway.http()).await;
    let outer = traceparent(1, true);
    let post = |meta: Value| {
        let params = json!({"name": "demo__echo", "arguments": {"text": "x"}, "_meta": meta});
        request("r", "tools/call", &params).to_string()
    };
    let headers = [("traceparent", outer.as_str())];
    session.post(&headers, &post(json!({}))).await.response().await;
    session.post(&headers, &post(json!({"traceparent": traceparent(2, true)}))).await.response().await;
    session
        .post(&[("traceparent", "00-invalid")], &post(json!({"traceparent": "also"})))
        .await
        .response()
        .await;
    let spans = spans(&collector, 6).await;
    let served: Vec<&Span> = spans.iter().filter(|span| span.kind == SERVER).collect();
    let links = |span: &Span| span.links.iter().map(|link| hex(&link.trace_id)).collect::<Vec<_>>();
    assert!(hex(&served[0].trace_id).ends_with("02") && links(served[0]).is_empty());
    assert_eq!(hex(&served[0].parent_span_id), OWN_SPAN);
    assert!(hex(&served[1].trace_id).ends_with("03") && links(served[1])[0].ends_with("02"));
    assert!(served[2].parent_span_id.is_empty() && links(served[2]).is_empty());
}

/// A server whose tool returns the `traceparent` of the request's headers.
async fn telling_its_parent() -> Puppet {
    Puppet::start(|_, request| match request.method() {
        "tools/list" => {
            let tool = json!({"name": "parent", "inputSchema": {"type": "object"}});
            Said::Result(json!({"tools": [tool]}), String::new())
        }
        "tools/call" => {
            let parent = request.header("traceparent").unwrap_or("none").to_owned();
            Said::Result(json!({"content": [{"type": "text", "text": parent}]}), String::new())
        }
        _ => Said::Proper,
    })
    .await
}

#[tokio::test]
async fn the_context_travels_in_a_header_too_and_only_if_the_request_is_traced() {
    let puppet = telling_its_parent().await;
    let config = format!("mcpServers: {{ up: {{ url: {} }} }}\n", quoted(&puppet.url()));
    let env = [("OTEL_TRACES_SAMPLER", "parentbased_always_off")];
    let (gateway, collector) = traced(&config, &env).await;
    let session = Legacy::open(gateway.http()).await;
    let parent =
        |answer: &Value| answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    let meta = json!({"traceparent": traceparent(1, true)});
    let told = parent(&session.ask("tools/call", &call("up__parent", &meta)).await);
    let spans = spans(&collector, 2).await;
    let sent = spans.iter().find(|span| span.kind == CLIENT).expect("the span of the gateway's own request");
    assert_eq!(told, format!("00-{}-{}-01", hex(&sent.trace_id), hex(&sent.span_id)));
    let none = parent(&session.ask("tools/call", &call("up__parent", &json!({}))).await);
    assert_eq!(none, "none");
}

#[tokio::test]
async fn errors_are_those_of_the_conventions() {
    let config = format!("mcpServers:\n  pipe: {}\n", odd_stdio(&[]));
    let (gateway, collector) = traced(&config, &[]).await;
    let session = Legacy::open(gateway.http()).await;
    let raw = |arguments: Value| json!({"name": "pipe__raw", "arguments": arguments});
    session.ask("tools/call", &json!({"name": "pipe__nothing", "arguments": {}})).await;
    session.ask("tools/call", &raw(json!({"reply": {"content": [], "isError": true}}))).await;
    session.ask("tools/call", &raw(json!({"error": {"code": -32602, "message": "no"}}))).await;
    session.ask("tools/call", &raw(json!({"error": {"code": -32603, "message": "no"}}))).await;
    let spans = spans(&collector, 7).await;
    let of = |kind: i32| {
        let found = spans.iter().filter(move |span| span.kind == kind);
        let shown = |span: &Span| {
            let is_error = span.status.as_ref().is_some_and(|status| status.code == 2);
            (attribute(span, "error.type"), attribute(span, "rpc.response.status_code"), is_error)
        };
        found.map(shown).collect::<Vec<_>>()
    };
    let expect = |all: &[(&str, &str, bool)]| {
        all.iter().map(|(kind, code, is)| ((*kind).to_owned(), (*code).to_owned(), *is)).collect::<Vec<_>>()
    };
    let failed = [("tool_error", "", true), ("", "-32602", false), ("-32603", "-32603", true)];
    let served = [&[("", "-32602", false)][..], &failed].concat();
    assert_eq!(of(SERVER), expect(&served));
    let sent = [("tool_error", "", true), ("-32602", "-32602", true), ("-32603", "-32603", true)];
    assert_eq!(of(CLIENT), expect(&sent));
}

#[tokio::test]
async fn a_collector_in_trouble_is_asked_again_and_losses_are_counted() {
    let env = [
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=s%20ecret"),
        ("OTEL_SERVICE_NAME", "gate"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test"),
    ];
    let (gateway, collector) = traced("mcpServers: { demo: { native: demo } }\nmetrics: true\n", &env).await;
    collector.answer_next(503, "Retry-After: 0\r\n");
    let session = Legacy::open(gateway.http()).await;
    session.call("demo__echo", &json!({"text": "x"})).await;
    let posts = soon("a second attempt", collector.posts(2)).await;
    assert_eq!(posts[0].body, posts[1].body);
    assert_eq!((posts[0].header("content-encoding"), posts[0].header("api-key")), ("gzip", "s ecret"));
    let resource = decoded(&posts[0]).resource_spans[0].resource.clone().expect("a resource");
    let value = |key: &str| {
        let pair = resource.attributes.iter().find(|pair| pair.key == key);
        format!("{:?}", pair.and_then(|pair| pair.value.clone()))
    };
    assert!(
        value("service.name").contains("\"gate\"")
            && value("service.version").contains(env!("CARGO_PKG_VERSION"))
    );
    assert!(value("deployment.environment.name").contains("\"test\""));
    assert!(Figures::read(gateway.http()).await.value("dragoman_traces_lost_total") < 0.5);
    collector.answer_next(400, "");
    session.call("demo__echo", &json!({"text": "x"})).await;
    soon("the refused post", collector.posts(3)).await;
    gateway.log().has("did not accept spans").await;
    let lost = Figures::read(gateway.http()).await.value("dragoman_traces_lost_total");
    assert!((lost - 1.0).abs() < 1e-9, "{lost}");
    assert!(!gateway.log().text().contains("s ecret"));
}

#[tokio::test]
async fn the_last_spans_are_sent_when_the_gateway_stops() {
    let (gateway, collector) =
        traced("mcpServers: { demo: { native: demo } }\n", &[("OTEL_BSP_SCHEDULE_DELAY", "300000")]).await;
    Legacy::open(gateway.http()).await.call("demo__echo", &json!({"text": "x"})).await;
    gateway.stop().await;
    assert_eq!(spans(&collector, 2).await.len(), 2);
}
