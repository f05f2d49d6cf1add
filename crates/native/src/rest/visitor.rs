//! Finds out whether a site treats an account as a visitor, which explains some refusals. Each site is asked once for each
//! account; the verdict is valid for a while. This module must not know the site's software.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use super::place::RequestTarget;
use super::request::AGENT;
use super::unread;
use super::world::Run;
use crate::port::{HttpRequest, Verb};
use crate::tools::Trouble;

/// The time for which a verdict is valid: the site's owner may repair the site meanwhile.
const COUNTS: Duration = Duration::from_mins(10);
/// The largest number of remembered verdicts.
const MOST: usize = 4096;
/// The deadline of one question.
const PATIENCE: Duration = Duration::from_secs(10);
/// The largest answer to a question, in bytes.
const ANSWER: usize = 256 << 10;

/// The questions that show whether a site treats the caller as a visitor, and the hint for callers whom it does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VisitorCheck {
    /// The questions, in order; the first one with a verdict counts.
    pub(crate) questions: &'static [VisitorQuestion],
    /// The hint to append to a refusal.
    pub(crate) hint: &'static str,
}

/// One question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VisitorQuestion {
    /// The route, with `{me}` for the ID of the caller's account.
    pub(crate) route: &'static str,
    /// Reads the verdict from the status and the answer; `None` if they do not show it.
    pub(crate) judge: fn(u16, &Value) -> Option<bool>,
}

/// The verdicts by site and account.
#[derive(Default)]
pub(crate) struct VisitorVerdicts(Mutex<HashMap<[u8; 32], Verdict>>);

#[derive(Clone, Copy)]
struct Verdict {
    /// `None` if the site's answers did not show it.
    is_visitor: Option<bool>,
    until: Duration,
}

impl VisitorVerdicts {
    fn get(&self, digest: &[u8; 32], now: Duration) -> Option<Verdict> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(digest).filter(|verdict| verdict.until > now).copied()
    }

    fn put(&self, digest: [u8; 32], is_visitor: Option<bool>, now: Duration) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST && !known.contains_key(&digest) {
            known.retain(|_, verdict| verdict.until > now);
            // Forgetting the verdicts costs only a few more questions.
            if known.len() >= MOST {
                known.clear();
            }
        }
        known.insert(digest, Verdict { is_visitor, until: now + COUNTS });
    }
}

impl Run<'_> {
    /// The failure, with a hint if the site refused the caller only because it treats the account as a visitor.
    pub(super) async fn explained(&self, base: &'static str, mut trouble: Trouble) -> Trouble {
        if let Some(check) = self.world.places.visitor_check(base, &trouble)
            && self.is_visitor(base, check).await == Some(true)
        {
            trouble.message = format!("{} ({})", trouble.message, check.hint);
        }
        trouble
    }

    /// Whether the site treats the account as a visitor; `None` if that remains unknown.
    async fn is_visitor(&self, base: &'static str, check: VisitorCheck) -> Option<bool> {
        let world = self.world;
        let verdicts = world.places.visitors()?;
        let mut place = world.places.place(base, &self.values, self.mapped).ok()?;
        let digest = world.digest(&place)?;
        if let Some(verdict) = verdicts.get(&digest, world.http.now()) {
            return verdict.is_visitor;
        }
        if let Some(url) = world.elsewhere(base, &place) {
            place.url = url;
        }
        let mut verdict = None;
        for question in check.questions {
            let route = if question.route.contains("{me}") {
                let Some(me) = self.me(&place).await else { break };
                question.route.replace("{me}", &me.to_string())
            } else {
                question.route.to_owned()
            };
            let Some((status, answer)) = self.asked_quietly(&place, format!("{}{route}", place.url)).await
            else {
                break;
            };
            verdict = (question.judge)(status, &answer);
            if verdict.is_some() {
                break;
            }
        }
        verdicts.put(digest, verdict, world.http.now());
        verdict
    }

    /// The ID of the caller's account.
    async fn me(&self, place: &RequestTarget) -> Option<u64> {
        let (_, answer) = self.asked_quietly(place, place.entry.as_ref()?.url.clone()).await?;
        answer.get("id")?.as_u64()
    }

    /// The status of the answer to a question, and the answer; `None` if none arrives.
    async fn asked_quietly(&self, place: &RequestTarget, url: String) -> Option<(u16, Value)> {
        let request = HttpRequest {
            method: Verb::Get,
            url,
            headers: vec![("accept", "application/json".into()), AGENT],
            authorization: place.authorization.clone(),
            body: Bytes::new(),
            public_only: place.public_only,
            is_fixed_host: place.is_fixed_host,
            patience: PATIENCE.min(self.world.limits.patience),
            most: ANSWER,
        };
        let response = self.world.sent(request).await.ok()?;
        Some((response.status, unread::json(&response.body).unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_kept_for_a_time_and_for_so_many() {
        let verdicts = VisitorVerdicts::default();
        let now = Duration::from_secs(7);
        verdicts.put([1; 32], Some(true), now);
        verdicts.put([2; 32], None, now);
        let known = |digest, now| verdicts.get(&[digest; 32], now).map(|verdict| verdict.is_visitor);
        assert_eq!(known(1, now), Some(Some(true)));
        assert_eq!(known(2, now), Some(None), "no verdict is remembered as well");
        assert_eq!((known(1, now + COUNTS), known(3, now)), (None, None));
        for number in 0..2 * MOST {
            let mut digest = [0; 32];
            digest[..8].copy_from_slice(&number.to_be_bytes());
            verdicts.put(digest, Some(false), now);
        }
        assert!(verdicts.0.lock().unwrap().len() <= MOST);
    }
}
