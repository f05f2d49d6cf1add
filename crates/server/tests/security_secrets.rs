//! Secrets of the configuration reach the servers that they are meant for, and nothing else: no log at any level, no
//! answer to a client, no first screen, even if the server itself repeats them. The same applies to session IDs.

mod support;

use serde_json::{Value, json};
use support::*;

/// Texts that must not appear anywhere.
const SECRETS: [&str; 5] = [
    "s3cret-token-1111",
    "s3cret-key-2222",
    "s3cret-argument-3333",
    "s3cret-variable-4444",
    "s3cret-file-5555",
];

const VARIABLES: [(&str, &str); 5] = [
    ("T_TOKEN", SECRETS[0]),
    ("T_KEY", SECRETS[1]),
    ("T_ARGUMENT", SECRETS[2]),
    ("T_VARIABLE", SECRETS[3]),
    ("DRAGOMAN_LOG", "trace"),
];

fn is_clean(what: &str, text: &str) {
    for secret in SECRETS {
        let at = text.find(secret);
        let around = at
            .map(|at| &text[text.floor_char_boundary(at.saturating_sub(200))..][..200.min(text.len() - at)]);
        assert_eq!(around, None, "{secret} in {what}");
    }
}

/// A server that returns the header that it received: with every answer, or only with answers to calls.
async fn indiscreet(always: bool) -> Puppet {
    Puppet::start(move |_, request| {
        let token = request.headers.get("authorization").cloned().unwrap_or_default();
        if always || request.method() == "tools/call" {
            return Said::Status(401, "text/plain", format!("no entry for {token}"));
        }
        Said::Proper
    })
    .await
}

/// Servers that receive secrets in every possible way, and that behave in every possible way.
fn servers(calm: &Puppet, strict: &Puppet) -> [(&'static str, String); 8] {
    let odd = testkit::odd::program();
    let odd = odd.to_str().expect("UTF-8");
    let net = |puppet: &Puppet| {
        format!(
            "{{ url: '{}?key=${{T_KEY}}', headers: {{ Authorization: 'Bearer ${{T_TOKEN}}', X-File: '${{file:secret.txt}}' }} }}",
            puppet.url()
        )
    };
    let child = |script: &str| {
        format!(
            "{{ command: sh, args: [-c, {}, '${{T_ARGUMENT}}'], env: {{ KEY: '${{T_VARIABLE}}' }} }}",
            quoted(script)
        )
    };
    [
        ("calm", net(calm)),
        ("strict", net(strict)),
        (
            "nobody",
            "{ url: 'http://127.0.0.1:9/mcp?key=${T_KEY}', headers: { Authorization: 'Bearer ${T_TOKEN}' } }"
                .to_owned(),
        ),
        ("dies", child("exit 3")),
        ("loud", child("echo KEY=$$KEY $0 >&2; echo $$KEY; exit 4")),
        // A part of an argument, and a part of a path.
        (
            "part",
            "{ command: sh, args: [-c, 'echo refused $0 >&2; exit 6', '--token=${T_ARGUMENT}'] }".to_owned(),
        ),
        (
            "path",
            format!(
                "{{ url: '{}/${{T_KEY}}/mcp', headers: {{ Authorization: '${{T_KEY}}' }} }}",
                strict.url()
            ),
        ),
        ("works", child(&format!("exec {odd} --stdio"))),
    ]
}

fn what_was_written_is_clean(ended: &Ended, ids: &[String]) {
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.err.len() > 1000, "nothing was logged: {}", ended.err);
    is_clean("the log", &ended.err);
    is_clean("the first screen", &ended.out);
    for id in ids {
        assert!(!ended.err.contains(id.as_str()), "a session's id in the log");
    }
}

#[tokio::test]
async fn secrets_stay_where_they_belong() {
    let (calm, strict) = (indiscreet(false).await, indiscreet(true).await);
    let servers = servers(&calm, &strict);
    let servers: Vec<(&str, &str)> = servers.iter().map(|(name, server)| (*name, server.as_str())).collect();
    let secret_file = [("secret.txt", SECRETS[4])];
    let with = Start { env: &VARIABLES, files: &secret_file, ..Start::default() };
    let scene = Scene::start_with(&servers, "limits: { connectTimeout: 1s }\n", &with).await;

    // They reach the servers that they are meant for.
    let seen = calm.received();
    assert!(seen.iter().all(|one| one.headers["authorization"] == format!("Bearer {}", SECRETS[0])));
    assert!(seen.iter().all(|one| one.headers["x-file"] == SECRETS[4]));

    let session = Legacy::open(scene.http()).await;
    let modern = Modern::new(scene.http());
    let mut told: Vec<Value> = vec![session.hello.clone(), session.ask("tools/list", &json!({})).await];
    for server in ["calm", "strict", "nobody", "dies", "loud", "part", "path", "works"] {
        let name = format!("{server}__ok");
        told.push(session.call(&name, &json!({"text": "x"})).await);
        told.push(modern.call(&name, &json!({"text": "x"})).await);
    }
    for answer in &told {
        is_clean("an answer", &answer.to_string());
    }
    // The reason is still there, without the secret.
    let said =
        told.iter().filter_map(|answer| answer["error"]["message"].as_str()).collect::<Vec<_>>().join("\n");
    for reason in [
        "no entry for *** ***",
        "KEY=*** ***",
        "code 4",
        "code 3",
        "refused ***",
        "no entry for ***",
        "code 6",
    ] {
        assert!(said.contains(reason), "{reason}: {said}");
    }
    let (mut page, mut lost) = (scene.http().get("/", &[]).await, scene.http().get("/nothing", &[]).await);
    is_clean("the front page", &page.text().await);
    is_clean("a refusal", &lost.text().await);

    let ids = [session.id.clone(), scene.witness().id.clone()];
    session.post(&[], "{").await;
    session.delete().await;
    session.post(&[], "{}").await;
    let ended = soon("its end", scene.gateway.stop()).await;
    what_was_written_is_clean(&ended, &ids);
}

#[tokio::test]
async fn secrets_are_in_nothing_that_the_terminal_says() {
    let lost =
        Puppet::start(|_, _| Said::Status(500, "text/plain", format!("no route /{}/mcp", SECRETS[1]))).await;
    let config = format!(
        "mcpServers:\n  part: {{ command: sh, args: [-c, 'echo refused $0 >&2; exit 6', '--token=${{T_ARGUMENT}}'] }}\n  \
            path: {{ url: '{}/${{T_KEY}}/mcp' }}\n",
        lost.url()
    );
    for (server, reason) in
        [("part", "refused ***"), ("path", "/***/mcp answered HTTP 500: no route /***/mcp")]
    {
        for args in [[server, "-vv"], [server, "--json"]] {
            for command in ["ping", "list"] {
                let with = Start { config: &config, args: &args, env: &VARIABLES, ..Start::default() };
                let ended = run_to_end(command, &with).await;
                assert_eq!(ended.code, Some(1), "{}", ended.err);
                let said = ended.out + &ended.err;
                is_clean(command, &said);
                assert!(said.contains(reason), "{reason}: {said}");
            }
        }
    }
}

#[tokio::test]
async fn secrets_are_in_no_fault_of_the_configuration() {
    let config = "mcpServers:\n  net: { url: 'http://h/?key=${T_KEY}', headers: { Authorization: 'Bearer ${T_TOKEN}', \
        'Bad Name': '${T_TOKEN}' }, tpye: http }\n  child: { command: '${T_ARGUMENT}', env: { A: ['${T_VARIABLE}'] }, \
        timeout: '${T_KEY}' }\nlimits: { sessions: '${T_TOKEN}' }\n";
    for args in [[].as_slice(), &["--json"]] {
        let ended = run_to_end("check", &Start { config, args, env: &VARIABLES, ..Start::default() }).await;
        assert_ne!(ended.code, Some(0), "{}", ended.out);
        assert!(ended.out.len() + ended.err.len() > 100, "nothing was told");
        is_clean("the faults", &ended.out);
        is_clean("the log", &ended.err);
    }
}

#[tokio::test]
async fn a_clients_credentials_stay_here() {
    let puppet = Puppet::start(|_, _| Said::Proper).await;
    let scene = Scene::new(&[("net", &puppet.config())], "").await;
    let session = scene.witness();
    let own =
        [("Authorization", "Bearer clients-own"), ("Cookie", "a=clients-own"), ("X-Api-Key", "clients-own")];
    let call = request("c", "tools/call", &json!({"name": "net__ok", "arguments": {}})).to_string();
    let mut reply = session.post(&own, &call).await;
    assert_eq!(text(&reply.response().await), "ok");
    for received in puppet.received() {
        assert!(!format!("{received:?}").contains("clients-own"), "{received:?}");
        assert!(!format!("{received:?}").contains(&session.id), "{received:?}");
    }
}

#[tokio::test]
async fn a_child_gets_no_more_of_the_environment_than_it_needs() {
    let scene = Scene::start_with(
        &[("child", "{ command: sh, args: [-c, 'env >&2; exit 5'], env: { OWN: yes } }")],
        "",
        &Start { env: &VARIABLES, ..Start::default() },
    )
    .await;
    let answer = scene.witness().call("child__ok", &json!({})).await;
    let told = error_message(&answer);
    assert!(told.contains("OWN=yes"), "{told}");
    assert!(!told.contains("T_TOKEN") && !told.contains(SECRETS[0]), "{told}");
    // Its message is truncated.
    assert!(told.len() < 4000, "{} bytes", told.len());
}

/// Neither `serve` nor `stdio` writes its memory to a core dump.
#[tokio::test]
async fn memory_is_not_dumped() {
    let config = "mcpServers: { demo: { native: demo } }\n";
    let gateway = Gateway::start(config).await;
    let stdio = Stdio::open(config).await;
    for pid in [gateway.pid(), stdio.pid()] {
        let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).expect("it runs");
        let line = limits.lines().find(|line| line.starts_with("Max core file size")).expect("Linux says it");
        let values: Vec<&str> = line.split_whitespace().skip(4).take(2).collect();
        assert_eq!(values, ["0", "0"], "{line}");
    }
}
