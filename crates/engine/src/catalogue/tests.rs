//! Tests of the path from pages to a view: gathering with its caps, merging with its rules.

use std::sync::Arc;

use bytes::Bytes;
use config::{Lookup, Naming, Profile, ServerTools, load};
use proto::era::{CacheHint, Era, ServerHello, V2025_11_25, V2026_07_28};
use proto::rpc::{Frame, FrameLimits, Id};

use super::*;
use crate::access::{Asker, Guard, Principal, Rules};

mod failed;
mod families;
mod guarded;
mod holding;
mod mixed;
mod naming;
mod overrides;
mod paged;
mod same_uris;
mod searched;
mod settings;
mod uri_limits;
mod uri_rules;
mod withheld;

fn hello(era: &'static Era) -> ServerHello {
    ServerHello {
        era,
        capabilities: Bytes::from_static(br#"{"tools":{},"prompts":{},"resources":{"subscribe":true}}"#),
        info: Bytes::from_static(b"{}"),
        instructions: Some("Be kind.".to_owned()),
    }
}

fn answer(result: &str) -> Frame {
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    Frame::parse(Bytes::from(text), FrameLimits::default()).unwrap()
}

const LIMITS: GatherLimits = GatherLimits { pages: 5, entries: 100 };

/// A catalogue of a server with these lists (tools, prompts, resources, templates).
fn catalogue(era: &'static Era, lists: [&str; 4]) -> Arc<UpstreamCatalogue> {
    let mut gather = Gather::new(hello(era), LIMITS, "{}");
    while let Some(kind) = gather.wants() {
        let at = ListKind::ALL.iter().position(|k| *k == kind).unwrap();
        gather.feed(&answer(&format!("{{\"{}\":[{}]}}", kind.member(), lists[at]))).unwrap();
    }
    Arc::new(gather.finish())
}

fn upstream(id: u32, name: &str, catalogue: Result<Arc<UpstreamCatalogue>, UpstreamAbsence>) -> ViewSource {
    ViewSource { id: UpstreamId(id), name: name.into(), over_http: true, catalogue }
}

/// The view of any client in this era, without rules, and without names from before.
fn spec<'a>(era: &'static Era, profile: &'a Profile) -> ViewSpec<'a> {
    ViewSpec {
        era,
        profile,
        limit: NameLimit::behind(""),
        names: None,
        server_info: "{}",
        schema_bytes: 4096,
        guard: None,
        separate: false,
        personal: false,
    }
}

fn view(era: &'static Era, profile: &Profile, upstreams: Vec<ViewSource>) -> View {
    View::build(spec(era, profile), upstreams)
}

#[test]
fn all_pages_are_followed_and_circles_are_left() {
    let mut gather = Gather::new(hello(&V2025_11_25), LIMITS, "{}");
    assert_eq!(
        gather.request(&Id::number(1)).unwrap(),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#
    );
    gather.feed(&answer(r#"{"tools":[{"name":"a"}],"nextCursor":"x\u0031"}"#)).unwrap();
    assert!(gather.request(&Id::number(2)).unwrap().ends_with(br#""params":{"cursor":"x\u0031"}}"#));
    gather.feed(&answer(r#"{"tools":[{"name":"b"},{"name":"a"},{"x":1}],"nextCursor":"x\u0031"}"#)).unwrap();
    assert_eq!(gather.wants(), Some(ListKind::Prompts));
    gather.feed(&answer(r#"{"prompts":[]}"#)).unwrap();
    gather.feed(&answer(r#"{"resources":[]}"#)).unwrap();
    let refused = br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#;
    gather.feed(&Frame::parse(Bytes::from_static(refused), FrameLimits::default()).unwrap()).unwrap();
    assert_eq!(gather.wants(), None);
    let catalogue = gather.finish();
    let names: Vec<&str> = catalogue.list(ListKind::Tools).iter().map(|i| i.key.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    // A duplicate name, a missing name, a cycle, and missing schemas.
    assert_eq!(catalogue.notes.len(), 4, "{:?}", catalogue.notes);
}

#[test]
fn what_hides_characters_is_cleaned_or_left_out_with_one_note() {
    let mut hello = hello(&V2025_11_25);
    hello.instructions = Some("Be\u{202e} kind.".to_owned());
    let mut gather = Gather::new(hello, LIMITS, "{}");
    let tools = r#"{"tools":[{"name":"a" , "x":1.0,"inputSchema":{"type":"object"}},{"name":"b\u202e"},
        {"name":"c","description":"\u200bx","inputSchema":{"type":"object"}}]}"#;
    gather.feed(&answer(tools)).unwrap();
    let catalogue = gather.finish();
    let texts: Vec<&[u8]> = catalogue.list(ListKind::Tools).iter().map(|item| &item.text[..]).collect();
    assert_eq!(
        texts,
        [
            br#"{"name":"a" , "x":1.0,"inputSchema":{"type":"object"}}"#.as_slice(),
            br#"{"name":"c","description":"x","inputSchema":{"type":"object"}}"#
        ]
    );
    assert_eq!(catalogue.hello.instructions.as_deref(), Some("Be kind."));
    assert_eq!(catalogue.notes.len(), 1, "{:?}", catalogue.notes);
}

#[test]
fn tools_that_are_not_served_are_in_no_catalogue() {
    let glob = |text| config::Glob::parse(text).unwrap();
    let (only, never) = (Some(vec![glob("a"), glob("b"), glob("z*")]), vec![glob("b"), glob("typo")]);
    let mut gather = Gather::new(hello(&V2025_11_25), LIMITS, "{}").serving(ServerTools { only, never });
    let tools =
        ["a", "b", "c"].map(|name| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#));
    gather.feed(&answer(&format!(r#"{{"tools":[{}]}}"#, tools.join(",")))).unwrap();
    gather.feed(&answer(r#"{"prompts":[{"name":"b"}]}"#)).unwrap();
    let catalogue = gather.finish();
    let names = |kind| catalogue.list(kind).iter().map(|item| item.key.as_str()).collect::<Vec<_>>();
    assert_eq!((names(ListKind::Tools), names(ListKind::Prompts)), (vec!["a"], vec!["b"]));
    assert!(
        catalogue.notes.len() == 1 && catalogue.notes[0].ends_with(": \"typo\""),
        "{:?}",
        catalogue.notes
    );
}

#[test]
fn endless_pages_and_endless_lists_end() {
    let mut gather = Gather::new(hello(&V2025_11_25), GatherLimits { pages: 3, entries: 4 }, "{}");
    let mut n = 0;
    while gather.wants() == Some(ListKind::Tools) {
        n += 1;
        gather
            .feed(&answer(&format!(
                r#"{{"tools":[{{"name":"a{n}"}},{{"name":"b{n}"}}],"nextCursor":"{n}"}}"#
            )))
            .unwrap();
    }
    assert_eq!(n, 3);
    assert_eq!(gather.finish().list(ListKind::Tools).len(), 4);
}

#[test]
fn stateless_requests_carry_an_envelope() {
    let gather = Gather::new(hello(&V2026_07_28), LIMITS, r#"{"name":"g"}"#);
    let request = gather.request(&Id::number(1)).unwrap();
    let frame = Frame::parse(request, FrameLimits::default()).unwrap();
    assert!(proto::era::read_envelope(&frame, None).is_ok());
}

#[test]
fn prefix_names_map_both_ways_and_keep_every_other_byte() {
    let files = catalogue(
        &V2025_11_25,
        [
            r#"{"odd":1e2, "inputSchema":{"type":"object"}, "name" : "read" }"#,
            r#"{"name":"p"}"#,
            r#"{"uri":"f://1"}"#,
            "",
        ],
    );
    let view = view(&V2025_11_25, &Profile::default(), vec![upstream(7, "files", Ok(files))]);
    let tool = view.tool("files__read").unwrap();
    assert_eq!((tool.upstream, tool.real_name.as_deref()), (UpstreamId(7), Some(b"\"read\"".as_slice())));
    assert_eq!(&*view.tool("read").unwrap().name, "files__read", "only one server has such a tool");
    assert!(view.tool("files__").is_none() && view.tool("other__read").is_none());
    let page = view.pages(ListKind::Tools).page(None).unwrap().text();
    assert_eq!(
        page.as_ref(),
        br#"{"tools":[{"odd":1e2, "inputSchema":{"type":"object"}, "name" : "files__read" }]}"#
    );
    assert_eq!(view.prompt("files__p").unwrap().upstream, UpstreamId(7));
    assert_eq!(view.resource_owner("f://1"), Some(UpstreamId(7)));
    assert_eq!(view.instructions(), Some("Be kind."));
}

#[test]
fn plain_names_are_prefixed_only_where_they_clash() {
    let one = || {
        catalogue(
            &V2025_11_25,
            [r#"{"name":"x"},{"name":"y"}"#, "", r#"{"uri":"u://1"}"#, r#"{"uriTemplate":"a://{b}"}"#],
        )
    };
    let two = catalogue(&V2025_11_25, [r#"{"name":"y"},{"name":"z"}"#, "", r#"{"uri":"u://1"}"#, ""]);
    let mut profile = Profile { names: Naming::Plain, ..Profile::default() };
    profile.tools.rename.insert("z".to_owned(), "zed".to_owned());
    let view = view(&V2025_11_25, &profile, vec![upstream(1, "one", Ok(one())), upstream(2, "two", Ok(two))]);
    let owner = |name: &str| view.tool(name).map(|t| t.upstream.0);
    assert_eq!(
        [owner("x"), owner("one__y"), owner("two__y"), owner("zed")],
        [Some(1), Some(1), Some(2), Some(2)]
    );
    assert_eq!([owner("y"), owner("z"), owner("two__z")], [None, Some(2), Some(2)], "both have `y`");
    assert!(view.tool("x").unwrap().real_name.is_none());
    assert_eq!(view.resource_owner("u://1"), Some(UpstreamId(1)));
    assert_eq!(view.resource_owner("u://two+1"), Some(UpstreamId(2)));
    assert_eq!(view.resource_owner("a://1"), Some(UpstreamId(1)));
    assert_eq!(view.resource_owner("b://1"), None);
    assert_eq!(view.notes().len(), 0);
}

#[test]
fn the_first_of_two_alike_keeps_its_name() {
    let catalogues = || {
        let one = catalogue(&V2025_11_25, [r#"{"name":"x"},{"name":"y"}"#, r#"{"name":"y"}"#, "", ""]);
        let two = catalogue(&V2025_11_25, [r#"{"name":"y"},{"name":"z"}"#, r#"{"name":"y"}"#, "", ""]);
        vec![upstream(1, "one", Ok(one)), upstream(2, "two", Ok(two))]
    };
    let of = |naming, renamed: &[(&str, &str)]| {
        let mut profile = Profile { names: naming, ..Profile::default() };
        let renamed = renamed.iter().map(|(old, new)| ((*old).to_owned(), (*new).to_owned()));
        profile.tools.rename.extend(renamed);
        view(&V2025_11_25, &profile, catalogues())
    };
    let owners =
        |view: &View, names: [&str; 3]| names.map(|name| view.tool(name).map(|tool| tool.upstream.0));
    let clash = of(Naming::PlainFirst, &[]);
    assert_eq!(owners(&clash, ["y", "two:y", "z"]), [Some(1), Some(2), Some(2)]);
    assert_eq!(clash.tool("two:y").unwrap().real_name.as_deref(), Some(b"\"y\"".as_slice()));
    assert_eq!(clash.prompt("two:y").unwrap().upstream, UpstreamId(2));
    assert_eq!(clash.tool("two__y").map(|tool| &*tool.name), Some("two:y"));
    assert!(clash.notes().is_empty());
    let first = of(Naming::First, &[("x", "ex")]);
    assert_eq!(owners(&first, ["y", "z", "ex"]), [Some(1), Some(2), Some(1)]);
    assert_eq!(first.notes().len(), 2, "the second server's tool and prompt: {:?}", first.notes());
    let both = of(Naming::First, &[("two__y", "why")]);
    assert_eq!(owners(&both, ["y", "why", "z"]), [Some(1), Some(2), Some(2)]);
}

#[test]
fn tools_with_bad_header_annotations_are_left_out() {
    let bad = r#"{"name":"bad","inputSchema":{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}},{"name":"good"}"#;
    let of =
        |era| view(era, &Profile::default(), vec![upstream(1, "u", Ok(catalogue(era, [bad, "", "", ""])))]);
    assert!(of(&V2026_07_28).tool("u__bad").is_none());
    assert!(of(&V2026_07_28).tool("u__good").is_some());
    assert!(of(&V2025_11_25).tool("u__bad").is_some());
}

/// The access of any client under the rules of this configuration.
fn guard(config: &str) -> Guard {
    let lookup = Lookup { env: &|_| None, file: &|_| Err(String::new()) };
    let rules = Arc::new(Rules::compile(&load(config, "test", &lookup).unwrap().config.access));
    let class = rules.class(&Asker { principal: &Principal::anyone(), address: None });
    Guard { rules, class, profile: "default".into() }
}

#[test]
fn an_absent_upstream_is_not_named_to_those_who_may_not_use_it() {
    let guard = guard("access: [{ deny: '*', servers: [gone] }]\nmcpServers: { gone: { command: x } }\n");
    let profile = Profile::default();
    let spec = ViewSpec { guard: Some(&guard), ..spec(&V2025_11_25, &profile) };
    let gone = UpstreamAbsence { reason: "connection refused".to_owned(), retry: true };
    let view = View::build(spec, vec![upstream(1, "gone", Err(gone))]);
    for name in ["gone__y", "other"] {
        assert_eq!(view.absence_behind(name), None, "{name}");
    }
}

#[test]
fn an_absent_upstream_is_named_and_disturbs_nobody() {
    let gone = UpstreamAbsence { reason: "connection refused".to_owned(), retry: true };
    let here = catalogue(&V2025_11_25, [r#"{"name":"x"}"#, "", "", ""]);
    let view = view(
        &V2025_11_25,
        &Profile::default(),
        vec![upstream(1, "here", Ok(here)), upstream(2, "gone", Err(gone.clone()))],
    );
    assert!(view.tool("here__x").is_some());
    assert_eq!(view.absence_behind("gone__y"), Some(("gone", &gone)));
    assert_eq!(view.absence_behind("other"), None);
}
