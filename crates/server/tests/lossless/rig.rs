//! One client, one gateway, one upstream of one version, over the requested transports.

use std::collections::HashMap;

use testkit::client::{Stream, Wire};

use crate::corpus::{Section, Spans, Template, result_member, sections};
use crate::support::{Over, Start, Started, connect};
use crate::upstream::{Heard, Script, Upstream};

/// The place of a test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) version: &'static str,
    /// The client's transport.
    pub(crate) client: Over,
    /// The upstream's transport.
    pub(crate) upstream: Over,
}

/// Everything that a test needs.
pub(crate) struct Rig {
    pub(crate) place: Place,
    pub(crate) client: Wire,
    _gateway: Started,
    pub(crate) upstream: Upstream,
    /// The answer to the client's `initialize`.
    pub(crate) hello: String,
    /// The capabilities of the client, a JSON object.
    pub(crate) capabilities: String,
    count: u32,
}

/// The version without a handshake.
const STATELESS: &str = "2026-07-28";

/// The name of the tool and the prompt that the corpus calls.
const NAME: &str = "call";

/// The URI of the corpus' resource.
pub(crate) const URI: &str = "corpus://things/1";

/// A request that the upstream has received.
pub(crate) struct Asked {
    pub(crate) turn: Stream,
    pub(crate) heard: Heard,
    /// The client's ID, in its original spelling.
    pub(crate) id: String,
    /// The client's progress token, in its original spelling.
    pub(crate) token: String,
    /// The ID that the upstream received, which is also its token.
    pub(crate) key: String,
}

impl Rig {
    /// Starts everything, with the corpus' entries on the upstream's lists.
    pub(crate) async fn start(place: Place) -> Self {
        let stateless = place.version == STATELESS;
        let capability = |side: &str| {
            let all = sections(place.version, "capabilities");
            all.into_iter().find(|section| section.note == side).expect("one of each side").text
        };
        let script = Script {
            version: place.version,
            stateless,
            capabilities: capability("server"),
            lists: lists(place),
        };
        let upstream = Upstream::start(place.upstream, script).await;
        let config = format!("mcpServers:\n  up: {}\n", upstream.config());
        let start = Start { config: &config, ..Start::default() };
        let (gateway, mut client) = connect(place.client, &start, place.version).await;
        let capabilities = capability("client");
        let hello = if stateless {
            String::new()
        } else {
            introduce(&mut client, &hello_params(place.version, &capabilities)).await
        };
        Self { place, client, _gateway: gateway, upstream, hello, capabilities, count: 0 }
    }

    /// Returns true if there is no handshake.
    pub(crate) fn is_stateless(&self) -> bool {
        self.place.version == STATELESS
    }

    /// The corpus of this version with this name, and the odd one, if there is one.
    pub(crate) fn corpus(&self, own: &str, odd: &str) -> Vec<Section> {
        let own = if own.is_empty() { Vec::new() } else { sections(self.place.version, own) };
        let odd = if odd.is_empty() { Vec::new() } else { sections("odd", odd) };
        own.into_iter().chain(odd).collect()
    }

    /// A message as it arrives at the other side.
    pub(crate) fn carried(&self, section: &Section) -> Template {
        let pipe = self.client.is_pipe() || self.place.upstream == Over::Stdio;
        Template::new(section).on_one_line(pipe)
    }

    /// An unused ID, in one of the allowed spellings.
    pub(crate) fn next_id(&mut self) -> String {
        self.count += 1;
        let n = self.count;
        match n % 6 {
            0 => format!("{n}"),
            1 => format!("\"{n}\""),
            2 => format!("-{n}"),
            3 => format!(r#""\u0069d \ud83d\ude00 {n}\/""#),
            4 => format!("9007199254740993{n}"),
            _ => format!("\"😀 {n}\""),
        }
    }

    /// The text for `«envelope»` in this version.
    pub(crate) fn envelope(&self) -> String {
        if !self.is_stateless() {
            return String::new();
        }
        let (version, capabilities) = (self.place.version, &self.capabilities);
        let prefix = "io.modelcontextprotocol/";
        format!(r#""{prefix}clientCapabilities":{capabilities},"{prefix}protocolVersion":"{version}","#)
    }

    /// Sends the request of a section and checks the message that the upstream receives.
    pub(crate) async fn ask(&mut self, section: &Section) -> Asked {
        let text = section.text.replace("«envelope»", &self.envelope());
        if text.contains("«retry»") {
            let first = self.exchange(section, &text.replace("«retry»", ""), None).await;
            let asks = format!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{{"requestState":"st\u0061te","resultType":"input_required"}}}}"#,
                first.key
            );
            let Asked { mut turn, heard, .. } = first;
            heard.answer(&asks).await;
            let answer = self.client.next(&mut turn).await;
            let sealed = result_member(&answer, "requestState");
            return self
                .exchange(section, &text.replace("«retry»", "\"requestState\":«state»,"), Some(&sealed))
                .await;
        }
        self.exchange(section, &text, None).await
    }

    async fn exchange(&mut self, section: &Section, text: &str, state: Option<&str>) -> Asked {
        let id = self.next_id();
        let token =
            if self.count.is_multiple_of(2) { id.clone() } else { format!(r#""t\u006fken {}""#, self.count) };
        let marks = [
            ("id", &*id),
            ("token", &*token),
            ("name", r#""up__c\u0061ll""#),
            ("state", state.unwrap_or("")),
        ];
        let sent = Template::of(&section.title, text).fill(&marks);
        let name = match section.note.as_str() {
            "tools/call" | "prompts/get" => Some("up__call"),
            "resources/read" => Some(URI),
            _ => None,
        };
        let turn = self.client.request(&sent, &section.note, name).await;
        let heard = self.upstream.heard().await;
        let section = Section { title: section.title.clone(), note: String::new(), text: text.to_owned() };
        let spans = self.carried(&section).read(&heard.text);
        let key = spans.get("id").to_owned();
        check_spans(&section.title, &spans, &key);
        Asked { turn, heard, id, token, key }
    }
}

/// Sends `initialize` with these params, and then `notifications/initialized`; returns the answer.
async fn introduce(client: &mut Wire, params: &str) -> String {
    let text = format!(r#"{{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{params}}}"#);
    let mut turn = client.request(&text, "initialize", None).await;
    let answer = client.next(&mut turn).await;
    client.tell(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    answer
}

/// Checks the texts in the upstream's spans.
fn check_spans(title: &str, spans: &Spans, key: &str) {
    assert!(key.parse::<u64>().is_ok(), "{title}: the gateway's own id is {key}");
    assert!(spans.find("token").is_none_or(|token| token == key), "{title}: token");
    let name = spans.find("name").map(|name| serde_json::from_str::<String>(name).expect("a string"));
    assert!(name.is_none_or(|name| name == NAME), "{title}: name");
    assert!(spans.find("state").is_none_or(|state| state == r#""st\u0061te""#), "{title}: state");
}

/// Params of `initialize` with everything that the version has.
pub(crate) fn hello_params(version: &str, capabilities: &str) -> String {
    let sections = sections(version, "answered-here");
    let hello = sections.iter().find(|section| section.note == "initialize").expect("one");
    let params = crate::corpus::members(&hello.text.replace("«id»", "0").replace("«token»", "0"))
        .remove("params")
        .expect("params");
    let own = crate::corpus::members(&params).remove("capabilities").expect("capabilities");
    params.replacen(&own, capabilities, 1)
}

/// The upstream's lists: the entries that the corpus calls, and the corpus' own entries.
fn lists(place: Place) -> HashMap<&'static str, Vec<String>> {
    let mut lists = HashMap::from([
        ("tools", vec![format!(r#"{{"name":"{NAME}","inputSchema":{{"type":"object"}}}}"#)]),
        ("prompts", vec![format!(r#"{{"name":"{NAME}"}}"#)]),
        ("resources", vec![format!(r#"{{"uri":"{URI}","name":"thing"}}"#)]),
        ("resourceTemplates", vec![]),
    ]);
    for (number, section) in sections(place.version, "offers").iter().enumerate() {
        let list = lists.get_mut(section.note.as_str()).expect("a known list");
        let marks = offer_marks(number);
        list.push(Template::new(section).fill(&[("name", &marks.0), ("uri", &marks.1)]));
    }
    lists
}

/// The name and the URI of one of the corpus' entries.
pub(crate) fn offer_marks(number: usize) -> (String, String) {
    (format!(r#""offer {number} \u00e9😀\/""#), format!(r#""corpus:\/\/offers/{number}/\u00e9""#))
}
