//! The log: its filters and its format. The log is written to stderr, never to stdout, which is for results and clients on
//! a pipe.

use std::ascii;
use std::borrow::Cow;
use std::io::{self, Write};

use config::LogFormat;
use tracing_subscriber::filter::{LevelFilter, ParseError, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{fmt, registry};

use super::log_format::{self, EventFormat};
use super::log_ring::LogRing;
use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::output::layout::wrap;
use crate::output::options::LogStyle;
use crate::output::status_line;

/// The environment variable that contains the log filter: `info`, or `warn,dragoman=debug`.
const VARIABLE: &str = "DRAGOMAN_LOG";

/// The environment variable that contains a single level. Presets read this variable, as the systems that they replace do.
const LEVEL: &str = "LOG_LEVEL";

/// The default level of a preset.
const USUAL: &str = "info";

/// Starts logging. With a preset, [`LEVEL`] applies, unless `-q` or `-v` is given. A command that `serves` logs
/// timestamps, unless the journal adds its own.
///
/// # Errors
/// Fails if the variable is invalid.
pub(crate) fn init(console: &Console, serves: bool, preset: bool) -> Result<(), Failure> {
    let own = std::env::var(VARIABLE).ok();
    let named = std::env::var(LEVEL).ok().filter(|_| preset && own.is_none());
    let known = level(named.as_deref());
    let says = console.quiet || console.verbose > 0;
    let filter = if preset && own.is_none() && !says {
        of(known.unwrap_or(USUAL))
    } else {
        filter(own.as_deref(), console)?
    };
    // The lines of a command fit the terminal; those of a gateway stay whole, because they are kept and searched.
    let width = console.err_width.filter(|_| !serves);
    let lines = fmt::layer().with_writer(move || Lines { width }).with_ansi(console.err.0);
    let format = fmt::format().with_target(false).with_ansi(console.err.0);
    let journal = std::env::var_os("JOURNAL_STREAM").is_some();
    let ring = serves.then_some(LogRing);
    let set = if serves && !journal {
        registry().with(filter).with(ring).with(lines.event_format(EventFormat(format))).try_init()
    } else {
        let lines = lines.event_format(EventFormat(format.without_time()));
        registry().with(filter).with(ring).with(lines).try_init()
    };
    set.map_err(|e| Failure::new(format!("cannot start logging: {e}")))?;
    if known.is_none() {
        let help = "write trace, debug, info, warn, error or off";
        tracing::warn!(
            help,
            "{LEVEL}={:?} is not a log level, so {USUAL} applies",
            named.unwrap_or_default()
        );
    }
    Ok(())
}

/// Chooses the format of the log: the option, else the environment variable, else the configuration. `serves` is true for a
/// gateway, whose log people rarely read while it is being written.
///
/// # Errors
/// Fails if the variable is invalid.
pub(crate) fn choose_format(
    console: &Console,
    option: Option<LogStyle>,
    configured: LogFormat,
    serves: bool,
) -> Result<(), Failure> {
    let text = std::env::var(log_format::VARIABLE).unwrap_or_default();
    let named = match text.trim() {
        "" => None,
        text => Some(<LogStyle as clap::ValueEnum>::from_str(text, true).map_err(|_| {
            Failure::usage(format!("invalid {}={text:?}", log_format::VARIABLE))
                .help("write auto, pretty or json")
        })?),
    };
    let format = option.or(named).map_or(configured, LogStyle::format);
    log_format::choose(format, serves, console.err_is_terminal);
    Ok(())
}

/// Writes lines to stderr, one per event: texts from clients and servers may contain line breaks, and these must not
/// look like further events.
struct Lines {
    /// The columns that a line may take; `None` if lines stay whole.
    width: Option<usize>,
}

impl Write for Lines {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        status_line::clear();
        // In JSON, the format has escaped everything already, and a broken line would be invalid.
        let (line, width) =
            if log_format::is_json() { (Cow::Borrowed(event), None) } else { (one_line(event), self.width) };
        match (width, std::str::from_utf8(&line)) {
            // The codes of colors count as columns, so a line with colors breaks a little earlier than necessary.
            (Some(width), Ok(line)) => io::stderr().write_all(wrap(line, width, 0, 2).as_bytes())?,
            _ => io::stderr().write_all(&line)?,
        }
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Returns an event without characters that would end its line or move the cursor. Escape characters stay, because
/// only the log itself writes them, for colors.
fn one_line(event: &[u8]) -> Cow<'_, [u8]> {
    let (text, end) = event.split_at(event.len() - usize::from(event.ends_with(b"\n")));
    let moves = |byte: u8| byte.is_ascii_control() && byte != b'\t' && byte != b'\x1b';
    if !text.iter().any(|byte| moves(*byte)) {
        return Cow::Borrowed(event);
    }
    let escaped = |byte: &u8| {
        let (own, escaped) =
            if moves(*byte) { (None, Some(ascii::escape_default(*byte))) } else { (Some(*byte), None) };
        own.into_iter().chain(escaped.into_iter().flatten())
    };
    Cow::Owned(text.iter().flat_map(escaped).chain(end.iter().copied()).collect())
}

/// Returns the level with this name; other systems' names for a level are accepted, too. Returns the default level
/// if there is no text, and `None` for an unknown name.
fn level(text: Option<&str>) -> Option<&'static str> {
    match text.map_or(USUAL, str::trim).to_ascii_lowercase().as_str() {
        "trace" => Some("trace"),
        "debug" => Some("debug"),
        "info" | "" => Some("info"),
        "warn" | "warning" => Some("warn"),
        "error" | "fatal" | "critical" => Some("error"),
        "off" | "none" => Some("off"),
        _ => None,
    }
}

fn filter(variable: Option<&str>, console: &Console) -> Result<Targets, Failure> {
    match variable.filter(|text| !text.trim().is_empty()) {
        Some(text) => named(text).map_err(|e| {
            Failure::usage(format!("invalid {VARIABLE}={text:?}: {e}")).help(format!(
                "write one level, such as {VARIABLE}=info, or levels by target, such as {VARIABLE}=warn,dragoman=debug"
            ))
        }),
        None => Ok(of(match (console.quiet, console.verbose) {
            (true, _) => "error",
            (false, 0) => "warn,dragoman::state=info",
            (false, 1) => "info",
            (false, 2) => "info,dragoman=debug,dragoman_transport=debug",
            (false, _) => "trace",
        })),
    }
}

/// Parses the user's filter. Targets that the filter does not name log only errors.
fn named(text: &str) -> Result<Targets, ParseError> {
    let named: Targets = text.trim().parse()?;
    Ok(if named.default_level().is_none() { named.with_default(LevelFilter::ERROR) } else { named })
}

/// Parses a filter from a constant of this file.
fn of(text: &str) -> Targets {
    text.parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::filter::LevelFilter;

    use super::{level, named, of, one_line};

    #[test]
    fn an_event_is_one_line_whatever_is_told_in_it() {
        assert_eq!(&*one_line(b"request\tx\x1b[0m\n"), b"request\tx\x1b[0m\n");
        assert_eq!(&*one_line(b"a\n2026 INFO forged\r\x08b\n"), b"a\\n2026 INFO forged\\r\\x08b\n");
        assert_eq!(&*one_line(b"no end"), b"no end");
        assert_eq!(&*one_line(b""), b"");
    }

    #[test]
    fn every_level_of_our_own_is_known() {
        for text in ["trace", "debug", "info", "warn", "error", "off"] {
            assert_eq!(level(Some(text)), Some(text));
            assert_eq!(of(text).default_level().map(|level| level.to_string()).as_deref(), Some(text));
        }
        assert!(of("info,dragoman=debug").would_enable("dragoman::gateway", &tracing::Level::DEBUG));
        assert!(!of("info,dragoman=debug").would_enable("hyper", &tracing::Level::DEBUG));
    }

    #[test]
    fn levels_are_by_part_and_what_is_not_named_tells_of_errors() {
        let parts = named(" dragoman=debug ").unwrap();
        assert!(parts.would_enable("dragoman", &tracing::Level::DEBUG));
        assert_eq!(parts.default_level(), Some(LevelFilter::ERROR));
        assert!(named("dragoman=loud").is_err());
    }
}
