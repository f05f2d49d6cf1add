//! `dragoman serve`: serves the configuration, and prints how to connect.

use std::net::SocketAddr;
use std::sync::Arc;

use admin::endpoints::Endpoints;
use clap::ValueEnum;
use config::Config;
use serde_json::json;
use transport::net::RuntimeKind;

use super::address;
use super::welcome::{Welcome, welcome};
use crate::commands::configuration::settings::{ConfigSource, Settings};
use crate::commands::configuration::state;
use crate::output::VERSION;
use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::output::log;
use crate::output::options::{Global, LogStyle};
use crate::preset::{self, Preset};
use gateway::tls;
use gateway::{ListeningPlaces, Options};

const EXAMPLES: &str = "\
Examples:
  dragoman serve                                  serve the configuration that is found, else the demo
  dragoman serve --config team.yaml --listen 9000
  dragoman serve --preset kulturarv               behave like that system; see `dragoman config show --preset kulturarv`
  dragoman serve --listen 127.0.0.1:8808 --listen [::1]:8808";

/// Serve the configuration (the default command)
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Behave like another system: bb, buddyboss, wordpress, gateway or kulturarv; --config FILE extends it
    #[arg(long, value_name = "NAME", value_parser = preset::parse)]
    pub(crate) preset: Option<Preset>,
    /// Listen here instead of at the configured addresses: ADDRESS:PORT, or a port on loopback; may be repeated
    #[arg(long, short, value_name = "ADDRESS", value_parser = address::parse)]
    listen: Vec<SocketAddr>,
    /// Accept other machines even if some callers need not authenticate
    #[arg(long)]
    insecure: bool,
    /// Allow requests to name WordPress sites on this machine and in private networks, for development
    #[arg(long)]
    allow_private_sites: bool,
    /// Write the log as lines for people (pretty) or as JSON; auto writes JSON unless the log is on a terminal
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) log_format: Option<LogStyle>,
    /// The way in which threads share the work
    #[arg(long, hide = true, value_enum)]
    runtime: Option<Runtime>,
    /// The number of threads
    #[arg(long, hide = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// The way in which threads share the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Runtime {
    PerCore,
    WorkStealing,
}

/// Serves until the process is asked to stop.
pub(crate) fn run(args: &Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let explicit = global.config.as_deref();
    let source = ConfigSource::of(args.preset, explicit);
    let settings = fitted(args, source.load()?)?;
    // Presets reproduce systems whose log lines are documented.
    log::choose_format(console, args.log_format, settings.config.log_format, args.preset.is_none())?;
    settings.note(console);
    let again = {
        let args = args.clone();
        move |settings| fitted(&args, settings)
    };
    let config = settings.config.clone();
    let console = console.clone();
    let preset = args.preset;
    let options = Options {
        key_ring: state::key_ring(&settings),
        child_wait: None,
        config,
        origin: source.origin(&settings, again),
        runtime: match args.runtime {
            None | Some(Runtime::PerCore) => RuntimeKind::PerCore,
            Some(Runtime::WorkStealing) => RuntimeKind::WorkStealing,
        },
        threads: args.threads.map(usize::from),
        folder: state::folder(&settings).ok(),
        ready: Box::new(move |listening| greet(listening, preset, &settings, &console)),
    };
    gateway::may_open_files(options.config.limits.connections);
    let operators: Arc<dyn gateway::OperatorEndpoints> = Arc::new(Endpoints::default());
    gateway::serve(options, &operators).map_err(|e| Failure::new(e.to_string()))
}

/// Applies the command line's options to the settings.
fn fitted(args: &Args, mut settings: Settings) -> Result<Settings, Failure> {
    if !args.listen.is_empty() {
        settings.config.listen.clone_from(&args.listen);
    }
    if args.allow_private_sites {
        settings.allow_private_sites();
    }
    let config = &settings.config;
    address::refuse_open(&config.listen, args.insecure || config.asks_everybody())?;
    if config.management.is_some() {
        address::refuse_open_management(&config.listen, config.auth.asks())?;
    }
    Ok(settings)
}

/// Returns the origin at which clients reach a gateway with TLS: `publicUrl`, or else a name in the certificate.
/// Returns `None` without TLS: clients then use the listening address.
fn origin(config: &Config, addresses: &[SocketAddr]) -> Option<String> {
    config.tls.as_ref()?;
    let here = addresses.first().map(|first| tls::origin(config, address::here(*first)));
    config.public_url.clone().or(here)
}

fn greet(listening: &ListeningPlaces<'_>, preset: Option<Preset>, settings: &Settings, console: &Console) {
    let ListeningPlaces { addresses, admin_link } = listening;
    if console.quiet {
        return;
    }
    let urls: Vec<String> =
        addresses.iter().map(|one| address::url(&settings.config, *one, "/mcp")).collect();
    let text = if console.json {
        let profiles: Vec<&String> = settings.config.profiles.keys().collect();
        let mut hello = json!({"version": VERSION, "urls": urls, "profiles": profiles});
        if let Some(link) = admin_link {
            hello["admin"] = json!(link);
        }
        hello.to_string()
    } else {
        let file = settings.file.as_ref().map(|file| file.display().to_string());
        let absolute = settings.absolute_file().map(|file| file.display().to_string());
        let program =
            std::env::current_exe().map_or("dragoman".to_owned(), |path| path.display().to_string());
        let origin = origin(&settings.config, addresses);
        welcome(&Welcome {
            addresses,
            origin: origin.as_deref(),
            config: &settings.config,
            preset: preset.map(|preset| preset.name),
            file: file.as_deref(),
            absolute_file: absolute.as_deref(),
            program: &program,
            admin_link: admin_link.as_deref(),
            paint: console.out,
        })
    };
    // The program that started Dragoman need not read this text.
    let _ = console.print(&text);
}
