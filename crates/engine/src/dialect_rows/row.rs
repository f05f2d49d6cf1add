//! The columns of a dialect: every point in which systems that speak MCP disagree, with its name in a configuration and
//! the value of a row that says nothing of its own.
//!
//! It must not know what acts on a column.

use std::num::NonZeroU32;

use proto::era::{ERAS, Era, Lifecycle, newest_handshake};
use proto::mcp::Method;
use proto::rpc::code;
use serde_json::Value;

use super::cell::{Cell, Kind, Object, Text};
use super::say::{Say, Template};
use super::words::{
    ArgumentsMissing, Batches, Check, ErrorId, Gate, GetAnswer, Ids, Mend, Needed, NoId, NullId, Origins,
    Output, ParamsShape, RateHeaders, RequiredStyle, SchemaPart, Sessions, Streams, SuccessFlag, ToolOrder,
    UnknownSession, VersionPolicy,
};

/// One column, for configurations, schemas and documentation.
#[derive(Debug)]
pub struct Column {
    /// Its key in a configuration.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// What it holds.
    pub kind: Kind,
    pub(crate) set: fn(&mut Dialect, &Value) -> Result<(), String>,
    pub(crate) show: fn(&Dialect) -> Value,
}

/// A named set of changes to a row: what its system does in another version, or by another page about it.
#[derive(Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name.
    pub name: &'static str,
    /// Where it is from.
    pub about: &'static str,
    /// Columns and their values, JSON.
    pub changes: &'static [(&'static str, &'static str)],
}

macro_rules! columns {
    ($(#[doc = $about:literal] $group:ident: $kind:ident {
        $(#[doc = $doc:literal] $field:ident: $type:ty = $name:literal, $default:expr;)*
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

        /// How an endpoint behaves where systems disagree.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Dialect {
            /// Its name.
            pub name: Text,
            /// What it is, in a sentence.
            pub about: Text,
            /// What may be set at once.
            pub variants: &'static [Variant],
            /// What `auth` has for its callers where its system asks each who they are; a configuration that asks nobody is
            /// told of it. None where they come as they are, or where a token is up to whoever runs it.
            pub credentials: Option<&'static str>,
            /// True if messages are read by this row; else the endpoint does what the protocol says.
            pub interpreted: bool,
            /// The protocol version in which the gateway itself serves the endpoint, behind the dialect.
            pub era: &'static Era,
            $(#[doc = $about] pub $group: $kind,)*
        }

        impl Dialect {
            /// A row that says nothing of its own.
            pub(crate) fn plain() -> Self {
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
                    about: "Whether messages are read by this row; else the endpoint does what the protocol says.",
                    kind: <bool as Cell>::KIND,
                    set: |row, value| row.interpreted.set(value),
                    show: |row| row.interpreted.show(),
                },
                Column {
                    name: "era",
                    about: "The protocol version in which the gateway itself serves the endpoint, behind the dialect.",
                    kind: <&'static Era as Cell>::KIND,
                    set: |row, value| row.era.set(value),
                    show: |row| row.era.show(),
                },
                $($(Column {
                    name: $name,
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
    /// How peers meet.
    hello: Hello {
        /// The versions that `initialize` answers with, the usual one first.
        versions: Vec<Text> = "versions", handshake_versions();
        /// What is done about the version that a client asks for.
        version_policy: VersionPolicy = "versionPolicy", VersionPolicy::Echo;
        /// True if clients that ask for a published version which is none of ours are served as the protocol says.
        standard_clients: bool = "standardClients", false;
        /// What the params of `initialize` must have.
        initialize_requires: Vec<Needed> = "initializeRequires", vec![];
        /// True if `initialize` fails when none of the servers is there.
        initialize_needs_servers: bool = "initializeNeedsServers", false;
        /// The name in `serverInfo`.
        server_name: Text = "serverName", text("dragoman");
        /// The version in `serverInfo`.
        server_version: Text = "serverVersion", text(env!("CARGO_PKG_VERSION"));
        /// The capabilities; null for those of the servers.
        capabilities: Option<Object> = "capabilities", None;
        /// True if `initialize` hands on the servers' instructions.
        instructions: bool = "instructions", true;
        /// True if `initialize` has to come first.
        gate: Gate = "initializeGate", Gate::Off;
        /// True if `initialize` over HTTP opens a session.
        sessions: Sessions = "sessions", Sessions::None;
    }

    /// What is a message, and what is done with one that is none.
    reading: Grammar {
        /// The order of the checks of a message.
        checks: Vec<Check> = "checks", Check::ORDER.to_vec();
        /// True if a message without `jsonrpc` is taken.
        jsonrpc_optional: bool = "jsonrpcOptional", false;
        /// The id of the error about a wrong `jsonrpc`.
        version_error_id: ErrorId = "versionErrorId", ErrorId::Echo;
        /// The id of other errors about malformed messages.
        structure_error_id: ErrorId = "structureErrorId", ErrorId::Echo;
        /// What may be an id.
        ids: Ids = "ids", Ids::Scalar;
        /// What a null id is.
        null_id: NullId = "nullId", NullId::Invalid;
        /// What is done with a message without an id.
        no_id: NoId = "noId", NoId::Execute;
        /// The HTTP status that acknowledges a message.
        ack_status: u16 = "ackStatus", 202;
        /// The body that acknowledges a message; often empty.
        ack_body: Text = "ackBody", text("");
        /// What is done with an array of messages.
        batches: Batches = "batches", Batches::Refuse;
        /// What `params` are that are no object.
        params_shape: ParamsShape = "paramsShape", ParamsShape::Request;
    }

    /// Which methods there are, and how tools are listed.
    lists: Lists {
        /// The methods that are known.
        methods: Vec<Text> = "methods", all_methods();
        /// Methods that are answered with an empty result.
        empty_methods: Vec<Text> = "emptyMethods", vec![text(Method::Ping.name())];
        /// True if a method that is not known is tried at the servers.
        forward_unknown: bool = "forwardUnknown", true;
        /// The members of a listed tool; null for all that its server gives.
        tool_members: Option<Vec<Text>> = "toolMembers", None;
        /// True if a listed tool always has a description, if an empty one.
        description_always: bool = "descriptionAlways", false;
        /// What an input schema always has, if empty.
        schema_always: Vec<SchemaPart> = "schemaAlways", vec![];
        /// What an input schema has only where it is not empty.
        schema_unless_empty: Vec<SchemaPart> = "schemaUnlessEmpty", vec![];
        /// What a property of an input schema does not have here, whatever its server gives.
        property_drops: Vec<Text> = "propertyDrops", vec![];
        /// How an input schema says what is required.
        required_style: RequiredStyle = "requiredStyle", RequiredStyle::Array;
        /// The order of the listed tools.
        tool_order: ToolOrder = "toolOrder", ToolOrder::Given;
        /// True if long lists come in pages.
        pages: bool = "pages", true;
    }

    /// What is done with arguments and results.
    calls: Calls {
        /// What a call without arguments is.
        arguments_missing: ArgumentsMissing = "argumentsMissing", ArgumentsMissing::Pass;
        /// True if arguments are checked against the input schema here; else the server decides.
        check_arguments: bool = "checkArguments", true;
        /// What is done to arguments before.
        mend_arguments: Vec<Mend> = "mendArguments", vec![];
        /// Values of arguments that a call leaves out, for tools that have them.
        argument_defaults: Option<Object> = "argumentDefaults", None;
        /// The greatest values of arguments, for tools that have them.
        argument_caps: Option<Object> = "argumentCaps", None;
        /// The members of a call's result; null for all that its server gives.
        result_members: Option<Vec<Text>> = "resultMembers", None;
        /// What a call that succeeds says about `isError`.
        success_flag: SuccessFlag = "successFlag", SuccessFlag::Keep;
        /// True if a result that tells of a failure has `isError`.
        failure_flag: bool = "failureFlag", true;
        /// What the text of a failed tool begins with.
        failure_prefix: Text = "failurePrefix", text("");
        /// How JSON in the text of a result is written.
        output: Output = "output", Output::Raw;
    }

    /// How each kind of trouble is told.
    errors: Errors {
        /// True if errors tell more than their kind.
        detail: bool = "detail", true;
        /// True if errors tell where in the program they happened.
        debug: bool = "debug", false;
        /// The message is not JSON.
        parse_error: Say = "parseError", Say::new(code::PARSE_ERROR, "Parse error: {detail}");
        /// The message is no request.
        invalid_request: Say = "invalidRequest", Say::new(code::INVALID_REQUEST, "Invalid Request: {detail}");
        /// The method is not known.
        unknown_method: Say = "unknownMethod", Say::new(code::METHOD_NOT_FOUND, "Method not found: {name}");
        /// The params do not fit the method.
        invalid_params: Say = "invalidParams", Say::new(code::INVALID_PARAMS, "Invalid params: {detail}");
        /// A call names no tool.
        missing_tool_name: Say = "missingToolName", Say::new(code::INVALID_PARAMS, "Invalid params: missing tool name");
        /// No tool has this name.
        unknown_tool: Say = "unknownTool", Say::new(code::INVALID_PARAMS, "Tool not found: {name}");
        /// The arguments do not fit the tool.
        invalid_arguments: Say = "invalidArguments", Say::new(code::INVALID_PARAMS, "Invalid params: {detail}");
        /// The tool ran and failed.
        tool_failed: Say = "toolFailed", Say::new(code::REFUSED, "Tool execution failed: {message}").by_result();
        /// A server answered with an error of its own.
        upstream_error: Say = "upstreamError", Say::new(code::INTERNAL_ERROR, "{message}").data(r#""{originalData}""#);
        /// A server cannot be reached.
        upstream_down: Say = "upstreamDown", Say::new(code::INTERNAL_ERROR, "{message}").data(r#"{"server":"{server}"}"#);
        /// A server wants a user's consent first.
        consent_needed: Say = "consentNeeded", Say::new(code::INTERNAL_ERROR, "Consent needed: {url}").data(r#"{"server":"{server}","url":"{url}"}"#);
        /// No resource has this URI.
        unknown_resource: Say = "unknownResource", Say::new(code::RESOURCE_NOT_FOUND, "Resource not found: {name}").data(r#"{"uri":"{name}"}"#);
        /// No prompt has this name.
        unknown_prompt: Say = "unknownPrompt", Say::new(code::INVALID_PARAMS, "Prompt not found: {name}");
        /// No profile has this name.
        unknown_profile: Say = "unknownProfile", Say::new(code::INVALID_PARAMS, "Profile not found: {name}").status(404);
        /// Nobody said who asks.
        no_credentials: Say = "noCredentials", Say::new(code::REFUSED, "Authentication required").status(401);
        /// What was said of who asks is not true.
        bad_credentials: Say = "badCredentials", Say::new(code::REFUSED, "Authentication failed").status(401);
        /// Whoever asks may not.
        forbidden: Say = "forbidden", Say::new(code::REFUSED, "Forbidden: {message}").status(403);
        /// Whoever knows the credential cannot be asked now.
        auth_unavailable: Say = "authUnavailable", Say::new(code::INTERNAL_ERROR, "Credentials cannot be checked now").status(503);
        /// Too many requests.
        rate_limited: Say = "rateLimited", Say::new(code::REFUSED, "Rate limit exceeded").status(429);
        /// The session was not begun.
        not_initialized: Say = "notInitialized", Say::new(code::INVALID_REQUEST, "Server not initialized");
        /// What the tools stand on is not there.
        platform_missing: Say = "platformMissing", Say::new(code::INTERNAL_ERROR, "{message}");
        /// Anything else.
        internal: Say = "internal", Say::new(code::INTERNAL_ERROR, "Internal error: {message}");
    }

    /// What HTTP shows beside the answers to messages.
    web: Web {
        /// What a GET of the endpoint gives.
        get: GetAnswer = "get", GetAnswer::Refuse;
        /// The information that a GET gives.
        info: Option<Template> = "info", None;
        /// The HTTP status for methods that are not served.
        other_status: u16 = "otherStatus", 405;
        /// The body for methods that are not served.
        other_body: Option<Template> = "otherBody", None;
        /// Which origins answers name to browsers.
        cors_origins: Origins = "corsOrigins", Origins::Allowed;
        /// The HTTP methods that browsers may use.
        cors_methods: Vec<Text> = "corsMethods", texts(&["POST", "OPTIONS"]);
        /// The headers that browsers may send.
        cors_headers: Vec<Text> = "corsHeaders", texts(&["Content-Type", "Authorization"]);
        /// The headers that browsers may read.
        cors_exposed: Vec<Text> = "corsExposed", vec![];
        /// True if browsers may send credentials.
        cors_credentials: bool = "corsCredentials", false;
        /// For how many seconds browsers may keep that.
        cors_max_age: u32 = "corsMaxAge", 86_400;
        /// Which answers tell a rate limit.
        rate_headers: RateHeaders = "rateHeaders", RateHeaders::All;
    }

    /// A stream of events.
    events: Events {
        /// Where a stream of events is.
        streams: Streams = "streams", Streams::None;
        /// The path to post to, where it is not that of the stream: beside `/sse`, else beneath the path of the stream.
        message_path: Text = "messagePath", text("/message");
        /// The data of the first event.
        endpoint_data: Text = "endpointData", text("{path}?session_id={session}");
        /// The query parameter that names the session.
        session_parameter: Text = "sessionParameter", text("session_id");
        /// True if the body of a POST carries the answer even when a stream does.
        answer_in_body: bool = "answerInBody", false;
        /// A comment that a stream begins with; often empty.
        opening_comment: Text = "openingComment", text("");
        /// The event that keeps a stream open; null for a comment.
        ping_event: Option<Text> = "pingEvent", None;
        /// After how many seconds without another event it is sent.
        ping_seconds: NonZeroU32 = "pingSeconds", seconds(30);
        /// After how many seconds without a message a stream's session ends; 0 for never.
        session_seconds: u32 = "sessionSeconds", 1800;
        /// What is done with a message for a session that is not there.
        unknown_session: UnknownSession = "unknownSession", UnknownSession::Refuse;
        /// The event that tells of a fault of the stream itself.
        error_event: Text = "errorEvent", text("error");
        /// Its data.
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

/// The requests that make sense without a session.
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
