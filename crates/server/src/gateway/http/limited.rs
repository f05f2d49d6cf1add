//! What a rate limit says, over HTTP: 429 with `Retry-After` (RFC 6585, section 4), and how much is left.

use crate::gateway::call::stateless;
use std::cell::RefCell;

use engine::Condition;
use engine::Fault;
use engine::rate::Verdict;
use http::header::{HeaderName, HeaderValue, RETRY_AFTER};
use http::{HeaderMap, Response};
use proto::era::newest_stateless;
use proto::rpc::{Frame, Kind, Message, code};
use transport::net::Body;

use super::answer;
use super::entry::Entry;
use crate::gateway::Shard;
use crate::gateway::admission::rates::seconds;
use crate::gateway::call::record::Record;

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// Counts a request without a message; what its limit says, if one speaks of it.
pub(super) fn count(shard: &Shard, entry: &Entry, headers: &HeaderMap) -> Option<Verdict> {
    let profile = &shard.gateway.snapshot.profiles[entry.profile].slug;
    shard.gateway.rates.check(&entry.identity, headers, profile, None)
}

/// Counts the requests of what was posted: of an array all or none, so that who is refused has lost nothing. Answers and
/// notices are not limited: who waits for them would suffer.
///
/// # Errors
/// The refusal, if they came too soon.
pub(super) async fn count_all(
    shard: &Shard,
    entry: &Entry,
    headers: &HeaderMap,
    posted: Option<&Message>,
) -> Result<Option<Verdict>, Box<Response<Body>>> {
    let (rates, profile) = (&shard.gateway.rates, &shard.gateway.snapshot.profiles[entry.profile].slug);
    let counted = |frame| {
        stateless::counted(&shard.call, rates, (entry.profile, newest_stateless()), &entry.identity, frame)
    };
    let (verdict, requests) = match posted {
        None => return Ok(None),
        Some(Message::Single(frame)) if frame.kind() != Kind::Request => return Ok(None),
        Some(Message::Single(frame)) => {
            match rates.check(&entry.identity, headers, profile, Some(&counted(frame).await)) {
                Some(verdict) if !verdict.allowed => (verdict, vec![frame]),
                verdict => return Ok(verdict),
            }
        }
        Some(Message::Batch(batch)) => {
            let messages = batch.messages.iter().flatten();
            let requests: Vec<&Frame> = messages.filter(|frame| frame.kind() == Kind::Request).collect();
            let mut all = Vec::with_capacity(requests.len());
            for frame in &requests {
                all.push(counted(frame).await);
            }
            match rates.check_all(&entry.identity, headers, profile, &all) {
                Some(verdict) if !verdict.allowed => (verdict, requests),
                verdict => return Ok(verdict),
            }
        }
    };
    for frame in &requests {
        if let Some(mut record) = Record::begin(&shard.call, &entry.identity, entry.profile, frame) {
            record.denied(Some(code::REFUSED));
        }
    }
    let only = matches!(posted, Some(Message::Single(_))).then(|| requests[0]);
    Err(Box::new(refused(&verdict, only)))
}

/// The response to a request that came too soon, as the standard has it.
pub(super) fn refused(verdict: &Verdict, message: Option<&Frame>) -> Response<Body> {
    let wait = seconds(verdict.retry_after).max(1);
    let mend = if verdict.retry_after.is_zero() {
        "send fewer".to_owned()
    } else {
        format!("try again in {wait} s")
    };
    let text = format!("too many requests: {} are taken at once; {mend}", verdict.limit);
    let fault = Fault::client(code::REFUSED, text).about(Condition::RateLimited, "");
    let mut response = answer::message(429, fault.response(message.and_then(Frame::id)));
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait));
    tell(response.headers_mut(), verdict);
    response
}

/// Says what is left.
pub(super) fn tell(headers: &mut HeaderMap, verdict: &Verdict) {
    headers.insert(LIMIT, number(verdict.limit.into()));
    headers.insert(REMAINING, number(verdict.remaining.into()));
    headers.insert(RESET, number(seconds(verdict.reset)));
}

/// A number as a value. Most are the same as in the answer before, and need not be written anew.
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
