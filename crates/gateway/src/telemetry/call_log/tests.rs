use super::*;

fn settings(variables: &[(&str, &str)]) -> (Option<ExporterSettings>, Vec<String>) {
    let variables: std::collections::HashMap<_, _> = variables.iter().copied().collect();
    CallLog::settings(&|name| variables.get(name).map(|value| (*value).to_owned()))
}

const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318");
const WANTED: (&str, &str) = ("OTEL_LOGS_EXPORTER", "otlp");

#[test]
fn the_record_is_exported_only_on_request() {
    for off in [&[][..], &[ENDPOINT], &[ENDPOINT, ("OTEL_LOGS_EXPORTER", "none")]] {
        let (settings, complaints) = settings(off);
        assert!(settings.is_none() && complaints.is_empty(), "{off:?}: {complaints:?}");
    }
    let (found, complaints) = settings(&[ENDPOINT, WANTED, ("OTEL_BLRP_SCHEDULE_DELAY", "7")]);
    let found = found.unwrap();
    assert_eq!(found.endpoint, "http://localhost:4318/v1/logs");
    assert_eq!((found.delay.as_millis(), complaints.len()), (7, 0));
    let own = ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "https://own/l");
    assert_eq!(settings(&[WANTED, own]).0.unwrap().endpoint, "https://own/l");
}

#[test]
fn a_request_without_an_endpoint_is_answered_with_a_complaint() {
    for (wrong, named) in [
        (&[WANTED][..], "OTEL_EXPORTER_OTLP_ENDPOINT"),
        (&[ENDPOINT, ("OTEL_LOGS_EXPORTER", "console")], "OTEL_LOGS_EXPORTER"),
    ] {
        let (settings, complaints) = settings(wrong);
        assert!(settings.is_none() && complaints[0].contains(named), "{complaints:?}");
    }
}
