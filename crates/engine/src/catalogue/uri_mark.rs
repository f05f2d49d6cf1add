//! The form of a URI that names its server: `ui://SERVER+rest`, or `memo:SERVER+rest` if the URI has no authority. The scheme
//! stays unchanged, because clients act on it. This module must not know which URIs need this form.

use std::borrow::Cow;

/// The separator between a server's name and the rest. No server's name contains it.
const SEPARATOR: char = '+';

/// The position of a server's name in a URI: after the scheme's colon, and after `//` if an authority follows.
fn seam(uri: &str) -> usize {
    let Some((scheme, rest)) = uri.split_once(':') else { return 0 };
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || !scheme.chars().all(is_inner) {
        return 0;
    }
    scheme.len() + 1 + if rest.starts_with("//") { 2 } else { 0 }
}

/// A server's URI or URI template, with the server's name added; `None` if the result would not be a URI, or if the original
/// could not be recovered from it.
pub fn marked(server: &str, uri: &str) -> Option<String> {
    let at = seam(uri);
    let (head, rest) = uri.split_at(at);
    // A name before `[` would break an IPv6 address. Without a scheme, the expansion of an expression could form a scheme.
    if rest.starts_with('[') || (at == 0 && rest.contains('{')) {
        return None;
    }
    let marked = format!("{head}{server}{SEPARATOR}{rest}");
    (unmarked(&marked) == Some((server, uri.to_owned()))).then_some(marked)
}

/// The server that a URI names, and the server's own URI; `None` if the URI names no server. The server need not exist.
pub(in crate::catalogue) fn unmarked(uri: &str) -> Option<(&str, String)> {
    let (head, rest) = uri.split_at(seam(uri));
    let (server, rest) = rest.split_once(SEPARATOR)?;
    Some((server, format!("{head}{rest}")))
}

/// The shape of a template: the template without the variable names that do not appear in its expansions. Two templates
/// with the same shape have the same expansions.
pub(in crate::catalogue) fn shape(template: &str) -> Cow<'_, str> {
    if !template.contains('{') {
        return Cow::Borrowed(template);
    }
    let mut shape = String::with_capacity(template.len());
    let mut parts = template.split('{');
    shape.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (expression, literal) = part.split_once('}').unwrap_or((part, ""));
        shape.push('{');
        match expression.chars().next() {
            Some('?' | '&' | ';') => shape.push_str(expression),
            Some(operator @ ('+' | '#' | '/' | '.')) => shape.push(operator),
            _ => {}
        }
        shape.push('}');
        shape.push_str(literal);
    }
    Cow::Owned(shape)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_scheme_stays_and_the_server_stands_behind_it() {
        for (own, wanted) in [
            ("ui://widgets/x.html", Some("ui://shop+widgets/x.html")),
            ("file:///etc/x", Some("file://shop+/etc/x")),
            ("memo:x", Some("memo:shop+x")),
            ("urn:isbn:1", Some("urn:shop+isbn:1")),
            ("memo:/x", Some("memo:shop+/x")),
            ("ui://shop+x", Some("ui://shop+shop+x")),
            ("https://u@h:8/?q=a:b+c", Some("https://shop+u@h:8/?q=a:b+c")),
            ("readme", Some("shop+readme")),
            ("db://{table}/rows{?limit}", Some("db://shop+{table}/rows{?limit}")),
            ("memo:{+rest}", Some("memo:shop+{+rest}")),
            ("http://[::1]/x", None),
            (":x", None),
            ("1a:b", None),
            ("{scheme}://x", None),
        ] {
            assert_eq!(marked("shop", own).as_deref(), wanted, "{own}");
        }
        // An expression may expand to an authority.
        assert_eq!(unmarked("memo:shop+//h/x"), Some(("shop", "memo://h/x".to_owned())));
    }

    #[test]
    fn templates_that_differ_only_in_names_have_the_same_shape() {
        for (template, wanted) in
            [("x://{a}/{+b}{?c,d}", "x://{}/{+}{?c,d}"), ("x://plain", "x://plain"), ("x://{a", "x://{}")]
        {
            assert_eq!(shape(template), wanted);
        }
    }

    proptest! {
        #[test]
        fn marking_can_be_undone_and_never_joins_two(
            one in "[a-c.-]{1,3}", other in "[a-c.-]{1,3}", uri in "[ab:/+?é\\[{}]{0,12}", uri2 in "[ab:/+?é\\[{}]{0,12}",
        ) {
            let (first, second) = (marked(&one, &uri), marked(&other, &uri2));
            if let Some(first) = &first {
                prop_assert_eq!(unmarked(first), Some((&*one, uri.clone())));
                prop_assert_eq!(Some(first) == second.as_ref(), (&one, &uri) == (&other, &uri2));
                prop_assert_eq!(first.split(':').next().unwrap().len() == first.len(), !first.contains(':'));
            }
        }
    }
}
