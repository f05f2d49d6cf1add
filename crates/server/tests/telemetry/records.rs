//! The record of calls as log records, as a stand-in for a collector receives them. Bodies are decoded by the crate of OpenTelemetry, not
//! by code of ours.

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use prost::Message as _;
use serde_json::json;
use testkit::collector::{Post, TelemetryCollector};

use crate::attributes;
use crate::figures::Figures;
use crate::support::*;

/// A gateway that sends its record to a collector.
async fn exporting(config: &str, env: &[(&str, &str)]) -> (Gateway, TelemetryCollector) {
    let collector = TelemetryCollector::start().await.expect("a free port");
    let url = collector.url();
    let ours = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()),
        ("OTEL_LOGS_EXPORTER", "otlp"),
        ("OTEL_BLRP_SCHEDULE_DELAY", "20"),
        ("OTEL_BSP_SCHEDULE_DELAY", "20"),
    ];
    let env: Vec<_> = ours.iter().chain(env).copied().collect();
    let gateway = Gateway::start_with(&Start { config, env: &env, ..Start::default() }).await;
    (gateway, collector)
}

fn records_of(posts: &[Post]) -> Vec<LogRecord> {
    let logs = posts.iter().filter(|post| post.path == "/v1/logs");
    let decoded =
        logs.map(|post| ExportLogsServiceRequest::decode(&post.body[..]).expect("a request of OTLP"));
    decoded
        .flat_map(|request| request.resource_logs)
        .flat_map(|one| one.scope_logs)
        .flat_map(|one| one.log_records)
        .collect()
}

/// All records, once there is this number of them.
async fn records(collector: &TelemetryCollector, count: usize) -> Vec<LogRecord> {
    let mut posts = soon("a post", collector.posts(1)).await;
    while records_of(&posts).len() < count {
        posts = soon("further records", collector.posts(posts.len() + 1)).await;
    }
    records_of(&posts)
}

/// The value of a record's attribute as text; empty if there is none.
fn attribute(record: &LogRecord, key: &str) -> String {
    attributes::attribute(&record.attributes, key)
}

fn body(record: &LogRecord) -> String {
    match record.body.clone().and_then(|body| body.value) {
        Some(Any::StringValue(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn calls_arrive_as_log_records_of_their_traces() {
    let config = "mcpServers: { demo: { native: demo } }\naudit: { arguments: true }\nstateFolder: state\n";
    let (gateway, collector) = exporting(config, &[]).await;
    let session = Legacy::open(gateway.http()).await;
    let trace = "00-0000000000000000000000000000002a-00f067aa0ba902b7-01";
    let params = json!({
        "name": "demo__echo", "arguments": {"text": "very private"}, "_meta": {"traceparent": trace},
    });
    session.ask("tools/call", &params).await;
    session.call("demo__nothing", &json!({})).await;
    let records = records(&collector, 2).await;
    let called = &records[0];
    assert_eq!(body(called), "tools/call demo__echo: ok");
    assert_eq!((called.event_name.as_str(), called.severity_text.as_str()), ("dragoman.call", "INFO"));
    assert_eq!((called.severity_number, called.trace_id.last(), called.span_id.len()), (9, Some(&0x2a), 8));
    assert!(called.time_unix_nano > 0 && called.observed_time_unix_nano >= called.time_unix_nano);
    for (key, value) in [
        ("mcp.method.name", "tools/call"),
        ("gen_ai.tool.name", "demo__echo"),
        ("dragoman.outcome", "ok"),
        ("dragoman.upstream", "demo"),
        ("dragoman.profile", "default"),
        ("dragoman.principal", "anyone"),
        ("client.address", "127.0.0.1"),
        ("dragoman.cache", "false"),
    ] {
        assert_eq!(attribute(called, key), value, "{key}");
    }
    assert!(attribute(called, "dragoman.request.size").parse::<u64>().expect("a number") > 50);
    let unknown = &records[1];
    assert_eq!(body(unknown), "tools/call demo__nothing: unknown");
    assert_eq!(
        (unknown.severity_text.as_str(), attribute(unknown, "dragoman.code").as_str()),
        ("WARN", "-32602")
    );
    assert_ne!(unknown.trace_id, called.trace_id);
    // Arguments are recorded in the file only.
    let posts = collector.posts(1).await;
    assert!(posts.iter().all(|post| !String::from_utf8_lossy(&post.body).contains("very private")));
}

#[tokio::test]
async fn the_record_is_exported_without_a_file_or_traces_and_losses_are_counted() {
    let config = "mcpServers: { demo: { native: demo } }\nmetrics: true\n";
    let env = [("OTEL_TRACES_EXPORTER", "none"), ("OTEL_SERVICE_NAME", "gate")];
    let (gateway, collector) = exporting(config, &env).await;
    let session = Legacy::open(gateway.http()).await;
    session.call("demo__echo", &json!({"text": "x"})).await;
    let first = records(&collector, 1).await;
    assert!(first[0].trace_id.is_empty() && first[0].flags == 0);
    let lost = async || Figures::read(gateway.http()).await.value("dragoman_log_records_lost_total");
    assert!(lost().await < 0.5);
    collector.answer_next(400, "");
    session.call("demo__echo", &json!({"text": "x"})).await;
    gateway.log().has("did not accept log records").await;
    let lost = lost().await;
    assert!((lost - 1.0).abs() < 1e-9, "{lost}");
}

#[tokio::test]
async fn without_a_request_for_it_no_record_leaves_the_gateway() {
    let config = "mcpServers: { demo: { native: demo } }\naudit: true\nstateFolder: state\n";
    let (gateway, collector) = exporting(config, &[("OTEL_LOGS_EXPORTER", "")]).await;
    Legacy::open(gateway.http()).await.call("demo__echo", &json!({"text": "x"})).await;
    gateway.stop().await;
    let posts = collector.posts(1).await;
    assert!(!posts.is_empty() && posts.iter().all(|post| post.path == "/v1/traces"), "{posts:?}");
}
