//! An authenticator in a simulated world: other servers answer as the test specifies, keys are in memory, and there
//! is no clock.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use config::{Auth, Lookup};
use engine::access::Principal;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, StatusCode};
use parking_lot::Mutex;
use store::keys::{ApiKey, KeyText};
use tokio::sync::Semaphore;

use super::super::Moment;
use super::super::authenticator::Authenticator;
use super::super::denied::Denied;
use super::super::keys::KeyBook;
use upstream::web::{Answer, Answering, GetRequest, Web, WebError};

/// 2026-11-22T06:00:00Z.
pub(super) const NOW: u64 = 1_795_327_200;

/// The moment `seconds` after the start.
pub(super) fn at(seconds: u64) -> Moment {
    Moment { since_start: Duration::from_secs(seconds), unix_ms: (NOW + seconds) * 1000 }
}

/// The simulated other servers.
pub(super) struct World {
    pages: Mutex<HashMap<String, (StatusCode, Bytes)>>,
    /// Requested URLs with the values of `Authorization`, in order.
    asked: Mutex<Vec<(String, Option<HeaderValue>)>>,
    /// Every answer takes one of these permits.
    answers: Semaphore,
    waiting: AtomicUsize,
}

impl World {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            pages: Mutex::default(),
            asked: Mutex::default(),
            answers: Semaphore::new(1_000_000),
            waiting: AtomicUsize::new(0),
        })
    }

    /// From now on, `url` answers with this status and body.
    pub(super) fn page(&self, url: &str, status: u16, body: impl Into<String>) {
        let page = (StatusCode::from_u16(status).unwrap(), Bytes::from(body.into()));
        self.pages.lock().insert(url.to_owned(), page);
    }

    /// From now on, nobody answers at `url`.
    pub(super) fn gone(&self, url: &str) {
        self.pages.lock().remove(url);
    }

    /// The requests since the last call.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().drain(..).map(|(url, _)| url).collect()
    }

    /// The credential of the last request.
    pub(super) fn shown(&self) -> Option<HeaderValue> {
        self.asked.lock().last().and_then(|(_, shown)| shown.clone())
    }

    /// From now on, answers wait for [`World::answer`].
    pub(super) fn hold(&self) {
        self.answers.forget_permits(1_000_000);
    }

    /// Releases this many answers.
    pub(super) fn answer(&self, count: usize) {
        self.answers.add_permits(count);
    }

    /// Waits until this many requests are open.
    pub(super) async fn until_waiting(&self, count: usize) {
        while self.waiting.load(Ordering::SeqCst) < count {
            tokio::task::yield_now().await;
        }
    }
}

impl Web for World {
    fn get<'a>(&'a self, get: GetRequest<'a>) -> Answering<'a> {
        Box::pin(async move {
            let url = get.url.to_string();
            self.asked.lock().push((url.clone(), get.authorization));
            self.waiting.fetch_add(1, Ordering::SeqCst);
            let counted = Counted(&self.waiting);
            self.answers.acquire().await.unwrap().forget();
            drop(counted);
            let page = self.pages.lock().get(&url).cloned();
            let (status, body) = page.ok_or_else(|| WebError(format!("nobody is at {url}")))?;
            Ok(Answer { status, retry_after: None, body })
        })
    }
}

struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// An in-memory store of keys.
#[derive(Default)]
pub(super) struct Book {
    keys: Mutex<HashMap<[u8; 32], ApiKey>>,
    pub(super) looks: AtomicUsize,
    pub(super) broken: Mutex<Option<String>>,
}

impl Book {
    /// Adds a new key and returns its text.
    pub(super) fn add(&self, name: &str, change: impl FnOnce(&mut ApiKey)) -> String {
        let mut random = [0; 32];
        getrandom::fill(&mut random).unwrap();
        let text = KeyText::generate(random);
        let mut key = ApiKey {
            id: 1,
            name: name.to_owned(),
            prefix: text.prefix().to_owned(),
            profiles: None,
            created_ms: 0,
            expires_ms: None,
            last_used_ms: None,
            revoked_ms: None,
        };
        change(&mut key);
        self.keys.lock().insert(*text.digest().as_bytes(), key);
        text.expose().to_owned()
    }

    /// Changes all keys.
    pub(super) fn change(&self, change: impl Fn(&mut ApiKey)) {
        self.keys.lock().values_mut().for_each(change);
    }
}

impl KeyBook for Book {
    fn look_up(&self, text: &KeyText, _now_ms: u64) -> Result<Option<ApiKey>, String> {
        self.looks.fetch_add(1, Ordering::SeqCst);
        if let Some(why) = self.broken.lock().clone() {
            return Err(why);
        }
        Ok(self.keys.lock().get(text.digest().as_bytes()).cloned())
    }

    fn revoked(&self) -> Result<Option<Vec<String>>, String> {
        let keys = self.keys.lock();
        let revoked = keys.values().filter(|key| key.revoked_ms.is_some());
        Ok(Some(revoked.map(|key| key.prefix.clone()).collect()))
    }
}

/// The `auth` section of a configuration.
pub(super) fn config(auth: &str) -> Auth {
    let text = format!("auth: {auth}\n");
    let lookup = Lookup { env: &|_| None, file: &|_| Err("none".to_owned()) };
    config::load(&text, "test", &lookup).unwrap().config.auth
}

/// An authenticator configured by `auth`.
pub(super) fn open(auth: &str, world: &Arc<World>) -> Authenticator {
    Authenticator::new(&config(auth), (None, None), world.clone()).unwrap()
}

/// An authenticator with keys.
pub(super) fn open_with(auth: &str, world: &Arc<World>, book: &Arc<Book>) -> Authenticator {
    Authenticator::new(&config(auth), (Some(book.clone()), None), world.clone()).unwrap()
}

/// The headers of a request with the `Authorization` value `value`.
pub(super) fn shows(value: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, HeaderValue::from_str(value).unwrap());
    headers
}

/// The headers of a request with a bearer token.
pub(super) fn bearer(token: &str) -> HeaderMap {
    shows(&format!("Bearer {token}"))
}

/// The headers of a request with a name and a password.
pub(super) fn basic(user: &str, password: &str) -> HeaderMap {
    use base64::Engine as _;
    let pair = base64::prelude::BASE64_STANDARD.encode(format!("{user}:{password}"));
    shows(&format!("Basic {pair}"))
}

/// The id of the admitted principal.
pub(super) fn id(identified: &Result<Arc<Principal>, Denied>) -> &str {
    &identified.as_ref().expect("let in").id
}

/// The refusal's message.
pub(super) fn why(identified: Result<Arc<Principal>, Denied>) -> String {
    identified.expect_err("refused").message
}
