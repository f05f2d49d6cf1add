//! The published JSON schema is up to date, and agrees with the reader.

use std::path::Path;

use dragoman_config::dialect_rows::Dialect;
use dragoman_config::schema_json;
use serde_json::{Value, json};

use crate::try_load;

#[test]
#[expect(clippy::disallowed_methods, reason = "the test, not the crate, reads and writes the published file")]
fn the_published_schema_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dragoman.schema.json");
    if std::env::var_os("DRAGOMAN_BLESS").is_some() {
        std::fs::write(&path, schema_json()).expect("the schema can be written");
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        published == schema_json(),
        "dragoman.schema.json is not what the model says; run: DRAGOMAN_BLESS=1 cargo test -p dragoman-config schema"
    );
}

#[test]
fn schema_and_reader_agree() {
    let schema: Value = serde_json::from_str(&schema_json()).expect("JSON");
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let validator = jsonschema::validator_for(&schema).expect("a sound schema");
    for config in good_servers_and_profiles().into_iter().chain(good_guards()) {
        let errors: Vec<String> = validator.iter_errors(&config).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{config}: {errors:?}");
        if let Err(faults) = try_load(&config.to_string()) {
            panic!("{faults}");
        }
    }
    for config in bad() {
        assert!(!validator.is_valid(&config), "the schema takes {config}");
        assert!(try_load(&config.to_string()).is_err(), "the reader takes {config}");
    }
}

fn good_servers_and_profiles() -> Vec<Value> {
    vec![
        json!({}),
        json!({ "$schema": "x", "listen": 8808, "mcpServers": {}, "x-any": 1, "limits": { "line": "4MiB", "batch": 7 } }),
        json!({ "listen": ["127.0.0.1:1", "[::1]:1"], "allowedHosts": ["h"], "allowedOrigins": ["https://h"] }),
        json!({ "mcpServers": {
            "a": { "type": "stdio", "command": "x", "args": ["y", 1, true], "env": { "A": 1 }, "cwd": "/", "timeout": 30 },
            "b": { "type": "sse", "url": "https://h/", "headers": { "X": "y" }, "timeout": "2m", "disabled": true },
            "c": { "native": "demo", "affinity": "session", "description": "d", "alwaysAllow": [] },
        } }),
        json!({ "mcpServers": { "a": { "native": "demo" } }, "profiles": { "p": {
            "servers": ["a"], "names": "plain", "title": "t", "instructions": "i", "resources": { "deny": ["file:*"] },
            "tools": { "allow": ["*"], "deny": ["x?"], "rename": { "a": "b" }, "mode": "hybrid", "direct": ["a*"], "schemas": "portable" }, "prompts": { "allow": null },
        } }, "endpoints": [{ "path": "/x", "profile": "p" }, { "path": "/y" }] }),
    ]
}

fn good_guards() -> Vec<Value> {
    vec![
        json!({ "auth": {
            "bearer": "t", "keys": "${YES}", "users": { "ann": "$argon2id$v=19$m=64,t=1,p=1$aHVzaGh1c2g$aHVzaGh1c2h1" },
            "site": { "url": "https://h", "capability": "read", "cache": 5 },
            "jwt": { "issuer": "https://i", "audience": "a", "algorithms": ["RS256", "EdDSA"], "clockSkew": "5s" },
            "oauth": { "resource": "https://r/mcp", "scopes": "a", "requiredScopes": ["a"] },
        } }),
        json!({ "auth": { "bearer": { "token": "", "optional": true }, "jwt": [{ "issuer": "https://i", "audience": ["a"] }] } }),
        json!({ "mcpServers": { "a": { "native": "demo" } }, "access": [
            { "allow": "*", "servers": "a" },
            { "deny": ["a*"], "profiles": ["default"], "who": {
                "key": "k", "user": ["u"], "scope": "s", "claim": { "a.b": [1, "x", true], "c": 2 }, "ip": ["10.0.0.0/8"],
                "scheme": ["key", "token"],
            }, "unless": { "ip": "::1" }, "when": { "arguments": { "/a": "x*" }, "annotations": { "readOnlyHint": true } } },
        ] }),
        json!({ "publicUrl": "https://gate.example.com", "trustForwardedFor": ["10.0.0.0/8", "::1"], "mcpServers": {
            "a": { "url": "https://h/mcp", "oauth": { "clientId": "c", "clientSecret": "s", "issuer": "https://id", "scopes": ["a", "b"], "callbackPort": 1 } },
            "b": { "url": "https://h/mcp", "oauth": { "scopes": "a" } },
        } }),
        json!({ "rateLimits": [
            { "rate": "60/1m" },
            { "rate": "10/s", "enabled": "${YES}", "per": ["ip", "tool"], "methods": "calls", "profiles": "default", "tools": ["*"],
              "burst": "${NUMBER}", "trustForwardedFor": true },
            { "rate": "1/s", "trustForwardedFor": 2 }, { "rate": "1/s", "trustForwardedFor": "10.0.0.0/8" },
        ], "audit": { "file": "a.db", "arguments": true, "redact": "pin", "keep": "7d" }, "stateFolder": "/s", "keyRing": "/k" }),
        json!({ "management": "${YES}" }),
        json!({ "metrics": true }),
        json!({ "metrics": { "listen": 9464, "series": 5000 } }),
        json!({ "metrics": { "who": { "key": "scraper" } } }),
        json!({ "management": { "who": { "key": "admin", "ip": "10.0.0.0/8" }, "rate": "10/s" } }),
        json!({ "audit": true, "dialect": "bb", "dialects": { "mine": { "base": "bb", "variant": "code", "pingSeconds": 7, "unknownTool.code": -1,
            "unknownTool": { "message": "no {name}", "data": false }, "serverVersion": 1.5, "versionErrorId": null, "successFlag": false } }, "endpoints": [
            { "path": "/mcp", "dialect": "mine", "transport": "both", "message": "/m", "auth": "none" },
        ], "profiles": { "p": { "dialect": "mine", "names": "plain-first" }, "q": { "names": "first" } } }),
        json!({ "mcpServers": {
            "a": { "native": "wordpress", "site": { "url": "https://h", "username": "u", "password": "p", "headers": true, "basic": false } },
            "b": { "native": "buddyboss", "site": { "headers": true }, "phases": ["core"] },
            "c": { "native": "heritage", "sources": { "snl": "https://h" } },
            "d": { "native": "plain", "unknownArguments": "ignore" },
        } }),
    ]
}

fn bad() -> Vec<Value> {
    vec![
        json!([]),
        json!({ "mcp_servers": {} }),
        json!({ "listen": [] }),
        json!({ "mcpServers": { "a": {} } }),
        json!({ "mcpServers": { "a": { "command": "x", "timeout": "soon" } } }),
        json!({ "mcpServers": { "a": { "native": "else" } } }),
        json!({ "profiles": { "p": { "names": "long" } } }),
        json!({ "profiles": { "p": { "tools": { "allow": ["!x"] } } } }),
        json!({ "profiles": { "p": { "tools": { "rename": { "a": "b c" } } } } }),
        json!({ "profiles": { "p": { "tools": { "mode": "lazy" } } } }),
        json!({ "profiles": { "p": { "tools": { "schemas": "claude" } } } }),
        json!({ "profiles": { "p": { "prompts": { "mode": "search" } } } }),
        json!({ "endpoints": [{ "profile": "default" }] }),
        json!({ "limits": { "batch": 0 } }),
        json!({ "limits": { "lines": 1 } }),
        json!({ "limits": { "line": "1 parsec" } }),
        json!({ "auth": { "password": "x" } }),
        json!({ "auth": { "users": { "ann": "secret" } } }),
        json!({ "auth": { "jwt": { "issuer": "https://i", "audience": "a", "algorithms": ["HS256"] } } }),
        json!({ "access": [{ "who": { "user": "a" } }] }),
        json!({ "access": [{ "allow": "*", "deny": "*" }] }),
        json!({ "access": [{ "allow": "*", "who": { "scheme": "x" } }] }),
        json!({ "access": [{ "allow": "*", "when": { "annotations": { "readOnly": true } } }] }),
        json!({ "rateLimits": [{ "burst": 1 }] }),
        json!({ "rateLimits": [{ "rate": "60" }] }),
        json!({ "audit": { "redact": [] , "days": 1 } }),
        json!({ "management": "perhaps" }),
        json!({ "metrics": { "listen": ["127.0.0.1:1"] } }),
        json!({ "metrics": { "series": 1 } }),
        json!({ "management": { "rate": "often" } }),
        json!({ "management": { "who": { "name": "ann" } } }),
        json!({ "dialects": { "mine": { "pingSeconds": 1 } } }),
        json!({ "dialects": { "mine": { "base": "bb", "codes": {} } } }),
        json!({ "dialects": { "mine": { "base": "bb", "variant": "nope" } } }),
        json!({ "dialects": { "mine": { "base": "bb", "pingSeconds": 0 } } }),
        json!({ "dialects": { "mine": { "base": "bb", "versions": [] } } }),
        json!({ "dialects": { "mine": { "base": "bb", "noId": "maybe" } } }),
        json!({ "dialects": { "mine": { "base": "bb", "unknownTool": { "kode": 1 } } } }),
        json!({ "dialects": { "mine": { "base": "bb", "unknownTool.kode": 1 } } }),
        json!({ "dialects": { "mine": { "base": "bb", "noId.code": 1 } } }),
        json!({ "endpoints": [{ "path": "/x", "transport": "stdio" }] }),
    ]
}

#[test]
fn each_column_of_a_dialect_is_in_the_schema() {
    let schema: Value = serde_json::from_str(&schema_json()).expect("JSON");
    let own = &schema["$defs"]["DialectDifference"]["properties"];
    for column in Dialect::COLUMNS {
        let told = own[column.name]["description"].as_str().unwrap_or_default();
        assert!(told.starts_with(column.about), "{}: {told}", column.name);
    }
    let validator = jsonschema::validator_for(&schema).expect("a sound schema");
    for row in Dialect::all() {
        let mut all: serde_json::Map<String, Value> = Dialect::COLUMNS
            .iter()
            .map(|c| (c.name.to_owned(), row.get(c.name).expect("a column")))
            .collect();
        all.insert("base".to_owned(), json!(&*row.name));
        let config = json!({ "dialects": { "mine": all } });
        let errors: Vec<String> = validator.iter_errors(&config).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", row.name);
        for variant in row.variants {
            assert!(validator.is_valid(
                &json!({ "dialects": { "mine": { "base": &*row.name, "variant": variant.name } } })
            ));
        }
    }
}

#[test]
fn everything_in_the_schema_is_described() {
    fn walk(path: &str, value: &Value, bare: &mut Vec<String>) {
        let Some(object) = value.as_object() else { return };
        if let Some(properties) = object.get("properties").and_then(Value::as_object) {
            for (key, property) in properties {
                let path = format!("{path}.{key}");
                if property.get("description").is_none() {
                    bare.push(path.clone());
                }
                walk(&path, property, bare);
            }
        }
        for key in ["$defs", "patternProperties"] {
            for (name, definition) in object.get(key).and_then(Value::as_object).into_iter().flatten() {
                walk(name, definition, bare);
            }
        }
    }
    let schema: Value = serde_json::from_str(&schema_json()).expect("JSON");
    let mut bare = Vec::new();
    walk("", &schema, &mut bare);
    assert!(bare.is_empty(), "{bare:?}");
}
