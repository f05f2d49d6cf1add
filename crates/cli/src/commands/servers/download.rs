//! Downloads documents and files, for commands that add servers. This module must not know what they contain.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, HeaderValue, LOCATION, USER_AGENT};
use http::{Request, StatusCode, Uri};
use tokio::time::Instant;
use transport::budget::Part;
use transport::net::{Client, ClientLimits, Trust, collect};

use crate::output::failure::Failure;

/// The time limit for a whole download.
const WITHIN: Duration = Duration::from_mins(5);

/// The number of redirects that are followed: the addresses of releases redirect to a storage service.
const MAX_REDIRECTS: usize = 5;

/// Downloads at most `cap` bytes. Redirects are followed, but never from `https` to an address without encryption.
///
/// # Errors
/// Fails if the address does not answer with a success in time, or if the answer is larger.
pub(crate) fn downloaded(url: &str, cap: usize) -> Result<Bytes, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::new(format!("cannot create an event queue: {e}")))?;
    let url = url.parse().map_err(|e| Failure::usage(format!("{url:?} is not a URL: {e}")))?;
    let done = runtime.block_on(followed(url, cap));
    // A DNS lookup that hangs must not keep the command from ending.
    runtime.shutdown_background();
    done
}

async fn followed(mut url: Uri, cap: usize) -> Result<Bytes, Failure> {
    let client = Client::new(ClientLimits::default(), Trust::default());
    let deadline = Instant::now() + WITHIN;
    for _ in 0..=MAX_REDIRECTS {
        let request = Request::get(url.clone())
            .header(ACCEPT, "application/json, */*")
            .header(USER_AGENT, concat!("dragoman/", env!("CARGO_PKG_VERSION")))
            .body(Bytes::new())
            .map_err(|e| Failure::new(format!("{url}: {e}")))?;
        let late = || {
            Failure::new(format!("{url} did not answer within 5 minutes"))
                .help("check the network, and try again")
        };
        let answer = tokio::time::timeout_at(deadline, client.request(request)).await.map_err(|_| late())?;
        let answer = answer.map_err(|e| Failure::new(e.to_string()))?;
        let (head, body) = answer.into_parts();
        if head.status.is_redirection() {
            url = redirected(&url, head.headers.get(LOCATION))?;
            continue;
        }
        if head.status != StatusCode::OK {
            return Err(refused(&url, head.status));
        }
        let body = collect(body, Part::Answers, cap, deadline).await;
        return body.map_err(|e| Failure::new(format!("{url}: {e}")));
    }
    Err(Failure::new(format!("{url} redirects more than {MAX_REDIRECTS} times")))
}

fn refused(url: &Uri, status: StatusCode) -> Failure {
    let help = match status {
        StatusCode::NOT_FOUND => "check the name and the version",
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            "this address requires credentials, which this command cannot send"
        }
        _ => "try again later",
    };
    Failure::new(format!("{url} answered HTTP {status}")).help(help)
}

/// The address to which an answer redirects.
fn redirected(from: &Uri, to: Option<&HeaderValue>) -> Result<Uri, Failure> {
    let text = to.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let absolute = if text.starts_with('/') {
        let (scheme, authority) =
            (from.scheme_str().unwrap_or("https"), from.authority().map_or("", |one| one.as_str()));
        format!("{scheme}://{authority}{text}")
    } else {
        text.to_owned()
    };
    let uri: Option<Uri> = absolute.parse().ok();
    let is_weaker = |uri: &Uri| from.scheme_str() == Some("https") && uri.scheme_str() != Some("https");
    match uri.filter(|uri| uri.host().is_some()) {
        Some(uri) if is_weaker(&uri) => {
            Err(Failure::new(format!("{from} redirects to {uri}, which is not encrypted")))
        }
        Some(uri) => Ok(uri),
        None => Err(Failure::new(format!("{from} redirects to an invalid address"))),
    }
}

#[cfg(test)]
mod tests {
    use super::redirected;
    use http::HeaderValue;

    #[test]
    fn redirects_stay_encrypted() {
        let from = "https://a.example/x".parse().unwrap();
        let to = |text: &'static str| {
            redirected(&from, Some(&HeaderValue::from_static(text))).map(|uri| uri.to_string()).ok()
        };
        assert_eq!(to("/y").as_deref(), Some("https://a.example/y"));
        assert_eq!(to("https://b.example/y").as_deref(), Some("https://b.example/y"));
        assert_eq!(to("http://b.example/y"), None);
        assert_eq!(to("y"), None);
    }
}
