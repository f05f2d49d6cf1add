//! Names with passwords that a WordPress site checks.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::access::Scheme;
use engine::fault::Condition;
use serde_json::{Value, json};

use super::super::Authenticator;
use super::rig::{World, at, basic, id, open, why};
use super::users::hash;

const SITE: &str = "https://blog.example.com/wp";
const ME: &str = "https://blog.example.com/wp/wp-json/wp/v2/users/me?context=edit";

fn place() -> (Arc<World>, Authenticator) {
    let world = World::new();
    let authenticator = open(&format!("{{ site: {{ url: '{SITE}/', cache: 30s }} }}"), &world);
    (world, authenticator)
}

fn user(capabilities: &Value) -> String {
    json!({
        "id": 7, "username": "ann", "slug": "ann-s", "name": "Ann", "roles": ["administrator"],
        "capabilities": capabilities,
    })
    .to_string()
}

#[tokio::test]
async fn who_may_there_may_here() {
    let (world, authenticator) = place();
    world.page(ME, 200, user(&json!({ "read": true, "manage_options": true })));
    let identified = authenticator.identify_at(&basic("ann@example.com", "abcd efgh"), at(0)).await;
    assert_eq!(id(&identified), "site:https://blog.example.com/wp#ann");
    let principal = identified.unwrap();
    assert_eq!((principal.scheme, principal.user.as_deref()), (Scheme::Site, Some("ann")));
    assert_eq!(**principal.claims.as_ref().unwrap(), json!({ "id": 7, "roles": ["administrator"] }));
    // Their streams do not stay open forever: by this time, the site must be asked again.
    assert_eq!(principal.until_ms, Some(at(15 * 60).unix_ms));
    assert!(authenticator.takes_what_ends());
    let shown = world.shown().unwrap();
    assert!(shown.is_sensitive(), "no log of headers shows it");
    let pair = BASE64_STANDARD.encode("ann@example.com:abcd efgh");
    assert_eq!(shown.to_str().unwrap(), format!("Basic {pair}"));
}

#[tokio::test]
async fn the_capability_must_be_there_and_true() {
    for capabilities in [
        json!({}),
        json!([]),
        json!(["manage_options"]),
        json!({ "manage_options": false }),
        json!({ "manage_options": "true" }),
        json!({ "manage_options": 1 }),
        json!({ "Manage_Options": true }),
        json!("manage_options"),
        json!(null),
    ] {
        let (world, authenticator) = place();
        world.page(ME, 200, user(&capabilities));
        let denied = authenticator.identify_at(&basic("ann", "x"), at(0)).await.unwrap_err();
        assert_eq!(
            (denied.condition, denied.status().as_u16()),
            (Condition::Forbidden, 403),
            "{capabilities}"
        );
        assert_eq!(denied.message, format!("this user of {SITE} lacks the capability manage_options"));
    }
    let world = World::new();
    let writers = open(&format!("{{ site: {{ url: '{SITE}', capability: edit_posts }} }}"), &world);
    world.page(ME, 200, user(&json!({ "edit_posts": true })));
    assert!(writers.identify_at(&basic("ann", "x"), at(0)).await.is_ok());
}

#[tokio::test]
async fn the_administrator_of_a_network_is_admitted_on_a_site_where_it_has_no_role() {
    const SETTINGS: &str = "https://blog.example.com/wp/wp-json/wp/v2/settings?_fields=title";
    let (world, authenticator) = place();
    let account = json!({ "id": 1, "username": "root", "roles": [], "capabilities": {} }).to_string();
    world.page(ME, 200, account.clone());
    world.page(SETTINGS, 200, "{\"title\":\"Blog\"}");
    let identified = authenticator.identify_at(&basic("root", "x"), at(0)).await;
    assert_eq!(id(&identified), "site:https://blog.example.com/wp#root");
    assert_eq!(world.asked(), [ME, SETTINGS]);
    // Any other account without a role is told why it is refused.
    for status in [401, 403, 301, 404, 500] {
        let (world, authenticator) = place();
        world.page(ME, 200, account.clone());
        world.page(SETTINGS, status, "{\"code\":\"rest_forbidden\"}");
        let denied = authenticator.identify_at(&basic("root", "x"), at(0)).await.unwrap_err();
        assert_eq!(denied.condition, Condition::Forbidden, "{status}");
        assert!(denied.message.contains("has no role on this site"), "{}", denied.message);
    }
    // An account with a role is not asked about more than its capabilities.
    world.page(ME, 200, user(&json!({ "read": true })));
    assert!(authenticator.identify_at(&basic("ann", "x"), at(90)).await.is_err());
    assert_eq!(world.asked(), [ME]);
}

#[tokio::test]
async fn the_sites_answer_is_not_mistaken() {
    let bad = Condition::BadCredentials;
    let down = Condition::AuthUnavailable;
    let not_logged_in =
        "{\"code\":\"rest_not_logged_in\",\"message\":\"You are not logged in.\",\"data\":{\"status\":401}}";
    for (status, body, condition) in [
        (401, not_logged_in, bad),
        (401, "", bad),
        (403, "{\"code\":\"rest_forbidden\"}", Condition::Forbidden),
        (301, "", down),
        (404, "{\"code\":\"rest_no_route\"}", down),
        (429, "", down),
        (500, "", down),
        (502, "<html>", down),
        (503, "", down),
        (200, "<html>", down),
        (200, "", down),
        (200, "{}", down),
        (200, "[]", down),
        (200, "{\"id\":7,\"capabilities\":{\"manage_options\":true}}", down),
        (200, "{\"id\":7,\"slug\":\"a\\nb\",\"capabilities\":{\"manage_options\":true}}", down),
    ] {
        let (world, authenticator) = place();
        world.page(ME, status, body);
        let denied = authenticator.identify_at(&basic("ann", "x"), at(0)).await.unwrap_err();
        assert_eq!(denied.condition, condition, "{status} {body}: {}", denied.message);
        assert_eq!(denied.retry_after.is_some(), condition == down);
    }
    let (_, authenticator) = place();
    let denied = authenticator.identify_at(&basic("ann", "x"), at(0)).await.unwrap_err();
    assert_eq!(denied.message, format!("cannot verify this user at {SITE}: the site did not answer"));
    assert_eq!(denied.status().as_u16(), 503);
}

#[tokio::test]
async fn its_word_holds_for_a_while_and_a_refusal_for_a_moment() {
    let (world, authenticator) = place();
    let ask = |second| {
        let authenticator = &authenticator;
        async move { authenticator.identify_at(&basic("ann", "x"), at(second)).await }
    };
    world.page(ME, 401, "");
    assert!(ask(0).await.is_err() && ask(2).await.is_err());
    assert_eq!(world.asked().len(), 1, "the same mistake twice is one question");
    world.page(ME, 200, user(&json!({ "manage_options": true })));
    assert!(ask(3).await.is_ok() && ask(32).await.is_ok());
    assert_eq!(world.asked().len(), 1);
    world.page(ME, 401, "");
    assert!(ask(33).await.is_err(), "who was removed there is out after a while");
    world.gone(ME);
    assert_eq!(ask(40).await.unwrap_err().condition, Condition::AuthUnavailable);
    world.page(ME, 200, user(&json!({ "manage_options": true })));
    assert!(ask(40).await.is_ok(), "a site that was away is asked again at once");
}

#[tokio::test]
async fn many_with_the_same_password_are_few_questions() {
    let (world, authenticator) = place();
    world.page(ME, 200, user(&json!({ "manage_options": true })));
    world.hold();
    let asking: Vec<_> = (0..100)
        .map(|_| {
            let authenticator = authenticator.clone();
            tokio::spawn(async move { authenticator.identify_at(&basic("ann", "x"), at(0)).await })
        })
        .collect();
    world.until_waiting(8).await;
    world.answer(8);
    for asking in asking {
        assert!(asking.await.unwrap().is_ok());
    }
    assert_eq!(world.asked().len(), 8);
}

#[tokio::test]
async fn the_site_is_not_asked_about_users_of_the_configuration() {
    let world = World::new();
    let auth = format!("{{ users: {{ ann: '{}' }}, site: '{SITE}' }}", hash("own"));
    let auth = auth.replace(&format!("site: '{SITE}'"), &format!("site: {{ url: '{SITE}' }}"));
    let authenticator = open(&auth, &world);
    world.page(ME, 200, user(&json!({ "manage_options": true })).replace("\"ann\"", "\"bob\""));
    assert_eq!(id(&authenticator.identify_at(&basic("ann", "own"), at(0)).await), "user:ann");
    assert_eq!(why(authenticator.identify_at(&basic("ann", "x"), at(0)).await), "wrong name or password");
    assert!(world.asked().is_empty());
    let bob = authenticator.identify_at(&basic("bob", "x"), at(0)).await;
    assert_eq!(id(&bob), "site:https://blog.example.com/wp#bob");
}
