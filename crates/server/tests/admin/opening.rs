//! The ways that lead to a page: a one-time link, and a password.

use serde_json::Value;
use tokio::process::Command;

use crate::browser::{Browser, path_of, printed_link, start_with, with_ann};
use crate::support::*;

#[tokio::test]
async fn a_printed_link_opens_the_pages() {
    let gateway = start_with("admin: true\nmcpServers: { demo: { native: demo } }\n").await;
    let mut browser = Browser::new(gateway.http());
    assert!(!browser.is_in().await);
    let login = browser.get("/admin/login").await;
    assert!(login.status == 200 && !login.text.contains("type=\"password\""), "nobody has a password");
    let link = printed_link(&gateway);
    let asks = browser.get(&link).await;
    assert!(asks.status == 200 && asks.text.contains("method=\"post\""), "{}", asks.text);
    let opened = browser.post(&link, "").await;
    assert_eq!((opened.status, opened.header("location")), (303, "/admin"));
    let page = browser.get("/admin").await;
    assert!(
        page.status == 200 && page.text.contains("<span class=\"who\"><bdi>admin</bdi></span>"),
        "{}",
        page.text
    );
    assert_eq!(browser.get("/admin/no-such-page").await.status, 404);
    gateway.log().has("opened the admin pages").await;
}

#[tokio::test]
async fn a_password_opens_the_pages_until_logout() {
    let gateway = start_with(&with_ann("")).await;
    let mut browser = Browser::new(gateway.http());
    assert!(browser.get("/admin/login").await.text.contains("type=\"password\""));
    let opened = browser.log_in("battery staple").await;
    assert_eq!((opened.status, opened.header("location")), (303, "/admin"));
    let mut other_window = browser.clone();
    let page = browser.get("/admin").await;
    assert!(page.text.contains("<span class=\"who\"><bdi>admin:ann</bdi></span>"), "{}", page.text);
    let out = browser.post("/admin/logout", &format!("csrf={}", page.form_token())).await;
    assert_eq!((out.status, out.header("location")), (303, "/admin/login"));
    assert!(browser.cookies.is_empty() && !browser.is_in().await);
    assert!(!other_window.is_in().await, "the session itself has ended");
}

/// Runs `dragoman admin link` for a running gateway.
async fn link_command(gateway: &Gateway) -> (bool, String) {
    #[expect(clippy::disallowed_methods, reason = "the process under test has no supervisor above it")]
    let mut process = Command::new(env!("CARGO_BIN_EXE_dragoman"));
    process
        .args(["admin", "link", "--json", "--state"])
        .arg(gateway.folder().join("state"))
        .kill_on_drop(true);
    let ended = soon("the command", process.output()).await.expect("it runs");
    (ended.status.success(), String::from_utf8(ended.stdout).expect("UTF-8"))
}

#[tokio::test]
async fn the_command_makes_another_link() {
    let gateway = start_with(&with_ann("")).await;
    let made = async {
        loop {
            // The socket is opened a moment after the port.
            if let (true, text) = link_command(&gateway).await {
                break text;
            }
        }
    };
    let link: Value = serde_json::from_str(&soon("a link", made).await).expect("JSON");
    let link = path_of(link["url"].as_str().expect("a URL"));
    let mut browser = Browser::new(gateway.http());
    assert_eq!(browser.post(&link, "").await.status, 303);
    assert!(browser.is_in().await);
    gateway.log().has("who=local").await;
    let log = gateway.log().text();
    assert!(!log.contains(link.rsplit('/').next().expect("a secret")), "the link is not logged");
}

#[tokio::test]
async fn without_pages_there_is_nothing_and_no_link() {
    let gateway = start_with("mcpServers: { demo: { native: demo } }\n").await;
    assert_eq!(gateway.http().get("/admin", &[]).await.status, 404);
    assert!(!gateway.printed().text().contains("admin"));
    let refused = async {
        loop {
            let (is_made, text) = link_command(&gateway).await;
            assert!(!is_made);
            if text.contains("there are no admin pages") {
                break;
            }
        }
    };
    soon("the refusal", refused).await;
}
