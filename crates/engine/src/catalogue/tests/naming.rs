//! Names in views: names that items had before, the servers' own names, and names that one server takes from another.

use std::collections::HashMap;
use std::sync::Mutex;

use proptest::prelude::*;

use super::*;

/// The view of these servers, each of which lists these tools, with the names in `book`.
fn named(book: &Mutex<NameBook>, profile: &Profile, servers: &[(&str, Option<&[&str]>)]) -> View {
    let source = |(at, (name, tools)): (usize, &(&str, Option<&[&str]>))| {
        let tool = |tool: &&str| format!(r#"{{"name":"{tool}","inputSchema":{{"type":"object"}}}}"#);
        let catalogue = tools.map(|tools| {
            let tools: Vec<String> = tools.iter().map(tool).collect();
            catalogue(&V2025_11_25, [&tools.join(","), "", "", ""])
        });
        let absence = || UpstreamAbsence { reason: "is gone".to_owned(), retry: true };
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
fn a_new_name_by_which_pages_would_call_another_tool_is_noted() {
    let mut profile = Profile::default();
    let servers: [(&str, Option<&[&str]>); 2] = [("one", Some(&["t1", "get"])), ("two", Some(&["get"]))];
    let covered =
        |view: &View| view.notes().iter().filter(|note| note.contains("page of an MCP App")).count();
    // A name that two servers have in common is not a new name, and refers to neither tool.
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

#[test]
fn a_new_name_that_belongs_to_another_tool_is_noted() {
    let (book, mut profile) = (Mutex::new(NameBook::default()), Profile::default());
    profile.tools.rename.insert("a__big".to_owned(), "a__small".to_owned());
    let view = named(&book, &profile, &[("a", Some(&["big", "small"]))]);
    assert_eq!(view.tool("a__small").unwrap().own_name(), "big");
    assert!(view.notes().iter().any(|note| note.contains("\"small\" of a ")), "{:?}", view.notes());
    let swapped = named(&Mutex::default(), &profile, &[("a", Some(&["small", "big"]))]);
    assert!(swapped.notes().iter().any(|note| note.contains(" of a ")), "{:?}", swapped.notes());
}

/// A step in the life of a profile: the seconds that pass, the servers that are present (a bit each), and the renamed tools
/// with their new names (numbers).
type Step = (u64, u8, Vec<(usize, usize)>);

const SERVERS: [&str; 3] = ["a", "b", "c"];
const TOOLS: [&str; 3] = ["x", "y", "z"];
const GRACE: u64 = 60;

/// New names. Some of them are servers' own names, and begin like identities.
const NEW: [&str; 6] = ["one", "two", "x", "y", "b__y", "c__new"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let renames = prop::collection::vec((0..9_usize, 0..NEW.len()), 0..4);
    prop::collection::vec((0..45_u64, 1..8_u8, renames), 1..8)
}

/// The servers, those in `set` with their tools, the others absent.
fn sources(set: u8) -> Vec<ViewSource> {
    let source = |(at, name): (usize, &&str)| {
        let tools = TOOLS.map(|tool| format!(r#"{{"name":"{tool}","inputSchema":{{"type":"object"}}}}"#));
        let absence = UpstreamAbsence { reason: "is gone".to_owned(), retry: true };
        let lists = (set & (1 << at) != 0).then(|| catalogue(&V2025_11_25, [&tools.join(","), "", "", ""]));
        upstream(u32::try_from(at).unwrap(), name, lists.ok_or(absence))
    };
    SERVERS.iter().enumerate().map(source).collect()
}

/// An access rule, in YAML, that allows or denies tools by identity or by pattern.
fn access() -> impl Strategy<Value = String> {
    let target = prop_oneof![
        Just("*"),
        Just("a__*"),
        Just("*__x"),
        Just("b__y"),
        Just("c__z"),
        Just("one"),
        Just("x")
    ];
    let rule = (prop::bool::ANY, target)
        .prop_map(|(allows, what)| format!("{{ {}: '{what}' }}", if allows { "allow" } else { "deny" }));
    prop::collection::vec(rule, 0..4).prop_map(|rules| rules.join(", "))
}

/// A profile that renames tools; each new name is used only once.
fn renamed(renames: &[(usize, usize)]) -> Profile {
    let mut profile = Profile::default();
    for (tool, name) in renames {
        let new = NEW[*name];
        if !profile.tools.rename.values().any(|other| other == new) {
            let identity = format!("{}__{}", SERVERS[tool / 3], TOOLS[tool % 3]);
            profile.tools.rename.insert(identity, new.to_owned());
        }
    }
    profile
}

proptest! {
    #[test]
    fn a_name_reaches_one_identity_until_its_time_is_over_and_rules_follow_the_identity(
        steps in steps(),
        rules in access(),
    ) {
        let servers = "mcpServers: { a: { command: x }, b: { command: x }, c: { command: x } }\n";
        let guard = guard(&format!("{servers}access: [{rules}]\n"));
        let (book, mut now) = (Mutex::new(NameBook::default()), 1000);
        // The items that ever had each name, and the times at which they lost it.
        let mut known: HashMap<String, HashMap<String, Option<u64>>> = HashMap::new();
        for (passed, set, renames) in steps {
            now += passed;
            book.lock().unwrap().begin(now, GRACE, |_| true);
            let profile = renamed(&renames);
            let spec = |profile, names| ViewSpec { limit: NameLimit::behind("mcp__p__"), names, guard: Some(&guard), ..spec(&V2025_11_25, profile) };
            let view = View::build(spec(&profile, Some(&book)), sources(set));
            let usual = Profile::default();
            let plain = View::build(spec(&usual, None), sources(set));
            let listed: HashMap<String, String> =
                view.tools.values().map(|tool| (tool.name.to_string(), tool.identity().to_string())).collect();
            for (name, identity) in &listed {
                // The decision about the identity is the same as in a view without new names.
                prop_assert!(plain.tool(identity).is_some(), "{identity} as {name}: {rules}");
                let tool = view.tool(name).unwrap();
                let same = plain.tool(identity).unwrap();
                prop_assert_eq!(view.admits_call(tool, None), plain.admits_call(same, None));
            }
            for tool in plain.tools.values() {
                let is_hidden = !listed.values().any(|identity| **identity == **tool.identity());
                // Only a tool whose name another tool has is not listed.
                prop_assert!(!is_hidden || view.notes().iter().any(|note| note.contains("is hidden")), "{:?}", tool.name);
            }
            let is_present = |identity: &str| SERVERS.iter().position(|name| identity.starts_with(name)).is_some_and(|at| set & (1 << at) != 0);
            for (name, owners) in &mut known {
                let holder = listed.get(name);
                let is_listed = |identity: &String| listed.values().any(|listed| listed == identity);
                // An absent tool keeps its name until it comes back under another one, or while another tool has its name.
                for (_, lost) in owners.iter_mut().filter(|(identity, _)| is_present(identity) && Some(*identity) != holder) {
                    lost.get_or_insert(now);
                }
                if holder.is_some() {
                    continue;
                }
                let is_over = owners.values().all(|lost| lost.is_some_and(|lost| now >= lost + GRACE));
                let found = view.tool(name).map(|tool| tool.identity().to_string());
                if let [identity] = owners.keys().collect::<Vec<_>>()[..] && is_listed(identity) && !is_over {
                    prop_assert_eq!(found.as_ref(), Some(identity), "{}", name);
                } else if !is_over {
                    // The tool is absent, or several tools had this name: the name leads to no other tool, except for the
                    // tool whose identity it is.
                    let is_known = |found: &String| owners.contains_key(found) || found == name;
                    prop_assert!(found.as_ref().is_none_or(is_known), "{} {:?}", name, found);
                }
            }
            // A tool that the rules hide takes its new name all the same.
            let given = profile.tools.rename.iter().filter(|(identity, _)| is_present(identity)).map(|(identity, new)| (new.clone(), identity.clone()));
            for (name, identity) in listed.into_iter().chain(given) {
                known.entry(name).or_default().insert(identity, None);
            }
        }
    }
}
