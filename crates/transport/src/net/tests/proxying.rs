//! Requests through a proxy: tunnels and requests in absolute form, credentials, kept connections, and data that a proxy must
//! never get.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use config::forward_proxy::ForwardProxy;
use http::{Request, Version};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsAcceptor;

use super::securing::{certified, serve_tls};
use super::{LONG, Served, ServerLimits, collect, echo};
use crate::budget::Part;
use crate::net::client::{ProxyUse, Reach};
use crate::net::{Client, ClientError, ClientLimits, Protocol, Route, Trust};

/// A proxy that opens tunnels to one origin, and forwards requests in absolute form to the same origin.
struct Proxy {
    address: std::net::SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// Starts a proxy in front of `origin`, whatever host is requested. The proxy refuses requests without `credentials`.
    async fn start(
        origin: std::net::SocketAddr,
        credentials: Option<&'static str>,
        tls: Option<TlsAcceptor>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let own = heads.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (own, tls) = (own.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(stream, origin, credentials, &own).await,
                        Some(tls) => serve(tls.accept(stream).await.ok()?, origin, credentials, &own).await,
                    }
                });
            }
        });
        Self { address, heads }
    }

    fn route(&self, scheme: &str, user: &str) -> Route {
        let url = format!("{scheme}://{user}localhost:{}", self.address.port());
        let proxy = ForwardProxy::parse(&url).unwrap();
        Route { proxy: ProxyUse::Through(Arc::new(proxy)), trust: None }
    }

    /// The first lines of all requests to the proxy.
    fn lines(&self) -> Vec<String> {
        let heads = self.heads.lock().unwrap();
        heads.iter().map(|head| head.lines().next().unwrap().to_owned()).collect()
    }
}

async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()
}

async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    origin: std::net::SocketAddr,
    credentials: Option<&str>,
    heads: &Mutex<Vec<String>>,
) -> Option<()> {
    let mut head = read_head(&mut stream).await?;
    heads.lock().unwrap().push(head.clone());
    if credentials.is_some_and(|wanted| !head.contains(&format!("proxy-authorization: {wanted}\r\n"))) {
        let refusal = b"HTTP/1.1 407 No\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\n\r\n";
        return stream.write_all(refusal).await.ok();
    }
    let mut there = TcpStream::connect(origin).await.ok()?;
    if head.starts_with("CONNECT ") {
        stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.ok()?;
    } else {
        // The origin expects a path. The connection stays open, and its further requests are passed on unchanged.
        let (method, rest) = head.split_once(" http://")?;
        head = format!("{method} {}", &rest[rest.find('/')?..]);
        there.write_all(head.as_bytes()).await.ok()?;
    }
    copy_bidirectional(&mut stream, &mut there).await.ok().map(|_| ())
}

fn post() -> Request<Bytes> {
    Request::post("/mcp?x=1").body(Bytes::from("body")).unwrap()
}

async fn asked(client: &Client, route: &Route, url: &str) -> Result<(Version, String, bool), ClientError> {
    let origin = client.origin_by(route, &url.parse().unwrap(), Protocol::Auto)?;
    let answer = timeout(LONG, origin.request(post())).await.expect("in time")?;
    let (version, near) = (answer.version(), answer.body().is_from_near());
    let body = collect(answer.into_body(), Part::Answers, 1000, Instant::now() + LONG).await.unwrap();
    Ok((version, String::from_utf8(body.to_vec()).unwrap(), near))
}

#[tokio::test]
async fn plain_requests_are_passed_on_in_absolute_form() {
    let served = Served::start(ServerLimits::default(), 10, echo);
    let proxy = Proxy::start(served.addr, Some("Basic YTpi"), None).await;
    let client = Client::new(ClientLimits::default(), Trust::default());
    // The proxy resolves the name, which this machine cannot do.
    let url = "http://mcp.invalid:8080/mcp?x=1";
    let (_, text, near) = asked(&client, &proxy.route("http", "a:b@"), url).await.unwrap();
    assert_eq!((&*text, near), ("POST /mcp body", false));
    asked(&client, &proxy.route("http", "a:b@"), url).await.unwrap();
    assert_eq!(proxy.lines().len(), 2, "the proxy promised to keep no connection");
    let head = proxy.heads.lock().unwrap()[0].clone();
    assert!(head.starts_with("POST http://mcp.invalid:8080/mcp?x=1 HTTP/1.1\r\n"), "{head}");
    assert_eq!(head.matches("host: mcp.invalid:8080\r\n").count(), 1, "{head}");
    let error = asked(&client, &proxy.route("http", ""), url).await.unwrap_err();
    assert!(matches!(error, ClientError::ProxyRefused { .. }) && error.is_unsent(), "{error}");
    assert!(error.to_string().contains("407") && error.to_string().contains("user name"), "{error}");
    served.finish().await;
}

#[tokio::test]
async fn tls_goes_through_a_tunnel_which_the_proxy_cannot_read() {
    for (alpn, version) in [(&["h2"][..], Version::HTTP_2), (&["http/1.1"], Version::HTTP_11)] {
        let (trust, config) = certified("mcp.invalid", alpn);
        let served = serve_tls(config);
        let proxy = Proxy::start(served.addr, Some("Basic YTpi"), None).await;
        let client = Client::new(ClientLimits::default(), trust);
        let route = proxy.route("http", "a:b@");
        for _ in 0..3 {
            let (spoken, text, _) = asked(&client, &route, "https://mcp.invalid/").await.unwrap();
            assert_eq!((spoken, &*text), (version, "POST /mcp body"));
        }
        assert_eq!(proxy.lines(), ["CONNECT mcp.invalid:443 HTTP/1.1"], "one tunnel for all");
        // Other credentials are another route, so they never share a connection.
        let error = asked(&client, &proxy.route("http", "a:c@"), "https://mcp.invalid/").await.unwrap_err();
        assert!(error.to_string().contains("did not connect to mcp.invalid:443: HTTP 407"), "{error}");
        assert!(!error.to_string().contains("YTpj") && !format!("{error:?}").contains("a:c"), "{error:?}");
        served.finish().await;
    }
}

#[tokio::test]
async fn a_proxy_with_tls_of_its_own() {
    let (trust, config) = certified("localhost", &["http/1.1", "h2"]);
    let served = serve_tls(config.clone());
    let proxy = Proxy::start(served.addr, None, Some(TlsAcceptor::from(config))).await;
    let client = Client::new(ClientLimits::default(), trust);
    let route = proxy.route("https", "");
    let url = format!("https://localhost:{}/", served.addr.port());
    let (_, text, _) = asked(&client, &route, &url).await.unwrap();
    assert_eq!(text, "POST /mcp body");
    let plain = Served::start(ServerLimits::default(), 10, echo);
    let (stranger, config) = certified("localhost", &["http/1.1"]);
    let proxy = Proxy::start(plain.addr, None, Some(TlsAcceptor::from(config))).await;
    let untrusted = asked(&client, &proxy.route("https", ""), "http://mcp.invalid/").await.unwrap_err();
    assert!(
        untrusted.to_string().contains("through its proxy: no secure connection to localhost"),
        "{untrusted}"
    );
    assert!(untrusted.is_unsent());
    let client = Client::new(ClientLimits::default(), stranger);
    let (_, text, _) = asked(&client, &proxy.route("https", ""), "http://mcp.invalid/").await.unwrap();
    assert_eq!(text, "POST /mcp body");
    served.finish().await;
    plain.finish().await;
}

#[tokio::test]
async fn hosts_that_are_checked_are_checked_behind_a_proxy_too() {
    let served = Served::start(ServerLimits::default(), 10, echo);
    let proxy = Proxy::start(served.addr, None, None).await;
    let route = proxy.route("http", "");
    for reach in [Reach::Public, Reach::Others] {
        let client = Client::new(ClientLimits { reach, ..ClientLimits::default() }, Trust::default());
        for host in ["127.0.0.1", "localhost", "[::1]", "169.254.169.254", "[::ffff:127.0.0.1]"] {
            let error = asked(&client, &route, &format!("http://{host}/")).await.unwrap_err();
            assert!(matches!(error, ClientError::NotPublic { .. }), "{host}: {error}");
        }
        // A name that this machine cannot resolve is not left to the proxy.
        let error = asked(&client, &route, "http://mcp.invalid/").await.unwrap_err();
        assert!(matches!(error, ClientError::Dns { .. }), "{error}");
    }
    assert_eq!(proxy.lines(), [""; 0]);
    // A checked address goes through a tunnel, even without TLS.
    let client =
        Client::new(ClientLimits { reach: Reach::Public, ..ClientLimits::default() }, Trust::default());
    let (_, text, near) = asked(&client, &route, "http://1.1.1.1/").await.unwrap();
    assert_eq!((&*text, near), ("POST /mcp body", false));
    assert_eq!(proxy.lines(), ["CONNECT 1.1.1.1:80 HTTP/1.1"]);
    served.finish().await;
}

#[tokio::test]
async fn a_proxy_that_is_not_there_or_says_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = Proxy { address: listener.local_addr().unwrap(), heads: Arc::default() };
    let limits =
        ClientLimits { connect_timeout: std::time::Duration::from_millis(200), ..ClientLimits::default() };
    let client = Client::new(limits, Trust::default());
    let error = asked(&client, &silent.route("http", ""), "https://mcp.invalid/").await.unwrap_err();
    assert!(
        error.to_string().contains("did not connect to mcp.invalid:443: no answer within 200ms"),
        "{error}"
    );
    assert!(error.is_unsent() && error.is_passing());
    drop(listener);
    let error = asked(&client, &silent.route("http", ""), "https://mcp.invalid/").await.unwrap_err();
    assert!(
        error.to_string().contains("cannot reach mcp.invalid:443 through its proxy: localhost:"),
        "{error}"
    );
    assert!(error.to_string().contains("refused the connection") && error.is_passing(), "{error}");
}
