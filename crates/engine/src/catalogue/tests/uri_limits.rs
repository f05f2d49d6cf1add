//! Hostile lists and messages with URIs: the work and the memory are limited, and no server takes over another server's URIs.

use std::sync::Mutex;

use super::same_uris::{away, built, frame, listed, listing, read, source};
use super::*;

/// Templates that are expensive to compare with long URIs.
fn expensive(scheme: &str) -> Vec<String> {
    (0..30).map(|at| format!("{scheme}{{a}}{{b}}{{c}}{{d}}{{e}}{{f}}{{g}}x{{h}}{at}")).collect()
}

/// Long URIs that none of these templates matches.
fn long_uris(scheme: &str) -> Vec<String> {
    (0..60).map(|at| format!("{scheme}{}y{at}", "a".repeat(8000))).collect()
}

fn strs(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}

#[test]
fn pages_beyond_the_limit_carry_the_name_of_their_server() {
    let (templates, links) = (expensive("ui://"), long_uris("ui://"));
    let evil = listing(&[], &strs(&templates), &strs(&links));
    let good = listing(&["memo:x"], &["ui://good/{a}"], &["ui://good/page"]);
    let view = built(&Mutex::default(), vec![source(0, "evil", &evil), source(1, "good", &good)]);
    let own = |server: u32, uri: &str| Some((server, uri.to_owned()));
    assert_eq!(read(&view, &links[0]), own(0, &links[0]));
    let (_, page) = links[59].split_once("://").unwrap();
    assert_eq!(read(&view, &format!("ui://evil+{page}")), own(0, &links[59]));
    assert_eq!(read(&view, "ui://good/page"), own(1, "ui://good/page"), "nothing of another server changes");
    let tools = String::from_utf8_lossy(view.pages(ListKind::Tools).page(None).unwrap().text()).into_owned();
    assert!(tools.contains(&format!("\"ui://evil+{page}\"")) && tools.contains(&format!("\"{}\"", links[0])));
    assert_eq!(listed(&view, ListKind::Resources), ["memo:x"]);
}

#[test]
fn a_page_to_which_many_tools_link_is_decided_once() {
    let templates = expensive("ui://");
    let page = format!("ui://{}y", "a".repeat(8000));
    let links = vec![page.as_str(); 60];
    let evil = listing(&[], &strs(&templates), &links);
    let view =
        built(&Mutex::default(), vec![source(0, "evil", &evil), source(1, "good", &listing(&[], &[], &[]))]);
    assert_eq!(read(&view, &page), Some((0, page.clone())));
    assert!(view.uris_of(UpstreamId(0)).is_none(), "nothing of the server is changed");
}

#[test]
fn uris_in_a_message_beyond_the_limit_carry_the_name_of_their_server() {
    let (templates, uris) = (expensive("db://"), long_uris("db://"));
    let evil = listing(&["memo:x"], &strs(&templates), &[]);
    let good = listing(&["memo:x"], &[], &[]);
    let view = built(&Mutex::default(), vec![source(0, "good", &good), source(1, "evil", &evil)]);
    let message = |uris: &[&String]| {
        let links = uris.iter().map(|uri| format!(r#"{{"type":"resource_link","uri":"{uri}","name":"n"}}"#));
        let links = links.collect::<Vec<_>>().join(",");
        frame(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{links}]}}}}"#))
    };
    let all: Vec<&String> = uris.iter().chain([&uris[0]]).collect();
    let published = view.uris_of(UpstreamId(1)).unwrap().published(message(&all));
    let published: serde_json::Value = serde_json::from_slice(published.text()).unwrap();
    let shown = |at: usize| published["result"]["content"][at]["uri"].as_str().unwrap().to_owned();
    // The first URI is public as it is, each time.
    assert_eq!((shown(0), shown(60)), (uris[0].clone(), uris[0].clone()));
    let last = shown(59);
    assert!(last.starts_with("db://evil+aaa"));
    assert_eq!(read(&view, &last), Some((1, uris[59].clone())));
}

#[test]
fn uris_that_name_another_server_fill_no_memory() {
    let uris: Vec<String> = (0..90).map(|at| format!("x://good+{at}")).collect();
    let evil = listing(&strs(&uris), &["x://good+{a}"], &[]);
    let good = listing(&["x://0"], &["x://{a}"], &[]);
    let book: Mutex<NameBook> = Mutex::default();
    let view = built(&book, vec![source(0, "evil", &evil), source(1, "good", &good)]);
    assert_eq!(read(&view, "x://evil+good+0"), Some((0, "x://good+0".to_owned())));
    let text = book.lock().unwrap().unsaved().unwrap();
    assert_eq!(text.matches("\"server\":").count(), 1, "{text}");
    // While the server is away, and after a restart, no template of another server gets its reads.
    let book = Mutex::new(NameBook::stored(text.as_bytes()).unwrap());
    let view = built(&book, vec![away(0, "evil"), source(1, "good", &good)]);
    assert_eq!(read(&view, "x://evil+good+0"), None);
    assert_eq!(read(&view, "x://7"), Some((1, "x://7".to_owned())));
}

#[test]
fn a_server_without_resources_may_have_pages_that_carry_its_name() {
    let own = listing(&[], &[], &["ui://p"]);
    let mut second = source(1, "shop", &own);
    let mut catalogue = UpstreamCatalogue::clone(second.catalogue.as_ref().unwrap());
    catalogue.hello.capabilities = Bytes::from_static(br#"{"tools":{}}"#);
    second.catalogue = Ok(Arc::new(catalogue));
    let view = built(&Mutex::default(), vec![source(0, "docs", &own), second]);
    assert_eq!(read(&view, "ui://p"), Some((0, "ui://p".to_owned())));
    assert_eq!(read(&view, "ui://shop+p"), Some((1, "ui://p".to_owned())));
    assert_eq!(read(&view, "ui://shop+other"), None, "it has no resources apart from its pages");
}
