//! Tests that the site answers like the real services, and that it records requests.

use std::net::{Ipv4Addr, SocketAddr};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::accounts::{ADMIN, EDITOR, SUBSCRIBER};
use super::{Options, Site, serve};

async fn site(options: Options) -> Site {
    serve(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), options).await.unwrap()
}

/// Sends a request; returns the status (0 without an answer), the head and the body.
async fn ask(site: &Site, what: &str, auth: &str, body: &str) -> (u16, String, Value) {
    let mut stream = TcpStream::connect(site.url().strip_prefix("http://").unwrap()).await.unwrap();
    let auth = if auth.is_empty() { String::new() } else { format!("Authorization: {auth}\r\n") };
    let length = body.len();
    let head =
        format!("{what} HTTP/1.1\r\nHost: site\r\nConnection: close\r\n{auth}Content-Length: {length}");
    stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).await.unwrap();
    let mut text = String::new();
    // A reset connection has also ended.
    drop(stream.read_to_string(&mut text).await);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_default();
    let status = head.split(' ').nth(1).map_or(0, |code| code.parse().unwrap());
    (status, head.to_lowercase(), serde_json::from_str(body).unwrap_or_default())
}

#[tokio::test]
async fn who_asks_is_known_by_an_application_password() {
    let site = site(Options::default()).await;
    let me = "GET /wp-json/wp/v2/users/me?context=edit";
    let spaced = "Basic YWRtaW46YWJjZCBlZmdoIGlqa2wgbW5vcCBxcnN0IHV2d3g=";
    for auth in [ADMIN.basic(), spaced.to_owned()] {
        let (status, _, body) = ask(&site, me, &auth, "").await;
        assert_eq!((status, &body["capabilities"]["manage_options"]), (200, &json!(true)), "{auth}");
    }
    let (_, _, editor) = ask(&site, me, &EDITOR.basic(), "").await;
    assert_eq!(editor["capabilities"].get("manage_options"), None);
    let (_, _, plain) = ask(&site, "GET /wp-json/wp/v2/users/me", &ADMIN.basic(), "").await;
    assert_eq!(plain.get("capabilities"), None);
    for auth in ["", "Basic YWRtaW46d3Jvbmc=", "Basic ?", "Bearer x"] {
        let (status, _, body) = ask(&site, me, auth, "").await;
        assert_eq!((status, &body["code"]), (401, &json!("rest_not_logged_in")), "{auth}");
    }
}

#[tokio::test]
async fn posts_are_listed_created_changed_and_deleted() {
    let site = site(Options { name: "two".to_owned(), ..Options::default() }).await;
    let (status, head, list) = ask(&site, "GET /wp-json/wp/v2/posts?per_page=1", "", "").await;
    assert_eq!((status, list[0]["title"]["rendered"].as_str()), (200, Some("First post of site two")));
    assert!(head.contains("x-wp-total: 2") && head.contains("x-wp-totalpages: 2"), "{head}");
    let (status, _, body) = ask(&site, "GET /wp-json/wp/v2/posts?per_page=101", "", "").await;
    assert_eq!((status, &body["code"]), (400, &json!("rest_invalid_param")));
    let new = r#"{"title":"New","content":"Text"}"#;
    for (auth, expected) in [(String::new(), 401), (SUBSCRIBER.basic(), 403), (EDITOR.basic(), 201)] {
        let (status, _, _) = ask(&site, "POST /wp-json/wp/v2/posts", &auth, new).await;
        assert_eq!(status, expected);
    }
    let post = "/wp-json/wp/v2/posts/4";
    let (_, _, made) = ask(&site, &format!("GET {post}"), "", "").await;
    assert_eq!((&made["title"]["rendered"], &made["status"]), (&json!("New"), &json!("draft")));
    let (_, _, changed) =
        ask(&site, &format!("POST {post}"), &ADMIN.basic(), r#"{"status":"publish"}"#).await;
    assert_eq!(changed["status"], "publish");
    let delete = format!("DELETE {post}");
    assert_eq!(ask(&site, &delete, &ADMIN.basic(), "").await.2["status"], "trash");
    assert_eq!(ask(&site, &delete, &ADMIN.basic(), "").await.0, 410);
    assert_eq!(ask(&site, &format!("{delete}?force=true"), &ADMIN.basic(), "").await.2["deleted"], true);
    assert_eq!(ask(&site, &format!("GET {post}"), "", "").await.2["code"], "rest_post_invalid_id");
    assert_eq!(ask(&site, "DELETE /wp-json/wp/v2/categories/2", &ADMIN.basic(), "").await.0, 501);
}

#[tokio::test]
async fn members_are_there_unless_the_platform_is_not() {
    let (community, plain) = (
        site(Options::default()).await,
        site(Options { without_buddyboss: true, ..Options::default() }).await,
    );
    let admin = ADMIN.basic();
    let member = |id: u32| format!("GET /wp-json/buddyboss/v1/members/{id}");
    assert_eq!(ask(&community, &member(42), &admin, "").await.2["name"], "Jane Smith");
    let (status, _, none) = ask(&community, &member(99999), &admin, "").await;
    assert_eq!((status, none["message"].as_str()), (404, Some("Member with ID 99999 not found")));
    assert_eq!(ask(&community, &member(42), "", "").await.0, 401);
    assert_eq!(ask(&plain, &member(42), &admin, "").await.2["code"], "rest_no_route");
    let broken = site(Options { broken: true, ..Options::default() }).await;
    assert_eq!(ask(&broken, &member(42), &admin, "").await.0, 0);
}

#[tokio::test]
async fn the_heritage_services_are_told_apart_by_their_paths() {
    let site = site(Options::default()).await;
    let search = "GET /no/w/api.php?action=query&list=search&srsearch=stav%20kirke";
    let (_, _, found) = ask(&site, search, "", "").await;
    assert_eq!(found["query"]["search"][0]["title"], "stav kirke (article)");
    for (path, pointer) in [
        ("/api/v1/search?query=fjord", "/0/headword"),
        ("/fjord.json", "/title"),
        ("/?f=json", "/datasets/0"),
        ("/kulturminner/collections", "/collections/0/id"),
        ("/kulturminner/collections/kulturminner/items?limit=1", "/features/0/properties/navn"),
        ("/arcgis/rest/services/Distribusjon?f=json", "/services/0/name"),
        ("/arcgis/rest/services/Distribusjon/X/MapServer/6/query?where=1%3D1", "/features/0/id"),
    ] {
        let (status, _, body) = ask(&site, &format!("GET {path}"), "", "").await;
        assert!(status == 200 && body.pointer(pointer).is_some(), "{path}: {status} {body}");
    }
    assert_eq!(ask(&site, "GET /nothing", "", "").await.0, 404);
}

#[tokio::test]
async fn the_locked_service_says_where_consent_is_given() {
    let site = site(Options::default()).await;
    let (status, head, _) = ask(&site, "POST /locked", "Bearer x", "{}").await;
    assert_eq!(status, 401);
    let metadata = head.split("resource_metadata=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let path = metadata.strip_prefix(&site.url()).unwrap();
    let (_, _, about) = ask(&site, &format!("GET {path}"), "", "").await;
    assert_eq!(about["authorization_servers"][0], site.url());
    let (_, _, server) = ask(&site, "GET /.well-known/oauth-authorization-server", "", "").await;
    assert_eq!(server["authorization_endpoint"], format!("{}/authorize", site.url()));
}

#[tokio::test]
async fn what_was_asked_is_remembered() {
    let site = site(Options::default()).await;
    ask(&site, "POST /wp-json/wp/v2/posts?x=1", "Basic eDp5", "{}").await;
    let [received] = &site.received()[..] else { panic!("one request") };
    assert_eq!((received.method.as_str(), received.path.as_str()), ("POST", "/wp-json/wp/v2/posts?x=1"));
    assert_eq!((received.header("authorization"), received.body.as_str()), ("Basic eDp5", "{}"));
}
