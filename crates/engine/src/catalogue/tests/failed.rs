//! Lists that fail, and the items from them that are kept.

use super::*;

fn refused(code: i32) -> Frame {
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"no"}}}}"#);
    Frame::parse(Bytes::from(text), FrameLimits::default()).unwrap()
}

fn keys(catalogue: &UpstreamCatalogue, kind: ListKind) -> Vec<&str> {
    catalogue.list(kind).iter().map(|item| item.key.as_str()).collect()
}

#[test]
fn a_list_that_fails_empties_no_other_and_keeps_what_was_read() {
    let mut gather = Gather::new(hello(&V2025_11_25), LIMITS, "{}");
    gather.feed(&answer(r#"{"tools":[{"name":"new"}],"nextCursor":"2"}"#)).unwrap();
    assert!(gather.feed(&refused(-32603)).is_err());
    gather.fail("did not answer");
    gather.feed(&answer(r#"{"resources":[{"uri":"f://2"}]}"#)).unwrap();
    gather.feed(&answer(r#"{"resourceTemplates":[]}"#)).unwrap();
    assert!(gather.wants().is_none() && !gather.is_in_vain());
    let catalogue = gather.finish();
    let failures: Vec<&str> = catalogue.failures().collect();
    let reasons = ["tools/list was answered with error -32603: no", "prompts/list: did not answer"];
    assert_eq!(failures, reasons);
    let tools = r#"{"name":"old"},{"name":"new","description":"old"}"#;
    let last = super::catalogue(&V2025_11_25, [tools, r#"{"name":"p"}"#, r#"{"uri":"f://1"}"#, ""]);
    let whole = catalogue.completed(&last, 9);
    assert_eq!(keys(&whole, ListKind::Tools), ["new", "old"]);
    assert!(whole.list(ListKind::Tools)[0].member("description").is_none(), "what was read counts");
    assert_eq!(
        (keys(&whole, ListKind::Prompts), keys(&whole, ListKind::Resources)),
        (vec!["p"], vec!["f://2"])
    );
    assert_eq!(
        keys(&catalogue.completed(&last, 3), ListKind::Prompts),
        [] as [&str; 0],
        "no more than is allowed"
    );
}

#[test]
fn pages_are_counted_anew_after_a_list_that_failed() {
    let mut gather = Gather::new(hello(&V2025_11_25), GatherLimits { pages: 2, entries: 9 }, "{}");
    gather.feed(&answer(r#"{"tools":[],"nextCursor":"2"}"#)).unwrap();
    assert!(gather.feed(&answer("{}")).is_err());
    gather.feed(&answer(r#"{"prompts":[{"name":"p"}],"nextCursor":"2"}"#)).unwrap();
    assert_eq!(gather.wants(), Some(ListKind::Prompts), "its second page");
}

#[test]
fn a_server_that_lists_nothing_at_all_has_failed() {
    let mut gather = Gather::new(hello(&V2025_11_25), LIMITS, "{}");
    gather.fail("broke off");
    while gather.wants().is_some() {
        // The server may use another version by now.
        gather.feed(&refused(-32601)).unwrap();
    }
    assert!(gather.is_in_vain());
}

#[test]
fn a_list_other_than_tools_that_a_server_does_not_know_is_empty() {
    let mut gather = Gather::new(hello(&V2025_11_25), LIMITS, "{}");
    assert!(gather.feed(&refused(-32601)).is_err());
    while gather.wants().is_some() {
        gather.feed(&refused(-32601)).unwrap();
    }
    assert_eq!(gather.finish().failures().count(), 1);
}

#[test]
fn a_failed_list_holds_for_no_time_and_its_schemas_refuse_nothing() {
    let schema = r#"{"type":"object","required":["a"]}"#;
    let tools =
        format!(r#"{{"tools":[{{"name":"t","inputSchema":{schema}}}],"nextCursor":"2","ttlMs":9000}}"#);
    let seen = |fails: bool| {
        let mut gather = Gather::new(hello(&V2026_07_28), LIMITS, "{}");
        gather.feed(&answer(&tools)).unwrap();
        if fails {
            gather.fail("broke off");
        } else {
            gather.feed(&answer(r#"{"tools":[],"ttlMs":9000}"#)).unwrap();
        }
        for kind in [ListKind::Prompts, ListKind::Resources, ListKind::Templates] {
            gather.feed(&answer(&format!(r#"{{"{}":[],"ttlMs":9000}}"#, kind.member()))).unwrap();
        }
        let catalogue = Ok(Arc::new(gather.finish()));
        view(&V2026_07_28, &Profile::default(), vec![upstream(1, "u", catalogue)])
    };
    let shown = |view: &View| {
        String::from_utf8(view.pages(ListKind::Tools).page(None).unwrap().text().to_vec()).unwrap()
    };
    let (whole, part) = (seen(false), seen(true));
    assert!(shown(&whole).contains("\"ttlMs\":9000") && shown(&part).contains("\"ttlMs\":0"));
    assert!(whole.tool("u__t").unwrap().check(Some(b"{}")).is_err());
    assert!(part.tool("u__t").unwrap().check(Some(b"{}")).is_ok());
}
