//! Simultaneous calls that must not affect each other.

use serde_json::json;
use tokio::task::JoinSet;

use crate::gone::child;
use crate::support::{Modern, text};
use crate::{accepted, askable, asked, call, gateway, retry};

const GREETING: &str = "up__test_input_required_result_elicitation";

/// The number of calls that wait for their clients at the same time.
const WAITING: usize = 40;

#[tokio::test]
async fn questions_on_one_childs_pipes_reach_their_own_callers() {
    let gateway = gateway(&child(), "").await;
    let mut clients = JoinSet::new();
    for name in ["Ada", "Bob", "Cleo", "Dora"] {
        let client = askable(&gateway);
        clients.spawn(async move {
            let params = call(GREETING, &json!({}));
            for round in 0..3 {
                let first = client.ask("tools/call", &params).await;
                let name = format!("{name} {round}");
                let second = client.ask("tools/call", &retry(&params, &first, &accepted(&name))).await;
                assert_eq!(text(&second), format!("Hello, {name}!"));
            }
        });
    }
    clients.join_all().await;
}

#[tokio::test]
async fn calls_that_wait_take_nothing_from_those_that_come() {
    let upstream = crate::support::fixture(testkit::fixture::Eras::Legacy).await;
    let server = format!("{{ url: {} }}", crate::support::quoted(&upstream.url()));
    let gateway = gateway(&server, "").await;
    let client = askable(&gateway);
    let params = call(GREETING, &json!({}));
    let mut waiting = Vec::new();
    for _ in 0..WAITING {
        let first = client.ask("tools/call", &params).await;
        asked(&first);
        waiting.push(first);
    }
    assert_eq!(text(&client.call("up__echo", &json!({"a": 1})).await), "{\"a\":1}");
    assert_eq!(text(&Modern::new(gateway.http()).call("up__echo", &json!({"a": 1})).await), "{\"a\":1}");
    for (number, first) in waiting.iter().enumerate() {
        let name = format!("number {number}");
        let second = client.ask("tools/call", &retry(&params, first, &accepted(&name))).await;
        assert_eq!(text(&second), format!("Hello, {name}!"));
        if number == 0 {
            asked(&client.ask("tools/call", &params).await);
        }
    }
}
