//! A server's own errors, with codes that may also have another meaning.

use serde_json::json;

use crate::section::Topics;
use crate::stage::{Feature, Stage};

pub(crate) const FEATURES: &[Feature] = &[Feature {
    name: "own-errors",
    title: "A server's own errors",
    topics: Topics::during(&["tools/call"]),
    run: |stage| Box::pin(own_errors(stage)),
}];

/// A tool's error reaches the client with its code, message and data, and its call is sent once.
async fn own_errors(stage: &mut Stage) {
    for code in [-32600, -32000, -32001, -32020, -32021, -32022, -32602] {
        let error =
            json!({"code": code, "message": "session not found, _meta is odd", "data": {"own": [1.5]}});
        let answer = stage.call("test_own_error", &json!({"error": error})).await;
        // Stateless clients would interpret these as a refusal, after which they may repeat the call.
        let is_reserved = stage.pair.client.is_stateless()
            && !stage.pair.upstream.is_stateless()
            && (-32022..=-32020).contains(&code);
        if is_reserved {
            assert_eq!(answer["error"]["code"], -32603, "{answer}");
            assert!(answer["error"]["message"].to_string().contains("_meta is odd"), "{answer}");
            assert_eq!(answer["error"]["data"], error["data"], "{answer}");
        } else {
            assert_eq!(answer["error"], error, "{answer}");
        }
    }
    let crossed = stage.crossed().await;
    assert_eq!(crossed.iter().filter(|one| one.is_sent("tools/call")).count(), 7);
}
