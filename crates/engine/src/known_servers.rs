//! Known servers that keep their state in their process, or that cannot run twice at the same time. This module must not know
//! how a server is started.

use config::StdioLink;

/// Packages and programs for which one process serves all clients, unless `dedicatedConnections` or `affinity` says
/// otherwise.
pub const SINGLE_SERVERS: [&str; 9] = [
    // One browser profile, which a second browser finds locked.
    "@playwright/mcp",
    "mcp-server-playwright",
    "chrome-devtools-mcp",
    // A port to which the browser's extension connects.
    "@browsermcp/mcp",
    // The socket of the running application.
    "blender-mcp",
    // The next call continues with the open pages, or with the earlier thoughts.
    "@modelcontextprotocol/server-puppeteer",
    "@modelcontextprotocol/server-sequential-thinking",
    "mcp-server-sequential-thinking",
    // The server reads and writes its file as a whole, so one of two concurrent writers would lose its changes.
    "@modelcontextprotocol/server-memory",
];

/// Returns true if a command starts one of these servers, directly or through a runner such as `npx` or `uvx`.
pub(crate) fn is_single(link: &StdioLink) -> bool {
    let command = link.command.expose();
    let program = command.rsplit(['/', '\\']).next().unwrap_or(command);
    let program = program.strip_suffix(".exe").or_else(|| program.strip_suffix(".cmd")).unwrap_or(program);
    let packages = link.args.iter().map(|arg| without_version(arg.expose()));
    std::iter::once(program).chain(packages).any(|name| SINGLE_SERVERS.contains(&name))
}

/// A package's name without `@1.2.3`, `@latest` or `==1.2.3`.
fn without_version(package: &str) -> &str {
    let package = package.split_once("==").map_or(package, |(name, _)| name);
    match package.char_indices().skip(1).find(|(_, c)| *c == '@') {
        Some((at, _)) => &package[..at],
        None => package,
    }
}

#[cfg(test)]
mod tests {
    use crate::Snapshot;

    fn connections(server: &str) -> Option<usize> {
        let text = format!("mcpServers: {{ a: {{ {server} }} }}");
        let (env, file) = (|_: &str| None, |_: &str| Err(String::new()));
        let lookup = config::Lookup { env: &env, file: &file };
        let loaded = config::load(&text, "a.yaml", &lookup).expect("a sound configuration");
        Snapshot::compile(&loaded.config, "1").upstreams[0].dedicated_connections
    }

    #[test]
    fn a_known_server_has_one_process_however_it_is_started() {
        for server in [
            "command: npx, args: [-y, '@playwright/mcp@latest', --headless]",
            "command: npx, args: [-y, '@modelcontextprotocol/server-memory']",
            "command: uvx, args: ['blender-mcp==1.2']",
            "command: /opt/bin/mcp-server-playwright",
        ] {
            assert_eq!(connections(server), Some(0), "{server}");
        }
        assert_eq!(connections("command: npx, args: [-y, '@playwright/test']"), None);
        assert_eq!(connections("command: npx, args: [server, 'blender-mcp/notes.txt']"), None);
    }

    #[test]
    fn what_the_configuration_says_counts_more() {
        let known = "command: npx, args: ['@playwright/mcp', --isolated]";
        assert_eq!(connections(&format!("{known}, dedicatedConnections: 3")), Some(3));
        assert_eq!(connections(&format!("{known}, affinity: session")), None);
    }
}
