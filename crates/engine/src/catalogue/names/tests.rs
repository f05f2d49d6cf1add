//! Names of random servers and tools: unique, short enough, and stable when servers join or leave.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use config::{Glob, Naming, Profile};
use proptest::prelude::*;

use super::uris::MOST_URIS;
use super::*;
use crate::list_kind::ListKind;

/// The names of these servers' items, by server and own name.
fn given(
    book: &mut NameBook,
    rules: (Naming, NameLimit),
    present: &[(Arc<str>, Vec<String>)],
) -> HashMap<(Arc<str>, String), String> {
    given_in(&[], book, rules, present)
}

/// The names of the present servers' items, by server and own name, in a profile with all these servers.
fn given_in(
    servers: &[String],
    book: &mut NameBook,
    (naming, limit): (Naming, NameLimit),
    present: &[(Arc<str>, Vec<String>)],
) -> HashMap<(Arc<str>, String), String> {
    let each = || present.iter().flat_map(|(server, items)| items.iter().map(move |own| (server, own)));
    let public = PublicNames::new(
        ListKind::Tools,
        (naming, limit),
        servers,
        each().map(|(server, own)| (&**server, &**own)),
    );
    let mut names = HashMap::new();
    for (server, own) in each() {
        let name = public.given(server, own, book).into_owned();
        let is_usual = naming == Naming::Prefix && name == identity(server, own);
        book.note(ListKind::Tools, (server, own), &name, is_usual);
        names.insert((server.clone(), own.clone()), name);
    }
    names
}

fn servers() -> impl Strategy<Value = Vec<(Arc<str>, Vec<String>)>> {
    let own = prop_oneof![4 => "[a-c]{1,2}", 1 => "[ab]{56,70}", 1 => "x{50}[a-z]{0,9}", 1 => "b(__|:)[a-c]"];
    let items =
        prop::collection::hash_set(own, 0..12).prop_map(|items| items.into_iter().collect::<Vec<_>>());
    prop::collection::hash_map("[a-f]{1,3}|s{30}[a-c]", items, 1..8)
        .prop_map(|all| all.into_iter().map(|(server, items)| (server.into(), items)).collect())
}

fn naming() -> impl Strategy<Value = Naming> {
    prop_oneof![Just(Naming::Prefix), Just(Naming::Plain), Just(Naming::PlainFirst)]
}

proptest! {
    #[test]
    fn names_are_unique_short_and_stable(
        all in servers(),
        naming in naming(),
        prefix in "[a-z_]{0,57}",
        sets in prop::collection::vec(any::<u8>(), 1..8),
    ) {
        let (mut book, limit) = (NameBook::default(), NameLimit::behind(&prefix));
        let servers: Vec<String> = all.iter().map(|(name, _)| name.to_string()).collect();
        let mut known: HashMap<(Arc<str>, String), String> = HashMap::new();
        for set in sets {
            let is_present = |at: usize| set & (1 << at) != 0;
            let present: Vec<_> =
                all.iter().enumerate().filter(|(at, _)| is_present(*at)).map(|(_, one)| one.clone()).collect();
            let names = given_in(&servers, &mut book, (naming, limit), &present);
            let unique: HashSet<&String> = names.values().collect();
            prop_assert_eq!(unique.len(), names.len(), "{:?}", names);
            for (item, name) in names {
                prop_assert!(name.chars().count() <= limit.most());
                prop_assert!(name.chars().count() + prefix.chars().count() <= 64, "{}", name);
                // No item has a name with the prefix of another server's items.
                let is_anothers = |other: &String| {
                    **other != *item.0 && name.strip_prefix(other.as_str()).is_some_and(|rest| rest.starts_with("__"))
                };
                let is_own = name == identity(&item.0, &item.1);
                prop_assert!(naming == Naming::Prefix || is_own || !servers.iter().any(is_anothers), "{}", name);
                let before = known.entry(item).or_insert_with(|| name.clone());
                prop_assert_eq!(&*before, &name);
            }
        }
        // Another process gives the same names.
        let stored = book.unsaved().map(|text| NameBook::stored(text.as_bytes()).unwrap());
        let again = given_in(&servers, &mut stored.unwrap_or_default(), (naming, limit), &all);
        for (item, name) in known {
            prop_assert_eq!(&again[&item], &name);
        }
    }

    #[test]
    fn a_name_that_is_short_enough_is_the_identity(all in servers()) {
        let names = given(&mut NameBook::default(), (Naming::Prefix, NameLimit::behind("mcp__a__")), &all);
        for ((server, own), name) in names {
            let whole = identity(&server, &own);
            prop_assert!(name == whole || whole.chars().count() > 56);
        }
    }
}

#[test]
fn equal_short_forms_are_told_apart() {
    let (limit, server): (_, Arc<str>) = (NameLimit::behind(""), "a".into());
    let long = "x".repeat(80);
    let short = limit.fit(identity(&server, &long));
    let mut book = NameBook::default();
    // Another tool was renamed to exactly this short form.
    book.note(ListKind::Tools, (&server, "other"), &short, false);
    let names = given(&mut book, (Naming::Prefix, limit), &[(server.clone(), vec![long.clone()])]);
    let name = &names[&(server, long)];
    assert!(*name != short && name.chars().count() == 64);
}

#[test]
fn an_item_keeps_its_name_when_another_server_has_the_same_later() {
    let (limit, server) = (NameLimit::behind(""), |name: &str| (Arc::from(name), vec!["y".to_owned()]));
    let mut book = NameBook::default();
    let name = |names: &HashMap<(Arc<str>, String), String>, server: &str| {
        names[&(server.into(), "y".to_owned())].clone()
    };
    let alone = given(&mut book, (Naming::Plain, limit), &[server("b")]);
    assert_eq!(name(&alone, "b"), "y");
    let both = given(&mut book, (Naming::Plain, limit), &[server("a"), server("b")]);
    assert_eq!([name(&both, "a"), name(&both, "b")], ["a__y", "y"]);
    // If a server is removed from the configuration, its name is free again.
    book.begin(0, 60, |server| server == "c");
    let other = given(&mut book, (Naming::Plain, limit), &[server("c")]);
    assert_eq!(name(&other, "c"), "y");
}

#[test]
fn a_former_name_stays_valid_for_the_grace_time() {
    let server: Arc<str> = "a".into();
    let mut book = NameBook::default();
    book.begin(100, 60, |_| true);
    let note =
        |book: &mut NameBook, name: &str| book.note(ListKind::Tools, (&server, "x"), name, name == "a__x");
    note(&mut book, "a__x");
    assert!(book.unsaved().is_none(), "the usual name needs no row");
    note(&mut book, "one");
    note(&mut book, "two");
    let means = |book: &NameBook, name: &str| {
        book.former().get(&(ListKind::Tools, name.into())).map(|(_, own)| own.to_string())
    };
    assert_eq!(means(&book, "one").as_deref(), Some("x"));
    let text = book.unsaved().unwrap();
    let mut stored = NameBook::stored(text.as_bytes()).unwrap();
    stored.begin(159, 60, |_| true);
    assert_eq!(means(&stored, "one").as_deref(), Some("x"));
    assert!(stored.expire(159).is_none());
    assert!(stored.expire(160).is_some_and(|left| left.is_empty()));
    assert_eq!(means(&stored, "one"), None);
    book.begin(160, 60, |_| true);
    assert_eq!(means(&book, "one"), None);
    assert_eq!(NameBook::stored(b"[{}]").map(|_| ()), None);
    assert_eq!(NameBook::stored(b"").map(|_| ()), None);
}

#[test]
fn one_of_two_alike_is_renamed_by_its_server() {
    let servers: [Arc<str>; 2] = ["a".into(), "b".into()];
    let limit = NameLimit::behind("");
    let names =
        PublicNames::new(ListKind::Tools, (Naming::First, limit), &[], [("a", "y"), ("b", "y")].into_iter());
    let mut profile = Profile::default();
    let shown = |profile: &Profile| {
        servers.each_ref().map(|server| names.shown(server, "y", profile.tools.names(), &NameBook::default()))
    };
    let two = |a: &str, b: &str| [Some(a.to_owned()), Some(b.to_owned())];
    profile.tools.rename.insert("b__y".to_owned(), "mine".to_owned());
    assert_eq!(shown(&profile), two("y", "mine"));
    profile.tools.rename.insert("y".to_owned(), "yours".to_owned());
    assert_eq!(shown(&profile), two("yours", "mine"));
    profile.tools.deny = vec![Glob::parse("b__*").unwrap()];
    assert_eq!(shown(&profile), [Some("yours".to_owned()), None]);
    profile.tools.deny = vec![Glob::parse("y").unwrap()];
    assert_eq!(shown(&profile), [None, None]);
}

#[test]
fn only_what_different_servers_have_clashes() {
    let all: Vec<(Arc<str>, Vec<String>)> = [("a", vec!["x", "y"]), ("b", vec!["y", "z"]), ("c", vec!["y"])]
        .map(|(server, own)| (server.into(), own.into_iter().map(str::to_owned).collect()))
        .into();
    for (naming, wanted) in [
        (Naming::Prefix, ["a__x", "a__y", "b__y", "b__z", "c__y"]),
        (Naming::Plain, ["x", "a__y", "b__y", "z", "c__y"]),
        (Naming::PlainFirst, ["x", "y", "b:y", "z", "c:y"]),
        (Naming::First, ["x", "y", "y", "z", "y"]),
    ] {
        let names = given(&mut NameBook::default(), (naming, NameLimit::behind("")), &all);
        let in_order =
            all.iter().flat_map(|(server, own)| own.iter().map(|own| (server.clone(), own.clone())));
        let names: Vec<&str> = in_order.map(|item| &*names[&item]).collect();
        assert_eq!(names, wanted);
    }
}

/// Two thousand servers with five tools each. Some tool names exist on many servers, and some differ only at their
/// ends and are so long that they must be shortened.
fn thousands() -> Vec<(Arc<str>, Vec<String>)> {
    let tools = |server: usize| {
        let long = "list_all_entries_of_the_archive_of_the_department_with_number";
        let common = ["read".to_owned(), "search".to_owned(), format!("{long}_{}", server % 7)];
        common.into_iter().chain([format!("{long}_{server}"), format!("own_{server}")]).collect()
    };
    (0..2000).map(|server| (format!("server-{server}").into(), tools(server))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn thousands_of_servers_join_and_leave(naming in naming(), prefix in "[a-z_]{0,40}", seeds in [any::<u64>(); 3]) {
        let (all, limit, mut book) = (thousands(), NameLimit::behind(&prefix), NameBook::default());
        let servers: Vec<String> = all.iter().map(|(name, _)| name.to_string()).collect();
        let mut known: HashMap<(Arc<str>, String), String> = HashMap::new();
        for seed in seeds {
            let is_present = |at: usize| seed.rotate_left(u32::try_from(at % 64).unwrap()) % 3 > 0;
            let present: Vec<_> =
                all.iter().enumerate().filter(|(at, _)| is_present(*at)).map(|(_, one)| one.clone()).collect();
            let names = given_in(&servers, &mut book, (naming, limit), &present);
            let unique: HashSet<&String> = names.values().collect();
            prop_assert_eq!(unique.len(), names.len());
            for (item, name) in names {
                prop_assert!(name.chars().count() + prefix.chars().count() <= 64, "{name}");
                let before = known.entry(item).or_insert_with(|| name.clone());
                prop_assert_eq!(&*before, &name);
            }
        }
    }
}

/// Decides whether a server's URI is public in its plain form.
fn gives(book: &mut NameBook, server: &Arc<str>, uri: &str, claimant: Option<&Arc<str>>) -> bool {
    let rule = PlainRule::UnlessHeld { claimant };
    book.gives_plain(ListKind::Resources, (server, uri), rule, (&mut Provisional::new(), false))
}

/// The number of stored rows of a server.
fn stored_rows(text: &str, server: &str) -> usize {
    text.matches(&format!("\"server\":\"{server}\"")).count()
}

#[test]
fn no_server_displaces_the_contests_of_others() {
    let [evil, good, other]: [Arc<str>; 3] = ["evil", "good", "other"].map(Arc::from);
    let mut book = NameBook::default();
    // All these URIs belong to a template of another server.
    for at in 0..2 * MOST_URIS {
        assert!(!gives(&mut book, &evil, &format!("x://{at}"), Some(&good)));
        assert!(!gives(&mut book, &evil, &format!("http://[{at}]"), Some(&good)));
    }
    assert!(gives(&mut book, &good, "y://1", None));
    assert!(!gives(&mut book, &other, "y://1", None));
    let text = book.unsaved().unwrap();
    assert!(stored_rows(&text, "evil") + stored_rows(&text, "good") <= MOST_URIS / 4 + 1);
    // After a restart, the decisions about the first and the last contested URI are still known.
    let mut book = NameBook::stored(text.as_bytes()).unwrap();
    assert!(!gives(&mut book, &evil, "x://0", None));
    assert!(!gives(&mut book, &other, "y://1", None));
    assert!(gives(&mut book, &good, "y://1", None));
}

#[test]
fn uris_that_must_carry_a_name_need_one_row() {
    let evil: Arc<str> = "evil".into();
    let mut book = NameBook::default();
    for at in 0..MOST_URIS {
        let key = format!("x://shop+{at}");
        let plain = (&mut Provisional::new(), false);
        assert!(!book.gives_plain(ListKind::Resources, (&evil, &key), PlainRule::Never, plain));
    }
    let text = book.unsaved().unwrap();
    assert_eq!(stored_rows(&text, "evil"), 1);
    let (marking, withheld) = NameBook::stored(text.as_bytes()).unwrap().contested_uris(|_| false);
    assert!(marking.contains(&evil) && withheld.is_empty());
}
