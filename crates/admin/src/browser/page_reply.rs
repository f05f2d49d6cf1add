//! The answers to operators' browsers: pages, redirects, files, failures. This module must not know any page.

use std::io::Write as _;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, VARY,
};
use http::{Response, StatusCode};
use pages::asset::{self, Asset};
use pages::model::ErrorPage;
use pages::{Markup, page};
use transport::net::Body;

use super::page_request::PageRequest;
use gateway::admission::admin::sessions::FormNotice;
use gateway::changes::Refusal;
use gateway::front::http::answer;

/// The size, in bytes, below which a page is not worth compressing.
const WORTH: usize = 1024;

/// An answer, or the reason why there is no page.
pub(super) type PageResult = Result<Response<Body>, Refusal>;

/// Returns a page.
pub(super) fn page(status: StatusCode, markup: Markup) -> Response<Body> {
    typed(status, markup.into_string().into(), "text/html; charset=utf-8")
}

/// Returns a page with status 200, as the result of a screen.
#[expect(clippy::unnecessary_wraps, reason = "it ends functions that can fail")]
pub(super) fn ok(markup: Markup) -> PageResult {
    Ok(page(StatusCode::OK, markup))
}

/// Returns a page with a form whose input is invalid.
pub(super) fn unusable(markup: Markup) -> Response<Body> {
    page(StatusCode::UNPROCESSABLE_ENTITY, markup)
}

/// Returns content with this media type.
pub(super) fn typed(status: StatusCode, content: Bytes, media: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::Full(content));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    response
}

/// Returns an asset.
pub(super) fn file(asset: &'static Asset, request: &HeaderMap) -> Response<Body> {
    let is_small = accepts_gzip(request);
    let content = if is_small { asset.gzip } else { asset.body };
    let mut response = typed(StatusCode::OK, Bytes::from_static(content), asset.content_type);
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(asset::CACHE_CONTROL));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if is_small {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// Sends the browser to another page.
pub(super) fn to(path: &str) -> Response<Body> {
    let mut response = answer::empty(StatusCode::SEE_OTHER);
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(LOCATION, path);
    }
    response
}

/// Sends the browser to the page that shows the result of a form submission.
pub(super) fn done<T>(
    request: &PageRequest,
    outcome: Result<T, Refusal>,
    to_page: &str,
    done: &str,
) -> Response<Body> {
    let notice = match outcome {
        Ok(_) => FormNotice { is_fault: false, text: done.to_owned(), advice: None },
        Err(refusal) => FormNotice { is_fault: true, text: refusal.message, advice: None },
    };
    request.tell(notice);
    to(to_page)
}

/// Returns a page for a failure.
pub(super) fn error(status: StatusCode, title: &str, text: &str, advice: &str) -> Response<Body> {
    let data = ErrorPage {
        status: status.as_u16(),
        title: title.to_owned(),
        text: text.into(),
        advice: advice.to_owned(),
    };
    page(status, page::error(&data))
}

/// Returns the page for an unknown path.
pub(super) fn missing() -> Response<Body> {
    error(StatusCode::NOT_FOUND, "Not found", "There is no such page.", "Go to the overview.")
}

/// Returns the refusal of a request.
pub(super) fn refused(text: &str) -> Response<Body> {
    error(StatusCode::FORBIDDEN, "Refused", text, "")
}

/// Returns the page for a refusal of an operation.
pub(super) fn failed(refusal: &Refusal) -> Response<Body> {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let title =
        if status.is_server_error() { "Failed" } else { status.canonical_reason().unwrap_or("Refused") };
    error(status, title, &refusal.message, "Go back, or to the overview.")
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        is_gzip && !parts.any(|rest| matches!(rest, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

/// Compresses a page if the browser accepts this. Sizes of compressed pages do not reveal the form token in them:
/// the cookie is `SameSite=Strict`, so no other site can make a browser request pages and measure their sizes.
pub(super) fn compressed(response: Response<Body>, request: &HeaderMap) -> Response<Body> {
    let (mut head, body) = response.into_parts();
    let content = match body {
        Body::Full(content)
            if content.len() >= WORTH
                && !head.headers.contains_key(CONTENT_ENCODING)
                && accepts_gzip(request) =>
        {
            content
        }
        body => return Response::from_parts(head, body),
    };
    let mut encoder = GzEncoder::new(Vec::with_capacity(content.len() / 4), Compression::fast());
    let small = encoder.write_all(&content).and_then(|()| encoder.finish());
    let Ok(small) = small else { return Response::from_parts(head, Body::Full(content)) };
    head.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    head.headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    Response::from_parts(head, Body::Full(small.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_browsers_that_accept_gzip_get_it() {
        let accepts = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(value));
            accepts_gzip(&headers)
        };
        assert!(accepts("gzip") && accepts("br, GZIP;q=0.5") && accepts("deflate,gzip"));
        assert!(!accepts("br") && !accepts("gzip;q=0") && !accepts("") && !accepts("xgzip"));
        assert!(!accepts_gzip(&HeaderMap::new()));
    }
}
