//! The statements in `docs/access.md` are correct: each configuration there is checked against the table
//! below it.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use dragoman_engine::access::{AccessTarget, Annotations, Asker, Principal, Rules, Scheme};
use dragoman_engine::catalogue::ListKind;
use serde_json::json;

use crate::loaded;

const HEAD: &str = "| caller | asks for | with | may |";

#[test]
#[expect(clippy::disallowed_methods, reason = "the test, not the engine, reads the documentation")]
fn rules_decide_as_the_documentation_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/access.md");
    let page = std::fs::read_to_string(path).expect("it can be read");
    let (mut rows, mut tables) = (0, 0);
    for block in page.split("```yaml\n").skip(1) {
        let (config, rest) = block.split_once("```\n").expect("the block ends");
        let Some(table) = rest.trim_start().strip_prefix(HEAD) else { continue };
        tables += 1;
        let rules = Rules::compile(&loaded(config).access);
        for row in table.trim_start().lines().skip(1).take_while(|line| line.starts_with('|')) {
            rows += 1;
            let cells: Vec<&str> =
                row.trim_matches('|').split(" |").map(|cell| cell.trim().trim_matches('`')).collect();
            let [asker, tool, arguments, may] = cells[..] else { panic!("four cells in {row}") };
            assert!(matches!(may, "yes" | "no"), "{row}");
            assert_eq!(decide(&rules, asker, tool, arguments), may == "yes", "{row} under\n{config}");
        }
    }
    assert!(rows >= 25 && tables >= 5, "only {rows} rows in {tables} tables were found");
}

fn decide(rules: &Rules, asker: &str, tool: &str, arguments: &str) -> bool {
    let (principal, address) = read_asker(asker);
    let (name, read_only) = tool.strip_suffix(" (read-only)").map_or((tool, false), |name| (name, true));
    let (server, _) = name.split_once("__").expect("a server and a name");
    let annotations = json!({ "annotations": { "readOnlyHint": read_only } }).to_string();
    let target = AccessTarget::listed("default", server, ListKind::Tools, name)
        .annotated(Annotations::of_tool(annotations.as_bytes()));
    let target = if arguments.is_empty() { target } else { target.called(Some(arguments.as_bytes())) };
    rules.decide(&Asker { principal: &principal, address }, &target).is_allowed()
}

/// Parses `user:ann`, `key:PREFIX`, `token scope=… CLAIM=… from=ADDRESS`.
fn read_asker(text: &str) -> (Principal, Option<IpAddr>) {
    let mut words = text.split(' ');
    let id = words.next().unwrap_or_default();
    let mut principal = match id.split_once(':') {
        Some(("user", name)) => Principal { user: Some(name.into()), ..Principal::new(id, Scheme::Basic) },
        Some(("key", _)) => Principal::new(id, Scheme::Key),
        None if id == "token" => Principal::new("jwt:https://id.example.com#1", Scheme::Token),
        _ => Principal::anyone(),
    };
    let (mut address, mut claims) = (None, json!({}));
    for (key, value) in words.filter_map(|word| word.split_once('=')) {
        match key {
            "scope" => principal.scopes = Arc::new([value.into()]),
            "from" => address = value.parse().ok(),
            claim => claims[claim] = value.into(),
        }
    }
    principal.claims = Some(Arc::new(claims));
    (principal, address)
}
