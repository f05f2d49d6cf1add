//! The time for which lists may be cached, and the clients to which a cache may serve them.

use super::*;

/// A server whose lists are public and may be cached for a while.
fn public() -> Arc<UpstreamCatalogue> {
    let mut gather = Gather::new(hello(&V2026_07_28), LIMITS, "{}");
    while let Some(kind) = gather.wants() {
        let list = format!(r#"{{"{}":[],"ttlMs":9000,"cacheScope":"public"}}"#, kind.member());
        gather.feed(&answer(&list)).unwrap();
    }
    Arc::new(gather.finish())
}

#[test]
fn lists_that_depend_on_who_asks_are_private() {
    let guard = guard("access: [{ deny: '*secret*' }]\nmcpServers: { u: { command: x } }\n");
    let profile = Profile::default();
    let spec = spec(&V2026_07_28, &profile);
    let scope_of = |spec: ViewSpec<'_>| {
        let view = View::build(spec, vec![upstream(1, "u", Ok(public()))]);
        let is_private = |text: &[u8]| {
            let text = String::from_utf8_lossy(text);
            assert_ne!(text.contains(r#""cacheScope":"public""#), text.contains(r#""cacheScope":"private""#));
            text.contains("private")
        };
        [
            is_private(view.pages(ListKind::Tools).page(None).unwrap().text()),
            is_private(view.discover().text()),
        ]
    };
    assert_eq!(scope_of(spec), [false; 2]);
    assert_eq!(scope_of(ViewSpec { guard: Some(&guard), ..spec }), [true; 2], "filtered by rules");
    assert_eq!(scope_of(ViewSpec { personal: true, ..spec }), [true; 2], "as this caller has it");
}
