//! The questions of one experimental task. The questions arrive while the task's `tasks/result` is open, and are stored here
//! until a client with the extension fetches them.
//!
//! The request that fetches a question and the request that answers it may declare different capabilities, so a
//! question is kept in the server's form. This module must not know over which transport a question came.

use bytes::Bytes;

use super::next::CANCELLED;
use super::task::unrelated;
use crate::bridge::input::{MAX_QUESTIONS, declares_question};
use crate::bridge::shape;
use crate::era::Era;
use crate::json::Members;
use crate::mcp::Method;
use crate::rpc::{Frame, Id, code, error_response, result_response};

#[derive(Debug)]
struct WatchedQuestion {
    key: String,
    id: Id,
    method: Method,
    /// The params in the server's form.
    params: Bytes,
}

/// The open questions of one task.
#[derive(Debug)]
pub struct Watch {
    server: &'static Era,
    /// A number that distinguishes the keys of this watch from those of an earlier watch of the same task: keys are never
    /// reused.
    number: u64,
    asked: u64,
    open: Vec<WatchedQuestion>,
}

impl Watch {
    /// Starts without questions. `number` must be unique among watches.
    pub fn new(server: &'static Era, number: u64) -> Self {
        Self { server, number, asked: 0, open: Vec::new() }
    }

    /// Stores a question from the server.
    ///
    /// # Errors
    /// The reason, for the server: clients cannot be asked this question, or too many questions are open.
    pub fn ask(&mut self, question: &Frame) -> Result<(), String> {
        let id = question.id().cloned().ok_or("the question has no id")?;
        let method = Method::from_name(&question.method())
            .filter(|method| matches!(method, Method::Elicit | Method::CreateMessage | Method::RootsList))
            .ok_or("a task cannot ask clients with this method")?;
        if self.open.len() >= MAX_QUESTIONS {
            return Err("too many questions of this task are open".to_owned());
        }
        let params = question.params().map(|params| params.members.span().share(question.text()));
        let params = params.unwrap_or(Bytes::from_static(b"{}"));
        // The params are copied, because the question may stay here for a long time, and a slice would keep the whole
        // buffer that they arrived in.
        let params = unrelated(&params).unwrap_or_else(|| Bytes::copy_from_slice(&params));
        self.asked += 1;
        self.open.push(WatchedQuestion {
            key: format!("t{}-{}", self.number, self.asked),
            id,
            method,
            params,
        });
        Ok(())
    }

    /// Forgets a question that the server has withdrawn; `id` is the question's id as written. Returns `false` if the
    /// question is not open.
    pub fn withdraw(&mut self, id: &[u8]) -> bool {
        let before = self.open.len();
        self.open.retain(|open| open.id.json().as_ref() != id);
        self.open.len() < before
    }

    /// The number of questions that are open.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Returns true if no question is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The contents of `inputRequests`: the open questions that a client of this era with these capabilities
    /// can be asked.
    pub fn shown(&self, client: &Era, capabilities: &[u8]) -> String {
        let entry = |open: &WatchedQuestion| {
            let name = open.method.name();
            let params = shape::question(name, &open.params, self.server, client, &mut String::new).ok()?;
            let declared = declares_question(client, capabilities, open.method, &params);
            let params = String::from_utf8_lossy(&params);
            declared.then(|| format!("\"{}\":{{\"method\":\"{name}\",\"params\":{params}}}", open.key))
        };
        let entries: Vec<String> = self.open.iter().filter_map(entry).collect();
        entries.join(",")
    }

    /// Takes a client's `inputResponses` (the members of an object in `text`) and returns the responses for the
    /// server. Unknown keys and values that are not objects are ignored.
    pub fn answer(&mut self, text: &Bytes, responses: &Members, client: &Era) -> Vec<Bytes> {
        let mut answers = Vec::new();
        self.open.retain(|open| {
            let given = responses.get(text, &open.key).filter(|span| span.of(text)[0] == b'{');
            let Some(given) = given else { return true };
            let result = shape::answer(open.method.name(), &given.share(text), client, self.server);
            answers.push(result_response(&open.id, &result));
            false
        });
        answers
    }

    /// Answers the open questions on behalf of a client that will not answer them.
    pub fn give_up(&mut self) -> Vec<Bytes> {
        let refusal = |open: WatchedQuestion| match open.method {
            Method::Elicit => result_response(&open.id, CANCELLED),
            _ => error_response(Some(&open.id), code::INTERNAL_ERROR, "the client did not answer", None),
        };
        self.open.drain(..).map(refusal).collect()
    }
}
