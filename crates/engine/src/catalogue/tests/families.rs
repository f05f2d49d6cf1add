//! Views in the form of a family of clients: schemas and names change only where they must, and calls are checked as before.

use std::collections::HashSet;

use config::SchemaForm;

use super::*;

fn profile(schemas: SchemaForm) -> Profile {
    let mut profile = Profile::default();
    profile.tools.schemas = schemas;
    profile
}

const PLAIN: &str = r#"{ "name":"plain", "inputSchema":{"type":"object","properties":{"n":{"type":"number","default":1.0}}} , "x":1e2}"#;
const AWKWARD: &str = r#"{"title":"T","name":"a.b","description":"d","inputSchema":{"type":"object","properties":{"v":{"type":["string","null"],"format":"uri"}},"required":["v"],"additionalProperties":false},"outputSchema":{"type":"object","properties":{"r":{"type":["string","null"]}}},"annotations":{"readOnlyHint":true}}"#;

fn page(view: &View) -> String {
    String::from_utf8(view.pages(ListKind::Tools).page(None).unwrap().text().to_vec()).unwrap()
}

fn catalogues(tools: &[&str]) -> Vec<ViewSource> {
    vec![upstream(1, "one", Ok(catalogue(&V2025_11_25, [&tools.join(","), "", "", ""])))]
}

fn shown(era: &'static Era, schemas: SchemaForm, tools: &[&str]) -> View {
    let profile = profile(schemas);
    let limit = NameLimit::behind("").for_family(crate::schema_family::SchemaFamily::of(schemas));
    let spec = ViewSpec { limit, ..spec(era, &profile) };
    View::build(spec, catalogues(tools))
}

#[test]
fn tools_that_suit_stay_byte_for_byte() {
    for (word, form) in SchemaForm::ALL {
        let text = page(&shown(&V2025_11_25, *form, &[PLAIN]));
        assert!(text.contains(&PLAIN.replace("\"plain\"", "\"one__plain\"")), "{word}: {text}");
    }
    let text = page(&shown(&V2025_11_25, SchemaForm::AsReceived, &[PLAIN, AWKWARD]));
    assert!(text.contains(&AWKWARD.replace("a.b", "one__a.b")), "{text}");
}

#[test]
fn only_schema_and_name_change_and_calls_are_checked_against_the_original() {
    for era in [&V2025_11_25, &V2026_07_28] {
        let view = shown(era, SchemaForm::Gemini, &[AWKWARD]);
        let text = page(&view);
        let schema = r#""inputSchema":{"type":"object","properties":{"v":{"type":"string","description":"(format: uri)","nullable":true}},"required":["v"]}"#;
        assert!(text.contains(schema), "{text}");
        assert!(text.contains(r#""outputSchema":{"type":"object","properties":{"r":{"type":["string","null"]}}},"annotations":{"readOnlyHint":true}"#), "{text}");
        let tool = view.tool("one__a_b").unwrap();
        assert_eq!((tool.own_name(), &**tool.identity()), ("a.b".into(), "one__a.b"));
        assert!(tool.check(Some(br#"{"v":null}"#)).is_ok());
        assert!(tool.check(Some(br#"{"v":"x","other":1}"#)).is_err(), "the original is closed");
        assert!(view.notes().is_empty(), "{:?}", view.notes());
    }
}

#[test]
fn names_that_are_spelled_alike_stay_apart() {
    let tools =
        ["a.b", "a/b", "a_b"].map(|name| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#));
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let view = shown(&V2025_11_25, SchemaForm::Portable, &order.map(|at| tools[at].as_str()));
        let names: HashSet<String> = view.tools.values().map(|tool| tool.own_name().into_owned()).collect();
        assert_eq!(names.len(), 3, "{:?}", view.notes());
        assert_eq!(view.tool("one__a_b").unwrap().own_name(), "a_b", "it has this name without any change");
        assert!(view.tools.keys().all(|name| !name.contains(['.', '/']) && name.len() <= 40));
    }
}

#[test]
fn mirrored_arguments_stay_annotated_for_the_versions_that_have_them() {
    let tool = r#"{"name":"m","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"Region"}},"$schema":"x"}}"#;
    for (era, stays) in [(&V2025_11_25, false), (&V2026_07_28, true)] {
        let view = shown(era, SchemaForm::Gemini, &[tool]);
        assert_eq!(page(&view).contains(r#""x-mcp-header":"Region""#), stays);
        assert_eq!(view.tool("one__m").unwrap().mirrored.len(), usize::from(stays));
    }
}

#[test]
fn a_schema_that_no_form_can_express_is_widened_and_noted() {
    let many: Vec<String> = (0..11_000).map(|at| format!(r#""a{at}":{{}}"#)).collect();
    let tool = format!(
        r#"{{"name":"large","inputSchema":{{"type":"object","properties":{{{}}}}}}}"#,
        many.join(",")
    );
    let view = shown(&V2025_11_25, SchemaForm::Gemini, &[PLAIN, &tool]);
    assert!(page(&view).contains("plain") && view.tool("one__large").is_some());
    assert!(page(&view).contains(r#""inputSchema":{"type":"object","properties":{}}"#));
    assert_eq!(view.notes().len(), 1, "{:?}", view.notes());
}

#[test]
fn refusals_are_told_by_family() {
    let catalogue = catalogue(&V2025_11_25, [&[PLAIN, AWKWARD].join(","), "", "", ""]);
    let all = catalogue.refusals();
    assert!(catalogue.has_refusals() && !UpstreamCatalogue::clone(&catalogue).has_refusals());
    let said: Vec<String> = all.iter().map(ToString::to_string).collect();
    let openai = "1 tool does not suit openai: a.b (name: the name has characters that are not allowed)";
    assert!(said.iter().any(|one| one == openai), "{said:?}");
    let gemini = all.iter().find(|one| one.family.name == "gemini").unwrap();
    let rules: Vec<&str> = gemini.tools[0].findings.iter().map(|finding| finding.rule.id()).collect();
    assert_eq!(rules, ["type-union", "format"]);
    let listed = Refusals::listed(&all);
    assert_eq!(listed[0]["tools"][0]["reasons"][0]["path"], "/properties/v/type");
}
