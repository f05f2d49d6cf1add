//! Where browsers come back to from an authorization server: a plain page that says what came of it. It must not know how a
//! code becomes a token.

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, Request, Response, StatusCode};
use transport::net::{Body, Incoming};

use super::answer;
use crate::consent::Fault;
use crate::gateway::{Shard, consent};

/// Takes a browser back in.
pub(super) async fn callback(shard: &Shard, request: &Request<Incoming>) -> Response<Body> {
    if *request.method() != Method::GET {
        return answer::only("GET", "browsers come back here by GET");
    }
    let query = request.uri().query().unwrap_or_default();
    match shard.gateway.consents.finish(query).await {
        Ok(server) => {
            consent::changed(shard, &server);
            let said = format!("Dragoman may now use the server {server} for you. You can close this page.");
            page(StatusCode::OK, "Consent given", &said)
        }
        Err((fault, server)) => {
            let of = server.map(|server| format!(" (server {server})")).unwrap_or_default();
            let said =
                format!("{fault}{of}. Ask for the tool again: you are then given a new address to open.");
            page(status(&fault), "Consent not given", &said)
        }
    }
}

fn status(fault: &Fault) -> StatusCode {
    match fault {
        Fault::NotExchanged(_) => StatusCode::BAD_GATEWAY,
        Fault::Declined(_) => StatusCode::FORBIDDEN,
        _ => StatusCode::BAD_REQUEST,
    }
}

/// A page that nothing can be loaded into, and that tells nobody of its address, which has a code in it.
fn page(status: StatusCode, title: &str, said: &str) -> Response<Body> {
    let said = escaped(said);
    let text = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title></head>\n\
         <body><h1>{title}</h1><p>{said}</p></body></html>\n"
    );
    let mut response = Response::new(Body::Full(Bytes::from(text)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (
            CONTENT_SECURITY_POLICY,
            "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A text in which nothing means anything to a browser.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_say_is_no_part_of_the_page() {
        assert_eq!(
            escaped("<b a=\"x\">'&amp;'</b>"),
            "&lt;b a=&quot;x&quot;&gt;&#39;&amp;amp;&#39;&lt;/b&gt;"
        );
    }
}
