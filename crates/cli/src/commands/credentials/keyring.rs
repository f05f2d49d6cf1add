//! `dragoman keyring`: lists and rotates the keys that seal session IDs and states of clients. This command never shows a key.

use std::fmt::Write as _;

use serde_json::{Value, json};
use store::keyring::{FreshKey, KeyState, Ring, RingFile, RingKey, Role};

use crate::commands::configuration::state::{StateFolder, StateOptions, failed};
use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::output::moment::{self, rfc3339, short};
use crate::output::options::Global;

const EXAMPLES: &str = "\
Examples:
  dragoman keyring list
  dragoman keyring rotate                         seal with a new key from now on
  dragoman keyring rotate --names                 also replace the key for task ids

The keys seal session ids, task ids and states of clients. A running gateway reads a changed ring within a second.";

/// List and rotate the keys that seal session ids and states of clients
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: KeyringCommand,
}

#[derive(Debug, clap::Subcommand)]
enum KeyringCommand {
    /// List the keys of the ring, without their secrets
    List {
        #[command(flatten)]
        place: StateOptions,
    },
    /// Add a key with which new data is sealed; the previous key can still open older data for limits.sessionLifetime
    Rotate {
        /// Replace the key for task ids, too: listed tasks get new ids
        #[arg(long)]
        names: bool,
        #[command(flatten)]
        place: StateOptions,
    },
}

/// Lists or rotates the keys.
pub(crate) fn run(args: Args, global: &Global, console: &Console) -> Result<(), Failure> {
    match args.what {
        KeyringCommand::List { place } => list(&place.find(global, console)?, console),
        KeyringCommand::Rotate { names, place } => rotate(names, &place.find(global, console)?, console),
    }
}

fn list(state: &StateFolder, console: &Console) -> Result<(), Failure> {
    let found = RingFile::open_existing(&state.key_ring).map_err(|e| failed(&e))?;
    let Some((_, ring)) = found else {
        if console.json {
            return console.print(&json!({ "keys": [] }).to_string());
        }
        console.note("There is no key ring yet. A gateway creates it when it starts.");
        return Ok(());
    };
    show(&ring, console)
}

fn rotate(names: bool, state: &StateFolder, console: &Console) -> Result<(), Failure> {
    let now = moment::now();
    let fresh = [random_key()?, random_key()?];
    let (mut file, _) = RingFile::open(&state.key_ring, &fresh, now).map_err(|e| failed(&e))?;
    let fresh = [random_key()?, random_key()?];
    let changed = file.change(|ring| {
        ring.rotate(Role::Seals, &fresh[0], now);
        if names {
            ring.rotate(Role::Names, &fresh[1], now);
        }
        true
    });
    let ring = changed.map_err(|e| failed(&e))?;
    console.note("The new key takes effect in a few seconds, once every gateway has read it.");
    show(&ring, console)
}

fn random_key() -> Result<FreshKey, Failure> {
    let mut random = [0; 36];
    getrandom::fill(&mut random)
        .map_err(|e| Failure::new(format!("the operating system's random number generator failed: {e}")))?;
    Ok(random)
}

const fn word(state: KeyState) -> &'static str {
    match state {
        KeyState::Seals => "seals",
        KeyState::Waits => "waits",
        KeyState::Opens => "opens",
    }
}

/// Returns the use of a key, for people and scripts.
const fn subject(role: Role) -> &'static str {
    match role {
        Role::Seals => "states",
        Role::Names => "names",
    }
}

fn show(ring: &Ring, console: &Console) -> Result<(), Failure> {
    let now = moment::now();
    if console.json {
        let described = |key: &RingKey| {
            json!({
                "id": key.id.to_string(),
                "for": subject(key.role),
                "state": word(ring.state(key, now)),
                "created": rfc3339(key.created_ms),
            })
        };
        let keys: Vec<Value> = ring.keys().iter().map(described).collect();
        return console.print(&json!({ "keys": keys }).to_string());
    }
    let mut text = format!("{}\n", console.out.bold("KEY       FOR     STATE  CREATED (UTC)"));
    for key in ring.keys() {
        let (state, created) = (word(ring.state(key, now)), short(key.created_ms));
        let _ = writeln!(text, "{}  {:<6}  {state:<5}  {created}", key.id, subject(key.role));
    }
    console.print(text.trim_end())
}
