//! Tests of consents that two gateways share, with an authorization server on a socket and a store in memory.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use config::OAuthClient;
use parking_lot::Mutex;
use secrecy::SecretString;
use tokio::time::sleep;
use transport::up::CredentialRefusal;

use super::grant::Grant;
use super::secret::Secret;
use super::shared::LOOK;
use super::tests::{begin, own_path, server, settings};
use super::*;

/// The store of a cluster.
#[derive(Default)]
struct MemoryStore {
    contents: Mutex<HashMap<String, (ConsentVersion, SecretString)>>,
    locks: Arc<Mutex<HashSet<String>>>,
    is_away: AtomicBool,
    refuses_writes: AtomicBool,
}

struct MemoryLock {
    name: String,
    locks: Arc<Mutex<HashSet<String>>>,
}

impl MemoryStore {
    fn there(&self) -> Result<(), String> {
        if self.is_away.load(Ordering::SeqCst) { Err("it is away".to_owned()) } else { Ok(()) }
    }
}

impl SharedConsents for MemoryStore {
    fn read<'a>(&'a self, name: &'a str) -> Sharing<'a, SharedConsent> {
        Box::pin(async move {
            self.there()?;
            let content = self.contents.lock().get(name).cloned();
            let mark = content.as_ref().map_or_else(String::new, |(version, _)| format!("{version:?}"));
            Ok(SharedConsent { mark, content })
        })
    }

    fn replace<'a>(
        &'a self,
        name: &'a str,
        mark: &'a str,
        content: (ConsentVersion, SecretString),
    ) -> Sharing<'a, bool> {
        Box::pin(async move {
            self.there()?;
            if self.refuses_writes.load(Ordering::SeqCst) {
                return Err("its memory is full".to_owned());
            }
            let mut contents = self.contents.lock();
            let known = contents.get(name).map_or_else(String::new, |(version, _)| format!("{version:?}"));
            if known != mark {
                return Ok(false);
            }
            contents.insert(name.to_owned(), content);
            Ok(true)
        })
    }

    fn lock<'a>(&'a self, name: &'a str) -> Sharing<'a, Option<Box<dyn RenewalLock>>> {
        Box::pin(async move {
            self.there()?;
            let is_first = self.locks.lock().insert(name.to_owned());
            let lock = || -> Box<dyn RenewalLock> {
                Box::new(MemoryLock { name: name.to_owned(), locks: self.locks.clone() })
            };
            Ok(is_first.then(lock))
        })
    }
}

impl RenewalLock for MemoryLock {
    fn lasts(&self, _: Duration) -> bool {
        true
    }

    fn release(&self) -> Sharing<'_, ()> {
        Box::pin(async {
            self.locks.lock().remove(&self.name);
            Ok(())
        })
    }
}

/// A gateway of the cluster, and its grant for the server.
struct SharingGateway {
    consents: Consents,
    grant: Arc<Grant>,
}

impl SharingGateway {
    fn new(url: &str, store: Option<&Arc<MemoryStore>>) -> Self {
        let consents = Consents::new(None, Duration::from_secs(5));
        consents.serve_at(Some("http://127.0.0.1:1".to_owned()));
        if let Some(store) = store {
            consents.share(store.clone(), 0);
        }
        let grant = consents.enter(&"tickets".into(), None, settings(url, OAuthClient::default()));
        Self { consents, grant }
    }

    /// Gives consent.
    async fn agree(&self, url: &str) {
        let page = self.consents.start("tickets", None).await.unwrap();
        let (_, state, cookie) = begin(&self.consents, &page);
        let query = format!("code=c&state={state}");
        self.consents.finish((&own_path(url), &query), &[&cookie]).await.unwrap();
    }

    async fn refresh(&self) -> Result<(), ConsentFault> {
        self.consents.refresh("tickets", None).await
    }

    /// The token that the gateway sends.
    fn token(&self) -> Option<String> {
        self.grant.credential().get().map(|header| header.to_str().unwrap().to_owned())
    }
}

async fn two(url: &str) -> (Arc<MemoryStore>, SharingGateway, SharingGateway) {
    let store = Arc::new(MemoryStore::default());
    let (one, other) = (SharingGateway::new(url, Some(&store)), SharingGateway::new(url, Some(&store)));
    one.agree(url).await;
    (store, one, other)
}

#[tokio::test]
async fn a_consent_that_one_gateway_got_is_used_renewed_and_withdrawn_at_the_other() {
    let url = server().await;
    let (_store, one, other) = two(&url).await;
    assert!(other.grant.follow().await && !other.grant.follow().await, "nothing is new the second time");
    assert_eq!(other.token(), one.token());
    other.refresh().await.unwrap();
    assert_ne!(other.token(), one.token());
    // The token is renewed once: the first gateway takes over what the other one got.
    one.refresh().await.unwrap();
    assert_eq!(other.token(), one.token());
    assert_eq!(other.consents.forget("tickets", None).await, Ok(true));
    assert!(one.grant.follow().await);
    assert_eq!((one.token(), one.refresh().await), (None, Err(ConsentFault::NoRefreshToken)));
}

#[tokio::test]
async fn without_the_store_tokens_are_used_but_not_renewed() {
    let url = server().await;
    let (store, one, _other) = two(&url).await;
    let before = one.token();
    store.is_away.store(true, Ordering::SeqCst);
    let Err(ConsentFault::RefreshFailed { why, for_good: false }) = one.refresh().await else {
        panic!("it was renewed")
    };
    assert!(why.contains("it is away"), "{why}");
    assert_eq!(one.token(), before);
    // When the server refuses the old token, the error contains the reason.
    let refusal = CredentialRefusal {
        status: 401,
        challenge: "Bearer".to_owned(),
        body: String::new(),
        shown: one.grant.credential().get(),
        is_from_near: true,
    };
    one.grant.known.lock().taken = None;
    assert!(!one.grant.answer(&refusal).await);
    assert!(one.grant.describe(&refusal, "401").contains("it is away") && !one.grant.is_wanted());
    assert_eq!(one.token(), before, "the tokens stay");
    store.is_away.store(false, Ordering::SeqCst);
    one.refresh().await.unwrap();
    assert_ne!(one.token(), before);
    assert!(store.locks.lock().is_empty());
}

#[tokio::test]
async fn a_gateway_waits_for_the_one_that_renews_and_takes_its_tokens() {
    let url = server().await;
    let (store, one, other) = two(&url).await;
    other.grant.follow().await;
    store.locks.lock().insert(one.grant.shared_name());
    let renewing = async {
        sleep(LOOK + LOOK / 2).await;
        let mut held = one.grant.held().unwrap();
        held.tokens.access = Secret::new("from-one");
        one.grant.store(held).await;
    };
    let (renewed, ()) = tokio::join!(other.refresh(), renewing);
    assert_eq!((renewed, other.token().as_deref()), (Ok(()), Some("Bearer from-one")));
}

#[tokio::test]
async fn what_the_store_lost_or_did_not_get_is_written_again() {
    let url = server().await;
    let (store, one, other) = two(&url).await;
    let old = store.contents.lock().clone();
    one.refresh().await.unwrap();
    store.contents.lock().clear();
    assert!(!one.grant.follow().await);
    assert!(other.grant.follow().await && other.token() == one.token());
    // The tokens of before the renewal no longer work, so nobody takes them over.
    store.contents.lock().clone_from(&old);
    assert!(!other.grant.follow().await && other.token() == one.token());
    // A withdrawal without the store reaches the others later.
    store.is_away.store(true, Ordering::SeqCst);
    assert_eq!(one.consents.forget("tickets", None).await, Ok(true));
    assert!(one.grant.is_unshared());
    store.is_away.store(false, Ordering::SeqCst);
    one.grant.follow().await;
    assert!(!one.grant.is_unshared() && other.grant.follow().await);
    assert_eq!(other.token(), None);
}

#[tokio::test]
async fn nobody_renews_the_old_tokens_while_the_others_lack_the_new_ones() {
    let url = server().await;
    let (store, one, other) = two(&url).await;
    other.grant.follow().await;
    store.refuses_writes.store(true, Ordering::SeqCst);
    let before = one.token();
    one.refresh().await.unwrap();
    assert!(one.token() != before && one.grant.is_unshared(), "the new tokens are used here");
    assert!(store.locks.lock().contains(&one.grant.shared_name()), "the lock stays");
    store.refuses_writes.store(false, Ordering::SeqCst);
    let (renewed, _) = tokio::join!(other.refresh(), one.grant.follow());
    assert_eq!((renewed, other.token()), (Ok(()), one.token()));
    assert!(!one.grant.is_unshared());
}

#[tokio::test]
async fn a_gateway_alone_stores_no_versions() {
    let url = server().await;
    let alone = SharingGateway::new(&url, None);
    alone.agree(&url).await;
    alone.refresh().await.unwrap();
    assert_eq!(alone.grant.held().unwrap().version, None);
    assert_eq!(alone.consents.forget("tickets", None).await, Ok(true));
    assert!(alone.grant.around.kept.text(&alone.grant.place()).await.is_none());
}

#[test]
fn the_process_in_which_a_consent_began_is_known() {
    let text = "x".repeat(43);
    let numbered = consent_request::numbered(0xab, &text);
    assert_eq!(consent_request::process_of(Some(&numbered), ""), Some(0xab));
    assert_eq!(consent_request::process_of(None, &format!("code=c&state={numbered}")), Some(0xab));
    assert_eq!(consent_request::numbered(0, &text), text);
    for other in ["", "zz", &text, &format!("{numbered}x"), &format!("+00000ab{text}"), "ééééé"] {
        assert_eq!(consent_request::process_of(Some(other), ""), None, "{other}");
    }
}
