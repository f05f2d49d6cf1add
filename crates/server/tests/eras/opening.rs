//! The introductions of a client and an upstream to each other, and unknown methods.

use serde_json::json;

use crate::section::Topics;
use crate::stage::{Feature, Stage};
use crate::support::{error_code, error_message};

pub(crate) const FEATURES: &[Feature] = &[
    Feature {
        name: "handshake",
        title: "Introduction",
        topics: Topics::ever(&["server/discover", "initialize", "notifications/initialized"]),
        run: |stage| Box::pin(handshake(stage)),
    },
    Feature { name: "ping", title: "Ping", topics: Topics::during(&[]), run: |stage| Box::pin(ping(stage)) },
    Feature {
        name: "unknown-method",
        title: "Methods that are not declared",
        topics: Topics::during(&["made/up", "com.example/made_up"]),
        run: |stage| Box::pin(unknown(stage)),
    },
];

/// Each side gets an introduction in its own version, with the capabilities of the other side.
async fn handshake(stage: &mut Stage) {
    let client = stage.pair.client;
    let hello = stage.client.introduce().await;
    let result = &hello["result"];
    if client.is_stateless() {
        assert_eq!(result["supportedVersions"], json!([client.as_str()]), "{hello}");
    } else {
        assert_eq!(result["protocolVersion"], client.on_the_wire(), "{hello}");
    }
    for capability in ["tools", "prompts", "resources", "logging"] {
        assert!(result["capabilities"][capability].is_object(), "no {capability} in {hello}");
    }
}

/// A ping is answered at once; a version without ping does not know the method.
async fn ping(stage: &mut Stage) {
    let answer = stage.client.ask("ping", &json!({})).await;
    if stage.possible() {
        assert_eq!(answer["result"], json!({}), "{answer}");
    } else {
        assert_eq!(error_code(&answer), -32601, "{answer}");
    }
}

/// A method that no version and no extension has is refused by name.
async fn unknown(stage: &mut Stage) {
    for method in ["made/up", "com.example/made_up"] {
        let answer = stage.client.ask(method, &json!({})).await;
        assert_eq!(error_code(&answer), -32601, "{answer}");
        assert!(error_message(&answer).contains(method), "{answer}");
    }
}
