//! `kulturarv`: heritage tools with an event stream and a separate POST path; a failed tool always returns a result.

use proto::era::V2024_11_05;

use super::fault_text::FaultText;
use super::parts::{object, template, text, texts, tools_only, versions};
use super::row::{Calls, Dialect, Errors, Events, Grammar, Hello, Lists, Variant, Web};
use super::words::{
    ArgumentsMissing, ErrorId, NoId, NullId, RateHeaders, SchemaPart, Streams, SuccessFlag, UnknownSession,
    VersionPolicy,
};

pub(super) fn row() -> Dialect {
    Dialect {
        about: text(
            "Tools over an event stream, with a separate POST path; a failed tool call is reported in its result, not as a JSON-RPC error",
        ),
        variants: VARIANTS,
        hello: Hello {
            versions: versions(&[&V2024_11_05]),
            version_policy: VersionPolicy::Own,
            server_name: text("kulturarv-mcp-server"),
            server_version: text("1.0.0"),
            capabilities: Some(object(r#"{"tools":{}}"#)),
            instructions: false,
            ..Hello::default()
        },
        reading: Grammar {
            jsonrpc_optional: true,
            version_error_id: ErrorId::Null,
            structure_error_id: ErrorId::Null,
            null_id: NullId::Notification,
            no_id: NoId::Execute,
            ..Grammar::default()
        },
        lists: Lists { schema_always: vec![SchemaPart::Properties, SchemaPart::Required], ..tools_only() },
        calls: Calls {
            arguments_missing: ArgumentsMissing::Empty,
            result_members: Some(texts(&["content", "isError"])),
            success_flag: SuccessFlag::False,
            failure_prefix: text("Error: "),
            ..Calls::default()
        },
        errors: errors(),
        web: Web {
            info: Some(template(r#"{"name":"{serverName}","version":"{serverVersion}"}"#)),
            cors_methods: texts(&["GET", "POST", "OPTIONS"]),
            cors_exposed: texts(&[
                "X-RateLimit-Limit",
                "X-RateLimit-Remaining",
                "Retry-After",
                "X-Request-ID",
            ]),
            cors_credentials: true,
            rate_headers: RateHeaders::All,
            ..Web::default()
        },
        events: Events {
            streams: Streams::Beside,
            answer_in_body: true,
            ping_event: Some(text("ping")),
            unknown_session: UnknownSession::Answer,
            ..Events::default()
        },
        ..Dialect::plain()
    }
}

fn errors() -> Errors {
    let failed = |message| FaultText::new(-32000, message).by_result();
    Errors {
        parse_error: FaultText::new(-32700, "Parse error"),
        invalid_request: FaultText::new(-32600, "Invalid Request"),
        unknown_method: FaultText::new(-32601, "Method not found"),
        invalid_params: FaultText::new(-32602, "Invalid params").by_result(),
        missing_tool_name: FaultText::new(-32602, "Invalid params"),
        unknown_tool: FaultText::new(-32602, "Tool not found: {name}").by_result(),
        invalid_arguments: FaultText::new(-32602, "Error: {detail}").by_result(),
        tool_failed: failed("Tool execution error"),
        upstream_error: failed("Error: {message}"),
        upstream_down: failed("Error: {message}"),
        consent_needed: failed("Error: {message}"),
        unknown_resource: FaultText::new(-32601, "Method not found"),
        unknown_prompt: FaultText::new(-32601, "Method not found"),
        unknown_profile: FaultText::new(-32603, "Internal error").status(404),
        no_credentials: FaultText::new(-32001, "Authentication required").status(401),
        bad_credentials: FaultText::new(-32001, "Authentication required").status(401),
        forbidden: FaultText::new(-32001, "Authentication required").status(403),
        auth_unavailable: FaultText::new(-32603, "Internal error").status(503),
        rate_limited: FaultText::new(-32002, "Rate limit exceeded").status(429),
        not_initialized: FaultText::new(-32600, "Invalid Request"),
        platform_missing: failed("Error: {message}"),
        internal: FaultText::new(-32603, "Internal error"),
        ..Errors::default()
    }
}

const VARIANTS: &[Variant] = &[Variant {
    name: "code",
    about: "Follows the program where its documentation differs: messages are longer, data is null, and acknowledgements have a body",
    changes: &[
        ("ackBody", r#""{\"status\":\"accepted\"}""#),
        ("parseError", r#"{"message":"Invalid JSON: {detail}","data":null}"#),
        ("invalidRequest", r#"{"message":"Invalid JSON-RPC request: {detail}","data":null}"#),
        ("unknownMethod", r#"{"message":"Method not found: {name}","data":null}"#),
        ("missingToolName", r#"{"message":"Error: Invalid parameters: {detail}","channel":"result"}"#),
        ("rateLimited.message", r#""Rate limit exceeded. Try again in {seconds} seconds.""#),
    ],
}];
