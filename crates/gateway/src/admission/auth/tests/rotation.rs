//! Key rotation and outages of an issuer: what is fetched, how often, and which tokens are accepted meanwhile.

use std::sync::Arc;

use engine::fault::Condition;
use serde_json::json;

use super::super::Authenticator;
use super::rig::{NOW, World, at, bearer, open, why};
use super::signer::*;

fn place() -> (Arc<World>, Authenticator) {
    let world = World::new();
    world.page(KEYS, 200, key_set(&all_keys()));
    let auth = format!("{{ jwt: {{ issuer: '{ISSUER}', jwks: '{KEYS}', audience: '{RESOURCE}' }} }}");
    let authenticator = open(&auth, &world);
    (world, authenticator)
}

/// A long-lived token; each subject has a different one.
fn token(kid: &str, subject: &str) -> String {
    signed("RS256", kid, &claims(&json!({ "exp": NOW + 100_000, "sub": subject })))
}

#[tokio::test]
async fn a_new_key_is_found_at_once_and_an_old_one_forgotten() {
    let (world, authenticator) = place();
    let identify = |token: String, second| {
        let authenticator = &authenticator;
        async move { authenticator.identify_at(&bearer(&token), at(second)).await }
    };
    assert!(identify(token("rsa", "a"), 0).await.is_ok());
    world.page(KEYS, 200, key_set(&[rsa_jwk("new", &RSA)]));
    assert!(identify(token("new", "a"), 1).await.is_ok());
    assert_eq!(world.asked(), [KEYS, KEYS]);
    assert!(identify(token("rsa", "a"), 2).await.is_ok(), "who was let in a moment ago is remembered");
    assert_eq!(why(identify(token("rsa", "b"), 3).await), "the token's issuer has no key for this token");
    assert_eq!(why(identify(token("rsa", "a"), 30).await), "the token's issuer has no key for this token");
    assert!(identify(token("new", "b"), 31).await.is_ok());
}

#[tokio::test]
async fn another_key_under_the_same_name_is_found_at_once() {
    let (world, authenticator) = place();
    assert!(authenticator.identify_at(&bearer(&token("rsa", "a")), at(0)).await.is_ok());
    world.page(KEYS, 200, key_set(&[rsa_jwk("rsa", &OTHER_RSA)]));
    let new = |subject: &str| signed_with(&OTHER_RSA, "rsa", &claims(&json!({ "sub": subject })));
    assert!(authenticator.identify_at(&bearer(&new("a")), at(1)).await.is_ok());
    assert_eq!(world.asked(), [KEYS, KEYS]);
    assert!(authenticator.identify_at(&bearer(&new("b")), at(2)).await.is_ok());
    assert_eq!(world.asked(), [] as [&str; 0], "it is known now");
    assert_eq!(
        why(authenticator.identify_at(&bearer(&token("rsa", "b")), at(15)).await),
        "the token's signature is wrong"
    );
    assert_eq!(world.asked(), [KEYS]);
}

#[tokio::test]
async fn forged_tokens_do_not_keep_a_new_key_from_being_found() {
    let (world, authenticator) = place();
    assert!(authenticator.identify_at(&bearer(&token("rsa", "a")), at(0)).await.is_ok());
    // After this loop, the next fetch for a forged token is not due yet.
    for second in 1..35 {
        let forged = signed_with(&OTHER_RSA, "rsa", &claims(&json!({ "sub": second.to_string() })));
        let refused = authenticator.identify_at(&bearer(&forged), at(second)).await;
        assert_eq!(why(refused), "the token's signature is wrong", "{second}");
    }
    world.page(KEYS, 200, key_set(&[rsa_jwk("new", &RSA)]));
    assert!(authenticator.identify_at(&bearer(&token("new", "a")), at(35)).await.is_ok());
}

#[tokio::test]
async fn forged_tokens_do_not_make_us_ask_all_the_time() {
    let (world, authenticator) = place();
    assert!(authenticator.identify_at(&bearer(&token("rsa", "a")), at(0)).await.is_ok());
    for second in 0..100 {
        for name in 0..5 {
            let subject = format!("{second}-{name}");
            let forged =
                signed_with(&OTHER_RSA, "rsa", &claims(&json!({ "exp": NOW + 1000, "sub": subject })));
            let refused = authenticator.identify_at(&bearer(&forged), at(second)).await;
            assert_eq!(why(refused), "the token's signature is wrong", "{subject}");
        }
    }
    let asked = world.asked().len();
    assert!((10..=13).contains(&asked), "{asked} in 100 seconds");
}

#[tokio::test]
async fn one_question_is_for_all_who_show_a_key_that_has_changed() {
    let (world, authenticator) = place();
    assert!(authenticator.identify_at(&bearer(&token("rsa", "a")), at(0)).await.is_ok());
    world.asked();
    world.page(KEYS, 200, key_set(&[rsa_jwk("rsa", &OTHER_RSA)]));
    world.hold();
    let waiting: Vec<_> = (0..50)
        .map(|number| {
            let authenticator = authenticator.clone();
            let token = signed_with(&OTHER_RSA, "rsa", &claims(&json!({ "sub": number.to_string() })));
            tokio::spawn(async move { authenticator.identify_at(&bearer(&token), at(1)).await })
        })
        .collect();
    world.until_waiting(1).await;
    world.answer(1);
    for waiting in waiting {
        assert!(waiting.await.unwrap().is_ok());
    }
    assert_eq!(world.asked(), [KEYS]);
}

#[tokio::test]
async fn made_up_keys_do_not_make_us_ask_all_the_time() {
    let (world, authenticator) = place();
    assert!(authenticator.identify_at(&bearer(&token("rsa", "a")), at(0)).await.is_ok());
    for second in 0..100 {
        for name in 0..20 {
            let made_up = token(&format!("{second}-{name}"), "a");
            assert_eq!(
                why(authenticator.identify_at(&bearer(&made_up), at(second)).await),
                "the token's issuer has no key for this token"
            );
        }
    }
    let asked = world.asked().len();
    assert!((10..=13).contains(&asked), "{asked} in 100 seconds");
    // A real new key is nevertheless found as soon as the next fetch is due.
    world.page(KEYS, 200, key_set(&[rsa_jwk("new", &RSA)]));
    let mut seconds = 100..;
    let found = loop {
        let second = seconds.next().unwrap();
        why(authenticator.identify_at(&bearer(&token("none", "a")), at(second)).await);
        if authenticator.identify_at(&bearer(&token("new", "a")), at(second)).await.is_ok() {
            break second;
        }
    };
    assert!(found <= 110, "after {} seconds", found - 100);
}

#[tokio::test]
async fn one_question_is_for_all_who_wait() {
    let (world, authenticator) = place();
    world.hold();
    let waiting: Vec<_> = (0..50)
        .map(|number| {
            let authenticator = authenticator.clone();
            let token = token("rsa", &number.to_string());
            tokio::spawn(async move { authenticator.identify_at(&bearer(&token), at(0)).await })
        })
        .collect();
    world.until_waiting(1).await;
    world.answer(1);
    for waiting in waiting {
        assert!(waiting.await.unwrap().is_ok());
    }
    assert_eq!(world.asked(), [KEYS]);
}

#[tokio::test]
async fn who_gives_up_does_not_take_the_question_along() {
    let (world, authenticator) = place();
    world.hold();
    let ask = |subject: &str| {
        let (authenticator, token) = (authenticator.clone(), token("rsa", subject));
        tokio::spawn(async move { authenticator.identify_at(&bearer(&token), at(0)).await })
    };
    let first = ask("first");
    world.until_waiting(1).await;
    let second = ask("second");
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    world.until_waiting(1).await;
    world.answer(1);
    assert!(second.await.unwrap().is_ok());
}

#[tokio::test]
async fn an_issuer_that_is_away_is_no_fault_of_the_token() {
    let (world, authenticator) = place();
    world.gone(KEYS);
    let denied = authenticator.identify_at(&bearer(&token("rsa", "a")), at(0)).await.unwrap_err();
    assert_eq!((denied.condition, denied.status().as_u16()), (Condition::AuthUnavailable, 503));
    assert!(denied.message.contains("nobody is at https://id.example.com/tenant/jwks"), "{}", denied.message);
    assert!(denied.retry_after.is_some() && denied.challenge.is_none());
    for (status, body) in
        [(404, "{}"), (500, ""), (302, ""), (200, "<html>"), (200, "[]"), (200, "{}"), (200, "{\"keys\":[]}")]
    {
        let (world, authenticator) = place();
        world.page(KEYS, status, body);
        let denied = authenticator.identify_at(&bearer(&token("rsa", "a")), at(0)).await.unwrap_err();
        assert_eq!(denied.condition, Condition::AuthUnavailable, "{status} {body}");
    }
}

#[tokio::test]
async fn known_keys_serve_while_their_issuer_is_away_but_not_for_ever() {
    let (world, authenticator) = place();
    assert!(authenticator.identify_at(&bearer(&token("rsa", "a")), at(0)).await.is_ok());
    world.gone(KEYS);
    for second in [100, 599, 600, 3000, 3599] {
        let identified = authenticator.identify_at(&bearer(&token("rsa", "b")), at(second)).await;
        assert!(identified.is_ok(), "after {second} seconds: {identified:?}");
    }
    let denied = authenticator.identify_at(&bearer(&token("rsa", "c")), at(3600)).await.unwrap_err();
    assert_eq!(denied.condition, Condition::AuthUnavailable);
    world.page(KEYS, 200, key_set(&all_keys()));
    assert!(authenticator.identify_at(&bearer(&token("rsa", "c")), at(3650)).await.is_ok());
}

#[tokio::test]
async fn nobody_waits_for_newer_keys_who_gets_along_with_the_old() {
    let (world, authenticator) = place();
    assert!(authenticator.identify_at(&bearer(&token("rsa", "a")), at(0)).await.is_ok());
    world.hold();
    let (fetches, text) = (authenticator.clone(), token("rsa", "b"));
    let fetching = tokio::spawn(async move { fetches.identify_at(&bearer(&text), at(700)).await });
    world.until_waiting(1).await;
    assert!(authenticator.identify_at(&bearer(&token("rsa", "c")), at(700)).await.is_ok());
    world.answer(1);
    assert!(fetching.await.unwrap().is_ok());
}

#[tokio::test]
async fn nobody_is_remembered_beyond_the_end_of_a_token() {
    let (world, authenticator) = place();
    let brief = signed("RS256", "rsa", &claims(&json!({ "exp": NOW + 10 })));
    assert!(authenticator.identify_at(&bearer(&brief), at(0)).await.is_ok());
    // The two clocks may differ by a minute.
    let brief = signed("RS256", "rsa", &claims(&json!({ "exp": NOW - 50 })));
    assert!(authenticator.identify_at(&bearer(&brief), at(0)).await.is_ok());
    assert!(authenticator.identify_at(&bearer(&brief), at(9)).await.is_ok());
    assert_eq!(why(authenticator.identify_at(&bearer(&brief), at(10)).await), "the token has expired");
    assert_eq!(world.asked(), [KEYS]);
}
