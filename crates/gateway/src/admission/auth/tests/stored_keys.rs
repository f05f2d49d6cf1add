//! API keys: first in memory, then in the store.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use engine::access::Scheme;
use engine::fault::Condition;
use http::HeaderMap;
use store::keys::{KeyText, Keys, NewKey};

use super::super::Moment;
use super::super::keys::{KeyBook, StoredKeys};
use super::rig::{Book, NOW, World, at, basic, bearer, id, open_with, why};
use super::users::hash;

fn place() -> (Arc<Book>, super::super::Authenticator) {
    let book = Arc::new(Book::default());
    let authenticator = open_with("{ keys: true }", &World::new(), &book);
    (book, authenticator)
}

#[tokio::test]
async fn a_key_opens_its_profiles() {
    let (book, authenticator) = place();
    let key = book.add("laptop", |key| key.profiles = Some(vec!["editors".to_owned()]));
    let identified = authenticator.identify_at(&bearer(&key), at(0)).await;
    assert_eq!(id(&identified), format!("key:{}", &key[..12]));
    let principal = identified.unwrap();
    assert_eq!((principal.scheme, principal.user.as_deref()), (Scheme::Key, Some("laptop")));
    assert!(principal.may_enter("editors") && !principal.may_enter("default"));
    let all = book.add("all", |_| {});
    assert!(authenticator.identify_at(&bearer(&all), at(0)).await.unwrap().may_enter("default"));
}

#[tokio::test]
async fn what_is_no_key_is_not_looked_up() {
    let (book, authenticator) = place();
    let key = book.add("laptop", |_| {});
    let mut mistyped = key.clone().into_bytes();
    let place = (10..30).find(|place| mistyped[*place] != mistyped[place + 1]).unwrap();
    mistyped.swap(place, place + 1);
    let mistyped = String::from_utf8(mistyped).unwrap();
    let form = "not a valid API key: it is mistyped or truncated";
    for other in [&key[..key.len() - 1], &mistyped, "dgm_", "dgm_x"] {
        assert_eq!(why(authenticator.identify_at(&bearer(other), at(0)).await), form, "{other}");
    }
    assert_eq!(why(authenticator.identify_at(&bearer("other"), at(0)).await), "unknown token");
    assert_eq!(book.looks.load(Ordering::SeqCst), 0);
    let unknown = KeyText::generate([7; 32]);
    assert_eq!(why(authenticator.identify_at(&bearer(unknown.expose()), at(0)).await), "unknown API key");
}

#[tokio::test]
async fn a_key_ends_at_its_time_and_soon_after_it_is_revoked() {
    let (book, authenticator) = place();
    let key = book.add("laptop", |key| key.expires_ms = Some((NOW + 100) * 1000));
    let ask = |second| {
        let (authenticator, key) = (&authenticator, &key);
        async move { authenticator.identify_at(&bearer(key), at(second)).await }
    };
    assert!(ask(0).await.is_ok() && ask(4).await.is_ok());
    assert_eq!(book.looks.load(Ordering::SeqCst), 1, "it is remembered");
    assert!(ask(98).await.is_ok() && ask(99).await.is_ok());
    assert_eq!(why(ask(100).await), "this API key has expired");
    book.change(|key| key.expires_ms = None);
    assert!(ask(101).await.is_ok());
    book.change(|key| key.revoked_ms = Some(0));
    assert!(ask(105).await.is_ok(), "known for five seconds");
    assert_eq!(why(ask(106).await), "this API key was revoked");
}

#[tokio::test]
async fn only_what_nobody_can_guess_was_good_and_still_lasts_is_familiar() {
    const TOKEN: &str = "a-token-that-somebody-chose";
    let book = Arc::new(Book::default());
    let auth = format!("{{ keys: true, bearer: {TOKEN}, users: {{ ann: '{}' }} }}", hash("battery staple"));
    let authenticator = open_with(&auth, &World::new(), &book);
    let (key, other) = (book.add("laptop", |_| {}), book.add("other", |_| {}));
    let over = book.add("over", |key| key.expires_ms = Some(1));
    let before = Moment { since_start: Duration::ZERO, unix_ms: 0 };
    for shown in [bearer(&key), bearer(&over), bearer(TOKEN), basic("ann", "battery staple")] {
        assert!(!authenticator.is_familiar(&shown), "nobody has looked at it");
        assert!(authenticator.identify_at(&shown, before).await.is_ok());
    }
    assert!(authenticator.is_familiar(&bearer(&key)));
    assert!(!authenticator.is_familiar(&bearer(&over)), "its time is over");
    assert!(!authenticator.is_familiar(&bearer(&other)), "nobody has looked at it");
    for guess in [bearer(TOKEN), basic("ann", "battery staple"), HeaderMap::new()] {
        assert!(!authenticator.is_familiar(&guess), "it may be guessed");
    }
    authenticator.identify_at(&bearer(&key), at(100)).await.unwrap();
    book.change(|key| key.revoked_ms = Some(0));
    authenticator.look_again().await;
    assert!(!authenticator.is_familiar(&bearer(&key)), "it was revoked");
}

#[tokio::test]
async fn a_broken_store_is_no_fault_of_the_key() {
    let (book, authenticator) = place();
    let key = book.add("laptop", |_| {});
    *book.broken.lock() = Some("the disk is full".to_owned());
    let denied = authenticator.identify_at(&bearer(&key), at(0)).await.unwrap_err();
    assert_eq!((denied.condition, denied.status().as_u16()), (Condition::AuthUnavailable, 503));
    assert_eq!(denied.message, "API keys cannot be looked up at the moment", "its reason is for the log");
    *book.broken.lock() = None;
    assert!(authenticator.identify_at(&bearer(&key), at(0)).await.is_ok());
}

#[tokio::test]
async fn keys_of_the_store_are_found_and_their_use_is_written() {
    let folder = tempfile();
    let text = KeyText::generate([9; 32]);
    let mut keys = Keys::open(&folder).unwrap();
    let new = NewKey { name: "laptop".to_owned(), profiles: vec!["default".to_owned()], expires_ms: None };
    keys.add(&new, &text, NOW * 1000).unwrap();
    let book = StoredKeys::new(Keys::open(&folder).unwrap());
    let found = book.look_up(&text, NOW * 1000 + 5).unwrap().unwrap();
    assert_eq!((found.name.as_str(), found.last_used_ms), ("laptop", None));
    assert_eq!(book.look_up(&KeyText::generate([1; 32]), 0), Ok(None));
    // Another thread writes this: the dropping thread does not wait for a disk.
    drop(book);
    let written = async {
        while keys.find(&text.digest()).unwrap().unwrap().last_used_ms != Some(NOW * 1000 + 5) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), written).await.unwrap();
    drop(keys);
    std::fs::remove_dir_all(folder).unwrap();
}

fn tempfile() -> std::path::PathBuf {
    let name = format!("dragoman-auth-{}-{}", std::process::id(), getrandom::u64().unwrap());
    std::env::temp_dir().join(name)
}
