//! The choice of the configuration, and the refusal of a faulty one.

use serde_json::{Value, json};

use super::run::{Folder, dragoman, golden, in_folder};

const GOOD: &str = "mcpServers:\n  one: { command: cat }\n  two: { url: 'http://127.0.0.1:1/mcp', disabled: true }\n\
                    profiles:\n  some: { servers: [one] }\nendpoints:\n  - { path: /x/mcp, profile: some }\n";

const BAD: &str = "listen: 127.0.0.1:99999\nmcpServers:\n  a__b: { command: cat }\n  docs: { ulr: 'http://h/mcp' }\n\
                   profiles:\n  some: { servers: [nobody] }\n";

#[tokio::test]
async fn a_good_configuration_is_summed_up() {
    let folder = Folder::new().with("dragoman.yaml", GOOD);
    let run = in_folder(&folder, &["check"], "").await;
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    golden("check.txt", run.text());
    let report = in_folder(&folder, &["check", "--json"], "").await.json();
    let want = json!({
        "ok": true, "file": "dragoman.yaml", "listen": ["127.0.0.1:8808"], "servers": ["one", "two"],
        "profiles": ["some", "default"], "faults": [],
    });
    assert_eq!(
        (&report["ok"], &report["servers"], &report["faults"]),
        (&want["ok"], &want["servers"], &want["faults"])
    );
    assert_eq!((&report["file"], &report["listen"]), (&want["file"], &want["listen"]));
}

#[tokio::test]
async fn every_fault_is_named_at_once() {
    let folder = Folder::new().with("dragoman.yaml", BAD);
    for args in [&["check"][..], &["serve"], &["stdio"], &["list", "docs"]] {
        let run = in_folder(&folder, args, "").await;
        assert_eq!(run.code, Some(2), "{args:?}");
        assert!(run.out.is_empty());
        golden("check-faults.txt", &run.err);
    }
    let run = in_folder(&folder, &["check", "--json"], "").await;
    assert_eq!(run.code, Some(2));
    let report = run.json();
    assert_eq!(report["ok"], false);
    let faults = report["faults"].as_array().unwrap();
    assert_eq!(Some(faults.len() as u64), report["total"].as_u64());
    assert!(faults.iter().all(|fault| fault["line"].is_u64() && fault["help"].is_string()), "{report}");
}

#[tokio::test]
async fn what_an_embedded_server_does_not_have_is_noted() {
    let text = "mcpServers:\n  tools: { native: plain }\naccess:\n  - { deny: tools__calculat }\n";
    let folder = Folder::new().with("dragoman.yaml", text);
    let run = in_folder(&folder, &["check"], "").await;
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.err.contains("the server `tools` has no tool or prompt `calculat`"), "{}", run.err);
    assert!(
        run.err.contains("dragoman.yaml:4") && run.err.contains("did you mean `tools__calculate`?"),
        "{}",
        run.err
    );
}

#[tokio::test]
async fn the_place_of_the_configuration() {
    let named = |name: &str| format!("mcpServers: {{ {name}: {{ command: cat }} }}");
    let folder = Folder::new()
        .with("dragoman.json", r#"{"mcpServers": {"json": {"command": "cat"}}}"#)
        .with(".config/dragoman/dragoman.yaml", named("home"))
        .with("xdg/dragoman/dragoman.yml", named("xdg"))
        .with("other.yaml", named("other"));
    let servers = |run: super::run::Run| run.json()["servers"][0].as_str().unwrap().to_owned();
    assert_eq!(servers(in_folder(&folder, &["check", "--json"], "").await), "json");
    let folder = folder.with("dragoman.yaml", named("yaml"));
    assert_eq!(servers(in_folder(&folder, &["check", "--json"], "").await), "yaml");
    for args in [["check", "--config", "other.yaml", "--json"], ["--config", "other.yaml", "check", "--json"]]
    {
        assert_eq!(servers(in_folder(&folder, &args, "").await), "other");
    }
    assert_eq!(servers(in_folder(&folder, &["check", "other.yaml", "--json"], "").await), "other");
    std::fs::remove_file(folder.0.join("dragoman.yaml")).unwrap();
    std::fs::remove_file(folder.0.join("dragoman.json")).unwrap();
    assert_eq!(servers(in_folder(&folder, &["check", "--json"], "").await), "home");
    let mut command = super::run::command(&folder.0);
    let output =
        command.args(["check", "--json"]).env("XDG_CONFIG_HOME", folder.0.join("xdg")).output().await;
    assert!(String::from_utf8(output.unwrap().stdout).unwrap().contains("xdg"));
}

#[tokio::test]
async fn without_a_configuration_there_is_the_demo() {
    let run = dragoman(&["check"]).await;
    assert_eq!(run.code, Some(0));
    assert!(run.text().contains("the embedded demo would be served"), "{}", run.text());
}

#[tokio::test]
async fn files_beside_the_configuration_are_found() {
    let text = "mcpServers: { a: { url: '${file:url.txt}' } }";
    let folder = Folder::new().with("conf/c.yaml", text).with("conf/url.txt", "http://127.0.0.1:1/mcp\n");
    assert_eq!(in_folder(&folder, &["check", "conf/c.yaml"], "").await.code, Some(0));
    std::fs::remove_file(folder.0.join("conf/url.txt")).unwrap();
    let run = in_folder(&folder, &["check", "conf/c.yaml"], "").await;
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("url.txt") && run.err.contains("conf/c.yaml:1:"), "{}", run.err);
}

#[tokio::test]
async fn what_cannot_be_read_is_said() {
    let folder = Folder::new().with("latin.yaml", b"# a\n# \xe9\n");
    for (file, says) in
        [("latin.yaml", "not UTF-8 text (see line 2)"), ("none.yaml", "No such file"), (".", "directory")]
    {
        let run = in_folder(&folder, &["check", file], "").await;
        assert_eq!(run.code, Some(2));
        assert!(run.err.contains(says), "{}", run.err);
    }
}

#[tokio::test]
async fn listening_to_the_world_takes_a_decision() {
    let folder =
        Folder::new().with("dragoman.yaml", "listen: 0.0.0.0:0\nmcpServers: { demo: { native: demo } }\n");
    for args in [&["serve"][..], &["serve", "--listen", "[::]:0"], &["--listen", "192.0.2.1:1"]] {
        let run = in_folder(&folder, args, "").await;
        assert_eq!(run.code, Some(2), "{args:?}");
        assert!(run.err.contains("--listen 127.0.0.1:") && run.err.contains("--insecure"), "{}", run.err);
    }
    let run = in_folder(&folder, &["check"], "").await;
    assert_eq!(run.code, Some(0));
    assert!(run.err.contains("without `auth`") && run.err.contains("--insecure"), "{}", run.err);
    // It reports everything that the start would report, and secrets that others can read.
    for (rest, says) in [
        ("auth: { keys: true }", "crosses the network unencrypted"),
        ("auth: { keys: true }\npublicUrl: https://mcp.example.com", ""),
        ("auth: { keys: true }\nendpoints: [{ path: /x, auth: none }]", "`auth: none`"),
        ("management: true", "start programs"),
    ] {
        let config = format!("listen: 0.0.0.0:0\nmcpServers: {{ demo: {{ native: demo }} }}\n{rest}\n");
        let folder = Folder::new().with("dragoman.yaml", &config);
        let run = in_folder(&folder, &["check"], "").await;
        assert!(run.code == Some(0) && run.err.contains(says), "{rest}: {}", run.err);
        assert_eq!(run.err.is_empty(), says.is_empty(), "{rest}: {}", run.err);
        let told: Value =
            serde_json::from_slice(&in_folder(&folder, &["check", "--json"], "").await.out).unwrap();
        assert_eq!(told["notes"].as_array().map(Vec::is_empty), Some(says.is_empty()), "{told}");
    }
}

/// Secrets in the file itself, and addresses without TLS, are readable by others.
#[tokio::test]
async fn what_others_can_read_is_noted() {
    use std::os::unix::fs::PermissionsExt as _;
    let header = |value: &str| {
        format!(
            "mcpServers:\n  a: {{ url: 'https://h.example/mcp', headers: {{ Authorization: {value} }} }}\n"
        )
    };
    let env = |entry: &str| format!("mcpServers:\n  a:\n    command: cat\n    env: {{ {entry} }}\n");
    for (config, mode, says) in [
        (header("Bearer abcdefgh12345678"), 0o644, "(line 2) and other users can read the file (mode 644)"),
        (header("Bearer abcdefgh12345678"), 0o640, "(mode 640)"),
        (header("Bearer abcdefgh12345678"), 0o600, ""),
        (header("'Bearer ${NOBODYS:-x}'"), 0o644, ""),
        (env("GITHUB_TOKEN: ghp_abc"), 0o644, "(line 4)"),
        (env("OPENAI_API_KEY: sk-abc"), 0o644, "(line 4)"),
        (env("DEBUG: 'yes', TOKEN_LIMIT: 100, TOKEN_URL: 'https://h.example/t'"), 0o644, ""),
        ("auth: { keys: true }\nmcpServers: { a: { command: cat } }\n".to_owned(), 0o644, ""),
        ("mcpServers: { a: { url: 'http://h.example/mcp' } }\n".to_owned(), 0o600, "the server `a`"),
        ("mcpServers: { a: { url: 'http://192.0.2.1/mcp' } }\n".to_owned(), 0o600, "unencrypted"),
        (
            "mcpServers: { a: { url: 'http://[::1]:1/mcp' }, b: { url: 'http://localhost/mcp' } }\n"
                .to_owned(),
            0o600,
            "",
        ),
    ] {
        let folder = Folder::new().with("dragoman.yaml", &config);
        let file = folder.0.join("dragoman.yaml");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let run = in_folder(&folder, &["check"], "").await;
        assert!(run.code == Some(0) && run.err.contains(says), "{config} {mode:o}: {}", run.err);
        assert_eq!(run.err.is_empty(), says.is_empty(), "{config} {mode:o}: {}", run.err);
        assert!(!run.err.contains("abc"), "{}", run.err);
    }
}

#[tokio::test]
async fn a_profile_that_is_not_there() {
    let folder = Folder::new().with("dragoman.yaml", GOOD);
    let run = in_folder(&folder, &["stdio", "--profile", "nobody"], "").await;
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("there is no profile \"nobody\"") && run.err.contains("some"), "{}", run.err);
}

#[tokio::test]
async fn a_log_level_that_is_none() {
    let folder = Folder::new();
    let mut command = super::run::command(&folder.0);
    let output = command.arg("check").env("DRAGOMAN_LOG", "dragoman=loud").output().await.unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("DRAGOMAN_LOG=info"));
    // Other programs share the variable of a preset: an invalid value is reported, and the default applies.
    for (level, told) in [("bogus", true), ("WARNING", false), ("", false)] {
        let mut command = super::run::command(&folder.0);
        command.args(["stdio", "--preset", "bb"]).env("LOG_LEVEL", level).stdin(std::process::Stdio::null());
        let output = command.output().await.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert_eq!(said.contains("LOG_LEVEL=\"bogus\" is not a log level, so info applies"), told, "{said}");
    }
}

#[tokio::test]
async fn a_preset_is_shown_with_what_extends_it() {
    let folder = Folder::new().with("mine.yaml", "listen: 127.0.0.1:9123\n");
    let plain = in_folder(&folder, &["config", "show", "--preset", "bb"], "").await;
    assert!(plain.text().contains("native: plain") && !plain.text().contains("9123"), "{plain:?}");
    let both = in_folder(&folder, &["config", "show", "--preset", "bb", "--config", "mine.yaml"], "").await;
    assert!(both.text().contains(plain.text().trim_end()), "{both:?}");
    assert!(
        both.text().contains("# The settings of mine.yaml, which override it:\nlisten: 127.0.0.1:9123\n"),
        "{both:?}"
    );
    let lost = in_folder(&folder, &["config", "show", "--preset", "bb", "--config", "lost.yaml"], "").await;
    assert!(lost.code == Some(2) && lost.err.contains("lost.yaml"), "{lost:?}");
}
