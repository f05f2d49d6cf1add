//! The simulated world: one WordPress site, clients' documents, one browser.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use config::{Config, Login, Lookup};
use http::header::{CONTENT_TYPE, COOKIE, HeaderMap, HeaderValue, LOCATION, ORIGIN, SET_COOKIE};
use http::{Method, StatusCode};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::grant_file::GrantFile;
use crate::outbound::{NOT_REACHABLE, Outbound, OutboundError, Responding, SiteRequest, SiteResponse};
use crate::response::Reply;
use crate::{AuthorizationServer, EndpointRequest, Resource, random};

pub(super) const BASE: &str = "https://mcp.example.com";
pub(super) const SITE: &str = "https://blog.example";
pub(super) const CALLBACK: &str = "http://127.0.0.1:4711/cb";
pub(super) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
/// 2026-11-22T06:00:00Z.
pub(super) const NOW: u64 = 1_795_327_200_000;

/// A status, a body, and the target of a redirect.
type Answer = (u16, String, Option<String>);

/// The other servers: answers by method and URL.
#[derive(Default)]
pub(super) struct World {
    answers: Mutex<HashMap<String, Answer>>,
    pub(super) asked: Mutex<Vec<SiteRequest>>,
}

impl World {
    /// A site that accepts every password and has the editor `ann`.
    pub(super) fn with_site() -> Arc<Self> {
        let world = Arc::new(Self::default());
        let page = format!("{SITE}/wp-admin/authorize-application.php");
        world.at(
            &format!("GET {SITE}/wp-json/?_fields=authentication,home"),
            200,
            &json!({
                "authentication": { "application-passwords": { "endpoints": { "authorization": page } } }
            }),
        );
        world.at(
            ME,
            200,
            &json!({
                "id": 7, "username": "ann", "roles": ["editor"], "capabilities": { "read": true }
            }),
        );
        world.at(INTROSPECT, 200, &json!({ "uuid": UUID }));
        world.at(DELETE, 200, &json!({ "deleted": true }));
        world
    }

    pub(super) fn at(&self, what: &str, status: u16, body: &Value) {
        self.answers.lock().insert(what.to_owned(), (status, body.to_string(), None));
    }

    pub(super) fn redirects(&self, what: &str, to: &str) {
        self.answers.lock().insert(what.to_owned(), (301, String::new(), Some(to.to_owned())));
    }

    pub(super) fn gone(&self, what: &str) {
        self.answers.lock().remove(what);
    }

    /// The requests since the last call, as methods and URLs.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().drain(..).map(|one| format!("{} {}", one.method, one.url)).collect()
    }
}

pub(super) const UUID: &str = "0a1b2c3d-0000-4000-8000-000000000001";
pub(super) const ME: &str = "GET https://blog.example/wp-json/wp/v2/users/me?context=edit";
pub(super) const INTROSPECT: &str =
    "GET https://blog.example/wp-json/wp/v2/users/me/application-passwords/introspect";
pub(super) const DELETE: &str = "DELETE https://blog.example/wp-json/wp/v2/users/me/application-passwords/0a1b2c3d-0000-4000-8000-000000000001";

impl Outbound for Arc<World> {
    fn send(&self, request: SiteRequest) -> Responding<'_> {
        let key = format!("{} {}", request.method, request.url);
        let answer = self.answers.lock().get(&key).cloned();
        self.asked.lock().push(request);
        Box::pin(async move {
            // Calls that arrive at the same time find the answer still open.
            tokio::task::yield_now().await;
            let (status, body, location) = answer.ok_or(OutboundError(NOT_REACHABLE.to_owned()))?;
            Ok(SiteResponse {
                status: StatusCode::from_u16(status).unwrap(),
                location,
                body: Bytes::from(body),
            })
        })
    }
}

/// A new folder for one test; it is removed at the end of the test.
pub(super) struct Folder(pub(super) PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The server, the world around it, and one browser.
pub(super) struct Stage {
    pub(super) server: Arc<AuthorizationServer>,
    pub(super) world: Arc<World>,
    pub(super) folder: Folder,
    pub(super) cookies: Mutex<Vec<String>>,
    pub(super) now_ms: Mutex<u64>,
    /// The client that signed in last.
    pub(super) client: Mutex<String>,
}

/// The resources of the simulated gateway: profiles, and the gateway as a whole.
fn resource_at(path: &str) -> Option<Resource> {
    match path {
        "" => Some(Resource::Gateway),
        "/mcp" => Some(Resource::Profile("default".to_owned())),
        _ => path.strip_prefix("/mcp/").map(|name| Resource::Profile(name.to_owned())),
    }
}

/// The settings from this text below `auth`.
pub(super) fn settings(login: &str) -> Login {
    let lookup = Lookup { env: &|_| None, file: &|_| Err("none".to_owned()) };
    let text = format!("publicUrl: {BASE}\nauth: {{ login: {login} }}\nmcpServers: {{}}\n");
    let Config { auth, .. } = config::load(&text, "test", &lookup).unwrap().config;
    auth.login.unwrap()
}

impl Stage {
    pub(super) fn new(login: &str) -> Self {
        let name = random::name().unwrap();
        let folder =
            Folder(std::env::temp_dir().join(format!("dragoman-login-{}-{name}", std::process::id())));
        let world = World::with_site();
        let grants = GrantFile::open(&folder.0).unwrap();
        let server = AuthorizationServer::over(settings(login), grants, Box::new(world.clone())).unwrap();
        server.serve_at(Some(BASE));
        let (cookies, now_ms) = (Mutex::default(), Mutex::new(NOW));
        Self { server: Arc::new(server), world, folder, cookies, now_ms, client: Mutex::default() }
    }

    pub(super) fn now(&self) -> u64 {
        *self.now_ms.lock()
    }

    /// Advances both clocks by this many minutes.
    pub(super) async fn pass(&self, minutes: u64) {
        *self.now_ms.lock() += minutes * 60_000;
        tokio::time::advance(std::time::Duration::from_mins(minutes)).await;
    }

    pub(super) async fn send(&self, method: Method, to: &str, headers: HeaderMap, body: &str) -> Reply {
        let to = to.strip_prefix(BASE).unwrap_or(to);
        let (path, query) = to.split_once('?').unwrap_or((to, ""));
        let visit = EndpointRequest {
            method: &method,
            path,
            query,
            headers: &headers,
            body: Bytes::copy_from_slice(body.as_bytes()),
            address: [203, 0, 113, 1].into(),
            now_ms: self.now(),
            resource_at: &resource_at,
        };
        self.server.respond(visit).await
    }

    /// Opens an address in the browser, which keeps the cookies.
    pub(super) async fn open(&self, to: &str) -> Reply {
        let reply = self.send(Method::GET, to, self.cookie_header(), "").await;
        let set = reply.headers().get_all(SET_COOKIE).iter().map(|one| one.to_str().unwrap());
        self.cookies.lock().extend(set.map(|one| one.split(';').next().unwrap().to_owned()));
        reply
    }

    fn cookie_header(&self) -> HeaderMap {
        let line = self.cookies.lock().join("; ");
        HeaderMap::from_iter([(COOKIE, HeaderValue::from_str(&line).unwrap())])
    }

    /// Submits the form of our page in the browser.
    pub(super) async fn submit(&self, entry: &str, form: &str) -> Reply {
        let mut headers = self.cookie_header();
        headers.insert(ORIGIN, HeaderValue::from_static(BASE));
        self.send(Method::POST, &format!("/oauth/sign-in/{entry}"), headers, form).await
    }

    /// Sends a form as a program, without the browser.
    pub(super) async fn post(&self, to: &str, form: &str) -> (StatusCode, Value) {
        let form_media = HeaderValue::from_static("application/x-www-form-urlencoded");
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, form_media)]);
        let reply = self.send(Method::POST, to, headers, form).await;
        (reply.status(), serde_json::from_slice(reply.body()).unwrap())
    }

    /// Registers a client.
    pub(super) async fn registered(&self) -> String {
        let body = json!({ "client_name": "Tester", "redirect_uris": ["http://127.0.0.1/cb"] }).to_string();
        let reply = self.send(Method::POST, "/oauth/register", HeaderMap::new(), &body).await;
        assert_eq!(reply.status(), StatusCode::CREATED);
        let said: Value = serde_json::from_slice(reply.body()).unwrap();
        said["client_id"].as_str().unwrap().to_owned()
    }

    /// Begins a sign-in: the browser comes from a client. Returns the name of the sign-in.
    pub(super) async fn begun(&self, client: &str) -> String {
        let reply = self.open(&authorize(client)).await;
        assert_eq!(reply.status(), StatusCode::OK, "{}", text(&reply));
        let page = text(&reply);
        let (_, rest) = page.split_once("/oauth/sign-in/").expect("a form");
        rest.split('"').next().unwrap().to_owned()
    }

    /// Leads the browser to the site; returns the address to which the site sends it back.
    pub(super) async fn at_site(&self, entry: &str) -> String {
        let reply = self.submit(entry, "choice=continue&site=blog.example").await;
        let to = location(&reply);
        let query = to.strip_prefix(&format!("{SITE}/wp-admin/authorize-application.php?")).expect(&to);
        let pairs = upstream::oauth::form::pairs(query);
        pairs.into_iter().find(|(name, _)| name == "success_url").unwrap().1
    }

    /// Completes a sign-in in the browser; returns the code.
    pub(super) async fn code(&self, client: &str) -> String {
        let entry = self.begun(client).await;
        let back = self.at_site(&entry).await;
        let returned = self
            .open(&format!("{back}&site_url=https://blog.example/wp&user_login=ann&password=abcdEFGH"))
            .await;
        let finished = self.open(&location(&returned)).await;
        let to = location(&finished);
        let pairs = upstream::oauth::form::pairs(to.split_once('?').unwrap().1);
        let get = |name: &str| pairs.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone());
        assert_eq!((get("state").as_deref(), get("iss").as_deref()), (Some("s 1"), Some(BASE)));
        get("code").unwrap_or_else(|| panic!("no code: {to}"))
    }

    pub(super) async fn exchanged(&self, client: &str, code: &str) -> (StatusCode, Value) {
        let form = format!(
            "grant_type=authorization_code&code={code}&client_id={client}&code_verifier={VERIFIER}&redirect_uri={CALLBACK}"
        );
        self.post("/oauth/token", &form).await
    }

    /// Signs in; returns an access token and a refresh token.
    pub(super) async fn tokens(&self) -> (String, String) {
        let client = self.registered().await;
        self.client.lock().clone_from(&client);
        let code = self.code(&client).await;
        let (status, said) = self.exchanged(&client, &code).await;
        assert_eq!(status, StatusCode::OK, "{said}");
        pair(&said)
    }

    pub(super) async fn renewed(&self, refresh: &str) -> (StatusCode, Value) {
        let client = self.client.lock().clone();
        let form = format!("grant_type=refresh_token&refresh_token={refresh}&client_id={client}");
        self.post("/oauth/token", &form).await
    }
}

pub(super) fn pair(said: &Value) -> (String, String) {
    let text = |name: &str| said[name].as_str().unwrap().to_owned();
    (text("access_token"), text("refresh_token"))
}

pub(super) fn authorize(client: &str) -> String {
    let challenge = random::challenge_of(VERIFIER);
    format!(
        "/oauth/authorize?response_type=code&client_id={client}&redirect_uri={CALLBACK}&state=s+1&code_challenge={challenge}&\
         code_challenge_method=S256&resource={BASE}/mcp"
    )
}

pub(super) fn text(reply: &Reply) -> String {
    String::from_utf8(reply.body().to_vec()).unwrap()
}

pub(super) fn location(reply: &Reply) -> String {
    assert_eq!(reply.status(), StatusCode::SEE_OTHER, "{}", text(reply));
    reply.headers()[LOCATION].to_str().unwrap().to_owned()
}
