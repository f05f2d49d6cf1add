//! Values of formulas, and the errors that formulas can have.

use std::borrow::Cow;

use serde_json::json;

/// A value in a formula.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// A whole number, exact.
    Int(i128),
    /// A finite double-precision number.
    Float(f64),
    /// A boolean.
    Flag(bool),
    /// A text.
    Text(String),
    /// A vector of values.
    Vector(Vec<Self>),
}

/// The kinds of faults, as the answer's `type` names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FormulaFaultKind {
    /// The text is not a formula, or misuses a function.
    Validation,
    /// The text could not be decoded.
    Decode,
    /// The formula takes too much work.
    Timeout,
    /// The computation has no result for these numbers.
    Arithmetic,
}

impl FormulaFaultKind {
    fn word(self) -> &'static str {
        match self {
            Self::Validation => "validation",
            Self::Decode => "decode",
            Self::Timeout => "timeout",
            Self::Arithmetic => "arithmetic",
        }
    }
}

/// A fault of a formula: its kind, a message and a suggestion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FormulaFault {
    pub(super) kind: FormulaFaultKind,
    pub(super) message: Cow<'static, str>,
    pub(super) suggestion: Cow<'static, str>,
}

/// The outcome of a function.
pub(super) type FormulaResult = Result<Value, FormulaFault>;

impl FormulaFault {
    pub(super) fn new(
        kind: FormulaFaultKind,
        message: impl Into<Cow<'static, str>>,
        suggestion: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { kind, message: message.into(), suggestion: suggestion.into() }
    }

    /// A fault in the arithmetic of a formula.
    pub(super) fn arithmetic(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(FormulaFaultKind::Arithmetic, message, "check the numbers that go into this function")
    }

    /// The fault of a value of the wrong type; `what` describes the expected value.
    pub(super) fn wanted(what: &'static str) -> Self {
        Self::new(
            FormulaFaultKind::Validation,
            format!("expected {what}"),
            "check the order and the types of the arguments",
        )
    }

    /// The fault as JSON text.
    pub(super) fn json(&self) -> String {
        json!({"error": self.message, "type": self.kind.word(), "suggestion": self.suggestion}).to_string()
    }
}

impl Value {
    /// A double-precision number.
    ///
    /// # Errors
    /// Fails if the value is infinite or not a number.
    pub(super) fn float(number: f64) -> FormulaResult {
        if number.is_finite() {
            return Ok(Self::Float(number));
        }
        Err(FormulaFault::arithmetic("the result is not a finite number"))
    }

    /// The value as a number.
    ///
    /// # Errors
    /// Fails if the value is not a number.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a formula that mixes integers and floats uses double precision"
    )]
    pub(super) fn number(&self) -> Result<f64, FormulaFault> {
        match self {
            Self::Int(number) => Ok(*number as f64),
            Self::Float(number) => Ok(*number),
            _ => Err(FormulaFault::wanted("a number")),
        }
    }

    /// The value as a whole number.
    ///
    /// # Errors
    /// Fails if the value is not a whole number.
    #[expect(clippy::cast_possible_truncation, reason = "the number is whole, and within 2^53")]
    pub(super) fn whole(&self) -> Result<i128, FormulaFault> {
        match self {
            Self::Int(number) => Ok(*number),
            Self::Float(number) if number.fract() == 0.0 && number.abs() < 9.0e15 => Ok(*number as i128),
            _ => Err(FormulaFault::wanted("a whole number")),
        }
    }

    /// The values of a vector.
    ///
    /// # Errors
    /// Fails if the value is not a vector.
    pub(super) fn vector(&self) -> Result<&[Self], FormulaFault> {
        match self {
            Self::Vector(values) => Ok(values),
            _ => Err(FormulaFault::wanted("a vector such as [1 2 3]")),
        }
    }

    /// The numbers of a vector.
    ///
    /// # Errors
    /// Fails if the value is not a vector, or contains anything but numbers.
    pub(super) fn numbers(&self) -> Result<Vec<f64>, FormulaFault> {
        self.vector()?.iter().map(Self::number).collect()
    }

    /// The number of values: this value, and the values that it contains at any depth.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Vector(values) => 1 + values.iter().map(Self::size).sum::<usize>(),
            _ => 1,
        }
    }

    fn type_name(&self) -> &'static str {
        match self {
            Self::Int(_) => "integer",
            Self::Float(_) => "number",
            Self::Flag(_) => "boolean",
            Self::Text(_) => "string",
            Self::Vector(_) => "vector",
        }
    }

    /// The value and its type as JSON text.
    pub(super) fn json(&self) -> String {
        format!("{{\"value\":{},\"type\":\"{}\"}}", self.written(), self.type_name())
    }

    /// The value as JSON text; whole numbers keep all their digits.
    fn written(&self) -> String {
        match self {
            Self::Int(number) => number.to_string(),
            Self::Float(number) => json!(number).to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Text(text) => json!(text).to_string(),
            Self::Vector(values) => {
                format!("[{}]", values.iter().map(Self::written).collect::<Vec<_>>().join(","))
            }
        }
    }
}
