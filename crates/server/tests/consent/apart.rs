//! Separate callers: each gives consent for itself, and uses its own tokens.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::browser::{begin, told};
use crate::rig::*;
use crate::support::*;

/// The form data of ann and bob, who both have the password `battery staple`.
pub(crate) const ANN: &str = "name=ann&secret=battery%20staple";
const BOB: &str = "name=bob&secret=battery+staple";

/// The users ann and bob, whose password was hashed by another program (Node's `crypto.argon2Sync`).
pub(crate) fn users() -> String {
    let hash =
        "$argon2id$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$gbf/SFxMMbGdacBN7IhMnP5qQZ1Lml+OVTsOtCvCWWc";
    format!("auth: {{ users: {{ ann: '{hash}', bob: '{hash}' }} }}")
}

/// A client of one of them.
pub(crate) fn by(gateway: &Gateway, user: &str) -> Http {
    gateway.http().showing(&basic(user, "battery staple"))
}

async fn call(client: &Legacy, by: &str) -> Value {
    client.call("locked__ok", &json!({ "by": by })).await
}

/// Calls as a user until the answer names a page.
pub(crate) async fn page_for(client: &Legacy, by: &str) -> String {
    soon("a page where consent is given", async {
        loop {
            if let Some(url) = told(&call(client, by).await) {
                return url;
            }
        }
    })
    .await
}

async fn until_it_answers(client: &Legacy, by: &str) {
    soon("an answer of the server's tool", async {
        while call(client, by).await["result"]["content"][0]["text"] != "ok" {}
    })
    .await;
}

async fn consents(locked: &Locked, gateway: &Gateway, client: &Legacy, (name, form): (&str, &str)) {
    let url = begin(gateway.http(), &page_for(client, name).await, form).await;
    let (status, said) = come_back(gateway, &locked.agree(&url)).await;
    assert_eq!(status, 200, "{said}");
    until_it_answers(client, name).await;
}

fn all_of(shown: Vec<String>) -> HashSet<String> {
    shown.into_iter().collect()
}

#[tokio::test]
async fn a_callers_consent_is_no_other_callers() {
    let locked = Locked::start(Habits::default()).await;
    let state = State::new("apart");
    let more = format!("{}\n{}", users(), state.line());
    let first = gateway(&locked, &more).await;
    let (ann, bob) = (Legacy::open(by(&first, "ann")).await, Legacy::open(by(&first, "bob")).await);
    consents(&locked, &first, &ann, ("ann", ANN)).await;
    // The other user is asked for consent, sees no opened page, and never gets access.
    assert!(told(&call(&bob, "bob").await).is_some());
    let stateless = Modern::new(by(&first, "bob"));
    for names in [
        tool_names(&bob.ask("tools/list", &json!({})).await),
        tool_names(&stateless.ask("tools/list", &json!({})).await),
    ] {
        assert!(!names.iter().any(|name| name.starts_with("locked__")), "{names:?}");
    }
    assert!(told(&stateless.call("locked__ok", &json!({ "by": "bob" })).await).is_some());
    assert_eq!(locked.shown_by("bob"), Vec::<String>::new());
    let names = tool_names(&ann.ask("tools/list", &json!({})).await);
    assert!(names.contains(&"locked__ok".to_owned()), "{names:?}");

    consents(&locked, &first, &bob, ("bob", BOB)).await;
    until_it_answers(&ann, "ann").await;
    let (of_ann, of_bob) = (all_of(locked.shown_by("ann")), all_of(locked.shown_by("bob")));
    assert_eq!((of_ann.len(), of_bob.len()), (1, 1), "{of_ann:?} {of_bob:?}");
    assert!(of_ann.is_disjoint(&of_bob));
    first.stop().await;

    // Each user has access to its own again.
    let second = gateway(&locked, &more).await;
    until_it_answers(&Legacy::open(by(&second, "bob")).await, "bob").await;
    until_it_answers(&Legacy::open(by(&second, "ann")).await, "ann").await;
    assert_eq!((all_of(locked.shown_by("ann")), all_of(locked.shown_by("bob"))), (of_ann, of_bob));
    assert_eq!(locked.token_requests().len(), 2);
}

#[tokio::test]
async fn a_consent_can_be_for_all_by_configuration() {
    let locked = Locked::start(Habits::default()).await;
    let server = format!("{{ url: '{}', oauth: {{ shared: true }} }}", locked.puppet.url());
    let gateway = Gateway::start(&format!("mcpServers: {{ locked: {server} }}\n{}\n", users())).await;
    let (ann, bob) = (Legacy::open(by(&gateway, "ann")).await, Legacy::open(by(&gateway, "bob")).await);
    // If callers are not separated, no user has to authenticate.
    consents(&locked, &gateway, &ann, ("ann", "")).await;
    until_it_answers(&bob, "bob").await;
    assert_eq!(all_of(locked.shown_by("ann")), all_of(locked.shown_by("bob")));
}

#[tokio::test]
async fn callers_who_shared_what_needs_no_consent_part_when_it_does() {
    let locked = Locked::start(Habits { lists_freely: true, ..Habits::default() }).await;
    let gateway = gateway(&locked, &users()).await;
    let (ann, bob) = (Legacy::open(by(&gateway, "ann")).await, Legacy::open(by(&gateway, "bob")).await);
    for client in [&ann, &bob] {
        let names = tool_names(&client.ask("tools/list", &json!({})).await);
        assert!(names.contains(&"locked__ok".to_owned()), "{names:?}");
    }
    // The very first refusal already names the page for this caller.
    let url = told(&call(&ann, "ann").await).expect("a page");
    let url = begin(gateway.http(), &url, ANN).await;
    assert_eq!(come_back(&gateway, &locked.agree(&url)).await.0, 200);
    until_it_answers(&ann, "ann").await;
    assert!(told(&call(&bob, "bob").await).is_some());
    assert_eq!((locked.shown_by("ann").len(), locked.shown_by("bob").len()), (1, 0));
    consents(&locked, &gateway, &bob, ("bob", BOB)).await;
    assert!(all_of(locked.shown_by("ann")).is_disjoint(&all_of(locked.shown_by("bob"))));
}

#[tokio::test]
async fn who_is_not_asked_who_they_are_consents_for_nobody() {
    let locked = Locked::start(Habits::default()).await;
    let more = format!("{}\nendpoints: [ {{ path: /open, auth: none }} ]", users());
    let gateway = gateway(&locked, &more).await;
    let ann = Legacy::open(by(&gateway, "ann")).await;
    consents(&locked, &gateway, &ann, ("ann", ANN)).await;
    let nobody = Legacy::open_at(gateway.http(), "/open", LEGACY, &json!({})).await;
    let answer = call(&nobody, "nobody").await;
    assert!(error_message(&answer).contains("is not authenticated"), "{answer}");
    assert_eq!(told(&answer), None);
    assert!(locked.shown_by("nobody").is_empty());
}

/// The gateway's own requests are refused, but the callers' are not.
#[tokio::test]
async fn a_server_that_awaits_its_callers_is_no_problem() {
    let locked = Locked::start(Habits::default()).await;
    let state = State::new("awaits");
    let access = "access: [{ allow: '*', who: { user: ann } }, { allow: 'demo__*', who: { user: bob } }]";
    let more = format!("{}\n{}\n{access}\n", users(), state.line());
    let gateway = gateway(&locked, &more).await;
    let (ann, bob) = (Legacy::open(by(&gateway, "ann")).await, Legacy::open(by(&gateway, "bob")).await);
    let folder = state.folder().to_str().expect("UTF-8");
    let shown = async |command: &str, args: &[&str]| -> Value {
        let args: Vec<&str> = args.iter().chain(&["--state", folder, "--json"]).copied().collect();
        let run = run_to_end(command, &Start { args: &args, ..Start::default() }).await;
        serde_json::from_str(run.out.trim()).unwrap_or_else(|e| panic!("{e}: {} {}", run.out, run.err))
    };
    let is_fine = async |reason: &str| {
        let all = soon(reason, async {
            loop {
                let all = shown("status", &["locked"]).await;
                if all["servers"][0]["reason"].to_string().contains(reason) {
                    break all;
                }
            }
        });
        let (all, per_caller) = (all.await, [json!("per_caller"), json!("connected"), Value::Null]);
        let server = &all["servers"][0];
        assert_eq!(["state", "status", "error"].map(|key| server[key].clone()), per_caller, "{all}");
        assert_eq!(
            (&all["gateway"]["isFine"], &all["gateway"]["findings"]),
            (&json!(true), &json!([])),
            "{all}"
        );
    };
    bob.ask("tools/list", &json!({})).await;
    page_for(&ann, "ann").await;
    is_fine("lists are known after the first consent").await;
    consents(&locked, &gateway, &ann, ("ann", ANN)).await;
    is_fine("1 caller has given it").await;
    let listed = shown("consent", &["list"]).await;
    let callers: Vec<&Value> =
        listed["consents"].as_array().expect("a list").iter().map(|one| &one["caller"]).collect();
    assert_eq!(callers, [&json!("user:ann")], "bob may use nothing of the server: {listed}");
}

#[tokio::test]
async fn a_server_that_waits_for_its_callers_is_no_reason_for_a_warning() {
    let locked = Locked::start(Habits::default()).await;
    let gateway = gateway(&locked, &users()).await;
    let client = Legacy::open(by(&gateway, "ann")).await;
    page_for(&client, "ann").await;
    let ended = gateway.stop().await;
    assert!(ended.err.contains("each caller gives its own consent"), "{}", ended.err);
    assert!(!ended.err.contains("WARN"), "{}", ended.err);
    // Without authentication, all callers share one consent, and its absence is worth a warning.
    let gateway = self::gateway(&locked, "").await;
    let client = Legacy::open(gateway.http()).await;
    page(&client).await;
    let ended = gateway.stop().await;
    assert!(ended.err.contains("WARN"), "{}", ended.err);
}
