//! Asks a site that refused something whether it treats the account as a visitor, which explains some refusals. Each site is asked
//! once for each account. This module must not know the site's software.

use std::time::Duration;

use serde_json::Value;

use super::environment::Run;
use super::place::RequestTarget;
use super::request::AGENT;
use super::unread;
use super::visitor::VisitorCheck;
use crate::passing::HttpBody;
use crate::port::{HttpRequest, Verb};
use crate::tools::CallFailure;

/// The deadline of one question.
const PATIENCE: Duration = Duration::from_secs(10);
/// The largest answer to a question, in bytes.
const ANSWER: usize = 256 << 10;

impl Run<'_> {
    /// The failure, with a hint if the site refused the caller only because it treats the account as a visitor.
    pub(super) async fn explained(&self, base: &'static str, mut failure: CallFailure) -> CallFailure {
        if let Some(check) = self.environment.places.visitor_check(base, &failure)
            && self.is_visitor(base, check).await == Some(true)
        {
            failure.message = format!("{} ({})", failure.message, check.hint);
        }
        failure
    }

    /// Returns true if the site treats the account as a visitor; `None` if that remains unknown.
    async fn is_visitor(&self, base: &'static str, check: VisitorCheck) -> Option<bool> {
        let environment = self.environment;
        let verdicts = environment.places.visitors()?;
        let key =
            (environment.digest(&environment.places.place(base, &self.values, self.mapped).ok()?)?, base);
        if let Some(verdict) = verdicts.get(&key, environment.http.now()) {
            return verdict.is_visitor;
        }
        let mut verdict = None;
        for question in check.questions {
            let base = question.base.unwrap_or(base);
            let mut place = environment.places.place(base, &self.values, self.mapped).ok()?;
            if let Some(url) = environment.elsewhere(base, &place) {
                place.url = url;
            }
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
        verdicts.put(key, verdict, environment.http.now());
        verdict
    }

    /// The ID of the caller's account.
    async fn me(&self, place: &RequestTarget) -> Option<u64> {
        let (_, answer) = self.asked_quietly(place, place.entry.as_ref()?.url.clone()).await?;
        answer.get("id")?.as_u64()
    }

    /// The status and the content of the answer to a question; `None` if no answer arrives.
    async fn asked_quietly(&self, place: &RequestTarget, url: String) -> Option<(u16, Value)> {
        let request = HttpRequest {
            method: Verb::Get,
            url,
            headers: vec![("accept", "application/json".into()), AGENT],
            authorization: place.authorization.clone(),
            body: HttpBody::default(),
            public_only: place.public_only,
            is_fixed_host: place.is_fixed_host,
            patience: PATIENCE.min(self.environment.limits.patience),
            most: ANSWER,
        };
        let response = self.environment.sent(request).await.ok()?;
        Some((response.status, unread::json(&response.body).unwrap_or_default()))
    }
}
