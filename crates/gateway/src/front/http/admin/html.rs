//! The pages that are built here: login, messages, and an index. This module must not know who is admitted.

use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use transport::net::Body;

use crate::admission::admin::sessions::FoundSession;
use crate::insight::health;
use crate::process::Shard;

/// Writes a text so that it means only itself in HTML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() && c != '\n' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

fn page(status: StatusCode, title: &str, body: &str) -> Response<Body> {
    let title = escaped(title);
    let text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title} · Dragoman</title></head>\
         <body><main><h1>{title}</h1>{body}</main></body></html>\n"
    );
    let mut response = Response::new(Body::from(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response
}

/// Returns the login page. If nobody can log in with a password, the page says how to get in.
pub(super) fn login(status: StatusCode, has_operators: bool, message: &str) -> Response<Body> {
    let mut body = String::new();
    if !message.is_empty() {
        let _ = write!(body, "<p role=\"alert\">{}</p>", escaped(message));
    }
    if has_operators {
        body.push_str(
            "<form method=\"post\" action=\"/admin/login\"><p><label>Name <input name=\"name\" autocomplete=\"username\" required>\
             </label></p><p><label>Password <input type=\"password\" name=\"password\" autocomplete=\"current-password\" required>\
             </label></p><p><button>Log in</button></p></form>",
        );
    }
    body.push_str(
        "<p>You can also open these pages with a one-time link: run <code>dragoman admin link</code> on the machine on which \
         Dragoman runs.</p>",
    );
    page(status, "Log in", &body)
}

/// Returns the page of a one-time link.
pub(super) fn enter() -> Response<Body> {
    let body = "<p>This link opens the admin pages once.</p><form method=\"post\"><p><button>Open the pages</button></p></form>";
    page(StatusCode::OK, "Open the admin pages", body)
}

/// Returns the refusal of a request.
pub(super) fn refused(message: &str) -> Response<Body> {
    page(StatusCode::FORBIDDEN, "Refused", &format!("<p>{}</p>", escaped(message)))
}

/// Returns the page after a failure that is not the visitor's.
pub(super) fn failed(message: &str) -> Response<Body> {
    page(StatusCode::INTERNAL_SERVER_ERROR, "Failed", &format!("<p>{}</p>", escaped(message)))
}

/// Returns the page for an unknown path.
pub(super) fn missing() -> Response<Body> {
    page(
        StatusCode::NOT_FOUND,
        "Not found",
        "<p>There is no such page. <a href=\"/admin\">Go to the first page</a>.</p>",
    )
}

/// Returns the first page: what an operator should look at.
pub(super) fn index(shard: &Arc<Shard>, session: &FoundSession) -> Response<Body> {
    let mut body = String::new();
    let findings = health::health(shard).sentences();
    if findings.is_empty() {
        body.push_str("<p>All servers are available, and the configuration has no errors.</p>");
    } else {
        body.push_str("<ul>");
        for finding in findings {
            let _ = write!(body, "<li>{}</li>", escaped(&finding));
        }
        body.push_str("</ul>");
    }
    let _ = write!(
        body,
        "<form method=\"post\" action=\"/admin/logout\"><p>Logged in as {}. <input type=\"hidden\" name=\"csrf\" value=\"{}\">\
         <button>Log out</button></p></form>",
        escaped(&session.by.name()),
        escaped(&session.form_token)
    );
    page(StatusCode::OK, "Overview", &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_text() {
        assert_eq!(
            escaped("<a href='x' id=\"y\">&\u{1b}[2J"),
            "&lt;a href=&#39;x&#39; id=&quot;y&quot;&gt;&amp;\u{fffd}[2J"
        );
    }
}
