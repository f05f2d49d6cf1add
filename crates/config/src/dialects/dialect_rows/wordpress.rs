//! `wordpress-v1`: a site's content at a POST path, with the site and its credentials in each request; every failure
//! is a JSON-RPC error. Also `wordpress-saas`, its hosted successor, where a failed tool returns an ordinary result.

use proto::era::V2024_11_05;
use proto::mcp::{Method, Notice};

use super::fault_text::FaultText;
use super::parts::{object, template, text, texts, tools_only, versions};
use super::row::{Calls, Dialect, Errors, Grammar, Hello, Lists, Variant, Web};
use super::words::{
    ArgumentsMissing, Ids, NoId, NullId, ParamsShape, RateHeaders, SuccessFlag, VersionPolicy,
};

pub(super) fn first() -> Dialect {
    Dialect {
        about: text(
            "The content of a site, over POST; each request names the site, and every failure is a JSON-RPC error",
        ),
        variants: VARIANTS,
        hello: Hello {
            versions: versions(&[&V2024_11_05]),
            version_policy: VersionPolicy::Own,
            server_name: text("wordpress-nodeflow-mcp"),
            server_version: text("1.0.0"),
            capabilities: Some(object(r#"{"tools":{"listChanged":false}}"#)),
            instructions: false,
            ..Hello::default()
        },
        reading: Grammar {
            ids: Ids::Any,
            null_id: NullId::Keep,
            // The original system answers notifications, which JSON-RPC forbids and clients do not expect.
            no_id: NoId::Acknowledge,
            params_shape: ParamsShape::Ignore,
            ..Grammar::default()
        },
        lists: Lists { empty_methods: vec![], property_drops: texts(&["default"]), ..tools_only() },
        calls: Calls {
            arguments_missing: ArgumentsMissing::Empty,
            argument_caps: Some(object(r#"{"per_page":100}"#)),
            result_members: Some(texts(&["content"])),
            success_flag: SuccessFlag::Absent,
            ..Calls::default()
        },
        errors: errors(),
        web: Web {
            info: Some(template(r#"{"name":"{serverName}","version":"{serverVersion}","status":"ok"}"#)),
            cors_methods: texts(&["GET", "POST", "OPTIONS"]),
            cors_headers: texts(&[
                "Content-Type",
                "x-wordpress-url",
                "x-wordpress-username",
                "x-wordpress-password",
                "x-imgbb-api-key",
            ]),
            ..Web::default()
        },
        ..Dialect::plain()
    }
}

pub(super) fn hosted() -> Dialect {
    let first = first();
    Dialect {
        about: text(
            "The hosted successor of `wordpress`, with API keys and with HTTP statuses for errors; a failed tool call is reported in a plain result, not as a JSON-RPC error",
        ),
        variants: &[],
        credentials: Some("{ keys: true }"),
        hello: Hello {
            server_name: text("wordpress-mcp-saas"),
            server_version: text("2.0.0"),
            capabilities: Some(object(r#"{"tools":{}}"#)),
            ..first.hello
        },
        reading: Grammar { no_id: NoId::Answer, ..first.reading },
        lists: Lists {
            empty_methods: texts(&[Method::Ping.name(), Notice::Initialized.name()]),
            ..first.lists
        },
        calls: Calls { failure_flag: false, failure_prefix: text("Error: "), ..first.calls },
        errors: hosted_errors(),
        web: Web {
            cors_headers: texts(&["Content-Type", "Authorization", "X-API-Key"]),
            cors_exposed: texts(&["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]),
            rate_headers: RateHeaders::All,
            ..first.web
        },
        ..first
    }
}

fn errors() -> Errors {
    let site = || FaultText::new(-32003, "WordPress API error: {message}").data(r#""{body}""#);
    Errors {
        parse_error: FaultText::new(-32700, "Parse error: {detail}"),
        invalid_request: FaultText::new(-32600, "Invalid request: {detail}"),
        unknown_method: FaultText::new(-32601, "Method not found: {name}"),
        invalid_params: FaultText::new(-32602, "Invalid params: {detail}"),
        missing_tool_name: FaultText::new(-32602, "Invalid params: missing tool name"),
        unknown_tool: FaultText::new(-32004, "Tool not found: {name}"),
        invalid_arguments: FaultText::new(-32005, "Validation error: {detail}"),
        tool_failed: site(),
        upstream_error: site(),
        upstream_down: site(),
        consent_needed: FaultText::new(-32001, "No credentials provided"),
        unknown_resource: FaultText::new(-32601, "Method not found: {method}"),
        unknown_prompt: FaultText::new(-32601, "Method not found: {method}"),
        unknown_profile: FaultText::new(-32603, "Internal error").status(404),
        no_credentials: FaultText::new(-32001, "No credentials provided").data(r#"{"hint":"{hint}"}"#),
        // The possible causes help the operator: a header that was removed, or an address that may not be requested.
        bad_credentials: FaultText::new(-32002, "Invalid credentials").data(r#"{"hint":"{message}"}"#),
        forbidden: FaultText::new(-32002, "Invalid credentials").status(403),
        auth_unavailable: FaultText::new(-32603, "Internal error").status(503),
        rate_limited: FaultText::new(-32603, "Rate limit exceeded").status(429),
        not_initialized: FaultText::new(-32600, "Invalid request: {detail}"),
        platform_missing: site(),
        internal: FaultText::new(-32603, "Internal error"),
        ..Errors::default()
    }
}

fn hosted_errors() -> Errors {
    let error = |code, message| FaultText::new(code, message).status(500);
    let failed = |message| FaultText::new(-32603, message).status(500).by_result();
    let refused = |message, status| FaultText::new(-32000, message).status(status);
    Errors {
        parse_error: error(-32700, "Parse error"),
        invalid_request: error(-32600, "Invalid request: {detail}").status(400),
        unknown_method: error(-32601, "Method not found: {name}"),
        invalid_params: error(-32602, "Invalid params: {detail}"),
        missing_tool_name: error(-32602, "Invalid params: missing tool name"),
        unknown_tool: failed("Error: Unknown tool: {name}"),
        invalid_arguments: failed("Error: {detail}"),
        tool_failed: failed("Error: {message}"),
        upstream_error: failed("Error: {message}"),
        upstream_down: failed("Error: {message}"),
        consent_needed: failed("Error: {message}"),
        no_credentials: refused("Authentication required", 401),
        bad_credentials: refused("Authentication failed", 401),
        forbidden: refused("Forbidden", 403),
        rate_limited: refused("Rate limit exceeded", 429),
        platform_missing: failed("Error: {message}"),
        internal: error(-32603, "Internal error"),
        ..errors()
    }
}

const VARIANTS: &[Variant] = &[Variant {
    name: "code",
    about: "Follows the program where its documentation differs: it uses other codes, and answers notifications",
    changes: &[
        ("noId", r#""answer""#),
        ("parseError.message", r#""Invalid JSON""#),
        ("unknownTool.code", "-32601"),
        ("toolFailed", r#"{"code":-32603,"message":"{message}"}"#),
    ],
}];
