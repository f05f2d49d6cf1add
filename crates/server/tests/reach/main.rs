//! Servers that need more than a URL: behind a proxy, with certificates of a private authority, for clients with a certificate,
//! and with the headers of requests that the configuration passes on.

#[path = "../support/mod.rs"]
mod support;
#[path = "../tls/rig.rs"]
#[allow(dead_code)]
mod tls;

mod certificates;
mod forward;
mod passed;
mod proxies;

use serde_json::json;

use support::{Gateway, Legacy, error_message};

/// The text of the tool's answer, or the error's message.
async fn called(gateway: &Gateway, tool: &str) -> String {
    let answer = Legacy::open(gateway.http()).await.call(tool, &json!({})).await;
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| error_message(&answer)).to_owned()
}
