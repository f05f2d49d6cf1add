//! A person with a browser, which keeps the cookies of the gateway. The person is logged in at the site.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::flow::{form, parameters};
use crate::support::*;

/// The browser.
pub(super) struct Browser {
    http: Http,
    base: String,
    cookies: Vec<String>,
}

impl Browser {
    pub(super) fn new(http: Http) -> Self {
        Self { http, base: format!("http://{}", http.address), cookies: Vec::new() }
    }

    /// Opens an address of the gateway or of the site.
    async fn open(&mut self, url: &str) -> Reply {
        let (host, path) = url.strip_prefix("http://").expect(url).split_once('/').expect(url);
        let path = format!("/{path}");
        if host != self.http.address.to_string() {
            return Http::new(host.parse().expect(url)).get(&path, &[]).await;
        }
        let cookies = self.cookies.join("; ");
        let reply = self.http.get(&path, &[("Cookie", &cookies)]).await;
        let set = reply.fields.iter().filter(|(name, _)| name == "set-cookie");
        let set = set.map(|(_, value)| value.split(';').next().unwrap_or_default().to_owned());
        self.cookies.extend(set);
        reply
    }

    /// Comes from the client, chooses the site and approves; returns the first page, and the address of the client to which
    /// the browser returns.
    pub(super) async fn sign_in(&mut self, url: &str, site: &str, redirect_uri: &str) -> (String, String) {
        let mut question = self.open(url).await;
        let page = question.text().await;
        assert_eq!(question.status, 200, "{page}");
        let action = page.split("action=\"").nth(1).and_then(|rest| rest.split('"').next()).expect(&page);
        let path = action.strip_prefix(&self.base).expect(action);
        let fields = form(&[("site", site), ("choice", "continue")]);
        let cookies = self.cookies.join("; ");
        let headers = [
            ("Cookie", cookies.as_str()),
            ("Origin", &self.base),
            ("Sec-Fetch-Site", "same-origin"),
            ("Content-Type", "application/x-www-form-urlencoded"),
        ];
        let mut reply = self.http.post(path, &headers, &fields).await;
        for _ in 0..8 {
            let to = reply.header("location").to_owned();
            let text = if to.is_empty() { reply.text().await } else { String::new() };
            assert!(!to.is_empty(), "{} {text}", reply.status);
            if to.starts_with(redirect_uri) {
                return (page, to);
            }
            reply = self.open(&to).await;
        }
        panic!("the browser is redirected for ever");
    }
}

/// The SHA-256 digest of a text, in Base64 for URLs.
pub(super) fn challenge(verifier: &str) -> String {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, verifier.as_bytes());
    BASE64_STANDARD.encode(digest).replace('+', "-").replace('/', "_").trim_end_matches('=').to_owned()
}

/// The parameters with which a browser returns to a client.
pub(super) fn returned(url: &str) -> impl Fn(&str) -> String {
    let all = parameters(url.split_once('?').expect(url).1);
    move |name| all.iter().find(|(own, _)| own == name).map_or_else(String::new, |(_, value)| value.clone())
}
