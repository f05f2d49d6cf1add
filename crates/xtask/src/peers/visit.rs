//! One client's run through the gateway: its command, and the evaluation of its output.

use super::served::{Preset, Served};
use crate::root::{self, Programs};
use crate::run::Log;
use crate::stage::scratch;
use crate::tally::Tally;
use crate::tools::Tools;
use serde_json::json;
use std::path::Path;
use std::process::Command;

/// The topics for each upstream: a topic of `tests/peers/questions.json`, and the prefix that the gateway adds to names.
pub(super) type Topics = &'static [(&'static str, &'static str)];

/// The transport between a client and the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE, the transport before Streamable HTTP.
    Sse,
    /// The pipes of the client's own `dragoman stdio`.
    Stdio,
}

/// A client with its topics.
#[derive(Debug, Clone, Copy)]
pub(super) struct Visit {
    /// The client's name on the command line.
    pub(super) client: &'static str,
    /// The era to use, in the client's own terms.
    era: &'static str,
    over: Over,
    /// The topics that replace those of its world.
    topics: Option<Topics>,
}

/// A visit with the topics of its world.
pub(super) const fn visit(client: &'static str, era: &'static str, over: Over) -> Visit {
    Visit { client, era, over, topics: None }
}

impl Visit {
    /// The same visit with these topics instead.
    pub(super) const fn asking(self, topics: Topics) -> Self {
        Self { topics: Some(topics), ..self }
    }

    /// The title for the log.
    pub(super) fn title(&self) -> String {
        let over = match self.over {
            Over::Http => "",
            Over::Sse => " over HTTP+SSE",
            Over::Stdio => " over stdio",
        };
        format!("{} {}{over}", self.client, self.era)
    }

    /// The command that runs the client.
    pub(super) fn command(&self, place: &Place<'_>) -> Result<Command, String> {
        match self.client {
            "mcpcheck" => {
                let url = place.served.gateway.url.as_str();
                // The fixture's tools may be called with any arguments.
                place.suite("mcpcheck", &["--no-color", "--probe", "all", "--legacy-probes", url])
            }
            "mcp-ssrf-check" => {
                place.suite("mcp-ssrf-check", &["--url", &place.served.gateway.url, "--lifecycle", self.era])
            }
            "mcp-remote" => {
                let mut command = place.script("ts-sdk-v1")?;
                command.arg(place.through_mcp_remote(self.era, self.over));
                // It stores data about servers in its user's home.
                command.env("MCP_REMOTE_CONFIG_DIR", scratch(&format!("peers-{}-remote", place.world))?);
                Ok(self.asked(command, place))
            }
            client => {
                let mut command = place.script(client)?;
                command.arg(match self.over {
                    Over::Http => place.endpoint(),
                    Over::Sse => format!("sse+{}", place.stream()),
                    Over::Stdio => place.own_gateway(),
                });
                Ok(self.asked(command, place))
            }
        }
    }

    fn asked(&self, mut command: Command, place: &Place<'_>) -> Command {
        let topics = self.topics.unwrap_or(place.asked).iter();
        let topics: Vec<String> = topics.map(|(topic, prefix)| format!("{topic}:{prefix}")).collect();
        command.args([self.era, &topics.join(",")]).arg(place.files);
        command.env("PEER_HEADERS", place.served.headers.to_string());
        // A client over a pipe passes its environment on to the gateway that it starts.
        command.envs(place.served.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Returns true if the client's script failed, although none of its cases did.
    pub(super) fn has_crashed(&self, (good, said): &(bool, impl AsRef<str>)) -> bool {
        let has_cases = !matches!(self.client, "mcpcheck" | "mcp-ssrf-check");
        has_cases && !good && !said.as_ref().lines().any(|line| line.starts_with("not ok "))
    }

    /// Counts the cases in the output. A third-party suite, with its own output format, counts as one case.
    pub(super) fn cases(&self, said: &str, good: bool, log: &Log) -> Tally {
        let good = match self.client {
            // An undecided check is not a failure.
            "mcpcheck" => good && !said.lines().any(|line| line.starts_with("? ")),
            "mcp-ssrf-check" => good,
            _ => {
                if self.has_crashed(&(good, said)) {
                    log.note(&format!("not ok {}: the script ended before its cases did", self.title()));
                }
                return cases(said, good);
            }
        };
        log.note(&format!("{} {} {}", if good { "ok" } else { "not ok" }, self.client, self.era));
        Tally::one(good)
    }
}

/// Counts `ok` and `not ok` lines. A script that fails without printing such a line counts as one failed case.
pub(crate) fn cases(said: &str, good: bool) -> Tally {
    let count = |word: &str| said.lines().filter(|line| line.starts_with(word)).count();
    let tally = Tally { passed: count("ok "), failed: count("not ok ") };
    if tally.failed == 0 && (!good || tally.passed == 0) { Tally { failed: 1, ..tally } } else { tally }
}

/// The environment of visits.
pub(super) struct Place<'a> {
    /// The name of the world.
    pub(super) world: &'static str,
    /// The topics that clients in this world ask about, unless a visit has its own.
    pub(super) asked: Topics,
    /// The preset of the world, if there is one.
    pub(super) preset: Option<&'a Preset>,
    pub(super) served: &'a Served,
    pub(super) tools: &'a Tools,
    pub(super) programs: &'a Programs,
    /// The folder that clients name as their root.
    pub(super) files: &'a Path,
}

impl Place<'_> {
    /// A script of `tests/peers`, in the environment in which its SDK is installed.
    fn script(&self, name: &str) -> Result<Command, String> {
        let Some(sdk) = name.strip_prefix("py-") else {
            return self.tools.node.script(&format!("{name}.mjs"));
        };
        let mut command = Command::new(self.tools.python(sdk)?);
        let script = root::checkout().join("tests/peers").join(format!("{}.py", name.replace('-', "_")));
        command.arg("-B").arg(script);
        Ok(command)
    }

    /// A program from the environment of the suites.
    fn suite(&self, program: &str, args: &[&str]) -> Result<Command, String> {
        let python = self.tools.python("suites")?;
        let mut command = Command::new(python);
        // The program's own first line names the folder in which it was installed, which may have been moved.
        command.arg(python.with_file_name(program)).args(args);
        Ok(command)
    }

    /// The endpoint for clients of Streamable HTTP.
    fn endpoint(&self) -> String {
        self.served.gateway.at(self.preset.map_or("/mcp", |preset| preset.path))
    }

    /// The endpoint for clients that support only HTTP+SSE.
    fn stream(&self) -> String {
        self.served.gateway.at(self.preset.map_or("/sse", |preset| preset.stream))
    }

    /// The command of a gateway for one client, with the same upstreams.
    fn own_gateway(&self) -> String {
        let mut command = vec![json!(self.programs.dragoman()), json!("stdio"), json!("--quiet")];
        command.extend(self.served.gateway.told.args.iter().map(|arg| json!(arg)));
        command.extend(self.preset.iter().flat_map(|preset| preset.piped).map(|arg| json!(arg)));
        json!(command).to_string()
    }

    /// The command of a bridge between a client's pipes and the gateway.
    fn through_mcp_remote(&self, protocol: &str, over: Over) -> String {
        let main = self.tools.node.module("mcp-remote/dist/proxy.js");
        let (url, transport) = match over {
            Over::Sse => (self.stream(), "sse-only"),
            Over::Http | Over::Stdio => (self.endpoint(), "http-only"),
        };
        let options = ["--allow-http", "--transport", transport, "--protocol", protocol];
        let mut command = vec![json!(self.tools.node.program()), json!(main), json!(url)];
        command.extend(options.map(|option| json!(option)));
        for (name, value) in self.served.headers.as_object().into_iter().flatten() {
            command
                .extend([json!("--header"), json!(format!("{name}:{}", value.as_str().unwrap_or_default()))]);
        }
        json!(command).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::{Over, Tally, cases, visit};

    #[test]
    fn a_script_that_dies_is_told_from_one_whose_cases_fail() {
        let client = visit("ts-sdk-v1", "legacy", Over::Http);
        assert!(client.has_crashed(&(false, "ok a\nTraceback")));
        assert!(!client.has_crashed(&(false, "ok a\nnot ok b: why")));
        assert!(!client.has_crashed(&(true, "ok a")));
        assert!(!visit("mcpcheck", "legacy", Over::Http).has_crashed(&(false, "? undecided")));
    }

    #[test]
    fn a_script_is_counted_by_its_cases() {
        assert_eq!(cases("ok a\nnot ok b: why\nok c\n", false), Tally { passed: 2, failed: 1 });
        assert_eq!(cases("ok a\nTraceback", false), Tally { passed: 1, failed: 1 });
        assert_eq!(cases("", true), Tally { passed: 0, failed: 1 });
    }
}
