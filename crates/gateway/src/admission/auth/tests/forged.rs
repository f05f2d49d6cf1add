//! Tokens that must be rejected, each derived from a valid one.

use std::sync::Arc;

use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256};
use engine::access::Scheme;
use engine::fault::Condition;
use serde_json::{Value, json};

use super::super::Authenticator;
use super::rig::{NOW, World, at, bearer, id, open, why};
use super::signer::*;

const ALL: &str = "[RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, EdDSA]";

fn auth(more: &str) -> String {
    format!(
        "{{ jwt: {{ issuer: '{ISSUER}', jwks: '{KEYS}'{more} }}, oauth: {{ resource: '{RESOURCE}', scopes: [mcp] }} }}"
    )
}

/// An authenticator whose issuer has one key of each kind.
fn place(more: &str) -> (Arc<World>, Authenticator) {
    let world = World::new();
    world.page(KEYS, 200, key_set(&all_keys()));
    let authenticator = open(&auth(more), &world);
    (world, authenticator)
}

async fn refused(authenticator: &Authenticator, token: &str) -> String {
    let identified = authenticator.identify_at(&bearer(token), at(0)).await;
    let denied = identified.expect_err(token);
    assert_eq!(denied.condition, Condition::BadCredentials, "{denied:?}");
    let challenge = denied.challenge.expect("a challenge");
    assert!(challenge.starts_with("Bearer error=\"invalid_token\", error_description="), "{challenge}");
    assert!(
        challenge.contains(
            "resource_metadata=\"https://mcp.example.com/.well-known/oauth-protected-resource/mcp\""
        )
    );
    denied.message
}

#[tokio::test]
async fn a_sound_token_of_each_allowed_algorithm_passes() {
    let (_, authenticator) = place(&format!(", algorithms: {ALL}"));
    for (algorithm, kid) in [
        ("RS256", "rsa"),
        ("RS384", "rsa"),
        ("RS512", "rsa"),
        ("PS256", "rsa"),
        ("PS384", "rsa"),
        ("PS512", "rsa"),
        ("ES256", "p256"),
        ("ES384", "p384"),
        ("EdDSA", "ed"),
    ] {
        let token = signed(algorithm, kid, &claims(&json!({})));
        let identified = authenticator.identify_at(&bearer(&token), at(0)).await;
        assert_eq!(id(&identified), "jwt:https://id.example.com/tenant#ann", "{algorithm}");
        let principal = identified.unwrap();
        assert_eq!(principal.scheme, Scheme::Token);
        assert_eq!(&*principal.scopes, &["mcp".into(), "profile".into()]);
        assert_eq!(principal.claims.as_ref().unwrap()["aud"], RESOURCE);
    }
}

#[tokio::test]
async fn a_resource_without_a_path_is_that_with_a_slash() {
    let world = World::new();
    world.page(KEYS, 200, key_set(&all_keys()));
    let auth = format!(
        "{{ jwt: {{ issuer: '{ISSUER}', jwks: '{KEYS}' }}, oauth: {{ resource: 'https://mcp.example.com', scopes: [mcp] }} }}"
    );
    let authenticator = open(&auth, &world);
    let identified = async |audience: &str| {
        let token = signed("RS256", "rsa", &claims(&json!({ "aud": audience })));
        authenticator.identify_at(&bearer(&token), at(0)).await.is_ok()
    };
    // SDKs request tokens for the resource as their URL types normalize it.
    assert!(identified("https://mcp.example.com/").await && identified("https://mcp.example.com").await);
    assert!(!identified("https://mcp.example.com/mcp").await && !identified("https://example.com").await);
}

#[tokio::test]
async fn no_signature_and_no_algorithm_pass() {
    let (_, authenticator) = place("");
    let sound = claims(&json!({}));
    for name in ["none", "None", "NONE", "nOnE", "", " none", "RS256 ", "rs256", "ES256K", "HS256", "dir"] {
        for signature in ["", "AA", &encoded([0; 256])] {
            let head = encoded(json!({ "alg": name, "kid": "rsa" }).to_string());
            let token = format!("{head}.{}.{signature}", encoded(sound.to_string()));
            assert_eq!(
                refused(&authenticator, &token).await,
                "the token's signature algorithm is not supported",
                "{name}"
            );
        }
    }
    for head in
        [json!({ "kid": "rsa" }), json!({ "alg": null }), json!({ "alg": ["RS256"] }), json!({ "alg": 1 })]
    {
        let token = signed_as("RS256", &head, &sound);
        assert_eq!(refused(&authenticator, &token).await, "the token's header does not name an algorithm");
    }
    let token = signed("RS256", "rsa", &sound);
    let bare = token.rsplit_once('.').unwrap().0;
    assert_eq!(refused(&authenticator, &format!("{bare}.")).await, "the token is not signed");
}

#[tokio::test]
async fn a_public_key_is_not_taken_for_a_shared_secret() {
    // This holds even if the key set contains a shared secret under the same key id.
    let (world, authenticator) = place(&format!(", algorithms: {ALL}"));
    let secret = json!({ "kty": "oct", "kid": "rsa", "k": encoded("a shared secret"), "alg": "HS256" });
    world.page(KEYS, 200, key_set(&[all_keys(), vec![secret]].concat()));
    let (pem, der) = (rsa_pem(), RSA.public_key().as_ref().to_vec());
    for key in [pem.as_bytes(), pem.trim().as_bytes(), &der, &modulus(&RSA), b"a shared secret", b""] {
        for name in ["HS256", "HS384", "HS512"] {
            let token = signed_by_secret(&header(name, "rsa"), &claims(&json!({})), key);
            assert_eq!(
                refused(&authenticator, &token).await,
                "the token's signature algorithm is not supported"
            );
        }
        // The other way round: an HMAC tag instead of a signature.
        let token = signed_by_secret(&header("RS256", "rsa"), &claims(&json!({})), key);
        assert_eq!(refused(&authenticator, &token).await, "the token's signature is wrong");
    }
}

#[tokio::test]
async fn an_algorithm_goes_with_its_issuer_and_its_key() {
    let (world, authenticator) = place("");
    let sound = claims(&json!({}));
    for algorithm in ["RS384", "PS256", "ES384"] {
        let token = signed(algorithm, "rsa", &sound);
        assert_eq!(
            refused(&authenticator, &token).await,
            "the token's algorithm is not allowed for this issuer",
            "{algorithm}"
        );
    }
    let unfit = "the token's algorithm is not allowed for this issuer and this key";
    for (algorithm, kid) in [("RS256", "p256"), ("ES256", "rsa"), ("EdDSA", "p256"), ("ES256", "ed")] {
        assert_eq!(
            refused(&authenticator, &signed(algorithm, kid, &sound)).await,
            unfit,
            "{algorithm} {kid}"
        );
    }
    // A key that names its algorithm is not used with any other.
    let mut key = rsa_jwk("rsa", &RSA);
    key["alg"] = json!("PS256");
    world.page(KEYS, 200, key_set(&[key]));
    let authenticator = open(&auth(", algorithms: [RS256, PS256]"), &world);
    assert_eq!(refused(&authenticator, &signed("RS256", "rsa", &sound)).await, unfit);
    assert!(authenticator.identify_at(&bearer(&signed("PS256", "rsa", &sound)), at(0)).await.is_ok());
}

#[tokio::test]
async fn keys_out_of_the_token_and_keys_for_other_things_do_not_count() {
    let (world, authenticator) = place("");
    let sound = claims(&json!({}));
    let own = rsa_jwk("rsa", &OTHER_RSA);
    for (name, value) in [
        ("jwk", own.clone()),
        ("jku", json!("https://evil.example/jwks")),
        ("x5u", json!("https://evil.example/x")),
    ] {
        let mut head = header("RS256", "rsa");
        head[name] = value;
        let text = format!("{}.{}", encoded(head.to_string()), encoded(sound.to_string()));
        let signature = rsa_signature(&OTHER_RSA, &RSA_PKCS1_SHA256, text.as_bytes());
        let token = format!("{text}.{}", encoded(signature));
        assert_eq!(refused(&authenticator, &token).await, "the token's signature is wrong", "{name}");
    }
    assert_eq!(world.asked(), [KEYS], "nothing else was asked for");
    let odd: [(&str, Value); 5] = [
        ("use", json!("enc")),
        ("use", json!(7)),
        ("key_ops", json!(["encrypt"])),
        ("kty", json!("oct")),
        ("n", json!(encoded([255; 128]))),
    ];
    for (name, value) in odd {
        let mut key = rsa_jwk("rsa", &RSA);
        key[name] = value.clone();
        world.page(KEYS, 200, key_set(&[key, rsa_jwk("other", &OTHER_RSA)]));
        let authenticator = open(&auth(""), &world);
        let token = signed("RS256", "rsa", &sound);
        assert_eq!(
            refused(&authenticator, &token).await,
            "the token's issuer has no key for this token",
            "{name} {value}"
        );
    }
}

#[tokio::test]
async fn a_token_without_the_name_of_its_key_needs_an_issuer_with_one() {
    let (world, authenticator) = place("");
    let unnamed = |algorithm| signed_as(algorithm, &json!({ "alg": algorithm }), &claims(&json!({})));
    assert!(authenticator.identify_at(&bearer(&unnamed("RS256")), at(0)).await.is_ok());
    world.page(KEYS, 200, key_set(&[rsa_jwk("a", &RSA), rsa_jwk("b", &OTHER_RSA)]));
    let authenticator = open(&auth(""), &world);
    let which = "the token does not identify the issuer's key that signed it";
    assert_eq!(refused(&authenticator, &unnamed("RS256")).await, which);
    for kid in [json!(1), json!({}), json!("x".repeat(513))] {
        let token = signed_as("RS256", &json!({ "alg": "RS256", "kid": kid }), &claims(&json!({})));
        assert_eq!(refused(&authenticator, &token).await, "the token's header has a malformed key id");
    }
}

/// A user may be able to choose their own `sub`; only the issuer assigns ids to clients.
#[tokio::test]
async fn no_subject_is_taken_for_a_client_nor_a_client_for_a_subject() {
    let (_, authenticator) = place("");
    let mut seen = Vec::new();
    for changes in [
        json!({ "sub": "robot" }),
        json!({ "sub": null, "client_id": "robot" }),
        json!({ "sub": "-client:https://id.example.com/tenant#robot" }),
        json!({ "sub": "jwt-client:https://id.example.com/tenant#robot" }),
        json!({ "sub": "client:robot" }),
        json!({ "sub": null, "client_id": "https://id.example.com/tenant#robot" }),
    ] {
        let token = signed("RS256", "rsa", &claims(&changes));
        let id = id(&authenticator.identify_at(&bearer(&token), at(0)).await).to_owned();
        assert!(!seen.contains(&id), "{changes}: {id}");
        seen.push(id);
    }
    // Data stored for users still belongs to them.
    assert_eq!(seen[0], "jwt:https://id.example.com/tenant#robot");
    assert_eq!(seen[1], "jwt-client:https://id.example.com/tenant#robot");
    let by_azp = signed("RS256", "rsa", &claims(&json!({ "sub": null, "azp": "robot" })));
    assert_eq!(id(&authenticator.identify_at(&bearer(&by_azp), at(0)).await), seen[1]);
}

#[tokio::test]
async fn claims_that_do_not_fit_are_refused() {
    let (_, authenticator) = place("");
    let issuer = "tokens from this issuer are not accepted here";
    let audience = "the token was issued for another audience, not for this gateway";
    let subject = "the token has no subject";
    let cases = [
        (json!({ "iss": null }), issuer),
        (json!({ "iss": "https://id.example.com/tenant/" }), issuer),
        (json!({ "iss": "https://ID.example.com/tenant" }), issuer),
        (json!({ "iss": "https://id.example.com" }), issuer),
        (json!({ "iss": [ISSUER] }), issuer),
        (json!({ "aud": null }), audience),
        (json!({ "aud": [] }), audience),
        (json!({ "aud": "https://mcp.example.com" }), audience),
        (json!({ "aud": "https://mcp.example.com/mcp/" }), audience),
        (json!({ "aud": "https://mcp.example.com/mcp https://other.example" }), audience),
        (json!({ "aud": ["https://other.example", [RESOURCE]] }), audience),
        (json!({ "aud": { "a": RESOURCE } }), audience),
        (json!({ "exp": null, "iat": NOW }), "the token has no expiry time"),
        (json!({ "exp": NOW.to_string() }), "one of the token's times is not a number"),
        (json!({ "exp": -1 }), "one of the token's times is not a number"),
        (json!({ "exp": [] }), "one of the token's times is not a number"),
        (json!({ "exp": NOW - 60 }), "the token has expired"),
        (json!({ "exp": 0 }), "the token has expired"),
        (json!({ "nbf": NOW + 61 }), "the token is not valid yet"),
        (json!({ "nbf": "never" }), "one of the token's times is not a number"),
        (json!({ "sub": null }), subject),
        (json!({ "sub": "" }), subject),
        (json!({ "sub": "a\nb" }), subject),
        (json!({ "sub": 7 }), subject),
        (json!({ "sub": "x".repeat(513) }), subject),
        (json!({ "scope": 7 }), "the token's scopes are malformed"),
        (json!({ "scope": ["mcp", 7] }), "the token's scopes are malformed"),
        (
            json!({ "cnf": { "jkt": "x" } }),
            "the token is bound to a key and cannot be used as a bearer token",
        ),
    ];
    for (changes, expected) in cases {
        let token = signed("RS256", "rsa", &claims(&changes));
        assert_eq!(refused(&authenticator, &token).await, expected, "{changes}");
    }
}

#[tokio::test]
async fn clocks_may_differ_by_what_is_configured() {
    let (_, authenticator) = place("");
    for changes in [
        json!({ "exp": NOW - 59 }),
        json!({ "nbf": NOW + 60 }),
        json!({ "exp": 4e15 }),
        json!({ "exp": NOW + 1, "nbf": 0.5 }),
    ] {
        let token = signed("RS256", "rsa", &claims(&changes));
        assert!(authenticator.identify_at(&bearer(&token), at(0)).await.is_ok(), "{changes}");
    }
    let (_, strict) = place(", clockSkew: 0s");
    let token = signed("RS256", "rsa", &claims(&json!({ "exp": NOW })));
    assert_eq!(refused(&strict, &token).await, "the token has expired");
}

#[tokio::test]
async fn other_kinds_of_tokens_are_refused() {
    let (_, authenticator) = place("");
    let sound = claims(&json!({}));
    for kind in [
        json!("logout+jwt"),
        json!("secevent+jwt"),
        json!("dpop+jwt"),
        json!("id_token"),
        json!(1),
        json!(["JWT"]),
    ] {
        let head = json!({ "alg": "RS256", "kid": "rsa", "typ": kind });
        assert_eq!(
            refused(&authenticator, &signed_as("RS256", &head, &sound)).await,
            "the token is not an access token"
        );
    }
    for kind in ["jwt", "JWT", "AT+JWT", "application/at+jwt"] {
        let head = json!({ "alg": "RS256", "kid": "rsa", "typ": kind });
        assert!(
            authenticator.identify_at(&bearer(&signed_as("RS256", &head, &sound)), at(0)).await.is_ok(),
            "{kind}"
        );
    }
    for critical in [json!(["b64"]), json!([]), json!(null)] {
        let head = json!({ "alg": "RS256", "kid": "rsa", "b64": false, "crit": critical });
        let said = refused(&authenticator, &signed_as("RS256", &head, &sound)).await;
        assert_eq!(said, "the token's header has an unsupported extension");
    }
}

#[tokio::test]
async fn not_one_character_can_be_changed() {
    let (_, authenticator) = place("");
    let token = signed("ES256", "p256", &claims(&json!({})));
    assert!(authenticator.identify_at(&bearer(&token), at(0)).await.is_ok());
    for place in 0..token.len() {
        for with in [b'A', b'z', b'.', b'=', b'-'] {
            let mut altered = token.clone().into_bytes();
            if altered[place] == with {
                continue;
            }
            altered[place] = with;
            let altered = String::from_utf8(altered).unwrap();
            let said = why(authenticator.identify_at(&bearer(&altered), at(0)).await);
            assert!(!said.is_empty());
        }
        if place > 0 {
            why(authenticator.identify_at(&bearer(&token[..place]), at(0)).await);
        }
    }
    for odd in [
        format!("{token}."),
        format!("{token}.AA"),
        format!("{token}.AA.AA"),
        format!("{token}="),
        format!(".{token}"),
    ] {
        why(authenticator.identify_at(&bearer(&odd), at(0)).await);
    }
}

#[tokio::test]
async fn every_token_needs_what_is_required() {
    let world = World::new();
    world.page(KEYS, 200, key_set(&all_keys()));
    let auth = format!(
        "{{ jwt: {{ issuer: '{ISSUER}', jwks: '{KEYS}' }}, oauth: {{ resource: '{RESOURCE}', requiredScopes: [mcp, write] }} }}"
    );
    let authenticator = open(&auth, &world);
    for scope in
        [json!("mcp"), json!("mcp writes"), json!("MCP WRITE"), json!(""), json!(null), json!(["mcp write"])]
    {
        let token = signed("RS256", "rsa", &claims(&json!({ "scope": scope })));
        let denied = authenticator.identify_at(&bearer(&token), at(0)).await.unwrap_err();
        assert_eq!((denied.condition, denied.status().as_u16()), (Condition::Forbidden, 403), "{scope}");
        assert_eq!(
            denied.challenge.unwrap(),
            "Bearer error=\"insufficient_scope\", resource_metadata=\"https://mcp.example.com/.well-known/oauth-protected-resource/mcp\", scope=\"mcp write\""
        );
    }
    for changes in [
        json!({ "scope": "write mcp more" }),
        json!({ "scope": ["mcp", "write"] }),
        json!({ "scope": null, "scp": "mcp write" }),
        json!({ "scope": null, "scp": ["write", "mcp"] }),
    ] {
        let token = signed("RS256", "rsa", &claims(&changes));
        assert!(authenticator.identify_at(&bearer(&token), at(0)).await.is_ok(), "{changes}");
    }
    let asked = authenticator.identify_at(&http::HeaderMap::new(), at(0)).await.unwrap_err();
    assert!(asked.challenge.unwrap().ends_with("scope=\"mcp write\""));
}
