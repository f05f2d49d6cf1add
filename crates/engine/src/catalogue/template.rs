//! Matches URIs against URI templates (RFC 6570), only to find the server that owns a URI.

use config::Glob;

/// The maximum number of expressions in a template; one with more matches nothing.
pub(super) const MAX_EXPRESSIONS: usize = 8;

/// The maximum length of a URI that is matched, in bytes.
pub(super) const MAX_URI: usize = 8192;

/// Returns true if `uri` can be an expansion of `template`: the literal parts appear in order, and each expression
/// matches some text. Expressions without an operator stay within one path segment, as their expansion does.
///
/// The template and the URI are untrusted input, so there is no backtracking: all positions at which a part may
/// end are computed together, in one pass over the URI for each part.
pub fn covers(template: &str, uri: &str) -> bool {
    if template.matches('{').count() > MAX_EXPRESSIONS || uri.len() > MAX_URI {
        return false;
    }
    let mut parts = template.split('{');
    let first = parts.next().unwrap_or_default();
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return first == uri;
    }
    if !uri.starts_with(first) {
        return false;
    }
    // `places[at]` is true if the parts of the template that were read so far can match the URI up to `at`.
    let mut places = vec![false; uri.len() + 1];
    places[first.len()] = true;
    for part in parts {
        let Some((expression, literal)) = part.split_once('}') else { return false };
        places = after_literal(&after_expression(&places, expression, uri), literal, uri);
        if !places.contains(&true) {
            return false;
        }
    }
    places[uri.len()]
}

/// A pattern that matches every expansion of a template, and possibly more; `None` if there is none.
pub fn pattern(template: &str) -> Option<Glob> {
    let mut parts = template.split('{');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (_, literal) = part.split_once('}')?;
        text.push('*');
        text.push_str(literal);
    }
    Glob::parse(&text).ok()
}

/// The end positions of an expression that starts at one of `starts`.
fn after_expression(starts: &[bool], expression: &str, uri: &str) -> Vec<bool> {
    let wide = expression.starts_with(['+', '#', '/', '?', '&', ';', '.']);
    let mut within = false;
    let mut ends = vec![false; starts.len()];
    for (at, end) in ends.iter_mut().enumerate() {
        // An expression without an operator matches at least one character.
        let reached = within || (wide && starts[at]);
        *end = reached && uri.is_char_boundary(at);
        within = (within || starts[at]) && (wide || uri.as_bytes().get(at) != Some(&b'/'));
    }
    ends
}

/// The end positions of `literal` if it starts at one of `starts`.
fn after_literal(starts: &[bool], literal: &str, uri: &str) -> Vec<bool> {
    let mut ends = vec![false; starts.len()];
    for (at, _) in starts.iter().enumerate().filter(|(_, start)| **start) {
        if uri.as_bytes()[at..].starts_with(literal.as_bytes()) {
            ends[at + literal.len()] = true;
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::{covers, pattern};

    #[test]
    fn expressions_cover_what_they_can_expand_to() {
        for (template, uri, want) in [
            ("test://template/{id}/data", "test://template/123/data", true),
            ("test://template/{id}/data", "test://template/1/2/data", false),
            ("test://template/{id}/data", "test://template//data", false),
            ("file:///{+path}", "file:///a/b/c", true),
            ("x://{a}-{b}", "x://1-2-3", true),
            ("x://q{?a,b}", "x://q?a=1&b=2", true),
            ("x://q{?a,b}", "x://q", true),
            ("x://plain", "x://plain", true),
            ("x://plain", "x://plainer", false),
            ("x://{a", "x://1", false),
            ("x://é{a}", "x://éé", true),
        ] {
            assert_eq!(covers(template, uri), want, "{template} {uri}");
        }
    }

    #[test]
    fn patterns_match_what_templates_cover() {
        for (template, wanted) in [
            ("test://{id}/data", Some("test://*/data")),
            ("x://q{?a,b}", Some("x://q*")),
            ("x://plain", Some("x://plain")),
            ("x://{a", None),
            ("", None),
        ] {
            assert_eq!(pattern(template).as_ref().map(config::Glob::as_str), wanted, "{template}");
        }
    }

    #[test]
    fn a_part_may_end_in_more_than_one_place() {
        for (template, uri, want) in [
            ("{a}-{b}-{c}-{d}!", "1-2-3-4-5!", true),
            ("{a}-{b}-{c}-{d}!", "1-2-3!", false),
            ("{a}-{b}-{c}-{d}!", "1-2-3-4!5", false),
            ("{a}{b}", "é", false),
            ("{a}{b}", "éé", true),
            ("x{a}/{b}y", "xayy/y", false),
            ("x{a}/{b}y", "xayy/yy", true),
            ("{+a}/b{c}", "q/b/b/b1", true),
            ("{+a}/b{c}", "q/b/b/1", false),
            ("{+a}", "", true),
            ("{a}", "", false),
        ] {
            assert_eq!(covers(template, uri), want, "{template} {uri}");
        }
    }

    /// Hostile templates must not take long to match. They would if the code tried each position separately.
    #[test]
    fn hostile_templates_do_not_run_long() {
        let a = "a".repeat(8000);
        let dashes = "-".repeat(8000);
        for (template, uri) in [
            ("u:/{v0}a{v1}a{v2}a{v3}a{v4}a{v5}a{v6}a{w}Z", format!("u:/{}", &a[..60])),
            ("u:/{v0}a{v1}a{v2}a{v3}a{v4}a{v5}a{v6}a{w}Z", format!("u:/{a}")),
            ("{+a}a{+b}a{+c}a{+d}a{+e}a{+f}a{+g}a{+h}Z", a.clone()),
            ("{a}{b}{c}{d}{e}{f}{g}{h}Z", a.clone()),
            ("{a}-{b}-{c}-{d}!", dashes),
        ] {
            assert!(!covers(template, &uri), "{template}");
            let end = &template[template.len() - 1..];
            assert!(covers(template, &format!("{uri}{end}")), "{template}");
        }
        assert!(!covers(&"{+a}a".repeat(9), &a[..4000]), "too many expressions");
        assert!(!covers("{+a}", &"a".repeat(8193)), "too long");
    }
}
