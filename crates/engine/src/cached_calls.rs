//! The rules for keeping the results of calls for later calls: which calls, which results, and for how long. This module must
//! not know where results are kept, or for whom.

use std::time::Duration;

use bytes::Bytes;
use proto::json::{Elements, Members, Span, quote_into, unquote};
use proto::mcp::meta;
use proto::rpc::Frame;

/// The maximum length of arguments, in bytes: the result of a call with longer arguments is not kept. Nested arguments are scanned
/// once for each level, so this also limits the work.
const MAX_ARGUMENTS: usize = 64 * 1024;

/// The members of a call's `_meta` that do not affect its result.
const NEUTRAL_META: [&str; 8] = [
    meta::PROGRESS_TOKEN,
    meta::PROTOCOL_VERSION,
    meta::CLIENT_INFO,
    meta::CLIENT_CAPABILITIES,
    meta::LOG_LEVEL,
    "traceparent",
    "tracestate",
    "baggage",
];

/// The member of a result's `_meta` that ties the result to a task.
const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// The arguments of a call in a canonical spelling. Returns `None` if the call's result must not be kept: the
/// arguments are too long, or the call contains something other than arguments that could change the result.
/// `replaced` contains the arguments for the server if they differ from those that the client sent.
pub fn plain_arguments(call: &Frame, replaced: Option<&[u8]>) -> Option<Bytes> {
    let (text, params) = (call.text(), call.params()?);
    let key = |member: Span| unquote(member.of(text));
    let is_neutral = |value: Span| {
        let members = Members::of_value(text, value)?;
        let all =
            members.iter().all(|member| key(member.key).is_some_and(|key| NEUTRAL_META.contains(&&*key)));
        all.then_some(())
    };
    for member in params.members.iter() {
        match key(member.key)?.as_ref() {
            "name" | "arguments" => {}
            "_meta" => is_neutral(member.value)?,
            _ => return None,
        }
    }
    let sent = call.param("arguments").ok()?.map(|span| span.of(text)).filter(|sent| *sent != b"null");
    let arguments = replaced.or(sent).unwrap_or(b"{}");
    (arguments.len() <= MAX_ARGUMENTS).then(|| in_one_spelling(arguments))
}

/// The time for which a tool's result may be kept, at most `most`; `None` if the result must not be kept, because it reports a
/// failure, asks for input, belongs to a task, or states that it is already stale.
pub fn time_to_keep(result: &[u8], most: Duration) -> Option<Duration> {
    let members = Members::of_value(result, Span::new(0, result.len()))?;
    let member = |key: &str| members.get(result, key).map(|span| span.of(result));
    let is_complete = member("resultType").is_none_or(|kind| kind == b"\"complete\"");
    let has_content = member("content").or_else(|| member("structuredContent")).is_some();
    let has_failed = member("isError").is_some_and(|flag| flag != b"false");
    let of_task = members.get(result, "_meta").and_then(|meta| Members::of_value(result, meta));
    let of_task = of_task.is_some_and(|meta| meta.get(result, RELATED_TASK).is_some());
    if !is_complete || !has_content || has_failed || of_task || member("task").is_some() {
        return None;
    }
    let own = match member("ttlMs") {
        None => most,
        Some(written) => Duration::from_millis(std::str::from_utf8(written).ok()?.parse().ok()?),
    };
    Some(own.min(most)).filter(|time| !time.is_zero())
}

/// JSON text with the members of each object sorted by key, without white space, and with strings in their shortest
/// spelling. Numbers keep their spelling.
fn in_one_spelling(text: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(text.len());
    write(&mut out, text, Span::new(0, text.len()));
    out.into()
}

fn write(out: &mut Vec<u8>, text: &[u8], span: Span) {
    let written = span.of(text);
    match written.first() {
        Some(b'{') => {
            let Some(members) = Members::of_value(text, span) else { return out.extend_from_slice(written) };
            let mut all: Vec<(Vec<u8>, Span)> =
                members.iter().map(|member| (string(member.key.of(text)), member.value)).collect();
            // The sort is stable, so members with the same key keep their order.
            all.sort_by(|one, other| one.0.cmp(&other.0));
            out.push(b'{');
            for (at, (key, value)) in all.into_iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(&key);
                out.push(b':');
                write(out, text, value);
            }
            out.push(b'}');
        }
        Some(b'[') => {
            let Some(elements) = Elements::of_value(text, span) else {
                return out.extend_from_slice(written);
            };
            out.push(b'[');
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write(out, text, element);
            }
            out.push(b']');
        }
        Some(b'"') => out.extend_from_slice(&string(&written[1..written.len() - 1])),
        _ => out.extend_from_slice(written),
    }
}

/// A string in its shortest form; `written` is the text between the quotes.
fn string(written: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(written.len() + 2);
    if let Some(text) = unquote(written) {
        quote_into(&mut out, &text);
    } else {
        // Half of a surrogate pair, which no `str` can hold.
        out.extend_from_slice(&[b"\"", written, b"\""].concat());
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proto::rpc::FrameLimits;
    use serde_json::Value;

    use super::*;

    fn arguments(params: &str) -> Option<String> {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let frame = Frame::parse(text.into(), FrameLimits::default()).unwrap();
        plain_arguments(&frame, None).map(|text| String::from_utf8(text.to_vec()).unwrap())
    }

    #[test]
    fn equal_arguments_have_one_spelling() {
        let plain = r#"{"a":[1,{"b":"\n","c":null}],"z":"ä"}"#;
        for written in [
            plain,
            r#"{ "z" : "\u00e4", "a" : [ 1, { "c" : null, "b" : "\u000a" } ] }"#,
            r#"{"\u0061":[1,{"b":"\n","c":null}],"z":"ä"}"#,
        ] {
            assert_eq!(
                arguments(&format!(r#"{{"name":"x","arguments":{written}}}"#)).as_deref(),
                Some(plain)
            );
        }
        for none in ["", r#","arguments":null"#, r#","arguments":{}"#] {
            assert_eq!(arguments(&format!(r#"{{"name":"x"{none}}}"#)).as_deref(), Some("{}"));
        }
    }

    #[test]
    fn different_arguments_never_look_the_same() {
        let all = [
            r#"{"required":["a","b"]}"#,
            r#"{"required":["b","a"]}"#,
            r#"{"a":1,"a":2}"#,
            r#"{"a":2,"a":1}"#,
            r#"{"a":1}"#,
            r#"{"a":1.0}"#,
            r#"{"a":"1"}"#,
            r#"{"a":[]}"#,
            r#"{"a":{}}"#,
            r#"{"a":"\ud83d"}"#,
            r#"{"a":"\\ud83d"}"#,
        ];
        let told: std::collections::HashSet<_> = all
            .iter()
            .map(|one| arguments(&format!(r#"{{"name":"x","arguments":{one}}}"#)).unwrap())
            .collect();
        assert_eq!(told.len(), all.len());
    }

    #[test]
    fn calls_with_anything_else_are_not_kept() {
        for (beside, is_plain) in [
            (r#""_meta":{"progressToken":7,"traceparent":"00-1"}"#, true),
            (
                r#""_meta":{"io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/logLevel":"info"}"#,
                true,
            ),
            (r#""_meta":{"example.com/locale":"de"}"#, false),
            (r#""_meta":{"progress\u0054oken":7}"#, true),
            (r#""task":{"ttl":1}"#, false),
            (r#""requestState":"x""#, false),
            (r#""inputResponses":{}"#, false),
            (r#""unknown":1"#, false),
        ] {
            assert_eq!(arguments(&format!(r#"{{"name":"x",{beside}}}"#)).is_some(), is_plain, "{beside}");
        }
    }

    #[test]
    fn calls_with_long_arguments_are_not_kept() {
        let with = |argument: &str| arguments(&format!(r#"{{"name":"x","arguments":{{"a":{argument}}}}}"#));
        let long = |length: usize| format!("\"{}\"", "x".repeat(length));
        assert!(with(&long(60_000)).is_some());
        assert!(with(&long(70_000)).is_none());
        let nested = format!("{}{}{}", "[".repeat(50), long(70_000), "]".repeat(50));
        assert!(with(&nested).is_none());
    }

    #[test]
    fn only_successful_results_of_calls_are_kept() {
        let time = |result: &str| {
            time_to_keep(result.as_bytes(), Duration::from_mins(1)).map(|time| time.as_millis())
        };
        for (result, kept) in [
            (r#"{"content":[]}"#, Some(60_000)),
            (r#"{"content":[],"isError":false,"resultType":"complete"}"#, Some(60_000)),
            (r#"{"structuredContent":{}}"#, Some(60_000)),
            (r#"{"content":[],"isError":true}"#, None),
            (r#"{"content":[],"isErr\u006fr":true}"#, None),
            (r#"{"content":[],"isError":1}"#, None),
            (r#"{"content":[],"resultType":"input_required"}"#, None),
            (r#"{"content":[],"resultType":"task"}"#, None),
            (r#"{"task":{"taskId":"1"},"content":[]}"#, None),
            (r#"{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"}}}"#, None),
            (r#"{"content":[],"ttlMs":0}"#, None),
            (r#"{"content":[],"ttlMs":5000,"cacheScope":"private"}"#, Some(5000)),
            (r#"{"content":[],"ttlMs":99999999}"#, Some(60_000)),
            (r#"{"content":[],"ttlMs":"soon"}"#, None),
            ("{}", None),
        ] {
            assert_eq!(time(result), kept, "{result}");
        }
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[a-c\"é]{0,2}", inner, 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn one_spelling_keeps_the_value(value in json()) {
            let pretty = serde_json::to_vec_pretty(&value).unwrap();
            let once = in_one_spelling(&pretty);
            prop_assert_eq!(serde_json::from_slice::<Value>(&once).unwrap(), value);
            prop_assert_eq!(in_one_spelling(&once), once);
        }
    }
}
