//! Tests of downloads through redirects, with the same checks as for real requests. A test cannot reach the public
//! network, so the first answer is simulated; everything after it is real.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use config::Limits;
use native::wordpress::{self, Sets};
use native::{
    ArrivingBody, HttpClient, HttpFault, HttpRequest, HttpResponse, NativeCall, NativeServer as _,
    OpenedResponse, Pending, SiteLogin, SiteSettings,
};
use proto::era::newest_handshake;
use proto::rpc::{Frame, FrameLimits};
use secrecy::SecretString;
use serde_json::{Value, json};
use testkit::site::{Options, Site, accounts, serve};

use super::clients::{EmbeddedClients, Rules};
use crate::route::Routes;

const PUBLIC: &str = "http://files.example.com/";

/// The real port, and one simulated public host that redirects elsewhere.
struct Leading {
    clients: EmbeddedClients,
    to: String,
}

impl HttpClient for Leading {
    fn send(&self, request: HttpRequest) -> Pending<Result<HttpResponse, HttpFault>> {
        self.clients.send(request)
    }

    fn open(&self, request: HttpRequest, stall: Duration) -> Pending<Result<OpenedResponse, HttpFault>> {
        if !request.url.starts_with(PUBLIC) {
            return self.clients.open(request, stall);
        }
        let headers = vec![("location".to_owned(), self.to.clone())];
        let opened = OpenedResponse { status: 302, headers, length: Some(0), body: Box::new(Nothing) };
        Box::pin(std::future::ready(Ok(opened)))
    }

    fn now(&self) -> Duration {
        self.clients.now()
    }

    fn digest(&self, secret: &[u8]) -> [u8; 32] {
        self.clients.digest(secret)
    }

    fn pause(&self, time: Duration) -> Pending<()> {
        self.clients.pause(time)
    }
}

struct Nothing;

impl ArrivingBody for Nothing {
    fn poll_piece(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, HttpFault>>> {
        Poll::Ready(None)
    }
}

async fn site() -> Site {
    serve((Ipv4Addr::LOCALHOST, 0).into(), Options::default()).await.unwrap()
}

/// Has the site fetch the public file, which redirects to `to`; returns the answer.
async fn fetched(site: &Site, to: String, private_files: bool) -> Value {
    let clients = EmbeddedClients::new(&Limits::default(), Rules::default(), Routes::default()).unwrap();
    let account = accounts::ADMIN;
    let login = SiteLogin {
        url: site.url(),
        username: account.user.to_owned(),
        password: SecretString::from(account.password),
        is_fixed: false,
    };
    let settings = SiteSettings { login: Some(login), private_files, ..SiteSettings::default() };
    let server = wordpress::server(&settings, Sets::default(), Arc::new(Leading { clients, to })).unwrap();
    let arguments = json!({"url": format!("{PUBLIC}a.gif")});
    let params = json!({"name": "wp_upload_media_from_url", "arguments": arguments});
    let text = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let frame = Frame::parse(Bytes::from(text), FrameLimits::default()).unwrap();
    let answer = server.answer(NativeCall::new(&frame, newest_handshake())).bytes().await;
    serde_json::from_slice(&answer).unwrap()
}

#[tokio::test]
async fn a_redirect_leads_to_no_inner_address() {
    let (site, inner) = (site().await, site().await);
    let port = inner.url().rsplit(':').next().unwrap().to_owned();
    for host in [
        "127.0.0.1",
        "localhost",
        "localhost.",
        "2130706433",
        "0177.0.0.1",
        "0x7f.1",
        "0.0.0.0",
        "[::ffff:127.0.0.1]",
        "[::1]",
        "[64:ff9b::7f00:1]",
    ] {
        let to = format!("http://{host}:{port}/wp-content/uploads/picture.gif");
        let answer = fetched(&site, to, false).await;
        let message = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert!(message.contains("fetching this file is not allowed"), "{host}: {answer}");
        assert!(!message.contains("HTTP 302"), "{host}: {answer}");
        assert_eq!(answer["result"]["isError"], true, "{host}: {answer}");
    }
    for to in ["http://169.254.169.254/latest/meta-data/", "//169.254.169.254/", "http://[fd00:ec2::254]/"] {
        let answer = fetched(&site, to.to_owned(), false).await;
        assert!(answer.to_string().contains("fetching this file is not allowed"), "{to}: {answer}");
    }
    assert!(inner.received().is_empty(), "{:?}", inner.received());
    let to = format!("http://127.0.0.1:{port}/wp-content/uploads/picture.gif");
    let answer = fetched(&site, to, true).await;
    assert_eq!(answer["result"]["isError"], false, "where the configuration lets it: {answer}");
    let paths: Vec<String> = inner.received().into_iter().map(|one| one.path).collect();
    assert_eq!(paths, ["/wp-content/uploads/picture.gif"]);
}
