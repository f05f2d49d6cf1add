//! Configurations that are accepted, and their results.

use std::time::Duration;

use dragoman_config::{
    Affinity, Config, DEFAULT_LISTEN, DefinitionPolicy, HttpTransport, Limits, Link, Naming, Native, Profile,
    QuestionPolicy, Text, key_tables,
};

use crate::{loaded, notes_in_short, rendered, same, try_load};

const EXAMPLE: &str = r#"
# dragoman.yaml
listen: 127.0.0.1:8808
mcpServers:
  files:  { command: npx, args: [-y, "@modelcontextprotocol/server-filesystem", "."] }
  docs:   { url: https://docs.example.com/mcp, headers: { Authorization: "Bearer ${SECRET}" } }
  old:    { type: sse, url: http://127.0.0.1:9000/sse }
  tries:  { native: demo }
profiles:
  default: { servers: [files, docs] }
  editors: { servers: [tries, docs], tools: { allow: ["tries__*"], rename: { tries__hello: greet }, schemas: portable } }
endpoints:
  - { path: /wp-json/buddyboss-mcp/v1/mcp, profile: editors }
"#;

#[test]
fn the_example_says_what_it_seems_to_say() {
    let loaded = loaded(EXAMPLE);
    assert_eq!(loaded.notes, []);
    let config = loaded.config;
    assert_eq!(config.listen, [DEFAULT_LISTEN]);
    assert_eq!(config.mcp_servers.keys().collect::<Vec<_>>(), ["files", "docs", "old", "tries"]);
    let Link::Stdio(files) = &config.mcp_servers["files"].link else { panic!("files is a command") };
    assert_eq!(files.command.expose(), "npx");
    let args: Vec<&str> = files.args.iter().map(Text::expose).collect();
    assert_eq!(args, ["-y", "@modelcontextprotocol/server-filesystem", "."]);
    let Link::Http(docs) = &config.mcp_servers["docs"].link else { panic!("docs is a URL") };
    assert_eq!((docs.url.expose(), docs.transport), ("https://docs.example.com/mcp", HttpTransport::Auto));
    assert_eq!(docs.headers["authorization"].expose(), "Bearer hush");
    let Link::Http(old) = &config.mcp_servers["old"].link else { panic!("old is a URL") };
    assert_eq!(old.transport, HttpTransport::Sse);
    let Link::Native(tries) = &config.mcp_servers["tries"].link else { panic!("tries is native") };
    assert_eq!(tries.native, Native::Demo);
    assert_eq!(config.profiles.keys().collect::<Vec<_>>(), ["default", "editors"]);
    assert_eq!(config.profiles["default"].servers, ["files", "docs"]);
    let rules = &config.profiles["editors"].tools;
    assert_eq!(rules.schemas, dragoman_config::SchemaForm::Portable);
    assert_eq!(config.profiles["default"].tools.schemas, dragoman_config::SchemaForm::AsReceived);
    let tools = rules.names();
    let admits = |name: &str| tools.admits(name, name);
    assert!(admits("tries__echo") && !admits("docs__echo"));
    assert_eq!(tools.shown_name("tries__hello"), "greet");
    assert_eq!(tools.shown_name("tries__echo"), "tries__echo");
    assert_eq!(config.endpoints[0].profile, "editors");
    assert_eq!(config.limits, Limits::default());
}

#[test]
fn nothing_that_is_secret_is_debugged() {
    let text = r#"
mcpServers:
  a: { url: "https://h/${SECRET}?key=hush", headers: { X-Key: "hush ${SECRET}" }, description: "${SECRET}" }
  b: { command: "${SECRET}", args: ["${SECRET}"], env: { KEY: hush }, cwd: "/${SECRET}" }
profiles: { default: { title: "${SECRET}", instructions: "${SECRET}" } }
"#;
    let shown = format!("{:?}", loaded(text));
    assert!(!shown.contains("hush"), "{shown}");
    assert!(shown.contains("https://h/${SECRET}?***"), "{shown}");
    assert!(shown.contains("***${SECRET}"), "{shown}");
}

#[test]
fn without_profiles_all_servers_are_served_in_file_order() {
    let config =
        loaded("mcpServers: { z: { native: demo }, a: { native: demo }, m: { native: demo } }").config;
    let all = Profile { servers: vec!["z".into(), "a".into(), "m".into()], ..Profile::default() };
    assert_eq!(config.profiles.into_iter().collect::<Vec<_>>(), [("default".to_owned(), all)]);
}

#[test]
fn a_profile_of_ones_own_leaves_the_default_as_it_is() {
    let text = "mcpServers: { z: { native: demo }, a: { native: demo } }\nprofiles: { one: { servers: a, names: plain } }";
    let profiles = loaded(text).config.profiles;
    assert_eq!((&profiles["one"].servers[..], profiles["one"].names), (&["a".to_owned()][..], Naming::Plain));
    assert_eq!(profiles["default"].servers, ["z", "a"]);
    let text =
        "mcpServers: { z: { native: demo }, a: { native: demo } }\nprofiles: { default: { names: plain } }";
    assert_eq!(loaded(text).config.profiles["default"].servers, ["z", "a"]);
}

#[test]
fn an_empty_file_is_a_configuration_without_servers() {
    for text in ["", "\n\n# nothing\n", "---\n", "\u{feff}", "{}", "// nothing\n{ /* at all */ }", "~"] {
        let loaded = loaded(text);
        assert_eq!(loaded.config, Config::default(), "{text:?}");
        assert_eq!(loaded.notes[0].message, "there are no servers, so there is nothing to serve", "{text:?}");
    }
}

#[test]
fn keys_without_values_count_as_left_out() {
    let text = "listen:\nmcpServers:\n  a: { command: x, args: , env: null, cwd: ~, timeout: }\nprofiles:\nendpoints:\n\
                limits: { line: }\nallowedHosts:\n";
    let config = loaded(text).config;
    assert_eq!(config.listen, [DEFAULT_LISTEN]);
    assert_eq!(config.profiles["default"].servers, ["a"]);
    assert_eq!(config.limits, Limits::default());
}

#[test]
fn addresses_are_read_in_all_their_forms() {
    let cases: &[(&str, &[&str])] = &[
        ("8080", &["127.0.0.1:8080"]),
        ("'8080'", &["127.0.0.1:8080"]),
        ("localhost:80", &["127.0.0.1:80"]),
        ("0.0.0.0:0", &["0.0.0.0:0"]),
        ("'[::1]:80'", &["[::1]:80"]),
        ("['127.0.0.1:1', '[::1]:1', 2]", &["127.0.0.1:1", "[::1]:1", "127.0.0.1:2"]),
        ("['127.0.0.1:0', '127.0.0.1:0']", &["127.0.0.1:0", "127.0.0.1:0"]),
        ("'${ADDRESS}:80'", &["192.0.2.7:80"]),
    ];
    for (written, wanted) in cases {
        let listen = loaded(&format!("mcpServers: {{}}\nlisten: {written}")).config.listen;
        let have: Vec<String> = listen.iter().map(ToString::to_string).collect();
        assert_eq!(&have, wanted, "{written}");
    }
}

#[test]
fn every_kind_of_value_may_be_filled_in() {
    let text = r#"
mcpServers:
  a: { command: x, args: ["${NUMBER}", "${file:/run/secrets/token}", "$${NUMBER}", "${NONE:-}"], timeout: "${NUMBER}s" }
  b: { command: x, disabled: "${YES}" }
limits: { batch: "${NUMBER}", requestBody: "${NUMBER} MiB", callTimeout: "${NUMBER}" }
allowedHosts: "${ADDRESS}"
"#;
    let config = loaded(text).config;
    let Link::Stdio(a) = &config.mcp_servers["a"].link else { panic!("a is a command") };
    let args: Vec<&str> = a.args.iter().map(Text::expose).collect();
    assert_eq!(args, ["7", "from a file", "${NUMBER}", ""]);
    assert_eq!(config.mcp_servers["a"].timeout, Some(Duration::from_secs(7)));
    assert!(config.mcp_servers["b"].disabled);
    assert_eq!((config.limits.batch, config.limits.request_body), (7, 7 << 20));
    assert_eq!(config.allowed_hosts, ["192.0.2.7"]);
}

#[test]
fn what_is_filled_in_never_becomes_structure() {
    let env = |_: &str| Some("x }, b: { native: demo\n# ".to_owned());
    let file = |_: &str| Err("no".to_owned());
    let lookup = dragoman_config::Lookup { env: &env, file: &file };
    let text = "mcpServers: { a: { command: \"${X}\" } }";
    let config = dragoman_config::load(text, "f", &lookup).expect("sound").config;
    assert_eq!(config.mcp_servers.len(), 1);
    let Link::Stdio(a) = &config.mcp_servers["a"].link else { panic!("a is a command") };
    assert_eq!(a.command.expose(), "x }, b: { native: demo\n# ");
}

#[test]
fn scalars_keep_their_spelling() {
    let text = "mcpServers: { a: { command: x, args: [1.10, 0x1F, yes, 1e3, 007], env: { A: true, B: 1.10, C: '' } } }";
    let config = loaded(text).config;
    let Link::Stdio(a) = &config.mcp_servers["a"].link else { panic!("a is a command") };
    let args: Vec<&str> = a.args.iter().map(Text::expose).collect();
    assert_eq!(args, ["1.10", "0x1F", "yes", "1e3", "007"]);
    let env: Vec<(&str, &str)> = a.env.iter().map(|(name, value)| (name.as_str(), value.expose())).collect();
    assert_eq!(env, [("A", "true"), ("B", "1.10"), ("C", "")]);
}

#[test]
fn limits_are_read_and_give_way_to_each_other() {
    let text = "mcpServers: {}\nlimits: { line: 1 MB, sessionIdle: 90, drainTimeout: 0, callTimeout: 30s, children: 0 }";
    let limits = loaded(text).config.limits;
    assert_eq!((limits.line, limits.children), (1 << 20, 0));
    assert_eq!((limits.session_idle, limits.drain_timeout), (Duration::from_secs(90), Duration::ZERO));
    assert_eq!(
        (limits.call_idle_timeout, limits.call_timeout),
        (Duration::from_secs(30), Duration::from_secs(30))
    );
    let limits = loaded("mcpServers: {}\nlimits: { callIdleTimeout: 20m }").config.limits;
    assert_eq!(limits.call_timeout, Duration::from_mins(20));
}

#[test]
fn every_limit_takes_its_bounds_and_nothing_beyond() {
    let tables = key_tables();
    let (_, rows) = tables.iter().find(|(name, _)| *name == "limits").expect("there is a table of limits");
    assert!(rows.len() > 30);
    for row in rows {
        let (least, most) = row.bounds.as_ref().expect("a limit has bounds");
        // A default without quotes describes a value that depends on the machine.
        let default = row.default.strip_prefix('`').and_then(|default| default.strip_suffix('`'));
        for value in [least.as_str(), most.as_str()].into_iter().chain(default) {
            loaded(&format!("mcpServers: {{}}\nlimits: {{ {}: {value} }}", row.key));
        }
        let (number, unit) = most.split_at(most.find(char::is_alphabetic).unwrap_or(most.len()));
        let beyond = number.parse::<u64>().expect("a number") + 1;
        let text = format!("mcpServers: {{}}\nlimits: {{ {}: {beyond}{unit} }}", row.key);
        assert!(rendered(&text).contains("is out of range"), "{text}");
    }
}

#[test]
fn anchors_aliases_and_merges_are_followed() {
    let text = r"
x-common: &common { env: { A: '1' }, timeout: 5s }
mcpServers:
  a: { <<: *common, command: x }
  b: { command: y, timeout: 9s, <<: [*common, { cwd: / }] }
";
    let servers = loaded(text).config.mcp_servers;
    let Link::Stdio(b) = &servers["b"].link else { panic!("b is a command") };
    assert_eq!((b.env["A"].expose(), b.cwd.as_ref().map(Text::expose)), ("1", Some("/")));
    assert_eq!(servers["a"].timeout, Some(Duration::from_secs(5)));
    assert_eq!(servers["b"].timeout, Some(Duration::from_secs(9)));
}

#[test]
fn the_former_affinity_is_read_with_a_note() {
    let text = "mcpServers: { a: { command: x, affinity: auto, asks: never, dedicatedConnections: 2 } }";
    let a = &loaded(text).config.mcp_servers["a"];
    assert_eq!(
        (a.affinity, a.asks, a.dedicated_connections),
        (Affinity::Shared, QuestionPolicy::Never, Some(2))
    );
    let note = "1:42 mcpServers.a.affinity [auto] `affinity: auto` is read as `affinity: shared` => write `shared`, or \
                remove the key";
    same(text, &notes_in_short(text), &[note]);
}

#[test]
fn a_disabled_server_may_lack_values() {
    let text = "mcpServers: { a: { url: 'https://${NONE}/', disabled: true }, b: { native: demo, affinity: session } }\n\
                profiles: { one: { servers: [a, b] } }";
    let loaded = loaded(text);
    assert_eq!(loaded.config.profiles["one"].servers, ["b"]);
    assert_eq!(loaded.config.mcp_servers["b"].affinity, Affinity::Session);
    let mend = "set NONE before Dragoman starts, or give a value: ${NONE:-value}";
    let note =
        format!("1:34 mcpServers.a.url [${{NONE}}] the environment variable `NONE` is not set => {mend}");
    same(text, &notes_in_short(text), &[&note]);
    assert!(try_load(&text.replace("true", "false")).is_err());
}

#[test]
fn hosts_and_origins_are_kept_as_browsers_write_them() {
    let text = "mcpServers: {}\nallowedHosts: [MCP.Example.com, 'h:8443', '[2001:db8::7]:1']\n\
                allowedOrigins: ['HTTPS://App.example.com/', 'http://localhost:3000', 'vscode-webview://abc']";
    let config = loaded(text).config;
    assert_eq!(config.allowed_hosts, ["mcp.example.com", "h:8443", "[2001:db8::7]:1"]);
    assert_eq!(
        config.allowed_origins,
        ["https://app.example.com", "http://localhost:3000", "vscode-webview://abc"]
    );
}

#[test]
fn a_server_has_its_own_rule_for_changed_definitions_or_that_of_all() {
    let text = "definitions: hold\nmcpServers: { a: { command: x }, b: { command: x, definitions: allow }, c: { native: demo } }";
    let config = loaded(text).config;
    assert_eq!(config.definitions, DefinitionPolicy::Hold);
    let own = |name: &str| config.mcp_servers[name].definitions;
    assert_eq!([own("a"), own("b"), own("c")], [None, Some(DefinitionPolicy::Allow), None]);
    assert_eq!(loaded("mcpServers: {}").config.definitions, DefinitionPolicy::Warn);
}

#[test]
fn results_and_calls_of_a_tool_have_limits() {
    let config = loaded(
        "mcpServers: { a: { native: demo, maxResult: 100KiB } }\nprofiles: { x: { tools: { overrides: { a__hello: { timeout: 90, \
         atOnce: 2, cache: { for: 1h } } } } } }\nlimits: { keptResults: 5, keptResultBytes: 1MiB, restLifetime: 30s }\n",
    )
    .config;
    assert_eq!(config.mcp_servers["a"].max_result, Some(100 << 10));
    let own = &config.profiles["x"].tools.overrides["a__hello"];
    assert_eq!((own.timeout, own.at_once), (Some(Duration::from_secs(90)), Some(2)));
    assert_eq!(own.cache.as_ref().map(|cache| cache.keep_for), Some(Duration::from_hours(1)));
    let limits = &config.limits;
    let kept = (limits.kept_results, limits.kept_result_bytes, limits.rest_lifetime.as_secs());
    assert_eq!(kept, (5, 1 << 20, 30));
}
