//! A server that requires its user's consent, with its authorization server on the same port; a user with a browser;
//! and a gateway in front of the server.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use crate::browser::{begin, cookie, told};
use crate::support::*;

/// The server's behavior, as far as tests change it.
#[derive(Default)]
pub(crate) struct Habits {
    /// The text after `Bearer` in the challenge; if empty, the URL of the metadata.
    pub(crate) challenge: String,
    /// Changed members of the resource's metadata.
    pub(crate) resource: Value,
    /// Changed members of the authorization server's metadata; null removes one.
    pub(crate) service: Value,
    /// The lifetime of tokens in seconds; 0 for no expiry.
    pub(crate) life: u64,
    /// Scopes without which calls are refused.
    pub(crate) scope: &'static str,
    /// Answers that replace those of these paths.
    pub(crate) instead: HashMap<&'static str, Said>,
    /// True if no refresh tokens are issued.
    pub(crate) no_refresh: bool,
    /// True if only calls need a token.
    pub(crate) lists_freely: bool,
    /// The answer to messages with a valid token.
    pub(crate) answers: Option<fn(&Received) -> Said>,
}

/// The state of the authorization server.
#[derive(Default)]
struct Book {
    made: u32,
    /// The parameters of the pages that the user agreed to, by code.
    codes: HashMap<String, HashMap<String, String>>,
    /// Valid tokens, with their scopes.
    access: HashMap<String, String>,
    refresh: HashMap<String, String>,
    /// Every secret that was ever issued.
    secrets: Vec<String>,
}

/// The server.
pub(crate) struct Locked {
    pub(crate) puppet: Puppet,
    book: Arc<Mutex<Book>>,
}

/// The parameters of a query or a form.
pub(crate) fn params(text: &str) -> HashMap<String, String> {
    let plain = |text: &str| {
        let bytes = text.replace('+', " ").into_bytes();
        let mut out = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let code = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
            let code = code.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
            out.push(code.unwrap_or(bytes[at]));
            at += if code.is_some() { 3 } else { 1 };
        }
        String::from_utf8(out).expect("UTF-8")
    };
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (plain(name), plain(value))).collect()
}

fn json_said(status: u16, body: &Value) -> Said {
    Said::Status(status, "application/json", body.to_string())
}

/// A complete answer with header lines, after which the connection is closed.
pub(crate) fn raw(status: u16, headers: &str, body: &str) -> Said {
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status} Told\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n");
    Said::Raw(format!("{head}{body}").into_bytes())
}

fn merged(mut base: Value, differs: &Value) -> Value {
    for (key, value) in differs.as_object().into_iter().flatten() {
        base[key] = value.clone();
    }
    if let Some(all) = base.as_object_mut() {
        all.retain(|_, value| !value.is_null());
    }
    base
}

impl Book {
    fn secret(&mut self, what: &str) -> String {
        self.made += 1;
        let secret = format!("{what}-{}-0123456789abcdef", self.made);
        self.secrets.push(secret.clone());
        secret
    }

    fn tokens(&mut self, habits: &Habits, scope: &str) -> Said {
        let (access, refresh) = (self.secret("access"), self.secret("refresh"));
        self.access.insert(access.clone(), scope.to_owned());
        let mut given = json!({"access_token": access, "token_type": "Bearer", "scope": scope});
        if !habits.no_refresh {
            self.refresh.insert(refresh.clone(), scope.to_owned());
            given["refresh_token"] = refresh.into();
        }
        if habits.life > 0 {
            given["expires_in"] = habits.life.into();
        }
        json_said(200, &given)
    }

    fn token(&mut self, habits: &Habits, request: &Received) -> Said {
        let form = params(&request.text);
        let get = |name: &str| form.get(name).map_or("", String::as_str);
        let refused = |why: &str| json_said(400, &json!({"error": why}));
        match get("grant_type") {
            "authorization_code" => {
                let Some(page) = self.codes.remove(get("code")) else { return refused("invalid_grant") };
                let shown = BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, get("code_verifier").as_bytes()));
                let same = |name: &str| page.get(name).is_some_and(|value| value == get(name));
                if shown != page["code_challenge"] || !same("redirect_uri") || !same("resource") {
                    return refused("invalid_grant");
                }
                let scope = page.get("scope").cloned().unwrap_or_default();
                self.tokens(habits, &scope)
            }
            "refresh_token" => match self.refresh.remove(get("refresh_token")) {
                Some(scope) => self.tokens(habits, &scope),
                None => refused("invalid_grant"),
            },
            "client_credentials" => {
                let scope = get("scope").to_owned();
                let Said::Status(status, kind, body) = self.tokens(habits, &scope) else {
                    return refused("server_error");
                };
                // A client without users gets no refresh token (RFC 6749, 4.4.3).
                let mut given: Value = serde_json::from_str(&body).expect("JSON");
                if let Some(all) = given.as_object_mut() {
                    all.remove("refresh_token");
                }
                Said::Status(status, kind, given.to_string())
            }
            _ => refused("unsupported_grant_type"),
        }
    }

    fn message(&self, habits: &Habits, host: &str, request: &Received) -> Said {
        if habits.lists_freely && request.method() != "tools/call" {
            return Said::Proper;
        }
        let shown = request.headers.get("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let Some(scope) = shown.and_then(|token| self.access.get(token)) else {
            let challenge = match habits.challenge.as_str() {
                "" => format!("resource_metadata=\"http://{host}/.well-known/oauth-protected-resource/mcp\""),
                said => said.replace("HOST", host),
            };
            return raw(401, &format!("WWW-Authenticate: Bearer {challenge}\r\n"), "");
        };
        let calls = request.method() == "tools/call";
        if calls
            && !habits.scope.split_whitespace().all(|want| scope.split_whitespace().any(|has| has == want))
        {
            let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{}\"", habits.scope);
            return raw(403, &format!("WWW-Authenticate: {challenge}\r\n"), "");
        }
        habits.answers.map_or(Said::Proper, |answers| answers(request))
    }

    fn answer(&mut self, habits: &Habits, request: &Received) -> Said {
        let path = request.path.split('?').next().unwrap_or_default();
        if let Some(said) = habits.instead.get(path) {
            return said.clone();
        }
        let host = request.headers["host"].clone();
        match path {
            "/mcp" => self.message(habits, &host, request),
            "/.well-known/oauth-protected-resource/mcp" => {
                let own = json!({"resource": format!("http://{host}/mcp"), "authorization_servers": [format!("http://{host}")],
                    "scopes_supported": ["read"]});
                json_said(200, &merged(own, &habits.resource))
            }
            "/.well-known/oauth-authorization-server" => {
                let own = json!({"issuer": format!("http://{host}"), "authorization_endpoint": format!("http://{host}/authorize"),
                    "token_endpoint": format!("http://{host}/token"), "registration_endpoint": format!("http://{host}/register"),
                    "code_challenge_methods_supported": ["S256"], "token_endpoint_auth_methods_supported": ["none"]});
                json_said(200, &merged(own, &habits.service))
            }
            "/register" => json_said(201, &json!({"client_id": "made-here"})),
            "/token" => self.token(habits, request),
            _ => Said::Status(404, "text/plain", "nothing here".to_owned()),
        }
    }
}

impl Locked {
    pub(crate) async fn start(habits: Habits) -> Self {
        let book = Arc::new(Mutex::new(Book::default()));
        let own = book.clone();
        let script = move |_: usize, request: &Received| {
            own.lock().unwrap_or_else(PoisonError::into_inner).answer(&habits, request)
        };
        Self { puppet: Puppet::start(script).await, book }
    }

    fn book(&self) -> std::sync::MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a page as the user and agrees; returns the path and query with which the browser returns to the gateway.
    pub(crate) fn agree(&self, page: &str) -> String {
        let (place, query) = page.split_once('?').expect("a page with a query");
        assert_eq!(place, self.puppet.url().replace("/mcp", "/authorize"));
        let page = params(query);
        assert_eq!((&*page["response_type"], &*page["code_challenge_method"]), ("code", "S256"));
        let (redirect, state) = (page["redirect_uri"].clone(), page["state"].clone());
        let mut book = self.book();
        let code = book.secret("code");
        book.codes.insert(code.clone(), page);
        let path = redirect.splitn(4, '/').nth(3).expect("a path").to_owned();
        format!("/{path}?code={code}&state={state}")
    }

    /// Invalidates all access tokens that have been issued.
    pub(crate) fn expire_tokens(&self) {
        self.book().access.clear();
    }

    /// Invalidates all refresh tokens, too.
    pub(crate) fn take_back(&self) {
        let mut book = self.book();
        book.access.clear();
        book.refresh.clear();
    }

    /// All codes and tokens that were issued.
    pub(crate) fn secrets(&self) -> Vec<String> {
        self.book().secrets.clone()
    }

    /// The requests to the token endpoint.
    pub(crate) fn token_requests(&self) -> Vec<HashMap<String, String>> {
        let all = self.puppet.received();
        all.iter().filter(|one| one.path == "/token").map(|one| params(&one.text)).collect()
    }

    /// The tokens in calls with this text among their arguments.
    pub(crate) fn shown_by(&self, text: &str) -> Vec<String> {
        let all = self.puppet.received();
        let own = all.iter().filter(|one| one.body["params"]["arguments"]["by"] == text);
        own.filter_map(|one| one.headers.get("authorization").cloned()).collect()
    }

    /// The tokens in messages.
    pub(crate) fn shown(&self) -> Vec<String> {
        let all = self.puppet.received();
        let shown =
            all.iter().filter(|one| one.path == "/mcp").filter_map(|one| one.headers.get("authorization"));
        shown.cloned().collect()
    }
}

/// A gateway in front of the server, which is named `locked` there, and of a server without consent.
pub(crate) async fn gateway(locked: &Locked, more: &str) -> Gateway {
    Gateway::start(&config(locked, more)).await
}

/// Its configuration; `more` is additional text.
pub(crate) fn config(locked: &Locked, more: &str) -> String {
    format!("mcpServers: {{ locked: {}, demo: {{ native: demo }} }}\n{more}\n", locked.puppet.config())
}

/// Calls the server's tool until the client gets the URL for consent, and opens it in a browser; returns the page of
/// the authorization server.
pub(crate) async fn page(client: &Legacy) -> String {
    soon("a page where consent is given", async {
        loop {
            let answer = client.call("locked__ok", &json!({})).await;
            if let Some(url) = told(&answer) {
                return begin(client.http, &url, "").await;
            }
        }
    })
    .await
}

/// Opens the path with which a redirected browser returns; gives the status and the page.
pub(crate) async fn come_back(gateway: &Gateway, path: &str) -> (u16, String) {
    let cookie = cookie(path).unwrap_or_default();
    let mut reply = gateway.http().get(path, &[("Cookie", &cookie)]).await;
    (reply.status, reply.text().await)
}

/// The path of the redirect URI in a page of an authorization server.
pub(crate) fn redirect_path(page: &str) -> String {
    let uri = params(page.split_once('?').expect("a query").1)["redirect_uri"].clone();
    format!("/{}", uri.splitn(4, '/').nth(3).expect("a path"))
}

/// Calls the server's tool until it answers.
pub(crate) async fn until_it_answers(client: &Legacy) {
    soon("an answer of the server's tool", async {
        loop {
            let answer = client.call("locked__ok", &json!({})).await;
            if answer["result"]["content"][0]["text"] == "ok" {
                return;
            }
        }
    })
    .await;
}

/// Gives consent: from the first refusal to the first answer.
pub(crate) async fn consent(locked: &Locked, gateway: &Gateway, client: &Legacy) {
    let back = locked.agree(&page(client).await);
    let (status, said) = come_back(gateway, &back).await;
    assert_eq!(status, 200, "{said}");
    until_it_answers(client).await;
}

/// The value of `Authorization` for a client with a secret.
pub(crate) fn basic(id: &str, secret: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{id}:{secret}")))
}

/// A state folder, removed when dropped.
pub(crate) struct State(PathBuf);

impl State {
    pub(crate) fn new(name: &str) -> Self {
        let name = format!("consent-{}-{name}", std::process::id());
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).expect("a folder in the target folder");
        Self(path)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }

    /// The number of sealed texts in the vault; 0 if there is no vault. No gateway may be running.
    pub(crate) fn sealed_texts(&self) -> i64 {
        let file = self.0.join("vault.db");
        if !file.exists() {
            return 0;
        }
        let vault = rusqlite::Connection::open(file).expect("a database");
        vault
            .query_row("SELECT count(*) FROM secrets", [], |row| row.get(0))
            .expect("a table of sealed texts")
    }

    /// Fails if one of these texts is in a file of the folder.
    pub(crate) fn is_without(&self, secrets: &[&str]) {
        for entry in std::fs::read_dir(&self.0).expect("the state folder") {
            let path = entry.expect("a file").path();
            let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let text = String::from_utf8_lossy(&bytes);
            let found = secrets.iter().find(|secret| text.contains(**secret));
            assert_eq!(found, None, "{}", path.display());
        }
    }

    /// Its line in the configuration.
    pub(crate) fn line(&self) -> String {
        format!("stateFolder: '{}'", self.0.display())
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
