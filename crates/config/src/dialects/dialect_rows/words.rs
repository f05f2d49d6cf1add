//! The choices in a row: the columns whose value is one of a few words. This module must not know which code uses them.

use serde_json::Value;

use super::cell::{Cell, CellKind, Choice, unfit};

macro_rules! words {
    ($($(#[$doc:meta])* $kind:ident { $($(#[doc = $about:literal])+ $variant:ident = $word:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $kind {
            $($(#[doc = $about])+ $variant,)*
        }

        impl $kind {
            const ALL: &'static [Self] = &[$(Self::$variant,)*];
            /// The words of a configuration with their meanings.
            pub const WORDS: &'static [Choice] =
                &[$(Choice { word: $word, about: concat!($($about),+).trim_ascii() },)*];

            fn of(value: &Value) -> Option<Self> {
                // YAML reads an unquoted null as its own null value.
                let word = if value.is_null() { "null" } else { value.as_str()? };
                Self::WORDS.iter().position(|choice| choice.word == word).map(|at| Self::ALL[at])
            }

            /// The word in a configuration.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl Cell for $kind {
            const KIND: CellKind = CellKind::Word(Self::WORDS);

            fn set(&mut self, value: &Value) -> Result<(), String> {
                *self = Self::of(value).ok_or_else(|| unfit(Self::KIND))?;
                Ok(())
            }

            fn show(&self) -> Value {
                Value::from(self.word())
            }
        }
    )*};
}

macro_rules! lists {
    ($($kind:ident: $how:ident,)*) => {$(
        impl Cell for Vec<$kind> {
            const KIND: CellKind = CellKind::$how($kind::WORDS);

            fn set(&mut self, value: &Value) -> Result<(), String> {
                let list = value.as_array().and_then(|list| list.iter().map($kind::of).collect());
                let list: Self = list.ok_or_else(|| unfit(Self::KIND))?;
                let once = |word: &$kind| list.iter().filter(|one| *one == word).count() == 1;
                if matches!(Self::KIND, CellKind::Order(_)) && !$kind::ALL.iter().all(once) {
                    return Err(unfit(Self::KIND));
                }
                *self = list;
                Ok(())
            }

            fn show(&self) -> Value {
                self.iter().map(Cell::show).collect()
            }
        }
    )*};
}

lists! { Check: Order, Needed: Words, SchemaPart: Words, Repair: Words, }

words! {
    /// The answer to the version that a client requests.
    VersionPolicy {
        /// Answer with the first version, whatever the client requests.
        Own = "own",
        /// Echo the requested version if it is listed, otherwise answer with the first one.
        Echo = "echo",
        /// Reject a version that is not listed.
        Refuse = "refuse",
    }

    /// A requirement for `initialize`.
    Needed {
        /// The protocol version, a string.
        ProtocolVersion = "protocolVersion",
        /// The object that contains the capabilities.
        Capabilities = "capabilities",
        /// The object that contains the information about the client.
        ClientInfo = "clientInfo",
        /// The client's name, a string.
        ClientName = "clientInfo.name",
        /// The client's version, a string.
        ClientVersion = "clientInfo.version",
    }

    /// Decides whether clients must send `initialize` first.
    Gate {
        /// Other requests may come first.
        Off = "off",
        /// `initialize` must come first in each session.
        Session = "session",
    }

    /// The sessions over HTTP.
    Sessions {
        /// No sessions.
        None = "none",
        /// The answer to `initialize` contains a session id, which later requests may carry.
        Issued = "issued",
    }

    /// A check of a message.
    Check {
        /// `jsonrpc` is "2.0".
        Version = "version",
        /// An id is present and has an accepted type.
        Id = "id",
        /// A method is present and is a string.
        Method = "method",
        /// `params` is absent or an object.
        Params = "params",
        /// The method is known.
        Known = "known",
        /// The session was initialized.
        Initialized = "initialized",
    }

    /// The id in an error about a malformed message.
    ErrorId {
        /// Null.
        Null = "null",
        /// The id of the message, if it can be read.
        Echo = "echo",
    }

    /// The accepted ids.
    Ids {
        /// Strings and numbers.
        Scalar = "scalar",
        /// Any value.
        Any = "any",
    }

    /// The meaning of a null id.
    NullId {
        /// No id: the message is a notification.
        Notification = "notification",
        /// An error.
        Invalid = "invalid",
        /// A normal id: the answer repeats it.
        Keep = "keep",
    }

    /// The handling of a message without an id.
    NoId {
        /// Acknowledge it without executing it.
        Acknowledge = "acknowledge",
        /// Acknowledge and execute it; nobody receives the result.
        Execute = "execute",
        /// Reject it as an invalid request.
        Refuse = "refuse",
        /// Answer it like any other request, with a null id.
        Answer = "answer",
    }

    /// The handling of an array of messages.
    Batches {
        /// Reject it as an invalid request.
        Refuse = "refuse",
        /// Answer each message.
        Each = "each",
    }

    /// The handling of `params` that is not an object.
    ParamsShape {
        /// Reject the message as an invalid request, but accept null as absent.
        Request = "request",
        /// Reject the message as an invalid request, even if `params` is null.
        Strict = "strict",
        /// Reject the message because of invalid params.
        Params = "params",
        /// Ignore the `params`.
        Ignore = "ignore",
    }

    /// A part of an input schema.
    SchemaPart {
        /// The object that contains the properties.
        Properties = "properties",
        /// The list of the names of required properties.
        Required = "required",
    }

    /// The notation for required properties in an input schema.
    RequiredStyle {
        /// A list of names, as in JSON Schema.
        Array = "array",
        /// `required: true` in each property.
        Boolean = "boolean",
    }

    /// The order of listed tools.
    ToolOrder {
        /// The order of servers in the profile, and each server's own order.
        Given = "given",
        /// By name.
        Name = "name",
    }

    /// The handling of a call without arguments.
    ArgumentsMissing {
        /// Add an empty object.
        Empty = "empty",
        /// Reject the call.
        Refuse = "refuse",
        /// Pass the call on: the server decides.
        Pass = "pass",
    }

    /// A correction of arguments, made before the arguments are checked.
    Repair {
        /// Convert strings to numbers and booleans, and numbers to strings, if the schema requires it.
        Coerce = "coerce",
        /// Limit numbers to their bounds, and truncate strings to their maximum length.
        Clamp = "clamp",
        /// Drop values that the schema does not list.
        DropForeign = "dropForeign",
        /// Drop arguments that the schema does not define.
        DropUnknown = "dropUnknown",
        /// Drop empty strings.
        DropEmpty = "dropEmpty",
    }

    /// The value of `isError` in a successful result.
    SuccessFlag {
        /// The member is absent.
        Absent = "absent",
        /// The value is false.
        False = "false",
        /// The server's own value.
        Keep = "keep",
    }

    /// The layout of JSON in a result's text.
    Output {
        /// As the tool wrote it.
        Raw = "raw",
        /// On one line.
        Compact = "compact",
        /// On several lines, with two spaces per level.
        Pretty = "pretty",
    }

    /// The form in which a failed call is reported.
    Channel {
        /// As a JSON-RPC error.
        Error = "error",
        /// As a result that describes the failure.
        Result = "result",
    }

    /// The answer to a GET request to the endpoint.
    GetAnswer {
        /// A refusal.
        Refuse = "refuse",
        /// Information about the server.
        Info = "info",
        /// An event stream.
        Events = "events",
    }

    /// The origins from which browsers may call (CORS).
    Origins {
        /// None.
        None = "none",
        /// The origins that the gateway allows.
        Allowed = "allowed",
        /// Any origin.
        Any = "any",
    }

    /// The answers that carry the state of a rate limit.
    RateHeaders {
        /// None.
        None = "none",
        /// Only refusals.
        Refused = "refused",
        /// All answers.
        All = "all",
    }

    /// The path of the event stream.
    Streams {
        /// No event stream.
        None = "none",
        /// A separate path, different from the path for POST.
        Beside = "beside",
        /// The path for POST.
        Same = "same",
    }

    /// The handling of a message for an unknown session.
    UnknownSession {
        /// Answer it in the body.
        Answer = "answer",
        /// Reject it.
        Refuse = "refuse",
    }
}

impl Check {
    /// All checks, in the usual order.
    pub const ORDER: [Self; 6] =
        [Self::Version, Self::Method, Self::Params, Self::Id, Self::Known, Self::Initialized];
}
