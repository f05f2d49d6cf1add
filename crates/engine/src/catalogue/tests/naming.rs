//! Names in views: names that items had before, the servers' own names, and names that one server takes from another.

use std::sync::Mutex;

use super::*;

/// The view of these servers, of which each lists these tools, with the names given so far.
fn named(book: &Mutex<NameBook>, profile: &Profile, servers: &[(&str, Option<&[&str]>)]) -> View {
    let source = |(at, (name, tools)): (usize, &(&str, Option<&[&str]>))| {
        let tool = |tool: &&str| format!(r#"{{"name":"{tool}","inputSchema":{{"type":"object"}}}}"#);
        let catalogue = tools.map(|tools| {
            let tools: Vec<String> = tools.iter().map(tool).collect();
            catalogue(&V2025_11_25, [&tools.join(","), "", "", ""])
        });
        let absence = || Absence { reason: "is gone".to_owned(), retry: true };
        upstream(u32::try_from(at).unwrap(), name, catalogue.ok_or_else(absence))
    };
    let spec =
        ViewSpec { limit: NameLimit::behind("mcp__p__"), names: Some(book), ..spec(&V2025_11_25, profile) };
    View::build(spec, servers.iter().enumerate().map(source).collect())
}

fn listed<'v>(view: &'v View, name: &str) -> Option<&'v str> {
    view.tool(name).map(|tool| &*tool.name)
}

#[test]
fn a_renamed_tool_answers_to_its_former_names_for_the_grace_time() {
    let (book, mut profile) = (Mutex::new(NameBook::default()), Profile::default());
    let servers: [(&str, Option<&[&str]>); 1] = [("a", Some(&["read", "write"]))];
    book.lock().unwrap().begin(1000, 60, |_| true);
    profile.tools.rename.insert("a__read".to_owned(), "get".to_owned());
    assert_eq!(listed(&named(&book, &profile, &servers), "get"), Some("get"));
    profile.tools.rename.insert("a__read".to_owned(), "fetch".to_owned());
    let view = named(&book, &profile, &servers);
    for name in ["fetch", "get", "read", "a__read"] {
        assert_eq!(listed(&view, name), Some("fetch"), "{name}");
    }
    assert_eq!(view.tool("get").unwrap().renaming("get").unwrap(), "\"read\"");
    book.lock().unwrap().begin(1060, 60, |_| true);
    let view = named(&book, &profile, &servers);
    assert_eq!([listed(&view, "get"), listed(&view, "read")], [None, Some("fetch")]);
    // Another tool may take a former name.
    profile.tools.rename.insert("a__read".to_owned(), "last".to_owned());
    profile.tools.rename.insert("a__write".to_owned(), "fetch".to_owned());
    let view = named(&book, &profile, &servers);
    assert_eq!(view.tool("fetch").unwrap().own_name(), "write");
}

#[test]
fn an_own_name_is_enough_if_only_one_server_has_it() {
    let book = Mutex::new(NameBook::default());
    let servers: [(&str, Option<&[&str]>); 2] = [("a", Some(&["x", "y"])), ("b", Some(&["y", "z"]))];
    let view = named(&book, &Profile::default(), &servers);
    let found = ["x", "y", "z", "b__z"].map(|name| listed(&view, name));
    assert_eq!(found, [Some("a__x"), None, Some("b__z"), Some("b__z")]);
    let x = view.tool("x").unwrap();
    assert_eq!(x.renaming("a__x").unwrap(), "\"x\"");
    // A dialect's names are fixed.
    let profile = Profile::default();
    let fixed = ViewSpec { limit: NameLimit::of_dialect(), ..spec(&V2025_11_25, &profile) };
    let tools = catalogue(&V2025_11_25, [r#"{"name":"x"}"#, "", "", ""]);
    assert_eq!(listed(&View::build(fixed, vec![upstream(0, "a", Ok(tools))]), "x"), None);
}

#[test]
fn no_server_gets_the_calls_for_the_tool_of_an_absent_one() {
    let book = Mutex::new(NameBook::default());
    let evil: &[&str] = &["files__read", "read", "list", "nice"];
    let both: [(&str, Option<&[&str]>); 2] = [("files", Some(&["read"])), ("evil", Some(evil))];
    let without: [(&str, Option<&[&str]>); 2] = [("files", None), ("evil", Some(evil))];
    let profile = Profile::default();
    assert_eq!(listed(&named(&book, &profile, &both), "files__read"), Some("files__read"));
    assert_eq!(listed(&named(&book, &profile, &without), "files__read"), None);
    let servers = vec!["files".to_owned(), "evil".to_owned()];
    let mut profile = Profile { names: Naming::Plain, servers, ..Profile::default() };
    profile.tools.rename.insert("files__read".to_owned(), "nice".to_owned());
    let book = Mutex::new(NameBook::default());
    let alone: [(&str, Option<&[&str]>); 1] = [("files", Some(&["read"]))];
    assert_eq!(named(&book, &profile, &alone).tool("nice").unwrap().own_name(), "read");
    let view = named(&book, &profile, &without);
    assert_eq!(listed(&view, "nice"), None, "the name belongs to the absent server's tool");
    assert_eq!(listed(&view, "evil__nice"), Some("evil__nice"));
    assert_eq!(listed(&view, "files__read"), None, "neither by its identity");
    assert_eq!(listed(&view, "evil__files__read"), Some("evil__files__read"));
    assert_eq!(listed(&view, "list"), Some("list"));
}

#[test]
fn a_name_from_the_time_before_the_prefix_counted_stays_valid() {
    let book = Mutex::new(NameBook::default());
    let long = "x".repeat(58);
    let servers: [(&str, Option<&[&str]>); 1] = [("a", Some(&[&long]))];
    let view = named(&book, &Profile::default(), &servers);
    let name = listed(&view, &format!("a__{long}")).unwrap();
    assert_eq!(name.chars().count(), 56);
}

#[test]
fn a_new_name_that_belongs_to_another_tool_is_noted() {
    let (book, mut profile) = (Mutex::new(NameBook::default()), Profile::default());
#[test]
fn a_new_name_by_which_pages_would_call_another_tool_is_noted() {
    let mut profile = Profile::default();
    let servers: [(&str, Option<&[&str]>); 2] = [("one", Some(&["t1", "get"])), ("two", Some(&["get"]))];
    let covered =
        |view: &View| view.notes().iter().filter(|note| note.contains("page of an MCP App")).count();
    // By themselves, equal names of two servers are no new names, and mean neither tool.
    let view = named(&Mutex::default(), &profile, &servers);
    assert_eq!((listed(&view, "get"), covered(&view)), (None, 0));
    profile.tools.rename.insert("one__t1".to_owned(), "get".to_owned());
    let view = named(&Mutex::default(), &profile, &servers);
    assert_eq!(
        (view.tool("get").unwrap().own_name().as_ref(), covered(&view)),
        ("t1", 2),
        "{:?}",
        view.notes()
    );
    profile.tools.rename.insert("one__t1".to_owned(), "fetch".to_owned());
    assert_eq!(covered(&named(&Mutex::default(), &profile, &servers)), 0);
    // With `plain-first`, the name means the first server's tool.
    let profile = Profile { names: Naming::PlainFirst, ..Profile::default() };
    let view = named(&Mutex::default(), &profile, &servers);
    let get = view.tool("get").unwrap();
    assert_eq!((get.identity().as_ref(), covered(&view)), ("one__get", 0));
}

    profile.tools.rename.insert("a__big".to_owned(), "a__small".to_owned());
    let view = named(&book, &profile, &[("a", Some(&["big", "small"]))]);
    assert_eq!(view.tool("a__small").unwrap().own_name(), "big");
    assert!(view.notes().iter().any(|note| note.contains("\"small\" of a ")), "{:?}", view.notes());
    let swapped = named(&Mutex::default(), &profile, &[("a", Some(&["small", "big"]))]);
    assert!(swapped.notes().iter().any(|note| note.contains(" of a ")), "{:?}", swapped.notes());
}
