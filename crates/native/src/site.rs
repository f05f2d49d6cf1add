//! A WordPress site as the target of requests: the choice of the site and the account, and the form of its errors.
//!
//! A request may carry its own site and credentials, if the configuration allows it. What one request carries is never used for
//! another request. This module must not know any tool.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use crate::hints;
use crate::port::{HttpResponse, Verb};
use crate::references::REFERENCES;
use crate::refusal::{answered_failure, clipped, said};
use crate::rest::{
    ADDRESS_NOT_ALLOWED, AcceptedCredentials, AnswerStyle, ApiProbe, CONTENT_NAMES, EntryCheck, PlainSites,
    PreviousContents, PreviousNames, Reference, ReportedNamespaces, RequestLimits, RequestTarget,
    RequestTargets, UnreadableKind, VisitorCheck, VisitorVerdicts, base_url, is_listed, json, port_of,
};
use crate::roleless;
use crate::server::{Mapped, SiteLogin};
use crate::tools::{CallFailure, Condition, Effect, ToolRow, Values};
use crate::unknown::UnknownArguments;

/// Settings for requests to the sites that a server of tools uses.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent setting of the configuration")]
pub struct SiteSettings {
    /// The site and the account for requests that carry none; `None` if every request must carry its own.
    pub login: Option<SiteLogin>,
    /// Instructions for sending an account with a request, for error messages; empty if a request cannot carry an
    /// account.
    pub brought: &'static str,
    /// Allows sites named by a request to have private addresses.
    pub private_sites: bool,
    /// The ports besides 80 and 443 that a site named by a request may have; irrelevant if private addresses are allowed.
    pub ports: Vec<u16>,
    /// Allows files that a call names by URL to have private addresses.
    pub private_files: bool,
    /// Offers only tools that read.
    pub read_only: bool,
    /// The requests that calls may define themselves.
    pub requests: Requests,
    /// The deadline of one request; 30 seconds if `None`.
    pub patience: Option<Duration>,
    /// Saves content even if that loses markup.
    pub allow_markup_loss: bool,
    /// The style in which answers are presented.
    pub answers: AnswerStyle,
    /// The handling of arguments that a tool does not have.
    pub unknown_arguments: UnknownArguments,
    /// Reports failed calls as results with `isError` (true) or as errors with a condition (false); `None` selects
    /// the default of the server.
    pub failures_as_results: Option<bool>,
    /// The key for the image host, for requests that carry none.
    pub image_key: Option<SecretString>,
    /// The URL of the image host, up to its version; `None` for imgbb's own.
    pub image_host: Option<String>,
}

/// The permitted requests among those whose route the caller chooses.
#[derive(Debug, Clone, Default)]
pub struct Requests {
    /// The allowed routes, with `*` for anything; empty for all.
    pub allow: Vec<String>,
    /// Allows requests that change something.
    pub write: bool,
}

impl SiteSettings {
    /// Returns true if the requests that calls define may only read.
    pub(crate) fn only_reads(&self) -> bool {
        self.read_only || !self.requests.write
    }

    /// The tools that these settings allow.
    pub(crate) fn fitting(&self, tools: Vec<&'static ToolRow>) -> Vec<&'static ToolRow> {
        let reads = |tool: &&'static ToolRow| matches!(tool.does(), Effect::Computes | Effect::Reads);
        if self.read_only { tools.into_iter().filter(reads).collect() } else { tools }
    }

    /// The limits of requests under these settings.
    pub(crate) fn limits(&self) -> RequestLimits {
        RequestLimits {
            patience: self.patience.unwrap_or(RequestLimits::default().patience),
            private_files: self.private_files,
            ..RequestLimits::default()
        }
    }
}

/// The name and the path of the API of a namespace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Api {
    /// The name that rows use for the API.
    pub(crate) base: &'static str,
    /// The API's path relative to the site's URL.
    pub(crate) path: &'static str,
    /// The question to ask the site when a route of this API is missing.
    pub(crate) probe: Option<ApiProbe>,
    /// The API's newer version, which some sites have instead: the namespace and the path.
    pub(crate) newer: Option<(&'static str, &'static str)>,
    /// The check that finds out if the API treats an account as a visitor.
    pub(crate) visitor: Option<VisitorCheck>,
    /// The arguments of changes whose unknown IDs the API ignores.
    pub(crate) references: &'static [Reference],
}

/// The API that all sites have.
pub(crate) const WORDPRESS: Api = Api {
    base: "wp",
    path: "/wp-json/wp/v2",
    probe: None,
    newer: None,
    visitor: Some(roleless::CHECK),
    references: REFERENCES,
};
/// The API that describes the site itself: its index.
pub(crate) const INDEX: Api = Api {
    base: "index",
    path: "/wp-json",
    probe: None,
    newer: None,
    visitor: Some(roleless::CHECK),
    references: REFERENCES,
};
/// The route that returns the caller's account, and refuses callers whom the site does not know (WordPress REST API, users).
const WHO_AM_I: &str = "/wp-json/wp/v2/users/me?context=edit&_fields=id";
/// The name of the image host.
const IMAGES: &str = "images";

/// The WordPress sites that requests may go to: the configured one, and those that requests name.
pub(crate) struct WordPressSite {
    settings: SiteSettings,
    images: String,
    apis: &'static [Api],
    known: AcceptedCredentials,
    offered: ReportedNamespaces,
    visitors: VisitorVerdicts,
    plain: PlainSites,
    previous: PreviousContents,
    /// The function that removes the parts of answers that are not shown; `None` if all parts are shown.
    filter: Option<fn(&mut Value)>,
}

impl WordPressSite {
    /// The sites of these settings, with these APIs.
    ///
    /// # Errors
    /// Fails with a message if a URL in the settings is invalid.
    pub(crate) fn new(settings: &SiteSettings, apis: &'static [Api]) -> Result<Self, String> {
        if let Some(login) = &settings.login {
            site_url(&login.url).map_err(|why| format!("site: {why}"))?;
        }
        let images = settings.image_host.as_deref().unwrap_or("https://api.imgbb.com/1");
        let images = base_url(images).map_err(|why| format!("image host: {why}"))?;
        Ok(Self {
            settings: settings.clone(),
            images,
            apis,
            known: AcceptedCredentials::default(),
            offered: ReportedNamespaces::default(),
            visitors: VisitorVerdicts::default(),
            plain: PlainSites::default(),
            previous: PreviousContents::new(&CONTENT_NAMES),
            filter: None,
        })
    }

    /// Sets the names under which replaced values are presented.
    pub(crate) fn keeping(self, names: &'static PreviousNames) -> Self {
        Self { previous: PreviousContents::new(names), ..self }
    }

    /// Sets the function that removes members from all answers of the last API.
    pub(crate) fn showing(mut self, filter: fn(&mut Value)) -> Self {
        self.filter = Some(filter);
        self
    }

    /// The login of the site to ask, and true if the request chose it. A login is refused if the request gives only a part of it,
    /// or an empty part. Otherwise another account would perform an action that was meant for the account in the request.
    fn login<'a>(&'a self, mapped: Option<&'a Mapped>) -> Result<(&'a SiteLogin, bool), CallFailure> {
        let none = |why: &str| {
            CallFailure::new(Condition::NoCredentials, format!("no WordPress credentials: {why}"))
        };
        let whole = |login: &&SiteLogin| {
            let password = login.password.expose_secret();
            [login.url.as_str(), login.username.as_str(), password].iter().all(|text| !text.trim().is_empty())
        };
        let own = self.settings.login.as_ref();
        let (login, chosen) = match mapped.and_then(|mapped| mapped.site.as_ref()) {
            Some(Err(why)) => return Err(none(why)),
            Some(Ok(login)) => {
                let own = own.and_then(|own| site_url(&own.url).ok());
                (Some(login), !login.is_fixed && (own.is_none() || own != site_url(&login.url).ok()))
            }
            None => (own, false),
        };
        let login = login.filter(whole).ok_or_else(|| {
            let needed = "a site's URL, a user name and an Application Password are needed";
            let brought = self.settings.brought;
            none(&if brought.is_empty() { needed.to_owned() } else { format!("{needed}; {brought}") })
        })?;
        Ok((login, chosen))
    }
}

/// A site's URL. The URL of the site's API, which the site itself reports, is also accepted.
///
/// # Errors
/// Returns the fault, in a message that does not repeat the URL.
fn site_url(text: &str) -> Result<String, &'static str> {
    let url = base_url(text)?;
    let site = ["/wp-json", "/wp-json/wp/v2"].into_iter().find_map(|end| url.strip_suffix(end));
    Ok(site.map_or_else(|| url.clone(), |site| site.trim_end_matches('/').to_owned()))
}

/// The value of `Authorization` (RFC 7617). Application Passwords are displayed with spaces and checked without them.
fn basic(login: &SiteLogin) -> Result<SecretString, CallFailure> {
    let name = login.username.trim();
    if name.contains(':') || name.chars().any(char::is_control) {
        let words =
            "invalid WordPress credentials: a user name must not contain a colon or control characters";
        return Err(CallFailure::new(Condition::BadCredentials, words));
    }
    let password: String = login.password.expose_secret().split_whitespace().collect();
    let pair = SecretString::from(format!("{name}:{password}"));
    Ok(SecretString::from(format!("Basic {}", BASE64_STANDARD.encode(pair.expose_secret()))))
}

impl RequestTargets for WordPressSite {
    fn place(
        &self,
        base: &str,
        _values: &Values,
        mapped: Option<&Mapped>,
    ) -> Result<RequestTarget, CallFailure> {
        if base == IMAGES {
            return Ok(RequestTarget {
                url: self.images.clone(),
                authorization: None,
                public_only: false,
                is_fixed_host: false,
                entry: None,
            });
        }
        let (login, chosen) = self.login(mapped)?;
        let url = site_url(&login.url).map_err(|why| {
            CallFailure::new(Condition::BadCredentials, format!("invalid WordPress credentials: {why}"))
        })?;
        let public_only = chosen && !self.settings.private_sites;
        let port = port_of(&url);
        if public_only && !matches!(port, 80 | 443) && !self.settings.ports.contains(&port) {
            return Err(CallFailure::new(Condition::BadCredentials, ADDRESS_NOT_ALLOWED));
        }
        let path = self.apis.iter().find(|api| api.base == base).map_or("", |api| api.path);
        Ok(RequestTarget {
            url: format!("{url}{path}"),
            authorization: Some(basic(login)?),
            public_only,
            is_fixed_host: !chosen,
            entry: Some(EntryCheck { url: format!("{url}{WHO_AM_I}"), base: WORDPRESS.base }),
        })
    }

    fn secret(
        &self,
        _name: &str,
        values: &Values,
        mapped: Option<&Mapped>,
    ) -> Result<SecretString, CallFailure> {
        let carried = mapped.and_then(|mapped| mapped.image_key.clone());
        let given = values.get("apiKey").and_then(Value::as_str).map(|key| SecretString::from(key.trim()));
        let keys = [carried, given, self.settings.image_key.clone()];
        keys.into_iter().flatten().find(|key| !key.expose_secret().trim().is_empty()).ok_or_else(|| {
            let words = "an imgbb API key is required: send it with the request, pass it as the argument apiKey, or set it in the configuration";
            CallFailure::new(Condition::NoCredentials, words)
        })
    }

    fn known(&self) -> Option<&AcceptedCredentials> {
        Some(&self.known)
    }

    /// Returns false for a segment that some servers would read as another route, or as a query, because they
    /// decode a path before they pass it on (`PATH_INFO`).
    fn takes(&self, base: &str, segment: &str) -> bool {
        base == IMAGES || !segment.contains(['/', '\\', '?', '#'])
    }

    fn embeds(&self) -> bool {
        self.settings.requests.allow.is_empty()
    }

    fn may(&self, _base: &str, verb: Verb, route: &str) -> Result<(), CallFailure> {
        let no = |words: &str| Err(CallFailure::new(Condition::ToolFailed, words.to_owned()));
        let requests = &self.settings.requests;
        if verb != Verb::Get && self.settings.only_reads() {
            return no("the configuration allows this tool only to read");
        }
        if !is_listed(&requests.allow, route) {
            return no(&format!(
                "the configuration does not allow this route; it allows {}",
                requests.allow.join(", ")
            ));
        }
        Ok(())
    }

    fn failure(&self, base: &str, response: &HttpResponse) -> CallFailure {
        let body = json(&response.body).unwrap_or_default();
        let status = response.status;
        if base == IMAGES {
            let words = said(&body).unwrap_or_else(|| format!("it answered HTTP {status} without a message"));
            let words = format!("the image host refused the upload: {}", clipped(&words));
            return CallFailure::new(Condition::UpstreamError, words).with("status", status);
        }
        let asks = response.header("www-authenticate").is_some_and(hints::is_basic);
        if status == 401 && asks && said(&body).is_none() {
            return CallFailure::new(Condition::BadCredentials, hints::GATE).with("status", status);
        }
        let mut failure = answered_failure(status, body, response.body.len());
        // Only a time in seconds is used; a date (RFC 9110, 10.2.3) would add nothing to the hint.
        let wait = response.header("retry-after").and_then(|text| text.trim().parse::<u32>().ok());
        if let Some(seconds) = wait.filter(|_| matches!(status, 429 | 503)) {
            failure.message = format!("{}; the site asks to wait {seconds} seconds", failure.message);
        }
        failure
    }

    fn refused(&self, base: &str, answer: &Value) -> Option<CallFailure> {
        // A proxy in front of a site, or a plugin, may give every answer a success status; the body is still an error.
        let status = answer.pointer("/data/status").and_then(Value::as_u64)?;
        let status = u16::try_from(status).ok().filter(|status| (400..600).contains(status))?;
        let is_error = base != IMAGES
            && ["code", "message"].iter().all(|name| answer.get(name).is_some_and(Value::is_string));
        is_error.then(|| answered_failure(status, answer.clone(), answer.to_string().len()))
    }

    fn filter(&self, base: &str, answer: &mut Value) {
        if let Some(filter) = self.filter.filter(|_| self.apis.last().is_some_and(|api| api.base == base)) {
            filter(answer);
        }
    }

    fn unread(&self, kind: UnreadableKind) -> &'static str {
        hints::unread(kind)
    }

    fn redirected(&self, from: &str, to: &str) -> Option<&'static str> {
        hints::redirected(from, to)
    }

    fn offered(&self) -> Option<&ReportedNamespaces> {
        Some(&self.offered)
    }

    fn moved(&self, base: &str, namespaces: &[String], url: &str) -> Option<String> {
        let api = self.apis.iter().find(|api| api.base == base)?;
        let (_, newer) = api.newer?;
        let has = |path: &str| namespaces.iter().any(|name| path.strip_prefix("/wp-json/") == Some(name));
        // A site with the newer version may still list the older one, and refuse requests to it.
        let (from, to) = if has(newer) { (api.path, newer) } else { (newer, api.path) };
        let (site, rest) = url.split_once(from).filter(|_| has(to))?;
        Some(format!("{site}{to}{rest}"))
    }

    fn references(&self, base: &str) -> &'static [Reference] {
        self.apis.iter().find(|api| api.base == base).map_or(&[], |api| api.references)
    }

    fn previous(&self) -> Option<&PreviousContents> {
        Some(&self.previous)
    }

    fn plain_sites(&self) -> Option<&PlainSites> {
        Some(&self.plain)
    }

    fn visitors(&self) -> Option<&VisitorVerdicts> {
        Some(&self.visitors)
    }

    fn visitor_check(&self, base: &str, failure: &CallFailure) -> Option<VisitorCheck> {
        let detail =
            |name: &str| failure.detail.iter().find(|(given, _)| *given == name).map(|(_, value)| value);
        let status = u16::try_from(detail("status")?.as_u64()?).ok()?;
        let code = detail("code")?.as_str()?;
        let check = self.apis.iter().find(|api| api.base == base)?.visitor?;
        (check.may_be)(status, code).then_some(check)
    }

    fn probe(&self, base: &str, failure: &CallFailure) -> Option<ApiProbe> {
        let no_route = failure.detail.iter().any(|(name, value)| *name == "code" && value == "rest_no_route");
        self.apis.iter().find(|api| api.base == base && no_route)?.probe
    }
}
