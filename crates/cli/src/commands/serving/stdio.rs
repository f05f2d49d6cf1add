//! `dragoman stdio`: like `serve`, for one client that starts it as a child process.

use std::time::Duration;

use config::{DEFAULT_PROFILE, Limits};
use transport::net::RuntimeKind;

use crate::commands::configuration::settings::{ConfigSource, Settings};
use crate::commands::configuration::state;
use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::output::options::Global;
use crate::preset::{self, Preset};
use gateway::Options;

/// The time for which the first list waits for servers that are still starting. This wait applies if the lists of
/// these servers are not known yet, and the configuration sets no other time. Some clients that start Dragoman as a
/// command request each list only once; without this wait, they would miss the tools of these servers. Servers that
/// answered during an earlier run are shown immediately.
const CHILD_WAIT: Duration = Duration::from_secs(8);

const EXAMPLES: &str = "\
Examples:
  dragoman stdio                                  serve all configured servers to one client
  dragoman stdio --profile editors                serve one profile
  dragoman stdio https://example.com/mcp          let a client that only starts commands use a server on the network";

/// Serve one client over standard input and output
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The profile to serve
    #[arg(long, short, value_name = "NAME", default_value = DEFAULT_PROFILE)]
    profile: String,
    /// Behave like another system: bb, buddyboss, wordpress, gateway or kulturarv; --config FILE extends it
    #[arg(long, value_name = "NAME", value_parser = preset::parse, conflicts_with = "url")]
    pub(crate) preset: Option<Preset>,
    /// A server on the network to serve instead of the configuration
    #[arg(value_name = "URL", conflicts_with = "profile")]
    url: Option<String>,
}

/// Serves until stdin ends.
pub(crate) fn run(args: &Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let explicit = global.config.as_deref();
    let source = ConfigSource::of(args.preset, explicit);
    let (settings, origin) = if let Some(url) = &args.url {
        (Settings::of_url(url)?, None)
    } else {
        let settings = source.load()?;
        settings.note(console);
        let origin = source.origin(&settings, Ok);
        (settings, origin)
    };
    if !settings.config.profiles.contains_key(&args.profile) {
        let names: Vec<&str> = settings.config.profiles.keys().map(String::as_str).collect();
        let message = format!("there is no profile {:?}", args.profile);
        return Err(Failure::usage(message).help(format!("the configured profiles are {}", names.join(", "))));
    }
    let folder = state::folder(&settings).ok();
    let key_ring = state::key_ring(&settings);
    let is_default = settings.config.limits.list_wait == Limits::default().list_wait;
    let child_wait = is_default.then_some(CHILD_WAIT);
    let options = Options {
        config: settings.config,
        origin,
        runtime: RuntimeKind::PerCore,
        threads: Some(1),
        folder,
        key_ring,
        child_wait,
        ready: Box::new(|_| {}),
    };
    gateway::stdio(options, &args.profile).map_err(|e| Failure::new(e.to_string()))
}
