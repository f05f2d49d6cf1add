//! A client without registration: the authorization server takes the URL of Dragoman's own document as the client's id.

use serde_json::{Value, json};

use crate::rig::*;
use crate::support::*;

const PUBLIC: &str = "https://gate.example.com";

async fn locked(methods: Value) -> Locked {
    let service = json!({"client_id_metadata_document_supported": true, "token_endpoint_auth_methods_supported": methods});
    Locked::start(Habits { service, ..Habits::default() }).await
}

/// The parameters of the authorization server's page.
async fn asked(gateway: &Gateway) -> (String, std::collections::HashMap<String, String>) {
    let page = page(&Legacy::open(gateway.http()).await).await;
    let query = params(page.split_once('?').expect("a query").1);
    (page, query)
}

#[tokio::test]
async fn a_document_of_dragomans_own_is_its_client_id() {
    let locked = locked(json!(["none"])).await;
    let gateway = gateway(&locked, &format!("publicUrl: {PUBLIC}")).await;
    let (page, query) = asked(&gateway).await;
    let (id, redirect) = (&query["client_id"], &query["redirect_uri"]);
    let path = id.strip_prefix(PUBLIC).unwrap_or_else(|| panic!("{id} is not at the public address"));
    let mut served = gateway.http().get(path, &[]).await;
    assert_eq!((served.status, served.header("content-type")), (200, "application/json"));
    let document = served.json().await;
    // The id in the document is its own URL, and the redirect URI is the one of the request (MCP, authorization).
    assert_eq!(
        (document["client_id"].as_str(), &document["redirect_uris"]),
        (Some(&**id), &json!([redirect]))
    );
    assert_eq!(document["token_endpoint_auth_method"], "none");
    assert!(document["client_name"] == "Dragoman" && document["client_uri"] == PUBLIC, "{document}");
    assert_eq!(gateway.http().post(path, &[], "").await.status, 405);
    assert_eq!(gateway.http().get(&path.replace("/client", "x/client"), &[]).await.status, 404);

    assert_eq!(come_back(&gateway, &locked.agree(&page)).await.0, 200);
    let form = &locked.token_requests()[0];
    assert_eq!((&form["client_id"], &form["redirect_uri"]), (id, redirect));
    assert!(!form.contains_key("client_secret"));
    assert!(locked.puppet.received().iter().all(|one| one.path != "/register"), "nothing was registered");
}

#[tokio::test]
async fn elsewhere_dragoman_registers_itself() {
    for (methods, public) in [
        // No authorization server can fetch a document from this machine, or without TLS.
        (json!(["none"]), "{}"),
        (json!(["none"]), "publicUrl: https://localhost:8443"),
        (json!(["none"]), "publicUrl: http://127.0.0.1:1"),
        // This one has no public clients.
        (json!(["client_secret_basic"]), "publicUrl: https://gate.example.com"),
    ] {
        let locked = locked(methods).await;
        let public = if public == "{}" { "" } else { public };
        let gateway = gateway(&locked, public).await;
        let (_, query) = asked(&gateway).await;
        assert_eq!(query["client_id"], "made-here", "{public}");
        let digest = redirect_path(&format!("x?redirect_uri={}", query["redirect_uri"]));
        let document = digest.replace("/callback", "/client.json");
        let is_served = gateway.http().get(&document, &[]).await.status == 200;
        assert_eq!(is_served, public.contains("gate.example.com"), "{public}");
    }
}

#[tokio::test]
async fn a_configured_client_comes_first() {
    let locked = locked(json!(["none"])).await;
    let server = format!("{{ url: '{}', oauth: {{ clientId: by-hand }} }}", locked.puppet.url());
    let gateway = Gateway::start(&format!("mcpServers: {{ locked: {server} }}\npublicUrl: {PUBLIC}\n")).await;
    assert_eq!(asked(&gateway).await.1["client_id"], "by-hand");
}
