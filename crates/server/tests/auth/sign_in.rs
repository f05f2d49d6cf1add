//! Signing in: the information that clients and operators get from the gateway. `crates/login/src/tests` has whole sign-ins, and
//! the tests of real sites have real clients.

use serde_json::{Value, json};

use store::grants::{Grants, NewGrant};

use crate::admin_browser::{Browser, with_ann};
use crate::rig::*;
use crate::support::*;

/// A gateway at which people can sign in, and `ann` may manage.
async fn started(state: &State) -> Gateway {
    let auth = format!("{{ login: {{ privateSites: true }}, users: {{ ann: '{HASH}' }} }}");
    let management = "management: { who: { user: [ann] } }\n";
    Gateway::start(&format!("{}{management}{}", config(&auth), state.line())).await
}

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

#[tokio::test]
async fn clients_find_the_authorization_server() {
    let state = State::new();
    let gateway = started(&state).await;
    let refused = gateway.http().post("/mcp/other", &[], "{}").await;
    assert_eq!(refused.status, 401);
    let challenge = refused.header("www-authenticate").to_owned();
    let named = challenge.strip_prefix("Bearer resource_metadata=\"").expect(&challenge);
    let (url, rest) = named.split_once('"').expect(&challenge);
    assert!(rest.starts_with(", scope=\"mcp\", "), "{challenge}");
    let (base, path) = url.split_once("/.well-known/").expect(url);
    assert_eq!(path, "oauth-protected-resource/mcp/other");
    let resource =
        gateway.http().get("/.well-known/oauth-protected-resource/mcp/other", &[]).await.json().await;
    assert_eq!(resource["resource"], format!("{base}/mcp/other"));
    assert_eq!(resource["authorization_servers"], json!([base]));
    let server = gateway.http().get("/.well-known/oauth-authorization-server", &[]).await.json().await;
    assert_eq!(server["issuer"], base);
    // Nobody learns which profiles exist, and a path that is no endpoint has no description.
    for (path, status) in [("/mcp/none", 200), ("/mcp", 200), ("", 200), ("/nothing", 404)] {
        let found = gateway.http().get(&format!("/.well-known/oauth-protected-resource{path}"), &[]).await;
        assert_eq!(found.status, status, "{path}");
    }
}

#[tokio::test]
async fn a_client_registers_and_sends_a_browser() {
    let state = State::new();
    let gateway = started(&state).await;
    let client = json!({"client_name": "Test", "redirect_uris": ["http://127.0.0.1/cb"]}).to_string();
    let mut registered = gateway.http().post("/oauth/register", &[], &client).await;
    assert_eq!(registered.status, 201);
    let id = registered.json().await["client_id"].as_str().expect("an id").to_owned();
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    let query = format!(
        "response_type=code&client_id={id}&redirect_uri=http://127.0.0.1:9/cb&code_challenge={challenge}&code_challenge_method=S256"
    );
    let mut page = gateway.http().get(&format!("/oauth/authorize?{query}"), &[]).await;
    assert_eq!((page.status, page.header("cache-control")), (200, "no-store"));
    assert!(page.header("content-security-policy").starts_with("default-src 'none'; style-src 'sha256-"));
    assert!(page.header("set-cookie").contains("HttpOnly; SameSite=Lax"));
    assert!(page.text().await.contains("Connect Test to WordPress"));
    for (path, form, error) in [
        ("/oauth/token", "grant_type=authorization_code&code=x&client_id=y&code_verifier=z", "invalid_grant"),
        ("/oauth/revoke", "", "invalid_request"),
    ] {
        let mut refused = gateway.http().post(path, &[FORM], form).await;
        assert_eq!((refused.status, refused.json().await["error"].as_str()), (400, Some(error)), "{path}");
    }
    let long = "x".repeat(65 * 1024);
    assert_eq!(gateway.http().post("/oauth/register", &[], &long).await.status, 413);
    let refused = visit(gateway.http(), "/mcp", &bearer("dgs_unknown")).await;
    assert!(refused.status == 401 && refused.header("www-authenticate").contains("error=\"invalid_token\""));
}

#[tokio::test]
async fn operators_see_who_has_signed_in() {
    let state = State::new();
    let gateway = started(&state).await;
    let ann = basic("ann", "battery staple");
    let ann = [("Authorization", ann.as_str())];
    let listed: Value = gateway.http().get("/api/sign-ins", &ann).await.json().await;
    assert_eq!(listed, json!({"signIns": []}));
    let mut missing = gateway.http().delete("/api/sign-ins/none", &ann).await;
    assert_eq!((missing.status, &missing.json().await["error"]["code"]), (404, &json!("SIGN_IN_NOT_FOUND")));
}

/// The state of a person's sign-in, written as by a gateway that ran before.
fn sign_in(state: &State) {
    let mut grants = Grants::open(state.path(), &[1; 32]).expect("a file");
    let grant = NewGrant {
        id: "grant-of-bob",
        client: "client",
        client_name: "Cursor",
        site: "http://127.0.0.1:9",
        rest: "http://127.0.0.1:9/wp-json/",
        user: "bob",
        password: &"abcd efgh".into(),
        password_id: None,
        profiles: None,
    };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    let now = u64::try_from(now.as_millis()).expect("a time");
    assert!(grants.begin(&grant, [2; 12], now).expect("a grant"));
}

#[tokio::test]
async fn a_sign_in_is_ended_on_the_pages_only_after_a_question() {
    let state = State::new();
    sign_in(&state);
    let auth = "auth: { login: { privateSites: true } }\n";
    let gateway = Gateway::start(&with_ann(&format!("{auth}{}", state.line()))).await;
    let mut browser = Browser::new(gateway.http());
    assert_eq!(browser.log_in("battery staple").await.status, 303);
    let page = browser.get("/admin/logins").await;
    assert!(page.text.contains("name=\"signIn\" value=\"grant-of-bob\""), "{}", page.text);
    let token = page.form_token();
    let form = |rest: &str| format!("csrf={token}&signIn=grant-of-bob{rest}");
    let asks = ["End the sign-in?", "bob at http://127.0.0.1:9", "name=\"signIn\" value=\"grant-of-bob\""];
    browser.is_asked_first("/admin/sign-ins-end", &form(""), &asks).await;
    assert!(browser.get("/admin/logins").await.text.contains("grant-of-bob"), "nothing has ended");
    let done = browser.post("/admin/sign-ins-end", &form("&sure=yes")).await;
    assert_eq!(done.status, 303, "{}", done.text);
    let page = browser.get(done.header("location")).await.text;
    assert!(page.contains("The sign-in has ended.") && !page.contains("grant-of-bob"), "{page}");
}

#[tokio::test]
async fn without_the_setting_nothing_of_this_is_here() {
    let gateway = gateway("{ bearer: the-one-token }").await;
    for path in ["/oauth/authorize", "/oauth/wordpress", "/.well-known/oauth-authorization-server"] {
        assert_eq!(gateway.http().get(path, &[]).await.status, 404, "{path}");
    }
}
