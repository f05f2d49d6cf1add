use super::*;
use serde_json::json;

fn host() -> Host {
    Host { folder: "/b".to_owned(), home: "/u/ann".to_owned(), platform: "linux" }
}

fn manifest(server: &Value, settings: &Value) -> Manifest {
    let all = json!({ "manifest_version": "0.3", "name": "x", "version": "1", "server": server, "user_config": settings });
    Manifest::parse(all.to_string().as_bytes()).unwrap()
}

fn node(command: &Value, settings: &Value) -> Manifest {
    manifest(&json!({ "type": "node", "entry_point": "server/index.js", "mcp_config": command }), settings)
}

fn values(given: &[(&str, &[&str])]) -> SettingValues {
    given
        .iter()
        .map(|(name, all)| ((*name).to_owned(), all.iter().map(|one| (*one).to_owned()).collect()))
        .collect()
}

#[test]
fn variables_are_filled_in_and_lists_are_spread() {
    let command = json!({
        "command": "node",
        "args": ["${__dirname}/server/index.js", "${user_config.folders}", "--max=${user_config.max}", "${user_config.none}"],
        "env": { "KEY": "${user_config.key}", "NONE": "${user_config.none}", "DOCS": "${DOCUMENTS}${/}x", "ODD": "${odd}" }
    });
    let settings = json!({
        "folders": { "type": "directory", "multiple": true, "default": ["${HOME}/a"] },
        "max": { "type": "number", "default": 10, "min": 1, "max": 100 },
        "key": { "type": "string", "sensitive": true, "required": true },
        "none": { "type": "string" }
    });
    let manifest = node(&command, &settings);
    let launch =
        manifest.launch(&host(), &values(&[("key", &["${HOME}"]), ("folders", &["/p", "/q"])])).unwrap();
    assert_eq!(launch.program, "node");
    assert_eq!(launch.args, ["/b/server/index.js", "/p", "/q", "--max=10"]);
    let env: Vec<(&str, &str)> =
        launch.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(env, [("DOCS", "/u/ann/Documents/x"), ("KEY", "${HOME}"), ("ODD", "${odd}")]);
    let launch = manifest.launch(&host(), &values(&[("key", &["k"])])).unwrap();
    assert_eq!(launch.args[1], "/u/ann/a");
}

#[test]
fn settings_are_checked() {
    let settings = json!({
        "key": { "type": "string", "title": "API key", "required": true },
        "max": { "type": "number", "max": 5 },
        "on": { "type": "boolean" }
    });
    let manifest = node(&json!({}), &settings);
    let fails = |given: &[(&str, &[&str])]| manifest.launch(&host(), &values(given)).unwrap_err().to_string();
    assert_eq!(fails(&[]), "it needs the setting `key` (API key)");
    assert_eq!(fails(&[("key", &[""])]), "it needs the setting `key` (API key)");
    assert_eq!(
        fails(&[("key", &["k"]), ("kez", &["k"])]),
        "it has no setting `kez`; its settings are: key, max, on"
    );
    assert_eq!(fails(&[("key", &["k"]), ("max", &["6"])]), "the setting `max` must be a number of at most 5");
    assert_eq!(
        fails(&[("key", &["k"]), ("max", &["NaN"])]),
        "the setting `max` must be a number of at most 5"
    );
    assert_eq!(fails(&[("key", &["k"]), ("on", &["yes"])]), "the setting `on` must be true or false");
    assert_eq!(fails(&[("key", &["k", "l"])]), "the setting `key` must be one value, not a list");
}

#[test]
fn a_manifest_without_a_command_runs_its_entry_point() {
    let of = |kind: &str| {
        let manifest = manifest(&json!({ "type": kind, "entry_point": "s/main" }), &json!({}));
        let launch = manifest.launch(&host(), &SettingValues::new()).unwrap();
        [vec![launch.program], launch.args].concat().join(" ")
    };
    assert_eq!(of("node"), "node /b/s/main");
    assert_eq!(of("python"), "python3 /b/s/main");
    assert_eq!(of("binary"), "/b/s/main");
    assert_eq!(of("uv"), "uv run --directory /b /b/s/main");
}

#[test]
fn platforms_change_the_command_or_refuse_it() {
    let command = json!({
        "command": "server/run", "args": ["-a"], "env": { "A": "1", "B": "2" },
        "platform_overrides": { "linux": { "args": ["-l"], "env": { "B": "3" } }, "win32": { "command": "run.exe" } }
    });
    let launch = node(&command, &json!({})).launch(&host(), &SettingValues::new()).unwrap();
    assert_eq!((launch.program.as_str(), launch.args), ("/b/server/run", vec!["-l".to_owned()]));
    assert_eq!((launch.env["A"].as_str(), launch.env["B"].as_str()), ("1", "3"));
    let all = json!({ "name": "x", "version": "1", "server": { "type": "binary", "entry_point": "x" }, "compatibility": { "platforms": ["darwin"] } });
    let manifest = Manifest::parse(all.to_string().as_bytes()).unwrap();
    assert_eq!(
        manifest.launch(&host(), &SettingValues::new()),
        Err(LaunchError::OtherPlatform("darwin".to_owned()))
    );
}

#[test]
fn faulty_manifests_say_what_is_missing() {
    let fails = |text: &str| Manifest::parse(text.as_bytes()).unwrap_err().to_string();
    assert!(fails("{").contains("not JSON"));
    assert_eq!(fails("{}"), "its manifest.json has no valid `server`");
    assert_eq!(fails(r#"{"server":{}}"#), "its manifest.json has no valid `server.type`");
    assert!(fails(r#"{"server":{"type":"java"}}"#).contains("\"java\""));
    assert_eq!(
        fails(r#"{"server":{"type":"node","entry_point":"x"}}"#),
        "its manifest.json has no valid `name`"
    );
}
