//! `dragoman ping`: checks that a server answers, and shows the server's version and the response time.

use std::time::Instant;

use proto::mcp::Method;
use serde_json::{Value, json};

use super::target::{Questions, TargetOptions};
use crate::output::console::{Console, one_line};
use crate::output::failure::Failure;
use crate::output::options::Global;
use crate::terminal::connection::Ask;
use crate::terminal::rounds::outcome;

const EXAMPLES: &str = "\
TARGET is a URL, the name of a configured server, or a command after --.

Examples:
  dragoman ping demo
  dragoman ping https://example.com/mcp
  dragoman ping -- npx -y @modelcontextprotocol/server-everything";

/// Check that a server answers, and show its protocol version
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "dragoman ping TARGET\n       dragoman ping -- COMMAND...")]
pub(crate) struct Args {
    /// The server
    #[arg(value_name = "TARGET")]
    words: Vec<String>,
    #[command(flatten)]
    place: TargetOptions,
}

/// Sends one request, and shows the answer.
pub(crate) fn run(args: Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let text = args.place.visit(
        args.words,
        Questions::None,
        global,
        console,
        async |connection, handler, words| {
            if let Some(word) = words.first() {
                return Err(
                    Failure::usage(format!("unexpected argument {word:?}")).help("ping one server at a time")
                );
            }
            // In eras without a ping, the client requests the server's introduction instead.
            let known = connection.era().knows(Method::Ping);
            let ask = Ask::new(if known { Method::Ping } else { Method::Discover });
            let asked = Instant::now();
            if connection.answers_introductions() || known {
                outcome(connection.ask(&ask, handler).await?)?;
            }
            let millis = asked.elapsed().as_secs_f64() * 1000.0;
            let info: Value = serde_json::from_slice(&connection.hello.info).unwrap_or_default();
            let (era, transport) = (connection.era().version, connection.transport());
            if console.json {
                return Ok(json!({"server": info, "protocol": era, "transport": transport, "ms": millis})
                    .to_string());
            }
            let field = |key: &str| one_line(info[key].as_str().unwrap_or_default());
            let name = [field("name"), field("version")].join(" ");
            Ok(format!(
                "{} answers in {millis:.1} ms (protocol {era}, {transport})",
                console.out.bold(name.trim())
            ))
        },
    )?;
    console.print(&text)
}
