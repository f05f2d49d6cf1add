//! Tests of how sign-ins end.

use std::sync::Arc;

use http::StatusCode;
use serde_json::json;
use tokio::task::JoinSet;

use super::stage::*;
use crate::AccountFault;

#[tokio::test(start_paused = true)]
async fn a_revoked_token_ends_the_sign_in_and_deletes_the_password_at_the_site() {
    let stage = Stage::new("wordpress");
    let (access, refresh) = stage.tokens().await;
    assert_eq!(stage.post("/oauth/revoke", &format!("token={refresh}")).await.0, StatusCode::OK);
    assert_eq!(stage.server.account(&access, stage.now()).await.unwrap_err(), AccountFault::Ended);
    assert_eq!(stage.server.list().await.unwrap(), []);
    stage.world.asked();
    stage.server.tidy(stage.now()).await;
    assert_eq!(stage.world.asked(), [DELETE]);
    stage.server.tidy(stage.now()).await;
    assert_eq!(stage.world.asked(), [""; 0], "once");
    assert_eq!(stage.post("/oauth/revoke", "token=unknown").await.0, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_password_is_deleted_as_soon_as_the_site_answers_again() {
    let stage = Stage::new("wordpress");
    stage.tokens().await;
    let listed = stage.server.list().await.unwrap();
    assert_eq!(
        (listed[0].site.as_str(), listed[0].user.as_str(), listed[0].client.as_str()),
        (SITE, "ann", "Tester")
    );
    let password = secrecy::SecretString::from("abcdEFGH");
    assert!(!stage.server.is_ended(&password));
    assert!(stage.server.end(&listed[0].id, stage.now()).await.unwrap());
    assert!(stage.server.is_ended(&password), "its streams end");
    assert!(!stage.server.end(&listed[0].id, stage.now()).await.unwrap(), "once");
    stage.world.gone(DELETE);
    stage.server.tidy(stage.now()).await;
    stage.world.at(DELETE, 200, &json!({}));
    stage.world.asked();
    stage.pass(10).await;
    stage.server.tidy(stage.now()).await;
    assert_eq!(stage.world.asked(), [DELETE]);
}

#[tokio::test(start_paused = true)]
async fn a_password_that_was_revoked_at_the_site_ends_the_sign_in() {
    let stage = Stage::new("wordpress");
    let (access, refresh) = stage.tokens().await;
    stage.world.at(ME, 401, &json!({ "code": "incorrect_password" }));
    stage.server.account(&access, stage.now()).await.expect("the answer of a minute ago");
    stage.pass(2).await;
    assert_eq!(stage.server.account(&access, stage.now()).await.unwrap_err(), AccountFault::Revoked);
    assert_eq!(stage.renewed(&refresh).await.0, StatusCode::BAD_REQUEST);
    assert_eq!(stage.server.list().await.unwrap(), []);
    stage.world.asked();
    stage.server.tidy(stage.now()).await;
    assert_eq!(stage.world.asked(), [""; 0], "there is nothing to delete");
}

#[tokio::test(start_paused = true)]
async fn a_site_that_does_not_answer_holds_up_no_other() {
    let stage = Stage::new("wordpress");
    for _ in 0..3 {
        stage.tokens().await;
    }
    for grant in stage.server.list().await.unwrap() {
        stage.server.end(&grant.id, stage.now()).await.unwrap();
    }
    stage.world.asked();
    // One password of a site at a time.
    for left in [2, 1, 0] {
        stage.server.tidy(stage.now()).await;
        assert_eq!(stage.world.asked(), [DELETE], "{left}");
    }
    stage.server.tidy(stage.now()).await;
    assert_eq!(stage.world.asked(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_password_whose_code_nobody_takes_is_deleted() {
    let stage = Stage::new("wordpress");
    let client = stage.registered().await;
    stage.code(&client).await;
    stage.pass(11).await;
    stage.world.asked();
    stage.server.tidy(stage.now()).await;
    assert_eq!(stage.world.asked(), [DELETE]);
}

#[tokio::test(start_paused = true)]
async fn a_password_that_the_site_ignores_twice_ends_the_sign_in() {
    let stage = Stage::new("wordpress");
    let (access, _) = stage.tokens().await;
    let ignored = json!({ "code": "rest_not_logged_in" });
    stage.world.at(ME, 401, &ignored);
    stage.world.at(DELETE, 401, &ignored);
    stage.pass(2).await;
    stage.server.account(&access, stage.now()).await.expect("perhaps only for a moment");
    tokio::time::advance(std::time::Duration::from_secs(4)).await;
    assert_eq!(stage.server.account(&access, stage.now()).await.unwrap_err(), AccountFault::Revoked);
    // The password may still exist, so Dragoman tries to delete it for an hour.
    for (minutes, asked) in [(0, vec![DELETE]), (50, vec![DELETE]), (11, vec![DELETE]), (1, vec![])] {
        stage.pass(minutes).await;
        stage.world.asked();
        stage.server.tidy(stage.now()).await;
        assert_eq!(stage.world.asked(), asked, "{minutes}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_site_that_is_down_ends_nothing() {
    let stage = Stage::new("wordpress");
    let (access, _) = stage.tokens().await;
    for answer in [
        Some((502, json!("bad gateway"))),
        Some((401, json!("a login of the web server"))),
        Some((403, json!("a firewall"))),
        None,
    ] {
        match answer {
            Some((status, body)) => stage.world.at(ME, status, &body),
            None => stage.world.gone(ME),
        }
        stage.pass(2).await;
        stage.server.account(&access, stage.now()).await.expect("the site confirmed the account minutes ago");
    }
    assert_eq!(stage.server.list().await.unwrap().len(), 1);
}

/// The results of 20 calls with the same token at the same time.
async fn called(stage: &Arc<Stage>, access: &str) -> Vec<Result<String, AccountFault>> {
    let mut calls = JoinSet::new();
    for _ in 0..20 {
        let (stage, access) = (stage.clone(), access.to_owned());
        calls.spawn(
            async move { stage.server.account(&access, stage.now()).await.map(|account| account.user) },
        );
    }
    calls.join_all().await
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_for_the_same_answer_ask_the_site_once() {
    let stage = Arc::new(Stage::new("wordpress"));
    let (access, _) = stage.tokens().await;
    stage.pass(2).await;
    stage.world.asked();
    assert_eq!(called(&stage, &access).await, vec![Ok("ann".to_owned()); 20]);
    assert_eq!(stage.world.asked(), [ME]);
    // A site that is down is asked again after ten seconds only, with or without an earlier answer.
    stage.world.gone(ME);
    stage.pass(2).await;
    assert_eq!(called(&stage, &access).await, vec![Ok("ann".to_owned()); 20]);
    assert_eq!(stage.world.asked(), [ME]);
    let grant = &stage.server.list().await.unwrap()[0].id;
    stage.server.confirmations.lock().forget(grant);
    for _ in 0..2 {
        let refused = called(&stage, &access).await;
        assert!(refused.iter().all(|one| matches!(one, Err(AccountFault::Unavailable(..)))), "{refused:?}");
        assert_eq!(stage.world.asked(), [ME]);
        tokio::time::advance(std::time::Duration::from_secs(11)).await;
    }
    stage.world.at(ME, 200, &json!({ "id": 7, "username": "ann", "roles": ["editor"], "capabilities": {} }));
    let refused = called(&stage, &access).await;
    assert!(refused.iter().all(|one| matches!(one, Err(AccountFault::Forbidden(_)))), "{refused:?}");
    assert_eq!(stage.world.asked(), [ME]);
}

#[tokio::test(start_paused = true)]
async fn a_sign_in_that_nobody_uses_ends() {
    let stage = Stage::new("{ idle: 2h }");
    let (_, refresh) = stage.tokens().await;
    stage.pass(60).await;
    let (_, said) = stage.renewed(&refresh).await;
    stage.server.account(&pair(&said).0, stage.now()).await.unwrap();
    stage.pass(90).await;
    stage.server.tidy(stage.now()).await;
    assert_eq!(stage.server.list().await.unwrap().len(), 1, "it was used 90 minutes ago");
    stage.pass(60).await;
    stage.world.asked();
    stage.server.tidy(stage.now()).await;
    assert_eq!(stage.server.list().await.unwrap().len(), 0);
    assert_eq!(stage.world.asked(), [DELETE]);
}

/// Signs in up to the moment at which the site has created a password; returns the address that finishes the sign-in.
async fn returned(stage: &Stage) -> String {
    let client = stage.registered().await;
    let entry = stage.begun(&client).await;
    let back = stage.at_site(&entry).await;
    let reply =
        stage.open(&format!("{back}&site_url=https://blog.example&user_login=ann&password=abcdEFGH")).await;
    location(&reply)
}

#[tokio::test(start_paused = true)]
async fn a_password_of_a_sign_in_that_is_not_finished_is_deleted() {
    let stage = Stage::new("wordpress");
    let finish = returned(&stage).await;
    stage.world.asked();
    stage.server.tidy(stage.now()).await;
    assert_eq!(stage.world.asked(), [""; 0], "the browser is still on its way");
    stage.pass(16).await;
    stage.server.tidy(stage.now()).await;
    assert_eq!(stage.world.asked(), [INTROSPECT, DELETE]);
    stage.server.tidy(stage.now()).await;
    assert_eq!(stage.world.asked(), [""; 0], "once");
    assert_eq!(stage.open(&finish).await.status(), StatusCode::NOT_FOUND);

    // A sign-in that makes room for others of its address has not been finished, either.
    returned(&stage).await;
    for _ in 0..16 {
        returned(&stage).await;
    }
    stage.world.asked();
    stage.server.tidy(stage.now()).await;
    assert_eq!(stage.world.asked(), [INTROSPECT, DELETE]);
}

#[tokio::test(start_paused = true)]
async fn a_password_of_a_sign_in_that_fails_is_deleted_once_the_site_answers() {
    let stage = Stage::new("wordpress");
    let finish = returned(&stage).await;
    for path in [ME, INTROSPECT, DELETE] {
        stage.world.gone(path);
    }
    assert_eq!(stage.open(&finish).await.status(), StatusCode::FORBIDDEN);
    stage.world.asked();
    stage.server.tidy(stage.now()).await;
    assert_eq!(stage.world.asked(), [INTROSPECT, ME], "the site still does not answer");
    stage.world.at(INTROSPECT, 200, &json!({ "uuid": UUID }));
    stage.world.at(DELETE, 200, &json!({ "deleted": true }));
    stage.server.tidy(stage.now()).await;
    assert_eq!(stage.world.asked(), [INTROSPECT, DELETE]);
    // Dragoman tries for a day.
    let finish = returned(&stage).await;
    for path in [ME, INTROSPECT, DELETE] {
        stage.world.gone(path);
    }
    stage.open(&finish).await;
    stage.pass(24 * 60).await;
    stage.world.asked();
    for asked in [vec![INTROSPECT, ME], vec![]] {
        stage.server.tidy(stage.now()).await;
        assert_eq!(stage.world.asked(), asked);
    }
}
