//! Tests of sign-ins that two gateways share, with a store in memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::StatusCode;
use parking_lot::Mutex;
use secrecy::{ExposeSecret as _, SecretString};
use store::grants::ProfileNames;

use super::stage::*;
use crate::shared::{SharedSignIns, SharedText, Sharing};
use crate::{AccountFault, AuthorizationServer};

/// The store of a cluster.
#[derive(Default)]
struct MemoryStore {
    texts: Mutex<HashMap<String, String>>,
    announced: Mutex<Vec<String>>,
    is_away: AtomicBool,
}

impl MemoryStore {
    fn there(&self) -> Result<(), String> {
        if self.is_away.load(Ordering::SeqCst) { Err("it is away".to_owned()) } else { Ok(()) }
    }

    fn names(&self, family: &str) -> usize {
        self.texts.lock().keys().filter(|name| name.starts_with(family)).count()
    }
}

impl SharedSignIns for MemoryStore {
    fn read<'a>(&'a self, name: &'a str) -> Sharing<'a, SharedText> {
        Box::pin(async move {
            self.there()?;
            let text = self.texts.lock().get(name).cloned();
            let mark = text.clone().unwrap_or_default();
            Ok(SharedText { mark, text: text.map(SecretString::from) })
        })
    }

    fn replace<'a>(
        &'a self,
        name: &'a str,
        mark: &'a str,
        (text, _): (SecretString, Duration),
    ) -> Sharing<'a, bool> {
        Box::pin(async move {
            self.there()?;
            let mut texts = self.texts.lock();
            if texts.get(name).map_or("", String::as_str) != mark {
                return Ok(false);
            }
            texts.insert(name.to_owned(), text.expose_secret().to_owned());
            Ok(true)
        })
    }

    fn announce<'a>(&'a self, grant: &'a str) -> Sharing<'a, ()> {
        Box::pin(async move {
            self.there()?;
            self.announced.lock().push(grant.to_owned());
            Ok(())
        })
    }
}

/// Two gateways that share a store.
fn two() -> (Arc<MemoryStore>, Stage, Stage) {
    let store = Arc::new(MemoryStore::default());
    let (one, other) = (Stage::new("wordpress"), Stage::new("wordpress"));
    for (stage, process) in [(&one, 1), (&other, 2)] {
        stage.server.share(store.clone(), process);
    }
    (store, one, other)
}

/// Signs in at the first gateway; the second one knows the client then.
async fn signed_in(one: &Stage, other: &Stage) -> (String, String) {
    let tokens = one.tokens().await;
    other.client.lock().clone_from(&one.client.lock());
    tokens
}

/// Lets a gateway hear what the others have announced.
async fn heard(store: &MemoryStore, stage: &Stage) {
    let announced = std::mem::take(&mut *store.announced.lock());
    stage.server.follow(Some(announced), stage.now()).await;
}

#[tokio::test(start_paused = true)]
async fn tokens_of_one_gateway_are_valid_renewed_and_revoked_at_the_other() {
    let (store, one, other) = two();
    let (access, refresh) = signed_in(&one, &other).await;
    let account = other.server.account(&access, other.now()).await.unwrap();
    assert_eq!((account.user.as_str(), account.password.expose_secret()), ("ann", "abcdEFGH"));
    // The client has named its resource, and no gateway forgets it.
    let own = Some(ProfileNames::new(["default"]));
    assert_eq!(account.profiles, own);
    let (status, said) = other.renewed(&refresh).await;
    assert_eq!(status, StatusCode::OK, "{said}");
    let renewed = pair(&said);
    assert_eq!(one.server.account(&renewed.0, one.now()).await.unwrap().profiles, own);
    // The replaced token is accepted once more within a minute, at whatever gateway, and not a third time.
    assert_eq!(one.renewed(&refresh).await.0, StatusCode::OK);
    assert_eq!(other.renewed(&refresh).await.0, StatusCode::BAD_REQUEST);
    heard(&store, &one).await;
    assert_eq!(one.server.account(&renewed.0, one.now()).await.unwrap_err(), AccountFault::Ended);
    assert!(one.server.list().await.unwrap().is_empty() && other.server.list().await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_replaced_token_that_is_used_later_ends_the_sign_in_everywhere() {
    let (store, one, other) = two();
    let (_, refresh) = signed_in(&one, &other).await;
    let (_, said) = other.renewed(&refresh).await;
    for stage in [&one, &other] {
        *stage.now_ms.lock() += 61_000;
    }
    assert_eq!(one.renewed(&refresh).await.0, StatusCode::BAD_REQUEST);
    heard(&store, &other).await;
    let fault = other.server.account(&pair(&said).0, other.now()).await.unwrap_err();
    assert_eq!(fault, AccountFault::Ended);
    assert_eq!(other.server.endings(), 1);
}

#[tokio::test(start_paused = true)]
async fn two_gateways_that_renew_at_the_same_time_count_two_uses() {
    let (store, one, other) = two();
    let (_, refresh) = signed_in(&one, &other).await;
    let (first, second) = tokio::join!(one.renewed(&refresh), other.renewed(&refresh));
    assert_eq!((first.0, second.0), (StatusCode::OK, StatusCode::OK), "a lost answer is repeated");
    assert_eq!((store.names("spent:"), store.names("spent-again:")), (1, 1));
    assert_eq!(one.renewed(&refresh).await.0, StatusCode::BAD_REQUEST, "a third use");
}

#[tokio::test(start_paused = true)]
async fn without_the_store_nothing_is_issued_and_known_tokens_stay_valid() {
    let (store, one, other) = two();
    let (access, refresh) = signed_in(&one, &other).await;
    store.is_away.store(true, Ordering::SeqCst);
    one.server.account(&access, one.now()).await.unwrap();
    let unknown = other.server.account(&access, other.now()).await.unwrap_err();
    assert!(matches!(unknown, AccountFault::Unavailable(..)), "{unknown:?}");
    for stage in [&one, &other] {
        assert_eq!(stage.renewed(&refresh).await.0, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(
            stage.post("/oauth/register", "{\"redirect_uris\":[\"http://127.0.0.1/cb\"]}").await.0,
            StatusCode::SERVICE_UNAVAILABLE
        );
    }
    // An end is told later.
    let id = one.server.list().await.unwrap()[0].id.clone();
    assert_eq!(one.server.end(&id, one.now()).await, Ok(true));
    store.is_away.store(false, Ordering::SeqCst);
    assert_eq!(other.server.account(&access, other.now()).await.unwrap().user, "ann", "nobody knows yet");
    one.server.tidy(one.now()).await;
    heard(&store, &other).await;
    assert_eq!(other.server.account(&access, other.now()).await.unwrap_err(), AccountFault::Ended);
}

#[tokio::test(start_paused = true)]
async fn an_end_that_nobody_heard_of_is_told_when_everything_is_compared() {
    let (store, one, other) = two();
    let (access, _) = signed_in(&one, &other).await;
    other.server.account(&access, other.now()).await.unwrap();
    store.is_away.store(true, Ordering::SeqCst);
    let id = one.server.list().await.unwrap()[0].id.clone();
    assert_eq!(one.server.end(&id, one.now()).await, Ok(true));
    // The gateway was started again meanwhile.
    one.server.unshared.lock().clear();
    store.is_away.store(false, Ordering::SeqCst);
    one.server.follow(None, one.now()).await;
    heard(&store, &other).await;
    assert_eq!(other.server.account(&access, other.now()).await.unwrap_err(), AccountFault::Ended);
}

#[tokio::test(start_paused = true)]
async fn a_sign_in_that_the_others_cannot_get_is_refused_and_its_password_deleted() {
    let (store, one, _other) = two();
    let client = one.registered().await;
    let entry = one.begun(&client).await;
    let back = one.at_site(&entry).await;
    let returned =
        one.open(&format!("{back}&site_url=https://blog.example/wp&user_login=ann&password=abcdEFGH")).await;
    store.is_away.store(true, Ordering::SeqCst);
    one.world.asked();
    let finished = one.open(&location(&returned)).await;
    assert_eq!(finished.status(), StatusCode::FORBIDDEN);
    assert!(text(&finished).contains("cannot share the sign-in"), "{}", text(&finished));
    assert!(one.world.asked().contains(&DELETE.to_owned()));
    assert!(one.server.list().await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_registered_at_one_gateway_begins_at_the_other() {
    let (_store, one, other) = two();
    let client = one.registered().await;
    let code = other.code(&client).await;
    assert_eq!(other.exchanged(&client, &code).await.0, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_sign_in_that_is_used_at_another_gateway_is_not_idle_and_comes_back_to_an_empty_store() {
    let (store, one, other) = two();
    let (_, refresh) = signed_in(&one, &other).await;
    let days = |number: u64| number * 24 * 60;
    let idle = one.server.settings.idle.as_secs() / 60;
    for stage in [&one, &other] {
        stage.pass(idle - days(1)).await;
    }
    let (status, said) = other.renewed(&refresh).await;
    assert_eq!(status, StatusCode::OK, "{said}");
    other.server.account(&pair(&said).0, other.now()).await.unwrap();
    let (_, said) = other.renewed(&pair(&said).1).await;
    for stage in [&one, &other] {
        stage.pass(days(2)).await;
    }
    one.server.tidy(one.now()).await;
    assert_eq!(one.server.list().await.unwrap().len(), 1, "the other gateway has used it");
    store.texts.lock().clear();
    one.server.follow(None, one.now()).await;
    assert_eq!(store.names("grant:"), 1);
    let third = Stage::new("wordpress");
    third.server.share(store.clone(), 3);
    *third.now_ms.lock() = one.now();
    third.client.lock().clone_from(&one.client.lock());
    assert_eq!(third.renewed(&pair(&said).1).await.0, StatusCode::OK);
    for stage in [&one, &other] {
        stage.pass(idle + days(2)).await;
    }
    one.server.tidy(one.now()).await;
    assert!(one.server.list().await.unwrap().is_empty(), "nobody has used it");
}

#[tokio::test(start_paused = true)]
async fn the_process_at_which_a_sign_in_began_is_known() {
    let (_store, one, other) = two();
    for (stage, process) in [(&one, Some(1)), (&other, Some(2)), (&Stage::new("wordpress"), None)] {
        let client = stage.registered().await;
        let entry = stage.begun(&client).await;
        let of = AuthorizationServer::process_of;
        assert_eq!(of(&format!("/oauth/sign-in/{entry}"), "", b""), process);
        let back = stage.at_site(&entry).await;
        let (_, query) = back.split_once('?').unwrap();
        assert_eq!(of("/oauth/wordpress", query, b""), process);
        let code = stage.code(&client).await;
        assert_eq!(of("/oauth/token", "", format!("code={code}&client_id=x").as_bytes()), process);
        assert_eq!(of("/oauth/token", "", b"grant_type=refresh_token&refresh_token=x"), None);
        assert_eq!(of("/oauth/authorize", query, b""), None);
    }
}
