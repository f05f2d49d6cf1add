//! A profile's rules for URIs: one decision for lists and for access.

use config::{Glob, UriRules};
use proptest::prelude::*;

use super::*;
use crate::exchange::{Dispatch, Sealer, dispatch};
use crate::tasks::TaskIds;

/// Segments for building URIs, templates and patterns.
const SEGMENTS: [&str; 3] = ["a", "b", "secret"];

/// A sealer for requests that name no task.
pub(super) struct NoTasks;

impl Sealer for NoTasks {
    fn seal(&self, _: &[u8], _: &[u8]) -> String {
        unreachable!("no task is named")
    }

    fn fresh_key(&self) -> u64 {
        unreachable!("no task is named")
    }

    fn epoch(&self) -> u64 {
        1
    }

    fn open(&self, _: &str, _: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

fn profile(allow: Option<Vec<String>>, deny: Vec<String>) -> Profile {
    let globs = |all: Vec<String>| all.iter().map(|text| Glob::parse(text).unwrap()).collect::<Vec<_>>();
    Profile { resources: UriRules { allow: allow.map(globs), deny: globs(deny) }, ..Profile::default() }
}

/// A server with these resources and templates.
fn server(id: u32, resources: &[String], templates: &[String]) -> ViewSource {
    let list = |key: &str, all: &[String]| {
        all.iter().map(|uri| format!("{{\"{key}\":\"{uri}\",\"name\":\"n\"}}")).collect::<Vec<_>>().join(",")
    };
    let (resources, templates) = (list("uri", resources), list("uriTemplate", templates));
    let mut catalogue = UpstreamCatalogue::clone(&catalogue(&V2025_11_25, ["", "", &resources, &templates]));
    catalogue.hello.capabilities =
        Bytes::from_static(br#"{"resources":{"subscribe":true},"completions":{}}"#);
    upstream(id, &format!("s{id}"), Ok(Arc::new(catalogue)))
}

fn strings(all: &[&str]) -> Vec<String> {
    all.iter().map(|text| (*text).to_owned()).collect()
}

/// The upstream that a request with this URI goes to, or the complete error with the URI removed.
fn sent(view: &View, method: &str, uri: &str) -> Result<UpstreamId, String> {
    let params = match method {
        "completion/complete" => format!(r#"{{"ref":{{"type":"ref/resource","uri":"{uri}"}}}}"#),
        _ => format!(r#"{{"uri":"{uri}"}}"#),
    };
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
    let frame = Frame::parse(Bytes::from(text), FrameLimits::default()).unwrap();
    match dispatch(&frame, view, "{}", TaskIds::new(&NoTasks, "me", &V2025_11_25)) {
        Ok(Dispatch::Forward(route)) => Ok(route.upstream),
        Ok(other) => panic!("{other:?}"),
        Err(fault) => {
            assert!(!fault.hidden, "{fault:?}");
            Err(String::from_utf8(fault.response(None).to_vec()).unwrap().replace(uri, "URI"))
        }
    }
}

const METHODS: [&str; 4] =
    ["resources/read", "resources/subscribe", "resources/unsubscribe", "completion/complete"];

#[test]
fn a_lone_server_is_asked_only_for_what_is_admitted() {
    let profile = profile(Some(strings(&["x://open*", "ui://*"])), strings(&["*secret"]));
    let view = view(&V2025_11_25, &profile, vec![server(1, &[], &[])]);
    for (uri, admitted) in
        [("x://open", true), ("ui://page", true), ("x://other", false), ("x://open/secret", false)]
    {
        assert_eq!(view.resource(uri).is_some(), admitted, "{uri}");
        assert_eq!(view.resource_owner(uri).is_some(), admitted, "{uri}");
    }
}

#[test]
fn uris_of_a_template_that_rules_leave_out_of_the_list_work_where_they_are_admitted() {
    let profile = profile(Some(strings(&["x://open/*"])), Vec::new());
    let servers = vec![server(1, &[], &strings(&["y://{id}"])), server(2, &[], &strings(&["x://{+path}"]))];
    let view = view(&V2025_11_25, &profile, servers);
    assert_eq!(view.resource_owner("x://open/1"), Some(UpstreamId(2)));
    assert_eq!(view.resource_owner("x://{+path}"), None, "the template itself is excluded");
    assert_eq!(view.resource_owner("y://1"), None);
}

/// Joins segments to a URI. The result is a template if a segment is `{…}`, and a pattern if a segment is `*`.
fn made_of(segments: Vec<&'static str>) -> impl Strategy<Value = String> {
    let segments = prop::collection::vec(prop::sample::select(segments), 1..4);
    (prop::sample::select(vec!["x", "ui"]), segments)
        .prop_map(|(scheme, segments)| format!("{scheme}://{}", segments.join("/")))
}

fn uris() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(made_of(SEGMENTS.to_vec()), 0..5)
}

fn templates() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(made_of([SEGMENTS.as_slice(), &["{id}", "{+path}"]].concat()), 0..4)
}

fn patterns() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(made_of([SEGMENTS.as_slice(), &["*", "?"]].concat()), 0..4)
}

proptest! {
    #[test]
    fn nothing_excluded_is_usable_and_all_that_is_admitted_works(
        servers in prop::collection::vec((uris(), templates()), 1..4),
        (allow, deny) in (prop::option::of(patterns()), patterns()),
        asked in uris(),
    ) {
        let profile = profile(allow, deny);
        let catalogues = (0..).zip(&servers).map(|(id, (uris, templates))| server(id, uris, templates));
        let view = view(&V2025_11_25, &profile, catalogues.collect());
        let shown = |kind| String::from_utf8(view.pages(kind).page(None).unwrap().text().to_vec()).unwrap();
        let (listed, patterns) = (shown(ListKind::Resources), shown(ListKind::Templates));
        let all = servers.iter().flat_map(|(uris, _)| uris).chain(&asked);
        for uri in all {
            let admitted = profile.resources.admits(uri);
            let of = |(uris, templates): &(Vec<String>, Vec<String>)| {
                uris.contains(uri) || templates.iter().any(|template| super::super::template::covers(template, uri))
            };
            let has: Vec<bool> = servers.iter().map(of).collect();
            let is_in_list = servers.iter().any(|(uris, _)| uris.contains(uri));
            prop_assert_eq!(listed.contains(&format!("\"{uri}\"")), admitted && is_in_list, "{}", uri);
            for method in METHODS {
                match sent(&view, method, uri) {
                    Ok(owner) => {
                        prop_assert!(admitted, "{} {}", method, uri);
                        prop_assert!(has[owner.0 as usize] || servers.len() == 1, "{} {}", method, uri);
                    }
                    Err(refusal) => {
                        prop_assert!(!admitted || !has.contains(&true) && servers.len() > 1, "{} {}", method, uri);
                        let unknown = sent(&super::view(&V2025_11_25, &Profile::default(), vec![
                            server(0, &strings(&["q://1"]), &[]), server(1, &[], &[]),
                        ]), method, uri);
                        prop_assert_eq!(Err(refusal), unknown);
                    }
                }
            }
        }
        for template in servers.iter().flat_map(|(_, templates)| templates) {
            let is_shown = patterns.contains(&format!("\"{template}\""));
            prop_assert_eq!(is_shown, profile.resources.admits(template));
            prop_assert!(!is_shown || sent(&view, "completion/complete", template).is_ok());
        }
    }
}
