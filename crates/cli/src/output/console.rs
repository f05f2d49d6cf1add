//! Stdout and stderr: results go to stdout, everything else to stderr. The use of colors depends on the options
//! and on the terminal.
//!
//! On a terminal, control characters and invisible characters in texts from servers are shown as escapes. These
//! texts can therefore neither control the terminal nor hide anything.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsFd;
use rustix::termios::tcgetwinsize;

use super::failure::Failure;
use super::layout::{LEAST_WIDTH, USUAL_WIDTH, wrap};
use super::options::{ColorChoice, Global};
use super::status_line;

/// The output of a command, and its format.
#[expect(clippy::struct_excessive_bools, reason = "each is an independent property of the output")]
#[derive(Debug, Clone)]
pub(crate) struct Console {
    /// True if results are JSON.
    pub(crate) json: bool,
    /// The number of times that `-v` was given.
    pub(crate) verbose: u8,
    /// True if only results and errors are printed.
    pub(crate) quiet: bool,
    /// The colors on stdout.
    pub(crate) out: Paint,
    /// The colors on stderr.
    pub(crate) err: Paint,
    /// True if stdout is a terminal.
    pub(crate) out_is_terminal: bool,
    /// True if stderr is a terminal.
    pub(crate) err_is_terminal: bool,
    /// The width of stdout in columns; `None` if stdout is not a terminal, and lines are therefore not wrapped.
    pub(crate) out_width: Option<usize>,
    /// The width of stderr in columns; `None` if stderr is not a terminal.
    pub(crate) err_width: Option<usize>,
    /// True if the user can be asked: stdin and stderr are terminals.
    pub(crate) can_ask: bool,
}

impl Console {
    /// Creates the console of this process.
    pub(crate) fn new(global: &Global) -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let colors = |is_terminal: bool| match global.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => is_terminal && !plain && !dumb,
        };
        let (out, err) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        Self {
            json: global.json,
            verbose: global.verbose,
            quiet: global.quiet,
            out: Paint(colors(out)),
            err: Paint(colors(err)),
            out_is_terminal: out,
            err_is_terminal: err,
            out_width: out.then(|| width(io::stdout())),
            err_width: err.then(|| width(io::stderr())),
            can_ask: io::stdin().is_terminal() && err,
        }
    }

    /// Creates a console for work in the background, which shows and asks nothing.
    pub(crate) fn silent() -> Self {
        Self {
            json: false,
            verbose: 0,
            quiet: true,
            out: Paint(false),
            err: Paint(false),
            out_is_terminal: false,
            err_is_terminal: false,
            out_width: None,
            err_width: None,
            can_ask: false,
        }
    }

    /// Prints a result, and a newline after it.
    ///
    /// # Errors
    /// Fails if stdout cannot be written; the failure prints nothing if the reader of stdout is gone.
    pub(crate) fn print(&self, text: &str) -> Result<(), Failure> {
        let text = if self.json && self.out_is_terminal { harmless_json(text) } else { Cow::Borrowed(text) };
        let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
        self.write(text.as_bytes()).and_then(|()| self.write(end.as_bytes()))
    }

    /// Writes bytes to stdout as they are.
    ///
    /// # Errors
    /// Fails in the same cases as [`Console::print`].
    #[expect(clippy::unused_self, reason = "only code that has the console may write")]
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        status_line::clear();
        let mut out = io::stdout().lock();
        out.write_all(bytes).and_then(|()| out.flush()).map_err(|e| match e.kind() {
            io::ErrorKind::BrokenPipe => Failure::silent(0),
            _ => Failure::new(format!("cannot write the result: {e}")),
        })
    }

    /// Returns false once the reader of a pipe is gone.
    #[expect(clippy::unused_self, reason = "only code that has the console may ask")]
    pub(crate) fn is_read(&self) -> bool {
        let out = io::stdout();
        let mut asked = [PollFd::new(&out, PollFlags::empty())];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut asked, Some(&now)).is_err() || !asked[0].revents().contains(PollFlags::ERR)
    }

    /// Prints a text on stderr in lines that fit, unless `quiet` is set.
    pub(crate) fn note(&self, text: &str) {
        if self.quiet {
            return;
        }
        // The caller has laid out a text with colors.
        if text.contains('\x1b') { self.complain(text) } else { self.complain(&self.fitted_err(text, 0)) }
    }

    /// Prints a line on stderr, even if `quiet` is set.
    #[expect(clippy::unused_self, reason = "only code that has the console may write")]
    pub(crate) fn complain(&self, text: &str) {
        status_line::clear();
        // If this fails, there is no other place to report the failure.
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// Writes to stderr without a newline, for questions and progress.
    #[expect(clippy::unused_self, reason = "only code that has the console may write")]
    pub(crate) fn hint(&self, text: &str) {
        status_line::clear();
        let mut err = io::stderr().lock();
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }

    /// Returns a foreign text that is safe to print on stdout: on a terminal, escapes replace its control
    /// characters.
    pub(crate) fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.out_is_terminal { harmless(text) } else { Cow::Borrowed(text) }
    }

    /// Returns a text in lines that fit on stdout, broken between words.
    pub(crate) fn fitted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        fitted(text, self.out_width, 0)
    }

    /// Returns a text in lines that fit on stderr; lines after the first are indented by `indent` columns.
    pub(crate) fn fitted_err<'t>(&self, text: &'t str, indent: usize) -> Cow<'t, str> {
        fitted(text, self.err_width, indent)
    }
}

/// Returns the width of the terminal for help: of stdout, or else of stderr; `None` if neither is a terminal.
pub(crate) fn terminal_width() -> Option<usize> {
    let (out, err) = (io::stdout(), io::stderr());
    if out.is_terminal() { Some(width(out)) } else { err.is_terminal().then(|| width(err)) }
}

fn fitted(text: &str, width: Option<usize>, indent: usize) -> Cow<'_, str> {
    match width {
        Some(width) if text.len() > width || text.contains('\n') => wrap(text, width, 0, indent).into(),
        _ => Cow::Borrowed(text),
    }
}

/// Returns the width of a terminal in columns.
fn width(terminal: impl AsFd) -> usize {
    let columns = tcgetwinsize(terminal).map_or(0, |size| usize::from(size.ws_col));
    if columns == 0 { USUAL_WIDTH } else { columns.max(LEAST_WIDTH) }
}

/// Returns a text in which control characters other than newline and tab, and other invisible characters, are
/// written as escapes: `\u{1b}`. A carriage return before a newline is dropped.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(is_bad) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 64);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            _ if is_bad(c) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
            _ => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// The maximum length of a foreign text within a message, in bytes.
const LONGEST: usize = 4096;

/// Returns a foreign text for a message: without control characters, and truncated if it is long.
pub(crate) fn message(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST {
        return harmless(text);
    }
    let kept = &text[..text.floor_char_boundary(LONGEST)];
    format!("{}… ({} bytes in all)", harmless(kept), text.len()).into()
}

/// Returns a JSON text in which control characters and invisible characters are written as escapes; such characters occur only in
/// strings.
fn harmless_json(text: &str) -> Cow<'_, str> {
    if !text.contains(is_bad) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 64);
    for c in text.chars() {
        if is_bad(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Returns a foreign text on one line.
pub(crate) fn one_line(text: &str) -> String {
    harmless(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns true for characters that control a terminal, or that hide or reorder other characters. Characters that join
/// letters or pictures are not among them.
fn is_bad(c: char) -> bool {
    let is_unseen = matches!(c,
        '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    (c.is_control() && !matches!(c, '\n' | '\t')) || is_unseen
}

/// Colors for one stream, or none.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Paint(pub(crate) bool);

impl Paint {
    fn with(self, code: &str, text: &str) -> String {
        if self.0 && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Marks important text.
    pub(crate) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// Marks less important text.
    pub(crate) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// Marks errors.
    pub(crate) fn red(self, text: &str) -> String {
        self.with("1;31", text)
    }

    /// Marks warnings.
    pub(crate) fn yellow(self, text: &str) -> String {
        self.with("33", text)
    }

    /// Marks names and addresses.
    pub(crate) fn cyan(self, text: &str) -> String {
        self.with("36", text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_cannot_play_with_the_terminal() {
        assert_eq!(
            harmless("a\x1b[2Jb\u{202e}\u{200b}\u{e0041}c\td\r\ne\r\u{7}"),
            "a\\u{1b}[2Jb\\u{202e}\\u{200b}\\u{e0041}c\td\ne\\u{d}\\u{7}"
        );
        assert!(matches!(harmless("plain"), Cow::Borrowed(_)));
        assert_eq!(one_line(" a\n b\t c "), "a b c");
    }

    #[test]
    fn json_says_the_same_without_playing_with_the_terminal() {
        let value = serde_json::json!({"a": "x\u{9b}2Jy\u{202e}\u{e0041}\u{200d}", "b": ["\u{feff}", 1]});
        let shown = harmless_json(&value.to_string()).into_owned();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        assert!(
            shown.contains("x\\u009b2Jy\\u202e\\udb40\\udc41\u{200d}") && shown.contains("\\ufeff"),
            "{shown}"
        );
        assert!(matches!(harmless_json("{\n\"a\":1}\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_message_has_an_end() {
        assert_eq!(message("a\u{7}"), "a\\u{7}");
        let long = message(&"é".repeat(1 << 20)).into_owned();
        assert!(long.len() < 5000 && long.ends_with("é… (2097152 bytes in all)"), "{}", &long[4000..]);
    }

    #[test]
    fn paint_is_optional() {
        assert_eq!(Paint(true).bold("x"), "\x1b[1mx\x1b[0m");
        assert_eq!(Paint(false).red("x"), "x");
    }
}
