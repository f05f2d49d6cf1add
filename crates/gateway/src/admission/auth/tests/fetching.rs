//! Discovery of an issuer's keys if the configuration does not contain their address.

use std::sync::Arc;

use serde_json::json;

use super::super::Authenticator;
use super::rig::{World, at, bearer, open, why};
use super::signer::*;

const PLACES: [&str; 3] = [
    "https://id.example.com/.well-known/oauth-authorization-server/tenant",
    "https://id.example.com/.well-known/openid-configuration/tenant",
    "https://id.example.com/tenant/.well-known/openid-configuration",
];

fn place() -> (Arc<World>, Authenticator) {
    let world = World::new();
    world.page(KEYS, 200, key_set(&all_keys()));
    let auth = format!("{{ jwt: {{ issuer: '{ISSUER}' }}, oauth: {{ resource: '{RESOURCE}' }} }}");
    let authenticator = open(&auth, &world);
    (world, authenticator)
}

fn metadata(issuer: &str, keys: &str) -> String {
    json!({ "issuer": issuer, "jwks_uri": keys }).to_string()
}

fn token() -> String {
    signed("RS256", "rsa", &claims(&json!({})))
}

#[tokio::test]
async fn metadata_is_looked_for_in_each_of_its_places() {
    for (index, right) in PLACES.iter().enumerate() {
        let (world, authenticator) = place();
        world.page(right, 200, metadata(ISSUER, KEYS));
        assert!(authenticator.identify_at(&bearer(&token()), at(0)).await.is_ok(), "{right}");
        let mut expected: Vec<&str> = PLACES[..=index].to_vec();
        expected.push(KEYS);
        assert_eq!(world.asked(), expected);
    }
}

#[tokio::test]
async fn what_was_discovered_is_kept_until_it_fails() {
    let (world, authenticator) = place();
    world.page(PLACES[0], 200, metadata(ISSUER, KEYS));
    assert!(authenticator.identify_at(&bearer(&token()), at(0)).await.is_ok());
    world.asked();
    let moved = "https://id.example.com/moved";
    world.page(PLACES[0], 200, metadata(ISSUER, moved));
    world.page(moved, 200, key_set(&[rsa_jwk("new", &RSA)]));
    let new = signed("RS256", "new", &claims(&json!({})));
    assert_eq!(
        why(authenticator.identify_at(&bearer(&new), at(1)).await),
        "the token's issuer has no key for this token"
    );
    assert_eq!(world.asked(), [KEYS]);
    world.gone(KEYS);
    assert_eq!(
        why(authenticator.identify_at(&bearer(&new), at(20)).await),
        "the token's issuer has no key for this token"
    );
    assert!(authenticator.identify_at(&bearer(&new), at(40)).await.is_ok());
    assert_eq!(world.asked(), [KEYS, PLACES[0], moved]);
}

#[tokio::test]
async fn metadata_that_speaks_for_others_or_points_elsewhere_is_refused() {
    for (issuer, keys, expected) in [
        ("https://id.example.com", KEYS, "the metadata belongs to another issuer"),
        ("https://id.example.com/tenant/", KEYS, "the metadata belongs to another issuer"),
        (ISSUER, "http://id.example.com/tenant/jwks", "the `jwks_uri` in the metadata is not https"),
        (ISSUER, "http://127.0.0.1:9/jwks", "the `jwks_uri` in the metadata is not https"),
        (ISSUER, "https://127.0.0.1:9/jwks", "the `jwks_uri` in the metadata is not https"),
        (ISSUER, "https://[::1]/jwks", "the `jwks_uri` in the metadata is not https"),
        (ISSUER, "https://localhost/jwks", "the `jwks_uri` in the metadata is not https"),
        (ISSUER, "https://me@id.example.com/jwks", "the `jwks_uri` in the metadata is not https"),
        (ISSUER, "file:///etc/passwd", "the `jwks_uri` in the metadata is not a URL"),
        (ISSUER, "/jwks", "the `jwks_uri` in the metadata is not https"),
        (ISSUER, "", "the `jwks_uri` in the metadata is not a URL"),
    ] {
        let (world, authenticator) = place();
        for place in PLACES {
            world.page(place, 200, metadata(issuer, keys));
        }
        let said = why(authenticator.identify_at(&bearer(&token()), at(0)).await);
        assert!(said.ends_with(expected), "{keys}: {said}");
        assert_eq!(world.asked(), PLACES, "nothing else was asked for");
    }
}

#[tokio::test]
async fn metadata_that_is_none_is_named() {
    for (status, body, expected) in [
        (404, "", "the response has the status HTTP 404"),
        (302, "", "the response has the status HTTP 302"),
        (200, "<html>", "the metadata has no `issuer` or no `jwks_uri`"),
        (200, "{}", "the metadata has no `issuer` or no `jwks_uri`"),
        (200, "{\"issuer\":7}", "the metadata has no `issuer` or no `jwks_uri`"),
    ] {
        let (world, authenticator) = place();
        world.page(PLACES[2], status, body);
        let said = why(authenticator.identify_at(&bearer(&token()), at(0)).await);
        assert_eq!(said, format!("cannot get the keys of {ISSUER}: {}: {expected}", PLACES[2]));
    }
}
