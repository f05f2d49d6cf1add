//! The upstream's answers, as bytes. They do not depend on a transport.

use super::request::{LEGACY, MODERN, Request};
use super::{Era, tools};
use crate::bench::json::{member, unquoted};
use crate::bench::payload_text;
use bytes::Bytes;
use std::sync::{Mutex, PoisonError};

/// The largest text of the tool `payload`, in bytes.
const LARGEST_PAYLOAD: usize = 16 << 20;
/// The number of payload sizes that are kept ready.
const SIZES_KEPT: usize = 4;

/// The end of a text result.
const TEXT_END: &[u8] = b"\"}]}}";

/// An answer in two pieces, so that a large prepared piece is shared instead of copied.
#[derive(Debug)]
pub(super) struct Answer {
    /// The beginning, from `{` on: the ID, and for small answers everything.
    pub(super) head: Vec<u8>,
    /// The rest.
    pub(super) tail: Bytes,
    /// The JSON-RPC error code, if it is an error.
    pub(super) code: Option<i32>,
}

/// Prepared answers, and the rules that select one for a request.
#[derive(Debug)]
pub(super) struct Answers {
    list: Bytes,
    modern_list: Bytes,
    era: Era,
    /// The only version with a handshake; `None` for all of them.
    handshake: Option<String>,
    payloads: Mutex<Vec<(usize, bool, Bytes)>>,
}

impl Answers {
    pub(super) fn new(count: u32, era: Era) -> Self {
        let list = tools::list(count);
        let hints = r#""resultType":"complete","ttlMs":3600000,"cacheScope":"public","#;
        Self {
            modern_list: format!(r#","result":{{{hints}"tools":{list}}}}}"#).into(),
            list: format!(r#","result":{{"tools":{list}}}}}"#).into(),
            era,
            handshake: None,
            payloads: Mutex::default(),
        }
    }

    /// Returns the same answers with another `handshake`: the only version that a handshake agrees on; `None`
    /// allows all versions.
    pub(super) fn agreeing_on(self, handshake: Option<String>) -> Self {
        Self { handshake, ..self }
    }

    /// Reads a message as a server with these versions would: a server without the stateless version ignores the
    /// metadata of that version.
    pub(super) fn read<'a>(&self, message: &'a [u8]) -> Option<Request<'a>> {
        let mut request = Request::read(message)?;
        request.modern &= self.era != Era::Legacy;
        Some(request)
    }

    /// The answer to a request; `None` for notifications and responses, which get no answer.
    pub(super) fn to(&self, request: &Request<'_>) -> Option<Answer> {
        let (id, method) = (request.id?, request.method?);
        if !request.modern && self.era == Era::Modern {
            return Some(Answer::error(id, -32022, "only 2026-07-28 is spoken here"));
        }
        Some(match method {
            b"tools/call" => self.call(id, request),
            b"tools/list" => Answer::ready(id, if request.modern { &self.modern_list } else { &self.list }),
            b"initialize" if !request.modern => {
                initialize(id, self.handshake.as_deref().map(str::as_bytes).or(request.version))
            }
            b"ping" if !request.modern => Answer::whole(id, b"{}"),
            b"server/discover" if request.modern => discover(id),
            _ => Answer::error(id, -32601, "method not found: it has tools only"),
        })
    }

    fn call(&self, id: &[u8], request: &Request<'_>) -> Answer {
        let argument = |name: &[u8]| request.arguments.and_then(|arguments| member(arguments, name));
        match request.name {
            Some(b"echo") => match argument(b"text").and_then(unquoted) {
                Some(text) => echo(id, text, request.modern),
                None => Answer::error(id, -32602, "echo needs a text"),
            },
            Some(b"payload") => {
                let digits = argument(b"bytes").and_then(|raw| std::str::from_utf8(raw).ok());
                match digits.and_then(|digits| digits.parse().ok()).filter(|bytes| *bytes <= LARGEST_PAYLOAD)
                {
                    Some(bytes) => Answer::ready(id, &self.payload(bytes, request.modern)),
                    None => Answer::error(id, -32602, "payload needs a number of bytes up to 16777216"),
                }
            }
            _ => Answer::error(id, -32602, "unknown tool: only echo and payload can be called"),
        }
    }

    fn payload(&self, bytes: usize, modern: bool) -> Bytes {
        let mut kept = self.payloads.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, _, ready)) = kept.iter().find(|(size, era, _)| (*size, *era) == (bytes, modern)) {
            return ready.clone();
        }
        let ready = Bytes::from([text_start(modern), &payload_text(bytes), TEXT_END].concat());
        if kept.len() == SIZES_KEPT {
            kept.remove(0);
        }
        kept.push((bytes, modern, ready.clone()));
        ready
    }
}

impl Answer {
    /// An error; `id` is `null` if the request's ID could not be read.
    pub(super) fn error(id: &[u8], code: i32, message: &str) -> Self {
        let data =
            if code == -32022 { format!(r#","data":{{"supported":["{MODERN}"]}}"#) } else { String::new() };
        let rest = format!(r#","error":{{"code":{code},"message":"{message}"{data}}}}}"#);
        Self { head: [&start(id)[..], rest.as_bytes()].concat(), tail: Bytes::new(), code: Some(code) }
    }

    fn whole(id: &[u8], result: &[u8]) -> Self {
        Self {
            head: [&start(id)[..], b",\"result\":", result, b"}"].concat(),
            tail: Bytes::new(),
            code: None,
        }
    }

    fn ready(id: &[u8], tail: &Bytes) -> Self {
        Self { head: start(id), tail: tail.clone(), code: None }
    }
}

/// The beginning of an answer, up to and including the ID.
fn start(id: &[u8]) -> Vec<u8> {
    let mut head = Vec::with_capacity(256 + id.len());
    head.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    head.extend_from_slice(id);
    head
}

/// The part between the ID and the text.
fn text_start(modern: bool) -> &'static [u8] {
    if modern {
        b",\"result\":{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":\""
    } else {
        b",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\""
    }
}

fn echo(id: &[u8], text: &[u8], modern: bool) -> Answer {
    let mut head = start(id);
    for piece in [text_start(modern), text, TEXT_END] {
        head.extend_from_slice(piece);
    }
    Answer { head, tail: Bytes::new(), code: None }
}

fn initialize(id: &[u8], asked: Option<&[u8]>) -> Answer {
    let newest = LEGACY[LEGACY.len() - 1];
    let version = LEGACY.iter().find(|known| Some(known.as_bytes()) == asked).unwrap_or(&newest);
    let result = format!(
        concat!(
            r#"{{"protocolVersion":"{}","capabilities":{{"tools":{{}}}},"#,
            r#""serverInfo":{{"name":"bench-upstream","version":"1"}}}}"#
        ),
        version
    );
    Answer::whole(id, result.as_bytes())
}

fn discover(id: &[u8]) -> Answer {
    let result = format!(
        concat!(
            r#"{{"resultType":"complete","supportedVersions":["{}"],"capabilities":{{"tools":{{}}}},"#,
            r#""ttlMs":3600000,"cacheScope":"public","_meta":{{"io.modelcontextprotocol/serverInfo":"#,
            r#"{{"name":"bench-upstream","version":"1"}}}}}}"#
        ),
        MODERN
    );
    Answer::whole(id, result.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::{Answers, Era};
    use serde_json::{Value, json};

    fn ask(message: &str) -> Value {
        ask_in(Era::Both, message)
    }

    fn ask_in(era: Era, message: &str) -> Value {
        let answers = Answers::new(3, era);
        let answer = answers.to(&answers.read(message.as_bytes()).unwrap()).unwrap();
        serde_json::from_slice(&[&answer.head[..], &answer.tail[..]].concat()).unwrap()
    }

    fn with_params(method: &str, params: &Value) -> Value {
        ask(&json!({"jsonrpc": "2.0", "id": "i\"d", "method": method, "params": params}).to_string())
    }

    fn meta() -> Value {
        json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"})
    }

    #[test]
    fn echo_gives_text_and_id_back_as_written() {
        let answer = with_params("tools/call", &json!({"name": "echo", "arguments": {"text": "a\"\u{1}é"}}));
        assert_eq!(answer["id"], "i\"d");
        assert_eq!(answer["result"]["content"], json!([{"type": "text", "text": "a\"\u{1}é"}]));
        assert_eq!(answer["result"].get("resultType"), None);
    }

    #[test]
    fn modern_answers_carry_what_that_version_asks_for() {
        let echo = json!({"name": "echo", "arguments": {"text": "a"}, "_meta": meta()});
        assert_eq!(with_params("tools/call", &echo)["result"]["resultType"], "complete");
        let list = &with_params("tools/list", &json!({"_meta": meta()}))["result"];
        assert_eq!((&list["cacheScope"], list["tools"].as_array().unwrap().len()), (&json!("public"), 3));
        let found = with_params("server/discover", &json!({"_meta": meta()}));
        assert_eq!(found["result"]["supportedVersions"], json!(["2026-07-28"]));
    }

    #[test]
    fn legacy_handshake_and_list() {
        for (asked, given) in
            [("2025-06-18", "2025-06-18"), ("2026-07-28", "2025-11-25"), ("x", "2025-11-25")]
        {
            let answer = with_params("initialize", &json!({"protocolVersion": asked}));
            assert_eq!(answer["result"]["protocolVersion"], given);
        }
        assert_eq!(with_params("tools/list", &json!({}))["result"]["tools"][1]["name"], "payload");
        assert_eq!(with_params("ping", &json!({}))["result"], json!({}));
    }

    #[test]
    fn one_version_can_be_all_that_it_agrees_on() {
        let answers = Answers::new(3, Era::Legacy).agreeing_on(Some("2025-11-25".to_owned()));
        let ask =
            br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
        let answer = answers.to(&answers.read(ask).unwrap()).unwrap();
        let answer: Value = serde_json::from_slice(&answer.head).unwrap();
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    }

    #[test]
    fn payload_has_the_asked_size() {
        let answer = with_params("tools/call", &json!({"name": "payload", "arguments": {"bytes": 1000}}));
        assert_eq!(answer["result"]["content"][0]["text"].as_str().unwrap().len(), 1000);
    }

    #[test]
    fn the_rest_is_refused() {
        assert_eq!(with_params("resources/list", &json!({}))["error"]["code"], -32601);
        for params in [
            json!({"name": "echo"}),
            json!({"name": "x"}),
            json!({"name": "payload", "arguments": {"bytes": -1}}),
        ] {
            assert_eq!(with_params("tools/call", &params)["error"]["code"], -32602);
        }
        let answers = Answers::new(2, Era::Both);
        let note = answers.read(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).unwrap();
        assert!(answers.to(&note).is_none());
    }

    #[test]
    fn a_server_of_one_era_does_not_know_the_other() {
        let discover =
            json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta()}});
        assert_eq!(ask_in(Era::Legacy, &discover.to_string())["error"]["code"], -32601);
        assert!(ask_in(Era::Modern, &discover.to_string())["result"].is_object());
        let initialize =
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
        let refused = &ask_in(Era::Modern, initialize)["error"];
        assert_eq!(
            (&refused["code"], &refused["data"]["supported"][0]),
            (&json!(-32022), &json!("2026-07-28"))
        );
        assert!(ask_in(Era::Legacy, initialize)["result"].is_object());
    }
}
