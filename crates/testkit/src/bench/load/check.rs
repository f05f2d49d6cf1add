//! Checks of answers: every answer is compared with what was sent.

use crate::bench::json::{elements, member, members, unquoted};
use std::borrow::Cow;

/// The required content of the answer to a call.
#[derive(Debug)]
pub(super) enum Wanted {
    /// A text that equals the sent text byte for byte. It needs no escapes in JSON.
    Text(Vec<u8>),
    /// A list with this number of tools.
    Tools(usize),
}

/// Checks answers. It remembers a correct large answer, so similar ones cost only a comparison.
#[derive(Debug)]
pub(super) struct Checker {
    pub(super) wanted: Wanted,
    modern: bool,
    /// The text before and after the ID of the last correct answer, for answers that differ only in their
    /// IDs.
    known: Option<(Vec<u8>, Vec<u8>)>,
    /// True if all answers are equal except for their IDs.
    alike: bool,
}

impl Checker {
    /// A checker; `alike` is true if correct answers differ only in their IDs.
    pub(super) fn new(wanted: Wanted, modern: bool, alike: bool) -> Self {
        Self { wanted, modern, known: None, alike }
    }

    /// Compares a body with the expected answer.
    ///
    /// # Errors Returns a description of the difference if they differ.
    pub(super) fn check(&mut self, body: &[u8], events: bool, id: &[u8]) -> Result<(), String> {
        if self.is_known(body, id) {
            return Ok(());
        }
        let message = if events { answer_in_events(body)? } else { Cow::Borrowed(body) };
        let result = result(&message, id)?;
        if self.modern && member(result, b"resultType").and_then(unquoted) != Some(b"complete") {
            return Err(format!("resultType is not complete: {}", start_of(result)));
        }
        match &self.wanted {
            Wanted::Text(text) => same_text(result, text)?,
            Wanted::Tools(count) => same_count(result, *count)?,
        }
        if self.alike {
            self.remember(body, id);
        }
        Ok(())
    }

    fn is_known(&self, body: &[u8], id: &[u8]) -> bool {
        let Some((before, after)) = &self.known else { return false };
        body.len() == before.len() + id.len() + after.len()
            && body.starts_with(before)
            && body.ends_with(after)
            && body[before.len()..].starts_with(id)
    }

    fn remember(&mut self, body: &[u8], id: &[u8]) {
        // The ID is searched for only as a member, so a number inside a text is not mistaken for it.
        let key = [b"\"id\":", id].concat();
        if let Some(found) = memchr::memmem::find(body, &key) {
            let at = found + key.len() - id.len();
            self.known = Some((body[..at].to_vec(), body[at + id.len()..].to_vec()));
        }
    }
}

/// The result of the answer `message`, if it answers the request `id` and is not an error.
pub(super) fn result<'a>(message: &'a [u8], id: &[u8]) -> Result<&'a [u8], String> {
    let (mut same_id, mut is_rpc, mut result) = (false, false, None);
    for (key, value) in members(message) {
        match key {
            b"jsonrpc" => is_rpc = value == b"\"2.0\"",
            b"id" => same_id = value == id,
            b"result" => result = Some(value),
            b"error" => return Err(format!("an error came back: {}", start_of(value))),
            _ => {}
        }
    }
    if !is_rpc || !message.trim_ascii_end().ends_with(b"}") {
        return Err(format!("no JSON-RPC answer: {}", start_of(message)));
    }
    if !same_id {
        return Err(format!("the answer is not for id {}: {}", start_of(id), start_of(message)));
    }
    result.ok_or_else(|| format!("an answer without result: {}", start_of(message)))
}

/// The only answer in an event stream. Notifications and events without data may precede the answer.
pub(super) fn answer_in_events(body: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    let mut answer = None;
    for data in events(body) {
        if member(&data, b"id").is_some()
            && member(&data, b"method").is_none()
            && answer.replace(data).is_some()
        {
            return Err("the event stream holds two answers".into());
        }
    }
    answer.ok_or_else(|| format!("the event stream holds no answer: {}", start_of(body)))
}

/// The data of each event.
fn events(body: &[u8]) -> impl Iterator<Item = Cow<'_, [u8]>> {
    let mut lines = body.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    std::iter::from_fn(move || {
        let mut data: Option<Cow<'_, [u8]>> = None;
        for line in lines.by_ref() {
            if line.is_empty() {
                if data.is_some() {
                    return data;
                }
            } else if let Some(more) = line.strip_prefix(b"data:") {
                let more = more.strip_prefix(b" ").unwrap_or(more);
                data = Some(match data {
                    None => Cow::Borrowed(more),
                    Some(first) => Cow::Owned([&first[..], b"\n", more].concat()),
                });
            }
        }
        None
    })
}

fn same_text(result: &[u8], text: &[u8]) -> Result<(), String> {
    if member(result, b"isError") == Some(b"true") {
        return Err(format!("the tool says that it failed: {}", start_of(result)));
    }
    let block = member(result, b"content").and_then(|content| elements(content).next());
    let found = block.and_then(|block| member(block, b"text")).and_then(unquoted);
    if found == Some(text) {
        return Ok(());
    }
    Err(format!("the text is not the one sent: wanted {}, got {}", start_of(text), start_of(result)))
}

fn same_count(result: &[u8], count: usize) -> Result<(), String> {
    let tools = member(result, b"tools").ok_or_else(|| format!("no tools: {}", start_of(result)))?;
    let found = elements(tools).filter(|tool| member(tool, b"inputSchema").is_some()).count();
    if found == count {
        return Ok(());
    }
    let paged = if member(result, b"nextCursor").is_some() { " (it is one page of several)" } else { "" };
    Err(format!("{found} tools instead of {count}{paged}"))
}

/// The beginning of a message, short enough for an error.
pub(super) fn start_of(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[..text.len().min(200)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{Checker, Wanted, answer_in_events};

    fn check(body: &str, events: bool) -> Result<(), String> {
        Checker::new(Wanted::Text(b"hi".to_vec()), false, false).check(body.as_bytes(), events, b"7")
    }

    const GOOD: &str = r#"{"result":{"content":[{"text":"hi","type":"text"}]},"id":7,"jsonrpc":"2.0"}"#;

    #[test]
    fn right_answers_pass_in_any_order_and_form() {
        assert_eq!(check(GOOD, false), Ok(()));
        let events = format!(
            "id: 1\ndata:\n\n: hello\n\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"x\"}}\n\nevent: message\r\ndata: {GOOD}\r\n\r\n"
        );
        assert_eq!(check(&events, true), Ok(()));
        assert_eq!(answer_in_events(b"data: {\"id\":\ndata: 1}\n\n").unwrap(), &b"{\"id\":\n1}"[..]);
    }

    #[test]
    fn wrong_answers_do_not() {
        for (body, why) in [
            (GOOD.replace("hi", "ho"), "not the one sent"),
            (GOOD.replace("\"id\":7", "\"id\":8"), "not for id 7"),
            (GOOD.replace("\"id\":7", "\"id\":\"7\""), "not for id 7"),
            (GOOD.replace("\"id\":7,", ""), "not for id 7"),
            (GOOD.replace("2.0", "1.0"), "no JSON-RPC"),
            (GOOD[..GOOD.len() - 1].to_owned(), "no JSON-RPC"),
            (GOOD.replace("{\"content", "{\"isError\":true,\"content"), "it failed"),
            (r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1}}"#.into(), "an error came back"),
            (r#"{"jsonrpc":"2.0","id":7}"#.into(), "without result"),
        ] {
            let error = check(&body, false).unwrap_err();
            assert!(error.contains(why), "{body}: {error}");
        }
        assert!(
            check(&format!("data: {GOOD}\n\ndata: {GOOD}\n\n"), true).unwrap_err().contains("two answers")
        );
        assert!(check(": nothing\n\n", true).unwrap_err().contains("no answer"));
    }

    #[test]
    fn modern_answers_need_their_result_type() {
        let mut checker = Checker::new(Wanted::Text(b"hi".to_vec()), true, false);
        assert!(checker.check(GOOD.as_bytes(), false, b"7").unwrap_err().contains("resultType"));
        let typed = GOOD.replace("{\"content", "{\"resultType\":\"complete\",\"content");
        assert_eq!(checker.check(typed.as_bytes(), false, b"7"), Ok(()));
    }

    #[test]
    fn a_remembered_answer_is_still_compared() {
        let list = r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"inputSchema":{}},{"inputSchema":{}}]}}"#;
        let mut checker = Checker::new(Wanted::Tools(2), false, true);
        for _ in 0..2 {
            assert_eq!(checker.check(list.as_bytes(), false, b"7"), Ok(()));
        }
        assert!(checker.known.is_some());
        assert_eq!(checker.check(list.replace(":7", ":1234").as_bytes(), false, b"1234"), Ok(()));
        assert!(checker.check(list.as_bytes(), false, b"8").unwrap_err().contains("not for id 8"));
        let short = list.replace(",{\"inputSchema\":{}}", "");
        assert_eq!(checker.check(short.as_bytes(), false, b"7").unwrap_err(), "1 tools instead of 2");
    }
}
