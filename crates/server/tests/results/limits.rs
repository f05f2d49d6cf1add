//! The time and the number of calls that a profile allows a tool.

use serde_json::json;

use crate::library::*;
use crate::support::*;

#[tokio::test]
async fn the_shorter_time_counts_and_the_error_says_whose_it_is() {
    let puppet = library().await;
    let whose = [
        (
            "",
            "timeout: 300ms",
            "the profile allows no more time for this tool (`timeout` in `tools.overrides`)",
        ),
        ("callTimeout: 300ms", "timeout: 10s", "increase its `timeout` if it needs more time"),
    ];
    for (server, own, told) in whose {
        let changes = overrides(&format!("up__hang: {{ {own} }}"));
        let gateway = Gateway::start(&open(&puppet, server, &changes)).await;
        for answer in [
            Legacy::open(gateway.http()).await.call("up__hang", &json!({})).await,
            Modern::new(gateway.http()).call("up__hang", &json!({})).await,
        ] {
            assert!(error_message(&answer).contains(told), "{answer}");
        }
    }
}

#[tokio::test]
async fn further_calls_are_refused_until_one_has_ended() {
    let actor = Actor::start(Speaks::Handshake).await;
    let config = format!(
        "mcpServers: {{ up: {} }}\nprofiles: {{ default: {{ tools: {{ overrides: {{ up__ok: {{ atOnce: 1 }} }} }} }}, other: {{}} }}\n",
        actor.config()
    );
    let gateway = Gateway::start(&config).await;
    let client = Modern::new(gateway.http());
    let call = json!({ "name": "up__ok", "arguments": {} });
    let waiting = client.begin("tools/call", &call);
    let meanwhile = async {
        let line = actor.next("tools/call").await;
        let session = Legacy::open(gateway.http()).await;
        let refused = session.call("up__ok", &json!({})).await;
        assert!(error_message(&refused).contains("allows 1 call of tool \"up__ok\" at once"), "{refused}");
        assert_eq!(refused["error"]["data"], json!({ "server": "up", "retry": true, "executed": "no" }));
        assert_eq!(client.begin("tools/call", &call).await.status, 429);
        // Other tools and other profiles are not affected.
        for (path, tool) in [("/mcp", "up__other"), ("/mcp/other", "up__ok")] {
            let free = Modern { path: path.to_owned(), ..client.clone() };
            let params = json!({ "name": tool, "arguments": {} });
            let answering = async { actor.next("tools/call").await.answer_text(tool) };
            let (mut reply, ()) = tokio::join!(free.begin("tools/call", &params), answering);
            assert_eq!(text(&reply.response().await), tool);
        }
        line.answer_text("done");
    };
    let (mut first, ()) = tokio::join!(waiting, meanwhile);
    assert_eq!(text(&first.response().await), "done");
    let answering = async { actor.next("tools/call").await.answer_text("next") };
    let (mut next, ()) = tokio::join!(client.begin("tools/call", &call), answering);
    assert_eq!(text(&next.response().await), "next");
}
