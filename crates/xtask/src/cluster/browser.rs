//! A browser on the pages of several replicas: it keeps cookies, and sends forms as browsers do.

use crate::chaos::client::http::{Sent, exchange};
use crate::chaos::stage::SOON;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Instant;

/// A browser.
#[derive(Clone, Debug, Default)]
pub(super) struct Browser {
    /// The cookies by name.
    cookies: BTreeMap<String, String>,
    /// The origin of the pages, if people see another address than that of the replica.
    origin: Option<String>,
}

/// A page that was loaded.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) status: u16,
    /// The address to which the browser is redirected.
    pub(super) location: Option<String>,
    pub(super) text: String,
}

impl Browser {
    /// A browser whose pages have this origin, whatever replica answers.
    pub(super) fn of_origin(origin: &str) -> Self {
        Self { origin: Some(origin.to_owned()), ..Self::default() }
    }

    /// Loads a page.
    pub(super) fn get(&mut self, at: SocketAddr, path: &str) -> Result<Page, String> {
        self.send(at, "GET", path, "")
    }

    /// Sends a form.
    pub(super) fn post(&mut self, at: SocketAddr, path: &str, form: &str) -> Result<Page, String> {
        self.send(at, "POST", path, form)
    }

    /// Logs in with a name and a password; returns the status.
    pub(super) fn log_in(&mut self, at: SocketAddr, name: &str, password: &str) -> Result<u16, String> {
        Ok(self.post(at, "/admin/login", &format!("name={name}&password={password}"))?.status)
    }

    /// Returns true if the first page opens.
    pub(super) fn is_in(&mut self, at: SocketAddr) -> Result<bool, String> {
        let page = self.get(at, "/admin")?;
        match page.status {
            200 => Ok(true),
            303 => Ok(false),
            status => Err(format!("/admin at {at}: {status} {}", page.text)),
        }
    }

    /// Sends a form of a page of the session.
    pub(super) fn submit(&mut self, at: SocketAddr, path: &str, form: &str) -> Result<Page, String> {
        let page = self.get(at, "/admin")?;
        let token = page.text.split_once("name=\"csrf\" value=\"").and_then(|(_, rest)| rest.split_once('"'));
        let (token, _) = token.ok_or_else(|| format!("no form at {at}: {} {}", page.status, page.text))?;
        self.post(at, path, &format!("csrf={token}&{form}"))
    }

    fn send(&mut self, at: SocketAddr, method: &str, path: &str, form: &str) -> Result<Page, String> {
        let cookies: Vec<_> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cookies = cookies.join("; ");
        let origin = self.origin.clone().unwrap_or_else(|| format!("http://{at}"));
        let headers = [
            ("Accept", "text/html"),
            ("Content-Type", "application/x-www-form-urlencoded"),
            ("Sec-Fetch-Site", "same-origin"),
            ("Origin", origin.as_str()),
            ("Cookie", cookies.as_str()),
        ];
        let headers = if cookies.is_empty() { &headers[..4] } else { &headers[..] };
        let sent = Sent { method, path, headers, body: form };
        let answered = exchange(at, &sent, Instant::now() + SOON).and_then(|mut reply| {
            reply.all("set-cookie").for_each(|cookie| self.keep(cookie));
            let location = reply.header("location").map(str::to_owned);
            Ok(Page { status: reply.status, location, text: reply.text()? })
        });
        answered.map_err(|error| format!("{method} {path} at {at}: {error}"))
    }

    fn keep(&mut self, cookie: &str) {
        let (pair, rest) = cookie.split_once(';').unwrap_or((cookie, ""));
        let Some((name, value)) = pair.split_once('=') else { return };
        if rest.contains("Max-Age=0") {
            self.cookies.remove(name);
        } else {
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
    }
}
