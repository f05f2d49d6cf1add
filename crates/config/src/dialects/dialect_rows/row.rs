//! The columns of a dialect: every point on which MCP systems disagree, with its name in a configuration and its default
//! value.
//!
//! This module must not know which code uses a column.

use std::num::NonZeroU32;

use proto::era::{ERAS, Era, Lifecycle, newest_handshake};
use proto::mcp::Method;
use proto::rpc::code;
use serde_json::Value;

use super::cell::{Cell, CellKind, Object, Text};
use super::fault_text::{FaultText, Template};
use super::words::{
    ArgumentsMissing, Batches, Check, ErrorId, Gate, GetAnswer, Ids, Needed, NoId, NullId, Origins, Output,
    ParamsShape, RateHeaders, Repair, RequiredStyle, SchemaPart, Sessions, Streams, SuccessFlag, ToolOrder,
    UnknownSession, VersionPolicy,
};

/// One column, for configurations, schemas and documentation.
#[derive(Debug)]
pub struct Column {
    /// The column's key in a configuration.
    pub name: &'static str,
    /// The column's former key; empty if it has none.
    pub former: &'static str,
    /// The purpose of the column.
    pub about: &'static str,
    /// The kind of the column's values.
    pub kind: CellKind,
    pub(crate) set: fn(&mut Dialect, &Value) -> Result<(), String>,
    pub(crate) show: fn(&Dialect) -> Value,
}

/// A named set of changes to a row, for another version of its system, or for another page of its documentation.
#[derive(Debug, PartialEq, Eq)]
pub struct Variant {
    /// The name of the variant.
    pub name: &'static str,
    /// The origin of the variant.
    pub about: &'static str,
    /// Pairs of a column and its new value, as JSON.
    pub changes: &'static [(&'static str, &'static str)],
}

macro_rules! columns {
    ($(#[doc = $about:literal] $group:ident: $kind:ident {
        $(#[doc = $doc:literal] $field:ident: $type:ty = $name:literal $((former $former:literal))?, $default:expr;)*
    })*) => {
        $(
            #[doc = $about]
            #[derive(Debug, Clone, PartialEq, Eq)]
            pub struct $kind {
                $(#[doc = $doc] pub $field: $type,)*
            }

            impl Default for $kind {
                fn default() -> Self {
                    Self { $($field: $default,)* }
                }
            }
        )*

        /// The behavior of an endpoint where systems disagree.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Dialect {
            /// The dialect's name.
            pub name: Text,
            /// The dialect's description, in a sentence.
            pub about: Text,
            /// The named sets of changes.
            pub variants: &'static [Variant],
            /// The kind of `auth` that fits the system's callers, if the system authenticates them: a configuration without
            /// `auth` gets this kind as a suggestion. `None` if the system has no authentication, or lets the operator
            /// choose a token.
            pub credentials: Option<&'static str>,
            /// True if this dialect interprets messages; otherwise the endpoint follows the protocol.
            pub interpreted: bool,
            /// The protocol version that the gateway uses internally for the endpoint.
            pub era: &'static Era,
            $(#[doc = $about] pub $group: $kind,)*
        }

        impl Dialect {
            /// A row with the default of every column.
            pub fn plain() -> Self {
                Self {
                    name: text("plain"),
                    about: text(""),
                    variants: &[],
                    credentials: None,
                    interpreted: true,
                    era: newest_handshake(),
                    $($group: $kind::default(),)*
                }
            }

            /// All columns, in the order of the documentation.
            pub const COLUMNS: &'static [Column] = &[
                Column {
                    name: "interpreted",
                    former: "",
                    about: "True if this dialect interprets messages; otherwise the endpoint follows the protocol.",
                    kind: <bool as Cell>::KIND,
                    set: |row, value| row.interpreted.set(value),
                    show: |row| row.interpreted.show(),
                },
                Column {
                    name: "era",
                    former: "",
                    about: "The protocol version that the gateway uses internally for the endpoint.",
                    kind: <&'static Era as Cell>::KIND,
                    set: |row, value| row.era.set(value),
                    show: |row| row.era.show(),
                },
                $($(Column {
                    name: $name,
                    former: concat!($($former)?),
                    about: $doc.trim_ascii(),
                    kind: <$type as Cell>::KIND,
                    set: |row, value| row.$group.$field.set(value),
                    show: |row| row.$group.$field.show(),
                },)*)*
            ];
        }
    };
}

columns! {
    /// The introduction of peers.
    hello: Hello {
        /// The versions that `initialize` can answer with, the default first.
        versions: Vec<Text> = "versions", handshake_versions();
        /// The answer to the version that a client requests.
        version_policy: VersionPolicy = "versionPolicy", VersionPolicy::Echo;
        /// True to follow the protocol for clients that request a published version that is not listed.
        standard_clients: bool = "standardClients", false;
        /// The required params of `initialize`.
        initialize_requires: Vec<Needed> = "initializeRequires", vec![];
        /// True if `initialize` fails while no server is available.
        initialize_needs_servers: bool = "initializeNeedsServers", false;
        /// The name in `serverInfo`.
        server_name: Text = "serverName", text("dragoman");
        /// The version in `serverInfo`.
        server_version: Text = "serverVersion", text(env!("CARGO_PKG_VERSION"));
        /// The declared capabilities; null to declare those of the servers.
        capabilities: Option<Object> = "capabilities", None;
        /// True if `initialize` passes on the servers' instructions.
        instructions: bool = "instructions", true;
        /// Decides whether clients must send `initialize` first.
        gate: Gate = "initializeGate", Gate::Off;
        /// The sessions over HTTP.
        sessions: Sessions = "sessions", Sessions::None;
    }

    /// The accepted messages, and the handling of other messages.
    reading: Grammar {
        /// The order in which a message is checked.
        checks: Vec<Check> = "checks", Check::ORDER.to_vec();
        /// True to accept a message without `jsonrpc`.
        jsonrpc_optional: bool = "jsonrpcOptional", false;
        /// The id in an error about a wrong `jsonrpc`.
        version_error_id: ErrorId = "versionErrorId", ErrorId::Echo;
        /// The id in other errors about malformed messages.
        structure_error_id: ErrorId = "structureErrorId", ErrorId::Echo;
        /// The accepted ids.
        ids: Ids = "ids", Ids::Scalar;
        /// The meaning of a null id.
        null_id: NullId = "nullId", NullId::Invalid;
        /// The handling of a message without an id.
        no_id: NoId = "noId", NoId::Execute;
        /// The HTTP status that acknowledges a message.
        ack_status: u16 = "ackStatus", 202;
        /// The body that acknowledges a message; it is often empty.
        ack_body: Text = "ackBody", text("");
        /// The handling of an array of messages.
        batches: Batches = "batches", Batches::Refuse;
        /// The handling of `params` that is not an object.
        params_shape: ParamsShape = "paramsShape", ParamsShape::Request;
    }

    /// The methods, and the form of listed tools.
    lists: Lists {
        /// The known methods.
        methods: Vec<Text> = "methods", all_methods();
        /// Methods that are answered with an empty result.
        empty_methods: Vec<Text> = "emptyMethods", vec![text(Method::Ping.name())];
        /// True to forward unknown methods to the servers.
        forward_unknown: bool = "forwardUnknown", true;
        /// The members of a listed tool; null to keep all members that the server sent.
        tool_members: Option<Vec<Text>> = "toolMembers", None;
        /// True if a listed tool always has a description, even an empty one.
        description_always: bool = "descriptionAlways", false;
        /// The parts that an input schema always has, even if they are empty.
        schema_always: Vec<SchemaPart> = "schemaAlways", vec![];
        /// The parts that an input schema has only if they are not empty.
        schema_unless_empty: Vec<SchemaPart> = "schemaUnlessEmpty", vec![];
        /// The members to drop from the properties of an input schema.
        property_drops: Vec<Text> = "propertyDrops", vec![];
        /// The notation for required properties in an input schema.
        required_style: RequiredStyle = "requiredStyle", RequiredStyle::Array;
        /// The order of the listed tools.
        tool_order: ToolOrder = "toolOrder", ToolOrder::Given;
        /// True if long lists are split into pages.
        pages: bool = "pages", true;
    }

    /// The handling of arguments and results.
    calls: Calls {
        /// The handling of a call without arguments.
        arguments_missing: ArgumentsMissing = "argumentsMissing", ArgumentsMissing::Pass;
        /// True to check arguments against the input schema; otherwise the server checks them.
        check_arguments: bool = "checkArguments", true;
        /// The corrections of arguments, made before the arguments are checked.
        repair_arguments: Vec<Repair> = "repairArguments" (former "mendArguments"), vec![];
        /// Default values for omitted arguments, for tools that define these arguments.
        argument_defaults: Option<Object> = "argumentDefaults", None;
        /// Maximum values of arguments, for tools that define these arguments.
        argument_caps: Option<Object> = "argumentCaps", None;
        /// The members of a call's result; null to keep all members that the server sent.
        result_members: Option<Vec<Text>> = "resultMembers", None;
        /// The value of `isError` in a successful result.
        success_flag: SuccessFlag = "successFlag", SuccessFlag::Keep;
        /// True if a result that reports a failure has `isError`.
        failure_flag: bool = "failureFlag", true;
        /// The prefix of a failed tool's text.
        failure_prefix: Text = "failurePrefix", text("");
        /// The layout of JSON in a result's text.
        output: Output = "output", Output::Raw;
    }

    /// The text of each kind of error.
    errors: Errors {
        /// True to include details in errors.
        detail: bool = "detail", true;
        /// True to include the program location in errors.
        debug: bool = "debug", false;
        /// The message is not JSON.
        parse_error: FaultText = "parseError", FaultText::new(code::PARSE_ERROR, "Parse error: {detail}");
        /// The message is not a valid request.
        invalid_request: FaultText = "invalidRequest", FaultText::new(code::INVALID_REQUEST, "Invalid Request: {detail}");
        /// The method is unknown.
        unknown_method: FaultText = "unknownMethod", FaultText::new(code::METHOD_NOT_FOUND, "Method not found: {name}");
        /// The params are invalid for the method.
        invalid_params: FaultText = "invalidParams", FaultText::new(code::INVALID_PARAMS, "Invalid params: {detail}");
        /// A call names no tool.
        missing_tool_name: FaultText = "missingToolName", FaultText::new(code::INVALID_PARAMS, "Invalid params: missing tool name");
        /// No tool has this name.
        unknown_tool: FaultText = "unknownTool", FaultText::new(code::INVALID_PARAMS, "Tool not found: {name}");
        /// The arguments do not match the tool's input schema.
        invalid_arguments: FaultText = "invalidArguments", FaultText::new(code::INVALID_PARAMS, "Invalid params: {detail}");
        /// The tool ran and failed.
        tool_failed: FaultText = "toolFailed", FaultText::new(code::REFUSED, "Tool execution failed: {message}").by_result();
        /// A server answered with an error of its own.
        upstream_error: FaultText = "upstreamError", FaultText::new(code::INTERNAL_ERROR, "{message}").data(r#""{originalData}""#);
        /// A server cannot be reached.
        upstream_down: FaultText = "upstreamDown", FaultText::new(code::INTERNAL_ERROR, "{message}").data(r#"{"server":"{server}"}"#);
        /// A server requires a user's consent first.
        consent_needed: FaultText = "consentNeeded", FaultText::new(code::INTERNAL_ERROR, "Consent needed: {url}").data(r#"{"server":"{server}","url":"{url}"}"#);
        /// No resource has this URI.
        unknown_resource: FaultText = "unknownResource", FaultText::new(code::RESOURCE_NOT_FOUND, "Resource not found: {name}").data(r#"{"uri":"{name}"}"#);
        /// No prompt has this name.
        unknown_prompt: FaultText = "unknownPrompt", FaultText::new(code::INVALID_PARAMS, "Prompt not found: {name}");
        /// No profile has this name.
        unknown_profile: FaultText = "unknownProfile", FaultText::new(code::INVALID_PARAMS, "Profile not found: {name}").status(404);
        /// Credentials are missing.
        no_credentials: FaultText = "noCredentials", FaultText::new(code::REFUSED, "Authentication required").status(401);
        /// The credentials are invalid.
        bad_credentials: FaultText = "badCredentials", FaultText::new(code::REFUSED, "Authentication failed").status(401);
        /// The caller has no permission.
        forbidden: FaultText = "forbidden", FaultText::new(code::REFUSED, "Forbidden: {message}").status(403);
        /// The service that checks the credentials is unavailable.
        auth_unavailable: FaultText = "authUnavailable", FaultText::new(code::INTERNAL_ERROR, "Credentials cannot be checked now").status(503);
        /// The caller has sent too many requests.
        rate_limited: FaultText = "rateLimited", FaultText::new(code::REFUSED, "Rate limit exceeded").status(429);
        /// The session was not initialized.
        not_initialized: FaultText = "notInitialized", FaultText::new(code::INVALID_REQUEST, "Server not initialized");
        /// The platform that the tools need is missing.
        platform_missing: FaultText = "platformMissing", FaultText::new(code::INTERNAL_ERROR, "{message}");
        /// Any other error.
        internal: FaultText = "internal", FaultText::new(code::INTERNAL_ERROR, "Internal error: {message}");
    }

    /// Everything in HTTP except answers to messages.
    web: Web {
        /// The answer to a GET request to the endpoint.
        get: GetAnswer = "get", GetAnswer::Refuse;
        /// The information that a GET returns.
        info: Option<Template> = "info", None;
        /// The status for HTTP methods that are not served.
        other_status: u16 = "otherStatus", 405;
        /// The body for HTTP methods that are not served.
        other_body: Option<Template> = "otherBody", None;
        /// The origins from which browsers may call (CORS).
        cors_origins: Origins = "corsOrigins", Origins::Allowed;
        /// The HTTP methods that browsers may use.
        cors_methods: Vec<Text> = "corsMethods", texts(&["POST", "OPTIONS"]);
        /// The headers that browsers may send.
        cors_headers: Vec<Text> = "corsHeaders", texts(&["Content-Type", "Authorization"]);
        /// The headers that browsers may read.
        cors_exposed: Vec<Text> = "corsExposed", vec![];
        /// True if browsers may send credentials.
        cors_credentials: bool = "corsCredentials", false;
        /// The number of seconds for which browsers may cache these permissions.
        cors_max_age: u32 = "corsMaxAge", 86_400;
        /// The answers that carry the state of a rate limit.
        rate_headers: RateHeaders = "rateHeaders", RateHeaders::All;
    }

    /// The event stream.
    events: Events {
        /// The path of the event stream.
        streams: Streams = "streams", Streams::None;
        /// The path for POST if `streams` is `beside`. An endpoint's path other than `/sse` precedes it; `message` replaces both.
        message_path: Text = "messagePath", text("/message");
        /// The data of the first event.
        endpoint_data: Text = "endpointData", text("{path}?session_id={session}");
        /// The query parameter with the session id.
        session_parameter: Text = "sessionParameter", text("session_id");
        /// True if the response to a POST contains the answer even if the answer is also sent on a stream.
        answer_in_body: bool = "answerInBody", false;
        /// The comment at the start of a stream; it is often empty.
        opening_comment: Text = "openingComment", text("");
        /// The event that keeps a stream open; null for a comment.
        ping_event: Option<Text> = "pingEvent", None;
        /// The number of seconds without another event before `pingEvent` is sent.
        ping_seconds: NonZeroU32 = "pingSeconds", seconds(30);
        /// The number of seconds without a message before a stream's session ends; 0 for no limit.
        session_seconds: u32 = "sessionSeconds", 1800;
        /// The handling of a message for an unknown session.
        unknown_session: UnknownSession = "unknownSession", UnknownSession::Refuse;
        /// The event that reports a failure of the stream itself.
        error_event: Text = "errorEvent", text("error");
        /// The data of `errorEvent`.
        error_data: Option<Template> = "errorData", Some(Template(text(r#"{"code":"{code}","message":"{text}"}"#)));
    }
}

fn seconds(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN)
}

fn text(text: &'static str) -> Text {
    Text::Borrowed(text)
}

fn texts(list: &[&'static str]) -> Vec<Text> {
    list.iter().copied().map(text).collect()
}

fn handshake_versions() -> Vec<Text> {
    let all = ERAS.iter().rev().filter(|era| era.lifecycle == Lifecycle::Handshake);
    all.map(|era| text(era.version)).collect()
}

/// The methods of all requests that make sense without a session.
fn all_methods() -> Vec<Text> {
    let methods = [
        Method::Initialize,
        Method::ToolsList,
        Method::ToolsCall,
        Method::ResourcesList,
        Method::TemplatesList,
        Method::ResourcesRead,
        Method::PromptsList,
        Method::PromptsGet,
        Method::Complete,
    ];
    methods.into_iter().map(|method| text(method.name())).collect()
}
