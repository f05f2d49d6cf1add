//! The families of clients, one row each. A family is a set of rules, and this module must not know how the rules are checked
//! or satisfied.

use config::SchemaForm;

/// The language in which a family writes schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// A message with a fixed set of fields; every node has one type.
    Fields,
    /// JSON Schema.
    JsonSchema,
}

/// The references that a family accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum References {
    /// References are refused: the schemas that they refer to are written in their place.
    None,
    /// References to a position inside the schema.
    Resolvable,
    /// All references, because the clients do not follow them.
    Any,
}

/// The positions at which a family accepts `anyOf`, `oneOf` and `allOf`, apart from the rules for the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Combinators {
    /// Everywhere.
    Allowed,
    /// Nowhere.
    Refused,
}

/// The requirements for schemas of lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ArrayRule {
    /// True if `items` is required.
    pub(super) needs_items: bool,
    /// True if `items` can be a list of schemas, as in older drafts.
    pub(super) allows_tuples: bool,
}

/// The names of arguments that a family accepts, at every level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ArgumentNames {
    /// The allowed characters besides letters, digits and `_`.
    pub(super) further: &'static str,
    /// True if a name must not start with a digit.
    pub(super) starts_with_letter: bool,
}

/// A family of clients, or of APIs behind them, that accept the same schemas.
#[derive(Debug, PartialEq, Eq)]
pub struct SchemaFamily {
    /// The family's name in the configuration.
    pub name: &'static str,
    /// The clients and APIs, for people.
    pub title: &'static str,
    /// The maximum length of a tool's name, in characters.
    pub longest_name: usize,
    /// True if a tool's name must start with a letter or `_`.
    pub name_starts_with_letter: bool,
    /// The characters that a tool's name may have besides letters, digits, `_` and `-`. Dragoman never forms names with these
    /// characters, because other clients refuse them.
    pub(super) further_name_chars: &'static str,
    pub(super) language: Language,
    pub(super) argument_names: Option<ArgumentNames>,
    pub(super) references: References,
    /// The keywords that the root must not have.
    pub(super) root_excludes: &'static [&'static str],
    /// True if the root must have `properties`.
    pub(super) needs_root_properties: bool,
    pub(super) arrays: ArrayRule,
    pub(super) combinators: Combinators,
    /// True if the description of a required argument states that the argument may be null, for clients that ignore `nullable`.
    pub(super) says_null: bool,
}

/// The maximum length of an argument's name, in characters, in families that limit it.
pub(super) const LONGEST_ARGUMENT: usize = 64;

const COMBINATORS: &[&str] = &["anyOf", "oneOf", "allOf"];
const ITEMS: ArrayRule = ArrayRule { needs_items: true, allows_tuples: false };

/// Fields as they are documented at <https://ai.google.dev/api/caching#Schema>.
const GEMINI: SchemaFamily = SchemaFamily {
    name: "gemini",
    title: "clients that send `parameters` to the Gemini API or Vertex AI",
    longest_name: 64,
    name_starts_with_letter: true,
    further_name_chars: ".:",
    language: Language::Fields,
    argument_names: Some(ArgumentNames { further: "", starts_with_letter: true }),
    references: References::None,
    root_excludes: COMBINATORS,
    needs_root_properties: false,
    arrays: ITEMS,
    combinators: Combinators::Allowed,
    says_null: false,
};

/// Functions without `strict`: <https://platform.openai.com/docs/guides/function-calling>.
const OPENAI: SchemaFamily = SchemaFamily {
    name: "openai",
    title: "the APIs of OpenAI and Azure OpenAI",
    longest_name: 64,
    name_starts_with_letter: false,
    further_name_chars: "",
    language: Language::JsonSchema,
    argument_names: None,
    references: References::Resolvable,
    root_excludes: &["oneOf", "anyOf", "allOf", "enum", "const", "not"],
    needs_root_properties: true,
    arrays: ITEMS,
    combinators: Combinators::Allowed,
    says_null: false,
};

/// Tools as they are documented at <https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools>.
const ANTHROPIC: SchemaFamily = SchemaFamily {
    name: "anthropic",
    title: "the Claude API, Claude Desktop and Claude Code",
    longest_name: 64,
    name_starts_with_letter: false,
    further_name_chars: "",
    language: Language::JsonSchema,
    argument_names: Some(ArgumentNames { further: ".-", starts_with_letter: false }),
    references: References::None,
    root_excludes: COMBINATORS,
    needs_root_properties: false,
    arrays: ArrayRule { needs_items: false, allows_tuples: false },
    combinators: Combinators::Allowed,
    says_null: false,
};

/// Copilot's chat, which checks schemas before it sends them: <https://code.visualstudio.com/docs/copilot/chat/chat-tools>.
const VSCODE: SchemaFamily = SchemaFamily {
    name: "vscode",
    title: "GitHub Copilot in VS Code",
    longest_name: 41,
    name_starts_with_letter: false,
    further_name_chars: "",
    language: Language::JsonSchema,
    argument_names: None,
    references: References::Any,
    root_excludes: &[],
    needs_root_properties: false,
    arrays: ArrayRule { needs_items: true, allows_tuples: true },
    combinators: Combinators::Allowed,
    says_null: false,
};

/// Cursor allows at most 60 characters for the names of the server and the tool together; 20 of these are reserved
/// for the server.
const CURSOR: SchemaFamily = SchemaFamily {
    name: "cursor",
    title: "Cursor",
    longest_name: 40,
    name_starts_with_letter: false,
    further_name_chars: "",
    language: Language::JsonSchema,
    argument_names: None,
    references: References::Any,
    root_excludes: COMBINATORS,
    needs_root_properties: false,
    arrays: ArrayRule { needs_items: true, allows_tuples: true },
    combinators: Combinators::Refused,
    says_null: false,
};

/// The form that all families accept, with one exception: a node of several types becomes an `anyOf`, because
/// Gemini supports neither lists of types nor nodes without a type, and Cursor refuses `anyOf`. No form suits both.
const PORTABLE: SchemaFamily = SchemaFamily {
    name: "portable",
    title: "all of these, except for alternatives in Cursor",
    longest_name: 40,
    further_name_chars: "",
    needs_root_properties: true,
    says_null: true,
    ..GEMINI
};

impl SchemaFamily {
    /// The families of clients.
    pub const ALL: [&'static Self; 5] = [&GEMINI, &OPENAI, &ANTHROPIC, &VSCODE, &CURSOR];

    /// The family whose form a profile asks for; `None` if schemas are shown as received.
    pub fn of(form: SchemaForm) -> Option<&'static Self> {
        match form {
            SchemaForm::AsReceived => None,
            SchemaForm::Gemini => Some(&GEMINI),
            SchemaForm::Openai => Some(&OPENAI),
            SchemaForm::Anthropic => Some(&ANTHROPIC),
            SchemaForm::Vscode => Some(&VSCODE),
            SchemaForm::Cursor => Some(&CURSOR),
            SchemaForm::Portable => Some(&PORTABLE),
        }
    }

    /// Returns true if a tool's name has only letters, digits, `_` and `-`, and starts with a character that this family allows.
    pub fn admits_name(&self, name: &str) -> bool {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let starts = |first: u8| first.is_ascii_alphabetic() || first == b'_';
        name.bytes().all(is_plain)
            && (!self.name_starts_with_letter || name.bytes().next().is_some_and(starts))
    }

    /// Returns true if `anyOf`, `oneOf` and `allOf` are refused everywhere.
    pub(super) fn excludes_combinators(&self) -> bool {
        self.combinators == Combinators::Refused
    }

    /// Returns true if an argument can have this name.
    pub(super) fn admits_argument(&self, name: &str) -> bool {
        let Some(rule) = self.argument_names else { return true };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || rule.further.contains(c);
        let starts = |first: char| !rule.starts_with_letter || first.is_ascii_alphabetic() || first == '_';
        name.len() <= LONGEST_ARGUMENT
            && name.chars().all(is_plain)
            && name.chars().next().is_some_and(starts)
    }
}
