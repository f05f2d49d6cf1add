//! Keys that are revoked or have expired: what they opened ends soon, and nothing else does.

use serde_json::json;

use crate::place::*;
use crate::support::*;

const EVENTS: (&str, &str) = ("Accept", "text/event-stream");

/// Everything that a caller can hold open.
struct Held {
    session: Legacy,
    streams: Vec<(&'static str, Reply)>,
}

impl Held {
    async fn open(http: Http) -> Self {
        let session = Legacy::open(http).await;
        let wanted = json!({"notifications": {"toolsListChanged": true}});
        let mut streams = vec![
            ("a session's own stream", session.listen().await),
            ("HTTP+SSE", http.get("/sse", &[EVENTS]).await),
            ("a dialect's events", http.get("/events", &[EVENTS]).await),
            ("notices without a session", Modern::new(http).begin("subscriptions/listen", &wanted).await),
        ];
        for (what, stream) in &mut streams[1..] {
            assert!(stream.is_stream(), "{what}: {}", stream.status);
            assert!(stream.event().await.is_some(), "{what} begins with something");
        }
        assert!(streams[0].1.is_stream());
        Self { session, streams }
    }

    /// Waits until all streams have ended.
    async fn ended(&mut self) {
        for (what, stream) in &mut self.streams {
            soon(what, async { while stream.event().await.is_some() {} }).await;
        }
    }

    /// Checks that nothing is accepted any more.
    async fn is_refused(&self) {
        assert_eq!(self.session.begin("tools/list", &json!({})).await.status, 401);
        assert_eq!(self.session.listen().await.status, 401);
        let fresh = Legacy::initialize(self.session.http, "/mcp", LEGACY, &json!({})).await;
        assert_eq!(fresh.status, 401);
    }
}

#[tokio::test]
async fn a_revoked_key_keeps_nothing_open() {
    let place = Place::start("").await;
    let (lost, kept) = (place.state.new_key(&["lost"]).await, place.state.new_key(&["kept"]).await);
    let mut of_lost = Held::open(place.by(&lost)).await;
    let mut of_kept = Held::open(place.by(&kept)).await;
    place.state.run(&["key", "revoke", "lost"]).await;
    of_lost.ended().await;
    // Access that the key had a moment ago ends with it.
    of_lost.is_refused().await;
    let in_lost_session = of_kept.session.http.get("/mcp", &of_lost.session.headers()).await;
    assert_eq!(in_lost_session.status, 404, "its session is gone");
    // Everything of the other key still works.
    assert!(is_fine(&of_kept.session.call("good__echo", &json!({})).await));
    let (_, stream) = &mut of_kept.streams[0];
    let watched = json!({"uri": "test://watched-resource"});
    assert!(is_fine(&of_kept.session.ask("resources/subscribe", &watched).await));
    assert!(is_fine(&of_kept.session.call("good__test_touch_watched", &json!({})).await));
    let heard = stream.message().await.expect("a notice");
    assert_eq!(heard["method"], "notifications/resources/updated");
    assert!(!place.gateway.log().text().contains(&lost[12..]), "no key stands in the log");
}

#[tokio::test]
async fn an_expired_key_keeps_nothing_open() {
    let place = Place::start("").await;
    let key = place.state.new_key(&["short", "--expires", "10s"]).await;
    let mut held = Held::open(place.by(&key)).await;
    held.ended().await;
    held.is_refused().await;
}
