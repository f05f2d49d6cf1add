//! The worlds: groups of upstreams behind one gateway, and the clients that visit them.

use super::presets;
use super::served::Preset;
use super::visit::{Over, Topics, Visit, visit};
use crate::root::Programs;
use crate::run::Log;
use crate::stage::{Fixture, HttpUpstream, Naming, Reach};
use crate::tools::Tools;
use serde_json::{Map, Value, json};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

/// Upstreams behind one gateway, and the clients that visit them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct World {
    /// The name of the world on the command line and in the steps.
    pub(crate) name: &'static str,
    /// The gateway's preset; with `None`, the upstreams are in its default profile.
    pub(super) preset: Option<Preset>,
    pub(super) naming: Naming,
    pub(super) upstreams: &'static [(&'static str, Kind)],
    /// The topics that clients in this world ask about, unless a visit has its own.
    pub(super) asked: Topics,
    pub(super) visits: &'static [&'static [Visit]],
}

/// A server behind a gateway.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// A server from an npm package, which runs as a child with these arguments and, if `files` is true, with the
    /// folder of files.
    Package {
        main: &'static str,
        args: &'static [&'static str],
        files: bool,
    },
    /// The reference server over Streamable HTTP.
    EverythingOverHttp,
    Fixture(Fixture),
}

const EVERYTHING: &str = "@modelcontextprotocol/server-everything/dist/index.js";
const FILESYSTEM: &str = "@modelcontextprotocol/server-filesystem/dist/index.js";
pub(super) const LEGACY: &[&str] = &["--eras", "legacy"];
pub(super) const MODERN: &[&str] = &["--eras", "modern"];
const FIRST_SSE: &[&str] = &["--version", "2024-11-05"];

pub(super) const fn fixture(reach: Reach, options: &'static [&'static str]) -> Kind {
    Kind::Fixture(Fixture::new(reach, options))
}

/// Clients for third-party servers, which support only versions with a handshake.
const OF_HANDSHAKES: &[Visit] = &[
    visit("ts-sdk-v1", "legacy", Over::Http),
    visit("ts-sdk-v2", "legacy", Over::Http),
    visit("py-sdk-v1", "legacy", Over::Http),
    visit("py-sdk-v2", "legacy", Over::Http),
];
/// Clients that perform a handshake, over every transport that each of them supports.
const WITH_SESSIONS: &[Visit] = &[
    visit("ts-sdk-v1", "legacy", Over::Http),
    visit("ts-sdk-v1", "legacy", Over::Sse),
    visit("ts-sdk-v2", "legacy", Over::Http),
    visit("py-sdk-v1", "legacy", Over::Http),
    visit("py-sdk-v1", "legacy", Over::Sse),
    visit("py-sdk-v1", "legacy", Over::Stdio),
    visit("py-sdk-v2", "legacy", Over::Http),
    visit("py-fastmcp", "legacy", Over::Http),
    visit("mcp-remote", "legacy", Over::Http),
    visit("mcp-remote", "legacy", Over::Sse),
];
/// Clients that omit the handshake, or detect that they can omit it.
pub(super) const STATELESS: &[Visit] = &[
    visit("ts-sdk-v2", "auto", Over::Http),
    visit("ts-sdk-v2", "modern", Over::Http),
    visit("ts-sdk-v2", "auto", Over::Stdio),
    visit("py-sdk-v2", "auto", Over::Http),
    visit("py-sdk-v2", "modern", Over::Http),
    visit("py-sdk-v2", "auto", Over::Stdio),
    visit("py-fastmcp", "auto", Over::Http),
];
/// Clients that omit the handshake, for servers that may run in a separate child for each call.
const STATELESS_TO_CHILDREN: &[Visit] =
    &asking::<{ STATELESS.len() }>(STATELESS, &[("fixture-children", "")]);
/// Clients that support less than their world offers.
const LIMITED: &[Visit] =
    &limited(&[("fixture-sdk-v0", "")], &[("fixture-1", "")], &[("fixture-mcp-remote", "")]);
/// The Inspector. It starts a process for each request, so it makes only a few requests.
const INSPECTOR: &[Visit] = &inspector(&[("glance", "")]);
const SUITES: &[Visit] = &[
    visit("mcpcheck", "modern", Over::Http),
    visit("mcp-ssrf-check", "stateless", Over::Http),
    visit("mcp-ssrf-check", "stateful", Over::Http),
];

pub(super) const fn asking<const N: usize>(visits: &[Visit], topics: Topics) -> [Visit; N] {
    let mut asking = [visit("", "", Over::Http); N];
    let mut index = 0;
    while index < N {
        asking[index] = visits[index].asking(topics);
        index += 1;
    }
    asking
}

const fn limited(of_2024: Topics, of_1: Topics, bridged: Topics) -> [Visit; 5] {
    [
        visit("mcp-remote", "auto", Over::Http).asking(bridged),
        visit("py-sdk-v0", "2024-11-05", Over::Sse).asking(of_2024),
        visit("py-sdk-v0", "2024-11-05", Over::Stdio).asking(of_2024),
        visit("py-sdk-v0", "1", Over::Sse).asking(of_1),
        visit("py-sdk-v0", "1", Over::Stdio).asking(of_1),
    ]
}

const fn inspector(topics: Topics) -> [Visit; 3] {
    [
        visit("inspector", "legacy", Over::Http).asking(topics),
        visit("inspector", "auto", Over::Http).asking(topics),
        visit("inspector", "modern", Over::Http).asking(topics),
    ]
}

/// A world with one fixture, in which the names of tools stay unchanged.
const fn lone(name: &'static str, upstreams: &'static [(&'static str, Kind)]) -> World {
    World {
        name,
        preset: None,
        naming: Naming::Plain,
        upstreams,
        asked: &[("fixture", "")],
        visits: &[WITH_SESSIONS, STATELESS, LIMITED, INSPECTOR, SUITES],
    }
}

impl World {
    pub(crate) const ALL: [Self; 14] = [
        Self {
            name: "children",
            preset: None,
            naming: Naming::Prefix,
            upstreams: &[
                ("everything", Kind::Package { main: EVERYTHING, args: &["stdio"], files: false }),
                ("filesystem", Kind::Package { main: FILESYSTEM, args: &[], files: true }),
            ],
            asked: &[("everything", "everything__"), ("filesystem", "filesystem__")],
            visits: &[
                OF_HANDSHAKES,
                &[visit("inspector", "legacy", Over::Http).asking(&[("everything", "everything__")])],
            ],
        },
        Self {
            name: "over-http",
            preset: None,
            naming: Naming::Plain,
            upstreams: &[("everything", Kind::EverythingOverHttp)],
            asked: &[("everything", "")],
            visits: &[OF_HANDSHAKES, &[visit("inspector", "legacy", Over::Http)]],
        },
        Self {
            visits: &[WITH_SESSIONS, STATELESS, LIMITED, &inspector(&[("fixture", "")]), SUITES],
            ..lone("fixture", &[("fixture", fixture(Reach::Http, &[]))])
        },
        lone("legacy-http", &[("fixture", fixture(Reach::Http, LEGACY))]),
        Self {
            visits: &[WITH_SESSIONS, STATELESS_TO_CHILDREN, LIMITED, INSPECTOR, SUITES],
            ..lone("legacy-stdio", &[("fixture", fixture(Reach::Stdio, LEGACY))])
        },
        lone("modern-http", &[("fixture", fixture(Reach::Http, MODERN))]),
        lone("modern-stdio", &[("fixture", fixture(Reach::Stdio, MODERN))]),
        lone("sse", &[("fixture", fixture(Reach::Sse, LEGACY))]),
        // Four eras in one profile: each client gets all of them in its own era.
        Self {
            name: "mixed",
            preset: None,
            naming: Naming::Prefix,
            upstreams: &[
                ("modern", fixture(Reach::Http, MODERN)),
                ("legacy", fixture(Reach::Http, LEGACY)),
                ("pipe", fixture(Reach::Stdio, LEGACY)),
                ("old", fixture(Reach::Sse, FIRST_SSE)),
            ],
            asked: &[
                ("fixture", "modern__"),
                ("fixture", "legacy__"),
                ("fixture", "pipe__"),
                ("fixture-2024", "old__"),
            ],
            visits: &[
                WITH_SESSIONS,
                STATELESS,
                &limited(
                    &[
                        ("fixture-sdk-v0", "modern__"),
                        ("fixture-sdk-v0", "legacy__"),
                        ("fixture-sdk-v0", "pipe__"),
                        ("fixture-sdk-v0", "old__"),
                    ],
                    &[
                        ("fixture-1", "modern__"),
                        ("fixture-1", "legacy__"),
                        ("fixture-1", "pipe__"),
                        ("fixture-1", "old__"),
                    ],
                    &[
                        ("fixture-mcp-remote", "modern__"),
                        ("fixture-mcp-remote", "legacy__"),
                        ("fixture-mcp-remote", "pipe__"),
                        ("fixture-2024-mcp-remote", "old__"),
                    ],
                ),
                &inspector(&[
                    ("glance", "modern__"),
                    ("glance", "legacy__"),
                    ("glance", "pipe__"),
                    ("glance", "old__"),
                ]),
                SUITES,
            ],
        },
        presets::BB,
        presets::BUDDYBOSS,
        presets::WORDPRESS,
        presets::KULTURARV,
        presets::GATEWAY,
    ];

    /// The world with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|world| world.name == name)
    }
}

/// The running upstreams of a world, which end on drop.
pub(super) struct Upstreams {
    /// The upstreams as entries of a configuration.
    pub(super) servers: Value,
    running: Vec<HttpUpstream>,
}

impl Upstreams {
    pub(super) fn start(
        world: World,
        tools: &Tools,
        programs: &Programs,
        files: &Path,
        log: &Log,
    ) -> Result<Self, String> {
        let (mut servers, mut all) = (Map::new(), Vec::new());
        for (name, kind) in world.upstreams {
            let (server, running) = match kind {
                Kind::Package { main, args, files: with_files } => {
                    let mut line = vec![json!(tools.node.module(main))];
                    line.extend(args.iter().map(|arg| json!(arg)));
                    line.extend(with_files.then(|| json!(files)));
                    (json!({ "command": tools.node.program(), "args": line }), None)
                }
                Kind::EverythingOverHttp => everything_over_http(tools, log)?,
                Kind::Fixture(fixture) => fixture.start(programs, log)?,
            };
            servers.insert((*name).to_owned(), server);
            all.extend(running);
        }
        Ok(Self { servers: Value::Object(servers), running: all })
    }

    /// Writes the output of the upstreams into a log.
    pub(super) fn tell(&self, log: &Log) {
        self.running.iter().for_each(|running| running.tell(log));
    }
}

fn everything_over_http(tools: &Tools, log: &Log) -> Result<(Value, Option<HttpUpstream>), String> {
    let port = free_port()?;
    let mut server = Command::new(tools.node.program());
    let running = HttpUpstream::start(
        server.arg(tools.node.module(EVERYTHING)).arg("streamableHttp").env("PORT", port.to_string()),
        |line| line.contains(&format!("port {port}")).then(|| format!("http://127.0.0.1:{port}/mcp")),
        log,
    )?;
    Ok((json!({ "url": running.url }), Some(running)))
}

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|error| format!("no free port: {error}"))?;
    listener.local_addr().map(|address| address.port()).map_err(|error| format!("no free port: {error}"))
}

#[cfg(test)]
mod tests {
    use super::World;

    #[test]
    fn a_world_asks_something_of_each_upstream() {
        for world in World::ALL {
            // The tools of most presets are embedded.
            let servers = if world.upstreams.is_empty() { 1 } else { world.upstreams.len() };
            assert_eq!(servers, world.asked.len(), "{}", world.name);
            assert!(World::named(world.name).is_some());
        }
    }
}
