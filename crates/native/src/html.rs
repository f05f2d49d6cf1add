//! Removes markup, or makes it harmless with an allowlist.
//!
//! This is not a browser: anything doubtful is dropped. Sites then filter by their own rules.

/// The elements that may stay in a text.
const ELEMENTS: &[&str] = &[
    "a",
    "b",
    "blockquote",
    "br",
    "code",
    "del",
    "div",
    "em",
    "figcaption",
    "figure",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "img",
    "ins",
    "li",
    "ol",
    "p",
    "pre",
    "q",
    "s",
    "small",
    "span",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "u",
    "ul",
];

/// Attributes that are allowed on any element.
const ATTRIBUTES: &[&str] = &[
    "alt", "cite", "class", "colspan", "height", "href", "rel", "rowspan", "src", "target", "title", "width",
];

/// Elements that are removed together with their content.
const SILENT: &[&str] =
    &["script", "style", "iframe", "object", "embed", "template", "noscript", "svg", "math"];

/// The schemes that a link may have.
const SCHEMES: &[&str] = &["http", "https", "mailto", "tel"];

/// `text` without comments, without elements and attributes that are not listed, and without links of other schemes.
pub(crate) fn safe(text: &str) -> String {
    walked(text, |out, tag| {
        if let Some(name) = ELEMENTS.iter().find(|name| tag.name.eq_ignore_ascii_case(name)) {
            out.push('<');
            if tag.closes {
                out.push('/');
            }
            out.push_str(name);
            if !tag.closes {
                attributes(out, tag.inside);
            }
            out.push('>');
        }
    })
}

/// `text` without elements and comments.
pub(crate) fn without_tags(text: &str) -> String {
    walked(text, |_, _| {})
}

/// Markup as plain text: without elements, with the common character references decoded, and with runs of blanks collapsed.
pub(crate) fn as_text(text: &str) -> String {
    let mut bare = walked(text, |out, tag| {
        if tag.closes || tag.name.eq_ignore_ascii_case("br") {
            let blocks = ["p", "br", "div", "li", "h1", "h2", "h3", "h4", "tr", "blockquote"];
            let is_block = blocks.iter().any(|block| tag.name.eq_ignore_ascii_case(block));
            out.push_str(if is_block { "\n" } else { "" });
        }
    });
    bare = references(&bare);
    let lines = bare.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

struct Tag<'a> {
    name: &'a str,
    closes: bool,
    inside: &'a str,
}

/// Copies text, and passes each tag to `write`.
fn walked(text: &str, mut write: impl FnMut(&mut String, &Tag<'_>)) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        if let Some(comment) = behind.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, rest)| rest);
            continue;
        }
        let begins =
            behind.trim_start_matches('/').starts_with(|c: char| c.is_ascii_alphabetic() || c == '!');
        if !begins {
            out.push_str("&lt;");
            rest = behind;
            continue;
        }
        let end = tag_end(behind);
        let whole = &behind[..end];
        rest = behind.get(end + 1..).unwrap_or_default();
        let closes = whole.starts_with('/');
        let bare = whole.trim_start_matches('/');
        let name_end = bare.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(bare.len());
        let tag = Tag { name: &bare[..name_end], closes, inside: &bare[name_end..] };
        if !closes && SILENT.iter().any(|name| tag.name.eq_ignore_ascii_case(name)) {
            rest = behind_closing(rest, tag.name);
            continue;
        }
        write(&mut out, &tag);
    }
    out.push_str(rest);
    out
}

/// The offset of a tag's `>`: the first outside quotes, or the end of the text.
fn tag_end(text: &str) -> usize {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    text.len()
}

/// The text after the closing tag of `name`; empty if there is none.
fn behind_closing<'a>(text: &'a str, name: &str) -> &'a str {
    let mut rest = text;
    while let Some(at) = rest.find("</") {
        rest = &rest[at + 2..];
        let is_it = rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name));
        let ends =
            !rest.get(name.len()..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric()));
        if is_it && ends {
            return rest.split_once('>').map_or("", |(_, rest)| rest);
        }
    }
    ""
}

/// Appends the allowed attributes, each newly quoted.
fn attributes(out: &mut String, inside: &str) {
    each_attribute(inside, |name, value| {
        let known = ATTRIBUTES.iter().find(|known| name.eq_ignore_ascii_case(known));
        if let Some(name) = known.filter(|name| !matches!(**name, "href" | "src" | "cite") || is_link(value))
        {
            let value = value.replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;");
            out.push(' ');
            out.push_str(name);
            out.push_str("=\"");
            out.push_str(&value);
            out.push('"');
        }
    });
}

/// Passes the name of each opening tag of `text` to `each`, then again with the value of each attribute that
/// distinguishes the elements of a page: `src`, `href`, `class` and `id`.
pub(crate) fn tags_and_attributes(text: &str, mut each: impl FnMut(&str, Option<&str>)) {
    walked(text, |_, tag| {
        if tag.closes {
            return;
        }
        each(tag.name, None);
        each_attribute(tag.inside, |name, value| {
            if ["src", "href", "class", "id"].iter().any(|known| name.eq_ignore_ascii_case(known)) {
                each(tag.name, Some(value));
            }
        });
    });
}

/// Passes each attribute of a tag to `each`: its name, and its value without quotes.
fn each_attribute<'t>(inside: &'t str, mut each: impl FnMut(&'t str, &'t str)) {
    let mut rest = inside.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
    while !rest.is_empty() {
        let end =
            rest.find(|c: char| c.is_whitespace() || matches!(c, '=' | '/' | '>')).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        let behind = behind.trim_start();
        let (value, behind) = match behind.strip_prefix('=') {
            Some(behind) => attribute_value(behind.trim_start()),
            None => ("", behind),
        };
        each(name, value);
        // Skips a character that belongs to no attribute, so the loop ends.
        let behind = if name.is_empty() && behind.len() == rest.len() { cut_one(behind) } else { behind };
        rest = behind.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
    }
}

fn cut_one(text: &str) -> &str {
    let mut chars = text.chars();
    chars.next();
    chars.as_str()
}

fn attribute_value(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(inside) = text.strip_prefix(quote) {
            return inside.split_once(quote).unwrap_or((inside, ""));
        }
    }
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

/// Returns true if a link has an allowed scheme. Character references are decoded first, and blanks and controls ignored, as
/// browsers do.
fn is_link(value: &str) -> bool {
    let bare: String = references(value)
        .chars()
        .filter(|c| !c.is_whitespace() && !c.is_control())
        .collect::<String>()
        .to_lowercase();
    match bare.split_once(':') {
        Some((scheme, _)) if !scheme.contains(['/', '?', '#']) => SCHEMES.contains(&scheme),
        _ => true,
    }
}

/// Decodes the character references of HTML that occur in practice.
fn references(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let end = rest.char_indices().take(12).find(|(_, c)| !c.is_ascii_alphanumeric() && *c != '#');
        let (name, behind) = match end {
            Some((end, ';')) => (&rest[..end], &rest[end + 1..]),
            // Browsers also decode numeric references without their `;`.
            Some((end, _)) if rest.starts_with('#') => (&rest[..end], &rest[end..]),
            _ => ("", rest),
        };
        match character(name) {
            Some(character) => {
                out.push(character);
                rest = behind;
            }
            None => out.push('&'),
        }
    }
    out.push_str(rest);
    out
}

fn character(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code);
    }
    let known = [
        ("amp", '&'),
        ("lt", '<'),
        ("gt", '>'),
        ("quot", '"'),
        ("apos", '\''),
        ("nbsp", ' '),
        ("colon", ':'),
        ("hellip", '…'),
        ("ndash", '–'),
        ("mdash", '—'),
        ("lsquo", '‘'),
        ("rsquo", '’'),
        ("ldquo", '“'),
        ("rdquo", '”'),
        ("laquo", '«'),
        ("raquo", '»'),
        ("aring", 'å'),
        ("Aring", 'Å'),
        ("oslash", 'ø'),
        ("Oslash", 'Ø'),
        ("aelig", 'æ'),
        ("AElig", 'Æ'),
        ("tab", '\t'),
        ("Tab", '\t'),
        ("NewLine", '\n'),
    ];
    known.iter().find(|(word, _)| *word == name).map(|(_, character)| *character)
}
