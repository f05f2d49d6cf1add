//! What a rate limit says, over HTTP: 429 with `Retry-After` (RFC 6585, section 4), and how much is left.

use engine::Condition;
use engine::Fault;
use engine::rate::Verdict;
use http::header::{HeaderName, HeaderValue, RETRY_AFTER};
use http::{HeaderMap, Response};
use proto::rpc::{Frame, Kind, Message, code};
use transport::net::Body;

use super::{Entry, answer};
use crate::gateway::Shard;
use crate::gateway::rates::seconds;
use crate::gateway::record::Record;

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// Counts a request; what its limit says, if one speaks of it.
pub(super) fn count(
    shard: &Shard,
    entry: &Entry,
    headers: &HeaderMap,
    message: Option<&Frame>,
) -> Option<Verdict> {
    let profile = &shard.gateway.snapshot.profiles[entry.profile].slug;
    shard.gateway.rates.check(&entry.identity, headers, profile, message)
}

/// Counts the requests of what was posted. Answers and notices are not limited: who waits for them would suffer.
///
/// # Errors
/// The refusal, if one of them came too soon.
pub(super) fn count_all(
    shard: &Shard,
    entry: &Entry,
    headers: &HeaderMap,
    posted: Option<&Message>,
) -> Result<Option<Verdict>, Box<Response<Body>>> {
    match posted {
        None => Ok(None),
        Some(Message::Single(frame)) => count_one(shard, entry, headers, frame, Some(frame)),
        Some(Message::Batch(batch)) => {
            let mut verdict = None;
            for frame in batch.messages.iter().flatten() {
                verdict = count_one(shard, entry, headers, frame, None)?.or(verdict);
            }
            Ok(verdict)
        }
    }
}

fn count_one(
    shard: &Shard,
    entry: &Entry,
    headers: &HeaderMap,
    frame: &Frame,
    only: Option<&Frame>,
) -> Result<Option<Verdict>, Box<Response<Body>>> {
    if frame.kind() != Kind::Request {
        return Ok(None);
    }
    let verdict = count(shard, entry, headers, Some(frame));
    if let Some(refusal) = verdict.as_ref().filter(|verdict| !verdict.allowed) {
        if let Some(mut record) = Record::begin(shard, &entry.identity, entry.profile, frame) {
            record.denied(Some(code::REFUSED));
        }
        return Err(Box::new(refused(refusal, only)));
    }
    Ok(verdict)
}

/// The response to a request that came too soon, as the standard has it.
pub(super) fn refused(verdict: &Verdict, message: Option<&Frame>) -> Response<Body> {
    let wait = seconds(verdict.retry_after).max(1);
    let text = format!("too many requests: {} are taken at once; try again in {wait} s", verdict.limit);
    let fault = Fault::client(code::REFUSED, text).about(Condition::RateLimited, "");
    let mut response = answer::message(429, fault.response(message.and_then(Frame::id)));
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait));
    tell(response.headers_mut(), verdict);
    response
}

/// Says what is left.
pub(super) fn tell(headers: &mut HeaderMap, verdict: &Verdict) {
    headers.insert(LIMIT, HeaderValue::from(verdict.limit));
    headers.insert(REMAINING, HeaderValue::from(verdict.remaining));
    headers.insert(RESET, HeaderValue::from(seconds(verdict.reset)));
}
