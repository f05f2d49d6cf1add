//! One tool per misbehavior: its name and its effect.

use serde_json::value::RawValue;
use std::time::Duration;

use super::{
    act::Act,
    message::{Arguments, Verbatim, error, read, result, string},
};

/// A tool of the odd upstream.
pub struct Tool {
    /// The name of the tool.
    pub name: &'static str,
    /// Its effect, and the arguments that change it.
    pub description: &'static str,
}

/// All tools, in the order in which they are listed.
pub const TOOLS: &[Tool] = &[
    Tool { name: "ok", description: "Behaves: returns {text}." },
    Tool {
        name: "raw",
        description: "Returns the message that it received, byte by byte, as the string `_meta.received`. \
        With {reply} its result, with {error} its error is exactly that; with {notify} exactly that message comes first.",
    },
    Tool { name: "garbage", description: "Sends what is no JSON instead of an answer, and stays." },
    Tool {
        name: "die",
        description: "Exits with {code} (HTTP: closes the connection); with {half} in the middle of the answer, with \
        {later} after so many milliseconds.",
    },
    Tool { name: "silent", description: "Never answers." },
    Tool { name: "twice", description: "Answers twice." },
    Tool { name: "foreign_id", description: "Answers a request that nobody made, then this one." },
    Tool {
        name: "huge_line",
        description: "Answers with {bytes} bytes (2 GiB) in one line; with {then_answer} answers again, shortly.",
    },
    Tool {
        name: "late",
        description: "Answers after {ms} (1000) milliseconds; others are answered meanwhile. With {process} it logs that it \
        began, and returns the number of its process.",
    },
    Tool {
        name: "deep",
        description: "Its result is {bytes} (1 MiB) times `[`; with {balanced} also as many `]`.",
    },
    Tool { name: "bad_jsonrpc", description: "Answers with `jsonrpc` 1.0." },
    Tool { name: "wrong_type", description: "Answers with a result and an error." },
    Tool { name: "deaf", description: "Answers, then reads nothing for {ms} (1000) milliseconds." },
    Tool { name: "noise", description: "Writes {bytes} (1 MiB) bytes to stderr, then answers." },
];

/// The parts of a call that the tools need.
pub(super) struct Call<'a> {
    pub(super) id: &'a RawValue,
    /// The whole message as it arrived.
    pub(super) received: &'a str,
    /// True if results need `resultType`.
    pub(super) modern: bool,
    pub(super) arguments: Option<&'a RawValue>,
}

impl Call<'_> {
    /// A proper result with this text.
    fn content(&self, text: &str) -> String {
        let result_type = if self.modern { r#","resultType":"complete""# } else { "" };
        format!(r#"{{"content":[{{"type":"text","text":{}}}]{result_type}}}"#, string(text))
    }

    fn answer(&self, text: &str) -> Act {
        Act::Send(result(self.id, &self.content(text)))
    }
}

/// The reaction of the tool `name` to a call; `None` if there is no such tool.
pub(super) fn call(name: &str, call: &Call<'_>) -> Option<Vec<Act>> {
    let id = call.id;
    let arguments = read::<Arguments>(call.arguments);
    let content = call.content(&arguments.text);
    let proper = || call.answer(&arguments.text);
    let time = Duration::from_millis(arguments.ms);
    Some(match name {
        "ok" => vec![proper()],
        "raw" => raw(call),
        "garbage" => vec![Act::Garbage("this is not JSON, and it is not an answer either")],
        "die" => {
            let half = arguments.half.then(|| Act::Half(result(id, &content)));
            let wait = arguments.later.map(|ms| Act::Wait(Duration::from_millis(ms)));
            wait.into_iter().chain(half).chain([Act::Die(arguments.code)]).collect()
        }
        "silent" => vec![Act::Silence],
        "twice" => vec![proper(), proper()],
        "foreign_id" => {
            let foreign = r#"{"jsonrpc":"2.0","id":"nobody-asked-this","result":{"content":[]}}"#;
            vec![Act::Send(foreign.into()), proper()]
        }
        "huge_line" => huge(call, &arguments),
        "late" if arguments.process => {
            let params = r#"{"level":"info","data":"begun"}"#;
            let log = format!(r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{params}}}"#);
            let number = std::process::id().to_string();
            vec![Act::Send(log), Act::Wait(time), call.answer(&number)]
        }
        "late" => vec![Act::Wait(time), proper()],
        "deep" => vec![Act::Send(result(id, &deep(&arguments)))],
        "bad_jsonrpc" => {
            vec![Act::Send(format!(r#"{{"jsonrpc":"1.0","id":{id},"result":{content}}}"#))]
        }
        "wrong_type" => {
            let both = r#""error":{"code":-32000,"message":"both"}"#;
            vec![Act::Send(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{content},{both}}}"#))]
        }
        "deaf" => vec![proper(), Act::Deafness(time)],
        "noise" => vec![Act::Noise(arguments.bytes.unwrap_or(1 << 20)), proper()],
        _ => return None,
    })
}

fn raw(call: &Call<'_>) -> Vec<Act> {
    let Verbatim { reply, error, notify } = read(call.arguments);
    let answer = match (reply, error) {
        (Some(reply), _) => result(call.id, reply.get()),
        (None, Some(error)) => format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, call.id),
        (None, None) => {
            let received = string(call.received);
            let result_type = if call.modern { r#","resultType":"complete""# } else { "" };
            result(call.id, &format!(r#"{{"content":[]{result_type},"_meta":{{"received":{received}}}}}"#))
        }
    };
    notify.iter().map(|message| message.get().to_owned()).chain([answer]).map(Act::Send).collect()
}

fn huge(call: &Call<'_>, arguments: &Arguments) -> Vec<Act> {
    const MARK: &str = "\u{1}";
    let whole = result(call.id, &call.content(MARK));
    // The mark is escaped in JSON; the two halves of a proper answer surround it.
    let mark = string(MARK);
    let Some((head, tail)) = whole.rsplit_once(mark.trim_matches('"')) else {
        return vec![Act::Send(error(call.id.get(), -32603, "the answer has no place to fill"))];
    };
    let bytes = arguments.bytes.unwrap_or(2 << 30);
    let again = arguments.then_answer.then(|| call.answer(&arguments.text));
    [Act::Huge { head: head.into(), bytes, tail: tail.into() }].into_iter().chain(again).collect()
}

fn deep(arguments: &Arguments) -> String {
    // A larger value would only test this program's memory.
    let levels =
        usize::try_from(arguments.bytes.unwrap_or(1 << 20)).map_or(64 << 20, |levels| levels.min(64 << 20));
    let closing = if arguments.balanced { "]".repeat(levels) } else { String::new() };
    "[".repeat(levels) + &closing
}
