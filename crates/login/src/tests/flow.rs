//! Tests of sign-ins from the first page to the tokens.

use http::header::{CACHE_CONTROL, HeaderMap, REFERRER_POLICY};
use http::{Method, StatusCode};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use super::stage::*;
use crate::AccountFault;

#[tokio::test(start_paused = true)]
async fn a_person_signs_in_and_the_token_stands_for_the_account() {
    let stage = Stage::new("wordpress");
    let (access, refresh) = stage.tokens().await;
    let account = stage.server.account(&access, stage.now()).await.unwrap();
    assert_eq!((account.site.as_str(), account.user.as_str(), account.user_id), (SITE, "ann", 7));
    assert_eq!(account.password.expose_secret(), "abcdEFGH");
    assert_eq!(account.roles, ["editor"]);
    // A person has named the site, so every request to it may lead to the public network only.
    assert!(stage.world.asked.lock().iter().all(|one| one.public_only));
    // The answer of the site is reused for a minute, then the site is asked again.
    stage.world.asked();
    stage.server.account(&access, stage.now()).await.unwrap();
    assert_eq!(stage.world.asked(), [""; 0]);
    stage.pass(2).await;
    stage.server.account(&access, stage.now()).await.unwrap();
    assert_eq!(stage.world.asked(), [ME]);
    stage.pass(60).await;
    assert_eq!(stage.server.account(&access, stage.now()).await.unwrap_err(), AccountFault::Ended);
    assert_eq!(stage.server.account(&refresh, stage.now()).await.unwrap_err(), AccountFault::Ended);
    let (status, said) = stage.renewed(&refresh).await;
    assert_eq!(status, StatusCode::OK);
    stage.server.account(&pair(&said).0, stage.now()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_page_says_who_asks_and_where_it_leads() {
    let stage = Stage::new("wordpress");
    let client = stage.registered().await;
    let page = text(&stage.open(&authorize(&client)).await);
    for said in [
        "Connect Tester to WordPress",
        "a program on this computer",
        "Nobody has verified the name",
        "name=\"site\"",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_may_publish_its_metadata() {
    let stage = Stage::new("wordpress");
    let id = "https://app.example/oauth/client.json";
    stage.world.at(
        &format!("GET {id}"),
        200,
        &json!({
            "client_id": id, "client_name": "<b>App</b>", "redirect_uris": ["http://127.0.0.1/cb"]
        }),
    );
    let page = text(&stage.open(&authorize(id)).await);
    assert!(page.contains("published by <strong>app.example</strong>"), "{page}");
    assert!(page.contains("&lt;b&gt;App&lt;/b&gt;") && !page.contains("<b>App"), "{page}");
    let code = stage.code(id).await;
    assert_eq!(stage.exchanged(id, &code).await.0, StatusCode::OK);
    let documents = stage.world.asked().into_iter().filter(|one| one.ends_with("client.json"));
    assert_eq!(documents.count(), 1, "the document is reused");
}

#[tokio::test(start_paused = true)]
async fn sites_are_found_as_people_type_them() {
    let stage = Stage::new("wordpress");
    let client = stage.registered().await;
    let entry = stage.begun(&client).await;
    let plain = "GET https://plain.example";
    stage.world.at(&format!("{plain}/wp-json/?_fields=authentication,home"), 404, &json!("not found"));
    stage.world.at(&format!("{plain}/?rest_route=/&_fields=authentication,home"), 200, &json!({
        "authentication": { "application-passwords": { "endpoints": { "authorization": "https://plain.example/wp-admin/a.php" } } }
    }));
    let to = location(
        &stage.submit(&entry, "choice=continue&site=https%3A%2F%2Fplain.example%2Fwp-admin%2F").await,
    );
    assert!(to.starts_with("https://plain.example/wp-admin/a.php?app_name=Tester%20%28Dragoman%20"), "{to}");
    stage.world.redirects(
        "GET https://bare.example/wp-json/?_fields=authentication,home",
        "https://www.bare.example/wp-json/",
    );
    let page = text(&stage.submit(&entry, "choice=continue&site=bare.example").await);
    assert!(
        page.contains("redirects to https://www.bare.example")
            && page.contains("value=\"https://www.bare.example\"")
    );
    stage.world.at(
        "GET https://old.example/wp-json/?_fields=authentication,home",
        200,
        &json!({ "authentication": [] }),
    );
    let page = text(&stage.submit(&entry, "choice=continue&site=old.example").await);
    assert!(page.contains("does not offer application passwords"), "{page}");
    stage.world.at(
        "GET https://closed.example/wp-json/?_fields=authentication,home",
        401,
        &json!({ "code": "rest_closed" }),
    );
    let to = location(&stage.submit(&entry, "choice=continue&site=closed.example").await);
    assert!(to.starts_with("https://closed.example/wp-admin/authorize-application.php?"), "{to}");
}

#[tokio::test(start_paused = true)]
async fn a_path_without_a_site_is_not_the_site_above_it() {
    let stage = Stage::new("wordpress");
    let client = stage.registered().await;
    let entry = stage.begun(&client).await;
    let page = "https://net.example/wp-admin/authorize-application.php";
    let index = json!({
        "home": "https://net.example",
        "authentication": { "application-passwords": { "endpoints": { "authorization": page } } }
    });
    stage.world.at(
        "GET https://net.example/three/wp-json/?_fields=authentication,home",
        404,
        &json!("not found"),
    );
    stage.world.at("GET https://net.example/three/?rest_route=/&_fields=authentication,home", 200, &index);
    let page = text(&stage.submit(&entry, "choice=continue&site=net.example/three").await);
    assert!(page.contains("There is no site at https://net.example/three."), "{page}");
    stage.world.at("GET https://net.example/wp-json/?_fields=authentication,home", 200, &index);
    location(&stage.submit(&entry, "choice=continue&site=net.example").await);
}

#[tokio::test(start_paused = true)]
async fn a_person_may_decline_here_and_at_the_site() {
    let stage = Stage::new("wordpress");
    let client = stage.registered().await;
    let entry = stage.begun(&client).await;
    let to = location(&stage.submit(&entry, "choice=cancel").await);
    assert!(
        to.starts_with(&format!("{CALLBACK}?error=access_denied&")) && to.contains("&state=s%201&"),
        "{to}"
    );
    let entry = stage.begun(&client).await;
    let back = stage.at_site(&entry).await;
    let to = location(&stage.open(&format!("{back}&success=false")).await);
    assert!(to.starts_with(&format!("{CALLBACK}?error=access_denied&")), "{to}");
    assert_eq!(
        stage.open(&format!("{back}&site_url=https://blog.example&user_login=ann&password=x")).await.status(),
        StatusCode::NOT_FOUND
    );
}

#[tokio::test(start_paused = true)]
async fn the_operator_may_fix_the_sites() {
    let one = Stage::new("{ sites: [ https://blog.example/ ] }");
    let client = one.registered().await;
    let page = text(&one.open(&authorize(&client)).await);
    assert!(page.contains("https://blog.example/") || page.contains("https://blog.example"), "{page}");
    assert!(!page.contains("name=\"site\""));
    let code = one.code(&client).await;
    assert_eq!(one.exchanged(&client, &code).await.0, StatusCode::OK);
    // The configuration may lead to a private network.
    assert!(one.world.asked.lock().iter().all(|one| !one.public_only));
    let two = Stage::new("{ sites: [ https://blog.example, https://shop.example ] }");
    let client = two.registered().await;
    let entry = two.begun(&client).await;
    for other in ["evil.example", "https://evil.example", "blog.example", ""] {
        let reply = two.submit(&entry, &format!("choice=continue&site={other}")).await;
        assert_eq!(reply.status(), StatusCode::BAD_REQUEST, "{other}");
    }
    assert_eq!(two.world.asked(), [""; 0]);
    location(&two.submit(&entry, "choice=continue&site=https://blog.example").await);
}

#[tokio::test(start_paused = true)]
async fn an_account_without_the_capability_is_told_so() {
    let stage = Stage::new("{ capability: manage_options }");
    let client = stage.registered().await;
    let entry = stage.begun(&client).await;
    let back = stage.at_site(&entry).await;
    let returned =
        stage.open(&format!("{back}&site_url=https://blog.example&user_login=ann&password=x")).await;
    let page = stage.open(&location(&returned)).await;
    assert_eq!(page.status(), StatusCode::FORBIDDEN);
    let page = text(&page);
    assert!(page.contains("lacks the capability manage_options"), "{page}");
    assert!(page.contains("error=access_denied") && page.contains(">Continue</a>"), "{page}");
}

#[tokio::test(start_paused = true)]
async fn the_administrator_of_a_network_signs_in_at_a_site_without_a_role() {
    const SETTINGS: &str = "GET https://blog.example/wp-json/wp/v2/settings?_fields=title";
    for (status, words) in [(200, "code="), (403, "has no role on this site")] {
        let stage = Stage::new("{ capability: manage_options }");
        stage.world.at(ME, 200, &json!({ "id": 1, "username": "ann", "roles": [], "capabilities": {} }));
        stage.world.at(SETTINGS, status, &json!({ "title": "Blog" }));
        let client = stage.registered().await;
        let entry = stage.begun(&client).await;
        let back = stage.at_site(&entry).await;
        let site = "site_url=https://blog.example&user_login=ann&password=x";
        let returned = stage.open(&format!("{back}&{site}")).await;
        let page = text(&stage.open(&location(&returned)).await);
        assert!(page.contains(words), "{status}: {page}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_gateway_below_a_path_has_its_forms_there() {
    let stage = Stage::new("wordpress");
    stage.server.serve_at(Some("https://example.com/ai"));
    let client = stage.registered().await;
    let page = text(&stage.open(&authorize(&client).replace(BASE, "https://example.com/ai")).await);
    assert!(page.contains("action=\"https://example.com/ai/oauth/sign-in/"), "{page}");
}

#[tokio::test(start_paused = true)]
async fn the_address_with_the_password_is_left_at_once() {
    let stage = Stage::new("wordpress");
    let client = stage.registered().await;
    let entry = stage.begun(&client).await;
    let back = stage.at_site(&entry).await;
    let reply =
        stage.open(&format!("{back}&site_url=https://blog.example&user_login=ann&password=s3cret")).await;
    assert_eq!(location(&reply), format!("{BASE}/oauth/sign-in/{entry}"));
    assert_eq!(reply.headers()[REFERRER_POLICY], "no-referrer");
    assert_eq!(reply.headers()[CACHE_CONTROL], "no-store");
    assert!(!text(&reply).contains("s3cret") && !format!("{reply:?}").contains("s3cret"));
    assert!(!format!("{:?}", stage.server).contains("s3cret"));
}

#[tokio::test(start_paused = true)]
async fn the_documents_describe_what_is_served() {
    let stage = Stage::new("wordpress");
    let reply =
        stage.send(Method::GET, "/.well-known/oauth-authorization-server", HeaderMap::new(), "").await;
    let said: Value = serde_json::from_slice(reply.body()).unwrap();
    assert_eq!(
        (said["issuer"].as_str(), said["code_challenge_methods_supported"][0].as_str()),
        (Some(BASE), Some("S256"))
    );
    assert_eq!(said["client_id_metadata_document_supported"], true);
    let reply = stage.server.resource_metadata("/mcp/blog").unwrap();
    let said: Value = serde_json::from_slice(reply.body()).unwrap();
    assert_eq!(said["resource"], format!("{BASE}/mcp/blog"));
    assert_eq!(said["authorization_servers"], json!([BASE]));
    for path in ["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"] {
        let said: Value = serde_json::from_slice(
            stage
                .send(Method::GET, "/.well-known/oauth-authorization-server/", HeaderMap::new(), "")
                .await
                .body(),
        )
        .unwrap();
        let path = said[path].as_str().unwrap().strip_prefix(BASE).unwrap();
        assert!(crate::AuthorizationServer::is_at(path), "{path}");
    }
}
