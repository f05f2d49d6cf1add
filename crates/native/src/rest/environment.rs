//! Running a tool's steps: the requests, their attempts, and the use of their answers.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Map, Value};

use super::cache::Cache;
use super::context::RunContext;
use super::file::FileData;
use super::open;
use super::paged::paged;
use super::place::{RequestTarget, RequestTargets};
use super::plugin_fields;
use super::request::RequestParts;
use super::shape::{AnswerStyle, CallAnswer, Presentation, Shape, Totals};
use super::step::{CallerRequest, RestRequest, Step};
use super::steps::StepsOutcome;
use super::stored::{self, ComparedValues};
use super::unread;
use super::unreadable;
use crate::passing::{FileTransfer, HttpBody};
use crate::port::{HttpClient, HttpFault, HttpFaultKind, HttpRequest, HttpResponse, Verb};
use crate::server::Mapped;
use crate::tools::{CallFailure, Condition, ToolArgument, Values};

/// The first pause before a request is sent again; each further pause is twice as long.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest pause before a request is sent again.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// The largest file that a call contains, in bytes. Such a file is in memory.
const LARGEST_FILE: usize = 32 << 20;
/// The largest file that a call names by URL, in bytes. Only a small part of such a file is in memory at a time.
const LARGEST_PASSED_FILE: u64 = 512 << 20;
/// The longest time for passing on a file that a call names by URL.
const LONGEST_PASSING: Duration = Duration::from_mins(10);

/// The limits of requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestLimits {
    /// The deadline of one request, including all its attempts.
    pub(crate) patience: Duration,
    /// The largest answer, in bytes.
    pub(crate) answer: usize,
    /// The largest file that a call contains, in bytes.
    pub(crate) file: usize,
    /// The largest file that a call names by URL, in bytes.
    pub(crate) passed_file: u64,
    /// The deadline for passing on a file that a call names by URL. `patience` then limits the time in which no
    /// bytes are transferred.
    pub(crate) passing: Duration,
    /// The number of attempts for a request if no connection can be established.
    pub(crate) attempts: u32,
    /// Allows fetching files from private addresses.
    pub(crate) private_files: bool,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            patience: Duration::from_secs(30),
            answer: 8 << 20,
            file: LARGEST_FILE,
            passed_file: LARGEST_PASSED_FILE,
            passing: LONGEST_PASSING,
            attempts: 1,
            private_files: false,
        }
    }
}

/// The environment of tools that send requests.
pub(crate) struct RestEnvironment {
    /// The client that sends requests.
    pub(crate) http: Arc<dyn HttpClient>,
    /// The services that requests are sent to.
    pub(crate) places: Box<dyn RequestTargets>,
    /// The limits of requests.
    pub(crate) limits: RequestLimits,
    /// The cache of answers, if there is one.
    pub(crate) cache: Option<Cache>,
    /// The style in which answers are presented.
    pub(crate) answers: AnswerStyle,
}

/// A call while it runs.
pub(super) struct Run<'a> {
    pub(super) environment: &'a RestEnvironment,
    pub(super) arguments: &'static [ToolArgument],
    pub(super) values: Values,
    /// The members of the answer that tell what the call has replaced.
    pub(super) previous: Map<String, Value>,
    pub(super) mapped: Option<&'a Mapped>,
    pub(super) transfer: Option<&'a FileTransfer>,
    pub(super) file: Option<FileData>,
    /// The members to ask for, if the answer is shown in part.
    pub(super) fields: Option<String>,
    /// Accepts an empty answer. WordPress sends `null` as an empty answer (`WP_REST_Server::serve_request`),
    /// and `null` can be a valid value only if the answer is shown unchanged.
    may_be_blank: bool,
    pub(super) totals: Totals,
}

/// The argument by which a call asks for a whole answer.
pub(crate) const FULL: &str = "full";
/// The argument with which a call names the members that each entry of a list should have.
pub(crate) const FIELDS: &str = "fields";

impl RestEnvironment {
    /// Runs the steps and returns the result.
    ///
    /// # Errors
    /// Returns the first failure, which ends the call.
    pub(crate) async fn run(
        &self,
        arguments: &'static [ToolArgument],
        (steps, shape): (&'static [Step], &Shape),
        values: Values,
        RunContext { mapped, transfer }: RunContext<'_>,
    ) -> Result<CallAnswer, CallFailure> {
        let is_compact = self.answers == AnswerStyle::Compact;
        let full = is_compact && values.flag(FULL);
        let wanted = if is_compact && !full && shape.is_list() { wanted(&values) } else { Vec::new() };
        let fields = (is_compact && !full).then(|| shape.fields(&wanted)).flatten();
        let has_content = steps.iter().any(Step::shows_content);
        let fields = fields
            .map(|fields| if has_content { format!("{fields},{}", plugin_fields::MEMBERS) } else { fields });
        let reads = steps.iter().rev().find_map(Step::verb) == Some(Verb::Get);
        let told = (!reads && is_compact && !full).then(|| stored::comparable(arguments, steps, &values));
        let compared: ComparedValues = told.unwrap_or_default();
        let (totals, may_be_blank) = (Totals::default(), matches!(shape, Shape::Whole | Shape::Rows(..)));
        let mut run = Run {
            environment: self,
            arguments,
            values,
            mapped,
            transfer,
            file: None,
            previous: Map::new(),
            fields,
            may_be_blank,
            totals,
        };
        let StepsOutcome { last, content } = match run.through(steps).await? {
            ControlFlow::Continue(outcome) => outcome,
            ControlFlow::Break(answer) => return Ok(answer),
        };
        if reads && shape.is_missing(&last) {
            return Err(swallowed());
        }
        if !shape.is_of(&last) {
            let words = "the site returned a single item instead of a list: its software may be too old to support this request";
            return Err(CallFailure::new(Condition::UpstreamError, words));
        }
        let totals = run.totals;
        let manner = Presentation { answers: self.answers, full, fields: &wanted, totals, content };
        let answered = if compared.is_empty() { Value::Null } else { last.clone() };
        let shown = shape.shown(last, &run.values, manner).with_stored(&compared, &answered);
        Ok(CallAnswer { entries: totals.entries, ..shown.with_members(run.previous) })
    }

    /// Returns true if requests have a target even if the call names none.
    pub(crate) fn knows_its_place(&self) -> bool {
        self.places.place("index", &Values::default(), None).is_ok()
    }

    /// Sends a request, and sends it again if no connection was established and time is left.
    pub(super) async fn sent(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpFault> {
        self.settle(&mut request);
        let end = self.http.now() + self.limit(&mut request);
        let (mut wait, mut left) = (FIRST_WAIT, self.limits.attempts);
        loop {
            request.patience = end.saturating_sub(self.http.now());
            left = left.saturating_sub(1);
            match self.http.send(request.clone()).await {
                Err(fault)
                    if fault.kind == HttpFaultKind::Unconnected
                        && left > 0
                        && self.http.now() + wait < end =>
                {
                    self.http.pause(wait).await;
                    wait = (wait * 2).min(LONGEST_WAIT);
                }
                outcome => return outcome,
            }
        }
    }

    /// Rewrites the request to the form that its site accepts.
    pub(super) fn settle(&self, request: &mut HttpRequest) {
        let plain = self.places.plain_sites();
        if let Some(url) = plain.and_then(|sites| sites.rewritten(&request.url, self.http.now())) {
            request.url = url;
        }
    }

    /// Returns the longest time that the request may take. If the request passes on a file, also sets the longest
    /// pause while the file is passed on.
    fn limit(&self, request: &mut HttpRequest) -> Duration {
        match &mut request.body {
            HttpBody::Whole(_) => self.limits.patience,
            HttpBody::Passing(passed) => {
                passed.stall = self.limits.patience;
                self.limits.passing
            }
        }
    }
}

impl Run<'_> {
    /// The answer to a request that the call chooses, if it is allowed.
    pub(super) async fn opened(&mut self, open: &CallerRequest) -> Result<Value, CallFailure> {
        let places = &self.environment.places;
        let (verb, route) = open::wanted(open, &self.values)?;
        places.may(open.base, verb, &route)?;
        let place = places.place(open.base, &self.values, self.mapped)?;
        self.environment.let_in(&place).await?;
        let digest = self.environment.digest(&place);
        let request = open::request(open, &self.values, (verb, &route), (place, places.embeds()))?;
        self.answered((open.base, Verb::Post, Duration::ZERO), digest, request).await
    }

    /// The answer to a request.
    pub(super) async fn asked(&mut self, ask: &RestRequest) -> Result<Value, CallFailure> {
        let mut place = self.environment.places.place(ask.base, &self.values, self.mapped)?;
        self.environment.let_in(&place).await?;
        if let Some(url) = self.environment.elsewhere(ask.base, &place) {
            place.url = url;
        }
        let digest = self.environment.digest(&place);
        let request = self.request(ask, place)?;
        if ask.brings_file {
            return self.brought(ask.base, digest, request).await;
        }
        let answer = self.answered((ask.base, ask.verb, ask.keep), digest, request).await?;
        let (answer, totals) = paged(answer, ask.paging, &self.values, self.totals);
        self.totals = totals;
        Ok(answer)
    }

    /// The request of a step to this target.
    pub(super) fn request(
        &self,
        ask: &RestRequest,
        place: RequestTarget,
    ) -> Result<HttpRequest, CallFailure> {
        let making = RequestParts {
            arguments: self.arguments,
            values: &self.values,
            mapped: self.mapped,
            file: self.file.as_ref(),
            places: &*self.environment.places,
            fields: self.fields.as_deref(),
        };
        making.request(ask, place)
    }

    pub(super) async fn answered(
        &mut self,
        (base, verb, keep): (&'static str, Verb, Duration),
        digest: Option<[u8; 32]>,
        mut request: HttpRequest,
    ) -> Result<Value, CallFailure> {
        request.most = self.environment.limits.answer;
        let writes = request.method != Verb::Get;
        let answer = self.body((base, verb, keep), request).await;
        let (body, totals) = answer.inspect_err(|failure| self.environment.note_failure(failure, digest))?;
        self.totals = totals;
        let places = &*self.environment.places;
        let mut answer = unread::json(&body).ok_or_else(|| unreadable::failure(places, &body, writes))?;
        if let Some(failure) = places.refused(base, &answer) {
            return Err(failure);
        }
        places.filter(base, &mut answer);
        Ok(answer)
    }

    /// The body of a successful answer, cached or new, and the totals of a list from its headers.
    async fn body(
        &self,
        (base, verb, keep): (&'static str, Verb, Duration),
        request: HttpRequest,
    ) -> Result<(Bytes, Totals), CallFailure> {
        let cache = self
            .environment
            .cache
            .as_ref()
            .filter(|_| verb == Verb::Get && !keep.is_zero() && request.authorization.is_none());
        let url = request.url.clone();
        if let Some(body) = cache.and_then(|cache| cache.get(&url, self.environment.http.now())) {
            return Ok((body, Totals::default()));
        }
        let response = self.response(base, request).await?;
        let is_blank = response.status == 200 && response.body.iter().all(u8::is_ascii_whitespace);
        if verb == Verb::Get && is_blank && !self.may_be_blank {
            return Err(swallowed());
        }
        if let Some(cache) = cache {
            let now = self.environment.http.now();
            cache.put(&url, &response.body, now, now + keep);
        }
        let totals = Totals::of(&response);
        Ok((response.body, totals))
    }

    /// A successful answer. The request is repeated if the first answer may be due to credentials that have
    /// become invalid.
    pub(super) async fn response(
        &self,
        base: &'static str,
        request: HttpRequest,
    ) -> Result<HttpResponse, CallFailure> {
        let (spare, url) = (request.clone(), request.url.clone());
        let writes = request.method != Verb::Get;
        let mut response = self.environment.sent(request).await.map_err(|fault| unreached(&fault, writes))?;
        if !response.is_success() {
            let again = match self.probed(base, self.failure(base, &url, &response), spare).await {
                Ok(again) => again,
                Err(failure) => return Err(self.explained(base, failure).await),
            };
            response = self.environment.sent(again).await.map_err(|fault| unreached(&fault, writes))?;
            if !response.is_success() {
                return Err(self.explained(base, self.failure(base, &url, &response)).await);
            }
        }
        Ok(response)
    }

    fn failure(&self, base: &str, url: &str, response: &HttpResponse) -> CallFailure {
        let places = &*self.environment.places;
        redirect(places, url, response).unwrap_or_else(|| places.failure(base, response))
    }
}

/// The members that a call asks for in each entry of a list; without white space, and without the query's own separator.
fn wanted(values: &Values) -> Vec<String> {
    let names = values.get(FIELDS).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    names
        .flat_map(|names| names.split([',', ' ']))
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The failure for an answer that has a success status and no content.
fn swallowed() -> CallFailure {
    let words = "the answer reports success but contains none of the requested data: a hidden error, a cache or a firewall at \
                 the site may have removed it";
    CallFailure::new(Condition::UpstreamError, words)
}

/// The failure for an answer that is a redirect; `None` for any other answer. Redirects are not followed, because their
/// targets are not configured.
fn redirect(places: &dyn RequestTargets, url: &str, response: &HttpResponse) -> Option<CallFailure> {
    let to = (300..400).contains(&response.status).then(|| response.header("location")).flatten()?;
    let to: String = to.chars().filter(|c| !c.is_control()).take(200).collect();
    let to = to.split('?').next().unwrap_or_default();
    let why = places.redirected(url, to).unwrap_or("configure its actual address");
    let words = format!("the server redirects to {to}: {why}");
    Some(CallFailure::new(Condition::UpstreamError, words).with("status", response.status))
}

/// The message about an address that a caller may not name. It is the same for all reasons; otherwise, it would
/// reveal which names and ports the inner network has.
pub(crate) const ADDRESS_NOT_ALLOWED: &str = "requests cannot be sent to this address: check its spelling. It must be a public \
                                              address, and a site's port must be 80, 443 or one that the configuration allows \
                                              (`ports`)";

/// The failure for a request without an answer. If `writes` is true, the message states that the request may have
/// been executed.
pub(super) fn unreached(fault: &HttpFault, writes: bool) -> CallFailure {
    let done = if writes { "; the request may have been executed nevertheless" } else { "" };
    let said = &fault.message;
    let (condition, words) = match fault.kind {
        HttpFaultKind::Refused => {
            (Condition::BadCredentials, format!("requests to this site are not allowed: {said}"))
        }
        HttpFaultKind::NotAllowed => (Condition::BadCredentials, ADDRESS_NOT_ALLOWED.to_owned()),
        HttpFaultKind::TooOften => (Condition::RateLimited, said.clone()),
        HttpFaultKind::TooLarge => {
            (Condition::UpstreamError, format!("the answer is too large: {said}{done}"))
        }
        HttpFaultKind::Unconnected => {
            (Condition::UpstreamDown, format!("the server cannot be reached: {said}"))
        }
        HttpFaultKind::Source => (
            Condition::ToolFailed,
            format!("the upload was stopped, and the site did not receive the file: {said}"),
        ),
        HttpFaultKind::Broken | HttpFaultKind::Late => {
            (Condition::UpstreamDown, format!("the server's answer is incomplete: {said}{done}"))
        }
    };
    CallFailure::new(condition, words)
}
