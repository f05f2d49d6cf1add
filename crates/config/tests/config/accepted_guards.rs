//! Accepted configurations for access, rates and embedded servers.

use std::time::Duration;

use dragoman_config::Scheme;
use dragoman_config::UnknownArguments;
use dragoman_config::{
    Algorithm, AnnotationHint, Answers, Audit, Effect, EndpointAuth, EndpointTransport, Glob, Jwt, Link,
    Native, NativeLink, RateMethods, RatePer, RequestRate, Source, Text, TrustedProxies, WithoutStore,
};

use dragoman_config::dialect_rows::Dialect;
use serde_json::json;

use crate::{loaded, notes_in_short, same, try_load};

const HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$aHVzaGh1c2g$aHVzaGh1c2hodXNoaHVzaA";

#[test]
fn every_way_to_show_who_one_is() {
    let text = format!(
        r#"
mcpServers: {{}}
auth:
  bearer: "${{SECRET}}"
  keys: true
  users: {{ ann: "{HASH}" }}
  site: {{ url: "https://example.com", capability: edit_posts, cache: 0 }}
  jwt:
    issuer: https://id.example.com
    jwks: http://127.0.0.1:9/jwks
    audience: [a, "https://mcp.example.com/mcp"]
    algorithms: [es256, EdDSA]
    clockSkew: 5s
  oauth: {{ resource: "http://localhost:8808/mcp", requiredScopes: mcp }}
"#
    );
    let auth = loaded(&text).config.auth;
    assert!(auth.asks() && auth.keys);
    assert_eq!(auth.bearer.as_ref().map(|bearer| bearer.token.expose()), Some("hush"));
    assert_eq!(auth.users["ann"].expose(), HASH);
    let site = auth.site.as_ref().expect("there is a site");
    assert_eq!((site.url.expose(), &*site.capability), ("https://example.com", "edit_posts"));
    assert_eq!(site.cache, Duration::ZERO);
    let [Jwt { issuer, jwks, audience, algorithms, clock_skew }] = &auth.jwt[..] else {
        panic!("one issuer")
    };
    assert_eq!(issuer.expose(), "https://id.example.com");
    assert_eq!(jwks.as_ref().map(Text::expose), Some("http://127.0.0.1:9/jwks"));
    assert_eq!(audience.iter().map(Text::expose).collect::<Vec<_>>(), ["a", "https://mcp.example.com/mcp"]);
    assert_eq!(
        (&algorithms[..], *clock_skew),
        (&[Algorithm::Es256, Algorithm::EdDsa][..], Duration::from_secs(5))
    );
    let oauth = auth.oauth.as_ref().expect("there is a resource");
    assert_eq!(
        (&oauth.scopes[..], &oauth.required_scopes[..]),
        (&["mcp".to_owned()][..], &["mcp".to_owned()][..])
    );
    let shown = format!("{auth:?}");
    assert!(!shown.contains("hush") && !shown.contains("aHVzaGh1c2g"), "{shown}");
}

#[test]
fn what_is_left_out_of_authentication_has_defaults() {
    let text = "mcpServers: {}\nauth: { site: { url: 'https://h' }, jwt: [ { issuer: 'https://i' } ], \
                oauth: { resource: 'https://r/mcp' } }";
    let auth = loaded(text).config.auth;
    let site = auth.site.expect("there is a site");
    assert_eq!((&*site.capability, site.cache), ("manage_options", Duration::from_mins(1)));
    assert_eq!(
        (&auth.jwt[0].algorithms[..], auth.jwt[0].clock_skew),
        (&[Algorithm::Rs256, Algorithm::Es256, Algorithm::EdDsa][..], Duration::from_mins(1))
    );
    assert!(auth.jwt[0].audience.is_empty());
}

#[test]
fn a_token_may_be_optional() {
    let with = |bearer: &str| loaded(&format!("mcpServers: {{}}\nauth: {{ bearer: {bearer} }}")).config;
    for empty in [
        "{ token: '', optional: true }",
        "{ token: '${NONE:-}', optional: true }",
        "{ token: '${NONE}', optional: '${YES}' }",
        "{ token: '${EMPTY}', optional: true }",
        "{ optional: true }",
    ] {
        let config = with(empty);
        assert!(!config.auth.asks() && !config.asks_everybody(), "{empty}");
    }
    let config = with("{ token: '${SECRET}', optional: true }");
    assert!(config.auth.asks() && config.asks_everybody());
}

#[test]
fn everybody_is_asked_only_where_no_endpoint_is_open() {
    let with = |endpoints: &str, auth: &str| {
        loaded(&format!("mcpServers: {{}}\nendpoints: {endpoints}\nauth: {auth}")).config.asks_everybody()
    };
    assert!(!with("[]", "{}"));
    assert!(!with("[]", "{ keys: false }"));
    assert!(with("[]", "{ keys: true }"));
    assert!(with("[{ path: /a }, { path: /b, auth: inherit }]", "{ keys: true }"));
    assert!(!with("[{ path: /a }, { path: /b, auth: none }]", "{ keys: true }"));
}

#[test]
fn plain_http_to_a_site_is_worth_a_word() {
    let text = "mcpServers: { a: { native: wordpress, site: { url: 'http://h' } } }\nauth: { site: { url: 'http://h' } }";
    let note = "passwords go to this site over http, where others can read them => write https://, unless you trust the network \
                between Dragoman and the site";
    same(
        text,
        &notes_in_short(text),
        &[&format!("1:39 mcpServers.a.site [site] {note}"), &format!("2:9 auth.site [site] {note}")],
    );
    for host in ["localhost:8080", "127.0.0.9", "[::1]:80", "wp.localhost"] {
        let text = format!("mcpServers: {{}}\nauth: {{ site: {{ url: 'http://{host}/wp' }} }}");
        assert_eq!(notes_in_short(&text), [""; 0], "{host}");
    }
}

#[test]
fn rules_are_read_in_all_their_forms() {
    let text = r"
mcpServers: { docs: { native: demo } }
profiles: { editors: { servers: docs } }
access:
  - { allow: '*' }
  - deny: [a*, b?]
    profiles: editors
    servers: [doc?]
    who: { key: dgm_*, user: [ann, b*], scope: admin, claim: { realm.roles: [editor, 7, true], '/https:~1~1h': x }, ip: ['10.0.0.0/8', '::1'], scheme: [key, token] }
    unless: { user: root }
    when: { arguments: { path: '/tmp/*', /a.b/c: [1, 2] }, annotations: { readOnlyHint: false, destructiveHint: '${YES}' } }
";
    let rules = loaded(text).config.access;
    assert_eq!(rules.len(), 2);
    assert!(rules[0].who.is_none() && rules[0].when.is_empty() && rules[0].effect() == Effect::Allow);
    let rule = &rules[1];
    assert_eq!((rule.effect(), rule.what()[1].as_str()), (Effect::Deny, "b?"));
    assert_eq!(rule.profiles.as_ref().map(Vec::len), Some(1));
    assert_eq!(rule.servers.as_ref().map(|servers| servers[0].as_str()), Some("doc?"));
    let who = rule.who.as_ref().expect("there is somebody");
    assert_eq!((who.key.len(), who.user.len(), who.scope.len(), who.ip.len()), (1, 2, 1, 2));
    assert_eq!(who.scheme, [Scheme::Key, Scheme::Token]);
    let claims: Vec<String> = who.claim.keys().map(ToString::to_string).collect();
    assert_eq!(claims, ["/realm/roles", "/https:~1~1h"]);
    assert_eq!(who.claim[0].iter().map(Glob::as_str).collect::<Vec<_>>(), ["editor", "7", "true"]);
    assert!(rule.unless.is_some());
    let arguments: Vec<String> = rule.when.arguments.keys().map(ToString::to_string).collect();
    assert_eq!(arguments, ["/path", "/a.b/c"]);
    assert!(!rule.when.annotations[&AnnotationHint::ReadOnlyHint]);
    assert!(rule.when.annotations[&AnnotationHint::DestructiveHint]);
}

#[test]
fn rates_are_read_from_variables_too() {
    let text = r"
mcpServers: {}
rateLimits:
  - { rate: 60/1m }
  - { enabled: '${NONE:-false}', per: [ip, tool], methods: all, rate: '${NUMBER}/s', burst: '${NUMBER}', trustForwardedFor: true, profiles: default, withoutStore: refuse }
  - { rate: 5 / 2 h, per: principal, tools: [a*, b] }
";
    let limits = loaded(text).config.rate_limits;
    let plain = &limits[0];
    assert_eq!((plain.rate.count, plain.rate.period, plain.burst), (60, Duration::from_mins(1), 60));
    assert!(plain.enabled && plain.methods == RateMethods::Calls && plain.per == [RatePer::Principal]);
    let other = &limits[1];
    assert_eq!((other.rate.count, other.rate.period, other.burst), (7, Duration::from_secs(1), 7));
    assert!(
        !other.enabled
            && other.trust_forwarded_for == Some(TrustedProxies::Hops(1))
            && other.without_store == WithoutStore::Refuse
            && other.methods == RateMethods::All
    );
    assert_eq!(other.per, [RatePer::Ip, RatePer::Tool]);
    assert_eq!((limits[2].rate.count, limits[2].rate.period), (5, Duration::from_hours(2)));
    assert_eq!(limits[2].tools.as_ref().map(Vec::len), Some(2));
    // An inactive limit may have any number; an active one must not be zero.
    let off = loaded("mcpServers: {}\nrateLimits: [ { enabled: false, rate: 0/1m } ]\n").config.rate_limits;
    assert!(!off[0].enabled && off[0].rate.count == 0);
    assert!(try_load("mcpServers: {}\nrateLimits: [ { rate: 0/1m } ]\n").is_err());
}

#[test]
fn variables_say_yes_and_no_in_common_words() {
    for (word, wanted) in
        [("true", true), ("1", true), ("Yes", true), ("ON", true), ("0", false), ("no", false)]
    {
        let env = |_: &str| Some(word.to_owned());
        let file = |_: &str| Err("no".to_owned());
        let lookup = dragoman_config::Lookup { env: &env, file: &file };
        let text = "mcpServers: {}\nauth: { keys: '${X}' }";
        let config = dragoman_config::load(text, "f", &lookup).expect("sound").config;
        assert_eq!(config.auth.keys, wanted, "{word}");
    }
}

#[test]
fn the_record_of_calls_is_off_unless_wanted() {
    let with = |audit: &str| loaded(&format!("mcpServers: {{}}\naudit: {audit}")).config.audit;
    assert_eq!(with("false"), None);
    assert_eq!(with(""), None);
    assert_eq!(with("true"), Some(Audit::default()));
    assert_eq!(with("{}"), Some(Audit::default()));
    let audit = with("{ file: /var/a.db, arguments: true, redact: [PIN, cvc], keep: 7d }").expect("on");
    assert_eq!((audit.file.expose(), audit.arguments), ("/var/a.db", true));
    assert_eq!(
        (&audit.redact[..], audit.keep),
        (&["pin".to_owned(), "cvc".to_owned()][..], Duration::from_hours(168))
    );
}

#[test]
fn endpoints_say_how_they_behave() {
    let text = r"
mcpServers: {}
dialect: gateway
dialects: { mine: { base: kulturarv, serverName: '7', serverVersion: 1.10, pingSeconds: '${NUMBER}', errorData: { a: [1, 'x', true, null] }, pingEvent: ~ }, yours: { base: mine } }
profiles: { one: { dialect: mine } }
endpoints:
  - { path: /a }
  - { path: /mcp, dialect: bb, transport: both, auth: none }
  - { path: /sse, dialect: yours, transport: sse, message: /message, profile: one }
stateFolder: '/var/lib/${NUMBER}'
keyRing: '/run/keys/${NUMBER}'
";
    let config = loaded(text).config;
    assert_eq!(config.dialect_of("one"), Some("mine"));
    assert_eq!((config.dialect_of("default"), config.dialect_of("nope")), (Some("gateway"), Some("gateway")));
    let [a, mcp, sse] = &config.endpoints[..] else { panic!("three endpoints") };
    assert_eq!((a.dialect.as_deref(), a.transport, a.auth), (None, None, EndpointAuth::Inherit));
    assert_eq!(
        (mcp.dialect.as_deref(), mcp.transport, mcp.auth),
        (Some("bb"), Some(EndpointTransport::Both), EndpointAuth::None)
    );
    assert_eq!((sse.message.as_deref(), &*sse.profile), (Some("/message"), "one"));
    assert_eq!(config.state_folder.as_ref().map(Text::expose), Some("/var/lib/7"));
    assert_eq!(config.key_ring.as_ref().map(Text::expose), Some("/run/keys/7"));
    let (mine, yours) = (&config.dialects["mine"], &config.dialects["yours"]);
    assert_eq!((&*mine.name, &*yours.name), ("mine", "yours"));
    let base = Dialect::base("kulturarv").expect("it is built in");
    for row in [mine, yours] {
        let have = ["serverName", "serverVersion", "pingSeconds", "errorData", "pingEvent"]
            .map(|column| row.get(column));
        let wanted = [json!("7"), json!("1.10"), json!(7), json!({ "a": [1, "x", true, null] }), json!(null)];
        assert_eq!(have, wanted.map(Some));
        assert_eq!(row.get("noId"), base.get("noId"));
    }
    assert_eq!(config.dialect_named("kulturarv"), Some(base));
    assert_eq!(config.dialect_named("mine").as_ref(), Some(mine));
    assert_eq!(config.dialect_named("nobody"), None);
}

#[test]
fn embedded_servers_are_told_their_site_and_sources() {
    let text = r"
mcpServers:
  a: { native: wordpress, site: { url: 'https://h/wp', username: '${NUMBER}', password: '${SECRET}', headers: true, basic: '${YES}', imageKey: '${SECRET}', imageHost: 'http://[::1]:9/1' } }
  b: { native: buddyboss, site: { url: '${EMPTY}', username: '', password: '', imageKey: '', headers: true, privateSites: true, atOnce: 3, rate: 90/1m }, phases: [Core, advanced] }
  c: { native: heritage, sources: { snl: 'http://127.0.0.1:9/snl', arcgis: 'https://h' } }
  d: { native: plain }
  e: { native: plain, unknownArguments: Ignore }
";
    let config = loaded(text).config;
    let native = |name: &str| -> NativeLink {
        let Link::Native(link) = &config.mcp_servers[name].link else { panic!("{name} is embedded") };
        link.clone()
    };
    let a = native("a");
    let site = a.site.as_ref().expect("there is a site");
    assert!(site.headers && site.basic && a.native == Native::WordPress);
    assert_eq!(site.password.as_ref().map(Text::expose), Some("hush"));
    assert!(!format!("{a:?}").contains("hush"));
    let images = [&site.image_key, &site.image_host].map(|text| text.as_ref().map(Text::expose));
    assert_eq!(images, [Some("hush"), Some("http://[::1]:9/1")]);
    assert_eq!((site.private_files, site.private_sites, site.at_once, site.rate), (false, false, 20, None));
    let b = native("b");
    let site = b.site.expect("there is a site");
    assert_eq!((site.private_files, site.private_sites, site.at_once), (false, true, 3));
    assert_eq!((site.image_key, site.image_host), (None, None));
    assert_eq!(site.rate, Some(RequestRate { count: 90, period: Duration::from_mins(1) }));
    assert_eq!((site.url, site.username, site.password), (None, None, None));
    assert_eq!(b.phases, Some(vec!["core".to_owned(), "advanced".to_owned()]));
    let tools = loaded(
        "mcpServers: { a: { native: wordpress, phases: [extended, discover], site: { url: 'https://h', answers: plain, \
         readOnly: true, requests: { allow: '/wc/v3/*', write: '${YES}' } } } }",
    );
    let Link::Native(link) = &tools.config.mcp_servers["a"].link else { panic!("it is embedded") };
    let site = link.site.as_ref().expect("there is a site");
    assert_eq!((site.answers, site.read_only, site.requests.write), (Answers::Plain, true, true));
    assert_eq!(site.requests.allow, ["/wc/v3/*"]);
    let c = native("c");
    assert_eq!(c.sources[&Source::Snl].expose(), "http://127.0.0.1:9/snl");
    assert_eq!((c.sources.len(), c.phases), (2, None));
    assert_eq!((native("d").native, native("d").site), (Native::Plain, None));
    let unknown = ["a", "d", "e"].map(|name| native(name).unknown_arguments);
    assert_eq!(unknown, [UnknownArguments::Reject, UnknownArguments::Reject, UnknownArguments::Ignore]);
}

#[test]
fn where_metrics_are_served_and_for_whom() {
    let with = |metrics: &str| loaded(&format!("mcpServers: {{}}\nmetrics: {metrics}")).config.metrics;
    assert_eq!((with("false"), loaded("mcpServers: {}").config.metrics), (None, None));
    let metrics = with("true").expect("on");
    assert_eq!((metrics.listen, metrics.who, metrics.series), (None, None, 2000));
    let metrics = with("{ listen: 9464, series: 100 }").expect("on");
    assert_eq!(metrics.listen, Some("127.0.0.1:9464".parse().expect("an address")));
    assert_eq!(metrics.series, 100);
    let who = with("{ who: { key: scraper } }").expect("on").who.expect("somebody");
    assert!(who.key[0].matches("scraper"));
}

#[test]
fn who_may_manage_and_how_often() {
    let with =
        |management: &str| loaded(&format!("mcpServers: {{}}\nmanagement: {management}")).config.management;
    assert_eq!(with("false"), None);
    assert_eq!(loaded("mcpServers: {}").config.management, None);
    let management = with("true").expect("on");
    assert!(management.who.is_none());
    assert_eq!((management.rate.count, management.rate.period), (100, Duration::from_mins(1)));
    let management = with("{ who: { key: [admin] }, rate: 5/s }").expect("on");
    assert_eq!((management.rate.count, management.rate.period), (5, Duration::from_secs(1)));
    let who = management.who.expect("somebody");
    assert!(who.key[0].matches("admin") && !who.key[0].matches("other"));
}
