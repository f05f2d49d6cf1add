//! Figures of servers that are changed and removed.

use rustix::process::Signal;
use serde_json::json;

use crate::figures::Figures;
use crate::support::*;

#[tokio::test]
async fn a_changed_server_keeps_its_figures_and_a_removed_one_loses_them() {
    let config = |servers: &str| format!("mcpServers: {{ {servers} }}\nmetrics: true\n");
    let two = config("one: { native: demo }, two: { native: demo }");
    let env = [("DRAGOMAN_LOG", "info")];
    let gateway = Gateway::start_with(&Start { config: &two, env: &env, ..Start::default() }).await;
    let session = Legacy::open(gateway.http()).await;
    let calls = [("one__echo", "text"), ("two__echo", "text"), ("two__hello", "name")];
    for (tool, argument) in calls {
        assert_ne!(session.call(tool, &json!({argument: "x"})).await["result"]["isError"], true);
    }
    let figures = Figures::read(gateway.http()).await;
    let all = |figures: &Figures| {
        let server = |name: &str| figures.requested("tools/call", name, "ok");
        format!("one {}, two {}, hello {}", server("one"), server("two"), figures.tool("two", "hello", "ok"))
    };
    assert_eq!(all(&figures), "one 1, two 2, hello 1");
    gateway.write(&config("one: { native: demo }, two: { native: demo, excludeTools: [hello] }"));
    gateway.signal(Signal::HUP);
    gateway.log().has_times("reloaded the configuration", 1).await;
    assert!(session.call("two__echo", &json!({"text": "x"})).await["error"].is_null());
    let figures = Figures::read(gateway.http()).await;
    assert!(all(&figures).starts_with("one 1, two 3"), "{}", all(&figures));
    gateway.write(&config("one: { native: demo }"));
    gateway.signal(Signal::HUP);
    gateway.log().has_times("reloaded the configuration", 2).await;
    let figures = Figures::read(gateway.http()).await;
    assert_eq!(all(&figures), "one 1, two 0, hello 0");
    assert!(!figures.names().iter().any(|name| name.contains("two")), "{:?}", figures.names());
    // A server that returns begins again, once the old one is gone.
    gateway.log().has_times("closed the server's links", 2).await;
    gateway.write(&two);
    gateway.signal(Signal::HUP);
    gateway.log().has_times("reloaded the configuration", 3).await;
    let names = tool_names(&session.ask("tools/list", &json!({})).await);
    assert!(names.iter().any(|name| name == "two__hello"), "{names:?}");
    assert!(session.call("two__hello", &json!({"name": "x"})).await["error"].is_null());
    assert_eq!(all(&Figures::read(gateway.http()).await), "one 1, two 1, hello 1");
}
