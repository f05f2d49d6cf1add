//! The consent pages: the page on which users begin to give consent, and the page to which an authorization server
//! returns them. The first page shows what is requested, and asks for a proof that the user is the caller whose
//! consent is requested. This module must not know how a code becomes a token.

use std::net::{IpAddr, SocketAddr};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use engine::access::Scheme;
use http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, HeaderMap, HeaderValue,
    LOCATION, ORIGIN, REFERRER_POLICY, SET_COOKIE,
};
use http::{Method, Request, Response, StatusCode};
use transport::net::{Body, Incoming};

use super::body;
use super::{answer, guard, header_names};
use crate::call::consent;
use crate::process::Shard;
use transport::net::Arrived;
use upstream::oauth::form::pairs;
use upstream::oauth::{CallerId, ConsentFault, ConsentStart, START};

/// The content security policy: the page may load nothing, and no other page may frame it.
const CLOSED: &str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
/// The content security policy for a page with a form. Submitting the form leads to the authorization server, which
/// may redirect further, so form targets are not restricted.
const FORM: &str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'";

/// Serves the page on which consent begins: GET shows the page, POST submits its form.
pub(super) async fn start(shard: &Shard, request: Arrived, peer: SocketAddr) -> Response<Body> {
    let entry = request.uri().path().strip_prefix(START).unwrap_or_default().to_owned();
    let Some(begun) = shard.gateway.process.consents.begun(&entry) else { return over() };
    match *request.method() {
        Method::GET => question(StatusCode::OK, &begun, ""),
        Method::POST if !is_own_page(shard, &request) => {
            let said = "This request did not come from Dragoman's own page. Open that page yourself.";
            page(StatusCode::FORBIDDEN, "Consent not started", said)
        }
        Method::POST => leave(shard, &entry, &begun, request, peer).await,
        _ => answer::only("GET, POST", "browsers start here with GET and continue with POST"),
    }
}

/// Redirects a browser to the authorization server, if its user may begin this consent.
async fn leave(
    shard: &Shard,
    entry: &str,
    begun: &ConsentStart,
    request: Arrived,
    peer: SocketAddr,
) -> Response<Body> {
    let client = shard.gateway.client_of(peer.ip(), request.headers()).address;
    let mut body = request.into_body();
    let text = match body::read(shard, &mut body).await {
        Ok(text) => text,
        Err(refused) => return *refused,
    };
    if !is_the_one(shard, begun, &String::from_utf8_lossy(&text), client).await {
        shard.gateway.process.consents.doubt(entry);
        return question(StatusCode::FORBIDDEN, begun, "These credentials do not belong to this caller. ");
    }
    let Some(onward) = shard.gateway.process.consents.go_on(entry) else { return over() };
    let (place, cookie) = (HeaderValue::from_str(&onward.url), HeaderValue::from_str(&onward.cookie));
    let (Ok(place), Ok(mut cookie)) = (place, cookie) else { return over() };
    cookie.set_sensitive(true);
    let mut response = page(StatusCode::SEE_OTHER, "Redirecting", "Your browser is being redirected.");
    response.headers_mut().insert(LOCATION, place);
    response.headers_mut().insert(SET_COOKIE, cookie);
    response
}

/// Returns true if the form was sent from the gateway's own page, which browsers name in the request. Another
/// site's page could try to make its visitor complete a consent that somebody else started.
fn is_own_page(shard: &Shard, request: &Request<Incoming>) -> bool {
    let headers = request.headers();
    let host = guard::authority(headers, request.uri());
    let public = shard.gateway.process.consents.host();
    let is_own = |origin: &HeaderValue| {
        let authority =
            origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, rest)| rest);
        let is =
            |own: Option<&str>| authority.zip(own).is_some_and(|(one, own)| one.eq_ignore_ascii_case(own));
        is(host) || is(public.as_deref())
    };
    let mut sites = headers.get_all(&header_names::SEC_FETCH_SITE).iter();
    let mut origins = headers.get_all(ORIGIN).iter().peekable();
    origins.peek().is_some() && origins.all(is_own) && sites.all(|site| site == "same-origin")
}

/// Returns true if the form proves that its sender is the caller whose consent is requested. Only credentials that
/// people can type are checked, because nobody can type a signed token from memory.
async fn is_the_one(shard: &Shard, begun: &ConsentStart, form: &str, client: IpAddr) -> bool {
    let Some(caller) = &begun.caller else { return true };
    let all = pairs(form);
    let get = |key: &str| all.iter().find(|(name, _)| name == key).map_or("", |(_, value)| value.as_str());
    let shown = match caller.scheme {
        Scheme::Token | Scheme::Login | Scheme::Anyone => return true,
        Scheme::Bearer | Scheme::Key => format!("Bearer {}", get("secret")),
        Scheme::Basic | Scheme::Site => {
            format!("Basic {}", BASE64_STANDARD.encode(format!("{}:{}", get("name"), get("secret"))))
        }
    };
    let Ok(mut shown) = HeaderValue::from_str(&shown) else { return false };
    shown.set_sensitive(true);
    let headers = HeaderMap::from_iter([(AUTHORIZATION, shown)]);
    shard.door.identify(&headers, Some(client)).await.is_ok_and(|principal| principal.id == caller.id)
}

/// Returns the page that shows what is requested.
fn question(status: StatusCode, begun: &ConsentStart, notice: &str) -> Response<Body> {
    let ConsentStart { server, caller, at, scopes } = begun;
    let lasting = match caller {
        Some(caller) => format!(
            "{} wants to use the server {server} with your account there. Continue only if you are this caller.",
            in_words(caller)
        ),
        None => {
            format!(
                "Everybody who may use the server {server} through this gateway will use it with your account."
            )
        }
    };
    let allowed =
        if scopes.is_empty() { String::new() } else { format!(" Requested scopes: {}.", scopes.join(" ")) };
    let said = escaped(&format!(
        "{notice}{lasting} You will be redirected to {at} to sign in.{allowed} If you did not just \
         request this yourself, close this page."
    ));
    let (name, secret) = match caller.as_ref().map(|caller| caller.scheme) {
        Some(Scheme::Basic | Scheme::Site) => (true, Some("Password")),
        Some(Scheme::Bearer | Scheme::Key) => (false, Some("The token or key of this caller")),
        _ => (false, None),
    };
    let name =
        if name { "<p><label>Name <input name=\"name\" autocomplete=\"username\"></label></p>" } else { "" };
    let secret = secret.map_or_else(String::new, |secret| {
        format!("<p><label>{secret} <input name=\"secret\" type=\"password\"></label></p>")
    });
    let body =
        format!("<p>{said}</p><form method=\"post\">{name}{secret}<p><button>Continue</button></p></form>");
    // Browsers name the page that sends a form only if that page's referrer policy allows it.
    document(status, "Consent", &body, (FORM, "same-origin"))
}

/// Returns a description of the caller for a user who does not know how this gateway identifies callers.
fn in_words(caller: &CallerId) -> String {
    let id = &*caller.id;
    let name = |mark: &str| id.strip_prefix(mark);
    let said = match caller.scheme {
        Scheme::Key => name("key:").map(|key| format!("The holder of the API key that begins with {key}")),
        Scheme::Basic => name("user:").map(|user| format!("The user {user} of this gateway")),
        Scheme::Site | Scheme::Login => {
            let rest = name("site:").or_else(|| name("login:"));
            let parts = rest.and_then(|rest| rest.rsplit_once('#'));
            parts.map(|(site, user)| format!("The user {user} of {site}"))
        }
        Scheme::Token => {
            let user = name("jwt:").and_then(|rest| rest.split_once('#'));
            let client = name("jwt-client:").and_then(|rest| rest.split_once('#'));
            let user = user.map(|(issuer, subject)| format!("The user {subject} of {issuer}"));
            user.or_else(|| client.map(|(issuer, id)| format!("The client {id} of {issuer}")))
        }
        Scheme::Bearer => Some("The holder of the token of this gateway".to_owned()),
        Scheme::Anyone => None,
    };
    said.unwrap_or_else(|| id.to_owned())
}

/// Returns the page for an unknown or finished request.
fn over() -> Response<Body> {
    let said = "This request is unknown: it has already been answered, or it has expired. Call the tool \
                again to get a new address.";
    page(StatusCode::NOT_FOUND, "Nothing to consent to", said)
}

/// Handles the return of a browser from the authorization server.
pub(super) async fn callback(shard: &Shard, request: &Request<Incoming>) -> Response<Body> {
    if *request.method() != Method::GET {
        return answer::only("GET", "browsers return here with GET");
    }
    let arrived = (request.uri().path(), request.uri().query().unwrap_or_default());
    let cookies = request.headers().get_all(COOKIE).iter();
    let cookies: Vec<&str> = cookies.filter_map(|cookie| cookie.to_str().ok()).collect();
    match shard.gateway.process.consents.finish(arrived, &cookies).await {
        Ok((server, caller)) => {
            consent::changed(&shard.call, &server, caller.as_ref());
            let said = format!("Dragoman may now use the server {server} for you. You can close this page.");
            page(StatusCode::OK, "Consent given", &said)
        }
        Err((fault, server)) => {
            let of = server.map(|server| format!(" (server {server})")).unwrap_or_default();
            let said = format!("{fault}{of}. Call the tool again to get a new address.");
            page(status(&fault), "Consent not given", &said)
        }
    }
}

/// Returns the document that describes Dragoman's client to an authorization server.
pub(super) fn client_document(method: &Method, text: String) -> Response<Body> {
    if *method != Method::GET {
        return answer::only("GET", "authorization servers fetch this document with GET");
    }
    let mut response = Response::new(Body::Full(Bytes::from(text)));
    for (name, value) in [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "max-age=3600")] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn status(fault: &ConsentFault) -> StatusCode {
    match fault {
        ConsentFault::NotExchanged(_) => StatusCode::BAD_GATEWAY,
        ConsentFault::Declined(_) | ConsentFault::OtherBrowser => StatusCode::FORBIDDEN,
        _ => StatusCode::BAD_REQUEST,
    }
}

/// Returns a page that loads nothing. Its address, which may contain a code, is never sent as a referrer.
fn page(status: StatusCode, title: &str, said: &str) -> Response<Body> {
    document(status, title, &format!("<p>{}</p>", escaped(said)), (CLOSED, "no-referrer"))
}

fn document(
    status: StatusCode,
    title: &str,
    body: &str,
    (security, referrer): (&'static str, &'static str),
) -> Response<Body> {
    let text = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title></head>\n\
         <body><h1>{title}</h1>{body}</body></html>\n"
    );
    let mut response = Response::new(Body::Full(Bytes::from(text)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, referrer),
        (CONTENT_SECURITY_POLICY, security),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Returns a text in which all special characters of HTML are escaped.
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

    #[tokio::test]
    async fn the_first_page_says_who_asks_for_what_and_where() {
        use engine::access::Principal;
        for (id, scheme, words, secret) in [
            (
                "jwt:https://id.example.com#auth0|7<b>",
                Scheme::Token,
                "The user auth0|7&lt;b&gt; of https://id.example.com wants",
                None,
            ),
            (
                "key:dgm_abcdefgh",
                Scheme::Key,
                "The holder of the API key that begins with dgm_abcdefgh wants",
                Some("token or key"),
            ),
            ("user:ann", Scheme::Basic, "The user ann of this gateway wants", Some("Password")),
            (
                "site:https://blog.example.com#ann",
                Scheme::Site,
                "The user ann of https://blog.example.com wants",
                Some("Password"),
            ),
            ("bearer", Scheme::Bearer, "The holder of the token of this gateway wants", Some("token or key")),
        ] {
            let begun = ConsentStart {
                server: "files".into(),
                caller: Some(CallerId::of(&Principal::new(id, scheme))),
                at: "auth.example.com".to_owned(),
                scopes: vec!["read".to_owned(), "write".to_owned()],
            };
            let body = question(StatusCode::OK, &begun, "").into_body();
            let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(9);
            let page = transport::net::collect(body, transport::budget::Part::Answers, 1 << 16, deadline)
                .await
                .expect("a page");
            let page = String::from_utf8_lossy(&page);
            for said in
                [words, "the server files", "redirected to auth.example.com", "Requested scopes: read write."]
            {
                assert!(page.contains(said), "{said}: {page}");
            }
            assert_eq!(page.contains("name=\"secret\""), secret.is_some(), "{page}");
            assert!(secret.is_none_or(|secret| page.contains(secret)), "{page}");
        }
    }

    #[test]
    fn what_others_say_is_no_part_of_the_page() {
        assert_eq!(
            escaped("<b a=\"x\">'&amp;'</b>"),
            "&lt;b a=&quot;x&quot;&gt;&#39;&amp;amp;&#39;&lt;/b&gt;"
        );
    }
}
