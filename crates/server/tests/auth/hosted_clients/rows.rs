//! The clients, one row for each way in which a client introduces itself.

use serde_json::{Value, json};

/// The sign-in of a client: its addresses and the requests that it makes.
pub(super) struct HostedClient {
    /// The client's name, which people see.
    pub(super) name: &'static str,
    /// The published page that describes this sign-in.
    pub(super) page: &'static str,
    pub(super) introduction: Introduction,
    /// The address to which the browser returns.
    pub(super) redirect_uri: &'static str,
    /// The words that name this address to people.
    pub(super) shown: &'static str,
    pub(super) discovery: Discovery,
    /// The well-known names under which the client looks for the authorization server's metadata, in this order.
    pub(super) server_metadata: &'static [&'static str],
    pub(super) scope: ScopeSource,
    /// True if the client names the resource also when it renews its tokens.
    pub(super) renews_with_resource: bool,
    /// The properties that the metadata must have; otherwise, the client signs in differently or not at all.
    pub(super) requires: fn() -> Value,
}

/// The way in which a client introduces itself.
pub(super) enum Introduction {
    /// It publishes this document at this path.
    Document(&'static str, fn() -> Value),
    /// It registers with this metadata.
    Registration(fn() -> Value),
}

/// The place where a client finds the metadata of the resource.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Discovery {
    /// At the address in the challenge of a refused request.
    Challenge,
    /// Below the well-known path, with the path of the endpoint or without it; the client sends no MCP request before.
    WellKnown,
}

/// The place where a client finds the scope that it requests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ScopeSource {
    /// In the challenge.
    Challenge,
    /// In the metadata of the resource.
    Resource,
}

const OAUTH_FIRST: &[&str] = &["oauth-authorization-server", "openid-configuration"];

const CLAUDE: HostedClient = HostedClient {
    name: "Claude",
    page: "Claude docs, Connectors: Authentication for connectors",
    introduction: Introduction::Document("/oauth/mcp-oauth-client-metadata", claude_document),
    redirect_uri: "https://claude.ai/api/mcp/auth_callback",
    shown: "claude.ai",
    discovery: Discovery::Challenge,
    server_metadata: OAUTH_FIRST,
    scope: ScopeSource::Challenge,
    renews_with_resource: true,
    // Without both of these, Claude registers.
    requires: || json!({"client_id_metadata_document_supported": true, "token_endpoint_auth_methods_supported": ["none"]}),
};

const CHATGPT: HostedClient = HostedClient {
    name: "ChatGPT",
    page: "OpenAI Developers, Apps SDK: Authentication",
    introduction: Introduction::Document("/oauth/client.json", chatgpt_document),
    redirect_uri: "https://chatgpt.com/connector_platform_oauth_redirect",
    shown: "chatgpt.com",
    discovery: Discovery::Challenge,
    server_metadata: OAUTH_FIRST,
    scope: ScopeSource::Resource,
    renews_with_resource: true,
    // ChatGPT uses this redirect URI only with servers that name themselves in their answer (RFC 9207).
    requires: || {
        json!({
            "client_id_metadata_document_supported": true, "authorization_response_iss_parameter_supported": true,
            "code_challenge_methods_supported": ["S256"],
        })
    },
};

const VS_CODE: HostedClient = HostedClient {
    name: "Visual Studio Code",
    page: "VS Code API, AI extensibility: MCP developer guide (authorization)",
    introduction: Introduction::Document("/oauth/client-metadata.json", vs_code_document),
    redirect_uri: "http://127.0.0.1:33418/",
    shown: "a program on this computer",
    discovery: Discovery::Challenge,
    server_metadata: OAUTH_FIRST,
    scope: ScopeSource::Challenge,
    renews_with_resource: false,
    requires: || json!({"client_id_metadata_document_supported": true}),
};

const CURSOR: HostedClient = HostedClient {
    name: "Cursor",
    page: "Cursor docs: Model Context Protocol (OAuth)",
    introduction: Introduction::Registration(cursor_registration),
    redirect_uri: "http://localhost:8787/callback",
    shown: "a program on this computer",
    discovery: Discovery::WellKnown,
    server_metadata: OAUTH_FIRST,
    scope: ScopeSource::Resource,
    renews_with_resource: true,
    requires: || json!({"code_challenge_methods_supported": ["S256"]}),
};

/// All rows.
pub(super) const ROWS: &[HostedClient] = &[
    CLAUDE,
    HostedClient {
        introduction: Introduction::Registration(claude_registration),
        page: "Claude Help Center: Building custom connectors via remote MCP servers",
        requires: || json!({}),
        ..CLAUDE
    },
    CHATGPT,
    HostedClient {
        introduction: Introduction::Registration(chatgpt_registration),
        redirect_uri: "https://chatgpt.com/connector/oauth/4f9aB2c7",
        ..CHATGPT
    },
    VS_CODE,
    HostedClient { redirect_uri: "https://vscode.dev/redirect", shown: "vscode.dev", ..VS_CODE },
    // The port is another one if the first port is in use.
    HostedClient {
        introduction: Introduction::Registration(vs_code_registration),
        redirect_uri: "http://127.0.0.1:59656/",
        requires: || json!({}),
        ..VS_CODE
    },
    CURSOR,
    // Older versions, and the agents on the web.
    HostedClient {
        redirect_uri: "cursor://anysphere.cursor-mcp/oauth/callback",
        shown: "the program for cursor links",
        ..CURSOR
    },
    HostedClient {
        redirect_uri: "https://www.cursor.com/agents/mcp/oauth/callback",
        shown: "www.cursor.com",
        ..CURSOR
    },
];

fn claude_document() -> Value {
    json!({
        "client_name": "Claude", "client_uri": "https://claude.ai",
        "redirect_uris": ["https://claude.ai/api/mcp/auth_callback"],
        "grant_types": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
        "response_types": ["code"], "token_endpoint_auth_method": "none",
    })
}

fn claude_registration() -> Value {
    json!({
        "client_name": "Claude", "redirect_uris": ["https://claude.ai/api/mcp/auth_callback"],
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
    })
}

/// The client prefers to sign its requests; with servers that do not offer this, it does without.
fn chatgpt_document() -> Value {
    json!({
        "client_name": "ChatGPT", "redirect_uris": ["https://chatgpt.com/connector_platform_oauth_redirect"],
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
        "token_endpoint_auth_method": "private_key_jwt",
        "token_endpoint_auth_methods_supported": ["none", "private_key_jwt"],
        "token_endpoint_auth_signing_alg": "RS256", "jwks_uri": "https://chatgpt.com/oauth/jwks.json",
    })
}

fn chatgpt_registration() -> Value {
    json!({
        "client_name": "ChatGPT", "redirect_uris": ["https://chatgpt.com/connector/oauth/4f9aB2c7"],
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    })
}

fn vs_code_document() -> Value {
    json!({
        "client_name": "Visual Studio Code", "client_uri": "https://code.visualstudio.com", "application_type": "native",
        "redirect_uris": ["http://127.0.0.1:33418/", "https://vscode.dev/redirect"],
        "grant_types": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
        "response_types": ["code"], "token_endpoint_auth_method": "none",
    })
}

fn vs_code_registration() -> Value {
    json!({
        "client_name": "Visual Studio Code", "client_uri": "https://code.visualstudio.com", "application_type": "native",
        "redirect_uris": [
            "https://insiders.vscode.dev/redirect", "https://vscode.dev/redirect", "http://127.0.0.1/",
            "http://127.0.0.1:33418/",
        ],
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"], "scope": "mcp",
        "token_endpoint_auth_method": "none",
    })
}

/// One registration with three addresses: of older versions, of the agents on the web, and of the program.
fn cursor_registration() -> Value {
    json!({
        "client_name": "Cursor",
        "redirect_uris": [
            "cursor://anysphere.cursor-mcp/oauth/callback", "https://www.cursor.com/agents/mcp/oauth/callback",
            "http://localhost:8787/callback",
        ],
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    })
}
