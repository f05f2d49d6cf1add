//! The text at `/metrics`, read into numbers.

use std::collections::BTreeMap;

use crate::support::Http;

/// Series with their values.
pub(crate) struct Figures(BTreeMap<String, f64>);

impl Figures {
    /// Reads the figures.
    pub(crate) async fn read(http: Http) -> Self {
        let mut reply = http.get("/metrics", &[]).await;
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
        Self::of(&reply.text().await)
    }

    /// Reads a text; each line is a comment, or a series with its value.
    pub(crate) fn of(text: &str) -> Self {
        let series = |line: &str| {
            let (name, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("a value in {line:?}"));
            (name.to_owned(), value.parse().unwrap_or_else(|_| panic!("a number in {line:?}")))
        };
        let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).map(series).collect();
        let count = lines.len();
        let all: BTreeMap<_, _> = lines.into_iter().collect();
        assert_eq!(all.len(), count, "a series occurs twice:\n{text}");
        Self(all)
    }

    /// The value of a series; 0 if there is no such series.
    pub(crate) fn value(&self, series: &str) -> f64 {
        self.0.get(series).copied().unwrap_or_default()
    }

    /// The number of operations that clients requested, by method, server and outcome.
    pub(crate) fn requested(&self, method: &str, server: &str, outcome: &str) -> f64 {
        let server = if server.is_empty() { String::new() } else { format!(",upstream=\"{server}\"") };
        let name = "mcp_server_operation_duration_seconds_count";
        self.value(&format!("{name}{{method=\"{method}\"{server},outcome=\"{outcome}\"}}"))
    }

    /// The number of calls of a tool with this outcome.
    pub(crate) fn tool(&self, server: &str, tool: &str, outcome: &str) -> f64 {
        let labels = format!("upstream=\"{server}\",tool=\"{tool}\",outcome=\"{outcome}\"");
        self.value(&format!("dragoman_tool_calls_total{{{labels}}}"))
    }

    /// The names of all series.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}
