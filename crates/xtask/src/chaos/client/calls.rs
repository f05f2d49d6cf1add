//! Calls of tools, each with a nonce, and their results; requests for the list of tools.

use super::http::Reply;
use super::{Client, Failure, short};
use serde_json::{Value, json};
use std::thread;
use std::time::{Duration, Instant};

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// The call was answered with this text.
    Answered(String),
    /// The call was answered with an error.
    Failed(String),
    /// The call got no answer.
    Lost(String),
}

/// A call that has ended.
#[derive(Debug, Clone)]
pub(crate) struct Called {
    pub(crate) nonce: String,
    pub(crate) end: End,
}

impl Called {
    /// The text of the answer; otherwise an error with the outcome of the call.
    pub(crate) fn text(&self) -> Result<&str, String> {
        match &self.end {
            End::Answered(text) => Ok(text),
            other => Err(format!("{}: {other:?}", self.nonce)),
        }
    }
}

impl Client {
    /// A placeholder for the call's nonce, for tools that have their own name for the argument.
    pub(crate) const OWN_NONCE: &str = "$nonce";

    /// Calls a tool with these arguments and a new nonce. An answer must contain the nonce.
    pub(crate) fn call(&self, tool: &str, arguments: Value, within: Duration) -> Called {
        self.call_with(tool, arguments, json!({}), within)
    }

    /// Calls a tool like [`Self::call`], with additional members of `_meta`.
    pub(crate) fn call_with(
        &self,
        tool: &str,
        mut arguments: Value,
        meta: Value,
        within: Duration,
    ) -> Called {
        let nonce = self.hearing.nonce();
        for value in arguments.as_object_mut().into_iter().flat_map(serde_json::Map::values_mut) {
            if value == Self::OWN_NONCE {
                *value = json!(nonce);
            }
        }
        arguments["nonce"] = json!(nonce);
        let mut params = json!({ "name": tool, "arguments": arguments });
        if meta.as_object().is_some_and(|meta| !meta.is_empty()) {
            params["_meta"] = meta;
        }
        let end = match self.request("tools/call", &params, within) {
            Ok(result) => self.judged(&result, &nonce),
            Err(Failure::Refused(why)) => End::Failed(why),
            Err(Failure::Lost(why)) => End::Lost(why),
        };
        Called { nonce, end }
    }

    /// Calls a tool whose answer has at least this many bytes, and reads the answer without parsing it, so that many
    /// clients can do so at the same time. The client reads no more than the beginning of the answer for the time `rest`.
    /// Works for clients whose answers are single bodies.
    pub(crate) fn call_large(&self, tool: &str, bytes: usize, rest: Duration, within: Duration) -> Called {
        let nonce = self.hearing.nonce();
        let params = json!({ "name": tool, "arguments": { "nonce": nonce, "bytes": bytes } });
        let deadline = Instant::now() + within;
        let read = |mut reply: Reply| {
            thread::sleep(rest);
            reply.skim().map_err(|error| Failure::Lost(error.to_string()))
        };
        let end = match self.send(&self.message("tools/call", params), deadline).and_then(read) {
            Ok((beginning, length)) if length < bytes as u64 => End::Failed(beginning),
            Ok((beginning, _)) => {
                if !beginning.contains(&nonce) {
                    self.hearing.fault(&format!("the answer to {nonce} begins with {}", short(&beginning)));
                }
                End::Answered(beginning)
            }
            Err(Failure::Refused(why)) => End::Failed(why),
            Err(Failure::Lost(why)) => End::Lost(why),
        };
        Called { nonce, end }
    }

    fn judged(&self, result: &Value, nonce: &str) -> End {
        let text = match result["content"][0]["text"].as_str() {
            Some(text) => text.to_owned(),
            None => result.to_string(),
        };
        if result["isError"] == true {
            return End::Failed(text);
        }
        if !text.contains(nonce) {
            self.hearing.fault(&format!("the answer to {nonce} holds another text: {}", short(&text)));
        }
        End::Answered(text)
    }

    /// The tools that the client is shown, page by page.
    pub(crate) fn tools(&self, within: Duration) -> Result<Vec<Value>, String> {
        let (mut tools, mut params) = (Vec::new(), json!({}));
        for _ in 0..100 {
            let page = self
                .request("tools/list", &params, within)
                .map_err(|why| format!("{} cannot list: {why:?}", self.era.version))?;
            tools.extend(page["tools"].as_array().cloned().unwrap_or_default());
            match &page["nextCursor"] {
                Value::Null => return Ok(tools),
                cursor => params["cursor"] = cursor.clone(),
            }
        }
        Err("the list has no end".to_owned())
    }

    /// The names of the tools that the client is shown.
    pub(crate) fn names(&self, within: Duration) -> Result<Vec<String>, String> {
        let names = self.tools(within)?;
        Ok(names.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect())
    }
}
