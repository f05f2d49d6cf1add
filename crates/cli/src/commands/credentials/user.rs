//! `dragoman user`: creates a name with a password for `auth.users`. The configuration contains only the password's hash.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use argon2::Argon2;
use argon2::password_hash::PasswordHasher as _;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use crate::output::console::Console;
use crate::output::failure::Failure;

/// The maximum length of a password, in bytes.
const LONGEST: u64 = 1024;

/// The minimum length of a password that a person chooses, in characters.
const SHORTEST: usize = 8;

/// The letters of a generated password: none is easily mistaken for another.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

const EXAMPLES: &str = "\
Examples:
  dragoman user new ann                           create a password, and the line for auth.users
  printf %s \"$PASSWORD\" | dragoman user new ann --stdin

Clients send the name and the password as `Authorization: Basic …`.";

/// Create users with passwords
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: UserCommand,
}

#[derive(Debug, clap::Subcommand)]
enum UserCommand {
    /// Print the line for `auth.users`; a password is generated and shown once
    New {
        /// The user's name
        #[arg(value_name = "NAME", value_parser = name)]
        name: String,
        /// Read the password from stdin instead of generating one
        #[arg(long)]
        stdin: bool,
    },
}

fn name(text: &str) -> Result<String, &'static str> {
    if text.is_empty() || text.contains(':') || text.chars().any(char::is_control) {
        return Err("a name must not be empty, and must not contain colons or control characters");
    }
    Ok(text.to_owned())
}

/// Creates a user.
pub(crate) fn run(args: Args, console: &Console) -> Result<(), Failure> {
    let UserCommand::New { name, stdin } = args.what;
    let password = if stdin { read(console)? } else { generated()? };
    let mut salt = [0; 16];
    fill(&mut salt)?;
    let hash = Argon2::default()
        .hash_password_with_salt(password.as_bytes(), &salt)
        .map_err(|e| Failure::new(format!("the password cannot be hashed: {e}")))?
        .to_string();
    if console.json {
        let shown = (!stdin).then_some(&password);
        return console.print(&json!({"name": name, "password": shown, "hash": hash}).to_string());
    }
    if !stdin {
        console.note(&format!(
            "The password of {} is shown only once:\n\n  {password}\n",
            console.err.bold(&name)
        ));
    }
    console.note(
        "Write this line into the configuration: under `auth: users:` for a caller, under `admin: users:` for an operator of the \
         admin pages:\n",
    );
    let key = serde_json::Value::from(name.as_str());
    console.print(&format!("{key}: \"{hash}\""))
}

/// Returns a password with 100 random bits.
fn generated() -> Result<String, Failure> {
    let mut random = [0; 20];
    fill(&mut random)?;
    let letter = |byte: &u8| char::from(LETTERS[usize::from(byte % 32)]);
    let groups: Vec<String> = random.chunks(5).map(|group| group.iter().map(letter).collect()).collect();
    Ok(groups.join("-"))
}

fn fill(random: &mut [u8]) -> Result<(), Failure> {
    getrandom::fill(random)
        .map_err(|e| Failure::new(format!("the operating system's random number generator failed: {e}")))
}

/// Reads a password from stdin; a terminal does not show it.
fn read(console: &Console) -> Result<String, Failure> {
    let line = if io::stdin().is_terminal() { typed(console)? } else { read_line() };
    let line = line.map_err(|e| Failure::usage(format!("cannot read the password from stdin: {e}")))?;
    let password = line.trim_end_matches(['\r', '\n']).to_owned();
    if password.chars().count() < SHORTEST || password.len() as u64 > LONGEST {
        let message = format!("the password has {} characters", password.chars().count());
        return Err(Failure::usage(message).help(format!(
            "choose a password of at least {SHORTEST} characters and at most {LONGEST} bytes"
        )));
    }
    Ok(password)
}

fn read_line() -> io::Result<String> {
    let mut line = String::new();
    io::stdin().lock().take(LONGEST + 1).read_line(&mut line)?;
    Ok(line)
}

/// Reads a line from the terminal, which does not show it.
///
/// # Errors Fails after Ctrl-C, or if this process is to end; then the terminal shows typed text again.
fn typed(console: &Console) -> Result<io::Result<String>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::new(format!("cannot create an event queue: {e}")))?;
    let line = runtime.block_on(typed_or_interrupted(console)).transpose();
    // A read from the terminal cannot be cancelled: it ends with the process.
    runtime.shutdown_background();
    let line = line.ok_or_else(Failure::interrupted)?;
    console.hint("\n");
    Ok(line)
}

/// Returns the typed line; `None` if a signal ends this process.
async fn typed_or_interrupted(console: &Console) -> io::Result<Option<String>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    let _hidden = HiddenInput::start()?;
    console.hint("Password (not shown): ");
    tokio::select! {
        read = transport::task::spawn_blocking(read_line) => read.map_err(io::Error::other)?.map(Some),
        _ = interrupt.recv() => Ok(None),
        _ = terminate.recv() => Ok(None),
        _ = hang_up.recv() => Ok(None),
    }
}

/// The terminal while it does not show what is typed. It is restored when this value is dropped.
struct HiddenInput {
    before: Termios,
}

impl HiddenInput {
    fn start() -> io::Result<Self> {
        let stdin = io::stdin();
        let before = tcgetattr(&stdin)?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        // Ctrl-Z would leave a terminal that shows nothing.
        hidden.special_codes[SpecialCodeIndex::VSUSP] = 0;
        tcsetattr(&stdin, OptionalActions::Flush, &hidden)?;
        Ok(Self { before })
    }
}

impl Drop for HiddenInput {
    fn drop(&mut self) {
        // If the terminal is gone, there is nothing left to restore.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}
