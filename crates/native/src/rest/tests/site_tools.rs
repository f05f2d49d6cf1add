//! The page about the tools of sites, made from their rows and from the measured sizes of lists.

use std::fmt::Write as _;

use serde_json::json;

use super::rows::servers;
use super::*;
use crate::ToolServer;

/// The page about the tools of sites: one line per tool, made from its row.
fn page() -> String {
    let mut page = include_str!("site-tools.md").to_owned();
    let mut part = String::new();
    let sites = &servers()[2..];
    sizes(&mut page, sites);
    for (server, heading) in sites.iter().zip(SITES) {
        let mut rows = server.rows().to_vec();
        let order: Vec<&str> = rows.iter().map(|tool| tool.phase).collect();
        rows.sort_by_key(|tool| order.iter().position(|phase| *phase == tool.phase));
        for tool in rows {
            let phase = if tool.phase.is_empty() { "core" } else { tool.phase };
            // The discovery tools are the same for all servers, and are listed with the last one.
            if format!("{heading}: {phase}") != part && (phase != "discover" || heading == "buddypress") {
                part = format!("{heading}: {phase}");
                let title = if phase == "discover" { "all: discover" } else { &part };
                let _ = write!(
                    page,
                    "\n## {title}\n\n| tool | arguments (`*` required) | does |\n|---|---|---|\n"
                );
            }
            let arguments: Vec<String> = tool.arguments.iter().map(argument).collect();
            let _ = writeln!(page, "| `{}` | {} | {} |", tool.name, arguments.join(", "), tool.about);
        }
    }
    page
}

/// The servers for sites, in the order of [`servers`].
const SITES: [&str; 4] = ["wordpress", "buddyboss", "woocommerce", "buddypress"];

/// The measured sizes of lists, and the sizes of the lists of tools by set.
fn sizes(page: &mut String, sites: &[ToolServer]) {
    page.push_str(
        "\n## How large lists are\n\nBytes and tokens (estimated: a quarter of the bytes) of ten entries, measured on real sites; a list that grows by a \
         fifth fails\nthe tests. The last column has the bytes with `full: true`.\n\n| tool | bytes | tokens | with `full` |\n|---|--:|--:|--:|\n",
    );
    let measured: Value = serde_json::from_str(include_str!("../../../../../tests/list-sizes.json")).unwrap();
    for (tool, size) in measured.as_object().unwrap() {
        let ten = size["ten"].as_u64().unwrap();
        let _ = writeln!(page, "| `{tool}` | {ten} | {} | {} |", ten.div_ceil(4), size["full"]);
    }
    page.push_str(
        "\nThe answer to `tools/list`, by set:\n\n| set | tools | bytes | tokens |\n|---|--:|--:|--:|\n",
    );
    for (server, heading) in sites.iter().zip(SITES) {
        let list = request(server, "tools/list", &json!({}), None);
        let tools = list["result"]["tools"].as_array().unwrap();
        let mut sets: Vec<(&str, usize, usize)> = Vec::new();
        for (row, tool) in server.rows().iter().zip(tools) {
            let bytes = tool.to_string().len() + 1;
            let phase = if row.phase.is_empty() { "core" } else { row.phase };
            match sets.iter_mut().find(|(name, ..)| *name == phase) {
                Some((_, count, sum)) => (*count, *sum) = (*count + 1, *sum + bytes),
                None => sets.push((phase, 1, bytes)),
            }
        }
        for (phase, count, bytes) in sets {
            let _ = writeln!(page, "| {heading}: {phase} | {count} | {bytes} | {} |", bytes.div_ceil(4));
        }
    }
}

fn argument(row: &crate::tools::ToolArgument) -> String {
    let star = if row.required { "*" } else { "" };
    let default = row.default.map(|literal| match literal.value() {
        Value::String(text) => format!("={text}"),
        other => format!("={other}"),
    });
    format!("{}{star}{}", row.name, default.unwrap_or_default())
}

#[test]
fn every_tool_is_documented() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (path, page) = (root.join("docs/site-tools.md"), page());
    if std::env::var_os("DRAGOMAN_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/site-tools.md is not as the rows are: set DRAGOMAN_BLESS=1 and look at the change"
    );
    let other = include_str!("../../../../../docs/tools.md");
    for server in &servers()[..2] {
        assert!(server.tools().all(|name| other.contains(&format!("`{name}`"))));
    }
}
