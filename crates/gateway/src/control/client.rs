//! Requests to a running gateway. This module must not know how answers are shown.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde_json::Value;
use transport::net::local::{self, LocalAnswer, LocalClientError, LocalRequest};

use super::events::ControlEvents;

/// The time limit for the gateway's answer. It is longer than the time that a change may take.
const ANSWER: Duration = Duration::from_secs(40);

/// The maximum size of an answer, in bytes.
const LONGEST: usize = 64 << 20;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// A client of the gateway that uses a state folder. No connection is kept between requests.
#[derive(Debug, Clone)]
pub struct ControlClient {
    folder: PathBuf,
}

/// The reason why a request to a running gateway failed.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// No gateway uses the state folder.
    #[error("no running gateway uses the state folder {}", .0.display())]
    NotRunning(PathBuf),
    /// The gateway cannot be reached, or its answer cannot be used.
    #[error("cannot communicate with the running gateway: {0}")]
    Failed(String),
    /// The gateway refused the request.
    #[error("{message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The machine-readable code of the error.
        code: String,
        /// The problem, and how to solve it.
        message: String,
    },
}

impl ControlError {
    /// Returns a suggested fix, if the message does not contain one.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::NotRunning(_) => Some(
                "start one with `dragoman serve`, or name the state folder of the running one with --config or --state",
            ),
            Self::Failed(_) => Some("look at the log of the running gateway; it may be another version"),
            Self::Refused { .. } => None,
        }
    }

    fn of(error: &LocalClientError, folder: &Path) -> Self {
        match error {
            LocalClientError::Nobody(_) => Self::NotRunning(folder.to_path_buf()),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl ControlClient {
    /// Creates a client of the gateway that uses this state folder. Nothing is sent yet.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf() }
    }

    /// Requests the JSON at a path, for example `/api/mcp-servers`.
    ///
    /// # Errors
    /// Fails if no gateway is running, or if it refuses the request or does not answer in time.
    pub async fn get(&self, path: &str) -> Result<Value, ControlError> {
        self.send(Method::GET, path, None).await
    }

    /// Sends a request, with a body if there is one; returns the answer, which is `null` if it is empty.
    ///
    /// # Errors
    /// Fails in the same cases as [`Self::get`].
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, ControlError> {
        let answer = self.ask(method, path, body, JSON).await?;
        self.json(answer).await
    }

    /// Opens a stream of events, for example `/api/events`.
    ///
    /// # Errors
    /// Fails in the same cases as [`Self::get`].
    pub async fn events(&self, path: &str) -> Result<ControlEvents, ControlError> {
        let answer = self.ask(Method::GET, path, None, EVENTS).await?;
        if answer.status.is_success() {
            return Ok(ControlEvents::new(answer));
        }
        match self.json(answer).await {
            Err(error) => Err(error),
            Ok(_) => Err(ControlError::Failed("the answer is not a stream of events".to_owned())),
        }
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        accept: &'static str,
    ) -> Result<LocalAnswer, ControlError> {
        let body = body.map(|body| Bytes::from(body.to_string()));
        let request = LocalRequest { method, path, accept, body, within: ANSWER };
        local::ask(&self.folder, &request).await.map_err(|e| ControlError::of(&e, &self.folder))
    }

    async fn json(&self, answer: LocalAnswer) -> Result<Value, ControlError> {
        let status = answer.status;
        let text = answer.whole(LONGEST, ANSWER).await.map_err(|e| ControlError::of(&e, &self.folder))?;
        let value = if text.is_empty() { Ok(Value::Null) } else { serde_json::from_slice(&text) };
        if status.is_success() {
            return value.map_err(|e| ControlError::Failed(format!("the answer is not JSON: {e}")));
        }
        let error = value.unwrap_or_default();
        let text = |key: &str| error["error"][key].as_str().map(str::to_owned);
        Err(ControlError::Refused {
            status: status.as_u16(),
            code: text("code").unwrap_or_default(),
            message: text("message").unwrap_or_else(|| format!("the gateway answered with status {status}")),
        })
    }
}
