//! Text that Dragoman did not write: names, descriptions, messages, configuration. A page can show it only escaped,
//! shortened, and with marks in place of invisible characters. This module must not know any page.

use maud::{Escaper, Markup, PreEscaped, Render};
use std::borrow::Cow;
use std::fmt::Write as _;

/// The size above which a text is cut when a [`ForeignText`] is created from it.
const MOST_BYTES: usize = 256 * 1024;
/// The maximum number of characters of a name in a table.
const NAME: usize = 80;
/// The maximum number of characters of a sentence.
const LINE: usize = 320;
/// The maximum number of characters of a text of several lines.
const BLOCK: usize = 32 * 1024;
/// The maximum number of accents on one letter; more would cover the lines above and below.
const MOST_ACCENTS: usize = 4;

/// Text that Dragoman did not write. It has no `Display`, so no page can show it unchanged by accident.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ForeignText {
    text: String,
}

impl ForeignText {
    /// Creates a foreign text from `text`, which is cut if it is very long.
    pub fn new(text: impl Into<String>) -> Self {
        let mut text = text.into();
        if text.len() > MOST_BYTES {
            text.truncate(text.floor_char_boundary(MOST_BYTES));
        }
        Self { text }
    }

    /// The unchanged text: for addresses, which encode it, and for comparisons.
    pub fn raw(&self) -> &str {
        &self.text
    }

    /// The text as the value of a field. HTML cannot contain control characters, so they are replaced.
    pub fn value(&self) -> Cow<'_, str> {
        field_value(&self.text)
    }

    /// Returns true if the text is empty.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// A name: at most 80 characters on one line. Joiners are treated as hidden characters here, because they can
    /// make two names look the same.
    pub fn name(&self) -> Markup {
        self.shown(Shortening { most: NAME, lines: false, joiners: false })
    }

    /// A sentence: at most 320 characters on one line.
    pub fn line(&self) -> Markup {
        self.shown(Shortening { most: LINE, lines: false, joiners: true })
    }

    /// A text of several lines, for `pre`: at most 32 768 characters.
    pub fn block(&self) -> Markup {
        self.shown(Shortening { most: BLOCK, lines: true, joiners: true })
    }

    /// A line that an operator approves: shown like a [`Self::block`], but on one line, and without invisible
    /// characters.
    pub(crate) fn whole_line(&self) -> Markup {
        self.shown(Shortening { most: BLOCK, lines: false, joiners: false })
    }

    /// Returns true if [`Self::whole_line`] and [`Self::block`] leave nothing out.
    pub(crate) fn fits(&self) -> bool {
        self.text.len() <= BLOCK || self.text.chars().nth(BLOCK).is_none()
    }

    /// The text without markup for an attribute that people read, such as `aria-label`.
    pub fn label(&self) -> String {
        let mut label = String::new();
        for (at, character) in self.text.chars().enumerate() {
            if at == NAME {
                label.push('…');
                break;
            }
            match code_of(character, false, false) {
                Some(code) => label.push_str(&code),
                None => label.push(character),
            }
        }
        label
    }

    fn shown(&self, shape: Shortening) -> Markup {
        let mut html = String::with_capacity(self.text.len().min(shape.most) + 16);
        html.push_str("<bdi>");
        let mut accents = 0;
        for (at, character) in self.text.chars().enumerate() {
            if at == shape.most {
                let hidden = self.text.chars().count() - at;
                // A text that was cut before has more characters than are left of it.
                let _ = if self.text.ends_with('…') {
                    write!(html, "<span class=\"cut\">… and more</span>")
                } else {
                    let noun = if hidden == 1 { "character" } else { "characters" };
                    write!(html, "<span class=\"cut\">… {hidden} more {noun}</span>")
                };
                break;
            }
            accents = if is_accent(character) { accents + 1 } else { 0 };
            let code = code_of(character, shape.lines, shape.joiners)
                .or_else(|| (accents > MOST_ACCENTS).then(|| plain_code(character)));
            match code {
                Some(code) if code.is_empty() => {}
                Some(code) => {
                    let _ = write!(html, "<span class=\"odd\">{code}</span>");
                }
                None => {
                    let _ = write!(Escaper::new(&mut html), "{character}");
                }
            }
        }
        html.push_str("</bdi>");
        PreEscaped(html)
    }
}

/// The form in which a text is shown.
#[derive(Clone, Copy)]
struct Shortening {
    most: usize,
    lines: bool,
    joiners: bool,
}

impl From<&str> for ForeignText {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for ForeignText {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

/// Shows the text as a sentence.
impl Render for ForeignText {
    fn render_to(&self, buffer: &mut String) {
        buffer.push_str(&self.line().into_string());
    }
}

/// A text as the value of a field, without characters that HTML cannot contain.
pub(crate) fn field_value(text: &str) -> Cow<'_, str> {
    let fits = |c: char| matches!(c, '\n' | '\r' | '\t') || !(c.is_control() || is_noncharacter(c));
    if text.chars().all(fits) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|c| if fits(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// The mark that replaces a character that is invisible, or that changes how other characters look.
fn code_of(character: char, lines: bool, joiners: bool) -> Option<String> {
    match character {
        '\n' | '\t' if lines => None,
        '\r' if lines => Some(String::new()),
        '\u{200c}' | '\u{200d}' if joiners => None,
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)).map(String::from),
        '\u{7f}' => Some("␡".to_owned()),
        _ if is_hidden(character) => Some(plain_code(character)),
        _ => None,
    }
}

fn plain_code(character: char) -> String {
    format!("U+{:04X}", u32::from(character))
}

fn is_hidden(character: char) -> bool {
    matches!(character,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
        || is_noncharacter(character)
}

fn is_noncharacter(character: char) -> bool {
    u32::from(character) & 0xfffe == 0xfffe || matches!(character, '\u{fdd0}'..='\u{fdef}')
}

fn is_accent(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

#[cfg(test)]
mod tests {
    use super::ForeignText;
    use proptest::prelude::*;

    fn line(text: &str) -> String {
        ForeignText::from(text).line().into_string()
    }

    #[test]
    fn markup_is_escaped() {
        assert_eq!(
            line("<img src=x onerror=\"alert(1)\">&'"),
            "<bdi>&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;'</bdi>"
        );
    }

    #[test]
    fn characters_that_nobody_sees_get_a_mark() {
        assert_eq!(line("a\u{202e}b"), "<bdi>a<span class=\"odd\">U+202E</span>b</bdi>");
        assert_eq!(line("\u{1b}[31m"), "<bdi><span class=\"odd\">␛</span>[31m</bdi>");
        assert_eq!(line("a\nb"), "<bdi>a<span class=\"odd\">␊</span>b</bdi>");
        assert_eq!(line("\u{e0041}"), "<bdi><span class=\"odd\">U+E0041</span></bdi>");
    }

    #[test]
    fn joiners_stay_in_sentences_and_are_marked_in_names() {
        assert_eq!(line("👩\u{200d}🚀"), "<bdi>👩\u{200d}🚀</bdi>");
        assert!(ForeignText::from("a\u{200d}b").name().into_string().contains("U+200D"));
    }

    #[test]
    fn a_block_keeps_its_lines() {
        assert_eq!(ForeignText::from("a\r\n\tb").block().into_string(), "<bdi>a\n\tb</bdi>");
    }

    #[test]
    fn a_whole_line_hides_nothing() {
        let text = ForeignText::from(format!("{}\n- b\u{200d}", "x".repeat(5_000)));
        let html = text.whole_line().into_string();
        assert!(html.contains(&"x".repeat(5_000)) && html.contains("␊") && html.contains("U+200D"), "{html}");
        assert!(!html.contains('\n') && text.fits());
        let long = ForeignText::from("é".repeat(40_000));
        assert!(!long.fits() && long.whole_line().into_string().contains("7232 more characters"));
        let clipped = ForeignText::from(format!("{}…", "x".repeat(9000)).as_str());
        let shown = clipped.name().into_string();
        assert!(shown.contains("… and more") && !shown.contains("characters"), "{shown}");
        let one = ForeignText::from("x".repeat(super::NAME + 1).as_str());
        assert!(one.name().into_string().contains("… 1 more character<"));
        assert!(ForeignText::from("é".repeat(32_768)).fits());
    }

    #[test]
    fn accents_do_not_pile_up() {
        let html = line(&format!("e{}", "\u{301}".repeat(50)));
        assert_eq!(html.matches("U+0301").count(), 46);
    }

    #[test]
    fn long_texts_say_how_much_is_missing() {
        let html = line(&"x".repeat(1_000_000));
        assert!(html.len() < 500, "{}", html.len());
        assert!(html.contains("more characters"), "{html}");
    }

    proptest! {
        #[test]
        fn nothing_hidden_and_no_markup_survives(text in any::<String>()) {
            let foreign = ForeignText::new(text);
            for html in [foreign.name(), foreign.line(), foreign.block()].map(maud::PreEscaped::into_string) {
                let bare = html.replace("<bdi>", "").replace("</bdi>", "").replace("<span class=\"odd\">", "").replace("<span class=\"cut\">", "").replace("</span>", "");
                prop_assert!(!bare.contains(['<', '>', '"']), "{bare}");
                prop_assert!(!bare.chars().any(|c| super::is_hidden(c) && !matches!(c, '\u{200c}' | '\u{200d}')), "{bare:?}");
            }
            prop_assert!(!foreign.label().chars().any(super::is_hidden));
        }
    }
}
