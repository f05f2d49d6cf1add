//! What is logged, and how it looks: lines on stderr, never on stdout, which belongs to results and to stdio clients.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

use super::console::Console;
use super::failure::Failure;

/// The environment variable that says what is logged: `info`, or `warn,dragoman=debug`.
const VARIABLE: &str = "DRAGOMAN_LOG";

/// The environment variable that presets read, as the systems do that they stand for: one level.
const LEVEL: &str = "LOG_LEVEL";

/// The level of a preset where nobody names one.
const USUAL: &str = "info";

/// Starts logging. With a preset [`LEVEL`] counts, too. A command that `serves` has time stamps, except where the journal adds its own.
///
/// # Errors
/// When the variable cannot be read.
pub(crate) fn init(console: &Console, serves: bool, preset: bool) -> Result<(), Failure> {
    let own = std::env::var(VARIABLE).ok();
    let named = std::env::var(LEVEL).ok().filter(|_| preset && own.is_none());
    let known = level(named.as_deref());
    let filter = if preset && own.is_none() {
        EnvFilter::new(known.unwrap_or(USUAL))
    } else {
        filter(own.as_deref(), console)?
    };
    let lines = fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(console.err.0)
        .with_target(false);
    let journal = std::env::var_os("JOURNAL_STREAM").is_some();
    let set = if serves && !journal { lines.try_init() } else { lines.without_time().try_init() };
    set.map_err(|e| Failure::new(format!("logging cannot be started: {e}")))?;
    if known.is_none() {
        let mend = "write trace, debug, info, warn, error or off";
        tracing::warn!(mend, "{LEVEL}={:?} is no level, so {USUAL} counts", named.unwrap_or_default());
    }
    Ok(())
}

/// A level by the names that systems have for it; the usual one where nobody named one.
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

fn filter(variable: Option<&str>, console: &Console) -> Result<EnvFilter, Failure> {
    match variable.map(str::trim).filter(|text| !text.is_empty()) {
        Some(text) => EnvFilter::try_new(text).map_err(|e| {
            Failure::usage(format!("{VARIABLE}={text:?} cannot be read: {e}")).mend(format!(
                "write a level, {VARIABLE}=info, or levels by part, {VARIABLE}=warn,dragoman=debug"
            ))
        }),
        None => Ok(EnvFilter::new(match (console.quiet, console.verbose) {
            (true, _) => "error",
            (false, 0) => "warn",
            (false, 1) => "info",
            (false, 2) => "info,dragoman=debug,dragoman_transport=debug",
            (false, _) => "trace",
        })),
    }
}
