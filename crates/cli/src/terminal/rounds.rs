//! Requests that may be answered with questions (MCP 2026-07-28: multi round-trip requests), and cancellation.

use std::time::Duration;

use proto::era::is_input_required;
use proto::json::{Members, Span, quote, unquote};
use proto::rpc::{Frame, FrameKind, RpcError};

use super::client_handler::ClientHandler;
use super::connection::{Ask, Connection};
use crate::output::failure::Failure;

/// The maximum number of rounds of questions before a server must answer.
const MAX_ROUNDS: u32 = 10;

/// The maximum number of questions in one round.
const MAX_QUESTIONS: usize = 32;

/// The pause before a request is repeated if its answer contained no question.
const PAUSE: Duration = Duration::from_millis(500);

/// A request's result.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The whole answer.
    pub(crate) frame: Frame,
    /// The position of the result in the answer.
    pub(crate) result: Span,
}

impl Outcome {
    /// Returns the result as JSON text.
    pub(crate) fn json(&self) -> &str {
        std::str::from_utf8(self.result.of(self.frame.text())).unwrap_or_default()
    }
}

/// Sends a request, answers the server's questions, and returns its result.
///
/// # Errors
/// Returns [`Failure::Refused`] if the server answers with an error; other failures if there is no answer.
pub(crate) async fn complete(
    connection: &mut Connection,
    ask: &Ask,
    handler: &mut ClientHandler<'_>,
) -> Result<Outcome, Failure> {
    let mut further = Vec::new();
    for round in 0..=MAX_ROUNDS {
        let key = connection.next_id();
        let text = connection.request_with(key, ask, &further, handler);
        let frame = connection.exchange(key, text, &ask.mirror, handler).await?;
        let Some(questions) = is_input_required(connection.era(), &frame) else { return outcome(frame) };
        if round < MAX_ROUNDS {
            further = answers(&frame, &questions, handler).await?;
        }
    }
    Err(Failure::new(format!("the server asked for input {MAX_ROUNDS} times without giving an answer")))
}

/// Runs `work` until it is done, or until the user presses Ctrl-C, which cancels the open request.
///
/// # Errors
/// Returns the failure of `work`.
pub(crate) async fn interruptible<T>(
    connection: &mut Connection,
    work: impl AsyncFnOnce(&mut Connection) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let interrupted = tokio::select! {
        done = work(connection) => return done,
        pressed = tokio::signal::ctrl_c() => pressed,
    };
    if let Err(e) = interrupted {
        return Err(Failure::new(format!("cannot handle Ctrl-C: {e}")));
    }
    connection.cancel().await;
    Err(Failure::interrupted())
}

/// Returns the result in an answer, or the failure for an error.
///
/// # Errors
/// Returns [`Failure::Refused`] for an error.
pub(crate) fn outcome(frame: Frame) -> Result<Outcome, Failure> {
    match frame.payload() {
        Some(result) if frame.kind() == FrameKind::Response => Ok(Outcome { frame, result }),
        payload => Err(refusal(&frame, payload)),
    }
}

fn refusal(frame: &Frame, payload: Option<Span>) -> Failure {
    let error = payload.and_then(|span| RpcError::of_value(frame.text(), span));
    let message = error.and_then(|e| frame.string(e.message?)).unwrap_or_default().into_owned();
    let data = error.and_then(|e| Some(String::from_utf8_lossy(e.data?.of(frame.text())).into_owned()));
    Failure::Refused { code: error.map_or(0, |e| e.code), message, data, help: None }
}

/// Returns the params that contain the answers, for the repeated request.
async fn answers(
    frame: &Frame,
    result: &Members,
    handler: &mut ClientHandler<'_>,
) -> Result<Vec<(&'static str, String)>, Failure> {
    let text = frame.text();
    let questions = result.get(text, "inputRequests").and_then(|span| Members::of_value(text, span));
    let mut given = Vec::new();
    for question in questions.iter().flat_map(Members::iter).take(MAX_QUESTIONS) {
        let key = unquote(question.key.of(text)).unwrap_or_default().into_owned();
        let members = Members::of_value(text, question.value);
        let get = |name| members.as_ref().and_then(|members| members.get(text, name));
        let method = get("method").and_then(|span| frame.string(span)).unwrap_or_default();
        let params = get("params").map_or(b"{}".as_slice(), |span| span.of(text));
        let answer = handler.ask(&method, params).await.map_err(|why| Failure::new(why.message))?;
        given.push(format!("{}:{answer}", quote(&key)));
    }
    let mut members = Vec::new();
    if given.is_empty() {
        tokio::time::sleep(PAUSE).await;
    } else {
        members.push(("inputResponses", format!("{{{}}}", given.join(","))));
    }
    if let Some(state) = result.get(text, "requestState") {
        members.push(("requestState", String::from_utf8_lossy(state.of(text)).into_owned()));
    }
    Ok(members)
}
