//! Matching URIs against URI templates (RFC 6570), only as far as finding out whose resource a URI is.

/// Whether `uri` can be an expansion of `template`: the literal parts stand in their order, and each expression covers
/// some text. Expressions without an operator stay within one path segment, as their expansion does.
fn matches(template: &str, uri: &str) -> bool {
    let Some(open) = template.find('{') else { return template == uri };
    let (literal, rest) = template.split_at(open);
    let Some(uri) = uri.strip_prefix(literal) else { return false };
    let Some(close) = rest.find('}') else { return false };
    let expression = &rest[1..close];
    let rest = &rest[close + 1..];
    let wide = expression.starts_with(['+', '#', '/', '?', '&', ';', '.']);
    let longest = if wide { uri.len() } else { uri.find('/').unwrap_or(uri.len()) };
    let shortest = usize::from(!wide);
    // Only the places where the next literal stands are tried, so this is linear in most templates.
    let next = rest.split('{').next().unwrap_or_default();
    (shortest..=longest)
        .filter(|&at| uri.is_char_boundary(at))
        .filter(|&at| uri[at..].starts_with(next))
        .any(|at| matches(rest, &uri[at..]))
}

/// The most expressions that a template may have: what is longer is not matched, as the search would be too wide.
const MAX_EXPRESSIONS: usize = 8;

/// [`matches`] for templates of a sane size.
pub(super) fn covers(template: &str, uri: &str) -> bool {
    template.matches('{').count() <= MAX_EXPRESSIONS && uri.len() <= 8192 && matches(template, uri)
}

#[cfg(test)]
mod tests {
    use super::covers;

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
    fn hostile_templates_do_not_run_long() {
        let template = "{+a}a".repeat(9);
        assert!(!covers(&template, &"a".repeat(4000)));
    }
}
