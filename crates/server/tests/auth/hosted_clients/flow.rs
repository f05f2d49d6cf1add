//! One sign-in, request by request, as a client sends them.

use serde_json::{Value, json};

use super::browser::{Browser, challenge, returned};
use super::documents::Documents;
use super::rows::{Discovery, HostedClient, Introduction, ScopeSource};
use crate::support::*;

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");
const JSON: (&str, &str) = ("Accept", "application/json");
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

/// The servers of a sign-in.
pub(super) struct Servers<'a> {
    pub(super) http: Http,
    /// The site's address.
    pub(super) site: String,
    pub(super) documents: &'a Documents,
}

/// A client that has signed in for the endpoint at a path.
pub(super) struct SignedIn<'a> {
    row: &'a HostedClient,
    http: Http,
    resource: String,
    id: String,
    pub(super) access: String,
    pub(super) refresh: String,
}

/// Reads the metadata that a client needs; returns the scope that it requests.
async fn discovered(row: &HostedClient, http: Http, path: &str) -> String {
    let (base, name) = (format!("http://{}", http.address), row.name);
    let mut scope = String::new();
    let metadata = if row.discovery == Discovery::Challenge {
        let refused = Legacy::initialize(http, path, "2025-11-25", &json!({})).await;
        assert_eq!(refused.status, 401, "{name}");
        let challenge = refused.header("www-authenticate").to_owned();
        let part = |key: &str| challenge.split(&format!("{key}=\"")).nth(1)?.split('"').next();
        part("scope").expect(&challenge).clone_into(&mut scope);
        part("resource_metadata").and_then(|url| url.strip_prefix(&base)).expect(&challenge).to_owned()
    } else {
        format!("/.well-known/oauth-protected-resource{path}")
    };
    let mut described = http.get(&metadata, &[JSON]).await;
    assert_eq!(described.status, 200, "{name}");
    let resource = described.json().await;
    // Clients compare this text with the address that the person entered.
    assert_eq!(resource["resource"], format!("{base}{path}"), "{name}");
    if row.scope == ScopeSource::Resource {
        let all = resource["scopes_supported"].as_array().expect("scopes");
        scope = all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ");
    }
    let issuer = resource["authorization_servers"][0].as_str().expect("a server").to_owned();
    let mut found = None;
    for well_known in row.server_metadata {
        let mut reply = http.get(&format!("/.well-known/{well_known}"), &[JSON]).await;
        if reply.status == 200 {
            found = Some(reply.json().await);
            break;
        }
    }
    let server = found.expect(name);
    assert_eq!(server["issuer"], json!(issuer), "{name}");
    for (key, value) in (row.requires)().as_object().expect("an object") {
        assert_eq!(&server[key], value, "{name} requires {key}");
    }
    for (key, own) in [
        ("authorization_endpoint", "authorize"),
        ("token_endpoint", "token"),
        ("registration_endpoint", "register"),
    ] {
        assert_eq!(server[key], format!("{base}/oauth/{own}"), "{name}");
    }
    assert_eq!(scope, "mcp", "{name}");
    scope
}

async fn introduced(row: &HostedClient, servers: &Servers<'_>) -> String {
    match row.introduction {
        Introduction::Document(path, _) => servers.documents.id(path),
        Introduction::Registration(metadata) => {
            let body = metadata().to_string();
            let mut registered = servers.http.post("/oauth/register", &[], &body).await;
            let client = registered.json().await;
            assert_eq!(registered.status, 201, "{}: {client}", row.name);
            assert_eq!(client["redirect_uris"], metadata()["redirect_uris"], "{}", row.name);
            assert_eq!(client["token_endpoint_auth_method"], "none", "{}", row.name);
            client["client_id"].as_str().expect("an id").to_owned()
        }
    }
}

/// The query that sends the browser to the gateway.
pub(super) fn request(row: &HostedClient, (id, resource, scope): (&str, &str, &str)) -> String {
    form(&[
        ("response_type", "code"),
        ("client_id", id),
        ("redirect_uri", row.redirect_uri),
        ("state", "st 4te/+=="),
        ("scope", scope),
        ("code_challenge", &challenge(VERIFIER)),
        ("code_challenge_method", "S256"),
        ("resource", resource),
    ])
}

/// Signs in for the endpoint at `path`; returns the client and its code, which it has not exchanged yet.
pub(super) async fn approved<'a>(
    row: &'a HostedClient,
    servers: &Servers<'_>,
    path: &str,
) -> (SignedIn<'a>, String) {
    let (http, base) = (servers.http, format!("http://{}", servers.http.address));
    let scope = discovered(row, http, path).await;
    let (id, resource) = (introduced(row, servers).await, format!("{base}{path}"));
    let url = format!("{base}/oauth/authorize?{}", request(row, (&id, &resource, &scope)));
    let (page, back) = Browser::new(http).sign_in(&url, &servers.site, row.redirect_uri).await;
    for said in [format!("Connect {} to WordPress", row.name), format!("<strong>{}</strong>", row.shown)] {
        assert!(page.contains(&said), "{}: {said}: {page}", row.name);
    }
    let parameter = returned(&back);
    assert_eq!((parameter("state").as_str(), parameter("iss")), ("st 4te/+==", base), "{back}");
    assert!(!back.contains("password") && !back.contains("user_login"), "{back}");
    let client = SignedIn { row, http, resource, id, access: String::new(), refresh: String::new() };
    (client, parameter("code"))
}

impl SignedIn<'_> {
    /// Sends a request for tokens; all clients are public, so they authenticate with their id alone.
    pub(super) async fn tokens(&mut self, fields: &[(&str, &str)]) -> Result<(), (u16, Value)> {
        let all: Vec<(&str, &str)> =
            fields.iter().copied().chain([("client_id", self.id.as_str())]).collect();
        let mut reply = self.http.post("/oauth/token", &[FORM, JSON], &form(&all)).await;
        let said = reply.json().await;
        if reply.status != 200 {
            return Err((reply.status, said));
        }
        assert_eq!(reply.header("cache-control"), "no-store", "{}", self.row.name);
        assert_eq!((&said["token_type"], &said["scope"]), (&json!("Bearer"), &json!("mcp")), "{said}");
        assert!(said["expires_in"].as_u64().is_some_and(|seconds| seconds > 600), "{said}");
        said["access_token"].as_str().expect("a token").clone_into(&mut self.access);
        said["refresh_token"].as_str().expect("a token").clone_into(&mut self.refresh);
        Ok(())
    }

    /// Exchanges the code; `resource` is the resource that the client names.
    pub(super) async fn exchange(&mut self, code: &str, resource: &str) -> Result<(), (u16, Value)> {
        let row = self.row;
        self.tokens(&[
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", row.redirect_uri),
            ("code_verifier", VERIFIER),
            ("resource", resource),
        ])
        .await
    }

    /// Renews the tokens, as this client does.
    pub(super) async fn renew(&mut self) -> Result<(), (u16, Value)> {
        let (old, resource) = (self.refresh.clone(), self.resource.clone());
        let mut fields = vec![("grant_type", "refresh_token"), ("refresh_token", old.as_str())];
        if self.row.renews_with_resource {
            fields.push(("resource", &resource));
        }
        self.tokens(&fields).await
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn resource(&self) -> &str {
        &self.resource
    }

    /// A client that sends the access token.
    pub(super) fn bearer(&self) -> Http {
        self.http.showing(&format!("Bearer {}", self.access))
    }
}

/// Signs in for the endpoint at `path`, and gets tokens.
pub(super) async fn signed_in<'a>(row: &'a HostedClient, servers: &Servers<'_>, path: &str) -> SignedIn<'a> {
    let (mut client, code) = approved(row, servers, path).await;
    let resource = client.resource().to_owned();
    client.exchange(&code, &resource).await.unwrap_or_else(|refused| panic!("{}: {refused:?}", row.name));
    client
}

/// A form, or a query.
pub(super) fn form(fields: &[(&str, &str)]) -> String {
    let encoded = |text: &str| -> String {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
        text.bytes()
            .map(|b| if is_plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") })
            .collect()
    };
    fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect::<Vec<_>>().join("&")
}

/// The parameters of a query.
pub(super) fn parameters(query: &str) -> Vec<(String, String)> {
    let decoded = |text: &str| {
        let mut parts = text.split('%');
        let mut bytes = parts.next().unwrap_or_default().replace('+', " ").into_bytes();
        for part in parts {
            bytes.push(u8::from_str_radix(&part[..2], 16).expect(text));
            bytes.extend(part[2..].replace('+', " ").bytes());
        }
        String::from_utf8(bytes).expect(text)
    };
    query.split('&').filter_map(|pair| pair.split_once('=')).map(|(k, v)| (decoded(k), decoded(v))).collect()
}
