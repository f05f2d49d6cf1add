//! Asks a site for its APIs when a route is missing. The site's answer is valid for a short time. This module must
//! not know the meaning of the APIs' names.

use serde_json::Value;

use super::environment::{RestEnvironment, Run};
use super::offered::{ASKED, COUNTS, Namespaces};
use super::place::{ApiProbe, RequestTarget};
use super::request::AGENT;
use crate::passing::HttpBody;
use crate::port::{HttpRequest, Verb};
use crate::tools::CallFailure;

/// The largest number of namespaces of one site. `LONGEST` is the largest size of a namespace, in bytes.
const MOST_NAMES: usize = 500;
const LONGEST: usize = 100;

impl RestEnvironment {
    /// The new URL of a target, if its site has recently reported that the API moved.
    pub(super) fn elsewhere(&self, base: &str, place: &RequestTarget) -> Option<String> {
        let site = &place.entry.as_ref()?.url;
        let names = self.places.offered()?.get(site, self.http.now(), COUNTS)?;
        self.places.moved(base, &names, &place.url)
    }
}

impl Run<'_> {
    /// Repeats a request at the new address, if the site reports that its API moved. The first request found no route,
    /// so it had no effect.
    ///
    /// # Errors
    /// Returns the failure to report, whose wording depends on the APIs that the site reports.
    pub(super) async fn probed(
        &self,
        base: &str,
        failure: CallFailure,
        request: HttpRequest,
    ) -> Result<HttpRequest, CallFailure> {
        let Some(probe) = self.environment.places.probe(base, &failure) else { return Err(failure) };
        let Some(there) = self.names(probe).await else { return Err(failure) };
        if let Some(url) = self.environment.places.moved(base, &there, &request.url) {
            return Ok(HttpRequest { url, ..request });
        }
        let has = there.iter().any(|name| probe.namespaces.contains(&name.as_str()));
        let (condition, message) = if has { (failure.condition, probe.there) } else { probe.missing };
        Err(CallFailure { condition, message: message.to_owned(), detail: failure.detail })
    }

    /// The namespaces that the site reports.
    async fn names(&self, probe: ApiProbe) -> Option<Namespaces> {
        let (base, route) = probe.ask;
        let environment = self.environment;
        let place = environment.places.place(base, &self.values, self.mapped).ok()?;
        let kept = environment.places.offered().zip(place.entry.as_ref());
        if let Some((offered, entry)) = kept
            && let Some(names) = offered.get(&entry.url, environment.http.now(), ASKED)
        {
            return Some(names);
        }
        let request = HttpRequest {
            method: Verb::Get,
            url: format!("{}{route}", place.url),
            headers: vec![("accept", "application/json".into()), AGENT],
            authorization: place.authorization.clone(),
            body: HttpBody::default(),
            public_only: place.public_only,
            is_fixed_host: place.is_fixed_host,
            patience: environment.limits.patience,
            most: environment.limits.answer,
        };
        let response = environment.sent(request).await.ok()?;
        let answer: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let names = answer.get("namespaces").and_then(Value::as_array)?.iter().filter_map(Value::as_str);
        let names: Namespaces =
            names.filter(|name| name.len() <= LONGEST).take(MOST_NAMES).map(str::to_owned).collect();
        if let Some((offered, entry)) = kept {
            offered.put(&entry.url, environment.http.now(), names.clone());
        }
        Some(names)
    }
}
