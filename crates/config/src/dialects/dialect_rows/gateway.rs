//! `gateway`: profiles of many servers, each with a path for POST and a path for events. Messages from a server are
//! passed on with the server's name added, and otherwise unchanged.

use proto::era::{V2024_10_07, V2024_11_05};
use proto::mcp::Method;

use super::cell::Text;
use super::fault_text::FaultText;
use super::parts::{object, template, text, texts, versions};
use super::row::{Calls, Dialect, Errors, Events, Grammar, Hello, Lists, Variant, Web};
use super::words::{
    ArgumentsMissing, GetAnswer, NoId, NullId, Streams, SuccessFlag, UnknownSession, VersionPolicy,
};

pub(super) fn row() -> Dialect {
    Dialect {
        about: text(
            "Profiles of many servers, each at its own path, over POST and an event stream; errors contain the server's name",
        ),
        variants: VARIANTS,
        hello: Hello {
            versions: versions(&[&V2024_11_05, &V2024_10_07]),
            version_policy: VersionPolicy::Echo,
            initialize_needs_servers: true,
            server_name: text("MCP Server"),
            server_version: text("1.0.0"),
            capabilities: Some(object(r#"{"tools":{},"resources":{}}"#)),
            instructions: false,
            ..Hello::default()
        },
        reading: Grammar { null_id: NullId::Keep, no_id: NoId::Execute, ..Grammar::default() },
        lists: Lists { methods: methods(), forward_unknown: true, pages: false, ..Lists::default() },
        calls: Calls {
            arguments_missing: ArgumentsMissing::Pass,
            check_arguments: false,
            success_flag: SuccessFlag::False,
            ..Calls::default()
        },
        errors: errors(),
        web: Web {
            get: GetAnswer::Events,
            info: Some(template(
                r#"{"name":"{serverName}","version":"{serverVersion}","profile":"{profile}"}"#,
            )),
            cors_methods: texts(&["GET", "POST", "OPTIONS"]),
            cors_headers: texts(&["Content-Type", "Authorization", "Mcp-Session-Id"]),
            cors_credentials: true,
            ..Web::default()
        },
        events: Events {
            streams: Streams::Same,
            endpoint_data: text("{path}?sessionId={session}"),
            session_parameter: text("sessionId"),
            unknown_session: UnknownSession::Answer,
            ..Events::default()
        },
        ..Dialect::plain()
    }
}

fn methods() -> Vec<Text> {
    texts(&[
        Method::Initialize.name(),
        Method::ToolsList.name(),
        Method::ToolsCall.name(),
        Method::ResourcesList.name(),
        Method::TemplatesList.name(),
        Method::ResourcesRead.name(),
        Method::Subscribe.name(),
        Method::Unsubscribe.name(),
        Method::PromptsList.name(),
        Method::PromptsGet.name(),
        Method::Complete.name(),
    ])
}

fn errors() -> Errors {
    Errors {
        parse_error: FaultText::new(-32700, "Parse error"),
        invalid_request: FaultText::new(-32600, "Invalid Request"),
        unknown_method: FaultText::new(-32601, "Method not found: {name}"),
        invalid_params: FaultText::new(-32602, "Invalid params: {detail}"),
        missing_tool_name: FaultText::new(-32602, "Invalid params: {detail}"),
        unknown_tool: FaultText::new(-32601, "Method not found: {name}"),
        invalid_arguments: FaultText::new(-32602, "Invalid params: {detail}"),
        tool_failed: FaultText::new(-32002, "Tool error").data(ORIGINAL).by_result(),
        upstream_error: FaultText::new(-32002, "Tool error").data(ORIGINAL),
        upstream_down: FaultText::new(-32002, "Server unavailable: {server}").data(ORIGINAL),
        consent_needed: FaultText::new(-32003, "OAuth authorization required")
            .data(r#"{"serverId":"{server}","authorizationUrl":"{url}"}"#),
        unknown_resource: FaultText::new(-32001, "Resource not found: {name}").data(ORIGINAL),
        unknown_prompt: FaultText::new(-32602, "Prompt not found: {name}").data(ORIGINAL),
        unknown_profile: FaultText::new(-32000, "Profile not found: {name}"),
        no_credentials: FaultText::new(-32003, "Authorization error: {detail}").status(401),
        bad_credentials: FaultText::new(-32003, "Authorization error: {detail}").status(401),
        forbidden: FaultText::new(-32003, "Authorization error: {detail}").status(403),
        auth_unavailable: FaultText::new(-32000, "Server error: {detail}").status(503),
        rate_limited: FaultText::new(-32000, "Rate limit exceeded").status(429),
        not_initialized: FaultText::new(-32000, "Server error: {detail}"),
        platform_missing: FaultText::new(-32000, "Server error: {detail}"),
        internal: FaultText::new(-32603, "Internal error: {detail}"),
        ..Errors::default()
    }
}

const ORIGINAL: &str = r#"{"server":"{server}","originalError":"{original}"}"#;

const VARIANTS: &[Variant] = &[
    Variant {
        name: "example",
        about: "Uses the code for a tool's error from the example in the documentation, not from the table there",
        changes: &[("upstreamError.code", "-32001")],
    },
    Variant {
        name: "proxy",
        about: "Behaves as the system's documentation of its proxy says",
        changes: &[
            ("serverName", r#""Profile: {profile}""#),
            ("upstreamError", r#"{"code":-32001,"message":"Tool call failed"}"#),
            ("endpointData", r#""{path}""#),
        ],
    },
    Variant {
        name: "reference",
        about: "Follows the system's error reference, which has a different table of codes",
        changes: &[
            ("unknownTool", r#"{"code":-32001,"message":"Tool not found: {name}"}"#),
            ("unknownResource.code", "-32002"),
            ("upstreamError.code", "-32603"),
            ("upstreamDown", r#"{"code":-32003,"message":"Server not connected: {server}"}"#),
            ("consentNeeded.code", "-32004"),
            ("noCredentials.code", "-32004"),
            ("badCredentials.code", "-32005"),
            ("forbidden.code", "-32005"),
        ],
    },
    Variant {
        name: "code",
        about: "Follows the program where its documentation differs",
        changes: &[
            ("serverName", r#""Local MCP Gateway""#),
            ("serverVersion", r#""0.1.0""#),
            ("unknownTool", r#"{"code":-32602,"message":"Tool not found: {name}"}"#),
            ("unknownResource.code", "-32602"),
            ("openingComment", r#""connected""#),
        ],
    },
];
