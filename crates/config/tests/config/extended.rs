//! A file that extends a preset: missing keys keep their values from the preset.

use std::time::Duration;

use dragoman_config::{
    Affinity, Config, Faults, HttpTransport, Link, Loaded, Lookup, Naming, Text, UnknownArguments, load,
    load_over,
};

use crate::in_short;

const PRESET: &str = r"
listen: 127.0.0.1:8000
dialect: kulturarv
mcpServers:
  heritage: { native: heritage }
  tries: { native: demo }
profiles:
  default: { names: plain, dialect: bb, title: Preset, tools: { deny: [x], rename: { a: b } } }
  small: { servers: [tries], names: plain }
endpoints:
  - { path: /sse, dialect: kulturarv, transport: sse }
  - { path: /a }
auth: { keys: true, bearer: preset }
access: [ { deny: 'tries__*' } ]
rateLimits: [ { rate: 60/1m } ]
audit: { arguments: true }
dialects: { mine: { base: bb } }
limits: { batch: 7 }
allowedHosts: [preset.example]
stateFolder: /preset
";

const LOOKUP: Lookup<'_> = Lookup { env: &|_| None, file: &|_| Err(String::new()) };

fn preset() -> Config {
    load(PRESET, "preset", &LOOKUP).expect("the preset is sound").config
}

fn over(text: &str) -> Result<Loaded, Faults> {
    load_over(preset(), text, "dragoman.yaml", &LOOKUP)
}

fn extended(text: &str) -> Config {
    over(text).unwrap_or_else(|faults| panic!("{faults}")).config
}

#[test]
fn a_file_that_says_nothing_changes_nothing() {
    for text in ["", "{}", "# nothing\n", "mcpServers: {}\nprofiles: {}\nauth: {}\nlimits: {}\nlisten:\n"] {
        let loaded = over(text).expect("sound");
        assert_eq!(loaded.config, preset(), "{text:?}");
        assert_eq!(loaded.notes, [], "{text:?}");
    }
}

#[test]
fn servers_join_and_replace_those_of_the_preset() {
    let config = extended("mcpServers: { mine: { native: plain }, tries: { command: x } }");
    assert_eq!(config.mcp_servers.keys().collect::<Vec<_>>(), ["heritage", "tries", "mine"]);
    assert!(matches!(config.mcp_servers["tries"].link, dragoman_config::Link::Stdio(_)));
    assert_eq!(config.profiles["default"].servers, ["heritage", "tries", "mine"], "it had all");
    assert_eq!(config.profiles["small"].servers, ["tries"]);
}

#[test]
fn servers_that_somebody_named_are_all_that_a_profile_has() {
    let base = load(
        "mcpServers: { a: { native: demo } }\nprofiles: { default: { servers: [a] } }\n",
        "preset",
        &LOOKUP,
    );
    let base = base.expect("sound").config;
    let over = load_over(base, "mcpServers: { b: { native: plain } }\n", "dragoman.yaml", &LOOKUP);
    assert_eq!(over.expect("sound").config.profiles["default"].servers, ["a"]);
}

#[test]
fn what_a_server_does_not_say_stays() {
    let base = |text: &str| load(text, "preset", &LOOKUP).expect("sound").config;
    let over = |base: &Config, text: &str| {
        let text = format!("mcpServers: {{ s: {text} }}");
        load_over(base.clone(), &text, "dragoman.yaml", &LOOKUP)
            .map(|loaded| loaded.config.mcp_servers["s"].clone())
    };
    let http = base(
        "mcpServers: { s: { url: 'https://a.example/mcp', type: sse, headers: { a: '1', b: '2' }, timeout: 5s, description: d } }",
    );
    let old = &http.mcp_servers["s"];
    assert_eq!(&over(&http, "{}").unwrap(), old);
    let Link::Http(link) = over(&http, "{ headers: { B: '3', c: '4' }, timeout: 6s }").unwrap().link else {
        panic!("another link")
    };
    let headers: Vec<(&str, &str)> =
        link.headers.iter().map(|(name, value)| (name.as_str(), value.expose())).collect();
    assert_eq!(headers, [("a", "1"), ("b", "3"), ("c", "4")]);
    assert_eq!(link.transport, HttpTransport::Sse);
    let same = over(&http, "{ url: 'https://a.example/mcp', disabled: true }").unwrap();
    assert_eq!((&same.link, same.timeout, same.disabled), (&old.link, old.timeout, true));
    // Headers for one server must not be sent to another.
    let Link::Http(link) = over(&http, "{ url: 'https://b.example/mcp' }").unwrap().link else {
        panic!("another link")
    };
    assert!(link.headers.is_empty() && link.transport == HttpTransport::Auto);
    let stdio =
        base("mcpServers: { s: { command: npx, args: [a], env: { A: '1' }, cwd: /x, affinity: session } }");
    let joined = over(&stdio, "{ args: [b], env: { B: '2' } }").unwrap();
    let Link::Stdio(link) = joined.link else { panic!("another link") };
    assert_eq!(
        (link.command.expose(), link.args[0].expose(), link.cwd.unwrap().expose()),
        ("npx", "b", "/x")
    );
    assert_eq!(link.env.keys().collect::<Vec<_>>(), ["A", "B"]);
    assert_eq!(joined.affinity, Affinity::Session);
    let native = base(
        "mcpServers: { s: { native: wordpress, site: { url: 'https://a.example', username: u, password: p, headers: true }, unknownArguments: ignore } }",
    );
    let Link::Native(link) = over(&native, "{ site: { headers: false, username: v } }").unwrap().link else {
        panic!("another link")
    };
    assert_eq!(link.unknown_arguments, UnknownArguments::Ignore);
    let Link::Native(stricter) = over(&native, "{ unknownArguments: reject }").unwrap().link else {
        panic!("another link")
    };
    assert_eq!(stricter.unknown_arguments, UnknownArguments::Reject);
    let site = link.site.unwrap();
    assert_eq!((site.username.unwrap().expose(), site.headers), ("v", false));
    assert_eq!(site.url.unwrap().expose(), "https://a.example");
    let faults = over(&native, "{ headers: { a: b } }").expect_err("no URL");
    assert_eq!(
        in_short(&faults.faults),
        ["1:20 mcpServers.s.headers [headers] `headers` cannot be combined with `native` => \
             remove it; it has no effect together with `native`"]
    );
}

#[test]
fn what_a_profile_does_not_say_stays() {
    let config = extended(
        "mcpServers: { mine: { native: plain } }\n\
         profiles: { default: { servers: [mine, heritage], tools: { rename: { c: d } } }, new: { servers: [tries] } }",
    );
    let default = &config.profiles["default"];
    assert_eq!(default.servers, ["mine", "heritage"]);
    assert_eq!((default.names, default.dialect.as_deref()), (Naming::Plain, Some("bb")));
    assert_eq!(default.title.as_ref().map(Text::shown), Some("Preset"));
    let names = default.tools.names();
    assert!(!names.admits("x", "x"));
    assert_eq!((names.shown_name("a"), names.shown_name("c")), ("b", "d"));
    assert_eq!(config.profiles["new"].names, Naming::Prefix);
    assert_eq!(config.profiles.keys().collect::<Vec<_>>(), ["default", "small", "new"]);
}

#[test]
fn mappings_are_joined_and_lists_replaced() {
    let config = extended(
        "listen: 1\nauth: { bearer: mine }\naudit: { keep: 1d }\nlimits: { sessions: 5 }\nallowedHosts: [h]\n\
         endpoints: [ { path: /a, profile: small }, { path: /b } ]\nrateLimits: []\naccess: []\n\
         dialects: { other: { base: mine } }\ndialect: other",
    );
    assert_eq!(config.listen.iter().map(ToString::to_string).collect::<Vec<_>>(), ["127.0.0.1:1"]);
    assert!(config.auth.keys);
    assert_eq!(config.auth.bearer.as_ref().map(|bearer| bearer.token.expose()), Some("mine"));
    let audit = config.audit.expect("on");
    assert!(audit.arguments && audit.keep == Duration::from_hours(24));
    assert_eq!((config.limits.batch, config.limits.sessions), (7, 5));
    assert_eq!(config.allowed_hosts, ["h"]);
    let endpoints: Vec<(&str, &str)> =
        config.endpoints.iter().map(|one| (one.path.as_str(), one.profile.as_str())).collect();
    assert_eq!(endpoints, [("/sse", "default"), ("/a", "small"), ("/b", "default")]);
    assert!(config.rate_limits.is_empty() && config.access.is_empty());
    assert_eq!(config.dialects.keys().collect::<Vec<_>>(), ["mine", "other"]);
    assert_eq!(config.dialect.as_deref(), Some("other"));
}

#[test]
fn what_a_preset_switches_on_can_be_switched_off() {
    let config = extended("auth: { keys: false, bearer: { token: '', optional: true } }\naudit: false");
    assert!(!config.auth.asks() && config.audit.is_none());
    let config = extended("mcpServers: { tries: { native: demo, disabled: true } }");
    assert!(config.mcp_servers["tries"].disabled);
}

#[test]
fn names_of_the_preset_are_known_and_faults_have_places_in_the_file() {
    extended("access: [ { deny: '*', servers: heritage, profiles: small } ]");
    let faults =
        over("profiles: { default: { servers: [heritag] } }\nendpoints: [ { path: /x, profile: smal } ]")
            .expect_err("two faults");
    assert_eq!(
        in_short(&faults.faults),
        [
            "1:34 profiles.default.servers[0] [heritag] there is no server `heritag` => did you mean `heritage`?",
            "2:35 endpoints[0].profile [smal] there is no profile `smal` => did you mean `small`?",
        ]
    );
    // The file may conflict with the preset.
    let faults = over("endpoints: [ { path: /message, dialect: bb } ]").expect_err("one fault");
    assert!(in_short(&faults.faults)[0].starts_with("1:1 endpoints ["), "{:?}", in_short(&faults.faults));
}
