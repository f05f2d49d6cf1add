//! The pages themselves: each opens for an operator alone, and each form needs the token of its session.

use crate::browser::{Browser, printed_link, start_with, with_ann};
use crate::support::*;

/// All pages without a name in their path.
const PAGES: [&str; 19] = [
    "/admin",
    "/admin/servers",
    "/admin/servers/demo",
    "/admin/tools",
    "/admin/tools/demo/add",
    "/admin/profiles",
    "/admin/profiles/default",
    "/admin/playground",
    "/admin/calls",
    "/admin/live",
    "/admin/sessions",
    "/admin/keys",
    "/admin/logins",
    "/admin/access",
    "/admin/limits",
    "/admin/configuration",
    "/admin/connect",
    "/admin/replicas",
    "/admin/doctor",
];

/// All forms of a session.
const FORMS: [&str; 26] = [
    "/admin/servers-add",
    "/admin/servers/demo/restart",
    "/admin/servers/demo/refresh",
    "/admin/servers/demo/enable",
    "/admin/servers/demo/disable",
    "/admin/servers/demo/login",
    "/admin/servers/demo/change",
    "/admin/servers/demo/approve",
    "/admin/servers/demo/remove",
    "/admin/tools-visibility",
    "/admin/profiles-add",
    "/admin/profiles/default/servers",
    "/admin/profiles/default/remove",
    "/admin/playground-run",
    "/admin/playground-answer",
    "/admin/playground-cancel",
    "/admin/calls-capture",
    "/admin/sessions-end",
    "/admin/keys-new",
    "/admin/keys-revoke",
    "/admin/logins-revoke",
    "/admin/sign-ins-end",
    "/admin/configuration-reload",
    "/admin/connect-test",
    "/admin/doctor-run",
    "/admin/logout",
];

pub(crate) const RECORDED: &str = "audit: { arguments: true }\nauth: { keys: true }\n";

/// A browser of an operator who came with the printed link, and the token of its forms.
pub(crate) async fn operator(gateway: &Gateway) -> (Browser, String) {
    let mut browser = Browser::new(gateway.http());
    assert_eq!(browser.post(&printed_link(gateway), "").await.status, 303);
    let token = browser.get("/admin").await.form_token();
    (browser, token)
}

/// Waits until a page contains a text.
pub(crate) async fn page_with(browser: &mut Browser, path: &str, text: &str) -> String {
    let found = async {
        loop {
            let page = browser.get(path).await;
            if page.text.contains(text) {
                break page.text;
            }
        }
    };
    soon(text, found).await
}

#[tokio::test]
async fn pages_open_for_operators_alone() {
    let gateway = start_with(&with_ann(RECORDED)).await;
    let (mut browser, _) = operator(&gateway).await;
    for path in PAGES {
        let page = browser.get(path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.text);
        assert!(page.text.contains("</html>") && !page.text.contains("<script>"), "{path}");
        let other = Browser::new(gateway.http()).get(path).await;
        assert_eq!((other.status, other.text.as_str()), (303, ""), "{path}");
    }
    for path in ["/admin/calls.csv", "/admin/events/now", "/admin/events/live", "/admin/events/run?run=1"] {
        let other = Browser::new(gateway.http()).get(path).await;
        assert_eq!((other.status, other.text.as_str()), (303, ""), "{path}");
    }
    for path in ["/admin/servers/none", "/admin/tools/demo/none", "/admin/profiles/none", "/admin/calls/999"]
    {
        assert_eq!(browser.get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn each_form_needs_the_token_of_its_session() {
    let gateway = start_with(&with_ann(RECORDED)).await;
    let (mut browser, _) = operator(&gateway).await;
    let mut ann = Browser::new(gateway.http());
    assert_eq!(ann.log_in("battery staple").await.status, 303);
    let foreign = ann.get("/admin").await.form_token();
    for path in FORMS {
        for form in [String::new(), "csrf=".to_owned(), format!("csrf={foreign}")] {
            let refused = browser.post(path, &form).await;
            assert_eq!(refused.status, 403, "{path} {form}");
            assert!(refused.text.contains("The form is out of date"), "{path}");
        }
    }
    assert!(browser.is_in().await && ann.is_in().await);
}

#[tokio::test]
async fn a_key_is_shown_once_and_can_be_revoked() {
    let gateway = start_with(&with_ann(RECORDED)).await;
    let (mut browser, token) = operator(&gateway).await;
    let made = browser.post("/admin/keys-new", &format!("csrf={token}&name=cursor&expires=30d")).await;
    let (_, rest) = made.text.split_once("dgm_").expect("the key");
    let key: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
    assert!(made.status == 200 && key.len() > 30, "{}", made.text);
    let listed = browser.get("/admin/keys").await;
    assert!(!listed.text.contains(&key) && listed.text.contains(&format!("dgm_{}", &key[..8])));
    let wrong = browser.post("/admin/keys-new", &format!("csrf={token}&name=x&expires=soon")).await;
    assert!(wrong.status == 422 && wrong.text.contains("is not a time in the future"));
    let revoke = |confirm: &str| format!("csrf={token}&key=dgm_{}&confirm={confirm}", &key[..8]);
    assert_eq!(browser.post("/admin/keys-revoke", &revoke("other")).await.status, 422);
    assert_eq!(browser.post("/admin/keys-revoke", &revoke("cursor")).await.status, 303);
    let after = browser.get("/admin/keys").await;
    assert!(after.text.contains("The key was revoked.") && after.text.contains("revoked"));
    assert!(
        !browser.get("/admin/keys").await.text.contains("The key was revoked."),
        "a result is shown once"
    );
}

#[tokio::test]
async fn a_call_by_hand_belongs_to_its_session() {
    let gateway = start_with(&with_ann(RECORDED)).await;
    let (mut browser, token) = operator(&gateway).await;
    page_with(&mut browser, "/admin/playground?profile=default&tool=demo__add", "name=\"arg.a\"").await;
    let capture = browser.post("/admin/calls-capture", &format!("csrf={token}&minutes=5")).await;
    assert_eq!(capture.status, 303);
    let form = format!("csrf={token}&profile=default&tool=demo__add&arg.a=2&arg.b=40");
    let begun = browser.post("/admin/playground-run", &form).await;
    assert_eq!(begun.status, 303, "{}", begun.text);
    let path = begun.header("location").split('#').next().expect("a path").to_owned();
    let page = page_with(&mut browser, &path, "<h3>Result</h3>").await;
    assert!(page.contains("42") && page.contains("Dragoman → server"), "{page}");
    let mut ann = Browser::new(gateway.http());
    ann.log_in("battery staple").await;
    let foreign = ann.get(&path).await;
    assert!(!foreign.text.contains("id=\"run\""), "another session sees no run");
    let wrong = form.replace("arg.a=2", "arg.a=x");
    let wrong = browser.post("/admin/playground-run", &wrong).await;
    assert!(wrong.status == 422 && wrong.text.contains("is not a valid value"), "{}", wrong.text);
    let calls = page_with(&mut browser, "/admin/calls?tool=demo__add", "/admin/calls/").await;
    let (_, rest) = calls.split_once("href=\"/admin/calls/").expect("a call");
    let id = rest.split_once('"').expect("its end").0;
    let call = browser.get(&format!("/admin/calls/{id}")).await;
    assert!(call.text.contains("server → Dragoman"), "both sides were captured: {}", call.text);
    let csv = browser.get("/admin/calls.csv?tool=demo__add").await;
    assert!(
        csv.status == 200 && csv.text.starts_with("id,time,outcome") && csv.text.contains("\"demo__add\"")
    );
}

#[tokio::test]
async fn forms_say_what_is_missing() {
    let gateway = start_with(&with_ann(RECORDED)).await;
    let (mut browser, token) = operator(&gateway).await;
    for (path, form, words) in [
        ("/admin/tools-visibility", "profile=default&action=deny", "No tool was chosen"),
        ("/admin/tools-visibility", "profile=default&tool=demo/add", "Choose whether"),
        ("/admin/servers/demo/approve", "revision=x", "No tool was chosen"),
        ("/admin/servers/demo/remove", "confirm=dem", "is not the name of the server"),
        ("/admin/servers/demo/change", "etag=old&text={}", "has changed since"),
        ("/admin/servers-add", "text=hello", "neither a URL nor valid JSON"),
        ("/admin/profiles-add", "slug=A", "a slug must have"),
        ("/admin/calls-capture", "minutes=61", "at most 60"),
    ] {
        let refused = browser.post(path, &format!("csrf={token}&{form}")).await;
        assert!(
            matches!(refused.status, 412 | 422) && refused.text.contains(words),
            "{path} {form}: {}",
            refused.text
        );
    }
}

#[tokio::test]
async fn a_server_is_added_after_a_look_at_what_would_run() {
    let gateway = start_with(&with_ann(RECORDED)).await;
    let (mut browser, token) = operator(&gateway).await;
    let block = "%7B%22mcpServers%22%3A%7B%22gone%22%3A%7B%22url%22%3A%22http%3A%2F%2F127.0.0.1%3A1%2Fmcp%22%7D%7D%7D";
    let form = format!("csrf={token}&text={block}");
    let preview = browser.post("/admin/servers-add", &form).await;
    assert!(
        preview.status == 200 && preview.text.contains("gone: http://127.0.0.1:1/mcp"),
        "{}",
        preview.text
    );
    assert_eq!(browser.get("/admin/servers/gone").await.status, 404, "nothing was added");
    let mark = preview.text.split("name=\"confirm\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
    let form = format!("{form}&confirm={}", mark.expect("the mark of the preview"));
    let changed = browser.post("/admin/servers-add", &form.replace("gone", "other")).await;
    assert!(
        changed.status == 200 && changed.text.contains("other: http://127.0.0.1:1/mcp"),
        "{}",
        changed.text
    );
    let added = browser.post("/admin/servers-add", &form).await;
    assert_eq!(added.status, 303, "{}", added.text);
    // While the next attempt runs, the page shows the reason of the previous one without advice.
    let page = page_with(&mut browser, "/admin/servers/gone", "check that the server runs").await;
    assert!(page.contains("refused the connection"), "a state comes with its reason and advice");
    let removed = browser.post("/admin/servers/gone/remove", &format!("csrf={token}&confirm=gone")).await;
    assert_eq!((removed.status, removed.header("location")), (303, "/admin/servers"), "{}", removed.text);
}
