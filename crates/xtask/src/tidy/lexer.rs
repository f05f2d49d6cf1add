//! Just enough of Rust's lexical grammar to distinguish code from text: comments, strings, characters,
//! lifetimes.

/// A piece of the source that is not code.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The byte offset at which the piece starts, delimiters included.
    pub(crate) at: usize,
    /// The text of the piece, delimiters included.
    pub(crate) text: String,
}

/// A source with its text blanked out.
#[derive(Debug, Default)]
pub(crate) struct Masked {
    /// The code, as long as the source: comments, strings and characters are blanks, line ends stay.
    pub(crate) code: String,
    /// String literals of every kind, in order.
    pub(crate) strings: Vec<Piece>,
    /// Comments of every kind, doc comments included, in order.
    pub(crate) comments: Vec<Piece>,
}

/// Splits a source into code and text. Never fails: an unterminated piece ends with the file.
pub(crate) fn mask(source: &str) -> Masked {
    let bytes = source.as_bytes();
    let mut code = bytes.to_vec();
    let mut out = Masked::default();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let (end, kind) = if rest.starts_with(b"//") {
            (at + rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()), Some(Kind::Comment))
        } else if rest.starts_with(b"/*") {
            (at + block_comment(rest), Some(Kind::Comment))
        } else if let Some(hashes) = raw_string(bytes, at) {
            (at + raw_length(rest, hashes), Some(Kind::String))
        } else if rest[0] == b'"' {
            (at + quoted_length(rest, b'"'), Some(Kind::String))
        } else if rest[0] == b'\'' {
            character(source, at).map_or((at + 1, None), |length| (at + length, Some(Kind::Character)))
        } else {
            (at + 1, None)
        };
        if let Some(kind) = kind {
            let piece = || Piece { at, text: source[at..end].to_owned() };
            match kind {
                Kind::Comment => out.comments.push(piece()),
                Kind::String => out.strings.push(piece()),
                Kind::Character => {}
            }
            blank(&mut code[at..end]);
        } else if rest.starts_with(b"r#") && (at == 0 || !is_word(bytes[at - 1])) {
            // A raw identifier is the same name.
            blank(&mut code[at..at + 2]);
        } else if !bytes[at].is_ascii() {
            // Letters outside ASCII in names are replaced with a character that can be part of a name.
            code[at] = b'_';
        }
        at = end;
    }
    out.code = code.into_iter().map(char::from).collect();
    out
}

enum Kind {
    Comment,
    String,
    Character,
}

fn blank(piece: &mut [u8]) {
    for byte in piece {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// The number of `#` if a raw string (`r"`, `br#"`, `cr#"`) starts here.
fn raw_string(bytes: &[u8], at: usize) -> Option<usize> {
    if at > 0 && is_word(bytes[at - 1]) {
        return None;
    }
    let rest = &bytes[at..];
    let prefix = usize::from(rest.first().is_some_and(|b| matches!(b, b'b' | b'c')));
    if rest.get(prefix) != Some(&b'r') {
        return None;
    }
    let hashes = rest[prefix + 1..].iter().take_while(|b| **b == b'#').count();
    (rest.get(prefix + 1 + hashes) == Some(&b'"')).then_some(hashes)
}

fn raw_length(rest: &[u8], hashes: usize) -> usize {
    let open = rest.iter().position(|b| *b == b'"').map_or(rest.len(), |quote| quote + 1);
    (open..rest.len())
        .find(|&at| rest[at] == b'"' && rest[at + 1..].iter().take_while(|b| **b == b'#').count() >= hashes)
        .map_or(rest.len(), |quote| quote + 1 + hashes)
}

/// The length of a literal that opens and closes with `quote` and escapes with a backslash.
fn quoted_length(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of the character literal that starts here; none for a lifetime.
fn character(source: &str, at: usize) -> Option<usize> {
    let inside = source.get(at + 1..)?;
    let first = inside.chars().next()?;
    if first == '\\' {
        return Some(quoted_length(&source.as_bytes()[at..], b'\''));
    }
    let length = first.len_utf8();
    (inside.as_bytes().get(length) == Some(&b'\'')).then_some(length + 2)
}

#[cfg(test)]
mod tests {
    use super::mask;

    fn code(source: &str) -> String {
        let masked = mask(source);
        assert_eq!(masked.code.len(), source.len(), "{source}");
        masked.code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_become_blanks_and_lines_stay() {
        assert_eq!(code("a // { \"\nb /* { /* } */ ' */ c"), "a b c");
        assert_eq!(mask("/*\n\n*/ x").code.matches('\n').count(), 2);
    }

    #[test]
    fn strings_of_every_kind_become_blanks() {
        assert_eq!(code(r#"f("{ \" // }", b"{", c"{")"#), "f( , b , c )");
        assert_eq!(code(r###"f(r"\", r#"" { "#, br##""# } "##) x"###), "f( , , ) x");
        assert_eq!(code("let r#fn = bar\"{\";"), "let fn = bar ;");
    }

    #[test]
    fn characters_are_told_from_lifetimes() {
        assert_eq!(code("f('{', '\\'', b'}', '\"', 'é') g"), "f( , , b , , ) g");
        assert_eq!(code("fn f<'a>(x: &'a str, y: &'static str) { 'l: loop {} }").matches('{').count(), 2);
    }

    #[test]
    fn text_is_kept_with_its_place() {
        let masked = mask("a(\"one\"); // two\nb(r#\"three\"#)");
        let strings: Vec<_> = masked.strings.iter().map(|piece| (piece.at, piece.text.as_str())).collect();
        assert_eq!(strings, [(2, "\"one\""), (19, "r#\"three\"#")]);
        assert_eq!(masked.comments[0].text, "// two");
    }

    #[test]
    fn unterminated_pieces_end_with_the_file() {
        for source in ["\"abc", "r#\"abc\"", "/* /* */", "'\\", "b'\\u{", "\"\\"] {
            assert_eq!(mask(source).code.len(), source.len());
        }
    }
}
