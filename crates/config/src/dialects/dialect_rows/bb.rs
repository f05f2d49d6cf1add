//! `bb-1.0`: three methods over lines or POST, a mandatory `initialize`, and its own error codes. Also its successor,
//! which uses a published version.

use proto::era::{V1_DECIMAL, V2025_03_26};
use proto::mcp::Method;

use super::cell::Text;
use super::fault_text::FaultText;
use super::parts::{object, text, texts, tools_only};
use super::row::{Calls, Dialect, Errors, Events, Grammar, Hello, Lists, Variant, Web};
use super::words::{
    ArgumentsMissing, Gate, Needed, NoId, NullId, ParamsShape, RateHeaders, Sessions, SuccessFlag, ToolOrder,
    VersionPolicy,
};

/// The behavior according to the first page of the system's documentation.
pub(super) fn first() -> Dialect {
    Dialect {
        about: text(
            "A tool server over standard input or POST that requires `initialize` first, and has boolean capabilities and its own error codes",
        ),
        variants: FIRST_VARIANTS,
        hello: Hello {
            versions: vec![text(V1_DECIMAL)],
            version_policy: VersionPolicy::Refuse,
            standard_clients: true,
            initialize_requires: vec![Needed::ProtocolVersion, Needed::ClientInfo, Needed::ClientName],
            server_name: text("bb-mcp-server"),
            server_version: text("0.1.0"),
            capabilities: Some(object(r#"{"tools":true,"dynamicToolRegistration":false}"#)),
            instructions: false,
            gate: Gate::Session,
            sessions: Sessions::Issued,
            ..Hello::default()
        },
        reading: Grammar {
            null_id: NullId::Invalid,
            no_id: NoId::Refuse,
            ack_status: 204,
            params_shape: ParamsShape::Strict,
            ..Grammar::default()
        },
        lists: Lists { empty_methods: vec![], tool_order: ToolOrder::Name, ..tools_only() },
        calls: Calls {
            arguments_missing: ArgumentsMissing::Refuse,
            result_members: Some(texts(&["content"])),
            success_flag: SuccessFlag::Absent,
            ..Calls::default()
        },
        errors: errors(),
        web: web(),
        events: Events::default(),
        ..Dialect::plain()
    }
}

/// The name of the successor, derived from the successor's protocol version.
pub(super) fn later_name() -> Text {
    format!("bb-{}", V2025_03_26.version).into()
}

/// The behavior according to a later page of the system's documentation.
pub(super) fn later() -> Dialect {
    let first = first();
    Dialect {
        about: text(
            "A later version of the bb server, with a published protocol version, notifications, and capabilities that are objects",
        ),
        variants: &[],
        hello: Hello {
            versions: vec![text(V2025_03_26.version)],
            version_policy: VersionPolicy::Own,
            standard_clients: false,
            initialize_requires: vec![],
            capabilities: Some(object(r#"{"tools":{}}"#)),
            ..first.hello
        },
        reading: Grammar { no_id: NoId::Acknowledge, ..first.reading },
        lists: Lists { empty_methods: texts(&[Method::Ping.name()]), ..first.lists },
        ..first
    }
}

const FIRST_VARIANTS: &[Variant] = &[
    Variant {
        name: "code",
        about: "Follows the program where its documentation differs: it does not answer a message without an id",
        changes: &[
            ("noId", r#""acknowledge""#),
            ("structureErrorId", r#""null""#),
            ("versionErrorId", r#""null""#),
        ],
    },
    Variant {
        name: "lenient",
        about: "Answers with its own version, whatever version a client requests",
        changes: &[("versionPolicy", r#""own""#), ("standardClients", "false")],
    },
];

fn errors() -> Errors {
    let error = |code, message, status| FaultText::new(code, message).status(status);
    Errors {
        parse_error: error(-32700, "Parse error", 400).data(r#""{detail}""#),
        invalid_request: error(-32600, "Invalid Request", 400).data(r#""{detail}""#),
        unknown_method: error(-32601, "Method not found", 404).data(r#"{"method":"{name}"}"#),
        invalid_params: error(-32602, "Invalid params", 400).data(r#""{detail}""#),
        missing_tool_name: error(-32602, "Invalid params", 400).data(r#""{detail}""#),
        unknown_tool: error(-32000, "Tool not found", 404)
            .data(r#"{"type":"tool-not-found","tool":"{name}"}"#),
        invalid_arguments: error(-32002, "Invalid tool params", 400)
            .data(r#"{"type":"invalid-tool-params","tool":"{tool}","error":"{detail}"}"#),
        tool_failed: error(-32001, "Tool execution failed", 500).data(FAILED),
        upstream_error: error(-32001, "Tool execution failed", 500).data(FAILED),
        upstream_down: error(-32001, "Tool execution failed", 500).data(FAILED),
        consent_needed: error(-32001, "Tool execution failed", 500).data(FAILED),
        unknown_resource: error(-32602, "Invalid params", 400).data(r#""{detail}""#),
        unknown_prompt: error(-32602, "Invalid params", 400).data(r#""{detail}""#),
        unknown_profile: error(-32601, "Method not found", 404),
        no_credentials: error(-32603, "Authentication required", 401),
        bad_credentials: error(-32603, "Authentication failed", 401),
        forbidden: error(-32603, "Forbidden", 403),
        auth_unavailable: error(-32603, "Internal error", 503).data(r#"{"error":"{detail}"}"#),
        rate_limited: error(-32603, "Rate limit exceeded", 429),
        not_initialized: error(-32003, "Server not initialized", 400)
            .data(r#"{"method":"{method}","hint":"call initialize first"}"#),
        platform_missing: error(-32001, "Tool execution failed", 500).data(FAILED),
        internal: error(-32603, "Internal error", 500).data(r#"{"error":"{detail}"}"#),
        ..Errors::default()
    }
}

const FAILED: &str = r#"{"tool":"{tool}","error":"{message}","stacktrace":"{stack}"}"#;

fn web() -> Web {
    Web {
        cors_methods: texts(&["POST", "GET", "OPTIONS"]),
        cors_headers: texts(&["Content-Type", "Authorization", "X-Request-ID"]),
        rate_headers: RateHeaders::Refused,
        ..Web::default()
    }
}
