//! Signed tokens that expire while the streams that they opened are open: each stream lasts as long as the longest token
//! that was presented for it.

use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::json;
use testkit::fixture::{Eras, Running};

use crate::support::*;

const EVENTS: (&str, &str) = ("Accept", "text/event-stream");

/// The lifetime of a short token: enough time to open everything with it.
const SHORT: u64 = 6;

/// A gateway that trusts one issuer, in front of the server `good`.
struct Trusting {
    gateway: Gateway,
    pair: Ed25519KeyPair,
    issuer: String,
    _keys: Puppet,
    _good: Running,
}

impl Trusting {
    async fn start() -> Self {
        let pair = Ed25519KeyPair::generate().expect("a pair of keys");
        let public = encoded(pair.public_key());
        let set = json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "ed", "x": public}]}).to_string();
        let keys = Puppet::start(move |_, _| Said::Status(200, "application/json", set.clone())).await;
        let (good, issuer) = (fixture(Eras::Both).await, keys.url());
        let config = format!(
            "mcpServers: {{ good: {{ url: {} }} }}\nendpoints: [{{ path: /events, dialect: kulturarv, transport: sse, \
             message: /kulturarv }}]\nauth: {{ jwt: {{ issuer: {issuer}, jwks: {issuer}, audience: here, clockSkew: 0s }} }}\n",
            quoted(&good.url())
        );
        Self { gateway: Gateway::start(&config).await, pair, issuer, _keys: keys, _good: good }
    }

    /// A caller with a token of this subject, valid for this number of seconds from now on.
    fn by(&self, subject: &str, seconds: u64) -> Http {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970").as_secs();
        let header = json!({"alg": "EdDSA", "kid": "ed", "typ": "JWT"}).to_string();
        let claims =
            json!({"iss": self.issuer, "aud": "here", "sub": subject, "exp": now + seconds}).to_string();
        let text = format!("{}.{}", encoded(header), encoded(claims));
        let signature = encoded(self.pair.sign(text.as_bytes()));
        self.gateway.http().showing(&format!("Bearer {text}.{signature}"))
    }
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// Opens an event stream; returns the path for its messages.
async fn opened(http: Http, path: &str) -> (Reply, String) {
    let mut stream = http.get(path, &[EVENTS]).await;
    assert!(stream.is_stream(), "{path}: {}", stream.status);
    let messages = stream.data().await.expect("where messages go");
    (stream, messages)
}

async fn ended(mut stream: Reply) {
    soon("the end of a stream", async { while stream.event().await.is_some() {} }).await;
}

fn ping(id: &str) -> String {
    request(id, "ping", &json!({})).to_string()
}

#[tokio::test]
async fn a_token_whose_time_is_over_keeps_nothing_open() {
    let place = Trusting::start().await;
    let short = place.by("ann", SHORT);
    let session = Legacy::open(short).await;
    let standing = session.listen().await;
    assert!(standing.is_stream());
    let (events, to_events) = opened(short, "/sse").await;
    let (dialect, to_dialect) = opened(short, "/events").await;
    ended(standing).await;
    ended(events).await;
    ended(dialect).await;
    for messages in [&to_events, &to_dialect] {
        assert_eq!(short.post(messages, &[], &ping("late")).await.status, 401, "{messages}");
    }
    assert_eq!(session.listen().await.status, 401);
    // After the streams have ended, even a fresh token of the same subject cannot use their sessions.
    let fresh = place.by("ann", 300);
    assert_eq!(fresh.post(&to_events, &[], &ping("late")).await.status, 404);
    assert_eq!(fresh.get("/mcp", &session.headers()).await.status, 404);
}

#[tokio::test]
async fn a_stream_lasts_as_long_as_the_longest_token_shown_for_it() {
    let place = Trusting::start().await;
    let (short, long) = (place.by("ann", SHORT), place.by("ann", 300));
    let session = Legacy::open(short).await;
    let mut standing = session.listen().await;
    let mut renewed = Vec::new();
    for path in ["/sse", "/events"] {
        let (stream, messages) = opened(short, path).await;
        assert!(long.post(&messages, &[], &ping("early")).await.status < 300, "{path}");
        renewed.push((stream, messages));
    }
    let list = request(1, "tools/list", &json!({})).to_string();
    assert_eq!(long.post("/mcp", &session.headers(), &list).await.status, 200);
    // A token of another subject renews nothing.
    let (left, messages) = opened(short, "/sse").await;
    assert_eq!(place.by("bob", 300).post(&messages, &[], &ping("theirs")).await.status, 404);
    ended(left).await;
    for (mut stream, messages) in renewed {
        assert!(long.post(&messages, &[], &ping("still")).await.status < 300, "{messages}");
        let answered = async { while stream.message().await.expect("an answer")["id"] != "still" {} };
        soon("an answer", answered).await;
    }
    let watched = json!({"uri": "test://watched-resource"});
    for (method, params) in [
        ("resources/subscribe", watched),
        ("tools/call", json!({"name": "good__test_touch_watched", "arguments": {}})),
    ] {
        let body = request(2, method, &params).to_string();
        assert_eq!(long.post("/mcp", &session.headers(), &body).await.response().await["error"], json!(null));
    }
    let heard = soon("a notice", standing.message()).await.expect("a notice");
    assert_eq!(heard["method"], "notifications/resources/updated");
}
