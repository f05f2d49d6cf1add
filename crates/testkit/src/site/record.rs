//! What the site was asked, in the order in which it came.

use std::sync::{Mutex, PoisonError};

/// How many requests are kept: more than any test sends.
const MOST: usize = 100_000;

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The HTTP method.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// Names in lower case and values.
    pub headers: Vec<(String, String)>,
    /// The body; what is not UTF-8 in it is replaced.
    pub body: String,
}

impl Received {
    /// The value of a header by its name in lower case, or nothing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

/// All that the site was asked.
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
