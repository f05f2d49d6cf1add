//! Where a consent begins: on a page of the gateway's own, which says what it is for, and leaves a mark in the browser by
//! which it is known again when it comes back. Whoever sends its address to another has that one sign in for nobody else
//! than it says. It must not know how the page looks, nor how callers show who they are.

use std::sync::Arc;

use http::Uri;

use super::asked::{Asked, LIFE};
use super::grant::Grant;
use super::whose::Whose;
use super::{Consents, Page};

/// The rate at which somebody may fail to show who they are.
const DOUBTS: u32 = 5;

/// A consent that somebody is about to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    /// The server that wants it.
    pub server: Arc<str>,
    /// Whose it will be; all callers' without.
    pub whose: Option<Whose>,
    /// The host of the authorization server.
    pub at: String,
    /// What the user is asked to allow, where that is said.
    pub scopes: Vec<String>,
}

/// What the browser of whoever may begin it is given.
pub struct Onward {
    /// The authorization server's page.
    pub url: String,
    /// The value of `Set-Cookie`.
    pub cookie: String,
}

impl Consents {
    /// The consent that begins at this address; `None` where none does, or no longer.
    pub fn begun(&self, entry: &str) -> Option<Begun> {
        self.with(entry, |grant, asked| {
            let url: Option<Uri> = asked.url.parse().ok();
            let at = url.and_then(|url| url.authority().map(ToString::to_string)).unwrap_or_default();
            let (server, whose) = (grant.server.clone(), grant.whose.clone());
            Begun { server, whose, at, scopes: asked.wanted.scopes.clone() }
        })
    }

    /// Sends on whoever may begin it.
    pub fn go_on(&self, entry: &str) -> Option<Onward> {
        let is_secure = self.around.is_secure();
        self.with(entry, |_, asked| {
            let (name, mark) = (asked.cookie(is_secure), asked.mark.expose());
            let secure = if is_secure { "; Secure" } else { "" };
            let life = LIFE.as_secs();
            let cookie = format!("{name}={mark}; Path=/; Max-Age={life}; HttpOnly; SameSite=Lax{secure}");
            Onward { url: asked.url.clone(), cookie }
        })
    }

    /// Notes that somebody did not show that they are the one whose it is. Who keeps trying closes it.
    pub fn doubt(&self, entry: &str) {
        self.with(entry, |_, asked| asked.doubts += 1);
    }

    fn with<T>(&self, entry: &str, then: impl FnOnce(&Grant, &mut Asked) -> T) -> Option<T> {
        for grant in self.all().into_iter().filter(|grant| !grant.has_left()) {
            let mut known = grant.known.lock();
            let now = tokio::time::Instant::now();
            known.asked.retain(|asked| !asked.is_over(now) && asked.doubts < DOUBTS);
            if let Some(asked) = known.asked.iter_mut().find(|asked| asked.begins_at(entry)) {
                return Some(then(&grant, asked));
            }
        }
        None
    }
}

impl Page {
    /// The end of its address, by which it is found.
    #[cfg(test)]
    pub(super) fn entry(&self) -> &str {
        self.url.rsplit('/').next().unwrap_or_default()
    }
}
