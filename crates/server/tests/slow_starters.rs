//! Servers that take a long time before they read, print garbage, or are missing: the effect on their clients, and the
//! messages.

mod support;

use std::process::Stdio as Pipe;
use std::time::{Duration, Instant};

use serde_json::json;
use support::*;
use tokio::process::Command;

/// A child that reads nothing until it has received two requests: it answers the first one after the second was sent,
/// like a program that is still being downloaded.
const LATE: &str = "read a; read b; { printf '%s\\n%s\\n' \"$a\" \"$b\"; cat; } | exec \"$@\"";

/// A child that answers the first request slowly, later than the wait for a server that may not support it. The gateway sends
/// a second request only if the first is refused.
const SLOW: &str = "read a; sleep 6; { printf '%s\\n' \"$a\"; cat; } | exec \"$@\"";

/// A child of the newest version that is locked to the version of its first request, like servers of the Python SDK 2.
const LOCKED: &str = r#"
id() { printf '%s' "$1" | sed 's/.*"id":\([0-9]*\).*/\1/'; }
read a; read b
printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"locked","version":"1"}}}}\n' "$(id "$a")"
printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"connection is serving the 2026-07-28 protocol","data":{"supported":["2026-07-28"]}}}\n' "$(id "$b")"
while read c; do
  printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","tools":[{"name":"only","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}}\n' "$(id "$c")"
done
"#;

const CHANGED: &str = "notifications/tools/list_changed";

fn words(script: &str, eras: &str) -> Vec<String> {
    let program = testkit::fixture::program();
    let program = program.to_str().expect("a path in UTF-8");
    ["sh", "-c", script, "sh", program, "--stdio", "--eras", eras].map(str::to_owned).into()
}

fn config(words: &[String], more: &str) -> String {
    let args: Vec<String> = words[1..].iter().map(|word| quoted(word)).collect();
    format!("{{ command: {}, args: [{}]{more} }}", words[0], args.join(", "))
}

struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

/// Runs a command of the terminal to its end.
async fn terminal(args: &[&str], words: &[String]) -> Run {
    #[expect(clippy::disallowed_methods, reason = "the program under test has no supervisor above it")]
    let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
    command.args(args).arg("--").args(words).stdin(Pipe::null()).kill_on_drop(true);
    let ended = soon("the command", command.output()).await.expect("it starts");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Run { code: ended.status.code(), out: text(ended.stdout), err: text(ended.stderr) }
}

#[tokio::test]
async fn the_terminal_tells_late_answers_apart() {
    let servers = ["legacy", "modern", "both"].map(|eras| (words(LATE, eras), "echo"));
    for (words, tool) in servers.into_iter().chain([(words(LOCKED, ""), "only")]) {
        let run = terminal(&["list", "--json"], &words).await;
        assert_eq!(run.code, Some(0), "{words:?}: {}", run.err);
        assert!(run.out.contains(&format!("\"{tool}\"")), "{}", run.out);
    }
}

#[tokio::test]
async fn the_gateway_tells_late_answers_apart() {
    for words in ["legacy", "modern", "both"].map(|eras| words(SLOW, eras)) {
        let tool = "u__echo";
        let gateway = Gateway::start(&format!(
            "limits: {{ listWait: 30s }}\nmcpServers: {{ u: {} }}\n",
            config(&words, "")
        ))
        .await;
        let listed = Modern::new(gateway.http()).ask("tools/list", &json!({})).await;
        assert!(tool_names(&listed).iter().any(|name| name == tool), "{words:?}: {listed}");
    }
}

#[tokio::test]
async fn a_program_that_prints_rubbish_is_told_of_in_time() {
    let rubbish = "printf 'Listening on \\033[1mhttp://localhost:3000\\n'; while read line; do :; done";
    let run = terminal(&["ping", "--timeout", "2"], &words(rubbish, "")).await;
    assert_eq!(run.code, Some(1));
    for said in ["did not answer within 2s of its start", "not messages", "Listening on", "by its URL"] {
        assert!(run.err.contains(said), "{}", run.err);
    }
    assert!(!run.err.contains('\u{1b}'), "{:?}", run.err);
    let config = format!("mcpServers: {{ u: {} }}\n", config(&words(rubbish, ""), ", startTimeout: 1s"));
    let gateway = Gateway::start(&config).await;
    gateway.log().has("The first is \"Listening on").await;
    gateway.log().has("did not answer within 1s of its start (`startTimeout`)").await;
}

#[tokio::test]
async fn what_a_program_says_at_its_end_is_not_explained_away() {
    let run = terminal(&["ping"], &words("echo 'npm error 404 no such package' >&2; exit 1", "")).await;
    assert!(
        run.err.contains("404 no such package") && !run.err.contains("check that this command"),
        "{}",
        run.err
    );
    let run = terminal(&["ping"], &words("exit 3", "")).await;
    assert!(run.err.contains("check that this command starts an MCP server"), "{}", run.err);
}

/// A gate that the test opens; only then does the server behind it start.
struct Gate(std::path::PathBuf);

impl Gate {
    fn new(name: &str) -> Self {
        let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("gate-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let made = rustix::fs::mknodat(
            rustix::fs::CWD,
            &path,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        );
        made.expect("a fifo");
        Self(path)
    }

    /// The server behind the gate. Each of its processes waits for a separate line.
    fn config(&self, more: &str) -> String {
        let script = format!("read line < '{}'; exec \"$@\"", self.0.display());
        config(&words(&script, "both"), more)
    }

    /// Lets all processes through, now and later.
    fn open(&self) {
        let path = self.0.clone();
        std::thread::spawn(move || {
            for _ in 0..16 {
                if std::fs::write(&path, "go\n").is_err() {
                    return;
                }
            }
        });
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The first client of each era is answered at once with the available entries, and is notified of the rest.
#[tokio::test]
async fn the_first_client_waits_for_nobody_and_hears_of_the_rest() {
    let gate = Gate::new("first");
    let quick = config(&words("exec \"$@\"", "both"), "");
    let text = format!(
        "limits: {{ listWait: 500ms }}\nmcpServers: {{ quick: {quick}, slow: {} }}\n",
        gate.config("")
    );
    let gateway = Gateway::start(&text).await;
    gateway.log().has("ready after").await;
    let started = Instant::now();
    let modern = Modern::new(gateway.http());
    let session = Legacy::open(gateway.http()).await;
    let mut stream = session.listen().await;
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let mut listening = modern.begin("subscriptions/listen", &filter).await;
    let own = modern.ask("tools/list", &json!({})).await;
    let others = session.ask("tools/list", &json!({})).await;
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert_eq!(own["result"]["ttlMs"], 0, "{own}");
    for listed in [&own, &others] {
        let names = tool_names(listed);
        assert!(names.iter().any(|name| name == "quick__echo"), "{listed}");
        assert!(!names.iter().any(|name| name.starts_with("slow__")), "{listed}");
    }
    gate.open();
    for stream in [&mut stream, &mut listening] {
        while soon("a notice", stream.message()).await.expect("a notice")["method"] != CHANGED {}
    }
    for listed in [session.ask("tools/list", &json!({})).await, modern.ask("tools/list", &json!({})).await] {
        assert!(tool_names(&listed).iter().any(|name| name == "slow__echo"), "{listed}");
    }
    gateway.log().has("tools: ").await;
}

/// A running child gets all of its time, and the message names the key that sets it.
#[tokio::test]
async fn the_time_to_start_is_the_servers_own() {
    let gate = Gate::new("own");
    let text = format!("mcpServers: {{ slow: {} }}\n", gate.config(", startTimeout: 500ms"));
    let gateway = Gateway::start(&text).await;
    gateway.log().has("did not answer within 500ms of its start (`startTimeout`)").await;
    // After repeated requests, it fails as before, and the log has one line about it.
    for _ in 0..3 {
        let _ = Modern::new(gateway.http()).ask("tools/list", &json!({})).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(gateway.log().text().matches("did not answer").count(), 1, "{}", gateway.log().text());
}

/// A client that starts Dragoman also starts its servers, and may list only once: the list includes servers that need a
/// moment.
#[tokio::test]
async fn a_client_over_stdio_gets_servers_that_need_a_moment() {
    let server = config(&words("sleep 2; exec \"$@\"", "both"), "");
    // The comment with `listWait` keeps the tests' default wait out of the configuration.
    let mut client =
        Stdio::open(&format!("# listWait is not said\nmcpServers: {{ slow: {server} }}\n")).await;
    let listed = client.ask("tools/list", &json!({})).await;
    assert!(tool_names(&listed).iter().any(|name| name == "slow__echo"), "{listed}");
}
