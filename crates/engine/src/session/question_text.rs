//! The texts of questions, for operators who want to know what a client has not answered. This module must not know where they are
//! shown; they come from servers, so they are hostile.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// The maximum number of characters that are kept of a question's text.
const LONGEST: usize = 500;

/// A question as operators see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionText {
    /// The method of the question.
    pub method: Box<str>,
    /// The beginning of the text that the user or the model is asked; empty if the question has none.
    pub text: Box<str>,
}

impl QuestionText {
    /// Reads the text of a question, a request in JSON.
    pub fn of(request: &[u8]) -> Self {
        let asked: AskedQuestion = serde_json::from_slice(request).unwrap_or_default();
        asked.text()
    }

    /// Reads the questions in a result that a stateless client has to answer: the result of a JSON-RPC response.
    pub fn of_result(response: &[u8]) -> Vec<Self> {
        #[derive(Default, Deserialize)]
        #[serde(default, rename_all = "camelCase")]
        struct AskingResult {
            input_requests: BTreeMap<String, AskedQuestion>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct AskingResponse {
            result: AskingResult,
        }
        let response: AskingResponse = serde_json::from_slice(response).unwrap_or_default();
        response.result.input_requests.values().map(AskedQuestion::text).collect()
    }
}

/// The members of a question that contain its text.
#[derive(Default, Deserialize)]
#[serde(default)]
struct AskedQuestion {
    method: String,
    params: AskedParams,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AskedParams {
    message: Value,
    messages: Value,
}

impl AskedQuestion {
    fn text(&self) -> QuestionText {
        let AskedParams { message, messages } = &self.params;
        let text = message.as_str().or_else(|| last_text(messages)).unwrap_or_default();
        QuestionText { method: self.method.as_str().into(), text: clipped(text).into() }
    }
}

/// Returns the text of the last message for a model.
fn last_text(messages: &Value) -> Option<&str> {
    let content = &messages.as_array()?.last()?["content"];
    match content {
        Value::Array(parts) => parts.iter().find_map(|part| part["text"].as_str()),
        one => one["text"].as_str(),
    }
}

fn clipped(text: &str) -> &str {
    text.char_indices().nth(LONGEST).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_have_the_text_that_is_asked() {
        let text = |method: &str, params: &str| {
            let request = format!(r#"{{"method":"{method}","params":{params}}}"#);
            QuestionText::of(request.as_bytes()).text.to_string()
        };
        assert_eq!(text("elicitation/create", r#"{"message":"Which color?"}"#), "Which color?");
        let sampled = r#"{"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"user","content":[{"type":"image"},{"type":"text","text":"b"}]}]}"#;
        assert_eq!(text("sampling/createMessage", sampled), "b");
        for odd in ["", "[]", "{}", "{\"message\":7}", "{\"messages\":{}}"] {
            assert_eq!(text("elicitation/create", odd), "", "{odd}");
        }
        let long = format!("{{\"message\":\"{}\"}}", "é".repeat(10_000));
        assert_eq!(text("elicitation/create", &long).chars().count(), LONGEST);
    }

    #[test]
    fn a_result_can_contain_several_questions() {
        let result = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Sure?"}},"b":{"method":"roots/list"}}}}"#;
        let found = QuestionText::of_result(result.as_bytes());
        let texts: Vec<(&str, &str)> = found.iter().map(|one| (&*one.method, &*one.text)).collect();
        assert_eq!(texts, [("elicitation/create", "Sure?"), ("roots/list", "")]);
        assert!(QuestionText::of_result(b"no JSON").is_empty());
    }
}
