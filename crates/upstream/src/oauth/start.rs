//! The start of a consent. A page of the gateway's own explains what the consent is for, and sets a cookie that
//! identifies the browser when it returns. An attacker who sends the page's address to a victim therefore cannot
//! make the victim complete the attacker's flow. This module must not know the page's form, or how callers
//! authenticate.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::Uri;
use tokio::time::Instant;

use super::caller_id::CallerId;
use super::consent_request::{ConsentRequest, LIFE};
use super::grant::Grant;
use super::{Consents, Page};

/// The number of failed proofs of ownership after which a page is closed.
const DOUBTS: u32 = 5;
/// The number of consent pages that may be open for one server.
const PAGES: usize = 4;

/// A consent that is about to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsentStart {
    /// The server that requires the consent.
    pub server: Arc<str>,
    /// The future owner of the consent; `None` if all callers share it.
    pub caller: Option<CallerId>,
    /// The host of the authorization server.
    pub at: String,
    /// The scopes that the user is asked to allow, if they are known.
    pub scopes: Vec<String>,
}

/// The redirect and the secret cookie for the browser that begins a consent.
pub struct ConsentRedirect {
    /// The authorization server's page.
    pub url: String,
    /// The value of `Set-Cookie`.
    pub cookie: String,
}

impl Consents {
    /// Returns the consent that begins at this address; `None` if there is no such consent, or if it has expired.
    pub fn begun(&self, entry: &str) -> Option<ConsentStart> {
        self.with(entry, |grant, asked| {
            let url: Option<Uri> = asked.url.parse().ok();
            let at = url.and_then(|url| url.authority().map(ToString::to_string)).unwrap_or_default();
            let (server, caller) = (grant.server.clone(), grant.caller.clone());
            ConsentStart { server, caller, at, scopes: asked.wanted.scopes.clone() }
        })
    }

    /// Lets the browser continue to the authorization server.
    pub fn go_on(&self, entry: &str) -> Option<ConsentRedirect> {
        let is_secure = self.around.is_secure();
        self.with(entry, |_, asked| {
            let (name, mark) = (asked.cookie(is_secure), asked.mark.expose());
            let secure = if is_secure { "; Secure" } else { "" };
            let life = LIFE.as_secs();
            let cookie = format!("{name}={mark}; Path=/; Max-Age={life}; HttpOnly; SameSite=Lax{secure}");
            ConsentRedirect { url: asked.url.clone(), cookie }
        })
    }

    /// Records a failed proof that the user owns the consent. After several failures, the page is closed.
    pub fn doubt(&self, entry: &str) {
        self.with(entry, |_, asked| asked.doubts += 1);
    }

    fn with<T>(&self, entry: &str, then: impl FnOnce(&Grant, &mut ConsentRequest) -> T) -> Option<T> {
        for grant in self.all().into_iter().filter(|grant| !grant.has_left()) {
            let mut known = grant.known.lock();
            let now = Instant::now();
            known.asked.retain(|asked| !asked.is_over(now) && asked.doubts < DOUBTS);
            if let Some(asked) = known.asked.iter_mut().find(|asked| asked.begins_at(entry)) {
                return Some(then(&grant, asked));
            }
        }
        None
    }
}

impl Grant {
    /// Returns the page on which a user gives consent, if consent is needed.
    pub fn page(&self) -> Option<Page> {
        let now = Instant::now();
        let mut known = self.known.lock();
        let wanted = known.wanted.clone().filter(|_| !self.has_left())?;
        let start = self.around.start()?;
        known.asked.retain(|asked| !asked.is_over(now));
        let page = |asked: &ConsentRequest| {
            let url = format!("{start}{}", asked.entry.expose());
            Page { url, name: asked.name.clone() }
        };
        if let Some(asked) = known.asked.iter().rev().find(|asked| asked.serves(&wanted, now)) {
            return Some(page(asked));
        }
        let asked = ConsentRequest::new(wanted, now, self.around.number.load(Ordering::Relaxed))
            .inspect_err(|why| tracing::error!(why))
            .ok()?;
        if known.asked.len() >= PAGES {
            known.asked.remove(0);
        }
        known.asked.push(asked);
        known.asked.last().map(page)
    }
}

impl Page {
    /// Returns the last segment of the page's address, which identifies the request.
    #[cfg(test)]
    pub(super) fn entry(&self) -> &str {
        self.url.rsplit('/').next().unwrap_or_default()
    }
}
