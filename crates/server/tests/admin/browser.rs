//! A browser that keeps cookies and sends forms as browsers do, and a gateway with pages.

use std::collections::HashMap;

use crate::support::*;

/// The configuration with the operator ann, whose password is `battery staple` (hashed by Node's `crypto.argon2Sync`).
pub(crate) fn with_ann(rest: &str) -> String {
    let hash =
        "$argon2id$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$gbf/SFxMMbGdacBN7IhMnP5qQZ1Lml+OVTsOtCvCWWc";
    format!("admin: {{ users: {{ ann: '{hash}' }} }}\nmcpServers: {{ demo: {{ native: demo }} }}\n{rest}")
}

/// Starts a gateway with this configuration; its state folder is in its own folder.
pub(crate) async fn start_with(config: &str) -> Gateway {
    let config = format!("{config}stateFolder: state\n");
    Gateway::start_with(&Start { config: &config, env: &[("DRAGOMAN_LOG", "info")], ..Start::default() })
        .await
}

/// The one-time link that the gateway printed, as a path.
pub(crate) fn printed_link(gateway: &Gateway) -> String {
    let hello: serde_json::Value = serde_json::from_str(gateway.printed().text().trim()).expect("JSON");
    path_of(hello["admin"].as_str().expect("a link"))
}

/// The path of a URL at the gateway.
pub(crate) fn path_of(url: &str) -> String {
    let (_, rest) = url.split_once("://").expect("a URL");
    format!("/{}", rest.split_once('/').expect("a path").1)
}

/// A page that was loaded.
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) text: String,
    pub(crate) headers: HashMap<String, String>,
}

impl Page {
    /// The token of the page's forms.
    pub(crate) fn form_token(&self) -> String {
        let (_, rest) = self.text.split_once("name=\"csrf\" value=\"").expect("a form with a token");
        rest.split_once('"').expect("its end").0.to_owned()
    }

    /// The header, or an empty text.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// A browser.
#[derive(Clone)]
pub(crate) struct Browser {
    http: Http,
    /// The cookies by name.
    pub(crate) cookies: HashMap<String, String>,
}

impl Browser {
    pub(crate) fn new(http: Http) -> Self {
        Self { http, cookies: HashMap::new() }
    }

    /// Loads a page, as after a click on a page of the same origin.
    pub(crate) async fn get(&mut self, path: &str) -> Page {
        self.send("GET", path, &[("Sec-Fetch-Site", "same-origin"), ("Content-Type", "-")], "").await
    }

    /// Sends a form of a page; browsers hide its origin because of the page's referrer policy.
    pub(crate) async fn post(&mut self, path: &str, form: &str) -> Page {
        self.send("POST", path, &[("Sec-Fetch-Site", "same-origin"), ("Origin", "null")], form).await
    }

    /// Sends a request with these headers, and keeps the cookies of the answer.
    pub(crate) async fn send(&mut self, method: &str, path: &str, headers: Headers<'_>, form: &str) -> Page {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cookies = cookies.join("; ");
        let mut all = vec![("Accept", "text/html"), ("Content-Type", "application/x-www-form-urlencoded")];
        if !cookies.is_empty() {
            all.push(("Cookie", &cookies));
        }
        all.retain(|(name, _)| headers.iter().all(|(given, _)| !given.eq_ignore_ascii_case(name)));
        all.extend(headers);
        let mut reply = self.http.send(method, path, &all, form.as_bytes()).await;
        let (status, headers) = (reply.status, reply.headers.clone());
        for (name, value) in reply.fields.iter().filter(|(name, _)| name == "set-cookie") {
            let (pair, rest) = value.split_once(';').unwrap_or((value, ""));
            let (cookie, value) = pair.split_once('=').unwrap_or((name, ""));
            if rest.contains("Max-Age=0") {
                self.cookies.remove(cookie);
            } else {
                self.cookies.insert(cookie.to_owned(), value.to_owned());
            }
        }
        Page { status, text: reply.text().await, headers }
    }

    /// Logs ann in; returns the answer.
    pub(crate) async fn log_in(&mut self, password: &str) -> Page {
        self.post("/admin/login", &format!("name=ann&password={}", password.replace(' ', "+"))).await
    }

    /// Sends a form without a clear confirmation, both as scripts do and as a page without scripts does. Each time, a page that
    /// contains these texts asks first.
    pub(crate) async fn is_asked_first(&mut self, path: &str, form: &str, texts: &[&str]) {
        for sure in ["", "&sure=no", "&sure="] {
            for script in [&[][..], &[("HX-Request", "true")]] {
                let same = [("Sec-Fetch-Site", "same-origin"), ("Origin", "null")];
                let asked =
                    self.send("POST", path, &[&same[..], script].concat(), &format!("{form}{sure}")).await;
                assert_eq!(asked.status, 200, "{sure}");
                let form_of_page = [&*format!("action=\"{path}\""), "name=\"sure\" value=\"yes\""];
                for text in texts.iter().chain(&form_of_page) {
                    assert!(asked.text.contains(text), "{text} is not in {}", asked.text);
                }
            }
        }
    }

    /// Returns true if the first page opens.
    pub(crate) async fn is_in(&mut self) -> bool {
        let page = self.get("/admin").await;
        assert!(
            page.status == 200 || (page.status == 303 && page.header("location") == "/admin/login"),
            "{}",
            page.status
        );
        page.status == 200
    }
}
