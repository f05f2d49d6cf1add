//! The ways that must not lead to a page.

use std::time::Duration;

use crate::browser::{Browser, printed_link, start_with, with_ann};

#[tokio::test]
async fn no_credential_of_a_client_opens_the_pages() {
    let gateway =
        start_with(&with_ann("auth: { bearer: a-token-that-nobody-guesses }\nmanagement: true\n")).await;
    let http = gateway.http().showing("Bearer a-token-that-nobody-guesses");
    assert_eq!(http.get("/api/mcp-servers", &[]).await.status, 200, "it is good elsewhere");
    let mut browser = Browser::new(http);
    assert!(!browser.is_in().await);
    // `ann:battery staple`, an operator's own password, sent as clients send credentials.
    let mut browser = Browser::new(gateway.http().showing("Basic YW5uOmJhdHRlcnkgc3RhcGxl"));
    assert!(!browser.is_in().await);
    assert_eq!(
        gateway.http().showing("Basic YW5uOmJhdHRlcnkgc3RhcGxl").get("/api/mcp-servers", &[]).await.status,
        401
    );
}

#[tokio::test]
async fn a_session_of_the_pages_is_no_credential_for_the_api() {
    let gateway = start_with(&with_ann("auth: { keys: true }\nmanagement: true\n")).await;
    let mut browser = Browser::new(gateway.http());
    browser.log_in("battery staple").await;
    assert!(browser.is_in().await);
    let api = browser.send("GET", "/api/mcp-servers", &[("Sec-Fetch-Site", "same-origin")], "").await;
    assert_eq!(api.status, 401);
}

#[tokio::test]
async fn a_link_opens_the_pages_once() {
    let gateway = start_with(&with_ann("")).await;
    let link = printed_link(&gateway);
    let (mut first, mut second) = (Browser::new(gateway.http()), Browser::new(gateway.http()));
    assert_eq!(second.get(&link).await.status, 200, "a preview uses nothing up");
    assert_eq!(first.post(&link, "").await.status, 303);
    assert_eq!(second.post(&link, "").await.status, 403);
    assert!(second.cookies.is_empty() && !second.is_in().await);
    for guess in ["x", &"A".repeat(22), &"A".repeat(5000)] {
        assert_eq!(
            Browser::new(gateway.http()).post(&format!("/admin/enter/{guess}"), "").await.status / 100,
            4
        );
    }
}

#[tokio::test]
async fn who_seems_to_come_through_a_proxy_gets_no_page() {
    let gateway = start_with(&with_ann("allowedHosts: [mcp.example.com]\n")).await;
    let link = printed_link(&gateway);
    for through in [
        &[("X-Forwarded-For", "203.0.113.1")][..],
        &[("Forwarded", "for=203.0.113.1")],
        &[("Via", "1.1 proxy")],
        &[("Host", "mcp.example.com")],
    ] {
        let mut browser = Browser::new(gateway.http());
        let own = [("Sec-Fetch-Site", "same-origin")];
        let headers: Vec<_> = through.iter().chain(&own).copied().collect();
        for (method, path, form) in [
            ("GET", "/admin", ""),
            ("GET", "/admin/login", ""),
            ("POST", "/admin/login", "name=ann&password=battery+staple"),
            ("POST", &link, ""),
        ] {
            let page = browser.send(method, path, &headers, form).await;
            assert_eq!(page.status, 403, "{method} {path} {through:?}");
            assert!(page.text.contains("only over https"), "{}", page.text);
        }
        assert!(browser.cookies.is_empty());
    }
    let mut browser = Browser::new(gateway.http());
    assert_eq!(browser.post(&link, "").await.status, 303, "the link was not used up");
}

#[tokio::test]
async fn behind_a_proxy_with_https_the_cookie_belongs_to_https() {
    let rest = "publicUrl: https://mcp.example.com\nallowedHosts: [mcp.example.com]\n";
    let gateway = start_with(&with_ann(rest)).await;
    let own =
        [("Sec-Fetch-Site", "same-origin"), ("Host", "mcp.example.com"), ("X-Forwarded-For", "203.0.113.1")];
    let mut browser = Browser::new(gateway.http());
    let opened = browser.send("POST", "/admin/login", &own, "name=ann&password=battery+staple").await;
    assert_eq!(opened.status, 303, "{}", opened.text);
    let cookie = opened.header("set-cookie");
    assert!(cookie.starts_with("__Host-dragoman-admin="), "{cookie}");
    assert!(cookie.ends_with("; Path=/; Secure; HttpOnly; SameSite=Strict"), "{cookie}");
    assert_eq!(browser.send("GET", "/admin", &own, "").await.status, 200);
    assert!(!browser.is_in().await, "the same cookie is worth nothing over http");
    let renamed = browser.cookies.remove("__Host-dragoman-admin").expect("it was set");
    browser.cookies.insert("dragoman-admin".to_owned(), renamed.clone());
    let over = browser.send("GET", "/admin", &own, "").await;
    assert_eq!(over.status, 303, "a cookie without the prefix could be set by others");
}

#[tokio::test]
async fn no_other_page_can_log_a_visitor_in_or_out() {
    let gateway = start_with(&with_ann("allowedOrigins: ['https://app.example.com']\n")).await;
    let mut browser = Browser::new(gateway.http());
    let foreign: &[&[(&str, &str)]] = &[
        &[("Sec-Fetch-Site", "cross-site"), ("Origin", "https://evil.example")],
        &[("Sec-Fetch-Site", "same-site"), ("Origin", "null")],
        &[("Sec-Fetch-Site", "none")],
        &[("Origin", "https://app.example.com")],
        &[("Origin", "null")],
        &[],
    ];
    for headers in foreign {
        let login = browser.send("POST", "/admin/login", headers, "name=ann&password=battery+staple").await;
        assert_eq!(login.status, 403, "{headers:?}");
        assert!(browser.cookies.is_empty());
        assert_eq!(login.header("access-control-allow-origin"), "", "no page of another origin reads it");
    }
    browser.log_in("battery staple").await;
    let token = browser.get("/admin").await.form_token();
    for headers in foreign {
        let out = browser.send("POST", "/admin/logout", headers, &format!("csrf={token}")).await;
        assert_eq!(out.status, 403, "{headers:?}");
    }
    for form in ["", "csrf=", "csrf=x", &format!("token={token}"), &format!("csrf={}", token.to_uppercase())]
    {
        assert_eq!(browser.post("/admin/logout", form).await.status, 403, "{form}");
    }
    let mut other = Browser::new(gateway.http());
    other.log_in("battery staple").await;
    assert_eq!(
        other.post("/admin/logout", &format!("csrf={token}")).await.status,
        403,
        "another session's token"
    );
    assert!(browser.is_in().await && other.is_in().await);
    let plain = browser
        .send(
            "POST",
            "/admin/logout",
            &[("Sec-Fetch-Site", "same-origin"), ("Content-Type", "text/plain")],
            "csrf=x",
        )
        .await;
    assert_eq!(plain.status, 403, "no form");
}

#[tokio::test]
async fn guessing_locks_one_address_out() {
    let gateway = start_with(&with_ann(
        "trustForwardedFor: true\npublicUrl: https://mcp.example.com\nallowedHosts: [mcp.example.com]\n",
    ))
    .await;
    let from = |address: &'static str| {
        [("Sec-Fetch-Site", "same-origin"), ("Host", "mcp.example.com"), ("X-Forwarded-For", address)]
    };
    let mut browser = Browser::new(gateway.http());
    for number in 0..5 {
        let form = format!("name=ann&password=wrong-{number}");
        let page = browser.send("POST", "/admin/login", &from("203.0.113.1"), &form).await;
        assert!(page.status == 403 && page.text.contains("The name or the password is wrong."), "{number}");
    }
    let right = "name=ann&password=battery+staple";
    let locked = browser.send("POST", "/admin/login", &from("203.0.113.1"), right).await;
    assert!(locked.status == 429 && locked.header("retry-after").parse::<u64>().is_ok_and(|wait| wait > 600));
    let link = printed_link(&gateway);
    assert_eq!(
        browser.send("POST", &link, &from("203.0.113.1"), "").await.status,
        429,
        "links count as well"
    );
    gateway.log().has("locked out for a while").await;
    let log = gateway.log().text();
    assert!(!log.contains("wrong-") && !log.contains("battery"), "no password is logged");
    assert_eq!(browser.send("POST", "/admin/login", &from("203.0.113.2"), right).await.status, 303);
}

#[tokio::test]
async fn a_wrong_name_takes_as_long_as_a_wrong_password() {
    let gateway = start_with(&with_ann("")).await;
    for form in ["name=ann&password=x", "name=nobody&password=x"] {
        let started = std::time::Instant::now();
        let page = Browser::new(gateway.http()).post("/admin/login", form).await;
        assert!(page.status == 403 && started.elapsed() >= Duration::from_millis(500), "{form}");
    }
}

#[tokio::test]
async fn each_answer_carries_the_headers() {
    let gateway = start_with(&with_ann("")).await;
    let mut browser = Browser::new(gateway.http());
    let check = |page: &crate::browser::Page, path: &str| {
        let policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
        assert_eq!(page.header("content-security-policy"), policy, "{path}");
        assert_eq!(page.header("referrer-policy"), "no-referrer", "{path}");
        assert_eq!(page.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(page.header("cross-origin-opener-policy"), "same-origin", "{path}");
        assert_eq!(page.header("cache-control"), "no-store", "{path}");
        assert!(!page.text.contains("style=") && !page.text.contains("<script>"), "{path}");
    };
    for path in ["/admin", "/admin/", "/admin/login", "/admin/enter/x", "/admin/nothing"] {
        check(&browser.get(path).await, path);
    }
    check(&browser.log_in("wrong").await, "a wrong password");
    check(&browser.send("PUT", "/admin", &[], "").await, "PUT");
    check(&browser.log_in("battery staple").await, "a login");
    for path in ["/admin", "/admin/nothing"] {
        check(&browser.get(path).await, path);
    }
    check(&browser.post("/admin/logout", "csrf=x").await, "a refused form");
}

#[tokio::test]
async fn of_two_cookies_neither_counts() {
    let gateway = start_with(&with_ann("")).await;
    let mut browser = Browser::new(gateway.http());
    browser.log_in("battery staple").await;
    let cookie = browser.cookies["dragoman-admin"].clone();
    let twice = format!("dragoman-admin=x; dragoman-admin={cookie}");
    let page = Browser::new(gateway.http()).send("GET", "/admin", &[("Cookie", &twice)], "").await;
    assert_eq!(page.status, 303);
}

#[tokio::test]
async fn a_changed_configuration_ends_all_sessions() {
    let gateway = start_with(&with_ann("")).await;
    let mut browser = Browser::new(gateway.http());
    browser.log_in("battery staple").await;
    assert!(browser.is_in().await);
    gateway.write(&format!("{}stateFolder: state\nlimits: {{ batch: 7 }}\n", with_ann("")));
    gateway.log().has("reloaded the configuration").await;
    assert!(browser.is_in().await, "nothing about operators has changed");
    gateway.write("admin: true\nmcpServers: { demo: { native: demo } }\nstateFolder: state\n");
    gateway.log().has_times("reloaded the configuration", 2).await;
    assert!(!browser.is_in().await);
    assert_eq!(browser.log_in("battery staple").await.status, 403, "nobody has a password any more");
}
