//! What is wrong with an HTTP request before its message counts: the message's form, the media types, the method, the
//! path, the session.

mod support;

use serde_json::json;
use support::*;
use testkit::fixture::Eras;

#[tokio::test]
async fn smoke() {
    let good = fixture(Eras::Both).await;
    let config =
        format!("mcpServers:\n  good: {{ url: {} }}\n  odd: {}\n", quoted(&good.url()), odd_stdio(&[]));
    let gateway = Gateway::start(&config).await;
    let session = Legacy::open(gateway.http()).await;
    assert_eq!(text(&session.call("good__echo", &json!({"a": 1})).await), r#"{"a":1}"#);
    assert_eq!(text(&session.call("odd__ok", &json!({"text": "x"})).await), "x");
    let modern = Modern::new(gateway.http());
    assert_eq!(text(&modern.call("good__echo", &json!({"a": 1})).await), r#"{"a":1}"#);
    let mut stdio = Stdio::open(&config).await;
    assert_eq!(text(&stdio.call("good__echo", &json!({"a": 1})).await), r#"{"a":1}"#);
    assert_eq!(stdio.close().await.code, Some(0));
    assert_eq!(gateway.stop().await.code, Some(0));
}
