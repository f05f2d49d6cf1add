//! A cache of answers from services, which reduces the number of requests to them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;

/// Cached answers by URL. Their number and size are bounded; the answer that expires first is removed first.
pub(crate) struct Cache {
    kept: Mutex<CachedAnswers>,
    entries: usize,
    bytes: usize,
}

#[derive(Default)]
struct CachedAnswers {
    answers: HashMap<String, CachedAnswer>,
    bytes: usize,
}

struct CachedAnswer {
    until: Duration,
    body: Bytes,
}

impl Cache {
    /// A cache for this many answers, with this many bytes in total.
    pub(crate) fn new(entries: usize, bytes: usize) -> Self {
        Self { kept: Mutex::default(), entries, bytes }
    }

    /// The cached answer for `url`.
    pub(super) fn get(&self, url: &str, now: Duration) -> Option<Bytes> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.answers.get(url).filter(|entry| entry.until > now).map(|entry| entry.body.clone())
    }

    /// Caches the answer for `url` until the time `until`.
    pub(super) fn put(&self, url: &str, body: &Bytes, now: Duration, until: Duration) {
        let cost = |url: &str, body: &Bytes| url.len() + body.len();
        if self.entries == 0 || cost(url, body) > self.bytes {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let CachedAnswers { answers, bytes } = &mut *kept;
        answers.retain(|url, entry| {
            let stays = entry.until > now;
            *bytes -= if stays { 0 } else { cost(url, &entry.body) };
            stays
        });
        if let Some(old) = answers.remove(url) {
            *bytes -= cost(url, &old.body);
        }
        while answers.len() >= self.entries || *bytes + cost(url, body) > self.bytes {
            let Some(first) = answers.iter().min_by_key(|(_, entry)| entry.until).map(|(url, _)| url.clone())
            else {
                break;
            };
            if let Some(old) = answers.remove(&first) {
                *bytes -= cost(&first, &old.body);
            }
        }
        *bytes += cost(url, body);
        // A slice would keep its whole buffer alive.
        answers.insert(url.to_owned(), CachedAnswer { until, body: Bytes::copy_from_slice(body) });
    }
}
