//! Checks that a site knows the credentials before they are used. On many routes, a site returns its public data to
//! unknown callers, with a success status, so a wrong password would look like an empty site. The result of the
//! check is valid for a short time. This module must not know what a site is.

use std::time::Duration;

use secrecy::ExposeSecret as _;

use super::environment::{RestEnvironment, unreached};
use super::permalinks;
use super::place::RequestTarget;
use super::request::AGENT;
use super::unread::{self, UnreadableKind};
use super::unreadable;
use crate::passing::HttpBody;
use crate::port::{HttpRequest, HttpResponse, Verb};
use crate::tools::{CallFailure, Condition};

/// The time during which a site is not asked again after it accepted the credentials.
const COUNTS: Duration = Duration::from_mins(1);
/// The time during which a site is not asked again after an unclear answer: some sites refuse this request to everyone.
const COUNTS_IN_DOUBT: Duration = Duration::from_secs(10);
/// The deadline of the request that checks the credentials.
const PATIENCE: Duration = Duration::from_secs(20);
/// The largest answer, in bytes.
const ANSWER: usize = 64 << 10;

impl RestEnvironment {
    /// Asks the target to accept these credentials, unless it accepted them recently.
    ///
    /// # Errors
    /// Fails if the target refuses them, or cannot be reached.
    pub(super) async fn let_in(&self, place: &RequestTarget) -> Result<(), CallFailure> {
        let (Some(entry), Some(digest)) = (&place.entry, self.digest(place)) else { return Ok(()) };
        let Some(known) = self.places.known() else { return Ok(()) };
        if known.is(&digest, self.http.now()) {
            return Ok(());
        }
        let request = HttpRequest {
            method: Verb::Get,
            url: entry.url.clone(),
            headers: vec![("accept", "application/json".into()), AGENT],
            authorization: place.authorization.clone(),
            body: HttpBody::default(),
            public_only: place.public_only,
            is_fixed_host: place.is_fixed_host,
            patience: PATIENCE.min(self.limits.patience),
            most: ANSWER,
        };
        let response = self.entered(request).await?;
        // A page for people does not show whether the site knows the account.
        if response.is_success()
            && unread::json(&response.body).is_none()
            && unread::kind(&response.body) == UnreadableKind::Page
        {
            return Err(unreadable::failure(&*self.places, &response.body, false));
        }
        let counts = if response.is_success() { COUNTS } else { COUNTS_IN_DOUBT };
        if response.status == 401 {
            return Err(self.places.failure(entry.base, &response));
        }
        let now = self.http.now();
        known.put(digest, now, now + counts);
        Ok(())
    }

    /// The answer to the request that checks credentials. If the site has no path for the route, the route is sent
    /// as a parameter.
    ///
    /// # Errors
    /// Fails if the target cannot be reached, or another site answers there.
    async fn entered(&self, request: HttpRequest) -> Result<HttpResponse, CallFailure> {
        let (spare, url) = (request.clone(), request.url.clone());
        let response = self.sent(request).await.map_err(|fault| unreached(&fault, false))?;
        let is_json =
            |response: &HttpResponse| unread::json(&response.body).is_some_and(|body| !body.is_null());
        let may_lack_paths =
            matches!(response.status, 200 | 301 | 302 | 307 | 308 | 404) && !is_json(&response);
        let Some(sites) = self.places.plain_sites().filter(|_| may_lack_paths) else { return Ok(response) };
        let Some(by_parameter) = permalinks::with_parameter(&url) else { return Ok(response) };
        let Ok(second) = self.http.send(HttpRequest { url: by_parameter, ..spare.clone() }).await else {
            return Ok(response);
        };
        // A page for people proves nothing: many sites show their front page for any parameter.
        if !is_json(&second) {
            return Ok(response);
        }
        self.is_this_site(&url, spare).await?;
        sites.put(&url, self.http.now());
        Ok(second)
    }

    /// Checks that the site at this URL is the site that answers routes given as a parameter. A site that does not
    /// report its address passes.
    ///
    /// # Errors
    /// Fails if another site answers there.
    async fn is_this_site(&self, url: &str, spare: HttpRequest) -> Result<(), CallFailure> {
        let Some(question) = permalinks::address_of(url) else { return Ok(()) };
        let request = HttpRequest { url: question, most: self.limits.answer, ..spare };
        let Ok(response) = self.http.send(request).await else { return Ok(()) };
        let index = unread::json(&response.body).unwrap_or_default();
        let Some(other) = permalinks::other_site(url, &index) else { return Ok(()) };
        let other: String = other.chars().filter(|c| !c.is_control()).take(200).collect();
        let words = format!(
            "there is no site at this address: the site {other} answers instead. Check the spelling of the path; in a network of \
             sites, the site may have been deleted"
        );
        Err(CallFailure::new(Condition::UpstreamError, words).with("status", 404))
    }

    /// Forgets that the site accepted the credentials, if a failure shows that they are no longer valid.
    pub(super) fn note_failure(&self, failure: &CallFailure, digest: Option<[u8; 32]>) {
        if failure.condition == Condition::BadCredentials
            && let (Some(known), Some(digest)) = (self.places.known(), digest)
        {
            known.forget(&digest);
        }
    }

    /// The digest that identifies credentials at a target.
    pub(super) fn digest(&self, place: &RequestTarget) -> Option<[u8; 32]> {
        let (entry, shown) = (place.entry.as_ref()?, place.authorization.as_ref()?);
        // A URL never contains a line end.
        let both = secrecy::SecretString::from(format!("{}\n{}", entry.url, shown.expose_secret()));
        Some(self.http.digest(both.expose_secret().as_bytes()))
    }
}
