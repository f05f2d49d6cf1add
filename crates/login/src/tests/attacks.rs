//! Tests of attacks by other pages, clients and sites.

use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, ORIGIN};
use http::{Method, StatusCode};

use super::stage::*;

#[tokio::test(start_paused = true)]
async fn nobody_is_sent_to_an_address_that_is_not_the_clients() {
    let stage = Stage::new("wordpress");
    let client = stage.registered().await;
    for uri in ["https://evil.example/", "http://127.0.0.1:4711/other", "javascript:alert(1)"] {
        let reply = stage.open(&authorize(&client).replace(CALLBACK, uri)).await;
        assert_eq!(reply.status(), StatusCode::BAD_REQUEST, "{uri}");
        assert!(!text(&reply).contains(uri), "{uri}");
    }
    let reply = stage.open(&authorize("dgc_unknown")).await;
    assert!(text(&reply).contains("does not know this client any more"));
    // Nobody is sent anywhere before seeing who asks, not even to a client that has just registered.
    for (from, to, error) in
        [("S256", "plain", "invalid_request"), (BASE, "https://other.example", "invalid_target")]
    {
        let reply = stage.open(&authorize(&client).replace(from, to)).await;
        assert_eq!(reply.status(), StatusCode::BAD_REQUEST);
        let page = text(&reply);
        assert!(page.contains(&format!("href=\"{CALLBACK}?error={error}&amp;")), "{page}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_sign_in_goes_on_only_in_its_own_browser() {
    let (stage, client) = {
        let stage = Stage::new("wordpress");
        let client = stage.registered().await;
        (stage, client)
    };
    let entry = stage.begun(&client).await;
    let back = stage.at_site(&entry).await;
    // A victim's browser opens what an attacker has begun, or the other way around.
    let own = std::mem::take(&mut *stage.cookies.lock());
    let reply =
        stage.open(&format!("{back}&site_url=https://blog.example&user_login=eve&password=evil")).await;
    assert_eq!(reply.status(), StatusCode::FORBIDDEN);
    assert_eq!(stage.open(&format!("/oauth/sign-in/{entry}")).await.status(), StatusCode::NOT_FOUND);
    assert_eq!(
        stage.submit(&entry, "choice=continue&site=blog.example").await.status(),
        StatusCode::NOT_FOUND
    );
    *stage.cookies.lock() = own;
    // The state works once.
    let returned =
        stage.open(&format!("{back}&site_url=https://blog.example&user_login=ann&password=good")).await;
    assert_eq!(
        stage
            .open(&format!("{back}&site_url=https://blog.example&user_login=eve&password=evil"))
            .await
            .status(),
        StatusCode::NOT_FOUND
    );
    location(&stage.open(&location(&returned)).await);
    assert_eq!(stage.open(&location(&returned)).await.status(), StatusCode::NOT_FOUND, "once");
    assert_eq!(
        stage.open("/oauth/wordpress?site_url=https://blog.example&user_login=a&password=b").await.status(),
        StatusCode::NOT_FOUND
    );
}

#[tokio::test(start_paused = true)]
async fn a_foreign_page_cannot_send_the_form() {
    let stage = Stage::new("wordpress");
    let client = stage.registered().await;
    let entry = stage.begun(&client).await;
    let cookie = stage.cookies.lock().join("; ");
    for origin in [Some("https://evil.example"), Some("null"), None] {
        let mut headers =
            HeaderMap::from_iter([(http::header::COOKIE, HeaderValue::from_str(&cookie).unwrap())]);
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_static(origin));
        }
        let path = format!("/oauth/sign-in/{entry}");
        let reply = stage.send(Method::POST, &path, headers, "choice=continue&site=blog.example").await;
        assert_eq!(reply.status(), StatusCode::FORBIDDEN, "{origin:?}");
    }
    assert_eq!(stage.world.asked(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_site_cannot_send_people_elsewhere() {
    let stage = Stage::new("wordpress");
    let client = stage.registered().await;
    let entry = stage.begun(&client).await;
    stage.world.at(
        "GET https://evil.example/wp-json/?_fields=authentication,home",
        200,
        &serde_json::json!({
            "authentication": { "application-passwords": { "endpoints": {
                "authorization": "https://blog.example/wp-admin/authorize-application.php" } } }
        }),
    );
    let page = text(&stage.submit(&entry, "choice=continue&site=evil.example").await);
    assert!(page.contains("names a page at another address"), "{page}");
    for inner in
        ["127.0.0.1", "https://localhost", "http://blog.example", "blog.example:22", "https://10.0.0.1:8080"]
    {
        let reply = stage.submit(&entry, &format!("choice=continue&site={inner}")).await;
        assert_eq!(reply.status(), StatusCode::BAD_REQUEST, "{inner}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_site_gets_no_password_of_another_site() {
    let stage = Stage::new("wordpress");
    let client = stage.registered().await;
    for site_url in ["&site_url=https://victim.example", "&site_url=https://blog.example.evil.example", ""] {
        let entry = stage.begun(&client).await;
        let back = stage.at_site(&entry).await;
        stage.world.asked();
        let reply = stage.open(&format!("{back}{site_url}&user_login=ann&password=of-another-site")).await;
        assert_eq!(reply.status(), StatusCode::FORBIDDEN, "{site_url}");
        assert!(text(&reply).contains("does not come from https://blog.example"));
        assert_eq!(stage.open(&format!("/oauth/sign-in/{entry}")).await.status(), StatusCode::NOT_FOUND);
        assert_eq!(stage.world.asked(), [""; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_account_takes_little_memory() {
    let stage = Stage::new("wordpress");
    stage.world.at(
        ME,
        200,
        &serde_json::json!({
            "id": 7, "username": "ann", "roles": vec!["x".repeat(64); 1000], "capabilities": { "read": true }
        }),
    );
    let (access, _) = stage.tokens().await;
    assert_eq!(stage.server.account(&access, stage.now()).await.unwrap().roles.len(), 32);
}

#[tokio::test(start_paused = true)]
async fn a_stolen_code_or_token_ends_the_sign_in() {
    let stage = Stage::new("wordpress");
    let client = stage.registered().await;
    let code = stage.code(&client).await;
    let (_, said) = stage.exchanged(&client, &code).await;
    let (access, _) = pair(&said);
    let (status, said) = stage.exchanged(&client, &code).await;
    assert_eq!((status, said["error"].as_str()), (StatusCode::BAD_REQUEST, Some("invalid_grant")));
    assert!(stage.server.account(&access, stage.now()).await.is_err(), "the code was used twice");

    let (_, refresh) = stage.tokens().await;
    let (_, said) = stage.renewed(&refresh).await;
    let (access, second) = pair(&said);
    // The answer may have been lost: shortly afterwards, the old token works once more.
    assert_eq!(stage.renewed(&refresh).await.0, StatusCode::OK);
    stage.server.account(&access, stage.now()).await.unwrap();
    let before = stage.server.endings();
    assert_eq!(stage.renewed(&refresh).await.0, StatusCode::BAD_REQUEST);
    assert!(stage.server.endings() > before);
    assert!(stage.server.account(&access, stage.now()).await.is_err());
    assert_eq!(stage.renewed(&second).await.0, StatusCode::BAD_REQUEST);
}

#[tokio::test(start_paused = true)]
async fn requests_for_tokens_are_read_strictly() {
    let stage = Stage::new("wordpress");
    for (form, error) in [
        ("", "invalid_request"),
        ("grant_type=password", "unsupported_grant_type"),
        ("grant_type=authorization_code&code=x", "invalid_request"),
        ("grant_type=authorization_code&code=x&client_id=y&code_verifier=z", "invalid_grant"),
        ("grant_type=refresh_token", "invalid_request"),
        ("grant_type=refresh_token&refresh_token=x", "invalid_request"),
        ("grant_type=refresh_token&refresh_token=x&client_id=y", "invalid_grant"),
        ("grant_type=refresh_token&grant_type=refresh_token", "invalid_request"),
    ] {
        let (status, said) = stage.post("/oauth/token", form).await;
        assert_eq!((status, said["error"].as_str()), (StatusCode::BAD_REQUEST, Some(error)), "{form}");
    }
    let json = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    assert_eq!(stage.send(Method::POST, "/oauth/token", json, "{}").await.status(), StatusCode::BAD_REQUEST);
    assert_eq!(stage.open("/oauth/token").await.status(), StatusCode::METHOD_NOT_ALLOWED);
    // Neither an access token nor a refresh token of another client renews anything.
    let (access, refresh) = stage.tokens().await;
    assert_eq!(stage.renewed(&access).await.0, StatusCode::BAD_REQUEST);
    let other = format!("grant_type=refresh_token&refresh_token={refresh}&client_id=dgc_other");
    assert_eq!(stage.post("/oauth/token", &other).await.0, StatusCode::BAD_REQUEST);
}

#[tokio::test(start_paused = true)]
async fn the_file_holds_neither_passwords_nor_tokens() {
    let stage = Stage::new("wordpress");
    let (access, refresh) = stage.tokens().await;
    for entry in std::fs::read_dir(&stage.folder.0).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        for secret in [access.as_str(), refresh.as_str(), "abcdEFGH"] {
            assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()), "{secret}");
        }
    }
}
