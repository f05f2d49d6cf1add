//! The questions that a client can be asked, as bits. Servers may offer more features to clients that can be asked,
//! and may question a client before they act.

use super::declares_question;
use crate::era::Era;
use crate::mcp::Method;

/// The class of a client: the questions that it can be asked. A server whose links are shared between clients
/// learns nothing else about the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Askable(u8);

/// The bits, each with its question. The question is given by its method, and by params that distinguish it from
/// other questions of that method.
const BITS: [(u8, Method, &str); 5] = [
    (1, Method::RootsList, "{}"),
    (2, Method::CreateMessage, "{}"),
    (4, Method::CreateMessage, r#"{"tools":[]}"#),
    (8, Method::Elicit, "{}"),
    (16, Method::Elicit, r#"{"mode":"url"}"#),
];

impl Askable {
    /// The class of clients that cannot be asked anything.
    pub const NOTHING: Self = Self(0);

    /// The class of a client of `era` that declares these capabilities, a JSON object.
    pub fn of(era: &Era, capabilities: &[u8]) -> Self {
        if capabilities == b"{}" || capabilities.is_empty() {
            return Self::NOTHING;
        }
        let has = |(_, method, params): &&(u8, Method, &str)| {
            declares_question(era, capabilities, *method, params.as_bytes())
        };
        Self(BITS.iter().filter(has).map(|(bit, ..)| bit).sum())
    }

    /// The bits of this class, for storage.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// The class with these bits; bits without a meaning are ignored.
    pub fn from_bits(bits: u8) -> Self {
        Self(BITS.iter().map(|(bit, ..)| bit & bits).sum())
    }

    /// The capabilities of a client of this class, a JSON object. It contains only capabilities that the class
    /// determines.
    pub fn capabilities(self) -> String {
        let has = |bit| self.0 & bit != 0;
        let roots = has(1).then_some("\"roots\":{}");
        let sampling = match (has(2), has(4)) {
            (false, false) => None,
            (_, true) => Some("\"sampling\":{\"tools\":{}}"),
            (true, false) => Some("\"sampling\":{}"),
        };
        let elicitation = match (has(8), has(16)) {
            (false, false) => None,
            (true, false) => Some("\"elicitation\":{}"),
            (false, true) => Some("\"elicitation\":{\"url\":{}}"),
            (true, true) => Some("\"elicitation\":{\"form\":{},\"url\":{}}"),
        };
        let all: Vec<&str> = [roots, sampling, elicitation].into_iter().flatten().collect();
        format!("{{{}}}", all.join(","))
    }

    /// Returns true if a client of this class can be asked for its roots and nothing else.
    pub fn is_roots_alone(self) -> bool {
        !self.is_nothing() && self.without_roots().is_nothing()
    }

    /// Returns true if a client of this class can be asked for its roots.
    pub fn has_roots(self) -> bool {
        self.includes(Self(1))
    }

    /// Returns true if a client of this class cannot be asked anything.
    pub fn is_nothing(self) -> bool {
        self.0 == 0
    }

    /// Returns true if a client of this class can be asked everything that the other can be asked.
    pub fn includes(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The same class without the question for roots.
    #[must_use]
    pub fn without_roots(self) -> Self {
        Self(self.0 & !BITS[0].0)
    }

    /// The union of both classes: the questions that a client of at least one of them can be asked.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::era::{V2025_03_26, V2025_11_25, V2026_07_28};

    #[test]
    fn each_capability_is_a_bit() {
        let of = |text: &str| Askable::of(&V2025_11_25, text.as_bytes());
        assert_eq!(of("{}"), Askable::NOTHING);
        assert_eq!(of(r#"{"roots":{},"x":1}"#), Askable(1));
        assert_eq!(of(r#"{"sampling":{}}"#), Askable(2));
        assert_eq!(of(r#"{"sampling":{"tools":{}}}"#), Askable(6));
        assert_eq!(of(r#"{"elicitation":{}}"#), Askable(8));
        assert_eq!(of(r#"{"elicitation":{"url":{}}}"#), Askable(16));
        assert_eq!(of(r#"{"elicitation":{"url":{},"form":{}}}"#), Askable(24));
        let old = Askable::of(&V2025_03_26, br#"{"sampling":{"tools":{}},"elicitation":{"url":{}}}"#);
        assert_eq!(old, Askable(2), "an older version knows neither");
        assert_eq!(Askable::of(&V2026_07_28, br#"{"roots":{},"sampling":{}}"#), Askable(3));
    }

    #[test]
    fn capabilities_are_those_of_the_class() {
        for bits in (0..32).filter(|bits| bits & 6 != 4) {
            let class = Askable::from_bits(bits);
            assert_eq!(Askable::of(&V2025_11_25, class.capabilities().as_bytes()), class, "{bits}");
        }
        let all = Askable::from_bits(31).capabilities();
        assert_eq!(Askable::of(&V2025_03_26, all.as_bytes()), Askable(11), "an older version knows no more");
    }

    #[test]
    fn classes_include_each_other_by_their_bits() {
        let (roots, both) = (Askable(1), Askable(3));
        assert!(both.includes(roots) && !roots.includes(both) && roots.includes(Askable::NOTHING));
        assert_eq!(roots.and(Askable(2)), both);
        assert!(both.has_roots() && !Askable(2).has_roots());
        assert!(roots.is_roots_alone() && !both.is_roots_alone() && !Askable::NOTHING.is_roots_alone());
        assert_eq!((both.without_roots(), roots.without_roots()), (Askable(2), Askable::NOTHING));
    }
}
