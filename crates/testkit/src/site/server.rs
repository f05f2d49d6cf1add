//! Listening, and finding the API of a path.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::answer::Answer;
use super::record::{Received, Record};
use super::request::Request;
use super::wordpress::WordPress;
use super::{application_passwords, buddyboss, heritage, images, locked};

/// The largest body that is read, in bytes.
const BODY: usize = 16 << 20;
/// The deadline for the arrival of a request.
const READ_DEADLINE: Duration = Duration::from_secs(30);
/// The largest number of open connections.
const CONNECTIONS: usize = 1024;

/// The options of a site.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The site's name, which is in the titles of its posts.
    #[arg(long, default_value = "one")]
    pub name: String,
    /// BuddyBoss is not active: its routes do not exist.
    #[arg(long)]
    pub without_buddyboss: bool,
    /// Close each connection to BuddyBoss's routes without an answer.
    #[arg(long)]
    pub broken: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { name: "one".to_owned(), without_buddyboss: false, broken: false }
    }
}

/// A listening site; dropping it stops the site.
#[derive(Debug)]
pub struct Site {
    stop: watch::Sender<()>,
    address: SocketAddr,
    record: Arc<Record>,
}

impl Site {
    /// The site's URL, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests that the site has received so far.
    pub fn received(&self) -> Vec<Received> {
        self.record.all()
    }

    /// Waits until the site has stopped.
    pub async fn wait(&self) {
        self.stop.closed().await;
    }
}

struct State {
    options: Options,
    wordpress: WordPress,
    record: Arc<Record>,
}

/// Starts a site on `address`; port 0 takes a free one.
///
/// # Errors
/// Fails if the address cannot be bound.
pub async fn serve(address: SocketAddr, options: Options) -> io::Result<Site> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    let (stop, stopped) = watch::channel(());
    let record = Arc::new(Record::default());
    let wordpress = WordPress::new(&options.name, &format!("http://{address}"));
    let state = State { options, wordpress, record: Arc::clone(&record) };
    tokio::spawn(accept(listener, Arc::new(state), stopped));
    Ok(Site { stop, address, record })
}

async fn accept(listener: TcpListener, state: Arc<State>, mut stopped: watch::Receiver<()>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            // Only an error shows that the site has been dropped.
            Err(_) = stopped.changed() => return,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if connections.len() < CONNECTIONS => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, Arc::clone(&state)));
                }
                // Usually no file descriptor is left: wait for connections to end instead of spinning.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
        }
    }
}

async fn connection(stream: TcpStream, state: Arc<State>) {
    // Small answers must not wait for the peer's acknowledgement; if this fails, they are only delayed.
    drop(stream.set_nodelay(true));
    let service = service_fn(|request| answer(request, Arc::clone(&state)));
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(READ_DEADLINE);
    // A failed connection is the client's concern.
    drop(builder.serve_connection(TokioIo::new(stream), service).await);
}

/// The reason why a connection is closed without an answer.
#[derive(Debug)]
struct Closed;

impl std::fmt::Display for Closed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the site closes this connection")
    }
}

impl std::error::Error for Closed {}

async fn answer(
    request: hyper::Request<Incoming>,
    state: Arc<State>,
) -> Result<Response<Full<Bytes>>, Closed> {
    let (head, body) = request.into_parts();
    let read = tokio::time::timeout(READ_DEADLINE, Limited::new(body, BODY).collect()).await;
    let body = read.map_err(|_| Closed)?.map_err(|_| Closed)?.to_bytes();
    let headers = head.headers.iter();
    let received = Received {
        method: head.method.to_string(),
        path: head.uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
        headers: headers
            .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
            .collect(),
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    let request = Request::of(&received);
    state.record.add(received);
    let answer = route(&request, &state)?;
    let mut response = Response::new(Full::from(answer.body));
    *response.status_mut() = StatusCode::from_u16(answer.status).map_err(|_| Closed)?;
    for (name, value) in answer.headers {
        response.headers_mut().insert(name, value.parse().map_err(|_| Closed)?);
    }
    Ok(response)
}

fn route(request: &Request, state: &State) -> Result<Answer, Closed> {
    if let Some(parts) = request.below("/wp-json/buddyboss/v1") {
        return match &state.options {
            Options { broken: true, .. } => Err(Closed),
            Options { without_buddyboss: true, .. } => Ok(Answer::no_route()),
            _ => Ok(buddyboss::answer(request, &parts)),
        };
    }
    if let Some(parts) = request.below("/wp-json") {
        return Ok(state.wordpress.answer(request, &parts, !state.options.without_buddyboss));
    }
    let base = state.wordpress.base();
    if request.path == application_passwords::PAGE {
        return Ok(application_passwords::page(request, base));
    }
    let other = locked::answer(request, base).or_else(|| images::answer(request, base));
    let other = other.or_else(|| heritage::answer(request));
    Ok(other.unwrap_or_else(Answer::no_route))
}
