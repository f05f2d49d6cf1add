//! The latest requests that were turned away before they became calls: wrong credentials, other profiles, unknown paths, foreign
//! hosts and origins. The record of calls has no entries of them. Equal requests share a row, so a flood changes only a count.
//! This module must not know HTTP's types, or how the rows are shown.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;

/// The maximum number of rows.
const ROWS: usize = 50;

/// The maximum length of a text from a client, in characters.
const LONGEST: usize = 120;

/// A request that was turned away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRequest {
    /// The address from which the request came.
    pub address: IpAddr,
    /// The HTTP method and the path, without the query.
    pub request: String,
    /// The HTTP status of the response.
    pub status: u16,
    /// The reason, as the client was told.
    pub reason: String,
    /// The client's program, as it states it in a header.
    pub agent: Option<String>,
    /// The caller, if the credentials were valid.
    pub principal: Option<Arc<str>>,
}

/// Equal requests that were turned away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRow {
    /// The request.
    pub request: RefusedRequest,
    /// The number of such requests.
    pub count: u64,
    /// The time of the latest one, in milliseconds since 1970.
    pub at_ms: u64,
}

/// The latest requests that were turned away.
#[derive(Debug, Default)]
pub struct RefusedRequests(Mutex<RefusedRows>);

#[derive(Debug, Default)]
struct RefusedRows {
    all: u64,
    /// The rows, the latest first.
    rows: VecDeque<RefusedRow>,
}

impl RefusedRequests {
    /// Adds a request.
    pub(crate) fn note(&self, mut request: RefusedRequest) {
        for text in [&mut request.request, &mut request.reason].into_iter().chain(request.agent.as_mut()) {
            if let Some((end, _)) = text.char_indices().nth(LONGEST) {
                text.truncate(end);
                text.push('…');
            }
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let mut rows = self.0.lock();
        rows.all += 1;
        let known = rows.rows.iter().position(|row| row.request == request);
        let count = known.and_then(|at| rows.rows.remove(at)).map_or(0, |row| row.count) + 1;
        rows.rows.push_front(RefusedRow { request, count, at_ms });
        rows.rows.truncate(ROWS);
    }

    /// Returns the number of all such requests since the start, and the latest ones, the latest first.
    pub fn listed(&self) -> (u64, Vec<RefusedRow>) {
        let rows = self.0.lock();
        (rows.all, rows.rows.iter().cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str) -> RefusedRequest {
        RefusedRequest {
            address: [203, 0, 113, 9].into(),
            request: format!("POST {path}"),
            status: 401,
            reason: "authentication is required".to_owned(),
            agent: Some("cursor".to_owned()),
            principal: None,
        }
    }

    #[test]
    fn a_flood_keeps_few_rows_and_counts_all() {
        let refused = RefusedRequests::default();
        for number in 0..1000 {
            refused.note(request(&format!("/mcp/{number}")));
            refused.note(request("/mcp"));
        }
        let (all, rows) = refused.listed();
        assert_eq!((all, rows.len()), (2000, ROWS));
        assert_eq!((rows[0].request.request.as_str(), rows[0].count), ("POST /mcp", 1000));
        assert_eq!(rows[1].request.request, "POST /mcp/999");
        refused.note(request(&"x".repeat(100_000)));
        assert!(refused.listed().1[0].request.request.chars().count() <= LONGEST + 1);
    }
}
