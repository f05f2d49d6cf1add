//! Rate limits over HTTP: status 429 with `Retry-After` (RFC 6585, section 4), and headers that state the remaining
//! quota.

use crate::call::stateless;
use std::cell::RefCell;

use engine::Condition;
use engine::Fault;
use engine::rate::Verdict;
use http::header::{HeaderName, HeaderValue, RETRY_AFTER};
use http::{HeaderMap, Response};
use proto::era::newest_stateless;
use proto::rpc::{Frame, FrameKind, Message, code};
use transport::net::{Body, fields};

use super::answer;
use super::entry::AdmittedRequest;
use crate::admission::audit::ReasonKind;
use crate::admission::rates::seconds;
use crate::call::record::Record;
use crate::process::Shard;

static LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
static REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
static RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// Counts a request without a message; returns the verdict of its rate limit, if one applies.
pub(super) async fn count(shard: &Shard, entry: &AdmittedRequest, headers: &HeaderMap) -> Option<Verdict> {
    if entry.is_passed_on {
        return None;
    }
    let profile = &shard.gateway.snapshot.profiles[entry.profile].slug;
    shard.gateway.rates.check(&entry.identity, headers, profile, None).await
}

/// Counts the requests in a POST. The requests of an array are counted all together or not at all, so a refused
/// array does not use up any quota. Responses and notifications are not limited, because running calls may wait for
/// them.
///
/// # Errors
/// Returns the refusal if a limit was exceeded.
pub(super) async fn count_all(
    shard: &Shard,
    entry: &AdmittedRequest,
    headers: &HeaderMap,
    posted: Option<&Message>,
) -> Result<Option<Verdict>, Box<Response<Body>>> {
    let (rates, profile) = (&shard.gateway.rates, &shard.gateway.snapshot.profiles[entry.profile].slug);
    let counted = |frame| {
        stateless::counted(&shard.call, rates, (entry.profile, newest_stateless()), &entry.identity, frame)
    };
    let (verdict, requests) = match posted {
        None => return Ok(None),
        Some(_) if entry.is_passed_on => return Ok(None),
        Some(Message::Single(frame)) if frame.kind() != FrameKind::Request => return Ok(None),
        Some(Message::Single(frame)) => {
            match rates.check(&entry.identity, headers, profile, Some(&counted(frame).await)).await {
                Some(verdict) if !verdict.allowed => (verdict, vec![frame]),
                verdict => return Ok(verdict),
            }
        }
        Some(Message::Batch(batch)) => {
            let messages = batch.messages.iter().flatten();
            let requests: Vec<&Frame> = messages.filter(|frame| frame.kind() == FrameKind::Request).collect();
            let mut all = Vec::with_capacity(requests.len());
            for frame in &requests {
                all.push(counted(frame).await);
            }
            match rates.check_all(&entry.identity, headers, profile, &all).await {
                Some(verdict) if !verdict.allowed => (verdict, requests),
                verdict => return Ok(verdict),
            }
        }
    };
    for frame in &requests {
        if let Some(mut record) = Record::begin(&shard.call, &entry.identity, entry.profile, frame) {
            record.denied(Some(code::REFUSED), ReasonKind::RateLimit, &text_of(&verdict));
        }
    }
    let only = matches!(posted, Some(Message::Single(_))).then(|| requests[0]);
    Err(Box::new(refused(&verdict, only)))
}

/// Returns the response to a rate-limited request, in the form of the standard protocol.
pub(super) fn refused(verdict: &Verdict, message: Option<&Frame>) -> Response<Body> {
    let wait = seconds(verdict.retry_after).max(1);
    let fault = Fault::client(code::REFUSED, text_of(verdict)).about(Condition::RateLimited, "");
    let mut response = answer::message(429, fault.response(message.and_then(Frame::id)));
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait));
    set_rate_headers(response.headers_mut(), verdict);
    response
}

fn text_of(verdict: &Verdict) -> String {
    let wait = seconds(verdict.retry_after).max(1);
    let help = if verdict.retry_after.is_zero() {
        "send fewer".to_owned()
    } else {
        format!("try again in {wait} s")
    };
    if verdict.is_unknown {
        format!(
            "the number of requests cannot be checked, because the cluster's store is unavailable; {help}"
        )
    } else {
        format!("too many requests: at most {} are accepted at once; {help}", verdict.limit)
    }
}

/// Sets the headers that state the remaining quota.
pub fn set_rate_headers(headers: &mut HeaderMap, verdict: &Verdict) {
    fields::set(headers, &LIMIT, number(verdict.limit.into()));
    fields::set(headers, &REMAINING, number(verdict.remaining.into()));
    fields::set(headers, &RESET, number(seconds(verdict.reset)));
}

/// Returns a number as a header value. Reuses the previous response's header value if the number is equal, which is
/// common.
fn number(number: u64) -> HeaderValue {
    const KEPT: usize = 8;
    thread_local! {
        static LAST: RefCell<[Option<(u64, HeaderValue)>; KEPT]> = const { RefCell::new([const { None }; KEPT]) };
    }
    let place = usize::try_from(number % KEPT as u64).unwrap_or(0);
    LAST.with_borrow_mut(|last| match &last[place] {
        Some((known, value)) if *known == number => value.clone(),
        _ => {
            let value = HeaderValue::from(number);
            last[place] = Some((number, value.clone()));
            value
        }
    })
}
