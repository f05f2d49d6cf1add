//! Forms that operators send: each makes its change, and pages state if something is unknown.

use crate::browser::{Browser, start_with, with_ann};
use crate::pages::{RECORDED, operator, page_with};
use crate::support::*;
use serde_json::json;

/// Sends a form, and expects that it leads to another page; returns the text of that page.
async fn sent(browser: &mut Browser, path: &str, form: &str) -> String {
    let answer = browser.post(path, form).await;
    assert_eq!(answer.status, 303, "{path} {form}: {}", answer.text);
    let next = answer.header("location").split('#').next().expect("a path").to_owned();
    browser.get(&next).await.text
}

/// The names of the tools that clients of a profile see.
async fn tools(gateway: &Gateway, path: &str) -> Vec<String> {
    let client = Legacy::open_at(gateway.http(), path, LEGACY, &json!({})).await;
    let listed = client.ask("tools/list", &json!({})).await;
    // A profile without servers offers no tools at all.
    let tools = listed["result"]["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

#[tokio::test]
async fn without_a_record_pages_say_that_they_know_no_calls() {
    let gateway = start_with(&with_ann("")).await;
    let (mut browser, token) = operator(&gateway).await;
    let overview = browser.get("/admin").await.text;
    assert!(
        overview.contains("Calls are not recorded") && !overview.contains("Calls per second"),
        "{overview}"
    );
    for path in
        ["/admin/servers", "/admin/tools", "/admin/servers/demo", "/admin/tools/demo/add", "/admin/keys"]
    {
        let page = browser.get(path).await.text;
        let is_told = page.contains("alls are not recorded") || path == "/admin/keys";
        assert!(is_told && !page.contains("No recorded call"), "{path}: {page}");
    }
    sent(&mut browser, "/admin/profiles-add", &format!("csrf={token}&slug=office&server=demo")).await;
    let configuration = browser.get("/admin/configuration").await.text;
    assert!(configuration.contains("Changes are not recorded") && configuration.contains("office"));
    let recorded = start_with(&with_ann(RECORDED)).await;
    let (mut browser, _) = operator(&recorded).await;
    let entry = page_with(&mut browser, "/admin/calls/1", "no arguments of this entry").await;
    assert!(!entry.contains("/admin/profiles/~"), "{entry}");
}

#[tokio::test]
async fn profiles_are_added_cloned_changed_and_removed() {
    let gateway = start_with(&with_ann(RECORDED.replace("auth: { keys: true }\n", "").as_str())).await;
    let (mut browser, token) = operator(&gateway).await;
    let form = |rest: &str| format!("csrf={token}&{rest}");
    let added =
        sent(&mut browser, "/admin/profiles-add", &form("slug=office&title=Office&server=demo")).await;
    assert!(added.contains("The profile office was added."), "{added}");
    let before = tools(&gateway, "/mcp/office").await;
    assert!(before.contains(&"demo__add".to_owned()), "{before:?}");
    let denied =
        sent(&mut browser, "/admin/tools-visibility", &form("profile=office&action=deny&tool=demo/add"))
            .await;
    assert!(denied.contains("denied"), "{denied}");
    assert!(!tools(&gateway, "/mcp/office").await.contains(&"demo__add".to_owned()));
    sent(&mut browser, "/admin/profiles-add", &form("slug=copy&from=office")).await;
    assert!(!tools(&gateway, "/mcp/copy").await.contains(&"demo__add".to_owned()), "the choice was cloned");
    sent(&mut browser, "/admin/tools-visibility", &form("profile=office&action=allow&tool=demo/add")).await;
    assert!(tools(&gateway, "/mcp/office").await.contains(&"demo__add".to_owned()));
    sent(&mut browser, "/admin/profiles/office/servers", &form("server=demo&action=off")).await;
    assert!(tools(&gateway, "/mcp/office").await.is_empty());
    for (action, path) in
        [("on", "/admin/profiles/office/servers"), ("remove", "/admin/profiles/copy/servers")]
    {
        sent(&mut browser, path, &form(&format!("server=demo&action={action}"))).await;
    }
    assert!(
        !tools(&gateway, "/mcp/office").await.is_empty() && tools(&gateway, "/mcp/copy").await.is_empty()
    );
    for slug in ["office", "copy"] {
        sent(&mut browser, &format!("/admin/profiles/{slug}/remove"), &form(&format!("confirm={slug}")))
            .await;
        assert_eq!(browser.get(&format!("/admin/profiles/{slug}")).await.status, 404);
    }
}

#[tokio::test]
async fn servers_are_switched_restarted_and_checked_and_sessions_ended() {
    let gateway = start_with(&with_ann("audit: true\n")).await;
    let (mut browser, token) = operator(&gateway).await;
    let form = |rest: &str| format!("csrf={token}&{rest}");
    for (action, words) in
        [("disable", "disabled"), ("enable", "demo"), ("restart", "restarted"), ("refresh", "demo")]
    {
        let page = sent(&mut browser, &format!("/admin/servers/demo/{action}"), &form("sure=yes")).await;
        assert!(page.contains(words), "{action}: {page}");
    }
    assert!(!tools(&gateway, "/mcp").await.is_empty());
    let checked = sent(&mut browser, "/admin/doctor-run", &form("")).await;
    assert!(checked.contains("demo: connected; it lists"), "{checked}");
    let client = Legacy::open(gateway.http()).await;
    let sessions = page_with(&mut browser, "/admin/sessions", "name=\"session\"").await;
    let (_, rest) = sessions.split_once("name=\"session\" value=\"").expect("a session");
    let id = rest.split_once('"').expect("its end").0.to_owned();
    let sure = form(&format!("session={id}&sure=yes"));
    let ended = sent(&mut browser, "/admin/sessions-end", &sure).await;
    assert!(ended.contains("The session was ended."), "{ended}");
    drop(client);
    let again = sent(&mut browser, "/admin/sessions-end", &sure).await;
    assert!(again.contains("There is no such session."), "{again}");
}

#[tokio::test]
async fn what_interrupts_others_is_done_only_after_a_question() {
    let gateway = start_with(&with_ann("audit: true\n")).await;
    let (mut browser, token) = operator(&gateway).await;
    let client = Legacy::open(gateway.http()).await;
    let sessions = page_with(&mut browser, "/admin/sessions", "name=\"session\"").await;
    let (_, rest) = sessions.split_once("name=\"session\" value=\"").expect("a session");
    let id = rest.split_once('"').expect("its end").0.to_owned();
    let names_it = format!("name=\"session\" value=\"{id}\"");
    for (path, fields, question, named) in [
        ("/admin/sessions-end", format!("&session={id}"), "End the session?", &*names_it),
        ("/admin/servers/demo/restart", String::new(), "Restart the server?", "demo"),
        ("/admin/servers/demo/disable", String::new(), "Disable the server?", "demo"),
    ] {
        browser.is_asked_first(path, &format!("csrf={token}{fields}"), &[question, named]).await;
    }
    assert_eq!(client.ask("ping", &serde_json::json!({})).await["result"], serde_json::json!({}));
    assert!(!tools(&gateway, "/mcp").await.is_empty(), "the server is enabled");
}

#[tokio::test]
async fn the_page_of_a_server_shows_every_key_in_force() {
    let other = "other: { command: /bin/cat, env: { TOKEN: hunter2 }, definitions: hold, concurrentCalls: 3, timeout: 7s }";
    let config = with_ann("").replace("native: demo }", &format!("native: demo }}, {other}"));
    let gateway = start_with(&config).await;
    let (mut browser, _) = operator(&gateway).await;
    let page = browser.get("/admin/servers/other").await.text;
    let (_, rest) = page.split_once("All keys in force").expect("the section");
    for key in [
        "definitions&quot;: &quot;hold",
        "concurrentCalls&quot;: 3",
        "waitingCalls",
        "timeout&quot;: &quot;7s",
    ] {
        assert!(rest.contains(key), "{key}: {rest}");
    }
    assert!(!page.contains("hunter2"), "{page}");
}
