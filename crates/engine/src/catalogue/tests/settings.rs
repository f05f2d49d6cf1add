//! Settings for single tools: hiding, renaming, other descriptions and other schemas.

use config::ToolSetting;
use proto::json::quote;

use super::*;

fn profile(set: &[(&str, ToolSetting)]) -> Profile {
    let mut profile = Profile::default();
    let tools = set.iter().map(|(tool, setting)| ((*tool).to_owned(), setting.clone()));
    profile.tool_settings.0.insert("one".to_owned(), tools.collect());
    profile
}

const SCHEMA: &str = r#"{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}"#;

fn settings() -> [(&'static str, ToolSetting); 3] {
    [
        ("x", ToolSetting { disabled: true, ..ToolSetting::default() }),
        ("y", ToolSetting { name: Some("why".to_owned()), ..ToolSetting::default() }),
        (
            "z",
            ToolSetting {
                description: Some("Says \"z\".".to_owned()),
                input_schema: Some(Bytes::from_static(SCHEMA.as_bytes())),
                ..ToolSetting::default()
            },
        ),
    ]
}

fn catalogues() -> Vec<ViewSource> {
    let tools = r#"{"name":"x"},{"name":"y"},{"odd":1e2,"name":"z","description":"old","inputSchema":{"type":"object"}}"#;
    let alike = || catalogue(&V2025_11_25, [tools, r#"{"name":"x"}"#, "", ""]);
    vec![upstream(1, "one", Ok(alike())), upstream(2, "two", Ok(alike()))]
}

#[test]
fn what_is_set_counts_for_that_server_alone() {
    for era in [&V2025_11_25, &V2026_07_28] {
        let view = view(era, &profile(&settings()), catalogues());
        assert!(view.tool("one__x").is_none() && view.tool("two__x").is_some());
        let why = view.tool("why").unwrap();
        assert_eq!((why.upstream, why.real_name.as_deref()), (UpstreamId(1), Some(b"\"y\"".as_slice())));
        assert_eq!(view.tool("one__y").map(|tool| &*tool.name), Some("why"), "its identity stays valid");
        assert!(view.tool("two__y").is_some());
        let page =
            String::from_utf8(view.pages(ListKind::Tools).page(None).unwrap().text().to_vec()).unwrap();
        let described = format!("\"description\":{}", quote("Says \"z\"."));
        assert!(page.contains(&described) && page.contains(SCHEMA), "{page}");
        assert_eq!(page.matches("\"old\"").count(), 1, "the other server's is as it was: {page}");
        assert_eq!(page.matches("1e2").count(), 2, "what nobody set is as it was: {page}");
        let set = view.tool("one__z").unwrap();
        assert!(set.check(Some(br#"{"a":1}"#)).is_ok() && set.check(Some(b"{}")).is_err());
        assert!(view.tool("two__z").unwrap().check(Some(b"{}")).is_ok());
        assert!(view.prompt("one__x").is_some(), "prompts are no tools");
        assert!(view.notes().is_empty(), "{:?}", view.notes());
    }
}

#[test]
fn rules_of_the_profile_count_before_what_is_set() {
    let mut profile = profile(&settings());
    profile.tools.deny = vec![config::Glob::parse("*__y").unwrap()];
    let view = view(&V2025_11_25, &profile, catalogues());
    assert!(view.tool("why").is_none() && view.tool("two__y").is_none());
}
