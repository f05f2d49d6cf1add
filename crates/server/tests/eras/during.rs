//! Events during a request: progress, log messages, cancellation.

use serde_json::{Value, json};

use crate::section::Topics;
use crate::stage::{Feature, Stage};
use crate::support::error_code;
use crate::tools::said;
use crate::version::Version;

pub(crate) const FEATURES: &[Feature] = &[
    Feature {
        name: "progress",
        title: "Progress",
        topics: Topics::during(&["tools/call", "notifications/progress"]),
        run: |stage| Box::pin(progress(stage)),
    },
    Feature {
        name: "logging",
        title: "Log messages",
        topics: Topics::during(&["logging/setLevel", "tools/call", "notifications/message"]),
        run: |stage| Box::pin(logging(stage)),
    },
    Feature {
        name: "cancellation",
        title: "Cancelling a request",
        topics: Topics::during(&["tools/call", "notifications/cancelled"]),
        run: |stage| Box::pin(cancellation(stage)),
    },
];

fn of<'a>(said: &'a [Value], method: &str) -> Vec<&'a Value> {
    said.iter().filter(|message| message["method"] == method).collect()
}

/// Progress notifications have the client's token and arrive before the answer; without a token there is
/// none.
async fn progress(stage: &mut Stage) {
    for token in [json!("tok\"en"), json!(7)] {
        let params = json!({"name": "up__test_tool_with_progress", "_meta": {"progressToken": token}});
        let turn = stage.client.begin("tools/call", &params).await;
        let (notices, answer) = stage.client.finish(turn).await;
        let seen = of(&notices, "notifications/progress");
        let steps: Vec<_> = seen.iter().map(|one| &one["params"]["progress"]).collect();
        assert_eq!(steps, [0, 50, 100], "{notices:?}");
        assert!(seen.iter().all(|one| one["params"]["progressToken"] == token), "{notices:?}");
        assert_eq!(said(stage, &answer), "Tool with progress executed successfully");
    }
    let turn = stage.client.begin("tools/call", &json!({"name": "up__test_tool_with_progress"})).await;
    let (notices, _) = stage.client.finish(turn).await;
    assert!(of(&notices, "notifications/progress").is_empty(), "{notices:?}");
}

/// Log messages come before the answer, from the level that the client requested.
async fn logging(stage: &mut Stage) {
    for (level, wanted) in [("debug", 3), ("error", 0)] {
        stage.client.set_level(level).await;
        let turn = stage.client.begin("tools/call", &json!({"name": "up__test_tool_with_logging"})).await;
        let (notices, answer) = stage.client.finish(turn).await;
        assert_eq!(of(&notices, "notifications/message").len(), wanted, "{level}: {notices:?}");
        assert_eq!(said(stage, &answer), "Tool with logging executed successfully");
    }
    let answer = if stage.pair.client.is_stateless() {
        let meta = json!({"io.modelcontextprotocol/logLevel": "loud"});
        stage.client.ask("tools/call", &json!({"name": "up__echo", "_meta": meta})).await
    } else {
        stage.client.ask("logging/setLevel", &json!({"level": "loud"})).await
    };
    assert_eq!(error_code(&answer), -32602, "{answer}");
    stage.client.level = None;
}

/// A request that the client cancels is also cancelled at the upstream, and no further message about it
/// arrives.
async fn cancellation(stage: &mut Stage) {
    if stage.pair.client < Version::November2024 {
        return;
    }
    let told = stage.possible();
    // A server without a cancellation notification continues, and its answer is dropped.
    let ms = if told { 600_000 } else { 300 };
    let params = json!({"name": "up__slow", "arguments": {"ms": ms}});
    let turn = stage.client.begin("tools/call", &params).await;
    stage.was_sent("tools/call").await;
    let rest = stage.client.cancel(turn).await;
    if !told && stage.pair.client.is_stateless() {
        // Over some transports, the gateway closes the connection instead.
    } else if !told {
        stage.said_in_the_end("Answered after").await;
    } else if stage.pair.upstream.is_stateless() {
        stage.gave_up(1).await;
        stage.upstream_did("gives up #1");
    } else {
        stage.was_sent("notifications/cancelled").await;
    }
    drop(rest);
}
