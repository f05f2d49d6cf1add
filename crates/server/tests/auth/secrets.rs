//! No credential appears in the log at any level, in printed output, or in an answer.

use crate::rig::*;
use crate::support::*;

#[tokio::test]
async fn credentials_are_written_nowhere() {
    let state = State::new();
    let auth = format!("{{ bearer: '${{TOKEN}}', keys: true, users: {{ ann: '{HASH}' }} }}");
    let config = format!("{}{}", config(&auth), state.line());
    let env = [("DRAGOMAN_LOG", "trace"), ("TOKEN", "to-ken-1111-2222")];
    let gateway = Gateway::start_with(&Start { config: &config, env: &env, ..Start::default() }).await;
    let key = state.new_key(&["one"]).await;
    let shown = [
        bearer("to-ken-1111-2222"),
        bearer("to-ken-3333-4444"),
        bearer(&key),
        bearer(&format!("{}x", &key[..50])),
        bearer("eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4tNTU1NSJ9.c2lnLTY2NjY"),
        basic("ann", "battery staple"),
        basic("ann", "battery-7777"),
        basic("battery-8888", "ann"),
        "Digest to-ken-9999-0000".to_owned(),
        "to-ken-9999-0000".to_owned(),
    ];
    let mut seen = String::new();
    for value in &shown {
        let mut reply = visit(gateway.http(), "/mcp", value).await;
        seen.extend(reply.headers.values().map(String::as_str));
        seen.push_str(&reply.text().await);
    }
    let ended = gateway.stop().await;
    assert!(ended.err.contains("rejected a request"), "{}", ended.err);
    let parts = shown
        .iter()
        .flat_map(|value| value.split([' ', '.']))
        .map(|part| part.trim_start_matches(&key[..12]));
    let plain = ["battery staple", "battery-7777", "battery-8888", HASH.rsplit('$').next().expect("a hash")];
    for secret in parts.filter(|part| part.len() > 9).chain(plain) {
        for (what, text) in [("log", &ended.err), ("output", &ended.out), ("answers", &seen)] {
            assert!(!text.contains(secret), "{secret} in the {what}:\n{text}");
        }
    }
}
