//! Requests of clients, and their answers.

use crate::corpus::result_member;
use crate::corpus::{Section, Template, members};
use crate::rig::{Place, Rig};
use crate::support::Over;

/// Every request reaches the upstream unchanged, and its answer has the ID in its original spelling.
pub(crate) async fn requests(place: Place) {
    let mut rig = Rig::start(place).await;
    for section in rig.corpus("requests", "requests") {
        let asked = rig.ask(&section).await;
        let (id, key) = (&asked.id, &asked.key);
        let answer =
            Template::of(&section.title, r#"{"jsonrpc":"2.0","result":{"resultType":"complete"},"id":«id»}"#);
        let mut turn = asked.turn;
        asked.heard.answer(&answer.fill(&[("id", key)])).await;
        assert_eq!(rig.client.next(&mut turn).await, answer.fill(&[("id", id)]), "{}", section.title);
    }
}

/// The headers that mirror a message match the upstream's message, not the client's.
pub(crate) async fn mirrored_headers(place: Place) {
    let mut rig = Rig::start(place).await;
    for section in rig.corpus("requests", "requests") {
        let asked = rig.ask(&section).await;
        let header = |name: &str| asked.heard.headers.get(name).map(String::as_str);
        if rig.is_stateless() {
            assert_eq!(header("mcp-protocol-version"), Some(place.version), "{}", section.title);
            assert_eq!(header("mcp-method"), Some(section.note.as_str()), "{}", section.title);
            let name = match section.note.as_str() {
                "tools/call" | "prompts/get" => Some("call"),
                "resources/read" => Some(crate::rig::URI),
                _ => None,
            };
            assert_eq!(header("mcp-name"), name, "{}", section.title);
        } else {
            assert_eq!(header("mcp-method"), None, "{}", section.title);
            // The header was introduced with 2025-06-18.
            let version = Some(place.version).filter(|version| *version > "2025-03-26");
            assert_eq!(header("mcp-protocol-version"), version, "{}", section.title);
        }
        let mut turn = asked.turn;
        asked.heard.answer(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, asked.key)).await;
        rig.client.next(&mut turn).await;
    }
}

/// Every answer, result or error, arrives unchanged except for its ID and the upstream's state, as JSON or on a stream.
pub(crate) async fn answers(place: Place) {
    let mut rig = Rig::start(place).await;
    let sections = [rig.corpus("server-results", "answers"), rig.corpus("server-errors", "")].concat();
    for (number, section) in sections.iter().enumerate() {
        let question = question(section);
        let mut asked = rig.ask(&question).await;
        let streamed = place.upstream == Over::Http && number % 2 == 1;
        if streamed {
            let log =
                r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":0}}"#;
            asked.heard.say(log).await;
            assert_eq!(rig.client.next(&mut asked.turn).await, log, "{}", section.title);
        }
        let state = r#""up\u0073tream""#;
        let answer = Template::new(section).fill(&[("id", &asked.key), ("state", state)]);
        let (id, mut turn) = (asked.id, asked.turn);
        asked.heard.answer(&answer).await;
        let came = rig.client.next(&mut turn).await;
        let spans = rig.carried(section).read(&came);
        assert_eq!(spans.get("id"), id, "{}", section.title);
        assert!(
            spans.find("state").is_none_or(|sealed| sealed.len() > 40),
            "{}: state is sealed",
            section.title
        );
    }
}

/// An answer of a megabyte arrives unchanged, wherever its ID is.
pub(crate) async fn long_answers(place: Place) {
    let mut rig = Rig::start(place).await;
    let text = "é\\u0000\\ud83d\\ude00 ".repeat(50_000);
    let content =
        format!(r#"{{"resultType":"complete","n":1e2,"content":[{{"type":"text","text":"{text}"}}]}}"#);
    for answer in [
        format!(r#"{{"jsonrpc":"2.0","id":«id»,"result":{content}}}"#),
        format!(r#"{{"result":{content} ,"jsonrpc":"2.0","x":[1.00], "id" :«id» }}"#),
        format!(r#"{{"id":«id»,"error":{{"code":-32099,"message":"m","data":{content}}},"jsonrpc":"2.0"}}"#),
    ] {
        let section = Section { title: "a long answer".into(), note: "tools/call".into(), text: answer };
        let mut asked = rig.ask(&question(&section)).await;
        let template = rig.carried(&section);
        asked.heard.answer(&template.fill(&[("id", &asked.key)])).await;
        let came = rig.client.next(&mut asked.turn).await;
        assert_eq!(came.len(), template.fill(&[("id", &asked.id)]).len());
        assert_eq!(template.read(&came).get("id"), asked.id);
    }
}

/// A request with the method that a section answers.
fn question(section: &Section) -> Section {
    let params = match section.note.as_str() {
        "tools/call" | "prompts/get" => r#""name":«name»"#,
        "resources/read" => r#""uri":"corpus://things/1""#,
        "completion/complete" => {
            r#""ref":{"type":"ref/prompt","name":«name»},"argument":{"name":"a","value":""}"#
        }
        _ => r#""a":1"#,
    };
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":«id»,"method":"{}","params":{{"_meta":{{«envelope»"a":1}},{params}}}}}"#,
        section.note
    );
    Section { title: section.title.clone(), note: section.note.clone(), text }
}

/// Answers of the gateway itself have the ID in its original spelling, however odd the rest of the request is.
pub(crate) async fn answered_here(place: Place) {
    let mut rig = Rig::start(place).await;
    for section in rig.corpus("answered-here", "") {
        if section.note == "initialize" {
            // Each session has one `initialize`, and this session has already had it.
            continue;
        }
        let id = rig.next_id();
        let text = Template::new(&section).fill(&[("id", &id), ("token", "\"t\"")]);
        let mut turn = rig.client.request(&text, &section.note, None).await;
        let answer = rig.client.next(&mut turn).await;
        if section.note == "subscriptions/listen" {
            let params = members(&answer).remove("params").expect("an acknowledgement");
            let meta = members(&params).remove("_meta").expect("metadata");
            assert_eq!(members(&meta)["io.modelcontextprotocol/subscriptionId"], id, "{}", section.title);
            let end = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
            );
            if rig.client.is_pipe() {
                rig.client.tell(&end).await;
            }
            continue;
        }
        let answer = members(&answer);
        assert_eq!(answer["id"], id, "{}", section.title);
        assert!(answer.contains_key("result"), "{}: {answer:?}", section.title);
    }
}

/// The upstream gets the client's own introduction, and the client gets the upstream's capabilities. A child is asked for
/// the newest version with a handshake, whatever the client's version is, and forms are declared in that version's format.
pub(crate) async fn introductions(place: Place) {
    let rig = Rig::start(place).await;
    let mut params = crate::rig::hello_params(place.version, &rig.capabilities);
    if matches!(place.upstream, Over::Stdio) {
        params = params.replacen(place.version, "2025-11-25", 1);
        if place.version == "2025-06-18" {
            params = params.replacen(r#""elicitation":{"#, r#""elicitation":{"form":{},"#, 1);
        }
    }
    let hellos = rig.upstream.hellos(1).await;
    let shown = hellos.iter().any(|hello| members(hello)["params"] == params.replace('\n', " "));
    assert!(shown, "wanted {params}\ncame   {hellos:#?}");
    let capabilities = members(&result_member(&rig.hello, "capabilities"));
    let own = crate::corpus::sections(place.version, "capabilities");
    let own = own.iter().find(|section| section.note == "server").expect("one");
    for (name, value) in members(&own.text) {
        assert_eq!(capabilities[&name], value, "{name}");
    }
}
