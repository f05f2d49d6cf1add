//! `dragoman doctor`: what it finds about a healthy configuration and about broken ones, and its exit codes.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use serde_json::Value;
use testkit::fixture::Eras;

use super::run::{Folder, Run, in_folder, program, server};
use super::support::{Puppet, Said};

/// The findings about a subject, with their levels.
fn found(run: &Run, subject: &str) -> Vec<(String, String)> {
    let json = run.json();
    let all = json["findings"].as_array().expect("a list").iter();
    let text = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
    let about = all.filter(|one| one["subject"] == subject);
    about.map(|one| (text(one, "level"), format!("{} {}", text(one, "message"), text(one, "help")))).collect()
}

#[tokio::test]
async fn everything_is_fine() {
    let http = server(Eras::default()).await;
    let config = format!(
        "listen: 127.0.0.1:0\nstateFolder: state\nmcpServers:\n  demo: {{ native: demo }}\n  plain: {{ native: plain }}\n  web: {{ url: '{}' }}\n  child: {{ command: '{}', args: [--stdio] }}\n  off: {{ command: /nowhere, disabled: true }}\n",
        http.url(),
        program()
    );
    let folder = Folder::new().with("dragoman.yaml", config);
    let run = in_folder(&folder, &["doctor"], "").await;
    assert_eq!(run.code, Some(0), "{run:?}");
    for line in ["ok       configuration: dragoman.yaml is valid", "ok       address 127.0.0.1:0: it is free"]
    {
        assert!(run.text().contains(line), "{line}: {}", run.text());
    }
    assert!(run.text().ends_with("\nEverything is fine.\n"), "{}", run.text());
    let json = in_folder(&folder, &["doctor", "--json"], "").await;
    assert_eq!(json.json()["ok"], true);
    let web = found(&json, "server web");
    assert!(web[0].0 == "ok" && web[0].1.contains("tools (HTTP, protocol 2026-07-28"), "{web:?}");
    assert!(found(&json, "server child")[0].1.contains("(stdio, protocol"), "{json:?}");
    assert!(found(&json, "server demo")[0].1.starts_with("6 tools (embedded"), "{json:?}");
    assert!(found(&json, "server off").is_empty());
    assert!(!folder.0.join("state").exists(), "nothing is created");
    let one = in_folder(&folder, &["doctor", "demo", "--json"], "").await;
    assert!(found(&one, "server web").is_empty() && found(&one, "server demo").len() == 1);
    let offline = in_folder(&folder, &["doctor", "--offline", "--json"], "").await;
    assert!(found(&offline, "server demo").is_empty());
}

#[tokio::test]
async fn what_is_broken_comes_with_help() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let config = format!(
        "listen: {address}\nstateFolder: state\nmcpServers:\n  gone: {{ url: 'http://127.0.0.1:9/mcp' }}\n  missing: {{ command: no-such-program }}\n  demo: {{ native: demo }}\n"
    );
    let folder = Folder::new().with("dragoman.yaml", config).with("state/keys.db", "");
    fs::set_permissions(folder.0.join("state/keys.db"), fs::Permissions::from_mode(0o644)).unwrap();
    let run = in_folder(&folder, &["doctor", "--json"], "").await;
    assert_eq!(run.code, Some(1), "{run:?}");
    assert_eq!(run.json()["ok"], false);
    let gone = found(&run, "server gone");
    assert!(gone[0].0 == "error" && gone[0].1.contains("refused the connection"), "{gone:?}");
    let missing = found(&run, "server missing");
    assert!(missing[0].0 == "error" && missing[0].1.contains("was not found in PATH"), "{missing:?}");
    assert_eq!(found(&run, "server demo")[0].0, "ok");
    let listening = found(&run, &format!("address {address}"));
    assert!(listening[0].1.starts_with("something listens there"), "{listening:?}");
    let state = found(&run, "state folder");
    assert!(state[0].0 == "warning" && state[0].1.contains("run `chmod 600 state/keys.db`"), "{state:?}");
    let people = in_folder(&folder, &["doctor"], "").await;
    assert!(people.text().contains("\nerror    server gone: "), "{}", people.text());
    assert!(people.text().trim_end().ends_with("2 errors, 2 warnings."), "{}", people.text());
}

/// A server that lists page after page, slowly, or that never answers at all.
#[tokio::test]
async fn a_slow_server_is_a_finding() {
    let silent = Puppet::start(|_, request| match request.method() {
        "tools/list" => Said::Hold(Vec::new()),
        _ => Said::Proper,
    })
    .await;
    let mute = Puppet::start(|_, _| Said::Hold(Vec::new())).await;
    let config = format!(
        "listen: 127.0.0.1:0\nstateFolder: state\nmcpServers: {{ silent: {}, mute: {} }}\n",
        silent.config(),
        mute.config()
    );
    let folder = Folder::new().with("dragoman.yaml", config);
    let since = std::time::Instant::now();
    let run = in_folder(&folder, &["doctor", "--timeout", "3", "--json"], "").await;
    assert_eq!(run.code, Some(1), "{run:?}");
    for server in ["server silent", "server mute"] {
        let told = found(&run, server);
        assert!(told.len() == 1 && told[0].0 == "error", "{run:?}");
    }
    assert!(since.elapsed() < Duration::from_mins(1), "{:?}", since.elapsed());
}

/// A server at which each caller gives consent refuses this command, which is no caller.
#[tokio::test]
async fn a_server_with_consent_per_caller_is_no_error() {
    let asks = Puppet::start(|_, _| {
        let challenge = "Bearer resource_metadata=\"http://127.0.0.1/.well-known/oauth-protected-resource\"";
        let head = format!("WWW-Authenticate: {challenge}\r\nContent-Length: 0\r\nConnection: close\r\n");
        Said::Raw(format!("HTTP/1.1 401 Unauthorized\r\n{head}\r\n").into_bytes())
    })
    .await;
    let plain = Puppet::start(|_, _| Said::Status(401, "text/plain", "who are you?".to_owned())).await;
    let servers = format!("asks: {}, plain: {}", asks.config(), plain.config());
    for (auth, level) in [("{ keys: true }", "ok"), ("{}", "error")] {
        let config =
            format!("listen: 127.0.0.1:0\nstateFolder: state\nauth: {auth}\nmcpServers: {{ {servers} }}\n");
        let folder = Folder::new().with("dragoman.yaml", config);
        let run = in_folder(&folder, &["doctor", "--json"], "").await;
        let asks = found(&run, "server asks");
        assert_eq!(asks[0].0, level, "{auth}: {run:?}");
        assert_eq!(asks[0].1.contains("until a caller has given consent"), level == "ok", "{run:?}");
        assert_eq!(found(&run, "server plain")[0].0, "error", "{auth}: a missing key is an error: {run:?}");
    }
}

/// The message about a certificate has the problem and the fix in separate parts.
#[tokio::test]
async fn certificates_come_with_their_own_help() {
    let config = "listen: 127.0.0.1:0\nstateFolder: state\ntls: { cert: none.pem, key: none.pem }\nmcpServers: { a: { native: demo } }\n";
    let folder = Folder::new().with("dragoman.yaml", config).with("none.pem", "nothing");
    let run = in_folder(&folder, &["doctor", "--offline", "--json"], "").await;
    assert_eq!(run.code, Some(1), "{run:?}");
    let json = run.json();
    let all = json["findings"].as_array().unwrap();
    let told = all.iter().find(|one| one["subject"] == "certificate" && one["level"] == "error").unwrap();
    let (message, help) = (told["message"].as_str().unwrap(), told["help"].as_str().unwrap());
    assert!(message.contains("the file contains no certificate") && !message.contains("; "), "{told}");
    assert_eq!(
        help, "name a file with certificates in PEM; until then, `dragoman serve` would not start",
        "{told}"
    );
}

#[tokio::test]
async fn an_invalid_configuration_is_a_finding() {
    let folder = Folder::new().with("dragoman.yaml", "listen: x\nmcpServers: { a: { comand: b } }\n");
    let run = in_folder(&folder, &["doctor", "--json"], "").await;
    assert_eq!(run.code, Some(1), "{run:?}");
    let faults = found(&run, "configuration");
    assert!(faults.len() >= 2 && faults.iter().all(|(level, _)| level == "error"), "{faults:?}");
    assert!(faults.iter().any(|(_, text)| text.contains("dragoman.yaml:2") && text.contains("command")));
    let unknown = in_folder(&Folder::new(), &["doctor", "dmo"], "").await;
    assert!(unknown.code == Some(2) && unknown.err.contains("did you mean demo?"), "{unknown:?}");
}

#[tokio::test]
async fn the_store_of_a_cluster_is_tried() {
    let refused = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let config = format!(
        "listen: 127.0.0.1:0\nstateFolder: state\ncluster: {{ store: 'redis://{refused}', keyRing: ring.key }}\n"
    );
    let folder = Folder::new().with("dragoman.yaml", config);
    let run = in_folder(&folder, &["doctor", "--json"], "").await;
    let report = run.json();
    let found =
        report["findings"].as_array().into_iter().flatten().find(|one| one["subject"] == "cluster.store");
    let found = found.unwrap_or_else(|| panic!("{run:?}"));
    assert!(run.code == Some(1) && found["level"] == "error", "{run:?}");
    assert!(found["help"].as_str().is_some_and(|help| help.starts_with("start the store")), "{found}");
    let offline = in_folder(&folder, &["doctor", "--offline", "--json"], "").await;
    assert!(!offline.text().contains("\"cluster.store\""), "nothing is connected to: {offline:?}");
}
