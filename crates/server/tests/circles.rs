//! Gateways that lead back to themselves, directly or through another one: each server's tools are listed once for each way to them, and
//! no list grows.

mod support;

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use support::*;

/// Lists answer soon, as they do by default: a gateway that lists itself would otherwise wait for itself.
const LIMITS: &str = "limits: { listWait: 500ms }\n";

/// A gateway whose servers change.
struct Member {
    gateway: Gateway,
    changes: usize,
}

impl Member {
    /// Starts with this server alone.
    async fn new(server: &str) -> Self {
        let config = format!("mcpServers:\n  {server}: {{ native: demo }}\n{LIMITS}");
        let env = [("DRAGOMAN_LOG", "info")];
        let gateway = Gateway::start_with(&Start { config: &config, env: &env, ..Start::default() }).await;
        Self { gateway, changes: 0 }
    }

    /// The address at which another gateway finds it.
    fn url(&self) -> String {
        format!("{{ url: 'http://{}/mcp' }}", self.gateway.http().address)
    }

    /// Uses these servers from now on.
    async fn to(&mut self, servers: &[(&str, &str)]) {
        let servers: Vec<String> =
            servers.iter().map(|(name, server)| format!("  {name}: {server}\n")).collect();
        self.gateway.write(&format!("mcpServers:\n{}{LIMITS}", servers.concat()));
        self.gateway.signal(Signal::HUP);
        self.changes += 1;
        self.gateway.log().has_times("reloaded the configuration", self.changes).await;
    }

    /// Waits until clients of both lifecycles are shown exactly these tools `echo`, by their prefixes.
    async fn shows(&self, wanted: &[&str]) {
        let prefixes = |names: Vec<String>| {
            names.iter().filter_map(|name| Some(name.strip_suffix("__echo")?.to_owned())).collect::<Vec<_>>()
        };
        let (legacy, modern) = (Legacy::open(self.gateway.http()).await, Modern::new(self.gateway.http()));
        let both = async {
            loop {
                let lists =
                    [legacy.ask("tools/list", &json!({})).await, modern.ask("tools/list", &json!({})).await];
                let shown = lists.map(|list| prefixes(tool_names(&list)));
                if shown.iter().all(|shown| *shown == wanted) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        soon(&wanted.join(", "), both).await;
    }
}

#[tokio::test]
async fn a_gateway_that_lists_itself_lists_every_tool_twice() {
    let (demo, mut one) = ("{ native: demo }", Member::new("demo").await);
    let own = one.url();
    one.to(&[("demo", demo), ("again", &own)]).await;
    one.shows(&["demo", "again__demo"]).await;
    // Each change to the list makes the gateway fetch its own list again.
    one.to(&[("demo", demo), ("again", &own), ("more", demo)]).await;
    one.shows(&["demo", "again__demo", "again__more", "more"]).await;
    let session = Legacy::open(one.gateway.http()).await;
    assert_eq!(text(&session.call("again__more__echo", &json!({"text": "x"})).await), "x");
}

#[tokio::test]
async fn two_gateways_that_list_each_other_show_each_others_own_tools() {
    let demo = "{ native: demo }";
    let (mut left, mut right) = (Member::new("ours").await, Member::new("theirs").await);
    let (to_left, to_right) = (left.url(), right.url());
    left.to(&[("ours", demo), ("right", &to_right)]).await;
    left.shows(&["ours", "right__theirs"]).await;
    right.to(&[("theirs", demo), ("left", &to_left)]).await;
    right.shows(&["theirs", "left__ours"]).await;
    for more in ["a", "b"] {
        left.to(&[("ours", demo), ("right", &to_right), (more, demo)]).await;
        right.shows(&["theirs", "left__ours", &format!("left__{more}")]).await;
        left.shows(&["ours", "right__theirs", more]).await;
    }
}

/// Without the other one, it has nothing to list.
#[tokio::test]
async fn a_gateway_that_only_passes_on_another_one_shows_it_an_empty_list() {
    let demo = "{ native: demo }";
    let (mut left, mut right) = (Member::new("ours").await, Member::new("theirs").await);
    let (to_left, to_right) = (left.url(), right.url());
    left.to(&[("right", &to_right)]).await;
    left.shows(&["right__theirs"]).await;
    right.to(&[("theirs", demo), ("left", &to_left)]).await;
    right.shows(&["theirs"]).await;
    right.to(&[("theirs", demo), ("left", &to_left), ("more", demo)]).await;
    left.shows(&["right__theirs", "right__more"]).await;
    right.shows(&["theirs", "more"]).await;
    let log = right.gateway.log().text();
    assert!(!log.contains("unreachable"), "{log}");
}
