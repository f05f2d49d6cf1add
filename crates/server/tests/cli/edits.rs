//! `dragoman add` and `dragoman remove`: the file afterwards, the backup, and what is refused.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::run::{Folder, in_folder};

fn text(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.0.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let name =
        |one: std::io::Result<fs::DirEntry>| one.expect("an entry").file_name().into_string().expect("UTF-8");
    let mut all: Vec<String> = entries.map(name).collect();
    all.sort();
    all
}

#[tokio::test]
async fn the_first_server_creates_the_file() {
    let folder = Folder::new();
    let added = in_folder(&folder, &["add", "time", "--", "uvx", "mcp-server-time"], "").await;
    assert_eq!(added.code, Some(0), "{added:?}");
    assert!(added.text().starts_with("Created the file and added time: dragoman.yaml\n"), "{added:?}");
    assert!(added.err.contains("dragoman list time"), "{added:?}");
    assert_eq!(
        text(&folder, "dragoman.yaml"),
        "mcpServers:\n  time:\n    command: uvx\n    args: [mcp-server-time]\n"
    );
    assert_eq!(names(&folder.0), ["dragoman.yaml"]);
    let checked = in_folder(&folder, &["check"], "").await;
    assert_eq!(checked.code, Some(0), "{checked:?}");
}

#[tokio::test]
async fn comments_permissions_and_the_old_text_are_kept() {
    let before =
        "# ours\nmcpServers:\n  a: { url: 'http://127.0.0.1:9/mcp' } # first\n\nlisten: 9000 # port\n";
    let folder = Folder::new().with("dragoman.yaml", before);
    let file = folder.0.join("dragoman.yaml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let args =
        ["add", "docs", "https://docs.example.com/mcp", "-H", "Authorization: Bearer ${DOCS}", "--json"];
    let added = in_folder(&folder, &args, "").await;
    assert_eq!(added.code, Some(0), "{added:?}");
    let after = "# ours\nmcpServers:\n  a: { url: 'http://127.0.0.1:9/mcp' } # first\n  docs:\n    \
                 url: https://docs.example.com/mcp\n    headers:\n      Authorization: Bearer ${DOCS}\n\n\
                 listen: 9000 # port\n";
    assert_eq!(text(&folder, "dragoman.yaml"), after);
    assert_eq!(text(&folder, "dragoman.yaml.bak"), before);
    assert_eq!(added.json()["backup"], "dragoman.yaml.bak");
    assert_eq!(added.json()["unset"], serde_json::json!(["DOCS"]));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    let removed = in_folder(&folder, &["remove", "docs"], "").await;
    assert_eq!(removed.code, Some(0), "{removed:?}");
    assert_eq!(text(&folder, "dragoman.yaml"), before);
    assert_eq!(text(&folder, "dragoman.yaml.bak"), after);
    assert_eq!(names(&folder.0), ["dragoman.yaml", "dragoman.yaml.bak"]);
}

#[tokio::test]
async fn variables_stand_for_secrets() {
    let folder = Folder::new();
    let args = ["add", "hub", "-e", "GITHUB_TOKEN", "-e", "MODE=fast", "--", "npx", "-y", "hub"];
    let added = in_folder(&folder, &args, "").await;
    assert!(added.err.contains("set GITHUB_TOKEN where Dragoman starts"), "{added:?}");
    let want = "    env:\n      GITHUB_TOKEN: ${GITHUB_TOKEN}\n      MODE: fast\n";
    assert!(text(&folder, "dragoman.yaml").ends_with(want));
    assert!(!added.err.contains("contains a secret"), "{added:?}");
    let folder = Folder::new();
    let added = in_folder(&folder, &["add", "hub", "-e", "HUB_TOKEN=s3cret", "--", "npx", "hub"], "").await;
    assert!(added.err.contains("line 6 of the file contains a secret"), "{added:?}");
    assert!(!added.text().contains("s3cret") && !added.err.contains("s3cret"), "{added:?}");
    let mode = fs::metadata(folder.0.join("dragoman.yaml")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
}

/// The file is often edited where the gateway does not run.
#[tokio::test]
async fn variables_need_no_value_here() {
    for (text, unset) in [
        ("mcpServers: { a: { url: '${NOBODYS_URL}' } }\n", &["NOBODYS_URL"][..]),
        (
            "mcpServers: { a: { url: '${NOBODYS_URL}/mcp?key=${NOBODYS_KEY}' } }\n",
            &["NOBODYS_KEY", "NOBODYS_URL"],
        ),
        ("mcpServers: { a: { url: '${NOBODYS_URL:-http://127.0.0.1:9/mcp}' } }\n", &[]),
        ("mcpServers: { a: { url: '${file:nobodys.txt}' } }\n", &[]),
        ("listen: '${NOBODYS_ADDRESS:-127.0.0.1:9000}'\nmcpServers: { a: { command: x } }\n", &[]),
        ("definitions: '${env:NOBODYS_WORD}'\nmcpServers: { a: { command: x } }\n", &["NOBODYS_WORD"]),
        (
            "limits: { callTimeout: '${NOBODYS_TIME}' }\nmcpServers: { a: { command: x } }\n",
            &["NOBODYS_TIME"],
        ),
    ] {
        let folder = Folder::new().with("dragoman.yaml", text);
        let added = in_folder(&folder, &["add", "b", "--json", "--", "y"], "").await;
        assert_eq!(added.code, Some(0), "{text}: {added:?}");
        assert_eq!(added.json()["unset"], serde_json::json!(unset), "{text}");
        let removed = in_folder(&folder, &["remove", "b"], "").await;
        assert_eq!(removed.code, Some(0), "{text}: {removed:?}");
    }
    let text = "listen: nowhere\nmcpServers: { a: { url: '${NOBODYS_URL}' } }\n";
    let folder = Folder::new().with("dragoman.yaml", text);
    let refused = in_folder(&folder, &["add", "b", "--", "y"], "").await;
    assert!(refused.code == Some(2) && refused.err.contains("nowhere"), "{refused:?}");
    let folder = Folder::new();
    let added = in_folder(&folder, &["add", "docs", "${NOBODYS_URL}"], "").await;
    assert!(added.code == Some(0) && !added.err.contains("no profile"), "{added:?}");
}

#[tokio::test]
async fn only_added_lines_are_reported_as_added() {
    let before = "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"x\" }\n  }\n}\n";
    let folder = Folder::new().with("dragoman.json", before);
    let added = in_folder(&folder, &["add", "b", "--json", "--config", "dragoman.json", "--", "y"], "").await;
    let lines = added.json()["lines"].clone();
    let want = ["    \"a\": { \"command\": \"x\" },", "    \"b\": {", "      \"command\": \"y\"", "    }"];
    assert_eq!(lines, serde_json::json!(want), "{added:?}");
}

#[tokio::test]
async fn symbolic_links_stay_and_their_targets_change() {
    let folder = Folder::new().with("elsewhere/real.yaml", "mcpServers: { a: { native: demo } }\n");
    std::os::unix::fs::symlink("elsewhere/real.yaml", folder.0.join("dragoman.yaml")).unwrap();
    let added = in_folder(&folder, &["add", "b", "http://127.0.0.1:9/mcp"], "").await;
    assert_eq!(added.code, Some(0), "{added:?}");
    assert!(fs::symlink_metadata(folder.0.join("dragoman.yaml")).unwrap().is_symlink());
    assert_eq!(
        text(&folder, "elsewhere/real.yaml"),
        "mcpServers: { a: { native: demo }, b: { url: http://127.0.0.1:9/mcp } }\n"
    );
}

#[tokio::test]
async fn nothing_is_written_if_something_is_wrong() {
    let valid = "mcpServers: { a: { command: x }, b: { command: y } }\nprofiles: { default: { servers: [a] } }\naccess:\n  - { deny: ['*'], servers: [a] }\n";
    for (before, args, says) in [
        (valid, &["add", "a", "--", "z"][..], "already has a server \"a\""),
        (valid, &["add", "no good", "--", "z"], "no good"),
        (valid, &["add", "c", "127.0.0.1:8808/mcp"], "write the scheme: http://127.0.0.1:8808/mcp"),
        (valid, &["add", "c", "ftp://h/"], "ftp"),
        (valid, &["add", "c", "-p", "none", "--", "z"], "no profile \"none\""),
        (valid, &["add", "c"], "needs a URL, a bundle or a command"),
        (valid, &["remove", "c"], "the file has no server \"c\""),
        (valid, &["remove", "a"], "Nothing was changed"),
        ("mcpServers: {", &["add", "c", "--", "z"], "not valid YAML"),
        ("mcpServers: { a: { comand: x } }", &["add", "c", "--", "z"], "did you mean `command`?"),
        (
            "x-a: &a { a: { command: x } }\nmcpServers: *a\n",
            &["add", "c", "--", "z"],
            "edit the file by hand",
        ),
    ] {
        let folder = Folder::new().with("dragoman.yaml", before);
        let run = in_folder(&folder, args, "").await;
        assert_eq!(run.code, Some(2), "{args:?}: {run:?}");
        assert!(run.err.contains(says), "{args:?}: {run:?}");
        assert_eq!(text(&folder, "dragoman.yaml"), before, "{args:?}");
        assert_eq!(names(&folder.0), ["dragoman.yaml"], "{args:?}");
    }
    let folder = Folder::new();
    let run = in_folder(&folder, &["remove", "a"], "").await;
    assert_eq!((run.code, names(&folder.0).len()), (Some(2), 0), "{run:?}");
    let dry = in_folder(&folder, &["add", "c", "--dry-run", "--", "z"], "").await;
    assert!(dry.code == Some(0) && dry.text().contains("+     command: z"), "{dry:?}");
    assert_eq!(names(&folder.0).len(), 0);
}

#[tokio::test]
async fn profiles_follow() {
    let before = "mcpServers: { a: { native: demo }, b: { command: y } }\nprofiles:\n  default: { servers: [a, b] } # two\n";
    let folder = Folder::new().with("dragoman.yaml", before);
    let added = in_folder(&folder, &["add", "c", "--", "z"], "").await;
    assert!(added.err.contains("no profile contains c"), "{added:?}");
    in_folder(&folder, &["remove", "c"], "").await;
    let added = in_folder(&folder, &["add", "c", "-p", "default", "--", "z"], "").await;
    assert!(added.code == Some(0) && !added.err.contains("no profile"), "{added:?}");
    assert!(text(&folder, "dragoman.yaml").ends_with("default: { servers: [a, b, c] } # two\n"));
    let removed = in_folder(&folder, &["remove", "b"], "").await;
    assert!(removed.err.contains("It was also removed from these profiles: default."), "{removed:?}");
    assert!(text(&folder, "dragoman.yaml").ends_with("default: { servers: [a, c] } # two\n"));
}

#[tokio::test]
async fn json_files_of_clients_can_be_edited() {
    let before = "{\n  // mine\n  \"mcpServers\": {\n    \"a\": { \"command\": \"x\" } // one\n  }\n}\n";
    let folder = Folder::new().with("mcp.json", before);
    let added = in_folder(&folder, &["add", "b", "--config", "mcp.json", "--", "uvx", "b"], "").await;
    assert!(added.err.contains("dragoman list b --config mcp.json"), "{added:?}");
    assert_eq!(
        text(&folder, "mcp.json"),
        "{\n  // mine\n  \"mcpServers\": {\n    \"a\": { \"command\": \"x\" }, // one\n    \"b\": {\n      \
         \"command\": \"uvx\",\n      \"args\": [\"b\"]\n    }\n  }\n}\n"
    );
}

#[tokio::test]
async fn one_command_at_a_time_edits_a_folder() {
    let folder = Folder::new();
    let lock = fs::File::open(&folder.0).unwrap();
    lock.lock().unwrap();
    let busy = in_folder(&folder, &["add", "c", "--", "z"], "").await;
    assert!(
        busy.code == Some(1) && busy.err.contains("another command is changing dragoman.yaml"),
        "{busy:?}"
    );
    lock.unlock().unwrap();
    let added = in_folder(&folder, &["add", "c", "--", "z"], "").await;
    assert_eq!(added.code, Some(0), "{added:?}");
}
