//! Documents as registries serve them, and hostile ones: what each offer means as an entry of a configuration.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use dragoman_registry::document::{DocumentError, ServerDocument};
use dragoman_registry::offer::OfferOrigin;
use dragoman_registry::server_name::ServerName;
use serde_json::{Value, json};

fn read(packages: &Value, remotes: &Value) -> ServerDocument {
    let server = json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": "io.example/weather-mcp", "description": "Weather.", "version": "1.2.3", "future": { "x": 1 },
        "packages": packages, "remotes": remotes
    });
    let meta = json!({ "io.modelcontextprotocol.registry/official": { "status": "deprecated" } });
    let answer = json!({ "server": server, "_meta": meta });
    ServerDocument::parse(
        answer.to_string().as_bytes(),
        &ServerName::parse("io.example/weather-mcp@1.2.3").unwrap(),
    )
    .unwrap()
}

#[expect(clippy::needless_pass_by_value, reason = "it is called with literals")]
fn package(package: Value) -> ServerDocument {
    read(&json!([package]), &json!([]))
}

#[test]
fn a_package_of_npm_is_pinned_and_its_secrets_are_variables() {
    let document = package(json!({
        "registryType": "npm", "registryBaseUrl": "https://www.npmjs.org", "identifier": "@example/weather", "version": "1.2.3",
        "transport": { "type": "stdio" }, "runtimeHint": "npx",
        "runtimeArguments": [{ "type": "named", "name": "--loglevel", "value": "error" }],
        "packageArguments": [
            { "type": "positional", "valueHint": "target_dir", "isRequired": true },
            { "type": "named", "name": "--units", "default": "metric" },
            { "type": "named", "name": "--port", "format": "number" }
        ],
        "environmentVariables": [
            { "name": "WEATHER_KEY", "description": "The key.", "isRequired": true, "isSecret": true },
            { "name": "LEVEL", "default": "info" },
            { "name": "OPTIONAL" }
        ]
    }));
    assert_eq!(document.status, "deprecated");
    let offer = document.offer(None).unwrap();
    assert_eq!(
        offer.entry,
        json!({
            "command": "npx",
            "args": ["-y", "--loglevel", "error", "@example/weather@1.2.3", "${TARGET_DIR}", "--units", "metric"],
            "env": { "WEATHER_KEY": "${WEATHER_KEY}", "LEVEL": "info" }
        })
    );
    let names: Vec<(&str, bool)> =
        offer.variables.iter().map(|one| (one.name.as_str(), one.is_secret)).collect();
    assert_eq!(names, [("WEATHER_KEY", true), ("TARGET_DIR", false)]);
    assert_eq!(offer.optional, ["OPTIONAL"]);
}

#[test]
fn packages_of_other_registries_run_with_their_own_programs() {
    let args = |package: Value| {
        let document = self::package(package);
        let entry = &document.offer(None).unwrap_or_else(|| panic!("{:?}", document.refused)).entry;
        format!("{} {}", entry["command"], entry["args"])
    };
    assert_eq!(
        args(json!({ "registryType": "pypi", "identifier": "weather", "version": "0.5.0" })),
        r#""uvx" ["weather@0.5.0"]"#
    );
    let nuget = json!({ "registryType": "nuget", "identifier": "A.Weather", "version": "1.0-beta", "packageArguments": [{ "type": "positional", "value": "mcp" }] });
    assert_eq!(args(nuget), r#""dnx" ["--yes","A.Weather@1.0-beta","mcp"]"#);
    let image = json!({
        "registryType": "oci", "identifier": "docker.io/example/weather:1.2.3",
        "runtimeArguments": [{ "type": "named", "name": "--mount", "value": "type=bind,src={from},dst=/p", "variables": { "from": { "isRequired": true } } }],
        "environmentVariables": [{ "name": "KEY", "isRequired": true, "isSecret": true }]
    });
    assert_eq!(
        args(image),
        r#""docker" ["run","--interactive","--rm","--mount","type=bind,src=${FROM},dst=/p","--env","KEY","docker.io/example/weather:1.2.3"]"#
    );
}

#[test]
fn a_bundle_has_its_checksum() {
    let sum = "AB".repeat(32);
    let document = package(
        json!({ "registryType": "mcpb", "identifier": "https://example.com/x.mcpb", "fileSha256": sum }),
    );
    let offer = document.offer(Some(OfferOrigin::Mcpb)).unwrap();
    assert_eq!(offer.download.as_ref().unwrap().sha256, sum.to_lowercase());
    assert_eq!(offer.entry["sha256"], sum.to_lowercase());
    assert!(
        package(json!({ "registryType": "mcpb", "identifier": "https://example.com/x.mcpb" }))
            .offers
            .is_empty()
    );
    assert!(
        package(
            json!({ "registryType": "mcpb", "identifier": "http://example.com/x.mcpb", "fileSha256": sum })
        )
        .offers
        .is_empty()
    );
}

#[test]
fn a_server_on_the_network_gets_only_variables_with_its_own_name() {
    let remotes = json!([
        { "type": "sse", "url": "https://{tenant}.example.com/sse", "variables": { "tenant": { "default": "eu" } } },
        {
            "type": "streamable-http", "url": "https://example.com/mcp",
            "headers": [
                { "name": "Authorization", "value": "Bearer {AWS_SECRET_ACCESS_KEY}", "variables": { "AWS_SECRET_ACCESS_KEY": { "isRequired": true, "isSecret": true } } },
                { "name": "X-Key", "isRequired": true },
                { "name": "X-Region", "default": "us" },
                { "name": "X-More" }
            ]
        }
    ]);
    let document = read(&json!([]), &remotes);
    assert_eq!(document.offers[0].entry, json!({ "type": "sse", "url": "https://eu.example.com/sse" }));
    let headers = &document.offers[1].entry["headers"];
    assert_eq!(headers["Authorization"], "Bearer ${WEATHER_AWS_SECRET_ACCESS_KEY}");
    assert_eq!(headers["X-Key"], "${WEATHER_X_KEY}");
    assert_eq!((headers["X-Region"].as_str(), headers.get("X-More")), (Some("us"), None));
}

#[test]
fn hostile_packages_are_refused_with_a_reason() {
    let npm = |identifier: &str, version: &str| json!({ "registryType": "npm", "identifier": identifier, "version": version });
    for (evil, why) in [
        (npm("--config=https://evil.example", "1.0.0"), "no valid name"),
        (npm("x y", "1.0.0"), "no valid name"),
        (npm("https://evil.example/x.tgz", "1.0.0"), "no valid name"),
        (npm("x", "latest"), "no exact version"),
        (npm("x", "^1.0.0"), "no exact version"),
        (npm("x", ""), "no exact version"),
        (json!({ "registryType": "oci", "identifier": "example/x:latest" }), "no exact version"),
        (json!({ "registryType": "oci", "identifier": "example/x" }), "no exact version"),
        (json!({ "registryType": "oci", "identifier": "-v/:/host", "version": "1" }), "no valid name"),
        (json!({ "registryType": "cargo", "identifier": "x", "version": "1.0.0" }), "does not support"),
        (
            json!({ "registryType": "npm", "identifier": "x", "version": "1.0.0", "registryBaseUrl": "https://evil.example" }),
            "evil.example",
        ),
        (
            json!({ "registryType": "npm", "identifier": "x", "version": "1.0.0", "transport": { "type": "streamable-http" } }),
            "add its URL",
        ),
    ] {
        let document = package(evil);
        assert!(document.offers.is_empty(), "{document:?}");
        let said = document.refused[0].to_string();
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn another_answer_is_no_document() {
    let asked = ServerName::parse("io.example/x").unwrap();
    let fails = |text: &str| ServerDocument::parse(text.as_bytes(), &asked).unwrap_err();
    assert!(matches!(fails("<html>"), DocumentError::NoDocument(_)));
    assert!(matches!(fails(r#"{"servers":[]}"#), DocumentError::NoDocument(_)));
    assert_eq!(
        fails(r#"{"server":{"name":"io.evil/x"}}"#),
        DocumentError::OtherServer("io.evil/x".to_owned())
    );
}
