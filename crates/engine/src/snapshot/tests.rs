//! Numbers of servers and profiles across configurations, and the contents of snapshots.

use super::*;

fn config(text: &str) -> Config {
    let nothing = config::Lookup { env: &|_| None, file: &|_| Err("no files".to_owned()) };
    config::load(text, "test", &nothing).unwrap().config
}

fn snapshot(text: &str) -> Snapshot {
    Snapshot::compile(&config(text), "1.2.3")
}

#[test]
fn paths_lead_to_profiles_and_disabled_servers_are_gone() {
    let s = snapshot(
        "mcpServers:\n  a: { url: 'http://a.example/mcp' }\n  b: { command: x, disabled: true }\n\
         profiles:\n  one: { servers: [a, b], title: 'T' }\nendpoints:\n  - { path: /x/mcp, profile: one }\n",
    );
    let one = s.profile_named("one").unwrap();
    let at = |path| s.at(path).map(|place| place.profile);
    assert_eq!([at("/x/mcp"), at("/mcp/one/"), at("/nope")], [Some(one), Some(one), None]);
    assert!(at("/mcp").is_some());
    assert_eq!(s.profiles[one].upstreams.len(), 1);
    assert_eq!(s.profiles[one].server_info, r#"{"name":"dragoman","title":"T","version":"1.2.3"}"#);
    assert_eq!(&*s.upstream(s.profiles[one].upstreams[0]).unwrap().name, "a");
}

#[test]
fn callers_are_apart_where_they_are_known_and_a_server_may_want_their_consent() {
    let servers = "mcpServers:\n  a: { url: 'http://a.example/mcp' }\n  b: { command: x }\n  c: { native: demo }\n  \
                   d: { url: 'http://a.example/mcp', headers: { Authorization: x } }\n  \
                   e: { url: 'http://a.example/mcp', oauth: { shared: true } }\n\
                   profiles: { one: { servers: [a, b] }, two: { servers: [b, c, d, e] } }\n";
    let known = snapshot(&format!("{servers}auth: {{ keys: true }}\n"));
    let per_caller = |s: &Snapshot| s.upstreams.iter().map(UpstreamSpec::per_caller).collect::<Vec<_>>();
    assert_eq!(per_caller(&known), [true, false, false, false, false]);
    let profile = |name| known.profiles[known.profile_named(name).unwrap()].per_caller;
    assert!(profile("one") && !profile("two"));
    let unknown = snapshot(servers);
    assert_eq!(per_caller(&unknown), [false; 5]);
    // Once callers must authenticate, they no longer use links that were opened before.
    let (old, new) = (config(servers), config(&format!("{servers}auth: {{ keys: true }}\n")));
    let then = unknown.followed_by(&old, &new, "1").unwrap();
    let id = |s: &Snapshot, name: &str| s.upstreams.iter().find(|u| &*u.name == name).unwrap().id;
    assert_ne!(id(&unknown, "a"), id(&then, "a"));
    assert_eq!(id(&unknown, "e"), id(&then, "e"));
}

#[test]
fn what_takes_over_means_the_same_by_the_same_numbers() {
    let old = config(
        "mcpServers:\n  a: { command: a }\n  b: { command: b }\n\
         profiles:\n  one: { servers: [a] }\n  two: { servers: [b] }\n",
    );
    let new = config(
        "mcpServers:\n  c: { command: c }\n  b: { command: b, args: [x] }\n  a: { command: a }\n\
         profiles:\n  three: { servers: [c, b] }\n  one: { servers: [b, a] }\n",
    );
    let first = Snapshot::compile(&old, "1");
    let second = first.followed_by(&old, &new, "1").unwrap();
    let id = |s: &Snapshot, name: &str| s.upstreams.iter().find(|u| &*u.name == name).unwrap().id;
    assert_eq!(id(&first, "a"), id(&second, "a"));
    assert_ne!(id(&first, "b"), id(&second, "b"), "it is another one now");
    assert!(second.upstream(id(&first, "b")).is_none());
    assert!(second.upstreams.is_sorted_by_key(|u| u.id));
    assert_eq!(first.profile_named("one"), second.profile_named("one"));
    assert_eq!(second.profile_named("two"), None);
    let two = first.profile_named("two").unwrap();
    assert!(!second.profiles[two].is_there && second.profiles[two].upstreams.is_empty());
    let three = second.profile_named("three").unwrap();
    assert_eq!(second.at("/mcp/three").unwrap().profile, three);
    assert!(second.at("/mcp/two").is_none());
    assert_eq!(second.profiles[three].upstreams, [id(&second, "c"), id(&second, "b")]);
    assert_eq!(second.regime, first.regime);
    let back = second.followed_by(&new, &old, "1").unwrap();
    assert_eq!(back.profile_named("two"), Some(two));
    let stricter =
        Config { access: Vec::new(), auth: config::Auth { keys: true, ..old.auth.clone() }, ..old.clone() };
    assert!(back.followed_by(&old, &stricter, "1").unwrap().regime > back.regime);
}

#[test]
fn profiles_have_rests_where_results_are_shortened_and_clients_can_read_them() {
    let s = snapshot(
        "mcpServers:\n  a: { command: x, maxResult: 8KiB }\n  b: { command: y }\nprofiles:\n  one: { servers: [a, b] }\n  \
         two: { servers: [b] }\n  three: { servers: [a], dialect: gateway }\n  four: { servers: [a], dialect: gateway }\n\
         endpoints: [{ path: /x, profile: four, dialect: standard }]\n",
    );
    let has = ["one", "two", "three", "four"].map(|name| {
        let profile = &s.profiles[s.profile_named(name).unwrap()];
        profile.rules.has_rests
    });
    assert_eq!(has, [true, false, false, true]);
}
