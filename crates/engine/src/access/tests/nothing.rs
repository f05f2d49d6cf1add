//! Tests which principals the rules give no access at all.

use super::{Principal, rules};

/// The profiles of the configuration that contains the rules.
const PROFILES: [&str; 2] = ["default", "editors"];

#[test]
fn it_is_known_whom_the_rules_give_nothing() {
    let ci = Principal::of_key("abc", "ci", None::<&[&str]>);
    let gets_nothing = |access: &str| rules(access).give_nothing(&ci, PROFILES.into_iter());
    for access in [
        "  []",
        "  - { deny: 'docs__*' }",
        "  - { allow: 'docs__*', who: { key: ci } }",
        "  - { allow: 'docs__*', who: { key: abc } }",
        "  - { allow: 'docs__*', profiles: editors }",
        "  - { allow: 'docs__*', who: { ip: 10.0.0.0/8 } }",
        "  - { deny: '*', unless: { ip: 10.0.0.0/8 } }",
        "  - { deny: '*', profiles: editors }",
    ] {
        assert!(!gets_nothing(access), "{access}");
    }
    for access in [
        "  - { allow: 'docs__*', who: { user: ci } }",
        "  - { allow: 'docs__*', who: { key: other } }",
        "  - { deny: '*', who: { key: ci } }",
    ] {
        assert!(gets_nothing(access), "{access}");
    }
    let bound = Principal::of_key("abc", "ci", Some(&["editors"]));
    let only = rules("  - { allow: 'docs__*', profiles: default }");
    assert!(only.give_nothing(&bound, PROFILES.into_iter()));
}
