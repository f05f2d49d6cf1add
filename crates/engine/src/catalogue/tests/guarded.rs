//! Views under rules: unlisted items, and servers from which nothing may be used.

use super::*;

const TWO: &str = "mcpServers: { docs: { command: x }, blog: { command: x } }\n";

/// The view that any client has of these servers, under these rules.
fn under(rules: &str, upstreams: Vec<ViewSource>) -> View {
    let guard = guard(&format!("{TWO}access: {rules}\n"));
    let profile = Profile::default();
    let spec = ViewSpec { guard: Some(&guard), ..spec(&V2025_11_25, &profile) };
    View::build(spec, upstreams)
}

/// A server with its own tool, resource and template; `says` is a capability that no other server has.
fn server(id: u32, name: &str, says: &str) -> ViewSource {
    let uri = format!("{{\"uri\":\"{name}://listed\"}}");
    let template = format!("{{\"uriTemplate\":\"{name}://{{id}}\"}}");
    let mut catalogue =
        UpstreamCatalogue::clone(&catalogue(&V2025_11_25, [r#"{"name":"x"}"#, "", &uri, &template]));
    catalogue.hello.instructions = Some(format!("Of {name}."));
    catalogue.hello.capabilities =
        format!(r#"{{"tools":{{}},"resources":{{}},"experimental":{{"{says}":{{}}}}}}"#).into();
    upstream(id, name, Ok(Arc::new(catalogue)))
}

#[test]
fn what_stands_in_no_list_is_told_only_where_nothing_like_it_can_be_denied() {
    let found = |view: &View, uri: &str| view.resource(uri).map(|found| found.masked);
    for (rules, like, nowhere) in [
        ("[{ deny: '*secret*' }]", Some(true), None),
        ("[{ deny: 'docs://s*' }]", Some(true), None),
        ("[{ deny: 'docs__*' }]", Some(false), None),
        ("[{ deny: '*', servers: blog }]", Some(false), Some(false)),
        ("[{ deny: '*', when: { annotations: { readOnlyHint: false } } }]", Some(false), Some(false)),
        ("[{ allow: '*' }]", Some(false), Some(false)),
        ("[{ allow: 'docs*' }, { allow: 'x://*' }]", Some(true), None),
        ("[{ allow: 'docs__*' }]", None, None),
    ] {
        let view = under(rules, vec![server(1, "docs", "a")]);
        assert_eq!(found(&view, "docs://other"), like, "{rules}");
        assert_eq!(view.resource_owner("docs://other").is_some(), like == Some(false), "{rules}");
        assert_eq!(found(&view, "x://other"), nowhere, "{rules}");
        let listed = (like.is_some()).then_some(false);
        assert_eq!([found(&view, "docs://listed"), found(&view, "docs://{id}")], [listed; 2], "{rules}");
    }
    let view = under("[{ deny: '*secret*' }]", vec![server(1, "docs", "a")]);
    assert_eq!([found(&view, "docs://secret"), found(&view, "secret")], [None; 2]);
}

#[test]
fn a_server_of_which_nothing_may_be_used_is_not_there() {
    let both = || vec![server(1, "docs", "a"), server(2, "blog", "b")];
    for rules in ["[{ deny: '*', servers: blog }]", "[{ allow: 'docs*' }]", "[{ deny: 'blog*' }]"] {
        let (view, alone) = (under(rules, both()), under("[{ allow: '*' }]", vec![server(1, "docs", "a")]));
        assert_eq!(view.capabilities(), alone.capabilities(), "{rules}");
        assert_eq!(view.instructions(), Some("Of docs."), "{rules}");
        assert_eq!(view.discover().text(), alone.discover().text(), "{rules}");
        assert!(view.denies_server(UpstreamId(2)) && !view.denies_server(UpstreamId(1)), "{rules}");
        assert_eq!(view.upstreams().len(), 1, "{rules}");
        assert!(!view.reaches(UpstreamId(2), "x/y"), "{rules}");
        assert_eq!(
            view.withheld_by(ListKind::Tools, "blog__x"),
            Some("blog"),
            "{rules}: the record can tell"
        );
    }
    let all = under("[{ deny: blog__x }]", both());
    assert!(all.capabilities().contains("\"b\"") && !all.denies_server(UpstreamId(2)));
}

#[test]
fn of_an_absent_server_the_same_is_said_whatever_the_name() {
    let gone = || upstream(2, "blog", Err(UpstreamAbsence { reason: "is gone".to_owned(), retry: true }));
    for (rules, is_said) in [
        ("[{ deny: 'blog__delete' }]", true),
        ("[{ deny: '*delete*' }]", true),
        ("[{ allow: 'blog__read*' }]", true),
        ("[{ deny: 'blog__*' }]", false),
        ("[{ deny: '*', servers: 'b*' }]", false),
        ("[{ allow: 'docs__*' }]", false),
    ] {
        let view = under(rules, vec![server(1, "docs", "a"), gone()]);
        for name in ["blog__delete", "blog__read", "blog__nothing"] {
            assert_eq!(view.absence_behind(name).is_some(), is_said, "{rules} {name}");
        }
    }
    let view = under("[{ deny: '*', servers: blog }]", vec![gone()]);
    assert_eq!(view.capabilities(), "{}", "nothing of it is awaited");
}
