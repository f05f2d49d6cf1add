//! The format of the log.

use serde_json::Value;

use crate::support::*;

const DEMO: &str = "mcpServers:\n  demo: { native: demo }\n  gone: { url: 'http://127.0.0.1:9/mcp', headers: { Authorization: Bearer pass-word-1 } }\n";

/// The log of a gateway with these arguments and variables, once it contains `wanted`.
async fn log(config: &str, args: &[&str], env: &[(&str, &str)], wanted: &str) -> String {
    let env: Vec<_> = env.iter().copied().chain([("DRAGOMAN_LOG", "info")]).collect();
    let gateway = Gateway::start_with(&Start { config, args, env: &env, ..Start::default() }).await;
    gateway.log().has(wanted).await;
    gateway.stop().await.err
}

fn objects(log: &str) -> Vec<Value> {
    log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

#[tokio::test]
async fn a_log_that_no_terminal_shows_is_json() {
    let log = log(DEMO, &[], &[("DRAGOMAN_LOG_FORMAT", "auto")], "\"server\":\"gone\"").await;
    let objects = objects(&log);
    let state = objects.iter().find(|one| one["server"] == "gone" && one["target"] == "dragoman::state");
    let state = state.unwrap_or_else(|| panic!("no change of state: {log}"));
    assert_eq!(state["level"], "WARN");
    assert!(state["message"].as_str().is_some_and(|text| text.starts_with("unreachable")), "{state}");
    assert!(state["time"].as_str().is_some_and(|time| time.ends_with('Z') && time.contains('T')), "{state}");
    assert!(!log.contains("pass-word-1"), "{log}");
}

#[tokio::test]
async fn the_option_precedes_the_variable_and_the_variable_the_configuration() {
    let json = format!("logFormat: json\n{DEMO}");
    let text = log(&json, &[], &[("DRAGOMAN_LOG_FORMAT", "")], "gone").await;
    objects(text.lines().last().expect("a line"));
    let text = log(&json, &[], &[("DRAGOMAN_LOG_FORMAT", "pretty")], "server=gone").await;
    assert!(!text.contains("{\"time\""), "{text}");
    let pretty = format!("logFormat: pretty\n{DEMO}");
    let text = log(&pretty, &["--log-format", "json"], &[("DRAGOMAN_LOG_FORMAT", "pretty")], "gone").await;
    objects(text.lines().last().expect("a line"));
    let with = Start { config: DEMO, env: &[("DRAGOMAN_LOG_FORMAT", "loud")], ..Start::default() };
    let ended = run_to_end("check", &with).await;
    assert_eq!(ended.code, Some(2));
    assert!(ended.err.contains("invalid DRAGOMAN_LOG_FORMAT=\"loud\""), "{}", ended.err);
}

#[tokio::test]
async fn characters_that_turn_text_around_are_escaped_in_json() {
    let config = r#"mcpServers:
  odd: { command: sh, args: [-c, "printf 'begin\\342\\200\\217end' >&2; exit 1"] }
"#;
    let log = log(config, &[], &[("DRAGOMAN_LOG_FORMAT", "json")], "begin\\u200fend").await;
    assert!(!log.contains('\u{200f}'), "{log}");
    let is_told = |one: &Value| one["message"].as_str().is_some_and(|text| text.contains("begin\u{200f}end"));
    assert!(objects(&log).iter().any(is_told), "{log}");
}
