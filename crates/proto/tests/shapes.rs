//! Properties of data between eras: unknown members survive byte for byte, equal eras change nothing, and the
//! output is valid JSON for any input.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use bytes::Bytes;
use dragoman_proto::bridge::shape::{
    GatewayIdentity, Listed, answer, client_notification, error, item, notification, params, question, result,
};
use dragoman_proto::era::{ERAS, Era};
use dragoman_proto::json::{MAX_DEPTH, Scanner};
use dragoman_proto::rpc::{Frame, FrameLimits};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const METHODS: [&str; 9] = [
    "tools/call",
    "prompts/get",
    "resources/read",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "completion/complete",
    "vendor/thing",
];
const QUESTIONS: [&str; 4] = ["elicitation/create", "sampling/createMessage", "roots/list", "vendor/ask"];
const LISTED: [Listed; 4] = [Listed::Tool, Listed::Prompt, Listed::Resource, Listed::Template];

/// Any value that a member may have.
fn any_value() -> impl Strategy<Value = String> {
    const ODD: [&str; 12] = [
        "null",
        "7",
        "1.50",
        "1E+400",
        "\"\"",
        "\"\\ud83d\"",
        "[]",
        "{}",
        "true",
        "[[]]",
        "\"o\\u0062ject\"",
        " [ 1 ] ",
    ];
    select(&ODD[..]).prop_map(str::to_owned)
}

/// A member that no version knows, with its own name and spelling.
fn unknown() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        select(&["1.50", "1E+400", "-0", "\"\\/\\ud83d\"", "{ \"a\" :[ 1 ] }"][..]).prop_map(str::to_owned),
        any::<u64>().prop_map(|number| number.to_string()),
    ];
    (any::<u32>(), value).prop_map(|(name, value)| format!("\"x-{name}\":{value}"))
}

/// An object with some of these members in their order, and unknown members among them.
fn object(members: Vec<(&'static str, BoxedStrategy<String>)>) -> BoxedStrategy<String> {
    let known: Vec<_> = members
        .into_iter()
        .map(|(key, value)| {
            let member = value.prop_map(move |value| format!("\"{key}\" : {value}"));
            (proptest::option::weighted(0.7, member), proptest::option::weighted(0.2, unknown()))
        })
        .collect();
    (known, unknown(), select(&["", " ", "\n"][..]))
        .prop_map(|(members, last, space)| {
            let all: Vec<String> =
                members.into_iter().flat_map(|(a, b)| [a, b]).flatten().chain([last]).collect();
            format!("{{{}{space}}}", all.join(&format!("{space},")))
        })
        .boxed()
}

fn array(element: BoxedStrategy<String>) -> BoxedStrategy<String> {
    (vec(element, 0..4), select(&["", " "][..]))
        .prop_map(|(elements, space)| format!("[{space}{}{space}]", elements.join(",")))
        .boxed()
}

fn one_of(values: &'static [&'static str]) -> BoxedStrategy<String> {
    select(values).prop_map(str::to_owned).boxed()
}

fn text() -> BoxedStrategy<String> {
    one_of(&["\"a\"", "\"\"", "\"{\\\"a\\\":1}\"", "\"\\ud83d\"", "\"a\\n\\u0041\""])
}

/// Members that some versions know.
fn dressed(mut members: Vec<(&'static str, BoxedStrategy<String>)>) -> BoxedStrategy<String> {
    members.push(("title", text()));
    members
        .push(("_meta", one_of(&["{}", "{\"io.modelcontextprotocol/serverInfo\":{}}", "{\"x\":1}", "null"])));
    members.push(("icons", one_of(&["[]", "[{\"src\":\"a\"}]"])));
    members.push((
        "annotations",
        one_of(&["{}", "{\"lastModified\":\"a\"}", "{\"priority\":1,\"lastModified\":\"a\"}"]),
    ));
    object(members)
}

fn block() -> BoxedStrategy<String> {
    const TYPES: [&str; 8] =
        ["text", "image", "audio", "resource", "resource_link", "tool_use", "video", "t\\u0065xt"];
    let kind = select(&TYPES[..]).prop_map(|kind| format!("\"{kind}\"")).boxed();
    let resource = one_of(&[
        "{\"uri\":\"a:b\",\"text\":\"t\"}",
        "{\"uri\":\"a:b\",\"blob\":\"AA==\",\"mimeType\":\"m\",\"_meta\":{}}",
        "{}",
        "7",
    ]);
    dressed(vec![
        ("type", kind),
        ("text", text()),
        ("data", one_of(&["\"AAAA\"", "7"])),
        ("mimeType", text()),
        ("resource", resource),
        ("uri", text()),
        ("name", text()),
    ])
}

fn schema() -> BoxedStrategy<String> {
    object(vec![
        ("type", one_of(&["\"object\"", "\"obj\\u0065ct\"", "[\"null\",\"object\"]", "\"array\""])),
        ("properties", one_of(&["{}", "{\"a\":true}"])),
    ])
}

fn listed() -> BoxedStrategy<String> {
    dressed(vec![
        ("name", text()),
        ("uri", text()),
        ("inputSchema", schema()),
        ("arguments", array(one_of(&["{\"name\":\"a\",\"title\":\"A\"}", "{}", "7"]))),
        ("size", one_of(&["7"])),
    ])
}

fn some_result() -> BoxedStrategy<String> {
    let message = object(vec![("role", one_of(&["\"user\"", "7"])), ("content", block())]);
    object(vec![
        ("content", array(block())),
        ("toolResult", one_of(&["\"a\"", "{\"content\":[{\"type\":\"audio\"}]}", "[1.50]"])),
        ("structuredContent", one_of(&["{\"a\":1}", "{ \"a\" : 1 }", "[1.50]", "\"a\"", "null", "7"])),
        ("messages", array(message)),
        ("contents", array(dressed(vec![("uri", text())]))),
        ("prompts", array(listed())),
        ("resources", array(listed())),
        ("resourceTemplates", array(listed())),
        ("nextCursor", text()),
        ("resultType", one_of(&["\"complete\""])),
        ("_meta", one_of(&["{}", "{\"io.modelcontextprotocol/serverInfo\":{},\"a\":1}"])),
    ])
}

fn some_question() -> BoxedStrategy<String> {
    let field = object(vec![
        ("type", one_of(&["\"string\"", "\"boolean\""])),
        ("default", one_of(&["true", "\"a\""])),
        ("oneOf", one_of(&["[{\"const\":\"a\",\"title\":\"A\"}]", "[]", "[7]"])),
    ]);
    let form = object(vec![("properties", object(vec![("a", field.clone()), ("b", field)]))]);
    let content = prop_oneof![block(), array(block())].boxed();
    let message = object(vec![("role", one_of(&["\"user\"", "\"assistant\""])), ("content", content)]);
    object(vec![
        ("mode", one_of(&["\"form\"", "\"url\""])),
        ("requestedSchema", form),
        ("elicitationId", text()),
        ("messages", array(message)),
        ("modelPreferences", one_of(&["{}"])),
        ("toolChoice", one_of(&["{}"])),
        ("_meta", one_of(&["{\"progressToken\":1}", "{}"])),
    ])
}

fn some_error() -> BoxedStrategy<String> {
    let codes =
        one_of(&["-32602", "-32002", "-32020", "-32021", "-32042", "-32050", "-32003", "1.5", "\"x\""]);
    let data = object(vec![
        ("uri", text()),
        ("requiredCapabilities", one_of(&["{}"])),
        ("supported", one_of(&["[]"])),
    ]);
    object(vec![("code", codes), ("message", text()), ("data", data)])
}

fn some_params() -> BoxedStrategy<String> {
    object(vec![
        ("level", one_of(&["\"notice\"", "\"alert\"", "\"x\"", "7"])),
        ("message", text()),
        ("context", one_of(&["{}"])),
        ("cursor", text()),
        ("_meta", one_of(&["{\"io.modelcontextprotocol/subscriptionId\":1}", "{\"a\":1}"])),
    ])
}

fn era() -> impl Strategy<Value = &'static Era> {
    select(&ERAS[..])
}

fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

/// The results of everything that can be done to this text, each with the name of the operation.
fn everything(text: &Bytes, from: &Era, to: &Era) -> Vec<(String, Bytes)> {
    let own = GatewayIdentity { server_info: "{\"name\":\"g\"}" };
    let mut out = Vec::new();
    for method in METHODS {
        let got = result(method, text, from, to, &own).ok();
        out.extend(got.map(|got| (format!("result of {method}"), got)));
        out.push((format!("error of {method}"), error(method, text, None, from, to)));
        out.push((format!("params of {method}"), params(method, text, from, to)));
    }
    for kind in LISTED {
        out.extend(item(kind, text, from, to).map(|got| (format!("{kind:?}"), got)));
    }
    for method in QUESTIONS {
        let asked = question(method, text, from, to, &mut || "id".to_owned()).ok();
        out.extend(asked.map(|got| (format!("question {method}"), got)));
        out.push((format!("answer to {method}"), answer(method, text, from, to)));
    }
    out
}

/// A notification with these params.
fn notice(method: &str, params: &str) -> Frame {
    let text = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{params}}}");
    Frame::parse(Bytes::from(text), FrameLimits::default()).unwrap()
}

const NOTICES: [&str; 4] =
    ["notifications/message", "notifications/progress", "notifications/tools/list_changed", "vendor/notice"];

fn assert_json(what: &str, text: &[u8]) {
    let valid = Scanner::new(text, MAX_DEPTH).and_then(|scanner| scanner.document());
    assert!(valid.is_ok(), "{what}: {valid:?} in {}", String::from_utf8_lossy(text));
}

/// Checks that `got` contains each unknown member of `given` exactly as it was written.
fn assert_survived(what: &str, given: &str, got: &[u8]) {
    let got = std::str::from_utf8(got).unwrap();
    for found in given.match_indices("\"x-").map(|(at, _)| &given[at..]) {
        let key = found.find(':').unwrap();
        let end = match found.as_bytes()[key + 1] {
            b'{' => found.find('}').unwrap() + 1,
            b'"' => key + 2 + found[key + 2..].find('"').unwrap() + 1,
            _ => found.find([',', '}', ' ', '\n']).unwrap(),
        };
        assert!(got.contains(&found[..end]), "{what}: {} is lost in {got}", &found[..end]);
    }
}

fn anything() -> BoxedStrategy<String> {
    prop_oneof![
        some_result(),
        some_question(),
        some_error(),
        some_params(),
        listed(),
        block(),
        any_value(),
        object(vec![
            ("content", any_value().boxed()),
            ("messages", any_value().boxed()),
            ("code", any_value().boxed())
        ]),
        object(vec![
            ("tools", array(listed())),
            ("_meta", any_value().boxed()),
            ("inputSchema", any_value().boxed())
        ]),
    ]
    .boxed()
}

proptest! {
    // Each case makes about two thousand translations.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_comes_in_valid_json_goes_out(text in anything(), from in era(), to in era()) {
        let text = bytes(&text);
        for (what, down) in everything(&text, from, to) {
            assert_json(&what, &down);
            for (back, up) in everything(&down, to, from) {
                assert_json(&format!("{what}, {back}"), &up);
            }
        }
    }
}

proptest! {
    #[test]
    fn equal_eras_change_nothing(text in anything(), era in era()) {
        let text = bytes(&text);
        for (what, same) in everything(&text, era, era) {
            prop_assert_eq!((same.as_ptr(), same.len()), (text.as_ptr(), text.len()), "{}", what);
        }
    }

    #[test]
    fn results_keep_what_nobody_knows(given in some_result(), from in era(), to in era()) {
        let own = GatewayIdentity { server_info: "{}" };
        for method in METHODS {
            let got = result(method, &bytes(&given), from, to, &own).unwrap();
            // In the first version, the other members of a list of resources belong to the list that was
            // requested.
            if !method.starts_with("resources/") || !method.ends_with("list") {
                assert_survived(method, &given, &got);
            }
        }
    }

    #[test]
    fn listed_things_keep_what_nobody_knows(given in listed(), from in era(), to in era()) {
        for kind in LISTED {
            if let Some(got) = item(kind, &bytes(&given), from, to) {
                assert_survived(&format!("{kind:?}"), &given, &got);
            }
        }
    }

    #[test]
    fn questions_keep_what_nobody_knows(given in some_question(), from in era(), to in era()) {
        for method in QUESTIONS {
            if let Ok(got) = question(method, &bytes(&given), from, to, &mut || "id".to_owned()) {
                // A message without content cannot be translated for eras that require one block.
                if !given.contains("\"content\" : [") {
                    assert_survived(method, &given, &got);
                }
            }
        }
    }

    #[test]
    fn errors_and_notices_keep_what_nobody_knows(
        failed in some_error(),
        said in some_params(),
        from in era(),
        to in era(),
    ) {
        for method in METHODS {
            assert_survived(method, &failed, &error(method, &bytes(&failed), None, from, to));
            assert_survived(method, &said, &params(method, &bytes(&said), from, to));
        }
        for method in NOTICES {
            let frame = notice(method, &said);
            for way in [notification, client_notification] {
                if let Some(got) = way(&frame, from, to) {
                    assert_json(method, &got);
                    assert_survived(method, &said, &got);
                }
            }
        }
    }

    #[test]
    fn what_was_told_in_another_way_is_told_to_all(given in some_result(), from in era(), to in era()) {
        // Once data has the form of an era, translating it to that era again changes nothing.
        let own = GatewayIdentity { server_info: "{}" };
        for method in ["tools/call", "prompts/get", "resources/read"] {
            if to.typed_results || from == to {
                continue;
            }
            let once = result(method, &bytes(&given), from, to, &own).unwrap();
            let twice = result(method, &once, ERAS.into_iter().find(|era| *era != to).unwrap(), to, &own).unwrap();
            prop_assert_eq!(&once, &twice, "{} from {} to {}", method, from, to);
        }
    }
}

/// The cost of a hostile result must not grow with the square of its size: that would take minutes here.
#[test]
fn many_blocks_cost_no_more_than_their_size() {
    let own = GatewayIdentity { server_info: "{}" };
    let block = "{\"type\":\"text\",\"text\":\"{}\"},{\"type\":\"audio\",\"data\":\"AAAA\"},";
    let blocks = format!("[{}{{}}]", block.repeat(3_000));
    let deep = "{\"a\":".repeat(100) + "\"\\\"\"" + &"}".repeat(100);
    for structured in
        [format!("\"{}\"", "x".repeat(1_000_000)), deep, format!("[{}0]", "[],".repeat(100_000))]
    {
        let text = format!("{{\"structuredContent\":{structured},\"content\":{blocks}}}");
        for to in ERAS {
            let from = ERAS.into_iter().find(|era| *era != to).unwrap();
            assert_json("result", &result("tools/call", &bytes(&text), from, to, &own).unwrap());
        }
    }
    let messages = format!(
        "{{\"messages\":[{{\"role\":\"user\",\"odd\":\"{}\",\"content\":[{}{{}}]}}]}}",
        "x".repeat(1_000_000),
        "{\"type\":\"text\"},".repeat(10_000)
    );
    let asked =
        question("sampling/createMessage", &bytes(&messages), ERAS[6], ERAS[4], &mut String::new).unwrap();
    assert!(asked.len() < 2 * messages.len() + 10_000 * 40);
}
