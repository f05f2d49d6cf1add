//! A server that asks by results, and a client that is asked by requests: each entry of a result becomes a question to
//! the client, and when all are answered the request goes to the server once more.

use std::collections::HashSet;

use bytes::Bytes;

use super::{MAX_QUESTIONS, asking_method, declares_question};
use crate::bridge::shape;
use crate::era::Era;
use crate::json::{Members, Splice, unquote};
use crate::mcp::Method;
use crate::rpc::{Frame, Kind};

/// A question for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Its number, which its reply names.
    pub index: usize,
    /// What is asked.
    pub method: Method,
    /// Its params in the words of the client's era, a JSON object.
    pub params: Bytes,
}

/// What a result that asks for input comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// These questions are to be put to the client.
    Ask(Vec<Question>),
    /// There is nothing to ask: the request is to be sent again as it is, after a pause.
    Again,
}

/// What a reply comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// Other questions are open.
    Waiting,
    /// All are answered: the request is to be sent again.
    Complete,
    /// It answers nothing that is open.
    Unknown,
}

/// The reason why a request cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RoundsFault {
    /// The server asks and asks.
    #[error("asked for input {0} times without coming to an end")]
    TooMany(u32),
    /// The result does not say what it wants.
    #[error("asked for input, but {0}")]
    Malformed(&'static str),
    /// The client cannot be asked this.
    #[error("asks for {method}, but {why}")]
    Unaskable {
        /// What was asked.
        method: String,
        /// The reason why it cannot be.
        why: String,
    },
    /// The client answered with an error, for which the server's era has no form.
    #[error("needs the client's answer to {method}, which the client refused: {message}")]
    Refused {
        /// What was asked.
        method: &'static str,
        /// The client's words.
        message: String,
    },
}

#[derive(Debug)]
struct Open {
    /// The server's key, a JSON string as written.
    key: Bytes,
    method: Method,
    /// The answer in the words of the server's era, a JSON object.
    answer: Option<Bytes>,
}

/// One request that goes to its server in rounds.
#[derive(Debug)]
pub struct Rounds {
    server: &'static Era,
    client: &'static Era,
    /// What the client can be asked, a JSON object.
    capabilities: Bytes,
    max: u32,
    taken: u32,
    open: Vec<Open>,
    /// The server's state, a JSON string as written.
    state: Option<Bytes>,
}

impl Rounds {
    /// No round yet; at most `max` are played. `capabilities` are the client's, a JSON object.
    pub fn new(server: &'static Era, client: &'static Era, capabilities: Bytes, max: u32) -> Self {
        Self { server, client, capabilities, max, taken: 0, open: Vec::new(), state: None }
    }

    /// Takes a result that asks for input: `result` are its members in `text`. `mint` gives an id that is new, for
    /// questions that need one.
    ///
    /// # Errors
    /// [`RoundsFault`], after which the request is over.
    pub fn take(
        &mut self,
        text: &Bytes,
        result: &Members,
        mint: &mut dyn FnMut() -> String,
    ) -> Result<Turn, RoundsFault> {
        self.taken += 1;
        if self.taken > self.max {
            return Err(RoundsFault::TooMany(self.max));
        }
        self.open.clear();
        let member = |key| match result.unique(text, key) {
            Ok(found) => Ok(found.filter(|span| span.of(text) != b"null")),
            Err(_) => Err(RoundsFault::Malformed("its inputRequests or requestState stand twice")),
        };
        let state = member("requestState")?;
        if state.is_some_and(|span| span.of(text)[0] != b'"') {
            return Err(RoundsFault::Malformed("its requestState is no string"));
        }
        self.state = state.map(|span| span.share(text));
        let Some(requests) = member("inputRequests")? else {
            return match self.state {
                Some(_) => Ok(Turn::Again),
                None => Err(RoundsFault::Malformed("with neither inputRequests nor requestState")),
            };
        };
        let requests = Members::of_value(text, requests)
            .ok_or(RoundsFault::Malformed("its inputRequests are no object"))?;
        if requests.len() > MAX_QUESTIONS {
            return Err(RoundsFault::Malformed("for too much at once"));
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
                .ok_or(RoundsFault::Malformed("an entry of its inputRequests is no object"))?;
            if let Some(question) = self.question(text, &members, key.into(), mint)? {
                questions.push(question);
            }
        }
        Ok(if questions.is_empty() { Turn::Again } else { Turn::Ask(questions) })
    }

    /// Makes a question of an entry; `None` when it is answered already, in the place of a client that cannot be asked.
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
            asking_method(&name).ok_or_else(|| unaskable("that is nothing that a client is asked"))?;
        let params = entry.get(text, "params").filter(|span| span.of(text)[0] == b'{');
        let params = params.map_or(Bytes::from_static(b"{}"), |span| span.share(text));
        let put = shape::question(method.name(), &params, self.server, self.client, mint)
            .map_err(|e| e.to_string())
            .and_then(|params| {
                let declared = declares_question(self.client, &self.capabilities, method, &params);
                declared
                    .then_some(params)
                    .ok_or_else(|| "this client did not declare that it can be asked".to_owned())
            });
        match put {
            Ok(params) => {
                self.open.push(Open { key, method, answer: None });
                Ok(Some(Question { index: self.open.len() - 1, method, params }))
            }
            // What a user was never shown is as good as closed.
            Err(_) if method == Method::Elicit => {
                let answer = Some(Bytes::from_static(CANCELLED));
                self.open.push(Open { key, method, answer });
                Ok(None)
            }
            Err(why) => Err(unaskable(&why)),
        }
    }

    /// Takes the client's reply to a question.
    ///
    /// # Errors
    /// [`RoundsFault::Refused`] for an error where the server's era has no other word for it.
    pub fn reply(&mut self, index: usize, frame: &Frame) -> Result<Reply, RoundsFault> {
        let Some(open) = self.open.get_mut(index).filter(|open| open.answer.is_none()) else {
            return Ok(Reply::Unknown);
        };
        let object = frame.payload().filter(|span| span.of(frame.text())[0] == b'{');
        open.answer = match (frame.kind(), object) {
            (Kind::Response, Some(result)) => {
                let result = result.share(frame.text());
                Some(shape::answer(open.method.name(), &result, self.client, self.server))
            }
            _ if open.method == Method::Elicit => Some(Bytes::from_static(CANCELLED)),
            _ => {
                let error = object.and_then(|span| crate::rpc::RpcError::of_value(frame.text(), span));
                let message = error.and_then(|error| frame.string(error.message?));
                let message = message.unwrap_or("it gave no reason".into()).into_owned();
                return Err(RoundsFault::Refused { method: open.method.name(), message });
            }
        };
        let complete = self.open.iter().all(|open| open.answer.is_some());
        Ok(if complete { Reply::Complete } else { Reply::Waiting })
    }

    /// The number of questions that wait for the client.
    pub fn waiting(&self) -> usize {
        self.open.iter().filter(|open| open.answer.is_none()).count()
    }

    /// The number of rounds that have been played.
    pub fn taken(&self) -> u32 {
        self.taken
    }

    /// The request once more, with the answers and the server's state byte for byte; `request` is the first one as the
    /// server got it, whose id is replaced by `key`.
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

/// What a user's closing of a question is answered with.
pub(super) const CANCELLED: &[u8] = b"{\"action\":\"cancel\"}";
