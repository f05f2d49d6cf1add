//! `buddyboss`: a community site's tools at one POST path, without sessions. The texts that reject missing or
//! invalid credentials are the site's own.

use proto::era::V2025_11_25;

use super::fault_text::FaultText;
use super::parts::{object, template, text, texts, tools_only, versions};
use super::row::{Calls, Dialect, Errors, Grammar, Hello, Lists, Variant, Web};
use super::words::{
    ArgumentsMissing, Check, ErrorId, Ids, NoId, NullId, Origins, ParamsShape, RateHeaders, Repair,
    SchemaPart, SuccessFlag, VersionPolicy,
};

pub(super) fn row() -> Dialect {
    Dialect {
        about: text(
            "The tools of a community site at one POST path, without sessions; refusals have the site's wording",
        ),
        variants: VARIANTS,
        credentials: Some("{ site: { url: \"${WORDPRESS_URL}\" } }"),
        hello: Hello {
            versions: versions(&[&V2025_11_25]),
            version_policy: VersionPolicy::Own,
            server_name: text("buddyboss-mcp-server"),
            server_version: text("1.0.0"),
            capabilities: Some(object(r#"{"tools":{}}"#)),
            instructions: false,
            ..Hello::default()
        },
        reading: Grammar {
            checks: ORDER.to_vec(),
            version_error_id: ErrorId::Null,
            ids: Ids::Any,
            null_id: NullId::Notification,
            no_id: NoId::Acknowledge,
            params_shape: ParamsShape::Ignore,
            ..Grammar::default()
        },
        lists: Lists {
            schema_always: vec![SchemaPart::Properties],
            schema_unless_empty: vec![SchemaPart::Required],
            // The descriptions already mention the defaults.
            property_drops: texts(&["default"]),
            ..tools_only()
        },
        calls: Calls {
            arguments_missing: ArgumentsMissing::Empty,
            repair_arguments: vec![
                Repair::DropEmpty,
                Repair::Coerce,
                Repair::DropForeign,
                Repair::DropUnknown,
                Repair::Clamp,
            ],
            argument_defaults: Some(object(r#"{"per_page":20}"#)),
            argument_caps: Some(object(r#"{"per_page":100}"#)),
            result_members: Some(texts(&["content", "isError"])),
            success_flag: SuccessFlag::Absent,
            failure_prefix: text("Error: "),
            ..Calls::default()
        },
        errors: errors(),
        web: Web {
            info: Some(template(r#"{"name":"{serverName}","version":"{serverVersion}","status":"active"}"#)),
            cors_origins: Origins::None,
            rate_headers: RateHeaders::Refused,
            ..Web::default()
        },
        ..Dialect::plain()
    }
}

/// The order of the checks. The version comes before the id, because a message without an id is not checked any
/// further.
const ORDER: [Check; 6] =
    [Check::Version, Check::Id, Check::Method, Check::Params, Check::Known, Check::Initialized];

fn errors() -> Errors {
    Errors {
        parse_error: FaultText::new(-32700, "Parse error"),
        invalid_request: FaultText::new(-32600, "Invalid Request"),
        unknown_method: FaultText::new(-32601, "Method not found"),
        invalid_params: FaultText::new(-32602, "Invalid params: {detail}"),
        missing_tool_name: FaultText::new(-32602, "Invalid params: missing tool name"),
        unknown_tool: FaultText::new(-32602, "Tool not found: {name}"),
        invalid_arguments: FaultText::new(-32602, "Validation error: {detail}").by_result(),
        tool_failed: FaultText::new(-32000, "Tool execution failed").by_result(),
        upstream_error: FaultText::new(-32000, "Error: {message}").by_result(),
        upstream_down: FaultText::new(-32000, "Error: {message}").by_result(),
        consent_needed: FaultText::new(-32000, "Error: {message}").by_result(),
        unknown_resource: FaultText::new(-32601, "Method not found"),
        unknown_prompt: FaultText::new(-32601, "Method not found"),
        unknown_profile: FaultText::new(-32603, "Internal error").status(404).body(NO_ROUTE),
        no_credentials: refused("Authentication required.", 401),
        bad_credentials: refused("Authentication required.", 401),
        forbidden: refused("Insufficient permissions.", 403),
        auth_unavailable: FaultText::new(-32000, "Credentials cannot be checked now.")
            .status(503)
            .body(r#"{"code":"rest_unavailable","message":"{text}","data":{"status":503}}"#),
        rate_limited: FaultText::new(-32000, "Too many requests. Try again in {seconds} seconds.")
            .status(429)
            .body(r#"{"code":"bbmcp_rate_limit_exceeded","message":"{text}","data":{"status":429}}"#),
        not_initialized: FaultText::new(-32600, "Invalid Request"),
        platform_missing: FaultText::new(-32002, "BuddyBoss not available"),
        internal: FaultText::new(-32603, "Internal error"),
        ..Errors::default()
    }
}

/// The response with which the site itself rejects a caller; it is not JSON-RPC.
fn refused(message: &'static str, status: u16) -> FaultText {
    FaultText::new(-32000, message)
        .status(status)
        .data(r#"{"hint":"{hint}"}"#)
        .body(r#"{"code":"rest_forbidden","message":"{text}","data":{"status":"{status}","hint":"{hint}"}}"#)
}

const NO_ROUTE: &str = r#"{"code":"rest_no_route","message":"No route was found matching the URL and request method.","data":{"status":404}}"#;

const VARIANTS: &[Variant] = &[
    Variant {
        name: "code",
        about: "Follows the program where its documentation differs: its messages are longer, and a GET returns information",
        changes: &[
            ("serverVersion", r#""1.0.1""#),
            ("get", r#""info""#),
            ("parseError.message", r#""Parse error: invalid JSON""#),
            ("invalidRequest.message", r#""Invalid Request: {detail}""#),
            ("unknownMethod.message", r#""Method not found: {name}""#),
            (
                "noCredentials.body",
                r#"{"code":"bbmcp_unauthorized","message":"{text}","data":{"status":"{status}","hint":"{hint}"}}"#,
            ),
            (
                "badCredentials.body",
                r#"{"code":"bbmcp_unauthorized","message":"{text}","data":{"status":"{status}","hint":"{hint}"}}"#,
            ),
            (
                "forbidden.body",
                r#"{"code":"bbmcp_forbidden","message":"{text}","data":{"status":"{status}","hint":"{hint}"}}"#,
            ),
        ],
    },
    Variant {
        name: "throwing",
        about: "Reports a failed tool as a JSON-RPC error, according to the documented list of codes",
        changes: &[
            ("toolFailed.channel", r#""error""#),
            ("upstreamError", r#"{"channel":"error","message":"Tool execution failed"}"#),
            ("upstreamDown", r#"{"channel":"error","message":"Tool execution failed"}"#),
        ],
    },
    Variant {
        name: "boolean-required",
        about: "Marks each required property in input schemas, as the documentation does",
        changes: &[("requiredStyle", r#""boolean""#)],
    },
    Variant {
        name: "site",
        about: "Answers unsupported HTTP methods as its site does",
        changes: &[
            ("otherStatus", "404"),
            (
                "otherBody",
                r#"{"code":"rest_no_route","message":"No route was found matching the URL and request method.","data":{"status":404}}"#,
            ),
        ],
    },
];
