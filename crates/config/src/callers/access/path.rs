//! Paths to values in a JSON object.

use std::fmt;

/// The maximum length of a path, in bytes.
const MAX_PATH_BYTES: usize = 256;

/// The path to a value: `owner.name`, or a JSON Pointer (RFC 6901) such as `/owner/name`. Lists along the path are
/// searched item by item.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ValuePath {
    steps: Box<[Box<str>]>,
}

impl ValuePath {
    /// Reads a path.
    ///
    /// # Errors
    /// Returns a short description of the problem.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() || text.len() > MAX_PATH_BYTES {
            return Err("a path must have 1 to 256 bytes");
        }
        let steps: Box<[Box<str>]> = match text.strip_prefix('/') {
            Some(pointer) => pointer.split('/').map(unescape).collect::<Result<_, _>>()?,
            None => text.split('.').map(Into::into).collect(),
        };
        if steps.iter().any(|step| step.is_empty()) {
            return Err("a segment of this path is empty");
        }
        Ok(Self { steps })
    }

    /// The steps of the path, each the name of a member; at least one.
    pub fn steps(&self) -> &[Box<str>] {
        &self.steps
    }

    /// Returns true if the first difference between the two paths is only a difference in case.
    pub fn parts_in_case(&self, other: &Self) -> bool {
        let parted = self.steps.iter().zip(&other.steps).find(|(own, other)| own != other);
        parted.is_some_and(|(own, other)| own.eq_ignore_ascii_case(other))
    }

    /// Returns true if a reader that ignores case would treat both paths as equal.
    pub fn is_like(&self, other: &Self) -> bool {
        self.steps.len() == other.steps.len() && self.is_like_start_of(other)
    }

    /// Returns true if the other path leads to a value inside the value at this path, for a reader that ignores case.
    pub fn leads_to(&self, other: &Self) -> bool {
        self.steps.len() < other.steps.len() && self.is_like_start_of(other)
    }

    fn is_like_start_of(&self, other: &Self) -> bool {
        self.steps.iter().zip(&other.steps).all(|(own, other)| own.eq_ignore_ascii_case(other))
    }
}

/// Decodes a step of a JSON Pointer: `~1` is `/`, and `~0` is `~`.
fn unescape(step: &str) -> Result<Box<str>, &'static str> {
    let mut rest = step;
    while let Some(at) = rest.find('~') {
        if !rest[at + 1..].starts_with(['0', '1']) {
            return Err("in a JSON Pointer, write `~0` for `~`");
        }
        rest = &rest[at + 2..];
    }
    Ok(step.replace("~1", "/").replace("~0", "~").into())
}

impl fmt::Display for ValuePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            write!(f, "/{}", step.replace('~', "~0").replace('/', "~1"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Vec<String> {
        ValuePath::parse(text).unwrap().steps().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn both_forms_lead_to_the_same_place() {
        assert_eq!(steps("a.b-c"), ["a", "b-c"]);
        assert_eq!(steps("/a/b.c/~01/x~1y"), ["a", "b.c", "~1", "x/y"]);
        assert_eq!(ValuePath::parse("a.b"), ValuePath::parse("/a/b"));
        assert_eq!(ValuePath::parse("a.b").unwrap().to_string(), "/a/b");
        for text in ["", ".", "a.", "a..b", "/", "/a//b", "/~", "/~2", &"a".repeat(257)] {
            assert!(ValuePath::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_path_leads_only_further_down() {
        let path = |text| ValuePath::parse(text).unwrap();
        assert!(path("a").leads_to(&path("A.b")));
        assert!(path("a.b").parts_in_case(&path("A.c")) && !path("a.b").parts_in_case(&path("a.c")));
        assert!(path("a.B").is_like(&path("A.b")) && !path("a").is_like(&path("a.b")));
        assert!(!path("a.b").leads_to(&path("a")));
        assert!(!path("a").leads_to(&path("a")));
        assert!(!path("a").leads_to(&path("ab.c")));
    }
}
