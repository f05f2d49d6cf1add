//! The choices of a row: each column that is one of a few words. It must not know what acts on them.

use serde_json::Value;

use super::cell::{Cell, Choice, Kind, unfit};

macro_rules! words {
    ($($(#[$doc:meta])* $kind:ident { $($(#[doc = $about:literal])+ $variant:ident = $word:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $kind {
            $($(#[doc = $about])+ $variant,)*
        }

        impl $kind {
            const ALL: &'static [Self] = &[$(Self::$variant,)*];
            /// The words of a configuration, each with what it means.
            pub const WORDS: &'static [Choice] =
                &[$(Choice { word: $word, about: concat!($($about),+).trim_ascii() },)*];

            fn of(value: &Value) -> Option<Self> {
                // YAML has an unquoted null for its own.
                let word = if value.is_null() { "null" } else { value.as_str()? };
                Self::WORDS.iter().position(|choice| choice.word == word).map(|at| Self::ALL[at])
            }

            /// The word for it in a configuration.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl Cell for $kind {
            const KIND: Kind = Kind::Word(Self::WORDS);

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
            const KIND: Kind = Kind::$how($kind::WORDS);

            fn set(&mut self, value: &Value) -> Result<(), String> {
                let list = value.as_array().and_then(|list| list.iter().map($kind::of).collect());
                let list: Self = list.ok_or_else(|| unfit(Self::KIND))?;
                let once = |word: &$kind| list.iter().filter(|one| *one == word).count() == 1;
                if matches!(Self::KIND, Kind::Order(_)) && !$kind::ALL.iter().all(once) {
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

lists! { Check: Order, Needed: Words, SchemaPart: Words, Mend: Words, }

words! {
    /// What is done about the version that a client asks for.
    VersionPolicy {
        /// Ours is answered, whatever was asked for.
        Own = "own",
        /// One of ours is echoed, else our first is answered.
        Echo = "echo",
        /// What is none of ours is refused.
        Refuse = "refuse",
    }

    /// What `initialize` needs.
    Needed {
        /// A version, a string.
        ProtocolVersion = "protocolVersion",
        /// Capabilities, an object.
        Capabilities = "capabilities",
        /// Who asks, an object.
        ClientInfo = "clientInfo",
        /// The client's name, a string.
        ClientName = "clientInfo.name",
        /// The client's version, a string.
        ClientVersion = "clientInfo.version",
    }

    /// True if `initialize` has to come first.
    Gate {
        /// It need not.
        Off = "off",
        /// It has to, in each session.
        Session = "session",
    }

    /// True if `initialize` over HTTP opens a session.
    Sessions {
        /// There are none.
        None = "none",
        /// Its answer names one; a request may name it.
        Issued = "issued",
    }

    /// A check of a message.
    Check {
        /// `jsonrpc` is "2.0".
        Version = "version",
        /// There is an id, of a kind that is taken.
        Id = "id",
        /// There is a method, a string.
        Method = "method",
        /// `params` is an object, where there is one.
        Params = "params",
        /// The method is one that is known.
        Known = "known",
        /// The session was begun.
        Initialized = "initialized",
    }

    /// Which id an error about a malformed message has.
    ErrorId {
        /// None.
        Null = "null",
        /// That of the message, where it can be read.
        Echo = "echo",
    }

    /// What may be an id.
    Ids {
        /// A string or a number.
        Scalar = "scalar",
        /// Anything.
        Any = "any",
    }

    /// What an id is that is null.
    NullId {
        /// None: the message is a notification.
        Notification = "notification",
        /// A fault.
        Invalid = "invalid",
        /// An id: the answer has it, too.
        Keep = "keep",
    }

    /// What is done with a message without an id.
    NoId {
        /// It is acknowledged and not executed.
        Acknowledge = "acknowledge",
        /// It is acknowledged and executed; nobody gets the result.
        Execute = "execute",
        /// It is no request.
        Refuse = "refuse",
        /// It is answered as any other, with a null id.
        Answer = "answer",
    }

    /// What is done with an array of messages.
    Batches {
        /// It is no request.
        Refuse = "refuse",
        /// Each message is answered.
        Each = "each",
    }

    /// What `params` are that are no object.
    ParamsShape {
        /// No request; null is none.
        Request = "request",
        /// No request, and null is neither.
        Strict = "strict",
        /// Invalid params.
        Params = "params",
        /// None.
        Ignore = "ignore",
    }

    /// A part of an input schema.
    SchemaPart {
        /// The properties, an object.
        Properties = "properties",
        /// The names of the required ones, a list.
        Required = "required",
    }

    /// How an input schema says what is required.
    RequiredStyle {
        /// By a list of names, as JSON Schema has it.
        Array = "array",
        /// By `required: true` in each property.
        Boolean = "boolean",
    }

    /// In which order tools are listed.
    ToolOrder {
        /// Servers as the profile has them, each server's tools as it lists them.
        Given = "given",
        /// By name.
        Name = "name",
    }

    /// What a call without arguments is.
    ArgumentsMissing {
        /// One with an empty object.
        Empty = "empty",
        /// A fault.
        Refuse = "refuse",
        /// As it is: the server decides.
        Pass = "pass",
    }

    /// What is done to arguments before they are checked.
    Mend {
        /// Texts for numbers and booleans are read as such, numbers for texts written out.
        Coerce = "coerce",
        /// Numbers outside of their bounds get the nearest, texts are cut to their longest.
        Clamp = "clamp",
        /// What is none of the listed values is left out.
        DropForeign = "dropForeign",
        /// What the schema does not name is left out.
        DropUnknown = "dropUnknown",
        /// Empty texts are left out.
        DropEmpty = "dropEmpty",
    }

    /// What a call that succeeds says about `isError`.
    SuccessFlag {
        /// Nothing.
        Absent = "absent",
        /// That it is false.
        False = "false",
        /// What its server said.
        Keep = "keep",
    }

    /// How JSON in the text of a result is written.
    Output {
        /// As the tool wrote it.
        Raw = "raw",
        /// In one line.
        Compact = "compact",
        /// In lines, two spaces a level.
        Pretty = "pretty",
    }

    /// How trouble with a call is told.
    Channel {
        /// By a JSON-RPC error.
        Error = "error",
        /// By a result that says what went wrong.
        Result = "result",
    }

    /// What a GET of the endpoint gives.
    GetAnswer {
        /// A refusal.
        Refuse = "refuse",
        /// Information about the server.
        Info = "info",
        /// A stream of events.
        Events = "events",
    }

    /// Which origins the answers name to browsers.
    Origins {
        /// None.
        None = "none",
        /// Those that the gateway lets in.
        Allowed = "allowed",
        /// All.
        Any = "any",
    }

    /// Which answers tell a rate limit.
    RateHeaders {
        /// None.
        None = "none",
        /// Those that refuse.
        Refused = "refused",
        /// All.
        All = "all",
    }

    /// Where a stream of events is.
    Streams {
        /// Nowhere.
        None = "none",
        /// At a path of its own, beside the one that is posted to.
        Beside = "beside",
        /// At the path that is posted to.
        Same = "same",
    }

    /// What is done with a message for a session that is not there.
    UnknownSession {
        /// It is answered in the body.
        Answer = "answer",
        /// It is refused.
        Refuse = "refuse",
    }
}

impl Check {
    /// All checks, in the usual order.
    pub const ORDER: [Self; 6] =
        [Self::Version, Self::Method, Self::Params, Self::Id, Self::Known, Self::Initialized];
}
