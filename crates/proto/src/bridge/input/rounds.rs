//! A server that asks through results, and a client that is asked through requests: each entry of `inputRequests`
//! becomes a question to the client. Once all are answered, the request goes to the server again.

use std::collections::HashSet;

use bytes::Bytes;

use super::{MAX_QUESTIONS, asking_method, declares_question};
use crate::bridge::shape;
use crate::era::Era;
use crate::json::{Members, Splice, unquote};
use crate::mcp::Method;
use crate::rpc::{Frame, FrameKind};

/// A question for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The question's number, which the client's reply repeats.
    pub index: usize,
    /// The method of the request that asks the question.
    pub method: Method,
    /// The question's params in the form of the client's era, a JSON object.
    pub params: Bytes,
}

/// The consequence of a result that asks for input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputAction {
    /// Put these questions to the client.
    Ask(Vec<Question>),
    /// There is nothing to ask. Send the request again unchanged, after a pause.
    Again,
}

/// The consequence of a client's reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundsReply {
    /// Other questions are still open.
    Waiting,
    /// All questions are answered: send the request again.
    Complete,
    /// The reply does not answer an open question.
    Unknown,
}

/// The reason why a request cannot continue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RoundsFault {
    /// The server has asked for input in too many rounds.
    #[error("asked for input {0} times and still needs more")]
    TooMany(u32),
    /// The result does not name the input that it needs.
    #[error("asked for input, but {0}")]
    Malformed(&'static str),
    /// The client cannot be asked this question.
    #[error("asks for {method}, but {why}")]
    Unaskable {
        /// The method of the question.
        method: String,
        /// The reason why the client cannot be asked.
        why: String,
    },
    /// The client answered with an error, and the server's era cannot express it.
    #[error("needs the client's answer to {method}, but the client refused: {message}")]
    Refused {
        /// The method of the question.
        method: &'static str,
        /// The client's error message.
        message: String,
    },
}

#[derive(Debug)]
struct RoundQuestion {
    /// The server's key, a JSON string as written.
    key: Bytes,
    method: Method,
    /// The answer in the form of the server's era, a JSON object.
    answer: Option<Bytes>,
}

/// One request that takes several rounds at its server.
#[derive(Debug)]
pub struct Rounds {
    server: &'static Era,
    client: &'static Era,
    /// The client's declared capabilities, a JSON object.
    capabilities: Bytes,
    max: u32,
    taken: u32,
    open: Vec<RoundQuestion>,
    /// The server's state, a JSON string as written.
    state: Option<Bytes>,
}

impl Rounds {
    /// Starts before the first round; at most `max` rounds are allowed. `capabilities` are the client's, a JSON
    /// object.
    pub fn new(server: &'static Era, client: &'static Era, capabilities: Bytes, max: u32) -> Self {
        Self { server, client, capabilities, max, taken: 0, open: Vec::new(), state: None }
    }

    /// Takes a result that asks for input; `result` holds its members in `text`. `mint` returns a fresh id, for
    /// questions that need one.
    ///
    /// # Errors
    /// [`RoundsFault`], after which the request is over.
    pub fn take(
        &mut self,
        text: &Bytes,
        result: &Members,
        mint: &mut dyn FnMut() -> String,
    ) -> Result<InputAction, RoundsFault> {
        self.taken += 1;
        if self.taken > self.max {
            return Err(RoundsFault::TooMany(self.max));
        }
        self.open.clear();
        let member = |key| match result.unique(text, key) {
            Ok(found) => Ok(found.filter(|span| span.of(text) != b"null")),
            Err(_) => Err(RoundsFault::Malformed("its inputRequests or requestState occurs twice")),
        };
        let state = member("requestState")?;
        if state.is_some_and(|span| span.of(text)[0] != b'"') {
            return Err(RoundsFault::Malformed("its requestState is not a string"));
        }
        self.state = state.map(|span| span.share(text));
        let Some(requests) = member("inputRequests")? else {
            return match self.state {
                Some(_) => Ok(InputAction::Again),
                None => Err(RoundsFault::Malformed("it has neither inputRequests nor requestState")),
            };
        };
        let requests = Members::of_value(text, requests)
            .ok_or(RoundsFault::Malformed("its inputRequests is not an object"))?;
        if requests.len() > MAX_QUESTIONS {
            return Err(RoundsFault::Malformed("it asks too many questions at once"));
        }
        let mut questions = Vec::new();
        let mut keys = HashSet::with_capacity(requests.len());
        for entry in requests.iter() {
            let written = entry.key.of(text);
            if !keys.insert(unquote(written).unwrap_or_else(|| String::from_utf8_lossy(written))) {
                return Err(RoundsFault::Malformed("two entries of its inputRequests have the same key"));
            }
            let mut key = Vec::with_capacity(written.len() + 2);
            key.push(b'"');
            key.extend_from_slice(written);
            key.push(b'"');
            let members = Members::of_value(text, entry.value)
                .ok_or(RoundsFault::Malformed("an entry of its inputRequests is not an object"))?;
            if let Some(question) = self.question(text, &members, key.into(), mint)? {
                questions.push(question);
            }
        }
        Ok(if questions.is_empty() { InputAction::Again } else { InputAction::Ask(questions) })
    }

    /// Creates the question for an entry; `None` if the gateway has already answered it on behalf of a client that
    /// cannot be asked.
    fn question(
        &mut self,
        text: &Bytes,
        entry: &Members,
        key: Bytes,
        mint: &mut dyn FnMut() -> String,
    ) -> Result<Option<Question>, RoundsFault> {
        let name = entry.get(text, "method").and_then(|span| {
            let inner = span.of(text).strip_prefix(b"\"")?.strip_suffix(b"\"")?;
            unquote(inner)
        });
        let name = name.ok_or(RoundsFault::Malformed("an entry of its inputRequests has no method"))?;
        let unaskable = |why: &str| RoundsFault::Unaskable { method: name.to_string(), why: why.to_owned() };
        let method =
            asking_method(&name).ok_or_else(|| unaskable("this method cannot be used to ask clients"))?;
        let params = entry.get(text, "params").filter(|span| span.of(text)[0] == b'{');
        let params = params.map_or(Bytes::from_static(b"{}"), |span| span.share(text));
        let put = shape::question(method.name(), &params, self.server, self.client, mint)
            .map_err(|e| e.to_string())
            .and_then(|params| {
                let declared = declares_question(self.client, &self.capabilities, method, &params);
                declared
                    .then_some(params)
                    .ok_or_else(|| "this client did not declare the capability for this question".to_owned())
            });
        match put {
            Ok(params) => {
                self.open.push(RoundQuestion { key, method, answer: None });
                Ok(Some(Question { index: self.open.len() - 1, method, params }))
            }
            // A question that the user never saw counts as dismissed.
            Err(_) if method == Method::Elicit => {
                let answer = Some(Bytes::from_static(CANCELLED));
                self.open.push(RoundQuestion { key, method, answer });
                Ok(None)
            }
            Err(why) => Err(unaskable(&why)),
        }
    }

    /// Takes the client's reply to a question.
    ///
    /// # Errors
    /// [`RoundsFault::Refused`] for an error that the server's era has no way to express.
    pub fn reply(&mut self, index: usize, frame: &Frame) -> Result<RoundsReply, RoundsFault> {
        let Some(open) = self.open.get_mut(index).filter(|open| open.answer.is_none()) else {
            return Ok(RoundsReply::Unknown);
        };
        let object = frame.payload().filter(|span| span.of(frame.text())[0] == b'{');
        open.answer = match (frame.kind(), object) {
            (FrameKind::Response, Some(result)) => {
                let result = result.share(frame.text());
                Some(shape::answer(open.method.name(), &result, self.client, self.server))
            }
            _ if open.method == Method::Elicit => Some(Bytes::from_static(CANCELLED)),
            _ => {
                let error = object.and_then(|span| crate::rpc::RpcError::of_value(frame.text(), span));
                let message = error.and_then(|error| frame.string(error.message?));
                let message = message.unwrap_or("the client gave no reason".into()).into_owned();
                return Err(RoundsFault::Refused { method: open.method.name(), message });
            }
        };
        let complete = self.open.iter().all(|open| open.answer.is_some());
        Ok(if complete { RoundsReply::Complete } else { RoundsReply::Waiting })
    }

    /// The number of questions that wait for the client's reply.
    pub fn waiting(&self) -> usize {
        self.open.iter().filter(|open| open.answer.is_none()).count()
    }

    /// The number of rounds so far.
    pub fn taken(&self) -> u32 {
        self.taken
    }

    /// Builds the next attempt of a request. The attempt contains the answers, and the server's state byte for
    /// byte. `request` is the first attempt as sent to the server; `key` replaces its id.
    pub fn retry(&self, request: &Frame, key: &[u8]) -> Bytes {
        let mut responses = Vec::from(*b"{");
        for (at, open) in self.open.iter().enumerate() {
            if at > 0 {
                responses.push(b',');
            }
            responses.extend_from_slice(&open.key);
            responses.push(b':');
            responses.extend_from_slice(open.answer.as_deref().unwrap_or(b"{}"));
        }
        responses.push(b'}');
        let mut splice = Splice::new(request.text());
        if let Some(span) = request.id_span() {
            splice.replace(span, key);
        }
        if let Ok(Some(span)) = request.meta(crate::mcp::meta::PROGRESS_TOKEN) {
            splice.replace(span, key);
        }
        if let Some(params) = request.params() {
            if self.open.is_empty() {
                splice.remove(&params.members, b"inputResponses");
            } else {
                splice.set(&params.members, b"inputResponses", &responses);
            }
            match &self.state {
                Some(state) => splice.set(&params.members, b"requestState", state),
                None => splice.remove(&params.members, b"requestState"),
            };
        }
        splice.finish()
    }
}

/// The answer to a question that the user dismissed.
pub(super) const CANCELLED: &[u8] = b"{\"action\":\"cancel\"}";
