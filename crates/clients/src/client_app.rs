//! The clients whose settings Dragoman can read and write, as rows. Sources: the clients' documentation, as of November 2026. This module must
//! not know how a text is read.

use crate::adapt::{self, EntryConverter};

/// A program that uses MCP servers, and keeps them in a settings file.
#[derive(Debug)]
pub struct ClientApp {
    /// The name on the command line.
    pub name: &'static str,
    /// The name that people use.
    pub title: &'static str,
    /// The notation of the file.
    pub notation: Notation,
    /// The key of the mapping that contains the servers.
    pub servers: &'static str,
    /// The possible locations of the file.
    pub files: &'static [SettingsFile],
    /// The form of a server on the network; `None` if the client only starts programs.
    pub remote: Option<RemoteForm>,
    /// The form of a server that is a program.
    pub program: ProgramForm,
    /// The way in which the client takes an API key from a variable.
    pub key: KeyReference,
    /// Turns one of the client's entries into one that Dragoman reads.
    pub(crate) adapt: EntryConverter,
    /// The instruction that tells the user how to make the client read the file again.
    pub reload: &'static str,
}

/// The notation of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// JSON, with comments and trailing commas if the client allows them.
    Json,
    /// YAML.
    Yaml,
    /// TOML.
    Toml,
}

/// A possible location of a settings file.
#[derive(Debug, Clone, Copy)]
pub struct SettingsFile {
    /// The operating system; `None` if the location is the same everywhere.
    pub system: Option<System>,
    /// True if the file belongs to one project, and the path begins in the project's folder.
    pub is_project: bool,
    /// The path: below the project, or with `~` for the user's home and `{config}` for the folder of settings.
    pub path: &'static str,
}

/// An operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Linux, and other systems that follow the XDG specification of folders.
    Linux,
    /// macOS.
    MacOs,
}

/// The form of a server on the network, as a client writes it.
#[derive(Debug, Clone, Copy)]
pub struct RemoteForm {
    /// The value of `type`, if the client needs one.
    pub kind: Option<&'static str>,
    /// The key of the URL.
    pub url: &'static str,
    /// The key of the headers.
    pub headers: &'static str,
}

/// The form of a server that is a program, as a client writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramForm {
    /// `command` and `args`.
    Plain,
    /// `cmd` and `args`; every entry also has its type, its name, and a flag that enables it.
    Explicit,
}

/// The way in which a client takes an API key from a variable of its environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyReference {
    /// As `${NAME}` in a header.
    Braces,
    /// As `${env:NAME}` in a header.
    Env,
    /// By this key of the entry; its value is the name of the variable.
    VariableKey(&'static str),
    /// Not at all: the key itself must be in the file.
    Literal,
}

const fn user(path: &'static str) -> SettingsFile {
    SettingsFile { system: None, is_project: false, path }
}

const fn user_of(system: System, path: &'static str) -> SettingsFile {
    SettingsFile { system: Some(system), is_project: false, path }
}

const fn project(path: &'static str) -> SettingsFile {
    SettingsFile { system: None, is_project: true, path }
}

const fn remote(kind: Option<&'static str>, url: &'static str) -> RemoteForm {
    RemoteForm { kind, url, headers: "headers" }
}

/// The clients, in the order in which they are listed.
pub const CLIENTS: &[ClientApp] = &[
    ClientApp {
        name: "claude-desktop",
        title: "Claude Desktop",
        notation: Notation::Json,
        servers: "mcpServers",
        files: &[
            user_of(System::Linux, "{config}/Claude/claude_desktop_config.json"),
            user_of(System::MacOs, "~/Library/Application Support/Claude/claude_desktop_config.json"),
        ],
        remote: None,
        program: ProgramForm::Plain,
        key: KeyReference::Literal,
        adapt: adapt::common,
        reload: "quit Claude Desktop completely, and start it again",
    },
    ClientApp {
        name: "claude-code",
        title: "Claude Code",
        notation: Notation::Json,
        servers: "mcpServers",
        files: &[user("~/.claude.json"), project(".mcp.json")],
        remote: Some(remote(Some("http"), "url")),
        program: ProgramForm::Plain,
        key: KeyReference::Braces,
        adapt: adapt::common,
        reload: "start a new session of Claude Code; `/mcp` shows the connection",
    },
    ClientApp {
        name: "cursor",
        title: "Cursor",
        notation: Notation::Json,
        servers: "mcpServers",
        files: &[user("~/.cursor/mcp.json"), project(".cursor/mcp.json")],
        remote: Some(remote(None, "url")),
        program: ProgramForm::Plain,
        key: KeyReference::Env,
        adapt: adapt::common,
        reload: "open Cursor's settings, section MCP, and switch the server on",
    },
    ClientApp {
        name: "vscode",
        title: "VS Code",
        notation: Notation::Json,
        servers: "servers",
        files: &[
            user_of(System::Linux, "{config}/Code/User/mcp.json"),
            user_of(System::MacOs, "~/Library/Application Support/Code/User/mcp.json"),
            project(".vscode/mcp.json"),
        ],
        remote: Some(remote(Some("http"), "url")),
        program: ProgramForm::Plain,
        key: KeyReference::Env,
        adapt: adapt::common,
        reload: "run the command `MCP: List Servers` in VS Code, and start the server there",
    },
    ClientApp {
        name: "windsurf",
        title: "Windsurf",
        notation: Notation::Json,
        servers: "mcpServers",
        files: &[user("~/.codeium/windsurf/mcp_config.json")],
        remote: Some(remote(None, "serverUrl")),
        program: ProgramForm::Plain,
        key: KeyReference::Env,
        adapt: adapt::common,
        reload: "refresh the list of MCP servers in the Cascade panel of Windsurf",
    },
    ClientApp {
        name: "zed",
        title: "Zed",
        notation: Notation::Json,
        servers: "context_servers",
        files: &[user("~/.config/zed/settings.json"), project(".zed/settings.json")],
        remote: Some(remote(None, "url")),
        program: ProgramForm::Plain,
        key: KeyReference::Literal,
        adapt: adapt::zed,
        reload: "Zed reads its settings when they change",
    },
    ClientApp {
        name: "gemini",
        title: "Gemini CLI",
        notation: Notation::Json,
        servers: "mcpServers",
        files: &[user("~/.gemini/settings.json"), project(".gemini/settings.json")],
        remote: Some(remote(None, "httpUrl")),
        program: ProgramForm::Plain,
        key: KeyReference::Braces,
        adapt: adapt::gemini,
        reload: "start Gemini CLI again; `/mcp` shows the connection",
    },
    ClientApp {
        name: "codex",
        title: "Codex",
        notation: Notation::Toml,
        servers: "mcp_servers",
        files: &[user("~/.codex/config.toml"), project(".codex/config.toml")],
        remote: Some(RemoteForm { kind: None, url: "url", headers: "http_headers" }),
        program: ProgramForm::Plain,
        key: KeyReference::VariableKey("bearer_token_env_var"),
        adapt: adapt::codex,
        reload: "start Codex again; `codex mcp list` shows the server",
    },
    ClientApp {
        name: "cline",
        title: "Cline",
        notation: Notation::Json,
        servers: "mcpServers",
        files: &[
            user_of(
                System::Linux,
                "{config}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            ),
            user_of(
                System::MacOs,
                "~/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            ),
        ],
        remote: Some(remote(Some("streamableHttp"), "url")),
        program: ProgramForm::Plain,
        key: KeyReference::Literal,
        adapt: adapt::common,
        reload: "Cline reads its settings when they change",
    },
    ClientApp {
        name: "goose",
        title: "Goose",
        notation: Notation::Yaml,
        servers: "extensions",
        files: &[user("~/.config/goose/config.yaml")],
        remote: Some(RemoteForm { kind: Some("streamable_http"), url: "uri", headers: "headers" }),
        program: ProgramForm::Explicit,
        key: KeyReference::Literal,
        adapt: adapt::goose,
        reload: "start a new session of Goose",
    },
    ClientApp {
        name: "lm-studio",
        title: "LM Studio",
        notation: Notation::Json,
        servers: "mcpServers",
        files: &[user("~/.lmstudio/mcp.json")],
        remote: Some(remote(None, "url")),
        program: ProgramForm::Plain,
        key: KeyReference::Literal,
        adapt: adapt::common,
        reload: "LM Studio reads the file when it changes",
    },
];

impl ClientApp {
    /// Returns the client with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.name == name)
    }

    /// Returns the client to which a file with this path most likely belongs, by the end of the path.
    pub fn of_path(path: &str) -> Option<&'static Self> {
        let ends_like = |file: &SettingsFile| {
            let end = file.path.trim_start_matches(['~', '/']).trim_start_matches("{config}/");
            path == end || path.ends_with(&format!("/{end}"))
        };
        CLIENTS.iter().find(|client| client.files.iter().any(ends_like))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_found_by_name_and_by_file() {
        for client in CLIENTS {
            assert_eq!(ClientApp::named(client.name).map(|found| found.title), Some(client.title));
            for file in client.files {
                let path = file.path.replace('~', "/srv/ann").replace("{config}", "/srv/ann/.config");
                assert_eq!(ClientApp::of_path(&path).map(|found| found.name), Some(client.name), "{path}");
            }
        }
        assert!(ClientApp::of_path("/srv/ann/dragoman.yaml").is_none());
    }
}
