//! Tests the decisions of given rules, and compares lists with calls for arbitrary rules.

use std::net::IpAddr;
use std::sync::Arc;

use config::{
    AccessRule, AnnotationHint, CallerSelection, Effect, Glob, Lookup, RuleConditions, ValuePath, load,
};
use proptest::prelude::*;
use serde_json::{Value, json};

mod nothing;

use super::*;
use crate::list_kind::ListKind;

const NOTHING: Lookup<'_> = Lookup { env: &|_| None, file: &|_| Err(String::new()) };

fn rules(access: &str) -> Rules {
    let text = format!(
        "mcpServers: {{ docs: {{ native: demo }}, blog: {{ native: demo }} }}\nprofiles: {{ editors: {{}} }}\naccess:\n{access}"
    );
    let loaded = load(&text, "test", &NOTHING).unwrap_or_else(|faults| panic!("{faults}"));
    Rules::compile(&loaded.config.access)
}

fn named(scheme: Scheme, name: &str) -> Principal {
    Principal { user: Some(name.into()), ..Principal::new(&format!("user:{name}"), scheme) }
}

fn asker(principal: &Principal) -> Asker<'_> {
    Asker { principal, address: None }
}

fn tool<'a>(server: &'a str, name: &'a str) -> AccessTarget<'a> {
    AccessTarget::listed("default", server, ListKind::Tools, name)
}

fn may(rules: &Rules, principal: &Principal, target: &AccessTarget<'_>) -> bool {
    let asker = asker(principal);
    let decision = rules.decide(&asker, target);
    assert_eq!(decision, rules.decide_as(&rules.class(&asker), target));
    decision.is_allowed()
}

#[test]
fn without_rules_everything_is_allowed() {
    let rules = Rules::default();
    assert!(rules.is_empty() && may(&rules, &Principal::anyone(), &tool("docs", "docs__read")));
    assert!(rules.opens(&rules.class(&asker(&Principal::anyone())), "default"));
}

#[test]
fn each_rule_has_a_relation_to_the_question() {
    let rules = rules(
        "  - { deny: '*', servers: blog, who: { user: bob } }\n  - { deny: 'docs__*' }\n\
         \x20 - { deny: 'blog__read', when: { arguments: { id: '7' } } }\n  - { deny: 'blog__read' }",
    );
    let ann = named(Scheme::Basic, "ann");
    let target = tool("blog", "blog__read").called(Some(br#"{"id":"8"}"#));
    let (other, applies) = (RuleRelation::OtherArguments, RuleRelation::Applies);
    let expected = [RuleRelation::OtherAsker, RuleRelation::OtherItem, other, applies];
    assert_eq!(rules.relations(&asker(&ann), &target), expected);
}

#[test]
fn what_is_denied_stays_denied_and_the_rest_is_open() {
    let rules = rules("  - { deny: '*delete*' }\n  - { deny: '*', servers: blog, unless: { user: ann } }");
    let (ann, bob) = (named(Scheme::Basic, "ann"), named(Scheme::Basic, "bob"));
    assert!(may(&rules, &bob, &tool("docs", "docs__read")));
    assert!(!may(&rules, &ann, &tool("docs", "docs__delete")));
    assert!(
        may(&rules, &ann, &tool("blog", "blog__read")) && !may(&rules, &bob, &tool("blog", "blog__read"))
    );
    let page = AccessTarget::listed("default", "blog", ListKind::Resources, "blog://1");
    assert!(may(&rules, &ann, &page) && !may(&rules, &bob, &page));
    assert_eq!(
        rules.decide(&asker(&ann), &tool("docs", "docs__delete")),
        Decision::Denied(DenialReason::Rule(0))
    );
}

#[test]
fn one_rule_that_allows_closes_the_rest() {
    let rules = rules("  - { allow: 'docs__*', who: { user: ann } }\n  - { deny: '*secret' }");
    let (ann, bob) = (named(Scheme::Site, "ann"), named(Scheme::Basic, "bob"));
    assert!(may(&rules, &ann, &tool("docs", "docs__read")));
    assert!(
        !may(&rules, &ann, &tool("docs", "docs__secret")) && !may(&rules, &ann, &tool("blog", "blog__read"))
    );
    assert!(!may(&rules, &bob, &tool("docs", "docs__read")));
    assert_eq!(
        rules.decide(&asker(&bob), &tool("docs", "docs__read")),
        Decision::Denied(DenialReason::NotAllowed)
    );
    let opens = |who: &Principal| rules.opens(&rules.class(&asker(who)), "default");
    assert!(opens(&ann) && !opens(&bob));
}

#[test]
fn rules_about_other_servers_open_no_unlisted_one() {
    let opens = |access: &str| {
        let (rules, ann) = (rules(access), named(Scheme::Basic, "ann"));
        let glob = |text: &str| Glob::parse(text).unwrap();
        let (own, others) = (glob("docs__*"), [glob("blog__*")]);
        rules.opens_unlisted_server(&rules.class(&asker(&ann)), ("default", "docs"), &own, &others)
    };
    for access in [
        "  - { allow: '*', who: { user: ann } }",
        "  - { allow: docs__read }",
        "  - { allow: read* }",
        "  []",
    ] {
        assert!(opens(access), "{access}");
    }
    for access in [
        "  - { allow: ['blog__*', blog__read], who: { user: ann } }",
        "  - { allow: '*', servers: blog }",
        "  - { deny: 'docs__*' }",
        "  - { allow: '*', profiles: editors }",
        "  - { allow: '*', who: { user: bob } }",
    ] {
        assert!(!opens(access), "{access}");
    }
}

#[test]
fn a_credential_may_be_good_for_some_profiles_only() {
    let rules = rules("  - { deny: '*', profiles: editors, unless: { user: ann } }");
    let ann = Principal { profiles: Some(Arc::new(["editors".into()])), ..named(Scheme::Basic, "ann") };
    let bob = named(Scheme::Basic, "bob");
    let editors = AccessTarget { profile: "editors", ..tool("docs", "docs__read") };
    assert!(may(&rules, &ann, &editors) && !may(&rules, &bob, &editors));
    assert!(
        !may(&rules, &ann, &tool("docs", "docs__read")) && may(&rules, &bob, &tool("docs", "docs__read"))
    );
    let opens = |who: &Principal, profile| rules.opens(&rules.class(&asker(who)), profile);
    assert_eq!([opens(&ann, "editors"), opens(&ann, "default")], [true, false]);
    assert_eq!([opens(&bob, "editors"), opens(&bob, "default")], [false, true]);
}

#[test]
fn askers_are_known_by_their_marks() {
    let who = |who: &str, principal: &Principal, address: Option<&str>| {
        let rules = rules(&format!("  - {{ deny: '*', who: {who} }}"));
        let asker = Asker { principal, address: address.map(|address| address.parse::<IpAddr>().unwrap()) };
        !rules.decide(&asker, &tool("docs", "x")).is_allowed()
    };
    let key = Principal { user: Some("robot".into()), ..Principal::new("key:dgm_ab12", Scheme::Key) };
    assert!(who("{ key: dgm_ab* }", &key, None) && who("{ key: [x, robot] }", &key, None));
    assert!(!who("{ key: ann }", &named(Scheme::Basic, "ann"), None) && !who("{ user: robot }", &key, None));
    let claims = json!({ "realm": { "roles": ["reader", "editor"] }, "https://h/x": 7, "ok": true, "deep": [{ "a": "x" }] });
    let token = Principal {
        user: Some("ann".into()),
        scopes: Arc::new(["mcp.read".into(), "mcp.write".into()]),
        claims: Some(Arc::new(claims)),
        ..Principal::new("jwt:https://i#1", Scheme::Token)
    };
    for yes in [
        "{ scope: '*.read' }",
        "{ claim: { realm.roles: edit* } }",
        "{ claim: { '/https:~1~1h~1x': 7, ok: true } }",
        "{ claim: { deep.a: x } }",
        "{ claim: { ok: ['no', 'true'] }, scheme: token }",
    ] {
        assert!(who(yes, &token, None), "{yes}");
        assert!(!who(yes, &Principal::anyone(), None), "{yes}");
    }
    for no in [
        "{ scope: mcp }",
        "{ claim: { realm: '*' } }",
        "{ claim: { realm.roles: admin } }",
        "{ claim: { realm.roles: reader, nothing: '*' } }",
        "{ scope: 'mcp.*', scheme: key }",
        "{ user: ann }",
        "{ ip: '0.0.0.0/0' }",
    ] {
        assert!(!who(no, &token, None), "{no}");
    }
    assert!(who("{ ip: ['192.0.2.0/24', '10.0.0.0/8'] }", &key, Some("::ffff:10.1.2.3")));
    assert!(!who("{ ip: '10.0.0.0/8' }", &key, Some("192.0.2.1")));
    assert!(who("{ scheme: [anyone, key] }", &Principal::anyone(), None));
}

#[test]
fn conditions_on_what_servers_say_are_about_tools_alone() {
    let rules =
        rules("  - { deny: '*', when: { annotations: { readOnlyHint: false, destructiveHint: true } } }");
    let anyone = Principal::anyone();
    let with = |tool_text: &str| {
        let target = tool("docs", "x").annotated(Annotations::of_tool(tool_text.as_bytes()));
        may(&rules, &anyone, &target)
    };
    assert!(!with("{}"));
    assert!(with(r#"{"annotations":{"readOnlyHint":true}}"#));
    assert!(with(r#"{"annotations":{"destructiveHint":false}}"#));
    assert!(may(&rules, &anyone, &AccessTarget::listed("default", "docs", ListKind::Prompts, "x")));
}

#[test]
fn calls_are_judged_by_their_arguments_and_lists_by_any() {
    let rules = rules(
        "  - { allow: write, when: { arguments: { path: '/tmp/*' } } }\n\
         \x20 - { allow: read }\n\
         \x20 - { deny: '*', when: { arguments: { path: '*secret*' } } }\n\
         \x20 - { allow: move, when: { arguments: { to: 'x' } } }\n\
         \x20 - { deny: move, when: { arguments: { to: 'x' } } }",
    );
    let anyone = Principal::anyone();
    let listed = |name: &str| may(&rules, &anyone, &tool("docs", name));
    assert!(listed("write") && listed("read") && !listed("move") && !listed("other"));
    let called = |name: &str, arguments: &str| {
        may(&rules, &anyone, &tool("docs", name).called(Some(arguments.as_bytes())))
    };
    assert!(called("write", r#"{"path":"/tmp/x"}"#) && !called("write", r#"{"path":"/etc"}"#));
    assert!(!called("write", "{}") && !called("write", r#"{"path":"/tmp/secret"}"#));
    assert!(called("read", "{}") && !called("read", r#"{"path":"secrets"}"#));
    assert!(may(&rules, &anyone, &tool("docs", "read").called(None)));
    assert!(!called("move", r#"{"to":"x"}"#));
}

fn patterns(letters: &'static str, most: usize) -> impl Strategy<Value = Vec<Glob>> {
    let one =
        proptest::collection::vec(proptest::sample::select(letters.chars().collect::<Vec<_>>()), 1..=most);
    let one = one.prop_map(|chars| Glob::parse(&chars.into_iter().collect::<String>()).unwrap());
    proptest::collection::vec(one, 1..=2)
}

/// Conditions on `a` and `b`, or on `a.b` and `b`. No rule has conditions on both a value and another value inside
/// it.
fn conditions() -> impl Strategy<Value = RuleConditions> {
    let path = |text: &str| ValuePath::parse(text).unwrap();
    let first = (any::<bool>(), patterns("x?*", 3));
    let some = (
        proptest::option::of(first),
        proptest::option::weighted(0.3, patterns("x?*", 1)),
        any::<Option<bool>>(),
    );
    some.prop_map(move |(a, b, read_only)| RuleConditions {
        arguments: a
            .into_iter()
            .map(|(deep, globs)| (path(if deep { "a.b" } else { "a" }), globs))
            .chain(b.map(|globs| (path("b"), globs)))
            .collect(),
        annotations: read_only.into_iter().map(|wanted| (AnnotationHint::ReadOnlyHint, wanted)).collect(),
    })
}

fn who() -> impl Strategy<Value = Option<CallerSelection>> {
    let user = patterns("uv*", 1).prop_map(|user| CallerSelection { user, ..CallerSelection::default() });
    let scope = patterns("st*", 1).prop_map(|scope| CallerSelection { scope, ..CallerSelection::default() });
    proptest::option::of(prop_oneof![user, scope])
}

fn rule_on(effect: Effect, what: Vec<Glob>) -> AccessRule {
    match effect {
        Effect::Allow => AccessRule { allow: Some(what), ..AccessRule::default() },
        Effect::Deny => AccessRule { deny: Some(what), ..AccessRule::default() },
    }
}

prop_compose! {
    fn rule()(
        allow in any::<bool>(),
        what in patterns("tw*", 1),
        profiles in proptest::option::weighted(0.2, patterns("pq*", 1)),
        servers in proptest::option::weighted(0.2, patterns("mn*", 1)),
        who in who(),
        unless in who(),
        when in conditions(),
    ) -> AccessRule {
        let effect = if allow { Effect::Allow } else { Effect::Deny };
        AccessRule { profiles, servers, who, unless, when, ..rule_on(effect, what) }
    }
}

prop_compose! {
    /// A rule on all items, limited only by its conditions on arguments.
    fn conditional(effect: Effect)(mut when in conditions()) -> AccessRule {
        when.annotations.clear();
        let what = vec![Glob::parse("*").unwrap()];
        AccessRule { when, ..rule_on(effect, what) }
    }
}

prop_compose! {
    fn principal()(user in proptest::sample::select(vec!["u", "v"]), scope in proptest::sample::select(vec!["s", "t"]),
                   basic in any::<bool>(), only in proptest::option::weighted(0.2, Just("p"))) -> Principal {
        Principal {
            scopes: Arc::new([scope.into()]),
            profiles: only.map(|only| Arc::new([only.into()]) as Arc<[Box<str>]>),
            ..named(if basic { Scheme::Basic } else { Scheme::Token }, user)
        }
    }
}

/// Every target that the rules of these tests can distinguish, in its listed form.
fn targets() -> Vec<AccessTarget<'static>> {
    let mut all = Vec::new();
    for profile in ["p", "q"] {
        for server in ["m", "n"] {
            for name in ["t", "w"] {
                for read_only in [false, true] {
                    let annotations = Annotations { read_only, ..Annotations::default() };
                    all.push(AccessTarget { profile, ..tool(server, name) }.annotated(annotations));
                }
                all.push(AccessTarget {
                    profile,
                    ..AccessTarget::listed(profile, server, ListKind::Prompts, name)
                });
            }
        }
    }
    all
}

/// All texts of `x` and `y` up to a length. No pattern contains `y`, so it represents every other character.
fn texts(most: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut last = all.clone();
    for _ in 0..most {
        last = last.iter().flat_map(|text| ["x", "y"].map(|char| format!("{text}{char}"))).collect();
        all.extend(last.iter().cloned());
    }
    all
}

/// Every combination of arguments that could make a difference, and some that should not.
fn arguments() -> Vec<Vec<u8>> {
    let long: Vec<Value> = texts(6).into_iter().map(Value::String).collect();
    let deep = long.iter().map(|text| json!({ "b": text }));
    let odd = [json!({}), json!([]), json!(7), json!(["x", "y"]), json!([{ "b": "x" }, { "b": "y" }])];
    let of_a: Vec<Option<Value>> =
        std::iter::once(None).chain(long.iter().cloned().chain(deep).chain(odd).map(Some)).collect();
    let of_b = [None, Some(json!("")), Some(json!("x")), Some(json!("y")), Some(json!("xx"))];
    let mut all = Vec::new();
    for a in &of_a {
        for b in &of_b {
            let members = a
                .iter()
                .map(|a| ("a".to_owned(), a.clone()))
                .chain(b.iter().map(|b| ("b".to_owned(), b.clone())));
            all.push(Value::Object(members.collect()).to_string().into_bytes());
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_list_shows_exactly_what_some_call_may_reach(
        rules in proptest::collection::vec(rule(), 0..5), principal in principal(),
    ) {
        let rules = Rules::compile(&rules);
        let arguments = arguments();
        let asker = asker(&principal);
        for target in targets() {
            let listed = rules.decide(&asker, &target).is_allowed();
            let may = |arguments: &Vec<u8>| rules.decide(&asker, &target.called(Some(arguments))).is_allowed();
            let reached = rules.decide(&asker, &target.called(None)).is_allowed() || arguments.iter().any(may);
            prop_assert_eq!(listed, reached, "{:?}", target);
        }
    }

    #[test]
    fn a_list_knows_which_arguments_are_left_when_rules_speak_of_the_same(
        allow in conditional(Effect::Allow), deny in proptest::collection::vec(conditional(Effect::Deny), 1..4),
    ) {
        let rules = Rules::compile(&[vec![allow], deny].concat());
        let (anyone, target) = (Principal::anyone(), tool("m", "t"));
        let asker = asker(&anyone);
        let may = |arguments: &Vec<u8>| rules.decide(&asker, &target.called(Some(arguments))).is_allowed();
        prop_assert_eq!(rules.decide(&asker, &target).is_allowed(), arguments().iter().any(may));
    }

    #[test]
    fn askers_of_one_class_see_the_same_and_classes_decide_as_askers_do(
        rules in proptest::collection::vec(rule(), 0..70), one in principal(), other in principal(),
    ) {
        let rules = Rules::compile(&rules);
        let (one, other) = (asker(&one), asker(&other));
        let classes = (rules.class(&one), rules.class(&other));
        for target in targets() {
            let (a, b) = (rules.decide(&one, &target), rules.decide(&other, &target));
            prop_assert_eq!((a, b), (rules.decide_as(&classes.0, &target), rules.decide_as(&classes.1, &target)));
            prop_assert!(classes.0 != classes.1 || a == b);
            prop_assert!(!a.is_allowed() || rules.opens(&classes.0, target.profile));
        }
    }
}
