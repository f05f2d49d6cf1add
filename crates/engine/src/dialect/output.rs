//! Reformats JSON without changing a value: only the white space between values changes. This module must not know what
//! the JSON means.

use config::dialect_rows::words::Output;

/// Reformats JSON text, which must be valid; `None` if it stays unchanged.
pub(super) fn laid_out(json: &str, output: Output) -> Option<String> {
    match output {
        Output::Raw => None,
        Output::Compact => Some(Layout { pretty: false, depth: 0, out: String::new() }.of(json)),
        Output::Pretty => Some(Layout { pretty: true, depth: 0, out: String::new() }.of(json)),
    }
}

struct Layout {
    pretty: bool,
    depth: usize,
    out: String,
}

impl Layout {
    fn of(mut self, json: &str) -> String {
        let mut rest = json.trim_ascii();
        self.out.reserve(rest.len() * 2);
        while let Some(c) = rest.chars().next() {
            let length = match c {
                '"' => string_length(rest),
                ' ' | '\n' | '\r' | '\t' => 1,
                _ => c.len_utf8(),
            };
            let (token, behind) = rest.split_at(length);
            self.token(c, token, behind.trim_ascii_start());
            rest = behind;
        }
        self.out
    }

    fn token(&mut self, c: char, token: &str, behind: &str) {
        match c {
            ' ' | '\n' | '\r' | '\t' => {}
            '{' | '[' => {
                self.out.push(c);
                self.depth += 1;
                if !behind.starts_with(['}', ']']) {
                    self.line();
                }
            }
            '}' | ']' => {
                let empty = self.out.ends_with(['{', '[']);
                self.depth = self.depth.saturating_sub(1);
                if !empty {
                    self.line();
                }
                self.out.push(c);
            }
            ',' => {
                self.out.push(c);
                self.line();
            }
            ':' => self.out.push_str(if self.pretty { ": " } else { ":" }),
            _ => self.out.push_str(token),
        }
    }

    fn line(&mut self) {
        if self.pretty {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n("  ", self.depth));
        }
    }
}

/// The length of the string at the start of the text, quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().enumerate().skip(1).find(|(_, b)| {
        let ends = *b == b'"' && !escaped;
        escaped = *b == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}
