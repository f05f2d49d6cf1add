//! An argument of a tool as a row: its allowed values, its default, and the destination of its value.
//!
//! The functions are shorthands for rows, all `const`.

use serde_json::Value;

/// One argument of a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolArgument {
    /// The argument's name.
    pub(crate) name: &'static str,
    /// The type of the argument's values.
    pub(crate) kind: ArgumentType,
    /// The argument's description for people and models; the default and limits are appended.
    pub(crate) about: &'static str,
    /// True if calls without this argument are refused.
    pub(crate) required: bool,
    /// The value that applies when the argument is omitted.
    pub(crate) default: Option<Literal>,
    /// The lower limit: smaller amounts are raised to it, and smaller identifiers are refused.
    pub(crate) least: Option<i64>,
    /// The upper limit: larger numbers are reduced to it.
    pub(crate) most: Option<i64>,
    /// The only allowed values; empty if any value is allowed.
    pub(crate) words: &'static [&'static str],
    /// The only allowed members of the object, or of each object of a list; empty if any member is allowed.
    pub(crate) members: &'static [&'static str],
    /// True if every step that takes the call's arguments sends this argument, too.
    pub(crate) sent: bool,
    /// The argument's name in the request; `None` if that is the same as `name`.
    pub(crate) called: Option<&'static str>,
    /// The form of the value in the request.
    pub(crate) form: Form,
}

/// The types of arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgumentType {
    /// A text; the lenient policy removes its markup.
    Text,
    /// Text that must not be changed: passwords, files.
    Raw,
    /// Text with markup.
    Html,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// The ID of a user, or `me`.
    User,
    /// True or false.
    Flag,
    /// A list of texts.
    Texts,
    /// A list of whole numbers.
    Integers,
    /// An object.
    Object,
    /// A list of objects.
    Objects,
    /// Any value.
    Any,
}

/// A constant value in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Literal {
    /// Text.
    Text(&'static str),
    /// A whole number.
    Int(i64),
    /// True or false.
    Flag(bool),
}

impl Literal {
    /// The value as JSON.
    pub(crate) fn value(self) -> Value {
        match self {
            Self::Text(text) => Value::from(text),
            Self::Int(number) => Value::from(number),
            Self::Flag(flag) => Value::from(flag),
        }
    }
}

/// The forms of a value in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The value is sent unchanged.
    Plain,
    /// A comma-separated text is sent as a list.
    Commas,
    /// True is sent as 1, and false as 0.
    Bit,
    /// A single value is sent as a list with one element.
    Single,
    /// The value is omitted if it is this word.
    Unless(&'static str),
    /// Zero is sent as false, any other number unchanged.
    NumberOrFalse,
    /// Each member of an object is sent separately, under the member's own name.
    Spread,
    /// Like `Spread`, for fields of an item: the answer of the service contains each field that it has stored.
    Fields,
    /// The first word of each pair is replaced with the second.
    Words(&'static [(&'static str, &'static str)]),
}

impl Form {
    /// Returns true if each member of an object is sent separately.
    pub(crate) fn spreads(self) -> bool {
        matches!(self, Self::Spread | Self::Fields)
    }
}

const fn argument(name: &'static str, kind: ArgumentType, about: &'static str) -> ToolArgument {
    ToolArgument {
        name,
        kind,
        about,
        required: false,
        default: None,
        least: None,
        most: None,
        words: &[],
        members: &[],
        sent: true,
        called: None,
        form: Form::Plain,
    }
}

/// An argument that takes a text.
pub(crate) const fn text(name: &'static str, about: &'static str) -> ToolArgument {
    argument(name, ArgumentType::Text, about)
}

/// An argument that takes a text that must not be changed.
pub(crate) const fn raw(name: &'static str, about: &'static str) -> ToolArgument {
    argument(name, ArgumentType::Raw, about)
}

/// An argument that takes a text with markup.
pub(crate) const fn html(name: &'static str, about: &'static str) -> ToolArgument {
    argument(name, ArgumentType::Html, about)
}

/// An argument that takes a whole number.
pub(crate) const fn int(name: &'static str, about: &'static str) -> ToolArgument {
    argument(name, ArgumentType::Integer, about)
}

/// An argument that takes a number.
pub(crate) const fn number(name: &'static str, about: &'static str) -> ToolArgument {
    argument(name, ArgumentType::Number, about)
}

/// An argument that takes the ID of a user, or `me`.
pub(crate) const fn user(name: &'static str, about: &'static str) -> ToolArgument {
    argument(name, ArgumentType::User, about)
}

/// An argument that takes true or false.
pub(crate) const fn flag(name: &'static str, about: &'static str) -> ToolArgument {
    argument(name, ArgumentType::Flag, about)
}

/// An argument that takes a list of texts.
pub(crate) const fn list(name: &'static str, about: &'static str) -> ToolArgument {
    argument(name, ArgumentType::Texts, about)
}

/// An argument that takes a list of whole numbers.
pub(crate) const fn integers(name: &'static str, about: &'static str) -> ToolArgument {
    argument(name, ArgumentType::Integers, about)
}

/// An argument that takes an object.
pub(crate) const fn object(name: &'static str, about: &'static str) -> ToolArgument {
    argument(name, ArgumentType::Object, about)
}

/// An argument that takes a list of objects.
pub(crate) const fn objects(name: &'static str, about: &'static str) -> ToolArgument {
    argument(name, ArgumentType::Objects, about)
}

/// An argument that takes any value.
pub(crate) const fn any(name: &'static str, about: &'static str) -> ToolArgument {
    argument(name, ArgumentType::Any, about)
}

impl ToolArgument {
    /// Returns true if the number is an identifier rather than an amount: it has no default and no upper limit.
    pub(crate) fn names_something(&self) -> bool {
        self.kind == ArgumentType::Integer && self.default.is_none() && self.most.is_none()
    }

    /// Makes the argument required.
    pub(crate) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Replaces the argument's description.
    pub(crate) const fn saying(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    /// Sets the value that applies if the argument is omitted.
    pub(crate) const fn or(mut self, default: Literal) -> Self {
        self.default = Some(default);
        self
    }

    /// Sets the number that applies if the argument is omitted.
    pub(crate) const fn or_int(self, default: i64) -> Self {
        self.or(Literal::Int(default))
    }

    /// Sets the text that applies if the argument is omitted.
    pub(crate) const fn or_text(self, default: &'static str) -> Self {
        self.or(Literal::Text(default))
    }

    /// Sets the flag that applies if the argument is omitted.
    pub(crate) const fn or_flag(self, default: bool) -> Self {
        self.or(Literal::Flag(default))
    }

    /// Sets the lower limit: smaller amounts are raised to it, and smaller identifiers are refused.
    pub(crate) const fn least(mut self, least: i64) -> Self {
        self.least = Some(least);
        self
    }

    /// Sets the upper limit: larger numbers are reduced to it.
    pub(crate) const fn most(mut self, most: i64) -> Self {
        self.most = Some(most);
        self
    }

    /// Sets the only allowed values.
    pub(crate) const fn among(mut self, words: &'static [&'static str]) -> Self {
        self.words = words;
        self
    }

    /// Sets the only allowed members of the object, or of each object of a list.
    pub(crate) const fn having(mut self, members: &'static [&'static str]) -> Self {
        self.members = members;
        self
    }

    /// Excludes the argument from the arguments that steps send by default.
    pub(crate) const fn kept(mut self) -> Self {
        self.sent = false;
        self
    }

    /// Sets the argument's name in the request.
    pub(crate) const fn called(mut self, name: &'static str) -> Self {
        self.called = Some(name);
        self
    }

    /// Sets the value's form in the request.
    pub(crate) const fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }
}
