mod spans;

use std::collections::HashMap;

use super::*;
use crate::telemetry::export::ExportBatch as _;

const TEXT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Reads settings from these variables.
fn settings(variables: &[(&str, &str)]) -> (Option<TraceSettings>, Vec<String>) {
    let variables: HashMap<_, _> = variables.iter().copied().collect();
    TraceSettings::read(&|name| variables.get(name).map(|value| (*value).to_owned()))
}

const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318");

#[test]
fn a_context_is_read_and_written_back() {
    let context = TraceContext::parse(TEXT.as_bytes()).unwrap();
    assert!(context.is_sampled);
    assert_eq!(&context.traceparent(), TEXT.as_bytes());
    let unsampled = TEXT.replace("-01", "-00");
    assert_eq!(&TraceContext::parse(unsampled.as_bytes()).unwrap().traceparent(), unsampled.as_bytes());
    let later = TEXT.replacen("00", "cc", 1) + "-more";
    assert_eq!(TraceContext::parse(later.as_bytes()), Some(context));
}

#[test]
fn an_invalid_context_is_none() {
    for wrong in [
        "",
        "00",
        "é",
        &TEXT[..54],
        &format!("{TEXT}-more"),
        &TEXT.replacen("00", "ff", 1),
        &TEXT.to_uppercase(),
        &TEXT.replace('-', "_"),
        &TEXT.replace("b7ad6b7169203331", "0000000000000000"),
        &TEXT.replace("0af7651916cd43dd8448eb211c80319c", "00000000000000000000000000000000"),
        &TEXT.replace("0af7", "0ag7"),
        &(TEXT.replacen("00", "cc", 1) + "more"),
    ] {
        assert_eq!(TraceContext::parse(wrong.as_bytes()), None, "{wrong}");
    }
}

#[test]
fn ids_differ_and_are_not_zero() {
    let traces: std::collections::HashSet<_> = (0..1000).map(|_| ids::trace()).collect();
    let spans: std::collections::HashSet<_> = (0..500).flat_map(|_| ids::spans()).collect();
    assert_eq!((traces.len(), spans.len()), (1000, 1000));
    assert!(!traces.contains(&[0; 16]) && !spans.contains(&[0; 8]));
}

#[test]
fn without_an_endpoint_nothing_is_traced() {
    assert!(settings(&[]).0.is_none());
    assert!(settings(&[ENDPOINT]).0.is_some());
    for (name, value) in [("OTEL_SDK_DISABLED", "TRUE"), ("OTEL_TRACES_EXPORTER", "none")] {
        let (settings, complaints) = settings(&[ENDPOINT, (name, value)]);
        assert!(settings.is_none() && complaints.is_empty(), "{name}: {complaints:?}");
    }
    for (name, value) in [
        ("OTEL_TRACES_EXPORTER", "zipkin"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "localhost:4318"),
    ] {
        let (settings, complaints) = settings(&[ENDPOINT, (name, value)]);
        assert!(settings.is_none() && complaints[0].contains(name), "{name}: {complaints:?}");
    }
}

#[test]
fn settings_are_those_of_the_variables() {
    let (found, complaints) = settings(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://common:4318/base/"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=b%20c, d=e"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "10"),
    ]);
    let found = found.unwrap().exporter;
    assert_eq!(found.endpoint, "http://common:4318/base/v1/traces");
    assert_eq!((&found.headers["a"], &found.headers["d"]), (&"b c".parse().unwrap(), &"e".parse().unwrap()));
    assert!(found.headers["a"].is_sensitive());
    assert_eq!((found.queue, found.batch, found.timeout.as_secs()), (10, 10, 10));
    assert!(complaints.len() == 1 && complaints[0].contains("TIMEOUT"), "{complaints:?}");
    let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://own/t");
    assert_eq!(settings(&[ENDPOINT, own]).0.unwrap().exporter.endpoint, "https://own/t");
    let secret = ("OTEL_EXPORTER_OTLP_HEADERS", "no secret here");
    let (_, complaints) = settings(&[ENDPOINT, secret]);
    assert!(complaints.len() == 1 && !complaints[0].contains("secret here"), "{complaints:?}");
}

#[test]
fn samplers_decide_by_parent_or_by_trace() {
    let decide = |name: &str, arg: &str, parent: Option<bool>, low: u64| {
        let sampler = [("OTEL_TRACES_SAMPLER", name), ("OTEL_TRACES_SAMPLER_ARG", arg), ENDPOINT];
        let sampler = settings(&sampler).0.unwrap().sampler;
        let mut trace = [1; 16];
        trace[8..].copy_from_slice(&low.to_be_bytes());
        let parent = parent.map(|is_sampled| TraceContext { trace, span: [1; 8], is_sampled });
        sampler.takes(parent.as_ref(), trace)
    };
    for (name, arg, parent, low, expected) in [
        ("parentbased_always_on", "", None, 0, true),
        ("parentbased_always_on", "", Some(false), 0, false),
        ("parentbased_always_off", "", None, 0, false),
        ("parentbased_always_off", "", Some(true), 0, true),
        ("always_off", "", Some(true), 0, false),
        ("always_on", "", Some(false), 0, true),
        ("parentbased_traceidratio", "0.5", None, (1 << 63) - 1, true),
        ("parentbased_traceidratio", "0.5", None, 1 << 63, false),
        ("parentbased_traceidratio", "0.5", Some(true), 1 << 63, true),
        ("traceidratio", "0.5", Some(true), 1 << 63, false),
        ("traceidratio", "0", None, 0, false),
        ("traceidratio", "1", None, u64::MAX, true),
        ("unheard", "", None, 0, true),
    ] {
        assert_eq!(decide(name, arg, parent, low), expected, "{name} {arg} {parent:?} {low:x}");
    }
}

#[test]
fn a_full_queue_drops_and_counts() {
    let full = [ENDPOINT, ("OTEL_BSP_MAX_QUEUE_SIZE", "3"), ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2")];
    let tracer = Tracer::new(&settings(&full).0.unwrap());
    for _ in 0..5 {
        let request = spans::request(tracer.begin(None, None).unwrap());
        tracer.queue.accept(|spans| spans.add(&request, &spans::end()));
    }
    assert_eq!(tracer.queue.dropped(), 2);
    let taken = [(); 3].map(|()| tracer.queue.take().map(|spans| spans.len()));
    assert_eq!(taken, [Some(2), Some(1), None]);
}
