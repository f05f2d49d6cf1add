//! Results above `maxResult`: shortened for clients of every version, and whole everywhere else.

use serde_json::{Value, json};

use crate::library::*;
use crate::support::*;

const CAP: &str = "maxResult: 8KiB";

/// The size of a result on the wire.
fn size(answer: &Value) -> usize {
    answer["result"].to_string().len()
}

#[tokio::test]
async fn every_version_gets_the_beginning_and_can_read_the_rest() {
    let puppet = library().await;
    for version in [
        json!(1),
        json!("2024-10-07"),
        json!("2024-11-05"),
        json!("2025-03-26"),
        json!("2025-06-18"),
        json!(LEGACY),
        json!(MODERN),
    ] {
        for over in [Over::Http, Over::Stdio] {
            let config = open(&puppet, CAP, "");
            let start = Start { config: &config, ..Start::default() };
            let mut client = Alone::start(over, &start, &version, &json!({})).await;
            let hello = client.introduce().await;
            assert!(hello["result"]["capabilities"]["resources"].is_object(), "{version}: {hello}");
            let listed = client.ask("resources/list", &json!({})).await;
            assert_eq!(listed["result"]["resources"], json!([]), "{version}: {listed}");
            let answer = client.call("up__read", &json!({ "lines": 900 })).await;
            assert!(size(&answer) <= 8 << 10, "{version}: {} bytes", size(&answer));
            let content = answer["result"]["content"].as_array().expect("content");
            let shown = content[0]["text"].as_str().expect("a text");
            let (shown, notice) = shown.split_once("\n\n[Shortened by the gateway: ").expect("a notice");
            assert_eq!(content[1]["text"], "the end", "what is short stays");
            let at = notice.find("dragoman://results/").expect("a URI");
            let name: String = notice[at..].split(' ').next().expect("a word").to_owned();
            assert!(content[2].to_string().contains(&name), "{version}: {answer}");
            let rest = client.ask("resources/read", &uri(&name)).await;
            let contents = &rest["result"]["contents"];
            assert_eq!(contents.as_array().map(Vec::len), Some(1), "{version}: {rest}");
            let rest_text = contents[0]["text"].as_str().expect("a text");
            assert_eq!(format!("{shown}{rest_text}"), lines(900), "{version}");
            let missing =
                format!("{} of {} bytes are missing", rest_text.len(), lines(900).len() + "the end".len());
            assert!(notice.starts_with(&missing), "{version}: {notice}");
            if version == json!(MODERN) {
                assert_eq!(
                    (&rest["result"]["cacheScope"], &rest["result"]["ttlMs"]),
                    (&json!("private"), &json!(0))
                );
            }
            let whole = client.call("up__read", &json!({ "lines": 2 })).await;
            assert_eq!(text(&whole), lines(2), "{version}: short results stay");
        }
    }
}

#[tokio::test]
async fn every_byte_around_the_content_stays() {
    let puppet = library().await;
    let gateway = Gateway::start(&open(&puppet, CAP, "")).await;
    let session = Legacy::open(gateway.http()).await;
    let mut reply = session.begin("tools/call", &json!({ "name": "up__odd", "arguments": {} })).await;
    let written = reply.text().await;
    for part in AROUND {
        assert!(written.contains(part), "{part}: {written}");
    }
    assert!(written.contains("[Shortened by the gateway: ") && !written.contains("line 899"), "{written}");
}

#[tokio::test]
async fn a_picture_moves_as_a_whole() {
    let puppet = library().await;
    let gateway = Gateway::start(&open(&puppet, CAP, "")).await;
    let client = Modern::new(gateway.http());
    let answer = client.call("up__picture", &json!({})).await;
    let content = &answer["result"]["content"];
    assert_eq!(content[0]["text"], "a picture");
    assert!(
        content[1]["text"]
            .as_str()
            .is_some_and(|text| text.starts_with("[Shortened by the gateway: 20000 of 20009 bytes"))
    );
    assert_eq!((&content[2]["mimeType"], &content[2]["size"]), (&json!("image/png"), &json!(20_000)));
    let rest = client.ask("resources/read", &uri(&link(&answer))).await;
    assert_eq!(rest["result"]["contents"][0]["mimeType"], "image/png", "{rest}");
    assert_eq!(rest["result"]["contents"][0]["blob"].as_str().map(str::len), Some(26_668));
}

#[tokio::test]
async fn a_structured_result_becomes_a_failure_with_the_reason() {
    let puppet = library().await;
    let gateway = Gateway::start(&open(&puppet, CAP, "")).await;
    for tool in ["up__table", "up__wide"] {
        for answer in [
            Legacy::open(gateway.http()).await.call(tool, &json!({})).await,
            Modern::new(gateway.http()).call(tool, &json!({})).await,
        ] {
            assert_eq!(answer["result"]["isError"], true, "{answer}");
            assert_eq!(answer["result"].get("structuredContent"), None);
            let why = text(&answer);
            assert!(
                why.contains("limited to 8192 bytes (`maxResult` of the server)")
                    && why.contains("request less"),
                "{why}"
            );
        }
    }
    // A client of a version without structured results reads the text alone.
    let older = Legacy::open_at(gateway.http(), "/mcp", "2024-11-05", &json!({})).await;
    let answer = older.call("up__table", &json!({})).await;
    assert!(answer["result"]["isError"] != true && text(&answer).contains("[Shortened"), "{answer}");
}

#[tokio::test]
async fn an_answer_of_any_length_within_the_limit_passes() {
    let puppet = library().await;
    let gateway = Gateway::start(&open(&puppet, "maxResult: 1MiB", "")).await;
    for answer in [
        Legacy::open(gateway.http()).await.call("up__read", &json!({ "lines": 9000 })).await,
        Modern::new(gateway.http()).call("up__read", &json!({ "lines": 9000 })).await,
    ] {
        assert_eq!(text(&answer), lines(9000));
    }
}

#[tokio::test]
async fn a_dialect_keeps_its_own_results() {
    let puppet = library().await;
    let rest = "endpoints: [{ path: /gateway, dialect: gateway }]\nauth: { bearer: 'to-ken-1111-2222' }";
    let gateway = Gateway::start(&open(&puppet, CAP, rest)).await;
    let http = gateway.http().showing("Bearer to-ken-1111-2222");
    let call =
        request(1, "tools/call", &json!({"name": "up__read", "arguments": {"lines": 900}})).to_string();
    let answer = http.post("/gateway", &[], &call).await.response().await;
    assert!(answer.to_string().contains("line 899") && !answer.to_string().contains("Shortened"), "{answer}");
    assert!(
        Modern::new(http).call("up__read", &json!({ "lines": 900 })).await.to_string().contains("Shortened")
    );
}

#[tokio::test]
async fn a_call_through_call_tool_follows_the_inner_server() {
    let puppet = library().await;
    let rest = "profiles: { default: { tools: { mode: search } } }";
    let gateway = Gateway::start(&open(&puppet, CAP, rest)).await;
    let client = Modern::new(gateway.http());
    let inner = json!({"name": "up__read", "arguments": {"lines": 900}});
    let answer = client.call("call_tool", &inner).await;
    assert!(size(&answer) <= 8 << 10 && text(&answer).contains("[Shortened"), "{answer}");
    let rest = client.ask("resources/read", &uri(&link(&answer))).await;
    assert!(rest["result"]["contents"][0]["text"].as_str().is_some_and(|text| text.contains("line 899")));
}

#[tokio::test]
async fn servers_without_a_limit_change_nothing() {
    let puppet = library().await;
    let gateway = Gateway::start(&open(&puppet, "", "")).await;
    let session = Legacy::open(gateway.http()).await;
    assert_eq!(session.hello["result"]["capabilities"].get("resources"), None, "{}", session.hello);
    assert_eq!(text(&session.call("up__read", &json!({ "lines": 9000 })).await), lines(9000));
}

#[tokio::test]
async fn results_on_a_stream_of_a_stateless_server_are_shortened_too() {
    let actor = Actor::start(Speaks::Stateless).await;
    let config = format!("mcpServers: {{ up: {} }}\n", actor.config().replace(" }", ", maxResult: 8KiB }"));
    let gateway = Gateway::start(&config).await;
    let call = json!({ "name": "up__ok", "arguments": {} });
    let session = Legacy::open(gateway.http()).await;
    let modern = Modern::new(gateway.http());
    for is_modern in [true, false] {
        let answering = async { actor.next("tools/call").await.answer_text(&lines(900)) };
        let asking = async {
            if is_modern {
                modern.ask("tools/call", &call).await
            } else {
                session.ask("tools/call", &call).await
            }
        };
        let (answer, ()) = tokio::join!(asking, answering);
        assert!(size(&answer) <= 8 << 10, "{} bytes", size(&answer));
        assert_eq!(answer["result"].get("resultType").is_some(), is_modern, "{answer}");
        let shown = text(&answer).split("\n\n[Shortened").next().expect("a text");
        for rest in [
            modern.ask("resources/read", &uri(&link(&answer))).await,
            session.ask("resources/read", &uri(&link(&answer))).await,
        ] {
            let rest = rest["result"]["contents"][0]["text"].as_str().expect("a text");
            assert_eq!(format!("{shown}{rest}"), lines(900));
        }
    }
    assert_eq!(actor.count("resources/read"), 0);
}
