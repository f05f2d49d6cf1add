//! The header names that a tool's schema assigns to its arguments (`x-mcp-header`).

use std::collections::HashMap;

use super::PARAM_PREFIX;

/// The reason why a tool's header annotations are invalid. A client then drops the whole tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnnotationError {
    /// The name is empty or has a character that a header name cannot have.
    #[error("{path}: {name:?} is not valid in a header name")]
    NotAToken {
        /// The path of the annotated property.
        path: String,
        /// The name as annotated.
        name: String,
    },
    /// Two properties have the same header name; case does not matter.
    #[error("{path}: {name:?} is taken by {other}")]
    Repeated {
        /// The path of the annotated property.
        path: String,
        /// The name as annotated.
        name: String,
        /// The property that already has this name.
        other: String,
    },
}

/// Checks all annotations of one tool, given as pairs of a property's path (used in messages only) and a header
/// name.
///
/// The caller checks whether the properties may be annotated at all (their types, their positions in the schema).
pub fn check_annotations<'a>(
    annotations: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<(), AnnotationError> {
    let mut taken = HashMap::new();
    for (path, name) in annotations {
        let (path_of, name_of) = (|| path.to_owned(), || name.to_owned());
        if !is_token(name) {
            return Err(AnnotationError::NotAToken { path: path_of(), name: name_of() });
        }
        if let Some(other) = taken.insert(name.to_ascii_lowercase(), path) {
            let other: &str = other;
            return Err(AnnotationError::Repeated {
                path: path_of(),
                name: name_of(),
                other: other.to_owned(),
            });
        }
    }
    Ok(())
}

/// The full header name, in lower case, for an annotated name; `None` if the name cannot be part of a header name.
pub fn param_header(name: &str) -> Option<String> {
    is_token(name).then(|| {
        let mut header = String::with_capacity(PARAM_PREFIX.len() + name.len());
        header.push_str(PARAM_PREFIX);
        header.push_str(name);
        header.make_ascii_lowercase();
        header
    })
}

/// Returns true if a name is a token (RFC 9110, section 5.6.2).
fn is_token(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(allowed)
}
