//! Resources of several servers with the same URIs: distinguished, stable, and never taken over by another server.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use proptest::prelude::*;

use super::uri_rules::NoTasks;
use super::*;
use crate::exchange::{Dispatch, Route, dispatch};
use crate::tasks::TaskIds;

/// A server by its name, with its resources, templates, and links of tools.
#[derive(Debug, Clone, Default)]
pub(super) struct Listing {
    resources: Vec<String>,
    templates: Vec<String>,
    links: Vec<String>,
}

pub(super) fn listing(resources: &[&str], templates: &[&str], links: &[&str]) -> Listing {
    let own = |all: &[&str]| all.iter().map(|uri| (*uri).to_owned()).collect();
    Listing { resources: own(resources), templates: own(templates), links: own(links) }
}

pub(super) fn source(id: u32, name: &str, listing: &Listing) -> ViewSource {
    let quoted = |uri: &String| serde_json::to_string(uri).unwrap();
    let list = |key: &str, all: &[String]| {
        all.iter()
            .map(|uri| format!("{{\"{key}\":{},\"name\":\"n\"}}", quoted(uri)))
            .collect::<Vec<_>>()
            .join(",")
    };
    let tool = |(at, uri): (usize, &String)| {
        format!(
            r#"{{"name":"t{at}","inputSchema":{{"type":"object"}},"_meta":{{"ui":{{"resourceUri":{0}}},"ui/resourceUri":{0}}}}}"#,
            quoted(uri)
        )
    };
    let tools = listing.links.iter().enumerate().map(tool).collect::<Vec<_>>().join(",");
    let (resources, templates) = (list("uri", &listing.resources), list("uriTemplate", &listing.templates));
    let mut catalogue =
        UpstreamCatalogue::clone(&catalogue(&V2025_11_25, [&tools, "", &resources, &templates]));
    catalogue.hello.capabilities =
        Bytes::from_static(br#"{"tools":{},"resources":{"subscribe":true},"completions":{}}"#);
    upstream(id, name, Ok(Arc::new(catalogue)))
}

pub(super) fn away(id: u32, name: &str) -> ViewSource {
    upstream(id, name, Err(UpstreamAbsence { reason: "is away".to_owned(), retry: false }))
}

pub(super) fn built(book: &Mutex<NameBook>, upstreams: Vec<ViewSource>) -> View {
    let profile = Profile::default();
    View::build(ViewSpec { names: Some(book), ..spec(&V2025_11_25, &profile) }, upstreams)
}

/// The URIs or templates of a list, in order.
pub(super) fn listed(view: &View, kind: ListKind) -> Vec<String> {
    let page: serde_json::Value =
        serde_json::from_slice(view.pages(kind).page(None).unwrap().text()).unwrap();
    let items = page[kind.member()].as_array().unwrap();
    items.iter().map(|item| item[kind.key()].as_str().unwrap().to_owned()).collect()
}

pub(super) fn frame(text: String) -> Frame {
    Frame::parse(Bytes::from(text), FrameLimits::default()).unwrap()
}

/// The route of a request about a URI.
fn routed<'v>(view: &'v View, method: &str, uri: &str) -> Option<(Frame, Route<'v>)> {
    let uri = serde_json::to_string(uri).unwrap();
    let params = match method {
        "completion/complete" => {
            format!(r#"{{"ref":{{"type":"ref/resource","uri":{uri}}},"argument":{{"name":"a","value":""}}}}"#)
        }
        _ => format!(r#"{{"uri":{uri}}}"#),
    };
    let request = frame(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#));
    match dispatch(&request, view, "{}", TaskIds::new(&NoTasks, "x", view.era())) {
        Ok(Dispatch::Forward(route)) => Some((request, route)),
        _ => None,
    }
}

/// The server that a read goes to, and the URI that the server gets.
pub(super) fn read(view: &View, uri: &str) -> Option<(u32, String)> {
    let (_, route) = routed(view, "resources/read", uri)?;
    let own = route.rename.map_or(uri.to_owned(), |(_, own)| serde_json::from_slice(&own).unwrap());
    Some((route.upstream.0, own))
}

const ANOTHERS: &str = "ui://shop+widgets/x.html";

#[test]
fn a_server_cannot_take_over_what_carries_another_ones_name() {
    let own = "ui://widgets/x.html";
    let (first, shop) = (listing(&[own], &[], &[]), listing(&[own], &[], &[]));
    for attacker in [
        listing(&[ANOTHERS], &[], &[]),
        listing(&[], &[], &[ANOTHERS]),
        listing(&[], &["ui://shop+widgets/{x}", "ui://{+all}", "ui://shop{+x}"], &[]),
        listing(&["ui://evil+shop+widgets/x.html"], &["ui://shop+{+x}"], &[ANOTHERS]),
    ] {
        for order in [[0, 1, 2], [1, 0, 2], [1, 2, 0]] {
            let book = Mutex::default();
            let all = [("evil", &attacker), ("first", &first), ("shop", &shop)];
            let sources = |is_there: bool| {
                let one = |at: &usize| match all[*at] {
                    ("shop", _) if !is_there => away(2, "shop"),
                    (name, listing) => source(u32::try_from(*at).unwrap(), name, listing),
                };
                order.iter().map(one).collect::<Vec<_>>()
            };
            let view = built(&book, sources(true));
            assert_eq!(read(&view, ANOTHERS), Some((2, own.to_owned())), "{attacker:?}");
            assert_eq!(read(&view, own), Some((1, own.to_owned())));
            // No other server gets the request while the server is away.
            let view = built(&book, sources(false));
            assert_eq!(read(&view, ANOTHERS), None, "{attacker:?}");
            assert!(!listed(&view, ListKind::Resources).contains(&ANOTHERS.to_owned()));
        }
    }
}

#[test]
fn a_server_that_lists_a_known_uri_later_does_not_get_it() {
    let (own, book) = ("ui://widgets/x.html", Mutex::default());
    let (shop, none) = (listing(&[own], &["memo://{a}"], &[own]), Listing::default());
    built(&book, vec![source(0, "evil", &none), source(1, "shop", &shop)]);
    let evil = listing(&[own], &["memo://{b}"], &[own]);
    let view = built(&book, vec![source(0, "evil", &evil), source(1, "shop", &shop)]);
    assert_eq!(read(&view, own), Some((1, own.to_owned())));
    assert_eq!(read(&view, "ui://evil+widgets/x.html"), Some((0, own.to_owned())));
    assert_eq!(read(&view, "memo://1"), Some((1, "memo://1".to_owned())));
    assert_eq!(read(&view, "memo://evil+1"), Some((0, "memo://1".to_owned())));
    // The same in the next process, even if the server is not there.
    let text = book.lock().unwrap().unsaved().unwrap();
    let book = Mutex::new(NameBook::stored(text.as_bytes()).unwrap());
    let view = built(&book, vec![source(0, "evil", &evil), away(1, "shop")]);
    assert_eq!(read(&view, own), None);
    assert_eq!(read(&view, "memo://evil+1"), Some((0, "memo://1".to_owned())));
    assert_eq!(listed(&view, ListKind::Resources), ["ui://evil+widgets/x.html"]);
}

#[test]
fn no_server_takes_reads_from_the_template_of_another() {
    let (good, none) = (listing(&[], &["notes://{id}"], &[]), Listing::default());
    let evil = listing(&["notes://5", "notes:other", "memo://5"], &[], &["ui://x", "notes://6"]);
    for order in [[0, 1], [1, 0]] {
        let book = Mutex::default();
        let shown = |evil: &Listing| {
            let both = [source(0, "evil", evil), source(1, "good", &good)];
            built(&book, order.iter().map(|at| both[*at].clone()).collect())
        };
        shown(&none);
        let view = shown(&evil);
        assert_eq!(read(&view, "notes://5"), Some((1, "notes://5".to_owned())));
        assert_eq!(read(&view, "notes://evil+5"), Some((0, "notes://5".to_owned())));
        let mine = listed(&view, ListKind::Resources);
        assert_eq!(mine, ["notes://evil+5", "notes:other", "memo://5"], "nothing else changes");
        assert_eq!(listed(&shown(&evil), ListKind::Resources), mine);
    }
    // While the template's server is away, no other server gets its reads, not even a third server that lists the URI.
    let book = Mutex::default();
    let third = listing(&["notes://5"], &[], &[]);
    let all = |good: ViewSource, third: &Listing| {
        built(&book, vec![source(0, "evil", &evil), good, source(2, "third", third)])
    };
    built(&book, vec![source(0, "evil", &none), source(1, "good", &good), source(2, "third", &none)]);
    all(source(1, "good", &good), &none);
    assert_eq!(read(&all(away(1, "good"), &none), "notes://5"), None);
    assert_eq!(read(&all(away(1, "good"), &third), "notes://5"), None);
    let view = all(source(1, "good", &good), &third);
    assert_eq!(read(&view, "notes://5"), Some((1, "notes://5".to_owned())));
    assert_eq!(read(&view, "notes://third+5"), Some((2, "notes://5".to_owned())));
    // A URI that the server had before the template stays as it is.
    let book = Mutex::default();
    built(&book, vec![source(0, "evil", &evil), source(1, "good", &none)]);
    let view = built(&book, vec![source(0, "evil", &evil), source(1, "good", &good)]);
    assert_eq!(read(&view, "notes://5"), Some((0, "notes://5".to_owned())));
}

#[test]
fn a_server_that_starts_slowly_still_comes_first_soon_after_the_start() {
    let (own, starting) =
        (listing(&["memo:x"], &[], &[]), UpstreamAbsence { reason: "is starting".to_owned(), retry: true });
    let slow = || upstream(0, "slow", Err(starting.clone()));
    let others = || [source(1, "b", &own), source(2, "c", &own)];
    let shown = |book: &Mutex<NameBook>, first: ViewSource| {
        listed(&built(book, [first].into_iter().chain(others()).collect()), ListKind::Resources)
    };
    let book: Mutex<NameBook> = Mutex::default();
    book.lock().unwrap().begin(100, 0, |_| true);
    assert_eq!(shown(&book, slow()), ["memo:x", "memo:c+x"]);
    assert_eq!(shown(&book, source(0, "slow", &own)), ["memo:x", "memo:b+x", "memo:c+x"]);
    let book: Mutex<NameBook> = Mutex::default();
    for now in [100, 160] {
        book.lock().unwrap().begin(now, 0, |_| true);
        assert_eq!(shown(&book, slow()), ["memo:x", "memo:c+x"]);
    }
    assert_eq!(shown(&book, source(0, "slow", &own)), ["memo:slow+x", "memo:x", "memo:c+x"]);
}

#[test]
fn only_what_clashes_changes_and_both_ways_work() {
    let page = "ui://page/x";
    let docs = listing(&["file:///etc/x", "memo:x", "docs://own"], &["db://{table}/{id}"], &[page]);
    let shop = listing(&["memo:x", "file:///etc/x", "shop://own"], &["db://{t}/{i}", "shop://{x}"], &[page]);
    let view = built(&Mutex::default(), vec![source(0, "docs", &docs), source(1, "shop", &shop)]);
    assert_eq!(
        listed(&view, ListKind::Resources),
        ["file:///etc/x", "memo:x", "docs://own", "memo:shop+x", "file://shop+/etc/x", "shop://own"]
    );
    assert_eq!(listed(&view, ListKind::Templates), ["db://{table}/{id}", "db://shop+{t}/{i}", "shop://{x}"]);
    let to = |server: u32, own: &str| Some((server, own.to_owned()));
    for (uri, wanted) in [
        ("memo:x", to(0, "memo:x")),
        ("memo:shop+x", to(1, "memo:x")),
        ("file://shop+/etc/x", to(1, "file:///etc/x")),
        ("db://a/1", to(0, "db://a/1")),
        ("db://shop+a/1", to(1, "db://a/1")),
        ("shop://own", to(1, "shop://own")),
        ("shop://7", to(1, "shop://7")),
        (page, to(0, page)),
        ("ui://shop+page/x", to(1, page)),
        ("memo:docs+x", None),
        ("memo:else+x", None),
        ("nothing://x", None),
    ] {
        assert_eq!(read(&view, uri), wanted, "{uri}");
        let own = routed(&view, "resources/subscribe", uri).map(|(_, route)| route.upstream.0);
        assert_eq!(own, wanted.map(|(server, _)| server), "{uri}");
    }
    let (request, route) = routed(&view, "completion/complete", "db://shop+{t}/{i}").unwrap();
    let (span, own) = route.rename.unwrap();
    assert_eq!(
        (span.of(request.text()), &own[..]),
        (&b"\"db://shop+{t}/{i}\""[..], &b"\"db://{t}/{i}\""[..])
    );
    let tools = String::from_utf8_lossy(view.pages(ListKind::Tools).page(None).unwrap().text()).into_owned();
    assert_eq!(tools.matches("\"ui://page/x\"").count(), 2);
    assert_eq!(
        tools
            .matches(
                r#""_meta":{"ui":{"resourceUri":"ui://shop+page/x"},"ui/resourceUri":"ui://shop+page/x"}"#
            )
            .count(),
        1
    );
}

#[test]
fn messages_of_a_server_name_public_uris() {
    let docs = listing(&["memo:x"], &["db://{t}"], &[]);
    let shop = listing(&["memo:x", "shop://own"], &["db://{t}", "shop://{x}"], &["ui://p"]);
    let view = built(&Mutex::default(), vec![source(0, "docs", &docs), source(1, "shop", &shop)]);
    assert!(view.uris_of(UpstreamId(0)).is_none(), "nothing of the first server changes");
    let uris = view.uris_of(UpstreamId(1)).unwrap();
    for (own, wanted) in [
        ("memo:x", Some("memo:shop+x")),
        ("shop://own", None),
        ("db://1", Some("db://shop+1")),
        ("shop://1", None),
        ("ui://p", None),
        ("unknown://1", None),
        ("memo:shop+x", Some("memo:shop+shop+x")),
    ] {
        assert_eq!(uris.public(own).as_deref(), wanted, "{own}");
    }
    for (message, wanted) in [
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"memo:x"},{"type":"resource_link","uri":"memo:x","name":"n"},{"type":"resource","resource":{"uri":"db:\/\/1","text":"memo:x"}},{"type":"image","uri":"memo:x"}],"structuredContent":{"uri":"memo:x"},"_meta":{"ui":{"resourceUri":"memo:x"},"ui/resourceUri":"memo:x","uri":"memo:x"}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"memo:x"},{"type":"resource_link","uri":"memo:shop+x","name":"n"},{"type":"resource","resource":{"uri":"db://shop+1","text":"memo:x"}},{"type":"image","uri":"memo:x"}],"structuredContent":{"uri":"memo:x"},"_meta":{"ui":{"resourceUri":"memo:shop+x"},"ui/resourceUri":"memo:shop+x","uri":"memo:x"}}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"memo:x","text":"a"},{"uri":"shop://own","text":""}]}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"memo:shop+x","text":"a"},{"uri":"shop://own","text":""}]}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"messages":[{"role":"user","content":{"type":"resource_link","uri":"memo:x"}},{"role":"user","content":[{"type":"resource","resource":{"uri":"memo:x"}}]}]}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"messages":[{"role":"user","content":{"type":"resource_link","uri":"memo:shop+x"}},{"role":"user","content":[{"type":"resource","resource":{"uri":"memo:shop+x"}}]}]}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"memo:x"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"memo:shop+x"}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"no","data":{"uri":"memo:x"}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"no","data":{"uri":"memo:shop+x"}}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"taskId":"t","status":"completed","result":{"content":[{"type":"resource_link","uri":"memo:x"}]}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"taskId":"t","status":"completed","result":{"content":[{"type":"resource_link","uri":"memo:shop+x"}]}}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"t","status":"completed","result":{"content":[{"type":"resource_link","uri":"memo:x"}]}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"t","status":"completed","result":{"content":[{"type":"resource_link","uri":"memo:shop+x"}]}}}"#,
        ),
    ] {
        assert_eq!(String::from_utf8_lossy(uris.published(frame(message.to_owned())).text()), wanted);
    }
    let same = r#"{"jsonrpc":"2.0","id":1,"result":{ "contents" : [ {"uri":"shop://own"} ] , "x":1.0 }}"#;
    assert_eq!(uris.published(frame(same.to_owned())).text(), same.as_bytes());
}

#[test]
fn what_rules_say_about_a_servers_own_uri_counts() {
    let globs = |text: &str| vec![config::Glob::parse(text).unwrap()];
    let mut profile = Profile::default();
    profile.resources.deny = globs("memo:secret*");
    let own = listing(&["memo:secret", "memo:x"], &["memo:{a}"], &[]);
    let sources = vec![source(0, "docs", &own), source(1, "shop", &own)];
    let view = super::view(&V2025_11_25, &profile, sources);
    assert_eq!(listed(&view, ListKind::Resources), ["memo:x", "memo:shop+x"]);
    for denied in ["memo:secret", "memo:shop+secret", "memo:shop+secret2"] {
        assert_eq!(read(&view, denied), None, "{denied}");
    }
    assert_eq!(read(&view, "memo:shop+y"), Some((1, "memo:y".to_owned())));
}

#[test]
fn dialects_see_uris_as_they_are() {
    let profile = Profile::default();
    let own = listing(&["memo:x"], &[], &["ui://p"]);
    let spec = ViewSpec { limit: NameLimit::of_dialect(), ..spec(&V2025_11_25, &profile) };
    let view = View::build(spec, vec![source(0, "docs", &own), source(1, "shop", &own)]);
    assert_eq!(listed(&view, ListKind::Resources), ["memo:x"]);
    assert!(view.notes()[0].contains("docs has the same URI"), "{:?}", view.notes());
    assert!(view.uris_of(UpstreamId(1)).is_none());
}

fn uri() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "(ui://|memo:|file:///)[ab]{1,2}",
        1 => "(ui://|memo:)[a-d]\\+[ab]",
        1 => "[ab:+/]{1,4}",
    ]
}

fn servers() -> impl Strategy<Value = Vec<(String, Listing)>> {
    let all = |uri: BoxedStrategy<String>| {
        prop::collection::hash_set(uri, 0..6).prop_map(|all| all.into_iter().collect::<Vec<_>>())
    };
    let template = "(ui://|memo:)([ab]/)?(x|\\{[abc]\\})(/\\{c\\})?".boxed();
    let listing = (all(uri().boxed()), all(template), all("ui://[ab]{1,2}".boxed()))
        .prop_map(|(resources, templates, links)| Listing { resources, templates, links });
    prop::collection::btree_map("[a-d]", listing, 1..5).prop_map(|all| all.into_iter().collect())
}

proptest! {
    #[test]
    fn public_uris_are_unique_lead_back_and_stay(all in servers(), sets in prop::collection::vec(any::<u8>(), 1..6)) {
        let book = Mutex::default();
        let mut known: HashMap<(u32, String), String> = HashMap::new();
        let mut means: HashMap<String, (u32, String)> = HashMap::new();
        for set in sets {
            let sources = all.iter().enumerate().map(|(at, (name, listing))| {
                let id = u32::try_from(at).unwrap();
                if set & (1 << at) == 0 { away(id, name) } else { source(id, name, listing) }
            });
            let view = built(&book, sources.collect());
            let shown = listed(&view, ListKind::Resources);
            let unique: HashSet<&String> = shown.iter().collect();
            prop_assert_eq!(unique.len(), shown.len(), "{:?}", shown);
            for public in shown {
                let (server, own) = read(&view, &public).unwrap();
                prop_assert!(all[server as usize].1.resources.contains(&own), "{public} leads to {own}");
                let uris = view.uris_of(UpstreamId(server));
                let back = uris.and_then(|uris| uris.public(&own)).unwrap_or(own.clone());
                prop_assert_eq!(&back, &public);
                let before = known.entry((server, own.clone())).or_insert_with(|| public.clone());
                prop_assert_eq!(&*before, &public);
                let before = means.entry(public).or_insert_with(|| (server, own.clone()));
                prop_assert_eq!(&*before, &(server, own));
            }
            // A URI that servers compete for never leads to another server. Otherwise, the only server with resources gets the
            // requests for URIs that no server lists.
            let marked: HashSet<&String> =
                means.iter().filter(|(public, (_, own))| *public != own).map(|(_, (_, own))| own).collect();
            for (public, (server, own)) in means.iter().filter(|(_, (_, own))| marked.contains(own)) {
                if let Some(found) = read(&view, public) {
                    prop_assert_eq!(&found, &(*server, own.clone()), "{}", public);
                }
            }
        }
    }
}
