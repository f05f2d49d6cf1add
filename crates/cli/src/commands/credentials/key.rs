//! `dragoman key`: creates, lists and revokes API keys. Only a key's owner has the key's text.

use engine::access::{Principal, Rules};
use serde_json::{Value, json};
use store::keys::{ApiKey, KeyState, KeyText, Keys, NewKey, Revocation};

use crate::commands::configuration::state::{StateFolder, StateOptions, failed};
use crate::output::console::{Console, one_line};
use crate::output::failure::Failure;
use crate::output::moment::{self, TimeArgument, rfc3339, short};
use crate::output::options::Global;
use crate::output::table::Table;

const EXAMPLES: &str = "\
Examples:
  dragoman key new ann                            create a key that never expires, for all profiles
  dragoman key new ci --profile build --expires 30d
  dragoman key list
  dragoman key revoke ann

A key is shown only once, when it is created. Clients send it as `Authorization: Bearer KEY`.";

/// Create, list and revoke API keys
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Create a key and print it; it is never shown again
    New(NewKeyOptions),
    /// List the API keys
    List {
        #[command(flatten)]
        place: StateOptions,
    },
    /// Revoke a key
    Revoke {
        /// The key's name, or the first characters of the key, as `dragoman key list` shows them
        #[arg(value_name = "NAME|PREFIX")]
        which: String,
        #[command(flatten)]
        place: StateOptions,
    },
}

#[derive(Debug, clap::Args)]
struct NewKeyOptions {
    /// The name of the key's user; must be unique among the keys in use
    #[arg(value_name = "NAME")]
    name: String,
    /// A profile for which the key is valid; may be repeated [default: all profiles]
    #[arg(long, short, value_name = "PROFILE")]
    profile: Vec<String>,
    /// The time when the key expires: a span such as 12h, 30d or 4w, or a date in UTC [default: never]
    #[arg(long, value_name = "WHEN", value_parser = TimeArgument::parse)]
    expires: Option<TimeArgument>,
    #[command(flatten)]
    place: StateOptions,
}

/// Creates, lists or revokes keys.
pub(crate) fn run(args: Args, global: &Global, console: &Console) -> Result<(), Failure> {
    match args.what {
        Command::New(args) => new(args, global, console),
        Command::List { place } => list(&place.find(global, console)?, console),
        Command::Revoke { which, place } => revoke(&which, &place.find(global, console)?, console),
    }
}

fn new(args: NewKeyOptions, global: &Global, console: &Console) -> Result<(), Failure> {
    let StateFolder { folder, config, .. } = args.place.find(global, console)?;
    let now = moment::now();
    let expires = args.expires.map(|written| written.after(now));
    if expires.is_some_and(|end| end <= now) {
        return Err(Failure::usage("the expiry of the key is in the past")
            .help("give a time in the future; 30d is 30 days from now"));
    }
    let mut random = [0; 32];
    getrandom::fill(&mut random)
        .map_err(|e| Failure::new(format!("the operating system's random number generator failed: {e}")))?;
    let text = KeyText::generate(random);
    let wanted = NewKey { name: args.name, profiles: args.profile, expires_ms: expires };
    let mut keys = Keys::open(&folder).map_err(|e| failed(&e))?;
    let key = keys.add(&wanted, &text, now).map_err(|e| failed(&e))?;
    if let Some(config) = &config {
        for profile in wanted.profiles.iter().filter(|name| !config.profiles.contains_key(*name)) {
            let known = config.profiles.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            console.note(&format!(
                "note: the configuration has no profile {profile:?}; the configured profiles are {known}"
            ));
        }
        if !config.auth.keys {
            console.note("note: the configuration does not accept keys yet; set `auth: { keys: true }`");
        }
        let principal = Principal::of_key(&key.prefix, &key.name, key.profiles.as_deref());
        let profiles = config.profiles.keys().map(String::as_str);
        if Rules::compile(&config.access).give_nothing(&principal, profiles) {
            let name = &key.name;
            console.note(&format!(
                "note: the rules in `access` give this key no access; add a rule such as {{ allow: '*', who: {{ key: {name:?} }} }}"
            ));
        }
    }
    if console.json {
        let mut told = described(&key, now);
        told["key"] = json!(text.expose());
        return console.print(&told.to_string());
    }
    let profiles = key.profiles.as_ref().map_or("all profiles".to_owned(), |names| names.join(", "));
    let end = key.expires_ms.map_or("never expires".to_owned(), |end| format!("expires {} UTC", short(end)));
    console.note(&format!(
        "The key {} is valid for {profiles} and {end}. It is shown only once:",
        console.err.bold(&key.name)
    ));
    console.print(text.expose())?;
    console.note("Clients send it as a header:  Authorization: Bearer KEY");
    Ok(())
}

fn list(state: &StateFolder, console: &Console) -> Result<(), Failure> {
    let keys = Keys::open_existing(&state.folder).map_err(|e| failed(&e))?;
    let keys = keys.map_or(Ok(Vec::new()), |keys| keys.list()).map_err(|e| failed(&e))?;
    let now = moment::now();
    if console.json {
        let all: Vec<Value> = keys.iter().map(|key| described(key, now)).collect();
        return console.print(&json!({ "keys": all }).to_string());
    }
    if keys.is_empty() {
        console.note("There are no keys. `dragoman key new NAME` creates one.");
        return Ok(());
    }
    console.print(&table(&keys, now, console))
}

fn revoke(which: &str, state: &StateFolder, console: &Console) -> Result<(), Failure> {
    let now = moment::now();
    let keys = Keys::open_existing(&state.folder).map_err(|e| failed(&e))?;
    let done = match keys {
        Some(mut keys) => keys.revoke(which, now).map_err(|e| not_revoked(&e))?,
        None => Revocation::Unknown,
    };
    let (key, since) = match &done {
        Revocation::Done(key) => (key, "is revoked".to_owned()),
        Revocation::Already(key) => {
            (key, format!("was revoked at {} UTC", short(key.revoked_ms.unwrap_or(now))))
        }
        Revocation::Unknown => return Err(unknown(which, state)),
    };
    if console.json {
        return console.print(&described(key, now).to_string());
    }
    console.print(&format!("The key {} ({}) {since}.", console.out.bold(&one_line(&key.name)), key.prefix))
}

/// Returns the error for a key that stays valid, because its revocation cannot be stored.
fn not_revoked(error: &store::Error) -> Failure {
    let help = format!("the key is still valid: {}, and revoke it again", error.help());
    Failure::new(format!("the key was not revoked: {error}")).help(help)
}

/// Returns the error for an unknown key. The text may be a mistyped key, so the message repeats only the part that may
/// be shown.
fn unknown(which: &str, state: &StateFolder) -> Failure {
    let message = if KeyText::is_meant(which) {
        format!("no key in {} has this prefix", state.folder.display())
    } else {
        format!("no key in {} has the name {which:?}", state.folder.display())
    };
    Failure::new(message).help("`dragoman key list` shows names and prefixes")
}

fn name_of(state: KeyState) -> &'static str {
    match state {
        KeyState::Active => "active",
        KeyState::Expired => "expired",
        KeyState::Revoked => "revoked",
    }
}

/// Returns a key as JSON, for scripts.
fn described(key: &ApiKey, now: u64) -> Value {
    let time = |at: Option<u64>| at.map(rfc3339);
    json!({
        "name": key.name,
        "prefix": key.prefix,
        "state": name_of(key.state(now)),
        "profiles": key.profiles,
        "created": rfc3339(key.created_ms),
        "expires": time(key.expires_ms),
        "lastUsed": time(key.last_used_ms),
        "revoked": time(key.revoked_ms),
    })
}

/// Returns the keys as a table, for people.
fn table(keys: &[ApiKey], now: u64, console: &Console) -> String {
    let mut table =
        Table::new(&["NAME", "BEGINS WITH", "STATE", "PROFILES", "CREATED (UTC)", "EXPIRES", "LAST USED"]);
    for key in keys {
        let time = |at: Option<u64>| at.map_or("never".to_owned(), short);
        let cells = [
            one_line(&key.name),
            key.prefix.clone(),
            name_of(key.state(now)).to_owned(),
            key.profiles.as_ref().map_or("all".to_owned(), |names| one_line(&names.join(", "))),
            short(key.created_ms),
            time(key.expires_ms),
            time(key.last_used_ms),
        ];
        table.row(cells, key.state(now) != KeyState::Active);
    }
    table.lines(console.out_width, console.out)
}
