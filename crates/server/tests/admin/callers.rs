//! Callers as operators know them: by the names of their keys, in lists and filters.

use serde_json::{Value, json};

use crate::browser::{Browser, printed_link, start_with, with_ann};
use crate::support::*;

const KEYS: &str = "audit: { arguments: true }\nauth: { keys: true }\nmanagement: true\n";

/// A gateway with keys, its operator, and the token of the operator's forms.
pub(crate) struct Office {
    pub(crate) gateway: Gateway,
    pub(crate) browser: Browser,
    token: String,
}

impl Office {
    pub(crate) async fn new(rest: &str) -> Self {
        let gateway = start_with(&with_ann(&format!("{KEYS}{rest}"))).await;
        let mut browser = Browser::new(gateway.http());
        assert_eq!(browser.post(&printed_link(&gateway), "").await.status, 303);
        let token = browser.get("/admin").await.form_token();
        Self { gateway, browser, token }
    }

    /// Makes a key; returns its text.
    pub(crate) async fn key(&mut self, name: &str) -> String {
        let form = format!("csrf={}&name={name}", self.token);
        let made = self.browser.post("/admin/keys-new", &form).await;
        let (_, rest) = made.text.split_once("dgm_").expect("the key");
        format!("dgm_{}", rest.chars().take_while(char::is_ascii_alphanumeric).collect::<String>())
    }

    /// Revokes a key.
    pub(crate) async fn revoke(&mut self, key: &str, name: &str) {
        let form = format!("csrf={}&key={}&confirm={name}", self.token, id(key).replace("key:", ""));
        assert_eq!(self.browser.post("/admin/keys-revoke", &form).await.status, 303);
    }

    pub(crate) fn by(&self, key: &str) -> Http {
        self.gateway.http().showing(&format!("Bearer {key}"))
    }

    /// Waits until a page contains a text; returns the page.
    pub(crate) async fn page_with(&mut self, path: &str, text: &str) -> String {
        let browser = &mut self.browser;
        soon(text, async {
            loop {
                let page = browser.get(path).await;
                if page.text.contains(text) {
                    break page.text;
                }
            }
        })
        .await
    }

    /// Asks the management API with a key.
    pub(crate) async fn api(&self, key: &str, method: &str, path: &str, body: &Value) -> Value {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let mut reply = self.by(key).send(method, path, &[], text.as_bytes()).await;
        serde_json::from_str(&reply.text().await).expect("JSON")
    }
}

/// The id of the caller with a key.
pub(crate) fn id(key: &str) -> String {
    format!("key:{}", &key[..12])
}

#[tokio::test]
async fn callers_have_the_names_of_their_keys_everywhere() {
    let mut office = Office::new("").await;
    let (bot, boss) = (office.key("ci-bot").await, office.key("boss").await);
    let client = Legacy::open(office.by(&bot)).await;
    client.call("demo__add", &json!({"a": 1, "b": 2})).await;
    let (named, id) =
        (format!("ci-bot</bdi> <span class=\"quiet\">(<bdi>{}</bdi>)", id(&bot).replace(':', " ")), id(&bot));
    for path in [
        "/admin/calls?principal=ci-bot",
        "/admin/calls?principal=key:ci-b*",
        "/admin/live",
        "/admin/sessions",
    ] {
        office.page_with(path, &named).await;
    }
    for path in ["/admin/live?q=ci-bot", "/admin/sessions?q=CI-bot", "/admin", "/admin/tools/demo/add"] {
        office.page_with(path, &named).await;
    }
    let csv = office.browser.get("/admin/calls.csv?principal=ci-bot&tool=demo__add").await;
    assert!(
        csv.text.contains(&format!("\"{id}\"")) && csv.text.trim_end().ends_with("\"ci-bot\""),
        "{}",
        csv.text
    );
    let calls = office.api(&boss, "GET", "/api/calls?principal=ci-bot&tool=demo__add", &Value::Null).await;
    let call = &calls["calls"][0];
    assert_eq!((&call["principal"], &call["principalName"]), (&json!(id), &json!("ci-bot")), "{calls}");
    let sessions = office.api(&boss, "GET", "/api/sessions?principal=ci-bot", &Value::Null).await;
    assert_eq!(
        (&sessions["total"], &sessions["sessions"][0]["principalName"]),
        (&json!(1), &json!("ci-bot"))
    );
    let groups = office.api(&boss, "GET", "/api/calls/summary?by=principal", &Value::Null).await;
    assert!(
        groups["groups"].as_array().expect("groups").iter().any(|group| group["name"] == "ci-bot"),
        "{groups}"
    );
    // A revoked key keeps its name, and nobody else is selected by it.
    office.revoke(&bot, "ci-bot").await;
    office.page_with("/admin/calls?principal=ci-bot&tool=demo__add", &named).await;
    let none = office.browser.get("/admin/calls?principal=boss&tool=demo__add").await;
    assert!(none.text.contains("No matching calls"), "{}", none.text);
}

#[tokio::test]
async fn the_access_check_knows_keys_by_their_names() {
    let rules =
        "access: [{ allow: '*', who: { key: [ci-bot, boss] } }, { deny: '*add', who: { key: ci-bot } }]\n";
    let mut office = Office::new(rules).await;
    let (bot, boss) = (office.key("ci-bot").await, office.key("boss").await);
    office.page_with("/admin/tools", "/admin/tools/demo/add").await;
    for caller in ["ci-bot".to_owned(), "key:ci-bot".to_owned(), id(&bot), id(&bot).replace("key:", "")] {
        let page = format!("/admin/access?profile=default&tool=demo__add&caller={caller}");
        office.page_with(&page, "Rule 2 of `access` denies it.").await;
        let question = json!({"profile": "default", "tool": "demo__add", "caller": {"id": caller}});
        let answer = office.api(&boss, "POST", "/api/access/check", &question).await;
        assert_eq!((&answer["allowed"], &answer["rule"]), (&json!(false), &json!(2)), "{caller}: {answer}");
    }
    office.page_with("/admin/access", "<option value=\"key:ci-bot\">").await;
    office.revoke(&bot, "ci-bot").await;
    for (caller, words) in [("key:ci-bot", "was revoked"), ("nobody", "no active key has this name")] {
        let page = format!("/admin/access?profile=default&tool=demo__add&caller={caller}");
        let page = office.page_with(&page, words).await;
        assert!(page.contains("No active key has this name"), "{page}");
        let question = json!({"profile": "default", "tool": "demo__add", "caller": {"id": caller}});
        let answer = office.api(&boss, "POST", "/api/access/check", &question).await;
        assert!(answer["reason"].to_string().contains(words) && answer["allowed"] == false, "{answer}");
    }
}

#[tokio::test]
async fn lists_of_calls_say_who_stopped_a_call() {
    let rules = "access: [{ allow: '*' }, { deny: '*add', who: { key: ci-bot } }]\n";
    let mut office = Office::new(rules).await;
    let bot = office.key("ci-bot").await;
    let client = Legacy::open(office.by(&bot)).await;
    client.call("demo__add", &json!({"a": 1, "b": 2})).await;
    client.call("demo__addd", &json!({"a": 1, "b": 2})).await;
    let page = office
        .page_with("/admin/calls?tool=demo__add&outcome=denied", "an access rule did not allow it")
        .await;
    assert!(!page.contains("the parameters were refused"), "{page}");
    let (_, rest) = page.split_once("href=\"/admin/calls/").expect("a call");
    let own = format!("/admin/calls/{}", rest.split_once('"').expect("its end").0);
    let call = office.page_with(&own, "rule 2 of `access` denies it").await;
    assert!(call.contains("Check the access of this caller"), "{call}");
    for found in ["/admin/calls?q=%22B%22%3A2", "/admin/calls?q=demo__ADD"] {
        office.page_with(found, "{&quot;a&quot;:1,&quot;b&quot;:2}").await;
    }
    let none = office.browser.get("/admin/calls?q=%22b%22%3A3").await;
    assert!(none.text.contains("No matching calls"), "{}", none.text);
    let page =
        office.page_with("/admin/calls?tool=demo__addd", "the profile has nothing with this name").await;
    assert!(!page.contains("the parameters were refused"), "{page}");
}

#[tokio::test]
async fn a_profile_names_the_callers_without_tools() {
    let rules = "access: [{ allow: '*', who: { key: ci-bot } }]\n";
    let mut office = Office::new(rules).await;
    let (bot, boss) = (office.key("ci-bot").await, office.key("boss").await);
    let page = office.page_with("/admin/profiles/default", "Clients of these callers show no tools").await;
    assert!(
        page.contains("<bdi>boss</bdi></code> may use 0 of 6 tools")
            && page.contains("no rule with `allow` covers it")
    );
    assert!(!page.contains("<bdi>ci-bot</bdi></code> may use 0"), "{page}");
    // The numbers of the profile do not depend on who asks.
    let path = "/api/profiles/default/status";
    let (own, other) = (
        office.api(&bot, "GET", path, &Value::Null).await,
        office.api(&boss, "GET", path, &Value::Null).await,
    );
    assert_eq!((&own["listed"]["tools"], &own), (&json!(6), &other));
    // A client without tools leaves a call that leads to the access check.
    let client = Legacy::open(office.by(&boss)).await;
    client.ask("tools/list", &json!({})).await;
    let calls = office
        .page_with(
            "/admin/calls?principal=boss&outcome=error",
            "this profile has no tools that this caller may use",
        )
        .await;
    let (_, rest) = calls.split_once("href=\"/admin/calls/").expect("a call");
    let call = format!("/admin/calls/{}", rest.split_once('"').expect("its end").0);
    office.page_with(&call, "Check the access of this caller").await;
}

#[tokio::test]
async fn pages_lead_from_a_key_and_from_a_tool_to_the_rules_about_them() {
    let rules =
        "access: [{ allow: '*', who: { key: [ci-bot, boss] } }, { deny: '*add', who: { key: 'ci-*' } }]\n";
    let mut office = Office::new(rules).await;
    for name in ["ci-bot", "boss", "other"] {
        office.key(name).await;
    }
    let keys = office.page_with("/admin/keys", "/admin/access?caller=key%3Aci-bot").await;
    let row = |name: &str| {
        let (_, rest) = keys.split_once(&format!("<strong><bdi>{name}</bdi>")).expect("its row");
        rest.split_once("</tr>").expect("its end").0.to_owned()
    };
    let rule = |number: u8| format!("href=\"/admin/access#rule-{number}\"");
    assert!(row("ci-bot").contains(&rule(1)) && row("ci-bot").contains(&rule(2)), "{}", row("ci-bot"));
    assert!(row("boss").contains(&rule(1)) && !row("boss").contains(&rule(2)), "{}", row("boss"));
    assert!(!row("other").contains("#rule-"), "{}", row("other"));
    office.page_with("/admin/access", "id=\"rule-2\"").await;
    office.page_with("/admin/tools", "/admin/tools/demo/add").await;
    let page = office.page_with("/admin/tools/demo/add", "Who may use it").await;
    let (_, rest) = page.split_once("id=\"access\"").expect("the section");
    let section = rest.split_once("</section>").expect("its end").0;
    let check =
        |caller: &str| format!("/admin/access?profile=default&amp;tool=demo__add&amp;caller=key%3A{caller}");
    let at = |text: &str| section.find(text).unwrap_or_else(|| panic!("{text} is missing: {section}"));
    // Those who may come first, and each rule stands behind its callers.
    assert!(at(&check("boss")) < at(&rule(1)) && at(&rule(1)) < at(&check("ci-bot")));
    assert!(at(&check("other")) < at("no rule with `allow` allows it for these callers"));
    assert!(at(&check("ci-bot")) < at(&rule(2)));
}

#[tokio::test]
async fn the_chosen_profile_is_carried_from_page_to_page() {
    let more = "profiles: { default: { servers: [demo] }, team: { servers: [demo] } }\n";
    let mut office = Office::new(more).await;
    let page = office.page_with("/admin/connect?profile=team&client=cursor", "/mcp/team").await;
    assert!(page.contains("/admin/keys?profile=team&amp;client=cursor#new"), "{page}");
    let keys = office.page_with("/admin/keys?profile=team&client=cursor", "value=\"team\" checked").await;
    assert!(keys.contains("name=\"client\" value=\"cursor\""), "{keys}");
    let token = office.token.clone();
    let made = office
        .browser
        .post("/admin/keys-new", &format!("csrf={token}&name=x&profile=team&client=cursor"))
        .await;
    assert!(made.text.contains("/admin/connect?profile=team&amp;client=cursor"), "{}", made.text);
    let unknown = office.page_with("/admin/connect?profile=taem&client=cursor", "There is no profile").await;
    assert!(unknown.contains("/mcp/default"), "{unknown}");
    let begun =
        office.browser.post("/admin/connect-test", &format!("csrf={token}&profile=team&client=cursor")).await;
    let to = begun.header("location").split('#').next().expect("a path").to_owned();
    assert!(to.starts_with("/admin/connect?profile=team&client=cursor&test="), "{to}");
    let test = to.rsplit('=').next().expect("an id");
    // The form that stops a test names only the test.
    let stopped = office.browser.post("/admin/connect-test", &format!("csrf={token}&stop={test}")).await;
    assert!(stopped.header("location").starts_with("/admin/connect?profile=team&client=cursor&test="));
}
