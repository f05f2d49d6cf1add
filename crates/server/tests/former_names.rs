//! Former names of tools: clients can use them for a limited time, which ends even if nothing else changes.

mod support;

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use support::*;
use testkit::fixture::Eras;

#[tokio::test]
async fn a_former_name_ends_in_a_gateway_where_nothing_else_happens() {
    let good = fixture(Eras::Both).await;
    let named = |name: &str| {
        let rest = format!(
            "limits: {{ formerNames: 2s }}\nprofiles: {{ default: {{ tools: {{ rename: {{ good__echo: {name} }} }} }} }}\n"
        );
        Scene::config(&good, &[], &rest)
    };
    let (config, env) = (named("parrot"), [("DRAGOMAN_LOG", "info")]);
    let gateway = Gateway::start_with(&Start { config: &config, env: &env, ..Start::default() }).await;
    let session = Legacy::open(gateway.http()).await;
    assert_eq!(text(&session.call("parrot", &json!({"a": 1})).await), "{\"a\":1}");
    gateway.write(&named("cuckoo"));
    gateway.signal(Signal::HUP);
    gateway.log().has("reloaded the configuration").await;
    assert_eq!(text(&session.call("cuckoo", &json!({"a": 2})).await), "{\"a\":2}");
    assert_eq!(text(&session.call("parrot", &json!({"a": 3})).await), "{\"a\":3}");
    let ended = async {
        while session.call("parrot", &json!({})).await["error"].is_null() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    soon("the end of the former name", ended).await;
    assert_eq!(text(&session.call("cuckoo", &json!({"a": 4})).await), "{\"a\":4}");
}
