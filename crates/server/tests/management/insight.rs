//! Information for operators over the control socket: the configuration without secrets, reloads, access, processes.

use serde_json::{Value, json};

use crate::place::{Place, ask};
use crate::socket::{ask_local, socket_of};
use crate::support::*;

async fn place(rest: &str) -> Place {
    let place = Place::with(rest).await;
    socket_of(place.state.path()).await;
    place
}

async fn get(place: &Place, path: &str) -> Value {
    let answer = ask_local(place.state.path(), "GET", path, &Value::Null).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.body
}

#[tokio::test]
async fn the_configuration_shows_everything_but_secrets() {
    let hash =
        "$argon2id$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$gbf/SFxMMbGdacBN7IhMnP5qQZ1Lml+OVTsOtCvCWWc";
    let rest = format!(
        "auth: {{ bearer: secret-one-of-the-bearer, users: {{ ann: '{hash}' }} }}\nadmin: {{ users: {{ bob: '{hash}' }} }}\n\
         management: {{ who: {{ key: [x] }}, rate: 7/1m }}\naccess: [ {{ deny: '*delete*', who: {{ user: ann }} }} ]\n"
    );
    let place = place(&rest).await;
    let far = json!({"name": "far", "type": "remote_http", "config": {"url": "http://127.0.0.1:1/mcp", "headers": {"X-Token": "secret-two"}}});
    assert_eq!(ask_local(place.state.path(), "POST", "/api/mcp-servers", &far).await.status, 201);
    let child = json!({"name": "child", "type": "external", "config": {"command": "true", "args": ["--x"], "env": {"TOKEN": "secret-three"}}});
    assert_eq!(ask_local(place.state.path(), "POST", "/api/mcp-servers", &child).await.status, 201);
    for path in
        ["/api/configuration", "/api/configuration/changes", "/api/mcp-servers", "/api/limits", "/api/health"]
    {
        let shown = get(&place, path).await.to_string();
        for secret in ["secret-one", "secret-two", "secret-three", "gbf/SFxMMbG"] {
            assert!(!shown.contains(secret), "{path} shows {secret}: {shown}");
        }
    }
    let shown = get(&place, "/api/configuration").await;
    let configuration = &shown["configuration"];
    assert_eq!(configuration["management"]["rate"], "7/1m");
    assert_eq!(configuration["access"][0]["who"]["user"], json!(["ann"]));
    assert_eq!(configuration["mcpServers"]["child"]["command"], "true");
    assert!(
        configuration["mcpServers"]["far"]["headers"]["x-token"].is_string(),
        "the name of a header is no secret"
    );
    assert!(configuration["limits"]["callTimeout"].is_string(), "defaults are in force");
    let changes = get(&place, "/api/configuration/changes").await;
    assert_eq!(changes["names"]["added"], json!(["server child", "server far"]));
}

#[tokio::test]
async fn a_revision_says_whether_anything_has_changed() {
    let place = place("management: { rate: 10000/1m }\n").await;
    let http = place.gateway.http();
    let first = http.get("/api/configuration", &[]).await;
    let tag = first.header("etag").to_owned();
    assert_eq!(http.get("/api/configuration", &[("If-None-Match", &tag)]).await.status, 304);
    let server = |key: &str| json!({"name": "far", "type": "remote_http", "config": {"url": "http://127.0.0.1:1/mcp"}, "apiKey": {"key": key}});
    ask(http, "POST", "/api/mcp-servers", &server("one-secret-key")).await;
    let second = http.get("/api/configuration", &[("If-None-Match", &tag)]).await;
    assert_eq!(second.status, 200);
    let tag = second.header("etag").to_owned();
    let key = json!({"key": "another-secret-key"});
    assert_eq!(ask(http, "POST", "/api/mcp-servers/far/api-key", &key).await.status, 200);
    let third = http.get("/api/configuration", &[("If-None-Match", &tag)]).await;
    assert_eq!(third.status, 200, "a secret changed, although nothing else shows it");
}

#[tokio::test]
async fn a_faulty_file_is_reported_until_it_is_right() {
    let place = place("management: { rate: 10000/1m }\n").await;
    let before = get(&place, "/api/configuration").await;
    assert_eq!(before["lastReload"], Value::Null);
    place
        .gateway
        .write(&place.config("management: { rate: 10000/1m }\nlimits: { sessions: nobody-knows }\n"));
    let refused = ask_local(place.state.path(), "POST", "/api/configuration/reload", &Value::Null).await;
    assert_eq!(refused.refusal(), (400, "INVALID_CONFIG"));
    let message = refused.body["error"]["message"].as_str().expect("a message").to_owned();
    assert!(message.contains("nobody-knows") && message.contains("dragoman.yaml"), "{message}");
    let health = get(&place, "/api/health").await;
    assert!(health["isFine"] == false && health.to_string().contains("nobody-knows"), "{health}");
    let after = get(&place, "/api/configuration").await;
    assert_eq!(after["configuration"], before["configuration"], "the old one stays in force");
    place.gateway.write(&place.config("management: { rate: 9000/1m }\n"));
    let reloaded = ask_local(place.state.path(), "POST", "/api/configuration/reload", &Value::Null).await;
    assert_eq!((reloaded.status, &reloaded.body["changed"]["changed"]), (200, &json!(["management"])));
    assert_eq!(get(&place, "/api/health").await["isFine"], true);
}

#[tokio::test]
async fn access_is_answered_by_the_rule_that_decides() {
    let rest = "management: true\naccess: [ { allow: '*', who: { user: boss } }, { allow: 'good__echo' }, \
                { deny: 'sums__add', who: { key: robot } }, \
                { deny: 'good__echo', when: { arguments: { text: 'no*' } } } ]\n";
    let place = place(rest).await;
    let sums = json!({"name": "sums", "type": "builtin", "config": {"native": "plain"}});
    assert_eq!(ask_local(place.state.path(), "POST", "/api/mcp-servers", &sums).await.status, 201);
    let check = async |tool: &str, caller: Value, arguments: Value| {
        let mut question = json!({"profile": "default", "tool": tool, "caller": caller});
        if !arguments.is_null() {
            question["arguments"] = arguments;
        }
        let answer = ask_local(place.state.path(), "POST", "/api/access/check", &question).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        (
            answer.body["allowed"] == true,
            answer.body["rule"].as_u64(),
            answer.body["reason"].as_str().expect("words").to_owned(),
        )
    };
    let boss = json!({"id": "user:boss"});
    let robot = json!({"id": "key:dgm_BgTMSuBe", "name": "robot"});
    assert_eq!(
        check("sums__add", boss.clone(), Value::Null).await,
        (true, Some(1), "rule 1 of `access` allows it".to_owned())
    );
    assert_eq!(
        check("sums__add", robot, Value::Null).await,
        (false, Some(3), "rule 3 of `access` denies it".to_owned())
    );
    let (allowed, rule, why) = check("sums__add", json!({}), Value::Null).await;
    assert!(!allowed && rule.is_none() && why.contains("none of them allows it"), "{why}");
    assert!(check("good__echo", json!({}), Value::Null).await.0);
    assert_eq!(check("good__echo", json!({}), json!({"text": "yes"})).await.1, Some(2));
    let denied = check("good__echo", boss.clone(), json!({"text": "not this"})).await;
    assert_eq!((denied.0, denied.1), (false, Some(4)));
    assert!(check("nothing", boss.clone(), Value::Null).await.2.contains("has no tool"));
    let elsewhere = json!({"id": "user:boss", "profiles": ["office"]});
    assert!(check("sums__add", elsewhere, Value::Null).await.2.contains("not valid for the profile"));
    let unknown = json!({"profile": "nowhere", "tool": "x"});
    let refused = ask_local(place.state.path(), "POST", "/api/access/check", &unknown).await;
    assert_eq!(refused.refusal(), (404, "PROFILE_NOT_FOUND"));
    let odd = json!({"profile": "default", "tool": "x", "caller": {"scheme": "telepathy"}});
    assert_eq!(ask_local(place.state.path(), "POST", "/api/access/check", &odd).await.refusal().0, 400);
}

#[tokio::test]
async fn pages_alone_are_enough_to_store_changes() {
    let place = place("admin: true\n").await;
    let server = json!({"name": "more", "type": "builtin", "config": {"native": "plain"}});
    assert_eq!(ask_local(place.state.path(), "POST", "/api/mcp-servers", &server).await.status, 201);
    assert_eq!(place.ask("GET", "/api/mcp-servers", &Value::Null).await.status, 404, "not over the network");
    let place = place.again("admin: true\n").await;
    socket_of(place.state.path()).await;
    assert_eq!(get(&place, "/api/mcp-servers/more").await["source"], "api");
}

#[tokio::test]
async fn a_restart_ends_the_process_and_starts_another() {
    let place = place("management: { rate: 10000/1m }\n").await;
    let fixture = json!({"command": testkit::fixture::program(), "args": ["--stdio", "--eras", "both"]});
    let child = json!({"name": "child", "type": "external", "config": fixture});
    assert_eq!(ask_local(place.state.path(), "POST", "/api/mcp-servers", &child).await.status, 201);
    let process = async || {
        let look = async {
            loop {
                let links = get(&place, "/api/mcp-servers/child/connections").await;
                if let Some(pid) = links["connections"][0]["process"]["pid"].as_u64() {
                    break (pid, links["connections"][0].clone());
                }
                tokio::task::yield_now().await;
            }
        };
        soon("a process", look).await
    };
    let (pid, link) = process().await;
    assert!(
        link["transport"] == "stdio" && link["process"]["residentBytes"].as_u64() > Some(1 << 18),
        "{link}"
    );
    let restarted =
        ask_local(place.state.path(), "POST", "/api/mcp-servers/child/restart", &Value::Null).await;
    assert_eq!((restarted.status, &restarted.body["state"]), (200, &json!("ready")));
    assert_ne!(process().await.0, pid);
    assert!(!is_running(u32::try_from(pid).expect("an id")));
    place.gateway.log().has("POST /api/mcp-servers/child/restart").await;
}
