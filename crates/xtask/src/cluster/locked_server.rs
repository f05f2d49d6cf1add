//! An MCP server that requires its user's consent, with its own authorization server: tokens live for a few seconds, each
//! refresh token works once, and a second use of one ends the whole consent, as RFC 9700 recommends.

use super::web_server::{Asked, Said, WebServer, parameter};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The lifetime of an access token.
pub(super) const LIFE: Duration = Duration::from_secs(6);

/// The time that the authorization server takes to issue tokens, so that renewals at the same time would overlap.
const SLOW: Duration = Duration::from_millis(300);

/// The server, which runs until it is dropped.
#[derive(Debug)]
pub(super) struct LockedServer {
    pub(super) address: SocketAddr,
    book: Arc<Mutex<Book>>,
    /// The server ends with it.
    _web: WebServer,
}

/// The state of the authorization server.
#[derive(Debug, Default)]
struct Book {
    made: u32,
    codes: BTreeSet<String>,
    /// The valid access tokens, with the time at which each expires.
    access: BTreeMap<String, Instant>,
    /// The refresh tokens; true for one that was used.
    refresh: BTreeMap<String, bool>,
    renewed: u32,
    /// The number of requests for tokens that are being answered.
    busy: u32,
    /// The number of refresh tokens that were used a second time.
    reused: u32,
}

impl LockedServer {
    /// Starts the server.
    pub(super) fn start() -> Result<Self, String> {
        let book = Arc::<Mutex<Book>>::default();
        let own = book.clone();
        let web = WebServer::start(move |asked, base| answer(asked, base, &own))?;
        Ok(Self { address: web.address, book, _web: web })
    }

    /// The number of renewals, and the number of refresh tokens that were used twice.
    pub(super) fn counts(&self) -> (u32, u32) {
        let book = locked(&self.book);
        (book.renewed, book.reused)
    }
}

impl LockedServer {
    /// True if no tokens are being issued.
    pub(super) fn is_idle(&self) -> bool {
        locked(&self.book).busy == 0
    }
}

fn locked(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(asked: &Asked, base: &str, book: &Mutex<Book>) -> Said {
    let good = |body: &Value| (200, String::new(), body.to_string());
    match asked.path.as_str() {
        "/mcp" => message(asked, base, book),
        path if path.starts_with("/.well-known/oauth-protected-resource") => {
            good(&json!({ "resource": format!("{base}/mcp"), "authorization_servers": [base] }))
        }
        path if path.starts_with("/.well-known/oauth-authorization-server") => good(&json!({
            "issuer": base, "authorization_endpoint": format!("{base}/authorize"), "token_endpoint": format!("{base}/token"),
            "registration_endpoint": format!("{base}/register"), "code_challenge_methods_supported": ["S256"],
            "response_types_supported": ["code"], "authorization_response_iss_parameter_supported": true,
        })),
        "/register" => (201, String::new(), json!({ "client_id": "gateway" }).to_string()),
        "/authorize" => {
            let mut book = locked(book);
            book.made += 1;
            let code = format!("code-{}", book.made);
            book.codes.insert(code.clone());
            let (to, state) = (parameter(&asked.query, "redirect_uri"), parameter(&asked.query, "state"));
            let to = to.replace("%3A", ":").replace("%2F", "/");
            let issuer = base.replace(':', "%3A").replace('/', "%2F");
            (303, format!("Location: {to}?code={code}&state={state}&iss={issuer}\r\n"), String::new())
        }
        "/token" => {
            locked(book).busy += 1;
            let issued = token(&asked.body, book);
            locked(book).busy -= 1;
            issued
        }
        _ => (404, String::new(), String::new()),
    }
}

/// Issues tokens.
fn token(form: &str, book: &Mutex<Book>) -> Said {
    thread::sleep(SLOW);
    let mut book = locked(book);
    let refused = (400, String::new(), json!({ "error": "invalid_grant" }).to_string());
    if parameter(form, "grant_type") == "authorization_code" {
        if !book.codes.remove(parameter(form, "code")) {
            return refused;
        }
    } else {
        match book.refresh.insert(parameter(form, "refresh_token").to_owned(), true) {
            Some(false) => book.renewed += 1,
            Some(true) => {
                book.reused += 1;
                book.access.clear();
                book.refresh.values_mut().for_each(|used| *used = true);
                return refused;
            }
            None => return refused,
        }
    }
    book.made += 1;
    let (access, refresh) = (format!("a{}", book.made), format!("r{}", book.made));
    // The previous token ends at once, as at strict servers.
    book.access.clear();
    book.access.insert(access.clone(), Instant::now() + LIFE);
    book.refresh.insert(refresh.clone(), false);
    let body = json!({
        "access_token": access, "token_type": "Bearer", "refresh_token": refresh, "expires_in": LIFE.as_secs(),
    });
    (200, String::new(), body.to_string())
}

/// Answers a message of the protocol.
fn message(asked: &Asked, base: &str, book: &Mutex<Book>) -> Said {
    let is_valid = locked(book).access.get(&asked.token).is_some_and(|until| Instant::now() < *until);
    if !is_valid {
        let metadata = format!("{base}/.well-known/oauth-protected-resource/mcp");
        return (
            401,
            format!("WWW-Authenticate: Bearer resource_metadata=\"{metadata}\"\r\n"),
            String::new(),
        );
    }
    let message: Value = serde_json::from_str(&asked.body).unwrap_or_default();
    if asked.method != "POST" {
        return (405, String::new(), String::new());
    }
    if message["id"].is_null() {
        return (202, String::new(), String::new());
    }
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "locked", "version": "1" },
        }),
        "tools/list" => json!({ "tools": [{ "name": "open", "inputSchema": { "type": "object" } }] }),
        "tools/call" => {
            let nonce = &message["params"]["arguments"]["nonce"];
            json!({ "content": [{ "type": "text", "text": nonce.as_str().unwrap_or_default() }] })
        }
        _ => {
            let error = json!({ "code": -32601, "message": "no such method" });
            return (
                200,
                String::new(),
                json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }).to_string(),
            );
        }
    };
    (200, String::new(), json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string())
}
