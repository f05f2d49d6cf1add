//! Parses a formula's text into a tree.

use super::value::{FormulaFault, FormulaFaultKind, Value};

/// A part of a formula.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    /// A number, a boolean or a text.
    Value(Value),
    /// The name of a constant.
    Name(String),
    /// A function's name and arguments.
    Call(String, Vec<Self>),
    /// A vector.
    Vector(Vec<Self>),
}

/// The deepest nesting of brackets.
const DEEPEST: usize = 64;

/// The tree of a formula.
///
/// # Errors
/// Fails if the text is not a formula.
pub(super) fn parse(text: &str) -> Result<Node, FormulaFault> {
    let mut parser = Parser { text, at: 0 };
    let node = parser.node(0)?;
    parser.blanks();
    match parser.peek() {
        None => Ok(node),
        Some(c) => {
            Err(parser.fault(format!("unexpected {c:?} after the formula"), "write one formula, in brackets"))
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(|c| c.is_whitespace() || c == ',') {
            self.take();
        }
    }

    fn fault(&self, message: impl std::fmt::Display, help: &'static str) -> FormulaFault {
        FormulaFault::new(FormulaFaultKind::Validation, format!("{message} (at byte {})", self.at), help)
    }

    fn node(&mut self, depth: usize) -> Result<Node, FormulaFault> {
        self.blanks();
        if depth > DEEPEST {
            return Err(self.fault(format!("more than {DEEPEST} brackets are open"), "calculate it in parts"));
        }
        match self.peek() {
            None => Err(self.fault("the formula ends too early", "close the open brackets, as in (+ 1 2)")),
            Some('(') => {
                self.take();
                self.blanks();
                let name = self.word();
                if name.is_empty() {
                    return Err(
                        self.fault("a function's name is missing", "write the function first: (+ 1 2)")
                    );
                }
                Ok(Node::Call(bare(&name), self.rest(')', depth)?))
            }
            Some('[') => {
                self.take();
                Ok(Node::Vector(self.rest(']', depth)?))
            }
            Some('"') => self.string(),
            Some(c @ (')' | ']')) => {
                Err(self.fault(format!("{c:?} has no matching opening bracket"), "remove it"))
            }
            Some(_) => self.atom(),
        }
    }

    /// Parses the nodes up to the closing bracket.
    fn rest(&mut self, close: char, depth: usize) -> Result<Vec<Node>, FormulaFault> {
        let mut nodes = Vec::new();
        loop {
            self.blanks();
            if self.peek() == Some(close) {
                self.take();
                return Ok(nodes);
            }
            nodes.push(self.node(depth + 1)?);
        }
    }

    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(c) = self.peek().filter(|c| !c.is_whitespace() && !",()[]\"".contains(*c)) {
            word.push(c);
            self.take();
        }
        word
    }

    fn string(&mut self) -> Result<Node, FormulaFault> {
        self.take();
        let mut text = String::new();
        loop {
            match self.take() {
                None => return Err(self.fault("a text has no closing quote", "close it with a quote")),
                Some('"') => return Ok(Node::Value(Value::Text(text))),
                Some('\\') => text.extend(self.take()),
                Some(c) => text.push(c),
            }
        }
    }

    fn atom(&mut self) -> Result<Node, FormulaFault> {
        let word = self.word();
        match word.as_str() {
            "true" => return Ok(Node::Value(Value::Flag(true))),
            "false" => return Ok(Node::Value(Value::Flag(false))),
            _ => {}
        }
        let unsigned = word.trim_start_matches(['-', '+']);
        if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return Ok(Node::Name(bare(&word)));
        }
        let digits = word.replace('_', "");
        if let Ok(number) = digits.parse::<i128>() {
            return Ok(Node::Value(Value::Int(number)));
        }
        match digits.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Node::Value(Value::Float(number))),
            _ => Err(self.fault(format!("{word:?} is not a number"), "write numbers as 12, -3.5 or 1e6")),
        }
    }
}

/// A name without its Clojure namespace.
fn bare(word: &str) -> String {
    word.strip_prefix("Math/").unwrap_or(word).to_owned()
}
