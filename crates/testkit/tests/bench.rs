//! The load generator against the fast upstream, as the two programs of a measurement.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A program that is killed when the test ends, whatever the outcome.
struct Program {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Program {
    fn start(path: &str, args: &[&str]) -> Self {
        let mut child =
            Command::new(path).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn say(&mut self, text: &str) {
        self.child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn upstream(args: &[&str]) -> (Program, String) {
    let args = [args, &["--until-stdin-closes"]].concat();
    let mut program = Program::start(env!("CARGO_BIN_EXE_bench_upstream"), &args);
    let url = program.line().strip_prefix("listening ").unwrap().to_owned();
    (program, url)
}

fn load(url: &str, args: &[&str]) -> Program {
    let seconds: &[&str] = if args.contains(&"--seconds") { &[] } else { &["--seconds", "0.2"] };
    let args = [&[url, "--sessions", "3"], seconds, args].concat();
    Program::start(env!("CARGO_BIN_EXE_bench_load"), &args)
}

fn report(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

fn assert_all_right(url: &str, args: &[&str]) {
    let report = report(&load(url, args).line());
    assert_eq!(report["errors"], 0, "{args:?}: {report}");
    assert!(report["calls"].as_u64().unwrap() >= 3, "{args:?}: {report}");
    assert!(report["p50_us"].as_f64() <= report["p99_us"].as_f64(), "{report}");
    assert!(report["p99_us"].as_f64() <= report["max_us"].as_f64(), "{report}");
}

#[test]
fn every_scenario_runs_without_errors() {
    for form in [&[][..], &["--sse"]] {
        let (_upstream, url) = upstream(&[form, &["--tools", "50"]].concat());
        for scenario in ["echo", "modern-echo", "session"] {
            assert_all_right(&url, &["--scenario", scenario]);
        }
        assert_all_right(&url, &["--scenario", "list", "--expect-tools", "50"]);
        assert_all_right(&url, &["--scenario", "mux-echo", "--tool", "echo,echo"]);
        for bytes in ["0", "1", "100000", "1000000"] {
            assert_all_right(&url, &["--scenario", "payload", "--bytes", bytes]);
        }
    }
}

#[test]
fn an_upstream_of_one_era_serves_that_era() {
    for (era, its_own, other) in [("legacy", "echo", "modern-echo"), ("modern", "modern-echo", "echo")] {
        let (_upstream, url) = upstream(&["--era", era]);
        assert_all_right(&url, &["--scenario", its_own]);
        assert!(!load(&url, &["--scenario", other]).child.wait().unwrap().success(), "{era}");
    }
}

#[test]
fn clients_of_any_version_can_be_askable() {
    let (_upstream, url) = upstream(&["--era", "both"]);
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        assert_all_right(&url, &["--version", version, "--askable"]);
    }
    let (_upstream, url) = upstream(&["--handshake", "2025-11-25"]);
    assert_all_right(&url, &["--version", "2025-11-25"]);
    assert!(!load(&url, &["--version", "2025-06-18"]).child.wait().unwrap().success());
}

#[test]
fn wrong_answers_are_seen() {
    let (_upstream, url) = upstream(&[]);
    for args in [
        &["--scenario", "list", "--expect-tools", "3"][..],
        &["--tool", "nothing"],
        &["--scenario", "payload", "--bytes", "99999999"],
    ] {
        let mut load = load(&url, args);
        assert!(!load.child.wait().unwrap().success(), "{args:?}");
    }
}

#[test]
fn idle_sessions_are_held_until_a_line_comes() {
    let (_upstream, url) = upstream(&[]);
    for stream in [&[][..], &["--stream"]] {
        let mut load = load(&url, &[&["--scenario", "idle-sessions"], stream].concat());
        assert_eq!(report(&load.line())["open"], 3);
        load.say("\n");
        let closed = report(&load.line());
        assert_eq!((&closed["closed"], &closed["errors"]), (&3.into(), &0.into()), "{closed}");
        assert!(load.child.wait().unwrap().success());
    }
}

#[test]
fn a_gated_run_waits_before_and_after_the_calls() {
    let (_upstream, url) = upstream(&[]);
    let mut load = load(&url, &["--gate"]);
    assert_eq!(load.line(), "ready");
    load.say("\n");
    assert_eq!(report(&load.line())["errors"], 0);
    assert!(load.child.try_wait().unwrap().is_none());
    load.say("\n");
    assert!(load.child.wait().unwrap().success());
}

#[test]
fn an_upstream_that_dies_is_reported() {
    let (mut program, url) = upstream(&[]);
    let mut load = load(&url, &["--gate", "--seconds", "30"]);
    assert_eq!(load.line(), "ready");
    load.say("\n");
    program.child.kill().unwrap();
    let report = report(&load.line());
    assert_eq!(report["errors"], 3, "{report}");
}

#[test]
fn the_upstream_serves_stdio() {
    let mut upstream = Program::start(env!("CARGO_BIN_EXE_bench_upstream"), &["--stdio"]);
    upstream.say("{\"jsonrpc\":\"2.0\",\"id\":1.50,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"hi\"}}}\n");
    let answer = upstream.line();
    assert!(answer.contains("\"id\":1.50,") && answer.contains("\"text\":\"hi\""), "{answer}");
    drop(upstream.child.stdin.take());
    assert!(upstream.child.wait().unwrap().success());
}
