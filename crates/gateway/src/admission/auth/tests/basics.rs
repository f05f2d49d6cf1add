//! The single token, missing credentials, and unsupported kinds of credentials.

use engine::access::{Principal, Scheme};
use engine::fault::Condition;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};

use super::rig::{World, at, basic, bearer, id, open, shows, why};

const TOKEN: &str = "correct-horse.battery/staple==";

#[tokio::test]
async fn where_nothing_is_configured_anybody_comes_in() {
    let open = open("{}", &World::new());
    assert!(!open.asks());
    let local = std::net::IpAddr::from([127, 0, 0, 1]);
    for headers in [HeaderMap::new(), bearer("anything"), shows("???")] {
        assert_eq!(*open.identify(&headers, Some(local)).await.unwrap(), Principal::anyone());
    }
    assert_eq!(open.metadata("/.well-known/oauth-protected-resource"), None);
}

#[tokio::test]
async fn the_token_opens_and_no_other_does() {
    let closed = open(&format!("{{ bearer: '{TOKEN}' }}"), &World::new());
    assert!(closed.asks());
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let identified = closed.identify_at(&shows(&format!("{scheme} {TOKEN}")), at(0)).await;
        assert_eq!(id(&identified), "bearer");
        assert_eq!(identified.unwrap().scheme, Scheme::Bearer);
    }
    let others = [
        TOKEN[1..].to_owned(),
        TOKEN[..TOKEN.len() - 1].to_owned(),
        format!("{TOKEN}="),
        TOKEN.to_uppercase(),
        "x".repeat(TOKEN.len()),
    ];
    for other in others {
        let denied = closed.identify_at(&bearer(&other), at(0)).await.unwrap_err();
        assert_eq!((denied.condition, denied.status().as_u16()), (Condition::BadCredentials, 401));
        assert_eq!(denied.message, "unknown token");
        assert_eq!(
            denied.challenge.unwrap(),
            "Bearer error=\"invalid_token\", error_description=\"unknown token\", realm=\"dragoman\""
        );
    }
    assert_eq!(
        why(closed.identify_at(&basic("x", TOKEN), at(0)).await),
        "user names and passwords are not accepted here"
    );
}

#[tokio::test]
async fn a_token_may_be_any_visible_word() {
    let every: String = ('!'..='~').filter(|c| *c != '\'').collect();
    for token in ["p@ss!word#1", &every] {
        let closed = open(&format!("{{ bearer: '{token}' }}"), &World::new());
        assert_eq!(id(&closed.identify_at(&bearer(token), at(0)).await), "bearer");
        let other = format!("{}?", &token[..token.len() - 1]);
        let denied = closed.identify_at(&bearer(&other), at(0)).await.unwrap_err();
        assert_eq!(denied.condition, Condition::BadCredentials);
    }
}

#[tokio::test]
async fn who_shows_nothing_is_told_what_to_show() {
    let closed = open(&format!("{{ bearer: '{TOKEN}' }}"), &World::new());
    let denied = closed.identify_at(&HeaderMap::new(), at(0)).await.unwrap_err();
    assert_eq!((denied.condition, denied.status().as_u16()), (Condition::NoCredentials, 401));
    assert_eq!(denied.challenge.unwrap(), "Bearer realm=\"dragoman\"");
    // Credentials in any other header are ignored, whatever its name.
    let mut headers = HeaderMap::new();
    for name in ["x-authorization", "x-api-key", "proxy-authorization", "cookie", "access_token"] {
        headers.insert(name, HeaderValue::from_str(&format!("Bearer {TOKEN}")).unwrap());
    }
    assert_eq!(closed.identify_at(&headers, at(0)).await.unwrap_err().condition, Condition::NoCredentials);
}

#[tokio::test]
async fn two_credentials_are_none() {
    let closed = open(&format!("{{ bearer: '{TOKEN}' }}"), &World::new());
    let right = HeaderValue::from_str(&format!("Bearer {TOKEN}")).unwrap();
    let mut headers = HeaderMap::new();
    headers.append(AUTHORIZATION, right.clone());
    headers.append(AUTHORIZATION, right.clone());
    let denied = closed.identify_at(&headers, at(0)).await.unwrap_err();
    assert_eq!(denied.condition, Condition::BadCredentials);
    assert_eq!(denied.message, "the Authorization header occurs more than once");
    // This holds whether or not the credential is cached.
    assert!(closed.identify_at(&bearer(TOKEN), at(0)).await.is_ok());
    assert!(closed.identify_at(&headers, at(1)).await.is_err());
    for joined in [
        format!("Bearer {TOKEN}, Bearer {TOKEN}"),
        format!("Bearer {TOKEN} {TOKEN}"),
        format!("Bearer {TOKEN},Basic eDp5"),
    ] {
        assert!(closed.identify_at(&shows(&joined), at(0)).await.is_err(), "{joined}");
    }
}

#[tokio::test]
async fn authenticators_of_other_threads_share_what_is_known() {
    let world = World::new();
    let first = open(&format!("{{ bearer: '{TOKEN}' }}"), &world);
    let second = first.over(World::new());
    let one = first.identify_at(&bearer(TOKEN), at(0)).await.unwrap();
    let other = second.identify_at(&bearer(TOKEN), at(1)).await.unwrap();
    assert!(std::sync::Arc::ptr_eq(&one, &other));
}
