//! The upstream over Streamable HTTP, on one thread.

use super::answer::{Answer, Answers};
use super::body::Content;
use super::options::{Era, LONGEST_MESSAGE, Options};
use super::request::{MODERN, Request};
use super::sessions::Sessions;
use bytes::{Bytes, BytesMut};
use http_body::Body;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::{Method, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::future::poll_fn;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::Arc;
use tokio::net::TcpListener;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const NO_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

struct Upstream {
    answers: Answers,
    sessions: Sessions,
    era: Era,
    sse: bool,
}

/// Serves until the process ends; with the option `--until-stdin-closes`, only until stdin closes.
pub(super) fn run(answers: Answers, options: &Options) -> io::Result<()> {
    let (era, sse) = (options.era, options.sse);
    let upstream = Arc::new(Upstream { answers, sessions: Sessions::default(), era, sse });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", options.port)).await?;
        writeln!(io::stdout(), "listening http://{}/mcp", listener.local_addr()?)?;
        io::stdout().flush()?;
        if options.until_stdin_closes {
            tokio::select! {
                ended = accept(&listener, &upstream) => ended,
                () = stdin_closed() => Ok(()),
            }
        } else {
            accept(&listener, &upstream).await
        }
    })
}

async fn stdin_closed() {
    let (ended, wait) = tokio::sync::oneshot::channel();
    // A separate thread, because the runtime's threads for blocking work would delay the end.
    std::thread::spawn(move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = ended.send(());
    });
    let _ = wait.await;
}

async fn accept(listener: &TcpListener, upstream: &Arc<Upstream>) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let upstream = Arc::clone(upstream);
        let service = hyper::service::service_fn(move |request| {
            let upstream = Arc::clone(&upstream);
            async move { Ok::<_, hyper::Error>(upstream.serve(request).await) }
        });
        tokio::spawn(async move {
            // A client that disconnects is not an error of the upstream, and nobody is left to report it to.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

impl Upstream {
    async fn serve(&self, request: hyper::Request<Incoming>) -> Response<Content> {
        if request.uri().path() != "/mcp" {
            return refusal(StatusCode::NOT_FOUND, -32600, "the endpoint is /mcp");
        }
        if *request.method() == Method::POST {
            let (parts, body) = request.into_parts();
            return match read(body).await {
                Ok(message) => self.post(&parts.headers, &message),
                Err(()) => {
                    refusal(StatusCode::PAYLOAD_TOO_LARGE, -32600, "the message is too long or broken off")
                }
            };
        }
        let Some(id) = request.headers().get(SESSION) else {
            return refusal(StatusCode::BAD_REQUEST, -32600, "no Mcp-Session-Id");
        };
        match *request.method() {
            Method::GET => self.listen(id),
            Method::DELETE if self.sessions.end(id.as_bytes()) => empty(StatusCode::OK),
            Method::DELETE => no_session(),
            _ => refusal(StatusCode::METHOD_NOT_ALLOWED, -32600, "POST, GET or DELETE"),
        }
    }

    fn listen(&self, id: &HeaderValue) -> Response<Content> {
        match self.sessions.get(id.as_bytes()) {
            Some(session) => {
                let mut response = events(Content::open(session));
                // A buffering proxy would hold back the head until the first event comes.
                response.headers_mut().insert(NO_BUFFERING, HeaderValue::from_static("no"));
                response
            }
            None => no_session(),
        }
    }

    fn post(&self, headers: &HeaderMap, message: &[u8]) -> Response<Content> {
        let Some(request) = self.answers.read(message) else {
            return refusal(StatusCode::BAD_REQUEST, -32700, "no JSON-RPC message");
        };
        let opens = request.method == Some(b"initialize") && !request.modern;
        if request.modern {
            if let Err(why) = matches_headers(headers, &request) {
                return refusal(StatusCode::BAD_REQUEST, -32020, why);
            }
        } else if !opens && self.era != Era::Modern {
            match headers.get(SESSION) {
                None => return refusal(StatusCode::BAD_REQUEST, -32600, "no Mcp-Session-Id"),
                Some(id) if !self.sessions.has(id.as_bytes()) => return no_session(),
                Some(_) => {}
            }
        }
        let Some(answer) = self.answers.to(&request) else { return empty(StatusCode::ACCEPTED) };
        let refused = answer.code.is_some();
        let mut response = self.answered(answer, request.modern, accepts_events(headers));
        if opens && !refused {
            let Some(id) = self.sessions.open().and_then(|id| HeaderValue::try_from(id).ok()) else {
                return refusal(StatusCode::SERVICE_UNAVAILABLE, -32000, "too many sessions");
            };
            response.headers_mut().insert(SESSION, id);
        }
        response
    }

    fn answered(&self, answer: Answer, modern: bool, accepts_events: bool) -> Response<Content> {
        let status = match answer.code {
            Some(-32601) if modern => StatusCode::NOT_FOUND,
            Some(-32022) => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        };
        if self.sse && accepts_events && status == StatusCode::OK {
            return events(Content::event(&answer.head, answer.tail));
        }
        json(status, Content::json(answer.head, answer.tail))
    }
}

fn accepts_events(headers: &HeaderMap) -> bool {
    let accepted = headers.get(ACCEPT).map_or(&b""[..], HeaderValue::as_bytes);
    memchr::memmem::find(accepted, b"text/event-stream").is_some()
}

/// Checks that the headers that name version, method and tool match the body.
fn matches_headers(headers: &HeaderMap, request: &Request<'_>) -> Result<(), &'static str> {
    let says =
        |header: &HeaderName, wanted: Option<&[u8]>| headers.get(header).map(HeaderValue::as_bytes) == wanted;
    if request.version != Some(MODERN.as_bytes()) || !says(&VERSION, request.version) {
        return Err("MCP-Protocol-Version is missing or unlike the message");
    }
    if !says(&METHOD, request.method) {
        return Err("Mcp-Method is missing or unlike the message");
    }
    if request.method == Some(b"tools/call") && !says(&NAME, request.name) {
        return Err("Mcp-Name is missing or unlike the message");
    }
    Ok(())
}

/// Reads a body up to the limit. Small bodies come in one piece and are not copied.
async fn read(mut body: Incoming) -> Result<Bytes, ()> {
    let mut whole = next(&mut body).await?.unwrap_or_default();
    if body.is_end_stream() {
        return Ok(whole);
    }
    let mut more = BytesMut::from(whole);
    while let Some(piece) = next(&mut body).await? {
        if more.len() + piece.len() > LONGEST_MESSAGE {
            return Err(());
        }
        more.extend_from_slice(&piece);
    }
    whole = more.freeze();
    Ok(whole)
}

async fn next(body: &mut Incoming) -> Result<Option<Bytes>, ()> {
    match poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await {
        None => Ok(None),
        Some(Ok(frame)) => Ok(Some(frame.into_data().unwrap_or_default())),
        Some(Err(_)) => Err(()),
    }
}

fn json(status: StatusCode, content: Content) -> Response<Content> {
    let mut response = Response::new(content);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

fn events(content: Content) -> Response<Content> {
    let mut response = Response::new(content);
    response.headers_mut().insert(CONTENT_TYPE, EVENTS);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

fn empty(status: StatusCode) -> Response<Content> {
    let mut response = Response::new(Content::default());
    *response.status_mut() = status;
    response
}

fn refusal(status: StatusCode, code: i32, why: &str) -> Response<Content> {
    let Answer { head, tail, .. } = Answer::error(b"null", code, why);
    json(status, Content::json(head, tail))
}

fn no_session() -> Response<Content> {
    refusal(StatusCode::NOT_FOUND, -32001, "Session not found")
}
