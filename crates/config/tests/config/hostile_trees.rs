//! Every key with every kind of value: for any value, loading ends with an answer and reveals no secret.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::try_load;

/// Every mapping of a configuration by its path, with its keys. `*` stands for any name.
const MAPPINGS: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "listen",
            "definitions",
            "dialect",
            "audit",
            "stateFolder",
            "keyRing",
            "publicUrl",
            "trustForwardedFor",
            "allowedHosts",
            "allowedOrigins",
            "nonsense",
        ],
    ),
    (
        "mcpServers/a",
        &[
            "native",
            "site",
            "phases",
            "sources",
            "unknownArguments",
            "disabled",
            "command",
            "url",
            "timeout",
            "proxy",
            "tls",
            "passHeaders",
            "definitions",
        ],
    ),
    ("mcpServers/a/tls", &["ca", "cert", "key", "nonsense"]),
    ("mcpServers/a/passHeaders/[]", &["from", "to", "nonsense"]),
    (
        "mcpServers/a/site",
        &[
            "url",
            "username",
            "password",
            "headers",
            "basic",
            "privateFiles",
            "privateSites",
            "imageKey",
            "imageHost",
            "atOnce",
            "rate",
            "nonsense",
        ],
    ),
    ("mcpServers/a/sources", &["wikipedia", "snl", "other"]),
    (
        "mcpServers/a/oauth",
        &["grant", "clientId", "clientSecret", "issuer", "scopes", "clientIds", "callbackPort"],
    ),
    ("profiles/p", &["servers", "names", "dialect", "title", "tools"]),
    ("endpoints/[]", &["path", "profile", "dialect", "transport", "message", "auth"]),
    ("dialects/d", &["base", "variant", "pingSeconds", "serverName", "unknownTool", "nonsense"]),
    ("auth", &["keys", "bearer", "nonsense"]),
    ("auth/bearer", &["token", "optional"]),
    ("auth/users", &["ann", "b:c"]),
    ("auth/site", &["url", "capability", "cache"]),
    ("auth/jwt/[]", &["issuer", "jwks", "audience", "algorithms", "clockSkew"]),
    ("auth/oauth", &["resource", "scopes", "requiredScopes"]),
    ("access/[]", &["allow", "deny", "profiles", "servers", "who", "tools"]),
    ("access/[]/who", &["key", "user", "scope", "ip", "scheme", "claim"]),
    ("access/[]/unless/claim", &["a.b", "/a/~1", "~", ""]),
    ("access/[]/when/arguments", &["a.b", "A.c", "/a", "b"]),
    ("access/[]/when/annotations", &["readOnlyHint", "destructiveHint", "nonsense"]),
    (
        "rateLimits/[]",
        &[
            "rate",
            "burst",
            "per",
            "methods",
            "profiles",
            "tools",
            "enabled",
            "trustForwardedFor",
            "withoutStore",
        ],
    ),
    ("audit", &["file", "arguments", "redact", "share", "keep"]),
    ("metrics", &["listen", "who", "series"]),
    ("limits", &["batch", "line", "callTimeout"]),
];

/// Texts that are valid for some key, and texts that are valid for none.
const TEXTS: &[&str] = &[
    "${SECRET}",
    "${SECRET}:1",
    "x${SECRET}",
    "/${SECRET}",
    "https://h/${SECRET}",
    "${SECRET}/8",
    "${SECRET}/1m",
    "${ADDRESS}/8",
    "${NUMBER}",
    "${NUMBER}s",
    "${NONE}",
    "${NONE:-x}",
    "${",
    "",
    "x",
    "*",
    "!x",
    "a.b",
    "/a",
    "https://h",
    "http://h",
    "ftp://h",
    "10.0.0.7/8",
    "::1",
    "60/1m",
    "30s",
    "RS256",
    "HS256",
    "none",
    "demo",
    "wordpress",
    "buddyboss",
    "heritage",
    "kulturarv",
    "standard",
    "default",
    "a",
    "p",
    "d",
    "ip",
    "calls",
    "sse",
    "$argon2id$v=19$m=64,t=1,p=1$aHVzaGh1c2g$aHVzaGh1c2hodXNoaHVzaA",
    "é\u{202e}",
    "two words",
    "a\nb",
];

fn leaf() -> impl Strategy<Value = Value> {
    let odd =
        [json!(null), json!(true), json!(false), json!(7), json!(-1), json!(1e99), json!([]), json!({})];
    let one = prop_oneof![
        4 => proptest::sample::select(TEXTS).prop_map(Value::from),
        1 => proptest::sample::select(odd.to_vec()),
    ];
    prop_oneof![
        4 => one.clone(),
        1 => proptest::collection::vec(one.clone(), 0..3).prop_map(Value::from),
        1 => proptest::collection::btree_map("[a-z]{1,3}", one, 0..3).prop_map(Value::from_iter),
    ]
}

/// Puts a value at the end of a path, through lists of one item.
fn put(tree: &mut Value, way: &[&str], key: &str, value: Value) {
    let Some((step, rest)) = way.split_first() else {
        if let Value::Object(members) = tree {
            members.insert(key.to_owned(), value);
        }
        return;
    };
    let inner = match (step, tree) {
        (&"[]", Value::Array(items)) => items.first_mut(),
        (step, Value::Object(members)) => {
            let empty = if rest.first() == Some(&"[]") { json!([{}]) } else { json!({}) };
            Some(members.entry(*step).or_insert(empty))
        }
        _ => None,
    };
    if let Some(inner) = inner {
        put(inner, rest, key, value);
    }
}

fn tree() -> impl Strategy<Value = Value> {
    let places: Vec<(&str, &str)> =
        MAPPINGS.iter().flat_map(|(way, keys)| keys.iter().map(move |key| (*way, *key))).collect();
    let entry = (proptest::sample::select(places), leaf());
    proptest::collection::vec(entry, 1..25).prop_map(|entries| {
        let mut tree = Value::Object(Map::new());
        for ((way, key), value) in entries {
            let way: Vec<&str> = way.split('/').filter(|step| !step.is_empty()).collect();
            put(&mut tree, &way, key, value);
        }
        tree
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, ..ProptestConfig::default() })]

    #[test]
    fn any_value_under_any_key_is_answered(tree in tree()) {
        let text = serde_json::to_string_pretty(&tree).expect("JSON");
        match try_load(&text) {
            Ok(loaded) => {
                let shown: String = loaded.notes.iter().map(ToString::to_string).collect();
                prop_assert!(!shown.contains("hush"), "{shown}\n{text}");
            }
            Err(faults) => {
                let shown = faults.to_string();
                prop_assert!(!shown.contains("hush") && !shown.contains('\u{202e}'), "{shown}\n{text}");
                prop_assert!(faults.faults.iter().all(|fault| !fault.message.is_empty() && !fault.help.is_empty()));
                prop_assert!(faults.faults.is_sorted_by_key(|fault| (fault.line, fault.column)));
            }
        }
    }
}
