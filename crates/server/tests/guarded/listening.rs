//! Listening beyond this machine without `--insecure`: allowed if every endpoint authenticates, and refused
//! otherwise.

use crate::place::*;
use crate::support::*;

const BEYOND: &[&str] = &["--listen", "0.0.0.0:0"];

fn with(auth: &str) -> String {
    format!("mcpServers: {{ demo: {{ native: demo }} }}\n{auth}\n")
}

#[tokio::test]
async fn refused_where_somebody_is_not_asked() {
    let open = "endpoints: [{ path: /open, profile: default, auth: none }]";
    for auth in [
        "",
        "auth: {}",
        "auth: { keys: false }",
        "auth: { bearer: { token: '${EMPTY:-}', optional: true } }",
        &format!("auth: {{ bearer: {TOKEN} }}\n{open}"),
        &format!("auth: {{ keys: true, users: {{ ann: '{HASH}' }} }}\n{open}"),
    ] {
        let config = with(auth);
        let ended = run_to_end("serve", &Start { config: &config, args: BEYOND, ..Start::default() }).await;
        assert_eq!(ended.code, Some(2), "{auth}: {}", ended.err);
        assert!(ended.err.contains("other machines can reach 0.0.0.0:0"), "{}", ended.err);
        assert!(ended.err.contains("--insecure") && ended.out.is_empty(), "{}", ended.err);
    }
}

#[tokio::test]
async fn allowed_where_everybody_is() {
    let state = State::new();
    let folder = format!("stateFolder: '{}'", state.path().display());
    for auth in [
        format!("auth: {{ bearer: {TOKEN} }}"),
        format!("auth: {{ bearer: {{ token: {TOKEN}, optional: true }} }}"),
        format!("auth: {{ keys: true }}\n{folder}"),
        format!(
            "auth: {{ users: {{ ann: '{HASH}' }} }}\nendpoints: [{{ path: /more, profile: default, auth: inherit }}]"
        ),
    ] {
        let config = with(&auth);
        let gateway = Gateway::start_with(&Start { config: &config, args: BEYOND, ..Start::default() }).await;
        for path in ["/mcp", "/mcp/default", "/sse"] {
            assert_eq!(gateway.http().get(path, &[]).await.status, 401, "{auth}");
        }
        assert_eq!(gateway.stop().await.code, Some(0));
    }
}

#[tokio::test]
async fn allowed_where_the_risk_is_accepted() {
    let config = with("");
    let args = [BEYOND, &["--insecure"]].concat();
    let gateway = Gateway::start_with(&Start { config: &config, args: &args, ..Start::default() }).await;
    let session = Legacy::open(gateway.http()).await;
    assert!(!tool_names(&session.ask("tools/list", &serde_json::json!({})).await).is_empty());
}
