//! `dragoman add` with a server of an MCP registry and with bundles: what is shown, asked and written, and that nothing runs before the server is
//! used. The registry is a few canned answers in this process.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::HashMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::run::{Folder, in_folder, program};

/// A registry that answers these paths, and 404 to all others; it ends when dropped.
struct Registry {
    url: String,
    task: JoinHandle<()>,
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn registry(answers: impl FnOnce(&str) -> Vec<(String, Vec<u8>)>) -> Registry {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answers: Arc<HashMap<String, Vec<u8>>> = Arc::new(answers(&url).into_iter().collect());
    let task = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answers = Arc::clone(&answers);
            tokio::spawn(async move {
                let mut stream = BufReader::new(stream);
                let mut first = String::new();
                let _ = stream.read_line(&mut first).await;
                loop {
                    let mut line = String::new();
                    if stream.read_line(&mut line).await.unwrap_or(0) <= 2 {
                        break;
                    }
                }
                let path = first.split(' ').nth(1).unwrap_or_default();
                let (status, body) =
                    answers.get(path).map_or(("404 Not Found", &b"{}"[..]), |body| ("200 OK", body));
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all(head.as_bytes()).await;
                let _ = stream.write_all(body).await;
            });
        }
    });
    Registry { url, task }
}

fn document(packages: &Value, remotes: &Value, status: &str) -> Vec<u8> {
    let server = json!({ "name": "io.example/weather-mcp", "description": "Tells the\u{1b}[31m weather.", "version": "1.2.3",
        "packages": packages, "remotes": remotes });
    let meta = json!({ "io.modelcontextprotocol.registry/official": { "status": status } });
    json!({ "server": server, "_meta": meta }).to_string().into_bytes()
}

const LATEST: &str = "/v0.1/servers/io.example%2Fweather-mcp/versions/latest";
const PINNED: &str = "/v0.1/servers/io.example%2Fweather-mcp/versions/1.2.3";

fn npm() -> Value {
    json!([{ "registryType": "npm", "identifier": "@example/weather", "version": "1.2.3",
        "environmentVariables": [{ "name": "WEATHER_KEY", "description": "The key.", "isRequired": true, "isSecret": true }] }])
}

fn text(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.0.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[tokio::test]
async fn a_server_of_a_registry_is_shown_and_pinned_and_not_run() {
    let remotes = json!([{ "type": "streamable-http", "url": "https://weather.example/mcp" }]);
    let registry = registry(|_| {
        [LATEST, PINNED].map(|path| (path.to_owned(), document(&npm(), &remotes, "deprecated"))).to_vec()
    })
    .await;
    let folder = Folder::new();
    let base = ["--registry", &registry.url];
    let asked = in_folder(&folder, &[&["add", "io.example/weather-mcp"][..], &base].concat(), "").await;
    assert_eq!(asked.code, Some(2), "{asked:?}");
    for shown in [
        "io.example/weather-mcp 1.2.3",
        "npx -y @example/weather@1.2.3",
        "WEATHER_KEY",
        "remote (choose with --from)",
    ] {
        assert!(asked.text().contains(shown), "{shown}: {asked:?}");
    }
    assert!(asked.err.contains("deprecated") && !asked.text().contains('\u{1b}'), "{asked:?}");
    assert!(!folder.0.join("dragoman.yaml").exists());
    let added =
        in_folder(&folder, &[&["add", "io.example/weather-mcp@1.2.3", "--yes"][..], &base].concat(), "")
            .await;
    assert_eq!(added.code, Some(0), "{added:?}");
    let written = text(&folder, "dragoman.yaml");
    assert!(written.contains("weather:") && written.contains("@example/weather@1.2.3"), "{written}");
    assert!(
        written.contains("${WEATHER_KEY}") && added.err.contains("set WEATHER_KEY"),
        "{written} {added:?}"
    );
    let other = ["add", "io.example/weather-mcp", "--from", "remote", "--as", "far", "--yes", "--json"];
    let added = in_folder(&folder, &[&other[..], &base].concat(), "").await;
    assert_eq!(added.json()["server"], "far", "{added:?}");
    assert!(text(&folder, "dragoman.yaml").contains("url: https://weather.example/mcp"));
}

#[tokio::test]
async fn what_a_registry_cannot_offer_is_told_with_a_way_out() {
    let registry = registry(|_| {
        vec![
            (LATEST.to_owned(), document(&json!([]), &json!([]), "active")),
            (PINNED.to_owned(), document(&npm(), &json!([]), "deleted")),
        ]
    })
    .await;
    let folder = Folder::new();
    for (args, wanted) in [
        (["add", "io.example/absent"], "check the name and the version"),
        (["add", "io.example/weather-mcp"], "it has no packages and no address"),
        (["add", "io.example/weather-mcp@1.2.3"], "was deleted"),
        (["add", "weather"], "needs a URL, a bundle or a command"),
    ] {
        let run = in_folder(&folder, &[&args[..], &["--registry", &registry.url]].concat(), "").await;
        assert!(run.code != Some(0) && run.err.contains(wanted), "{wanted}: {run:?}");
    }
    assert!(!folder.0.join("dragoman.yaml").exists());
}

/// A bundle whose server is the fixture; it writes its arguments and settings to the file `seen` in its folder.
fn bundle(path: &Path) {
    let script = format!("#!/bin/sh\necho \"$1 $KEY $PWD\" > seen\nexec {} --stdio\n", program());
    let manifest = json!({
        "manifest_version": "0.3", "name": "weather", "display_name": "Weather", "version": "2.0.0", "description": "Tells the weather.",
        "author": { "name": "x" },
        "server": { "type": "binary", "entry_point": "server/run", "mcp_config": {
            "command": "${__dirname}/server/run", "args": ["${user_config.city}"], "env": { "KEY": "${user_config.api_key}" } } },
        "user_config": {
            "api_key": { "type": "string", "title": "API key", "sensitive": true, "required": true },
            "city": { "type": "string", "title": "City", "default": "Bergen" }
        }
    });
    let mut zip = ZipWriter::new(fs::File::create(path).unwrap());
    for (name, mode, content) in
        [("manifest.json", 0o644, manifest.to_string()), ("server/run", 0o755, script)]
    {
        zip.start_file(name, SimpleFileOptions::default().unix_permissions(mode)).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
}

#[tokio::test]
async fn a_bundle_is_added_with_its_settings_and_runs_with_them() {
    let folder = Folder::new();
    bundle(&folder.0.join("weather.mcpb"));
    let added = in_folder(&folder, &["add", "weather", "weather.mcpb", "--yes"], "").await;
    assert_eq!(added.code, Some(0), "{added:?}");
    assert!(added.text().contains("Weather 2.0.0") && added.text().contains("API key"), "{added:?}");
    let written = text(&folder, "dragoman.yaml");
    assert!(
        written.contains("bundle: weather.mcpb") && written.contains("api_key: ${WEATHER_API_KEY}"),
        "{written}"
    );
    assert!(!folder.0.join(".cache").exists(), "nothing was unpacked");
    let own = written.replace("${WEATHER_API_KEY}", "s3cret-key");
    let folder = folder.with("dragoman.yaml", own);
    let listed = in_folder(&folder, &["list", "weather"], "").await;
    assert_eq!(listed.code, Some(0), "{listed:?}");
    let unpacked =
        fs::read_dir(folder.0.join(".cache/dragoman/bundles")).unwrap().next().unwrap().unwrap().path();
    let seen = fs::read_to_string(unpacked.join("seen")).unwrap();
    assert_eq!(seen.trim(), format!("Bergen s3cret-key {}", unpacked.display()));
}

#[tokio::test]
async fn a_bundle_that_changed_or_lacks_a_setting_does_not_start() {
    let folder = Folder::new();
    bundle(&folder.0.join("weather.mcpb"));
    let sum = bundles_checksum(&folder.0.join("weather.mcpb"));
    let config = |sum: &str, settings: &str| {
        format!("mcpServers:\n  weather: {{ bundle: weather.mcpb, sha256: {sum}, config: {settings} }}\n")
    };
    for (sum, settings, wanted) in [
        ("0".repeat(64).as_str(), "{ api_key: k }", "its checksum is"),
        (sum.as_str(), "{}", "it needs the setting `api_key` (API key)"),
        (sum.as_str(), "{ api_key: k, town: x }", "it has no setting `town`"),
    ] {
        let folder = Folder::new().with("dragoman.yaml", config(sum, settings));
        bundle(&folder.0.join("weather.mcpb"));
        let listed = in_folder(&folder, &["list", "weather"], "").await;
        assert!(listed.code != Some(0) && listed.err.contains(wanted), "{wanted}: {listed:?}");
    }
}

fn bundles_checksum(path: &Path) -> String {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &fs::read(path).unwrap());
    digest.as_ref().iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

#[tokio::test]
async fn a_bundle_of_a_registry_must_have_the_checksum_that_the_registry_names() {
    let source = Folder::new();
    let path = source.0.join("x.mcpb");
    bundle(&path);
    let (bytes, sum) = (fs::read(&path).unwrap(), bundles_checksum(&path));
    for (expected, is_good) in [(sum.clone(), true), ("ab".repeat(32), false)] {
        let registry = registry(|_| {
            // The document needs an address with https, which this registry does not have; so only the refusal can be seen there.
            let packages = json!([{ "registryType": "mcpb", "identifier": "https://127.0.0.1:1/x.mcpb", "fileSha256": expected }]);
            vec![(LATEST.to_owned(), document(&packages, &json!([]), "active")), ("/x.mcpb".to_owned(), bytes.clone())]
        })
        .await;
        let folder = Folder::new();
        let refused =
            in_folder(&folder, &["add", "io.example/weather-mcp", "--yes", "--registry", &registry.url], "")
                .await;
        assert!(refused.code != Some(0) && refused.err.contains("127.0.0.1"), "{refused:?}");
        // By its URL, a bundle is downloaded and pinned.
        let added =
            in_folder(&folder, &["add", "weather", &format!("{}/x.mcpb", registry.url), "--yes"], "").await;
        assert_eq!(added.code, Some(0), "{added:?}");
        let written = text(&folder, "dragoman.yaml");
        assert_eq!(written.contains(&expected), is_good, "{written}");
        assert!(written.contains(&format!("bundle: bundles/weather-{}.mcpb", &sum[..12])), "{written}");
        let declined = Folder::new();
        let run =
            in_folder(&declined, &["add", "weather", &format!("{}/x.mcpb", registry.url), "--dry-run"], "")
                .await;
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(!declined.0.join("bundles").exists() && !declined.0.join("dragoman.yaml").exists());
    }
}
