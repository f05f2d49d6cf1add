//! Debian's Prometheus, which scrapes one address every second. This module must not know the queries.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::auth::free_address;
use crate::bench::plain_http::ask;
use crate::run::{Log, Service};

/// A running Prometheus.
pub(super) struct Prometheus {
    address: SocketAddr,
    service: Service,
}

impl Prometheus {
    /// Starts Prometheus in an empty folder; `gateway` is the URL of a server with `/metrics`.
    pub(super) fn start(gateway: &str, folder: &Path, log: &Log) -> Result<Self, String> {
        let address: SocketAddr =
            free_address()?.parse().map_err(|error| format!("a free address: {error}"))?;
        let target = gateway.trim_start_matches("http://").trim_end_matches('/');
        let config = format!(
            "global: {{ scrape_interval: 1s }}\n\
             scrape_configs: [{{ job_name: dragoman, static_configs: [{{ targets: [\"{target}\"] }}] }}]\n"
        );
        let file = folder.join("prometheus.yml");
        fs::write(&file, config).map_err(|error| format!("{}: {error}", file.display()))?;
        let mut command = Command::new("prometheus");
        command.arg(format!("--config.file={}", file.display()));
        command.arg(format!("--storage.tsdb.path={}", folder.join("data").display()));
        command.arg(format!("--web.listen-address={address}"));
        let ready = |line: &str| line.contains("Server is ready").then(String::new);
        let (service, _) = Service::start(&mut command, log, ready)?;
        Ok(Self { address, service })
    }

    /// Returns true if the result of a query contains a number. Only the count is fetched, because long answers
    /// arrive in chunks. A ratio without calls is NaN; it is not counted, because NaN is not equal to itself.
    pub(super) fn answers(&self, query: &str) -> Result<bool, String> {
        let body = format!("query={}", encoded(&format!("count(({query}) == ({query}))")));
        let headers = "Content-Type: application/x-www-form-urlencoded\r\n";
        let answer = ask(self.address, "POST /api/v1/query", headers, &body)
            .ok_or_else(|| "Prometheus does not answer".to_owned())?;
        let text = String::from_utf8_lossy(&answer);
        let body = text.find('{').map_or("", |at| &text[at..text.rfind('}').map_or(at, |end| end + 1)]);
        let answer: Value =
            serde_json::from_str(body).map_err(|error| format!("{query}: {error}: {text}"))?;
        if answer["status"] != "success" {
            return Err(format!("{query}: {answer}"));
        }
        Ok(answer["data"]["result"].as_array().is_some_and(|found| !found.is_empty()))
    }

    pub(super) fn tell(&self, log: &Log) {
        self.service.tell(log);
    }
}

/// Returns a text, encoded as a value of a form.
fn encoded(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(one).collect()
}
