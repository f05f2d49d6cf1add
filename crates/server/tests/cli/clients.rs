//! `dragoman import`, `connect`, `disconnect` and `init`: the files afterwards, byte for byte, and what is refused. The home folder of the
//! commands is the folder of the test.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::run::{Folder, in_folder};

const CURSOR: &str = ".cursor/mcp.json";

/// Cursor's settings, with a secret and a trailing comma.
const SETTINGS: &str = "{\n  \"mcpServers\": {\n    \"my notes\": {\n      \"command\": \"notes\",\n      \"env\": { \"NOTES_TOKEN\": \"s3cret-of-ann\" }\n    },\n    \
                        \"docs\": { \"url\": \"https://docs.example.com/mcp\", \"headers\": { \"Authorization\": \"Bearer ${env:DOCS_TOKEN}\" } },\n  }\n}\n";

fn with_cursor() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.0.join(".cursor")).expect("a new folder");
    folder.with(CURSOR, SETTINGS)
}

fn text(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.0.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[tokio::test]
async fn import_takes_servers_and_keeps_secrets_out_of_the_configuration() {
    let folder = with_cursor();
    let asked = in_folder(&folder, &["import"], "").await;
    assert_eq!(asked.code, Some(2), "{asked:?}");
    assert!(asked.text().contains("+ my notes, as my-notes") && asked.err.contains("--yes"), "{asked:?}");
    assert!(!folder.0.join("dragoman.yaml").exists() && !folder.0.join("secrets").exists());
    let imported = in_folder(&folder, &["import", "--yes"], "").await;
    assert_eq!(imported.code, Some(0), "{imported:?}");
    let written = text(&folder, "dragoman.yaml");
    assert!(written.contains("NOTES_TOKEN: ${file:secrets/my-notes.NOTES_TOKEN}"), "{written}");
    for shown in [&written, imported.text(), &imported.err] {
        assert!(!shown.contains("s3cret"), "{shown}");
    }
    let secret = folder.0.join("secrets/my-notes.NOTES_TOKEN");
    assert_eq!(fs::read_to_string(&secret).unwrap(), "s3cret-of-ann\n");
    assert_eq!(fs::metadata(&secret).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(folder.0.join("secrets")).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(imported.err.contains("set DOCS_TOKEN"), "{imported:?}");
    assert_eq!(text(&folder, CURSOR), SETTINGS, "the client's settings stay");
    let again = in_folder(&folder, &["import", "--yes", "--json"], "").await;
    let states: Vec<Value> =
        again.json()["servers"].as_array().unwrap().iter().map(|one| one["state"].clone()).collect();
    assert_eq!(states, ["present", "present"], "{again:?}");
    assert_eq!(text(&folder, "dragoman.yaml"), written);
}

#[tokio::test]
async fn import_gives_other_servers_of_a_name_another_name() {
    let folder = with_cursor()
        .with("dragoman.yaml", "mcpServers:\n  docs: { url: 'http://127.0.0.1:9/mcp' } # mine\n");
    let imported = in_folder(&folder, &["import", "cursor", "--yes"], "").await;
    assert_eq!(imported.code, Some(0), "{imported:?}");
    let written = text(&folder, "dragoman.yaml");
    assert!(written.contains("# mine") && written.contains("docs-2"), "{written}");
    assert!(folder.0.join("dragoman.yaml.bak").exists());
    assert!(!imported.err.contains("no client sees"), "{imported:?}");
    let own = "mcpServers: { demo: { native: demo } }\nprofiles: { default: { servers: [demo] } }\n";
    for (profile, is_seen) in [(&[][..], false), (&["--profile", "default"], true)] {
        let folder = with_cursor().with("dragoman.yaml", own);
        let imported = in_folder(&folder, &[&["import", "--yes"][..], profile].concat(), "").await;
        assert_eq!(imported.err.contains("add my-notes, docs to `servers`"), !is_seen, "{imported:?}");
    }
    for (args, wanted) in [
        (["import", "crsor"], "did you mean cursor?"),
        (["import", "zed"], "no settings file"),
        (["import", "./nothing.json"], "not read"),
    ] {
        let run = in_folder(&folder, &args, "").await;
        assert!(format!("{}{}", run.text(), run.err).contains(wanted), "{run:?}");
    }
}

#[tokio::test]
async fn a_client_is_connected_and_put_back_byte_for_byte() {
    let folder =
        with_cursor().with("dragoman.yaml", "listen: 9000\nmcpServers:\n  docs: { url: '${DOCS_URL}' }\n");
    let asked = in_folder(&folder, &["connect", "cursor"], "").await;
    assert_eq!((asked.code, text(&folder, CURSOR).as_str()), (Some(2), SETTINGS), "{asked:?}");
    for args in [&["connect", "cursor", "--yes"][..], &["connect", "cursor", "--only", "--yes"]] {
        let connected = in_folder(&folder, args, "").await;
        assert_eq!(connected.code, Some(0), "{connected:?}");
        let now = text(&folder, CURSOR);
        assert!(now.contains("\"url\": \"http://127.0.0.1:9000/mcp\""), "{now}");
        assert_eq!(now.contains("docs.example.com"), args.len() == 3, "{now}");
        assert!(!connected.text().contains("s3cret"), "{connected:?}");
    }
    let back = in_folder(&folder, &["disconnect", "cursor", "--yes"], "").await;
    assert_eq!((back.code, text(&folder, CURSOR).as_str()), (Some(0), SETTINGS), "{back:?}");
    let again = in_folder(&folder, &["disconnect", "cursor", "--yes"], "").await;
    assert!(again.code == Some(2) && again.err.contains("has no entry"), "{again:?}");
}

#[tokio::test]
async fn what_others_changed_survives_a_disconnection() {
    let folder = with_cursor();
    in_folder(&folder, &["connect", "cursor", "--only", "--yes"], "").await;
    let changed = text(&folder, CURSOR).replacen("{\n", "{\n  \"theme\": \"dark\",\n", 1);
    fs::write(folder.0.join(CURSOR), changed).unwrap();
    let back = in_folder(&folder, &["disconnect", "cursor", "--yes", "--json"], "").await;
    assert_eq!(back.json()["restored"], json!(["my notes", "docs"]), "{back:?}");
    let now = text(&folder, CURSOR);
    for part in ["\"theme\": \"dark\"", "my notes", "s3cret-of-ann", "docs.example.com"] {
        assert!(now.contains(part), "{part}: {now}");
    }
    assert!(!now.contains("dragoman"), "{now}");
}

#[tokio::test]
async fn a_new_file_is_created_and_removed_again() {
    let folder = Folder::new();
    let shown = in_folder(&folder, &["connect", "gemini", "--dry-run"], "").await;
    assert!(shown.code == Some(0) && !folder.0.join(".gemini").exists(), "{shown:?}");
    let connected = in_folder(&folder, &["connect", "gemini", "--yes"], "").await;
    assert_eq!(connected.code, Some(0), "{connected:?}");
    let settings: Value = serde_json::from_str(&text(&folder, ".gemini/settings.json")).unwrap();
    assert_eq!(settings["mcpServers"]["dragoman"]["httpUrl"], "http://127.0.0.1:8808/mcp");
    let back = in_folder(&folder, &["disconnect", "gemini", "--yes"], "").await;
    assert!(back.code == Some(0) && !folder.0.join(".gemini/settings.json").exists(), "{back:?}");
}

#[tokio::test]
async fn keys_and_programs() {
    let folder =
        Folder::new().with("dragoman.yaml", "auth: { keys: true }\nmcpServers: { demo: { native: demo } }\n");
    let zed = in_folder(&folder, &["connect", "zed", "--print"], "").await;
    assert!(zed.code == Some(2) && zed.err.contains("--key KEY"), "{zed:?}");
    let codex = in_folder(&folder, &["connect", "codex", "--print"], "").await;
    assert_eq!(
        codex.text(),
        "[mcp_servers.dragoman]\nurl = \"http://127.0.0.1:8808/mcp\"\nbearer_token_env_var = \"DRAGOMAN_KEY\"\n"
    );
    let started = in_folder(&folder, &["connect", "zed", "--start", "--print"], "").await.json();
    let entry = &started["context_servers"]["dragoman"];
    assert!(entry["command"].as_str().is_some_and(|program| program.ends_with("/dragoman")), "{entry}");
    let file = folder.0.canonicalize().unwrap().join("dragoman.yaml");
    assert_eq!(entry["args"], json!(["stdio", "--config", file.display().to_string()]));
    let unknown = in_folder(&folder, &["connect", "zed", "--profile", "x", "--print"], "").await;
    assert!(unknown.err.contains("the configured profiles are default"), "{unknown:?}");
}

#[tokio::test]
async fn init_writes_a_file_that_check_accepts() {
    let folder = Folder::new();
    let created = in_folder(&folder, &["init", "--yes"], "").await;
    assert_eq!(created.code, Some(0), "{created:?}");
    let checked = in_folder(&folder, &["check"], "").await;
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let again = in_folder(&folder, &["init", "--yes"], "").await;
    assert!(again.code == Some(2) && again.err.contains("exists already"), "{again:?}");
    let asked = in_folder(&Folder::new(), &["init"], "").await;
    assert!(asked.code == Some(2) && asked.err.contains("--yes"), "{asked:?}");
}
