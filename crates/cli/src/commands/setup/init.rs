//! `dragoman init`: asks five questions, and writes a first configuration file with comments.

use serde_json::json;

use std::fmt::Write as _;

use clients::client_app::CLIENTS;

use crate::commands::clients::client_files;
use crate::commands::clients::import;
use crate::commands::configuration::config_file::ConfigFile;
use crate::commands::configuration::confirmation::{answered, confirmed};
use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::output::options::Global;

/// The port on which Dragoman listens if nothing else is configured.
const PORT: u16 = 8808;

const EXAMPLES: &str = "\
Examples:
  dragoman init                                   ask, and write dragoman.yaml
  dragoman init --yes                             use the default answers
  dragoman init --config ~/.config/dragoman/dragoman.yaml
                                                  write the file that Dragoman finds from any folder";

/// Write a first configuration file
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Use the default answers without asking: only this machine, port 8808, admin pages, no record of calls, no imported servers
    #[arg(long, short)]
    yes: bool,
}

/// The answers, which determine the text of the file.
#[expect(clippy::struct_excessive_bools, reason = "each is the answer to a question")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Answers {
    /// True if other machines use this Dragoman.
    is_shared: bool,
    port: u16,
    has_admin: bool,
    has_record: bool,
    imports: bool,
}

const DEFAULTS: Answers =
    Answers { is_shared: false, port: PORT, has_admin: true, has_record: false, imports: false };

/// Writes the file.
pub(crate) fn run(args: &Args, global: &Global, console: &Console) -> Result<(), Failure> {
    let file = ConfigFile::open(global.config.as_deref())?;
    if file.text.is_some() {
        let message = format!("{} exists already", file.shown.display());
        return Err(Failure::usage(message).help(
            "add servers with `dragoman add` or `dragoman import`, or name another file with --config",
        ));
    }
    let answers = if args.yes { DEFAULTS } else { asked(console)? };
    let text = configuration(answers);
    file.check(&text)?;
    file.replace(&text, false)?;
    let shown = file.shown.clone();
    if console.json {
        console.print(&json!({ "file": shown.display().to_string(), "written": true }).to_string())?;
    } else {
        console.print(&format!("Created {}.", shown.display()))?;
    }
    // The import locks the file itself.
    drop(file);
    if answers.imports {
        let global = Global { config: Some(shown.clone()), ..global.clone() };
        import::run(&import::Args::of_all(), &global, console)?;
    }
    console.note(&format!("\n{}", console.err.bold("Next")));
    if !answers.imports {
        console.note("  dragoman add time -- uvx mcp-server-time    adds a server");
    }
    if answers.is_shared {
        console.note("  dragoman key new NAME                       creates an API key for a client");
    }
    console.note("  dragoman                                    serves the file");
    console.note("  dragoman connect CLIENT                     lets a client use Dragoman");
    Ok(())
}

fn asked(console: &Console) -> Result<Answers, Failure> {
    let found: Vec<&str> = CLIENTS
        .iter()
        .filter(|client| !client_files::existing(client).is_empty())
        .map(|client| client.title)
        .collect();
    let imports = !found.is_empty()
        && confirmed(&format!("Import the servers from the settings of {}?", found.join(", ")), console)?;
    let is_shared = !confirmed("Will only clients on this machine use Dragoman?", console)?;
    let port = loop {
        match answered(&format!("Which port? [{PORT}] "), console)?.as_str() {
            "" => break PORT,
            text => match text.parse::<u16>() {
                Ok(port) if port > 0 => break port,
                _ => console.note("Write a number from 1 to 65535."),
            },
        }
    };
    let has_admin = confirmed("Serve admin pages, which show servers, tools and calls?", console)?;
    let has_record = confirmed("Record who called what, and when?", console)?;
    Ok(Answers { is_shared, port, has_admin, has_record, imports })
}

/// Returns the text of the file.
fn configuration(answers: Answers) -> String {
    let mut text = String::from(
        "# The configuration of Dragoman. `dragoman check` reports every error in it; a running gateway reads it again when it changes.\n\n",
    );
    let port = answers.port;
    if answers.is_shared {
        let _ = write!(
            text,
            "# Other machines can connect. Put a proxy with TLS in front, or configure `tls`.\nlisten: 0.0.0.0:{port}\n\n\
             # Every client needs an API key: `dragoman key new NAME` creates one.\nauth: {{ keys: true }}\n\n"
        );
    } else {
        let _ = write!(text, "# Only programs on this machine can connect.\nlisten: 127.0.0.1:{port}\n\n");
    }
    if answers.has_admin {
        text.push_str(
            "# The pages at /admin. At startup, Dragoman prints a link that opens them.\nadmin: true\n\n",
        );
    }
    if answers.has_record {
        text.push_str(
            "# A record of calls, without their arguments: `dragoman audit` shows it.\naudit: true\n\n",
        );
    }
    text.push_str(
        "# The servers. Write a secret as ${NAME}, and set the variable NAME where Dragoman starts.\n\
         # `dragoman add NAME -- COMMAND` and `dragoman add NAME URL` add servers here.\n\
         mcpServers:\n  # A small server inside Dragoman, to try things out; remove it once you have servers of your own.\n  \
         demo: { native: demo }\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_of_answers_gives_a_valid_file() {
        let lookup = config::Lookup { env: &|_| None, file: &|_| Err("no such file".to_owned()) };
        for bits in 0..8_u8 {
            let [is_shared, has_admin, has_record] = [1, 2, 4].map(|bit| bits & bit != 0);
            let answers = Answers { is_shared, port: 9000, has_admin, has_record, imports: false };
            let text = configuration(answers);
            let loaded =
                config::load(&text, "dragoman.yaml", &lookup).unwrap_or_else(|faults| panic!("{faults}"));
            assert!(loaded.notes.is_empty(), "{:?}", loaded.notes);
            assert_eq!(loaded.config.listen[0].port(), 9000);
            assert_eq!(loaded.config.listen[0].ip().is_loopback(), !is_shared);
            assert_eq!(loaded.config.auth.keys, is_shared);
            assert_eq!(
                (loaded.config.admin.is_some(), loaded.config.audit.is_some()),
                (has_admin, has_record)
            );
        }
    }
}
