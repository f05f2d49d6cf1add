//! The tools, one table row each: the texts that clients see, the arguments, and the function that runs a call.

use proto::era::{Era, InvalidArguments};
use proto::json::{MAX_DEPTH, Members, quote};
use proto::rpc::Frame;

use super::arguments::{DemoArgument, DemoArgumentType, DemoArguments, schema, strange};
use super::required;
use crate::server::NativeRefusal;

/// A row of the table.
struct DemoTool {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    arguments: &'static [DemoArgument],
    /// Returns the text of a call's result, or the reason for the call's failure.
    run: fn(&DemoArguments<'_>) -> Result<String, String>,
}

const TOOLS: &[DemoTool] = &[
    DemoTool {
        name: "hello",
        title: "Say hello",
        about: "Returns a greeting for a person, or for the world.",
        arguments: &[text("name", false, "Name of the person to greet. Default: the world.")],
        run: |arguments| Ok(greeting(arguments.text("name").as_deref())),
    },
    DemoTool {
        name: "echo",
        title: "Echo",
        about: "Returns the given text unchanged.",
        arguments: &[text("text", true, "Text to return.")],
        run: |arguments| Ok(arguments.text("text").unwrap_or_default().into_owned()),
    },
    DemoTool {
        name: "add",
        title: "Add",
        about: "Adds two numbers and returns the sum. Integers of up to 37 digits are added exactly.",
        arguments: &[number("a", "First number."), number("b", "Second number.")],
        run: |arguments| {
            sum(arguments.number("a").unwrap_or_default(), arguments.number("b").unwrap_or_default())
        },
    },
    DemoTool {
        name: "concat",
        title: "Join two texts",
        about: "Joins two texts without a separator and returns the result.",
        arguments: &[text("a", true, "First text."), text("b", true, "Second text.")],
        run: |arguments| {
            Ok([arguments.text("a").unwrap_or_default(), arguments.text("b").unwrap_or_default()].concat())
        },
    },
    DemoTool {
        name: "example-ping",
        title: "Ping",
        about: "Returns \"pong\". Call it to test the connection.",
        arguments: &[],
        run: |_| Ok("pong".to_owned()),
    },
    DemoTool {
        name: "example-echo",
        title: "Echo a message",
        about: "Returns the given message unchanged.",
        arguments: &[text("message", true, "Message to return.")],
        run: |arguments| Ok(arguments.text("message").unwrap_or_default().into_owned()),
    },
];

const fn text(name: &'static str, required: bool, about: &'static str) -> DemoArgument {
    DemoArgument { name, kind: DemoArgumentType::Text, required, about }
}

const fn number(name: &'static str, about: &'static str) -> DemoArgument {
    DemoArgument { name, kind: DemoArgumentType::Number, required: true, about }
}

/// Returns a greeting for this person, or for the world if there is no name.
pub(super) fn greeting(name: Option<&str>) -> String {
    format!("Hello, {}!", name.map(str::trim).filter(|name| !name.is_empty()).unwrap_or("world"))
}

/// The members of the result of `tools/list`.
pub(super) fn list() -> String {
    let tools: Vec<String> = TOOLS.iter().map(described).collect();
    format!("\"tools\":[{}]", tools.join(","))
}

fn described(tool: &DemoTool) -> String {
    format!(
        "{{\"name\":{},\"title\":{title},\"description\":{},\"inputSchema\":{},\"annotations\":{{\"title\":{title},\
         \"readOnlyHint\":true,\"destructiveHint\":false,\"idempotentHint\":true,\"openWorldHint\":false}}}}",
        quote(tool.name),
        quote(tool.about),
        schema(tool.arguments),
        title = quote(tool.title),
    )
}

/// The members of the result of `tools/call`.
///
/// # Errors
/// Fails if the tool is unknown; in some eras, also if the arguments do not fit.
pub(super) fn call(request: &Frame, era: &Era) -> Result<String, NativeRefusal> {
    let name = required(request, "name")?;
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) else {
        let known: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        return Err(NativeRefusal::params(format!(
            "unknown tool {name:?}; the tools are {}",
            known.join(", ")
        )));
    };
    let arguments = match DemoArguments::read(request, tool.arguments) {
        Ok(arguments) => arguments,
        Err(why) => {
            let why = format!("{name}: {why}");
            return match era.invalid_arguments {
                InvalidArguments::Error => Err(NativeRefusal::params(why)),
                InvalidArguments::ToolResult => Ok(content(&why, true)),
            };
        }
    };
    Ok(match (tool.run)(&arguments) {
        Ok(text) => content(&text, false),
        Err(why) => content(&why, true),
    })
}

/// The message that refuses a call because of arguments that the tool does not declare; `None` if there are none.
pub(super) fn unknown_arguments(tool: &str, arguments: &[u8]) -> Option<String> {
    let tool = TOOLS.iter().find(|known| known.name == tool)?;
    let given = Members::of_document(arguments, MAX_DEPTH).ok()?;
    strange(arguments, &given, tool.arguments)
}

fn content(text: &str, is_error: bool) -> String {
    format!("\"content\":[{{\"type\":\"text\",\"text\":{}}}],\"isError\":{is_error}", quote(text))
}

/// The sum of two JSON numbers: exact for integers, otherwise as double-precision numbers.
fn sum(a: &str, b: &str) -> Result<String, String> {
    let is_integer = |number: &str| number.bytes().all(|byte| matches!(byte, b'-' | b'0'..=b'9'));
    if is_integer(a) && is_integer(b) {
        let exact = || a.parse::<i128>().ok()?.checked_add(b.parse().ok()?);
        let too_large =
            || "add: these integers are too large; up to 37 digits can be added exactly".to_owned();
        return exact().map(|sum| sum.to_string()).ok_or_else(too_large);
    }
    let sum = a.parse().unwrap_or(f64::NAN) + b.parse().unwrap_or(f64::NAN);
    if sum.is_finite() {
        Ok(sum.to_string())
    } else {
        Err("add: the sum is too large for a double-precision number (about 1.8e308)".to_owned())
    }
}
