//! One request over the socket of a folder. This module must not know what is requested.

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONNECTION, CONTENT_TYPE, HOST, HeaderValue};
use http::{HeaderMap, Method, StatusCode, Uri};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::path::{SOCKET, SocketPath};
use super::serve::is_own;
use crate::net::client::http1::{
    AnswerReader, HeadLimits, Http1Error, NextPiece, OwnHeaders, READ, Template, TemplatedRequest,
};

/// The time within which the other process must accept the connection.
const CONNECT: Duration = Duration::from_secs(2);

const HEAD: HeadLimits = HeadLimits { lines: 64, bytes: 32 * 1024 };

/// The reason why a request got no complete answer.
#[derive(Debug, thiserror::Error)]
pub enum LocalClientError {
    /// No process listens in the folder.
    #[error("nothing listens on {}", .0.display())]
    Nobody(PathBuf),
    /// The process that listens there belongs to another user.
    #[error("a process of another user listens on {}", .0.display())]
    Foreign(PathBuf),
    /// The path of the request is not valid.
    #[error("the path {0:?} is not valid")]
    Path(String),
    /// The socket cannot be used.
    #[error("cannot use {}: {source}", path.display())]
    Io {
        /// The path of the socket.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The answer is not valid HTTP.
    #[error("the answer from {} is not valid: {source}", path.display())]
    Http {
        /// The path of the socket.
        path: PathBuf,
        /// The reason.
        source: Http1Error,
    },
    /// The answer did not arrive in time.
    #[error("no answer within {} s", .0.as_secs_f32())]
    Late(Duration),
    /// The answer is too long.
    #[error("the answer has more than {0} bytes")]
    TooLong(usize),
}

/// A request.
#[derive(Clone, Debug)]
pub struct LocalRequest<'a> {
    /// The method.
    pub method: Method,
    /// The path, with the query.
    pub path: &'a str,
    /// The media type that the answer should have.
    pub accept: &'static str,
    /// The body, which is JSON; `None` for a request without a body.
    pub body: Option<Bytes>,
    /// The time within which the answer's head must arrive.
    pub within: Duration,
}

/// An answer whose body has not been read yet.
#[derive(Debug)]
pub struct LocalAnswer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    stream: UnixStream,
    reader: AnswerReader,
    path: PathBuf,
}

/// Sends a request to the process that listens in a folder, over a separate connection.
///
/// # Errors
/// Fails if no process listens there, or if no valid answer arrives in time.
pub async fn ask(folder: &Path, request: &LocalRequest<'_>) -> Result<LocalAnswer, LocalClientError> {
    let path = folder.join(SOCKET);
    let mut stream = connect(folder, &path).await?;
    let uri: Uri = request.path.parse().map_err(|_| LocalClientError::Path(request.path.to_owned()))?;
    let mut headers = HeaderMap::new();
    headers.insert(HOST, HeaderValue::from_static("localhost"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    headers.insert(ACCEPT, HeaderValue::from_static(request.accept));
    if request.body.is_some() {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    let template = Template::new(request.method.clone(), &uri, headers);
    let asking = async {
        let body = request.body.clone().unwrap_or_default();
        let mut bytes = Vec::with_capacity(512 + body.len());
        TemplatedRequest { template: &template, own: &OwnHeaders::NONE, body: body.clone().into() }
            .write(&mut bytes);
        bytes.extend_from_slice(&body);
        stream
            .write_all(&bytes)
            .await
            .map_err(|source| LocalClientError::Io { path: path.clone(), source })?;
        let mut reader = AnswerReader::new(HEAD);
        reader.begin(true, true);
        loop {
            let read = read(&mut stream, &path).await?;
            let head = reader.head(&read, template.asked());
            let head = head.map_err(|source| LocalClientError::Http { path: path.clone(), source })?;
            if let Some(head) = head {
                let (parts, ()) = head.response.into_parts();
                return Ok((parts.status, parts.headers, reader));
            }
        }
    };
    let (status, headers, reader) = in_time(request.within, asking).await?;
    Ok(LocalAnswer { status, headers, stream, reader, path })
}

impl LocalAnswer {
    /// Returns the next piece of the body; `None` at its end.
    ///
    /// # Errors
    /// Fails if no piece arrives within this time, or if the body breaks off.
    pub async fn piece(&mut self, within: Duration) -> Result<Option<Bytes>, LocalClientError> {
        in_time(within, self.next()).await
    }

    /// Returns the whole body.
    ///
    /// # Errors
    /// Fails if the body has more than `most` bytes, does not arrive within this time, or breaks off.
    pub async fn whole(mut self, most: usize, within: Duration) -> Result<Bytes, LocalClientError> {
        let reading = async {
            let mut body = Vec::new();
            while let Some(piece) = self.next().await? {
                if body.len() + piece.len() > most {
                    return Err(LocalClientError::TooLong(most));
                }
                body.extend_from_slice(&piece);
            }
            Ok(body.into())
        };
        in_time(within, reading).await
    }

    async fn next(&mut self) -> Result<Option<Bytes>, LocalClientError> {
        let Self { stream, reader, path, .. } = self;
        let invalid = |source| LocalClientError::Http { path: path.clone(), source };
        loop {
            match reader.piece().map_err(invalid)? {
                NextPiece::Piece(piece) => return Ok(Some(piece)),
                NextPiece::End => return Ok(None),
                NextPiece::Nothing => reader.feed(read(stream, path).await?).map_err(invalid)?,
            }
        }
    }
}

async fn connect(folder: &Path, path: &Path) -> Result<UnixStream, LocalClientError> {
    let failed = |source: io::Error| match source.kind() {
        // A socket that a killed process left behind refuses connections.
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            LocalClientError::Nobody(path.to_path_buf())
        }
        _ => LocalClientError::Io { path: path.to_path_buf(), source },
    };
    let at = SocketPath::of(folder).map_err(failed)?;
    let connecting = async { UnixStream::connect(at.path()).await.map_err(failed) };
    let stream = in_time(CONNECT, connecting).await?;
    // Otherwise, another user could put a socket into a folder that is open to everybody, and read the requests.
    if !is_own(&stream).map_err(failed)? {
        return Err(LocalClientError::Foreign(path.to_path_buf()));
    }
    Ok(stream)
}

async fn read(stream: &mut UnixStream, path: &Path) -> Result<Bytes, LocalClientError> {
    let mut buffer = Vec::with_capacity(READ);
    let read = stream.read_buf(&mut buffer).await;
    read.map_err(|source| LocalClientError::Io { path: path.to_path_buf(), source })?;
    Ok(buffer.into())
}

async fn in_time<T>(
    within: Duration,
    work: impl Future<Output = Result<T, LocalClientError>>,
) -> Result<T, LocalClientError> {
    timeout(within, work).await.map_err(|_| LocalClientError::Late(within))?
}
