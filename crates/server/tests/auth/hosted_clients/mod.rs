//! Sign-ins of clients that run on their providers' machines or in an editor: Claude, `ChatGPT`, Visual Studio Code and
//! Cursor. These clients cannot run in a test, so their requests are rebuilt from the pages that their makers publish. Each row in
//! `rows` names its page. A test sends the requests of all rows to a real gateway. A stand-in for a WordPress site gives
//! the password, and a stand-in for the makers' web servers publishes the clients' documents under another host name.
//!
//! No maker publishes the protocol versions of the client's requests, so each token is used with all versions since the
//! first one with authorization.
//!
//! | file | is for |
//! |---|---|
//! | `rows` | the clients |
//! | `flow` | the requests of a client |
//! | `browser` | the person |
//! | `documents` | the makers' web servers |

mod browser;
mod documents;
mod flow;
mod rows;

use std::net::{Ipv4Addr, SocketAddr};

use serde_json::json;
use testkit::site::{Options, Site, accounts, serve};

use crate::rig::*;
use crate::support::*;
use documents::Documents;
use flow::{Servers, approved, signed_in};
use rows::ROWS;

/// A gateway with two profiles at which people sign in, a site, and the clients' documents.
struct World {
    gateway: Gateway,
    site: Site,
    documents: Documents,
    _state: State,
}

impl World {
    async fn start() -> Self {
        let documents = Documents::start().await;
        let state = State::new();
        let site =
            serve(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), Options::default()).await.expect("a site");
        let config = format!(
            "mcpServers: {{ sites: {{ native: wordpress, site: {{ login: true, privateSites: true }} }} }}\n\
             profiles: {{ default: {{ names: plain }}, other: {{ names: plain }} }}\n\
             auth: {{ login: {{ privateSites: true }} }}\n{}",
            state.line()
        );
        let authority = state.file("authority.pem", documents.authority());
        let env = [("SSL_CERT_FILE", authority.as_str())];
        let gateway = Gateway::start_with(&Start { config: &config, env: &env, ..Start::default() }).await;
        Self { gateway, site, documents, _state: state }
    }

    fn servers(&self) -> Servers<'_> {
        Servers { http: self.gateway.http(), site: self.site.url(), documents: &self.documents }
    }

    /// The number of requests that the site got with the editor's password.
    fn calls(&self) -> usize {
        let own = accounts::EDITOR.basic();
        let is_call = |one: &&testkit::site::Received| {
            one.path.starts_with("/wp-json/wp/v2/posts") && one.header("authorization") == own
        };
        self.site.received().iter().filter(is_call).count()
    }
}

#[tokio::test]
async fn each_client_signs_in_uses_the_site_and_renews_its_tokens() {
    let world = World::start().await;
    for row in ROWS {
        let mut client = signed_in(row, &world.servers(), "/mcp/other").await;
        for renewed in [false, true] {
            for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
                let before = world.calls();
                let session = Legacy::open_at(client.bearer(), "/mcp/other", version, &json!({})).await;
                assert_eq!(session.version, version);
                let answer = session.call("wp_get_posts", &json!({})).await;
                assert!(!answer["result"]["isError"].as_bool().unwrap_or(false), "{}: {answer}", row.page);
                assert_eq!(world.calls(), before + 1, "{} {answer}", row.name);
            }
            if !renewed {
                let (access, refresh) = (client.access.clone(), client.refresh.clone());
                client.renew().await.unwrap_or_else(|refused| panic!("{}: {refused:?}", row.name));
                assert!(client.access != access && client.refresh != refresh, "{}", row.name);
            }
        }
        let stateless = Modern { path: "/mcp/other".to_owned(), ..Modern::new(client.bearer()) };
        let answer = stateless.call("wp_get_posts", &json!({})).await;
        assert!(answer["error"].is_null(), "{}: {answer}", row.name);
    }
    let log = world.gateway.log().text();
    let password: String = accounts::EDITOR.password.split_whitespace().collect();
    assert!(!log.contains(&password) && !log.contains("password="), "{log}");
}

#[tokio::test]
async fn a_token_for_one_endpoint_is_refused_at_another_one() {
    let world = World::start().await;
    let mut client = signed_in(&ROWS[0], &world.servers(), "/mcp/other").await;
    for renewed in [false, true] {
        // Paths of the other profile, of no profile, and of the gateway's management.
        for path in ["/mcp", "/mcp/default", "/default/mcp", "/mcp/none"] {
            let refused = Legacy::initialize(client.bearer(), path, "2025-11-25", &json!({})).await;
            let challenge = refused.header("www-authenticate").to_owned();
            assert_eq!(refused.status, 401, "{path}");
            assert!(challenge.contains("error=\"invalid_token\""), "{path}: {challenge}");
            let own = format!("/.well-known/oauth-protected-resource{path}\"");
            assert!(challenge.contains(&own), "{path}: {challenge}");
        }
        assert_eq!(client.bearer().get("/sse", &[]).await.status, 401);
        // A session of the own profile opens no other profile.
        let session = Legacy::open_at(client.bearer(), "/mcp/other", "2025-11-25", &json!({})).await;
        let list = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/list"}).to_string();
        assert_eq!(client.bearer().post("/mcp", &session.headers(), &list).await.status, 401);
        assert_eq!(client.bearer().post("/other/mcp", &session.headers(), &list).await.status, 200);
        if !renewed {
            client.renew().await.expect("new tokens");
        }
    }
}

#[tokio::test]
async fn another_resource_is_refused_when_it_is_requested() {
    let world = World::start().await;
    let (servers, row) = (world.servers(), &ROWS[1]);
    let base = format!("http://{}", servers.http.address);
    // The authorization endpoint.
    let (client, code) = approved(row, &servers, "/mcp/other").await;
    for other in ["http://127.0.0.1:1/mcp/other", "https://mcp.example.com/mcp", &format!("{base}/nothing")] {
        let query = flow::request(row, (client.id(), other, "mcp"));
        let mut refused = servers.http.get(&format!("/oauth/authorize?{query}"), &[]).await;
        let page = refused.text().await;
        assert!(refused.status == 400 && page.contains("error=invalid_target"), "{other}: {page}");
    }
    // The token endpoint: the code is lost, and the sign-in has ended.
    let mut client = client;
    let (status, said) = client.exchange(&code, &format!("{base}/mcp")).await.expect_err("another resource");
    assert_eq!((status, &said["error"]), (400, &json!("invalid_target")));
    let own = client.resource().to_owned();
    let (_, said) = client.exchange(&code, &own).await.expect_err("a used code");
    assert_eq!(said["error"], "invalid_grant");
    // A renewal: the refresh token is still good for the own resource.
    let mut client = signed_in(row, &servers, "/mcp/other").await;
    let refresh = client.refresh.clone();
    for other in [format!("{base}/mcp"), base.clone(), "https://mcp.example.com/mcp".to_owned()] {
        let fields = [("grant_type", "refresh_token"), ("refresh_token", &*refresh), ("resource", &*other)];
        let (status, said) = client.tokens(&fields).await.expect_err("another resource");
        assert_eq!((status, &said["error"]), (400, &json!("invalid_target")), "{other}");
    }
    client.renew().await.expect("the own resource");
}
