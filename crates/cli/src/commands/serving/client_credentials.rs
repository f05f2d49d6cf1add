//! The credentials that clients send, as the first screen shows them: credentials for Dragoman itself, and
//! credentials for the site that a request names. This module must not know how a client is configured.

use std::fmt::Write as _;

use config::{Config, Link};
use serde_json::{Value, json};

/// The headers with which a request names its site and its account, and what to write in place of their values.
const SITE_HEADERS: [(&str, &str); 3] = [
    ("x-wordpress-url", "https://YOUR-SITE"),
    ("x-wordpress-username", "USER"),
    ("x-wordpress-password", "APP-PASSWORD"),
];

/// The credentials of clients, as the instructions for connecting show them.
pub(crate) struct Credentials {
    /// The headers that clients send.
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    /// The ways to get the values; empty if none are needed.
    pub(crate) how: Vec<String>,
}

impl Credentials {
    /// Chooses the simplest of the configured authentication methods, preferably one that clients handle by
    /// themselves. `file` is the absolute path of the configuration.
    pub(crate) fn of(config: &Config, file: Option<&str>) -> Self {
        let mut all = Self::of_sites(config);
        if let Some((value, how)) = own(config, file) {
            all.headers.extend(value.map(|value| ("Authorization", value)));
            all.how.push(how);
        }
        all
    }

    /// The headers for the sites of embedded servers, if requests name the site or the account.
    pub(crate) fn of_sites(config: &Config) -> Self {
        let mut all = Self { headers: Vec::new(), how: Vec::new() };
        let sites =
            config.mcp_servers.values().filter(|server| !server.disabled).filter_map(|server| match &server
                .link
            {
                Link::Native(native) => native.site.as_ref(),
                _ => None,
            });
        for site in sites {
            let is_named = site.url.as_ref().is_some_and(|url| !url.expose().is_empty());
            if !is_named && site.headers {
                all.headers = SITE_HEADERS.to_vec();
                all.how = vec!["write your site, your user name there and an application password (docs/wordpress.md) in place of \
                     https://YOUR-SITE, USER and APP-PASSWORD"
                    .to_owned()];
                return all;
            }
            if is_named && site.basic && site.username.is_none() {
                all.headers = vec![("Authorization", "Basic BASE64")];
                all.how = vec!["replace BASE64 with the output of: printf '%s' 'USER:APP-PASSWORD' | base64; USER is your name at \
                     the site, APP-PASSWORD an application password (docs/wordpress.md)"
                    .to_owned()];
            }
        }
        all
    }

    /// Returns the command-line options that send the headers, such as `--header "Authorization: Bearer KEY"`; empty if
    /// no header is needed.
    pub(crate) fn options(&self, name: &str) -> String {
        let mut options = String::new();
        for (header, value) in &self.headers {
            let _ = write!(options, " {name} \"{header}: {value}\"");
        }
        options
    }

    /// Returns a server entry to which the headers have been added.
    pub(crate) fn with(&self, mut server: Value) -> Value {
        for (header, value) in &self.headers {
            server["headers"][header] = json!(value);
        }
        server
    }
}

/// The credential for Dragoman itself: the value of the header, if the value has a fixed form, and the way to get
/// the credential. `None` if no credential is needed.
fn own(config: &Config, file: Option<&str>) -> Option<(Option<&'static str>, String)> {
    let auth = &config.auth;
    let config = file.map(|file| format!(" --config {file}")).unwrap_or_default();
    if !auth.asks() {
        return None;
    }
    Some(if auth.keys {
        let how = format!("replace KEY with an API key; create one with: dragoman key new me{config}");
        (Some("Bearer KEY"), how)
    } else if auth.bearer.is_some() {
        (Some("Bearer TOKEN"), "replace TOKEN with the token of auth.bearer".to_owned())
    } else if auth.login.is_some() {
        (
            None,
            "clients open a browser, in which people sign in with their account at a WordPress site"
                .to_owned(),
        )
    } else if auth.oauth.is_some() {
        (
            None,
            "clients log in with OAuth when they are asked to; the Inspector and scripts send a token"
                .to_owned(),
        )
    } else if !auth.jwt.is_empty() {
        (Some("Bearer TOKEN"), "replace TOKEN with a token of an issuer in auth.jwt".to_owned())
    } else {
        let how = "replace BASE64 with the output of: printf '%s' 'NAME:PASSWORD' | base64";
        (Some("Basic BASE64"), how.to_owned())
    })
}
