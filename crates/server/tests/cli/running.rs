//! Commands that concern the running gateway: `status`, `logs`, `top`, `server`, `profile`, `session`, `consent`.

use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use testkit::client::{Http, Legacy};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Child;

use super::client::odd_tools;
use super::person::Person;
use super::run::{DEADLINE, Folder, Run, command, in_folder, program};

/// A running gateway with a good server, one that fails and reports why, and the demo.
struct Serving {
    folder: Folder,
    url: String,
    _child: Child,
}

impl Serving {
    async fn start() -> Self {
        let config = format!(
            "listen: 127.0.0.1:0\nstateFolder: state\nadmin: true\nmcpServers:\n  demo: {{ native: demo }}\n  child: {{ command: sh, args: [-c, 'echo hello >&2; exec {} --stdio'] }}\n  bad: {{ command: sh, args: [-c, 'echo no token is set >&2; exit 3'] }}\n",
            program()
        );
        Self::start_with(&config).await
    }

    /// Starts a gateway with this configuration.
    async fn start_with(config: &str) -> Self {
        let folder = Folder::new().with("dragoman.yaml", config);
        let mut child =
            command(&folder.0).args(["serve", "--json"]).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let hello = tokio::time::timeout(DEADLINE, lines.next_line()).await.expect("in time").expect("text");
        let hello: Value = serde_json::from_str(&hello.expect("a line")).expect("JSON");
        let url = hello["urls"][0].as_str().expect("a URL").to_owned();
        let serving = Self { folder, url, _child: child };
        // The socket opens a moment after the first screen.
        serving.until(&["server", "list"], |run| run.code == Some(0)).await;
        serving
    }

    async fn run(&self, args: &[&str]) -> Run {
        in_folder(&self.folder, args, "").await
    }

    /// Runs a command until its output is as wanted.
    async fn until(&self, args: &[&str], wanted: impl Fn(&Run) -> bool) -> Run {
        let found = async {
            loop {
                let run = self.run(args).await;
                if wanted(&run) {
                    return run;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::time::timeout(DEADLINE, found).await.unwrap_or_else(|_| panic!("{args:?}"))
    }
}

fn state_of<'r>(status: &'r Value, name: &str) -> &'r Value {
    status["servers"]
        .as_array()
        .and_then(|all| all.iter().find(|one| one["id"] == name))
        .expect("it is listed")
}

#[tokio::test]
async fn without_a_gateway_they_say_so() {
    for args in [
        &["status"][..],
        &["logs"],
        &["top"],
        &["server", "list"],
        &["profile", "list"],
        &["session", "list"],
        &["consent", "list"],
    ] {
        let run = in_folder(&Folder::new(), args, "").await;
        assert_eq!(run.code, Some(1), "{args:?}: {run:?}");
        assert!(run.err.contains("no running gateway uses the state folder"), "{args:?}: {run:?}");
        assert!(run.err.contains("start one with `dragoman serve`"), "{args:?}: {run:?}");
    }
}

#[tokio::test]
async fn status_and_logs_say_which_server_fails_and_why() {
    let serving = Serving::start().await;
    let is_known = |run: &Run| {
        let status = run.json();
        state_of(&status, "child")["state"] == "ready" && state_of(&status, "bad")["reason"].is_string()
    };
    let json = serving.until(&["status", "--json"], is_known).await.json();
    assert_eq!(state_of(&json, "demo")["state"], "ready");
    assert!(json["gateway"]["pid"].is_u64() && json["gateway"]["isFine"] == false, "{json}");
    let people = serving.run(&["status"]).await;
    assert_eq!(people.code, Some(0), "{people:?}");
    assert!(
        people.text().starts_with("Dragoman ")
            && people.text().contains(serving.url.trim_start_matches("http://").trim_end_matches("/mcp")),
        "{}",
        people.text()
    );
    assert!(people.text().contains("\nSERVER  STATE"), "{}", people.text());
    assert!(people.text().contains("no token is set"), "{}", people.text());
    assert!(people.text().contains("\nerror: server bad: "), "{}", people.text());
    let connections = serving.run(&["status", "child", "-v"]).await;
    assert!(connections.text().contains("shared, stdio"), "{}", connections.text());
    assert!(!connections.text().contains("\nbad "), "{}", connections.text());
    let unknown = serving.run(&["status", "nosuch"]).await;
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    let logs = serving.run(&["logs"]).await;
    assert_eq!(logs.code, Some(0), "{logs:?}");
    assert!(logs.text().contains("child     | hello\n"), "{}", logs.text());
    assert!(
        logs.text().contains("bad       | ") && logs.text().contains("no token is set"),
        "{}",
        logs.text()
    );
    let one = serving.run(&["logs", "bad", "--json"]).await.json_lines();
    let kinds: Vec<_> = one.iter().map(|entry| (entry["server"].clone(), entry["kind"].clone())).collect();
    for kind in ["stderr", "state"] {
        assert!(
            kinds.contains(&("bad".into(), kind.into())),
            "what it wrote before it could start is readable: {one:?}"
        );
    }
}

#[tokio::test]
async fn logs_show_the_gateways_own_lines_between_those_of_its_servers() {
    let config = "listen: 127.0.0.1:0\nstateFolder: state\nmcpServers:\n  demo: { native: demo }\n  \
                  bad: { command: sh, args: [-c, 'echo the secret is ${HUSH:-sesame-open} >&2; exit 3'] }\n";
    let serving = Serving::start_with(config).await;
    let is_known =
        |run: &Run| run.text().contains("bad: backing_off after") || run.text().contains("bad: unreachable");
    let own = serving.until(&["logs", "--gateway"], is_known).await;
    let lines: Vec<&str> = own.text().lines().collect();
    assert!(lines.iter().all(|line| line.starts_with("(gateway) | ")), "{own:?}");
    assert!(!own.text().contains("sesame-open"), "{own:?}");
    let of_bad = serving.run(&["logs", "bad", "--json"]).await.json_lines();
    // The beginning of a state is known to the second.
    let at =
        |line: &Value| line["at"].as_str().expect("a time").split_once('.').expect("a fraction").0.to_owned();
    let times: Vec<String> = of_bad.iter().map(at).collect();
    assert!(times.is_sorted(), "{of_bad:#?}");
    let place = |kind: &str| of_bad.iter().position(|line| line["kind"] == kind);
    assert!(place("stderr") < place("state") && place("log").is_some(), "{of_bad:#?}");
    assert!(
        of_bad.iter().any(|line| line["kind"] == "stderr"
            && line["text"].as_str().is_some_and(|text| text.ends_with("is ***"))),
        "{of_bad:#?}"
    );
    assert!(of_bad.iter().all(|line| line["server"] == "bad"), "{of_bad:#?}");
    let all = serving.run(&["logs", "--gateway", "--json", "--level", "error"]).await.json_lines();
    assert!(all.iter().all(|line| line["level"] == "error" && line["kind"] == "log"), "{all:#?}");
    let with_times = serving.run(&["logs", "bad", "-t"]).await;
    assert!(
        with_times.text().lines().all(|line| line.starts_with("20") && line.contains("Z ")),
        "{with_times:?}"
    );
    let unknown = serving.run(&["logs", "nosuch"]).await;
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
}

#[tokio::test]
async fn status_names_the_clients_that_refuse_tools() {
    let odd = odd_tools(2).await;
    let config = format!(
        "listen: 127.0.0.1:0\nstateFolder: state\nmcpServers:\n  demo: {{ native: demo }}\n  odd: {}\n",
        odd.config()
    );
    let serving = Serving::start_with(&config).await;
    // Only the list itself was fetched: nobody has asked for the server's tools or its status before.
    let is_known = |run: &Run| run.text().contains("note: server odd: ");
    let people = serving.until(&["status"], is_known).await;
    let lines: Vec<&str> = people.text().lines().filter(|line| line.starts_with("note: ")).collect();
    assert!(lines[0].starts_with("note: server odd: 2 tools do not suit gemini: "), "{}", people.text());
    assert!(!people.text().contains("note: server demo"), "{}", people.text());
    let json = serving.run(&["status", "--json"]).await.json();
    assert_eq!(state_of(&json, "odd")["refusals"].as_array().map(Vec::len), Some(lines.len()), "{json}");
}

#[tokio::test]
async fn status_shows_what_each_profile_costs() {
    let config = "listen: 127.0.0.1:0\nstateFolder: state\nmcpServers: { demo: { native: demo } }\n\
                  profiles: { plain: {}, found: { tools: { mode: search } } }\n";
    let serving = Serving::start_with(config).await;
    let is_known = |run: &Run| state_of(&run.json(), "demo")["state"] == "ready";
    let json = serving.until(&["status", "--json"], is_known).await.json();
    let profile = |slug: &str| {
        let all = json["profiles"].as_array().expect("profiles").iter();
        all.clone().find(|one| one["id"] == slug).unwrap_or_else(|| panic!("{slug}: {json}")).clone()
    };
    let demo = state_of(&json, "demo");
    let [tools, tokens] = ["tools", "tokens"].map(|key| demo[key].as_u64().expect("a number"));
    let (plain, found) = (profile("plain"), profile("found"));
    assert_eq!(plain["listed"]["tools"].as_u64(), Some(tools));
    let listed = plain["listed"]["tokens"].as_u64().expect("a number");
    // The names have the server's name in front.
    assert!(tokens > 0 && (tokens..2 * tokens).contains(&listed), "{tokens} {json}");
    assert_eq!(
        (found["listed"]["tools"].as_u64(), found["searchable"]["tools"].as_u64()),
        (Some(2), Some(tools))
    );
    let people = serving.run(&["status"]).await;
    assert!(people.text().contains("\nPROFILE  TOOLS"), "{}", people.text());
    let row = people.text().lines().find(|line| line.starts_with("plain ")).expect("a row");
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells, ["plain", &tools.to_string(), &listed.to_string()], "{}", people.text());
    let row = people.text().lines().find(|line| line.starts_with("found ")).expect("a row");
    assert!(row.contains(&format!("{tools} (")), "{row}");
    let one = serving.run(&["status", "demo"]).await;
    assert!(!one.text().contains("PROFILE"), "{}", one.text());
}

#[tokio::test]
async fn logs_are_followed() {
    let serving = Serving::start().await;
    let mut follower = command(&serving.folder.0)
        .args(["logs", "-f", "bad", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(follower.stdout.take().expect("a pipe")).lines();
    let told = async {
        while let Some(line) = lines.next_line().await.expect("text") {
            let line: Value = serde_json::from_str(&line).expect("JSON");
            if line["kind"] == "state" && line["text"].as_str().unwrap().contains("no token is set") {
                return;
            }
        }
        panic!("it ended");
    };
    tokio::time::timeout(DEADLINE, told).await.expect("in time");
}

#[tokio::test]
async fn top_counts_calls_as_they_happen() {
    let serving = Serving::start().await;
    let top = async { serving.run(&["top", "--json", "--interval", "1", "-n", "5"]).await };
    let calls = async {
        for _ in 0..100_000 {
            serving.run(&["call", &serving.url, "demo__add", "a=1", "b=2"]).await;
        }
    };
    let top = tokio::select! {
        top = top => top,
        () = calls => panic!("it does not end"),
    };
    assert_eq!(top.code, Some(0), "{top:?}");
    let updates = top.json_lines();
    assert_eq!(updates.len(), 5, "{updates:?}");
    let last = &updates[4];
    let demo = last["servers"].as_array().unwrap().iter().find(|one| one["server"] == "demo").unwrap();
    assert!(demo["calls"].as_u64() > Some(0) && demo["state"] == "ready", "{last}");
    let plain = serving.run(&["top", "--interval", "1", "-n", "1"]).await;
    assert!(plain.text().contains("  demo  ") && plain.text().contains("/s  "), "{plain:?}");
    let file = serving.folder.0.join("dragoman.yaml");
    let args = ["top", "--config", file.to_str().unwrap(), "--color", "never"];
    let mut person = Person::at_width(60, &args);
    person.sees("\u{1b}[?1049h").await;
    person.sees("SERVER").await;
    person.types("q");
    let (code, screen) = person.leaves().await;
    assert!(code == Some(0) && screen.trim_end().ends_with("\u{1b}[?1049l"), "{screen:?}");
}

#[tokio::test]
async fn servers_are_listed_and_restarted() {
    let serving = Serving::start().await;
    let list = serving.run(&["server", "list"]).await;
    assert!(list.text().contains("\nchild ") && list.text().contains("exec "), "{}", list.text());
    let pid = |run: &Run| {
        let json = run.json();
        json["connections"][0]["connections"][0]["process"]["pid"].as_u64()
    };
    let args = ["status", "child", "--json"];
    let before = pid(&serving.until(&args, |run| pid(run).is_some()).await);
    let restarted = serving.run(&["server", "restart", "child"]).await;
    assert!(
        restarted.code == Some(0) && restarted.text().starts_with("child was restarted"),
        "{restarted:?}"
    );
    let call = serving.run(&["call", &serving.url, "child__test_simple_text"]).await;
    assert_eq!(call.code, Some(0), "{call:?}");
    serving.until(&args, |run| pid(run).is_some_and(|now| Some(now) != before)).await;
    let unknown = serving.run(&["server", "restart", "nosuch"]).await;
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
}

#[tokio::test]
async fn servers_and_profiles_are_added_changed_and_removed() {
    let serving = Serving::start().await;
    let url = &serving.url;
    for (args, says) in [
        (&["server", "add", "hub", "http://127.0.0.1:9/mcp", "-H", "X-Tenant: one"][..], "hub was added."),
        (&["profile", "add", "office", "hub", "--name", "Office"], "clients find it at /mcp/office"),
        (
            &["server", "add", "sums", "--profile", "office", "--", program(), "--stdio"],
            "sums was added to office.",
        ),
        (&["server", "disable", "hub"], "hub is disabled."),
        (&["server", "enable", "hub"], "hub is enabled."),
    ] {
        let run = serving.run(args).await;
        assert!(run.code == Some(0) && run.text().contains(says), "{args:?}: {run:?}");
    }
    let list = serving.run(&["profile", "list"]).await;
    assert!(list.text().contains("\noffice "), "{}", list.text());
    let of_office =
        |run: &Run| run.code == Some(0) && run.json()["status"]["listed"]["tokens"].as_u64() > Some(0);
    let json = serving.until(&["profile", "show", "office", "--json"], of_office).await.json();
    let members = serde_json::to_string(&json["servers"]).expect("JSON");
    assert!(members.contains("\"hub\"") && members.contains("\"sums\""), "{members}");
    let people = serving.run(&["profile", "show", "office"]).await;
    assert!(people.text().starts_with("office: ") && people.text().contains("\nsums "), "{}", people.text());
    let profile = url.replace("/mcp", "/mcp/office");
    let call = serving.run(&["call", &profile, "sums__test_simple_text"]).await;
    assert_eq!(call.code, Some(0), "{call:?}");
    let used = serving.run(&["server", "remove", "hub"]).await;
    assert!(used.code == Some(2) && used.err.contains("office"), "a profile lists it: {used:?}");
    for args in [
        &["profile", "remove-server", "office", "sums"][..],
        &["profile", "add-server", "office", "demo"],
        &["profile", "remove", "office"],
        &["server", "remove", "hub"],
        &["server", "remove", "sums"],
    ] {
        let run = serving.run(args).await;
        assert_eq!(run.code, Some(0), "{args:?}: {run:?}");
    }
    let list = serving.run(&["server", "list"]).await;
    assert!(!list.text().contains("hub") && !list.text().contains("sums"), "{}", list.text());
    let unset = serving.run(&["server", "add", "x", "-e", "NO_SUCH_VARIABLE", "--", "true"]).await;
    assert!(unset.code == Some(2) && unset.err.contains("NO_SUCH_VARIABLE is not set"), "{unset:?}");
}

#[tokio::test]
async fn sessions_are_listed_and_ended() {
    let serving = Serving::start().await;
    let none = serving.run(&["session", "list"]).await;
    assert!(none.text().is_empty() && none.err.contains("No client has an open session"), "{none:?}");
    let address = serving.url.trim_start_matches("http://").trim_end_matches("/mcp").parse().unwrap();
    let _session = Legacy::open(Http::new(address)).await;
    let listed = serving.run(&["session", "list", "--json"]).await.json();
    let id = listed["sessions"][0]["id"].as_str().expect("it is listed").to_owned();
    let people = serving.run(&["session", "list"]).await;
    assert!(people.text().starts_with("SESSION") && people.text().contains(&id), "{}", people.text());
    let ended = serving.run(&["session", "end", &id]).await;
    assert_eq!(ended.text(), format!("The session {id} has ended.\n"), "{ended:?}");
    let gone = serving.run(&["session", "end", &id]).await;
    assert_eq!(gone.code, Some(2), "{gone:?}");
    assert_eq!(serving.run(&["session", "list", "--json"]).await.json()["total"], 0);
    let consents = serving.run(&["consent", "list"]).await;
    assert!(consents.err.contains("No server has consent or is waiting for it."), "{consents:?}");
    let nothing = serving.run(&["consent", "revoke", "demo"]).await;
    assert_eq!(nothing.code, Some(2), "{nothing:?}");
}
