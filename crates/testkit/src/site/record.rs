//! The requests that the site got, in the order of arrival.

use std::sync::{Mutex, PoisonError};

/// The number of requests that are kept, which is more than any test sends.
const MOST: usize = 100_000;

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The HTTP method.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// Names in lower case and values.
    pub headers: Vec<(String, String)>,
    /// The body; bytes that are not UTF-8 are replaced.
    pub body: String,
}

impl Received {
    /// The value of the header with this lower-case name, or an empty string.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

/// All requests that the site got.
#[derive(Debug, Default)]
pub(super) struct Record(Mutex<Vec<Received>>);

impl Record {
    pub(super) fn add(&self, received: Received) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < MOST {
            all.push(received);
        }
    }

    pub(super) fn all(&self) -> Vec<Received> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
