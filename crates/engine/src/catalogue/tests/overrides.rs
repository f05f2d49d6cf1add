//! The changes that a profile makes to individual tools: what clients see, and what their calls contain.

use super::*;
use crate::Snapshot;
use crate::exchange::{Dispatch, dispatch};
use crate::tasks::TaskIds;

const FILE: &str = r#"
mcpServers: { files: { command: x } }
profiles:
  default:
    tools:
      overrides:
        files__read:
          name: read_text
          title: Read
          description: Reads a text.
          annotations: { readOnlyHint: true }
          arguments:
            root: { value: /srv, description: unused }
            depth: { value: 3 }
            token: { value: "${env:TOKEN}" }
            deep: { hidden: true }
            path: { description: The path below the root. }
        other__x: { name: nothing }
"#;

const TOOL: &str = r#"{"odd":1e2,"name":"read","description":"old","annotations":{"readOnlyHint":false,"x":1},"inputSchema":{"type":"object","properties":{"root":{"type":"string"},"path":{"type":"string","minLength":1},"depth":{"type":"integer"},"token":{"type":"string"},"deep":{"type":"boolean"}},"required":["root","path"],"additionalProperties":false}}"#;

fn profile() -> Profile {
    let lookup =
        Lookup { env: &|name| (name == "TOKEN").then(|| "s3cret".to_owned()), file: &|_| Err(String::new()) };
    let snapshot = Snapshot::compile(&load(FILE, "test", &lookup).unwrap().config, "0");
    snapshot.profiles[0].rules.clone()
}

fn shown(guard: Option<&Guard>) -> View {
    shown_tool(guard, TOOL)
}

fn shown_tool(guard: Option<&Guard>, tool: &str) -> View {
    let profile = profile();
    let spec = ViewSpec { guard, ..spec(&V2025_11_25, &profile) };
    View::build(spec, vec![upstream(1, "files", Ok(catalogue(&V2025_11_25, [tool, "", "", ""])))])
}

fn call(view: &View, name: &str, arguments: &str) -> Result<String, String> {
    let params = format!(r#"{{"name":"{name}","arguments":{arguments}}}"#);
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
    let frame = Frame::parse(Bytes::from(text), FrameLimits::default()).unwrap();
    let ids = TaskIds::new(&super::uri_rules::NoTasks, "", &V2025_11_25);
    match dispatch(&frame, view, "{}", ids) {
        Ok(Dispatch::Forward(route)) => {
            let arguments = route.arguments.unwrap();
            route.tool.unwrap().check(Some(&arguments)).map_err(|misfit| misfit.to_string())?;
            Ok(String::from_utf8(arguments.to_vec()).unwrap())
        }
        Ok(_) => Err("not forwarded".to_owned()),
        Err(fault) => Err(fault.message),
    }
}

#[test]
fn clients_see_the_changed_tool_and_nothing_of_fixed_arguments() {
    let view = shown(None);
    let page = String::from_utf8(view.pages(ListKind::Tools).page(None).unwrap().text().to_vec()).unwrap();
    let schema = r#""inputSchema":{"type":"object","properties":{"path":{"description":"The path below the root.","type":"string","minLength":1}},"required":["path"],"additionalProperties":false}"#;
    assert!(page.contains(schema), "{page}");
    for part in [
        r#""title":"Read""#,
        r#""description":"Reads a text.""#,
        r#""readOnlyHint":true,"x":1"#,
        r#""odd":1e2"#,
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("s3cret") && !page.contains("/srv") && !page.contains("old"), "{page}");
    assert_eq!(view.tool("read_text").unwrap().own_name(), "read");
}

#[test]
fn a_call_gets_the_fixed_values_and_cannot_set_them() {
    let view = shown(None);
    let wanted = r#"{"token":"s3cret","depth":3,"root":"/srv","path":"a"}"#;
    let sent: serde_json::Value =
        serde_json::from_str(&call(&view, "read_text", r#"{"path":"a"}"#).unwrap()).unwrap();
    assert_eq!(sent, serde_json::from_str::<serde_json::Value>(wanted).unwrap());
    // Some servers ignore the case of names, and fold characters such as the Kelvin sign.
    for set in [
        r#"{"path":"a","root":"/etc"}"#,
        r#"{"path":"a","ro\u006ft":"/etc"}"#,
        r#"{"path":"a","Root":"/etc"}"#,
        r#"{"path":"a","TO\u212aEN":"x"}"#,
        r#"{"path":"a","deep":true}"#,
        r#"{"path":"a","DEEP":true}"#,
    ] {
        let refused = call(&view, "read_text", set).unwrap_err();
        assert!(refused.contains("is set by this gateway"), "{refused}");
    }
    // The server's own schema still decides.
    assert!(call(&view, "read_text", "{}").unwrap_err().contains("path"));
    assert!(call(&view, "read_text", r#"{"path":""}"#).is_err());
    assert!(!format!("{:?}", view.tool("read_text")).contains("s3cret"), "a secret is never shown");
}

#[test]
fn no_message_quotes_a_secret_value() {
    // Whatever the server's schema says about the secret, the caller must not learn it.
    let schemas = [
        r#"{"properties":{"token":{"type":"integer"}}}"#,
        r#"{"properties":{"token":{"minLength":99}}}"#,
        r#"{"properties":{"token":{"pattern":"^x"}}}"#,
        r#"{"properties":{"token":{"enum":["a"]}}}"#,
        r#"{"maxProperties":1}"#,
        r#"{"not":{"required":["token"]}}"#,
        r#"{"anyOf":[{"required":["absent"]},{"properties":{"token":{"const":1}}}]}"#,
    ];
    for schema in schemas {
        let tool = format!(r#"{{"name":"read","inputSchema":{schema}}}"#);
        let view = shown_tool(None, &tool);
        let refused = call(&view, "read_text", r#"{"path":"a"}"#).unwrap_err();
        assert!(!refused.contains("s3cret") && refused.contains("do not fit"), "{schema}: {refused}");
    }
}

#[test]
fn rules_see_the_final_arguments_and_the_server_s_own_hints() {
    let under = |rule: &str| {
        shown(Some(&guard(&format!("mcpServers: {{ files: {{ command: x }} }}\naccess: {rule}\n"))))
    };
    let called = |rule: &str| call(&under(rule), "read_text", r#"{"path":"a"}"#);
    assert!(called("[{ deny: files__read, when: { arguments: { root: /srv } } }]").is_err());
    assert!(called("[{ allow: files__read, when: { arguments: { root: /srv } } }]").is_ok());
    // Renaming a tool changes no rule, and a hint for clients relaxes no rule.
    assert!(called("[{ deny: files__read }]").is_err());
    let denied = under("[{ deny: files__read }]");
    for name in ["read_text", "files__read"] {
        assert_eq!(denied.withheld_by(ListKind::Tools, name), Some("files"), "{name}");
    }
    assert!(called("[{ deny: read_text }]").is_ok());
    assert!(called("[{ allow: '*', when: { annotations: { readOnlyHint: true } } }]").is_err());
}

/// The tool `read` with these members, in a profile that limits its calls.
fn limited(members: &str) -> View {
    let file = "mcpServers: { files: { command: x } }\nprofiles: { default: { tools: { overrides: { files__read: { timeout: 2m, \
                atOnce: 3, cache: { for: 5m } } } } } }\n";
    let lookup = Lookup { env: &|_| None, file: &|_| Err(String::new()) };
    let snapshot = Snapshot::compile(&load(file, "test", &lookup).unwrap().config, "0");
    let tool = format!(r#"{{"name":"read","inputSchema":{{"type":"object"}}{members}}}"#);
    view(
        &V2025_11_25,
        &snapshot.profiles[0].rules,
        vec![upstream(1, "files", Ok(catalogue(&V2025_11_25, [&tool, "", "", ""])))],
    )
}

#[test]
fn results_are_kept_only_of_tools_that_the_server_marks_and_only_of_one_definition() {
    let marked = r#","annotations":{"readOnlyHint":true}"#;
    let view = limited(marked);
    let limits = view.tool("files__read").unwrap().limits().unwrap();
    assert_eq!((limits.timeout.map(|time| time.as_secs()), limits.at_once), (Some(120), Some(3)));
    let rule = limits.cache.as_ref().unwrap();
    assert_eq!(rule.keep_for.as_secs(), 300);
    assert_eq!(view.notes(), [""; 0]);
    let again = limited(&format!(r#"{marked},"_meta":{{"x":1}}"#));
    let same = again.tool("files__read").unwrap().limits().unwrap().cache.as_ref().unwrap();
    assert_eq!(same, rule, "the part that nobody sees does not count");
    let other = limited(&format!(r#"{marked},"description":"new""#));
    assert_ne!(other.tool("files__read").unwrap().limits().unwrap().cache.as_ref().unwrap(), rule);
    for unmarked in [
        "",
        r#","annotations":{"idempotentHint":true}"#,
        r#","annotations":{"readOnlyHint":true,"idempotentHint":false}"#,
    ] {
        let view = limited(unmarked);
        assert_eq!(view.tool("files__read").unwrap().limits().unwrap().cache, None, "{unmarked}");
        assert!(view.notes()[0].contains("`cache` has no effect"), "{:?}", view.notes());
    }
}

#[test]
fn icons_and_prompts_are_shown_to_versions_that_have_them() {
    let file = r#"
mcpServers: { files: { command: x } }
profiles:
  default:
    tools: { overrides: { files__read: { icons: [{ src: "https://example.com/i.png" }] } } }
    prompts: { overrides: { files__ask: { title: Ask, description: Asks., icons: [{ src: "https://example.com/p.png" }] } } }
"#;
    let lookup = Lookup { env: &|_| None, file: &|_| Err(String::new()) };
    let snapshot = Snapshot::compile(&load(file, "test", &lookup).unwrap().config, "0");
    let profile = snapshot.profiles[0].rules.clone();
    let prompts = r#"{ "name":"ask","description":"old"},{ "name":"other" , "x":1e2}"#;
    for (era, has_icons) in [(&V2025_11_25, true), (&V2026_07_28, true), (&proto::era::V2025_06_18, false)] {
        let own = catalogue(&V2025_11_25, [r#"{"name":"read","icons":[{"src":"old:x"}]}"#, prompts, "", ""]);
        let view = view(era, &profile, vec![upstream(1, "files", Ok(own))]);
        let page = |kind| String::from_utf8_lossy(view.pages(kind).page(None).unwrap().text()).into_owned();
        let (tools, prompts) = (page(ListKind::Tools), page(ListKind::Prompts));
        assert_eq!(tools.contains(r#""icons":[{"src":"https://example.com/i.png"}]"#), has_icons, "{tools}");
        assert_eq!(
            prompts.contains(r#""icons":[{"src":"https://example.com/p.png"}]"#),
            has_icons,
            "{prompts}"
        );
        assert!(
            prompts.contains(r#""description":"Asks.""#) && prompts.contains(r#""title":"Ask""#),
            "{prompts}"
        );
        assert!(prompts.contains(r#"{ "name":"files__other" , "x":1e2}"#), "{prompts}");
    }
}

#[test]
fn rules_that_name_nothing_are_noted() {
    let file = r"
mcpServers: { files: { command: x } }
profiles:
  default:
    tools:
      deny: [files__delet, files__read, 'files__x*', other__x]
      rename: { files__wirte: put }
      overrides: { files__raed: { title: T }, files__list: { arguments: { path: { hidden: true }, pth: { value: 1 } } } }
";
    let lookup = Lookup { env: &|_| None, file: &|_| Err(String::new()) };
    let snapshot = Snapshot::compile(&load(file, "test", &lookup).unwrap().config, "0");
    let tools = r#"{"name":"read"},{"name":"list","inputSchema":{"type":"object","properties":{"path":{}}}}"#;
    let own = catalogue(&V2025_11_25, [tools, "", "", ""]);
    let view = view(&V2025_11_25, &snapshot.profiles[0].rules, vec![upstream(1, "files", Ok(own))]);
    let check = "to these clients; check the name";
    let wanted = [
        format!("tools.deny: server files lists no tool \"delet\" {check}"),
        format!("tools.rename: server files lists no tool \"wirte\" {check}"),
        format!("tools.overrides: server files lists no tool \"raed\" {check}"),
        "tools.overrides: tool \"list\" of server files has no argument \"pth\"".to_owned(),
    ];
    assert_eq!(view.notes(), wanted);
}
