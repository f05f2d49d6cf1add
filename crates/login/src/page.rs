//! The pages for people. They load nothing, and no other page may frame them. This module must not know how a
//! sign-in continues.

use std::sync::LazyLock;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY};
use http::{Response, StatusCode};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::authorization_request::AuthorizationRequest;
use crate::client_document;
use crate::client_metadata::visible;
use crate::redirect_uri;
use crate::response::Reply;

const STYLE: &str = include_str!("page.css");

/// The content security policy of all pages: only the style sheet above is allowed. Form targets are not
/// restricted, because a form leads to the site, which may redirect further.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = BASE64_STANDARD.encode(digest(&SHA256, STYLE.as_bytes()).as_ref());
    format!("default-src 'none'; style-src 'sha256-{hash}'; frame-ancestors 'none'; base-uri 'none'")
});

/// The ways in which a person chooses the site.
pub(crate) enum SiteChoice<'a> {
    /// There is only this site.
    Fixed(&'a str),
    /// The person selects one of these sites.
    Among(&'a [String]),
    /// The person enters the site; the field is prefilled with this text.
    Typed(&'a str),
}

/// The first page: shows the client, its request and the site. Its form is sent to `to`.
pub(crate) fn question(
    status: StatusCode,
    (to, request): (&str, &AuthorizationRequest),
    choice: &SiteChoice<'_>,
    error: Option<&str>,
) -> Reply {
    let client = &request.client;
    let publisher = client_document::is_address(&client.client_id, |_| true)
        .then(|| redirect_uri::shown(&client.client_id));
    let body = html! {
        h1 { "Connect " (client.name()) " to WordPress" }
        @if let Some(error) = error { p.error role="alert" { (error) } }
        p { strong { (client.name()) } " wants to use your WordPress site through Dragoman." }
        ul {
            li { "It will be able to do what your account can do there: read, and also change and delete." }
            li { "Then you return to " strong { (redirect_uri::shown(&request.redirect_uri)) } "." }
            @if let Some(publisher) = publisher {
                li { "This application is published by " strong { (publisher) } "." }
            } @else {
                li { "Nobody has verified the name of this application. Continue only if you started this yourself just now." }
            }
        }
        form method="post" action=(to) {
            @match choice {
                SiteChoice::Fixed(site) => { p { "Your site: " strong { (site) } } }
                SiteChoice::Among(sites) => {
                    label for="site" { "Your site" }
                    select id="site" name="site" { @for site in *sites { option { (site) } } }
                    p.hint { "You log in there on the next page." }
                }
                SiteChoice::Typed(text) => {
                    label for="site" { "The address of your site" }
                    input id="site" name="site" value=(visible(text)) placeholder="example.com" autocomplete="url"
                        autocapitalize="none" spellcheck="false" required;
                    p.hint { "You log in there on the next page. Dragoman never sees the password with which you log in." }
                }
            }
            p.buttons {
                button name="choice" value="continue" { "Continue" }
                button.second name="choice" value="cancel" formnovalidate { "Cancel" }
            }
        }
    };
    // Browsers name the page that sends a form only if that page's referrer policy allows it.
    page(status, "Connect to WordPress", &body, "same-origin")
}

/// A page with a message, and a link back to the client, if there is one.
pub(crate) fn message(status: StatusCode, title: &str, text: &str, back: Option<&str>) -> Reply {
    let body = html! {
        h1 { (title) }
        p { (text) }
        @if let Some(back) = back { p.buttons { a.button href=(back) { "Continue" } } }
    };
    page(status, title, &body, "no-referrer")
}

fn page(status: StatusCode, title: &str, body: &Markup, referrer: &'static str) -> Reply {
    let text = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " · Dragoman" }
                style { (PreEscaped(STYLE)) }
            }
            body { main { (body) } }
        }
    };
    let mut reply = Response::new(Bytes::from(text.into_string()));
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static(referrer));
    if let Ok(policy) = HeaderValue::from_str(&POLICY) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    reply
}
