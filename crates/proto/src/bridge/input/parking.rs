//! A server that asks through requests and waits for the answer, and a client that is asked through results. The server's
//! request is stored under a key. The client gets the keys together with a state, and sends the answers with its next attempt.

use std::fmt::Write as _;

use bytes::Bytes;

use super::rounds::CANCELLED;
use super::{MAX_QUESTIONS, asking_method, declares_question, input_required};
use crate::bridge::shape::{self, UnaskableQuestion};
use crate::era::Era;
use crate::json::{Elements, Members, quote, unquote};
use crate::mcp::Method;
use crate::rpc::{Frame, Id, code, error_response, result_response};

/// An open question without its params.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenQuestion {
    /// The question's number, unique within the request.
    pub number: u32,
    /// The server's id for the question.
    pub id: Id,
    /// The question's method.
    pub method: Method,
}

#[derive(Debug)]
struct ParkedQuestion {
    /// The number in the gateway's key for the question, unique within the request.
    number: u32,
    /// The server's id for the question.
    id: Id,
    method: Method,
    /// The params in the form of the client's era.
    params: Bytes,
}

/// The questions from one server about one request.
#[derive(Debug)]
pub struct Parking {
    server: &'static Era,
    client: &'static Era,
    /// The client's declared capabilities, a JSON object.
    capabilities: Bytes,
    asked: u32,
    open: Vec<ParkedQuestion>,
    /// The ids of questions that another process has asked. The server may send these questions again.
    asked_before: Vec<Id>,
}

impl Parking {
    /// Starts without questions. `capabilities` are those that the client declared in its request: a JSON object.
    pub fn new(server: &'static Era, client: &'static Era, capabilities: Bytes) -> Self {
        Self { server, client, capabilities, asked: 0, open: Vec::new(), asked_before: Vec::new() }
    }

    /// Continues with questions that another process has asked. They can be answered, but not asked again.
    #[must_use]
    pub fn with_open(mut self, questions: &[OpenQuestion]) -> Self {
        self.asked = questions.iter().map(|question| question.number).max().unwrap_or(0);
        self.asked_before = questions.iter().map(|question| question.id.clone()).collect();
        self.open = questions
            .iter()
            .map(|OpenQuestion { number, id, method }| ParkedQuestion {
                number: *number,
                id: id.clone(),
                method: *method,
                params: Bytes::from_static(b"{}"),
            })
            .collect();
        self
    }

    /// The open questions, for another process that may have to continue.
    pub fn questions(&self) -> Vec<OpenQuestion> {
        let question = |open: &ParkedQuestion| OpenQuestion {
            number: open.number,
            id: open.id.clone(),
            method: open.method,
        };
        self.open.iter().map(question).collect()
    }

    /// Stores a question from the server. A question that is already open is not stored again.
    ///
    /// # Errors
    /// [`UnaskableQuestion`] if the client cannot be asked this question: report that to the server.
    pub fn ask(&mut self, question: &Frame) -> Result<(), UnaskableQuestion> {
        let refuse = |why: &str| UnaskableQuestion(why.to_owned());
        let id = question.id().cloned().ok_or_else(|| refuse("the question has no id"))?;
        let known = self.open.iter().map(|open| &open.id).chain(&self.asked_before);
        if known.into_iter().any(|known| same_id(known.json(), id.json())) {
            return Ok(());
        }
        let method = asking_method(&question.method())
            .ok_or_else(|| refuse("this method cannot be used to ask clients of this protocol version"))?;
        if self.open.len() >= MAX_QUESTIONS {
            return Err(refuse("too many questions are open for this request"));
        }
        let params = question.params().map(|params| params.members.span().share(question.text()));
        let params = params.unwrap_or(Bytes::from_static(b"{}"));
        let params = shape::question(method.name(), &params, self.server, self.client, &mut String::new)?;
        if !declares_question(self.client, &self.capabilities, method, &params) {
            return Err(refuse("this client did not declare the capability for this question"));
        }
        self.asked += 1;
        self.open.push(ParkedQuestion { number: self.asked, id, method, params });
        Ok(())
    }

    /// Forgets a question that the server has withdrawn; `id` is the question's id as written. Returns `false` if the
    /// question is not open.
    pub fn withdraw(&mut self, id: &[u8]) -> bool {
        let before = self.open.len();
        self.open.retain(|open| !same_id(open.id.json(), id));
        self.open.len() < before
    }

    /// Returns true if no question is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The number of questions that are open.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// The result that asks the client every open question.
    pub fn required(&self, state: &str, server_info: &str) -> Bytes {
        let requests: Vec<String> = self.open.iter().map(ParkedQuestion::entry).collect();
        input_required(&requests.join(","), state, server_info)
    }

    /// Takes the `inputResponses` of the client's next attempt (the members of an object in `text`) and returns the
    /// responses for the server. A question stays open if it has no answer, two answers, or an answer that is not
    /// an object. Unknown keys are ignored.
    pub fn answer(&mut self, text: &Bytes, responses: &Members) -> Vec<Bytes> {
        let mut answers = Vec::new();
        self.open.retain(|open| {
            let mut given = responses
                .iter()
                .filter(|member| unquote(member.key.of(text)).is_some_and(|key| key == open.key()));
            let (Some(given), None) = (given.next(), given.next()) else { return true };
            let given = given.value;
            if given.of(text)[0] != b'{' {
                return true;
            }
            let result = shape::answer(open.method.name(), &given.share(text), self.client, self.server);
            answers.push(result_response(&open.id, &result));
            false
        });
        answers
    }

    /// Answers all open questions on behalf of a client that will not return.
    pub fn give_up(&mut self) -> Vec<Bytes> {
        let refusal = |open: &ParkedQuestion| match open.method {
            Method::Elicit => result_response(&open.id, CANCELLED),
            _ => error_response(Some(&open.id), code::INTERNAL_ERROR, "the client did not answer", None),
        };
        self.open.drain(..).map(|open| refusal(&open)).collect()
    }
}

/// Returns true if two ids, as written, are equal.
fn same_id(one: &[u8], other: &[u8]) -> bool {
    let meaning = |id| <[u8]>::strip_prefix(id, b"\"")?.strip_suffix(b"\"").and_then(unquote);
    one == other || meaning(one).is_some_and(|one| meaning(other) == Some(one))
}

impl ParkedQuestion {
    /// The gateway's key for the question.
    fn key(&self) -> String {
        format!("q{}", self.number)
    }

    fn entry(&self) -> String {
        let params = String::from_utf8_lossy(&self.params);
        format!("\"{}\":{{\"method\":\"{}\",\"params\":{params}}}", self.key(), self.method.name())
    }
}

/// Turns an error that lists URLs, which the user must visit first, into a result for a stateless client, with one
/// question for each URL. `data` is the `data` of the error, in `text`. Returns `None` if the error lists no URL or the
/// client cannot be asked.
pub fn url_questions(
    text: &[u8],
    data: &Members,
    client: &Era,
    capabilities: &[u8],
    state: &str,
    server_info: &str,
) -> Option<Bytes> {
    let list = Elements::of_value(text, data.get(text, "elicitations")?)?;
    if list.is_empty() || list.len() > MAX_QUESTIONS {
        return None;
    }
    let mut requests = String::new();
    for (at, span) in list.iter().enumerate() {
        let own = Members::of_value(text, span)?;
        let string = |key: &str| {
            let inner = own.get(text, key)?.of(text).strip_prefix(b"\"")?.strip_suffix(b"\"")?;
            unquote(inner)
        };
        let params = format!(
            "{{\"mode\":\"url\",\"message\":{},\"url\":{}}}",
            quote(&string("message").unwrap_or("Please visit this page to continue.".into())),
            quote(&string("url")?),
        );
        if !declares_question(client, capabilities, Method::Elicit, params.as_bytes()) {
            return None;
        }
        if at > 0 {
            requests.push(',');
        }
        let (number, method) = (at + 1, Method::Elicit.name());
        // Writing to memory cannot fail.
        let _ = write!(requests, "\"u{number}\":{{\"method\":\"{method}\",\"params\":{params}}}");
    }
    Some(input_required(&requests, state, server_info))
}
