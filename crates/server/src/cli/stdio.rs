//! `dragoman stdio`: the same as `serve`, for one client that starts it as a child process.

use std::time::Duration;

use engine::config::{DEFAULT_PROFILE, Limits};
use transport::net::RuntimeKind;

use super::settings::{Settings, Source};
use super::state;
use crate::gateway::run::{self, Options};
use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::output::options::Global;
use crate::preset::{self, Preset};

/// How long a list waits for servers here, where nobody says so. The client starts the servers together with this program and
/// asks at once; some of those that start commands list once.
const LIST_WAIT: Duration = Duration::from_secs(8);

const EXAMPLES: &str = "\
Examples:
  dragoman stdio                                  all servers of the configuration, for one client
  dragoman stdio --profile editors                the view of one profile
  dragoman stdio https://example.com/mcp          a server on the network for a client that only starts commands";

/// Serve one client over standard input and output
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Which profile of the configuration
    #[arg(long, short, value_name = "NAME", default_value = DEFAULT_PROFILE)]
    profile: String,
    /// Behave as another system does: bb, buddyboss, wordpress, gateway or kulturarv; --config FILE extends it
    #[arg(long, value_name = "NAME", value_parser = preset::parse, conflicts_with = "url")]
    pub(super) preset: Option<Preset>,
    /// A server on the network to serve instead of what the configuration says
    #[arg(value_name = "URL", conflicts_with = "profile")]
    url: Option<String>,
}

/// Settings by which lists wait for servers that start together with their client.
fn patient(mut settings: Settings) -> Settings {
    let wait = &mut settings.config.limits.list_wait;
    if *wait == Limits::default().list_wait {
        *wait = LIST_WAIT;
    }
    settings
}

/// Serves until stdin ends.
pub(super) fn run(args: &Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let explicit = global.config.as_deref();
    let source = Source::of(args.preset, explicit);
    let (settings, origin) = if let Some(url) = &args.url {
        (Settings::of_url(url)?, None)
    } else {
        let settings = patient(source.load()?);
        settings.note(console);
        let origin = source.origin(&settings, |settings| Ok(patient(settings)));
        (settings, origin)
    };
    if !settings.config.profiles.contains_key(&args.profile) {
        let names: Vec<&str> = settings.config.profiles.keys().map(String::as_str).collect();
        let message = format!("there is no profile {:?}", args.profile);
        return Err(Failure::usage(message).mend(format!("the configuration has {}", names.join(", "))));
    }
    let folder = state::folder(&settings).ok();
    let options = Options {
        config: settings.config,
        origin,
        runtime: RuntimeKind::PerCore,
        threads: Some(1),
        folder,
        ready: Box::new(|_| {}),
    };
    run::stdio(options, &args.profile).map_err(|e| Failure::new(e.to_string()))
}
