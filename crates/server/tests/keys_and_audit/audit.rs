use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use store::audit::{AuditEntry, CallOutcome, Log, ReasonKind, RecordedReason};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

use super::run::{DEADLINE, Home, Run, golden};

/// 2026-11-22T06:00:00Z.
const SOME_DAY: u64 = 1_795_327_200_000;

fn entry(tool: &str, seconds: u64) -> AuditEntry {
    AuditEntry {
        at_ms: SOME_DAY + seconds * 1_000,
        principal: "key:dgm_abcdefgh".into(),
        profile: "default".into(),
        upstream: Some("demo".into()),
        tool: Some(tool.into()),
        method: "tools/call".into(),
        outcome: CallOutcome::Ok,
        code: None,
        duration_us: 12_345,
        request_bytes: 100,
        response_bytes: 2_000,
        tries: 1,
        waited_us: 0,
        cached: false,
        reason: None,
        arguments: None,
        address: Some("203.0.113.9".into()),
        client: Some("inspector 1.2".into()),
    }
}

fn log(home: &Home) -> Log {
    Log::open(&home.state().join("audit.db")).expect("a sound file")
}

/// A home with a few recorded calls.
fn recorded() -> Home {
    let home = Home::new();
    let denied = AuditEntry {
        principal: "anyone".into(),
        upstream: None,
        outcome: CallOutcome::Denied,
        code: Some(-32001),
        duration_us: 80,
        ..entry("secret\u{1b}[2J", 2)
    };
    let failed = AuditEntry {
        profile: "editors".into(),
        upstream: Some("blog".into()),
        outcome: CallOutcome::Error,
        code: Some(-32603),
        duration_us: 1_500_000,
        tries: 3,
        waited_us: 1_200_000,
        reason: Some(Box::new(RecordedReason {
            kind: ReasonKind::Timeout,
            text: "server \"blog\" did not answer".into(),
        })),
        arguments: Some(r#"{"title":"A  post","token":"[redacted]","n":1.0}"#.to_owned()),
        ..entry("blog__post", 3)
    };
    let bare = AuditEntry {
        tool: None,
        upstream: None,
        method: "resources/read".into(),
        address: None,
        client: None,
        ..entry("", 4)
    };
    log(&home).append(&[entry("add", 1), denied, failed, bare]).expect("a sound file");
    home
}

/// The lines as JSON.
fn lines(run: &Run) -> Vec<Value> {
    run.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[tokio::test]
async fn calls_are_shown_the_newest_first() {
    let home = recorded();
    let run = home.run(&["audit"]).await.good();
    assert_eq!(run.err, "");
    assert_eq!(run.out.lines().count(), 4);
    // A pipe gets the text unchanged; only a terminal has to be protected, and columns contain no line
    // breaks.
    assert!(!run.out.contains('\u{1b}'), "{run:?}");
    golden("audit.txt", &run.out);
}

#[tokio::test]
async fn scripts_get_a_line_of_json_for_each_call() {
    let home = recorded();
    let all = lines(&home.run(&["audit", "--json"]).await.good());
    assert_eq!(all.len(), 4);
    let failed = json!({
        "id": 3, "at": "2026-11-22T06:00:03.000Z", "principal": "key:dgm_abcdefgh", "profile": "editors",
        "server": "blog", "tool": "blog__post", "method": "tools/call", "outcome": "error", "code": -32603,
        "durationUs": 1_500_000, "requestBytes": 100, "responseBytes": 2_000, "tries": 3, "waitedUs": 1_200_000, "cached": false, "reason": "timeout", "reasonText": "server \"blog\" did not answer",
        "address": "203.0.113.9", "client": "inspector 1.2",
        "arguments": {"title": "A  post", "token": "[redacted]", "n": 1.0},
    });
    assert_eq!(all[1], failed);
    assert_eq!(
        (&all[0]["tool"], &all[0]["code"], all[0].get("arguments")),
        (&Value::Null, &Value::Null, None)
    );
    log(&home).append(&[AuditEntry { arguments: Some("{\"cut…".to_owned()), ..entry("long", 5) }]).unwrap();
    let last = lines(&home.run(&["audit", "--json", "--limit", "1"]).await.good());
    assert_eq!(last[0]["arguments"], "{\"cut…");
}

#[tokio::test]
async fn every_filter_filters() {
    let home = recorded();
    for (args, ids) in [
        (&["--tool", "blog__*"][..], &[3][..]),
        (&["--tool", "a?d"], &[1]),
        (&["--principal", "key:*"], &[4, 3, 1]),
        (&["--principal", "anyone"], &[2]),
        (&["--profile", "editors"], &[3]),
        (&["--server", "demo"], &[1]),
        (&["--outcome", "denied"], &[2]),
        (&["--outcome", "error", "--tool", "add"], &[]),
        (&["--limit", "2"], &[4, 3]),
        (&["--since", "2026-11-22T06:00:02Z"], &[4, 3, 2]),
        (&["--since", "2026-11-22T06:00:02Z", "--until", "2026-11-22T06:00:03Z"], &[2]),
        (&["--since", "2199-01-01"], &[]),
        (&["--until", "2026-11-22"], &[]),
    ] {
        let args: Vec<&str> = ["audit", "--json"].iter().chain(args).copied().collect();
        let found: Vec<i64> =
            lines(&home.run(&args).await.good()).iter().map(|line| line["id"].as_i64().unwrap()).collect();
        assert_eq!(found, ids, "{args:?}");
    }
    for (args, says) in [
        (&["audit", "--since", "yesterday"][..], "YYYY-MM-DD"),
        (&["audit", "--outcome", "bad"], "denied"),
        (&["audit", "--limit", "0"], "--limit"),
        (&["audit", "--limit", "9999999"], "--limit"),
        (&["audit", "--follow", "--until", "1h"], "--until"),
        (&["audit", "--tool", ""], "a pattern cannot be empty"),
        (&["audit", "--principal", &"*a".repeat(600)], "at most 1024 bytes"),
        (&["audit", "--since", "1h", "--until", "2h"], "--since 2h --until 1h"),
    ] {
        home.run(args).await.refused(2, &[says]);
    }
    let none = home.run(&["audit", "--server", "nowhere"]).await.good();
    assert!(none.out.is_empty() && none.err == "No matching calls.\n", "{none:?}");
    assert_eq!(home.run(&["audit", "--server", "nowhere", "--json"]).await.good().err, "");
}

#[tokio::test]
async fn a_record_that_is_not_kept_is_told() {
    let home = Home::new();
    let said = ["calls are not recorded", "audit.db", "= help: write `audit: true`"];
    home.run(&["audit"]).await.refused(1, &said);
    assert!(!home.0.join(".local").exists());
    let home =
        home.with("dragoman.yaml", "audit: { file: calls.db }\nmcpServers: { demo: { native: demo } }\n");
    let run = home.run(&["audit", "--json"]).await.good();
    assert!(run.out.is_empty() && run.err.contains("Nothing has been recorded yet"), "{run:?}");
    Log::open(&home.state().join("calls.db")).unwrap().append(&[entry("add", 1)]).unwrap();
    assert_eq!(lines(&home.run(&["audit", "--json"]).await.good()).len(), 1);
}

/// A running `dragoman audit --follow`.
struct Follower {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Follower {
    fn start(home: &Home, args: &[&str]) -> Self {
        let args: Vec<&str> = ["audit", "--follow", "--json"].iter().chain(args).copied().collect();
        let mut child = home.command(&args).spawn().expect("it starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        Self { child, lines }
    }

    /// The number of the next call that it shows.
    async fn next(&mut self) -> i64 {
        let line =
            tokio::time::timeout(DEADLINE, self.lines.next_line()).await.expect("in time").expect("text");
        let line: Value = serde_json::from_str(&line.expect("it goes on")).expect("JSON");
        line["id"].as_i64().expect("a number")
    }

    /// Ends it like Ctrl-C.
    async fn interrupt(mut self) -> Option<i32> {
        let pid = Pid::from_raw(self.child.id().expect("it runs").cast_signed()).expect("no zero");
        kill_process(pid, Signal::INT).expect("it runs");
        tokio::time::timeout(DEADLINE, self.child.wait()).await.expect("in time").expect("a status").code()
    }
}

#[tokio::test]
async fn a_follower_shows_what_another_process_records() {
    let home = recorded();
    let mut follower = Follower::start(&home, &["--limit", "2"]);
    assert_eq!((follower.next().await, follower.next().await), (3, 4));
    let mut log = log(&home);
    log.append(&[entry("one", 10), entry("two", 11)]).unwrap();
    assert_eq!((follower.next().await, follower.next().await), (5, 6));
    log.append(&[entry("three", 12)]).unwrap();
    assert_eq!(follower.next().await, 7);
    assert_eq!(follower.interrupt().await, Some(130));
}

#[tokio::test]
async fn a_follower_filters_and_waits_for_the_first_call() {
    let home = Home::new();
    let mut follower = Follower::start(&home, &["--tool", "two"]);
    log(&home).append(&[entry("one", 10), entry("two", 11)]).unwrap();
    assert_eq!(follower.next().await, 2);
    log(&home).append(&[entry("one", 12), entry("two", 13)]).unwrap();
    assert_eq!(follower.next().await, 4);
    drop(follower.lines);
    // Nobody reads any more, so it ends by itself.
    let ended = tokio::time::timeout(DEADLINE, follower.child.wait()).await.expect("in time").unwrap();
    assert_eq!(ended.code(), Some(0));
}

#[tokio::test]
async fn callers_are_shown_and_found_by_the_names_of_their_keys() {
    let home = recorded();
    let made = home.run(&["key", "new", "ci-bot", "--json"]).await.good();
    let made: Value = serde_json::from_str(&made.out).expect("JSON");
    let prefix = made["prefix"].as_str().expect("a prefix");
    home.run(&["key", "revoke", "ci-bot"]).await.good();
    let of_key = AuditEntry { principal: format!("key:{prefix}").into(), ..entry("add", 9) };
    log(&home).append(&[of_key]).unwrap();
    for pattern in ["ci-bot", "key:ci-bot", "ci-*"] {
        let run = home.run(&["audit", "--principal", pattern]).await.good();
        assert!(
            run.out.lines().count() == 1 && run.out.contains(&format!("  ci-bot (key {prefix})  ")),
            "{run:?}"
        );
    }
    let found = lines(&home.run(&["audit", "--principal", "ci-bot", "--json"]).await.good());
    assert_eq!((&found[0]["principalName"], &found[0]["id"]), (&json!("ci-bot"), &json!(5)));
}
