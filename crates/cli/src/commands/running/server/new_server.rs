//! A server that is added to the running gateway.

use http::Method;
use serde_json::{Map, Value, json};

use crate::commands::configuration::state::StateOptions;
use crate::commands::running::running_gateway::{RunningGateway, encoded};
use crate::commands::servers::add::{Transport, header};
use crate::output::console::{Console, one_line};
use crate::output::failure::Failure;
use crate::output::options::Global;

/// The options of `dragoman server add`.
#[derive(Debug, clap::Args)]
#[command(override_usage = "dragoman server add NAME URL [OPTIONS]
       dragoman server add NAME [OPTIONS] -- COMMAND...")]
pub(super) struct NewServer {
    /// The server's name: 1 to 32 characters from A-Z a-z 0-9 _ . -
    #[arg(value_name = "NAME")]
    name: String,
    /// The URL of a server on the network
    #[arg(value_name = "URL", conflicts_with = "command", required_unless_present = "command")]
    url: Option<String>,
    /// The command that starts the server, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// An environment variable for the command; NAME alone takes the value from this environment; may be repeated
    #[arg(long, short, value_name = "NAME[=VALUE]", requires = "command")]
    env: Vec<String>,
    /// The folder in which the command starts
    #[arg(long, value_name = "FOLDER", requires = "command")]
    cwd: Option<String>,
    /// A header for every request to the URL; may be repeated
    #[arg(long, short = 'H', value_name = "NAME: VALUE", requires = "url", value_parser = header)]
    header: Vec<(String, String)>,
    /// The transport of the URL
    #[arg(long = "type", value_name = "TYPE", requires = "url", value_enum, default_value = "http")]
    transport: Transport,
    /// Also add the server to the list of servers of this profile; may be repeated
    #[arg(long, short, value_name = "PROFILE")]
    profile: Vec<String>,
    #[command(flatten)]
    place: StateOptions,
}

impl NewServer {
    /// Adds the server, and then adds it to the profiles.
    pub(super) fn add(&self, global: &Global, console: &Console) -> Result<(), Failure> {
        let wanted = self.wanted()?;
        let running = RunningGateway::find(&self.place, global, console)?;
        let form = running.send(Method::POST, "/api/mcp-servers", Some(&wanted))?;
        let id = form["id"].as_str().unwrap_or(&self.name);
        for profile in &self.profile {
            let path = format!("/api/profiles/{}/servers", encoded(profile));
            running.send(Method::POST, &path, Some(&json!({ "mcpServerId": id }))).map_err(|failure| {
                failure.help(format!(
                    "the server {id} was added; add it to a profile with `dragoman profile add-server PROFILE {id}`"
                ))
            })?;
        }
        if console.json {
            return console.print(&form.to_string());
        }
        let profiles = self.profile.join(", ");
        let where_to =
            if profiles.is_empty() { String::new() } else { format!(" to {}", one_line(&profiles)) };
        console.print(&console.fitted(&format!("{} was added{where_to}.", one_line(id))))?;
        console.note(&console.fitted_err(&format!("`dragoman status {id}` shows whether it works."), 0));
        Ok(())
    }

    /// Returns the server as JSON for the management API.
    fn wanted(&self) -> Result<Value, Failure> {
        let mut config = Map::new();
        let kind = if let Some(url) = &self.url {
            config.insert("url".into(), json!(url));
            if !self.header.is_empty() {
                let headers = self.header.iter().map(|(name, value)| (name.clone(), json!(value)));
                config.insert("headers".into(), Value::Object(headers.collect()));
            }
            match self.transport {
                Transport::Http => "remote_http",
                Transport::Sse => "remote_sse",
            }
        } else {
            let (program, args) = self.command.split_first().ok_or_else(|| {
                Failure::usage("there is neither a URL nor a command").help("write the command after `--`")
            })?;
            config.insert("command".into(), json!(program));
            config.insert("args".into(), json!(args));
            if let Some(folder) = &self.cwd {
                config.insert("cwd".into(), json!(folder));
            }
            let env = self.env.iter().map(|entry| variable(entry)).collect::<Result<Map<_, _>, _>>()?;
            if !env.is_empty() {
                config.insert("env".into(), Value::Object(env));
            }
            "external"
        };
        Ok(json!({ "name": self.name, "type": kind, "config": config }))
    }
}

/// Returns the name and the value of an environment variable.
fn variable(entry: &str) -> Result<(String, Value), Failure> {
    if let Some((name, value)) = entry.split_once('=') {
        return Ok((name.to_owned(), json!(value)));
    }
    match std::env::var(entry) {
        Ok(value) => Ok((entry.to_owned(), json!(value))),
        Err(_) => Err(Failure::usage(format!("the environment variable {entry} is not set"))
            .help(format!("set it, or write --env {entry}=VALUE"))),
    }
}
