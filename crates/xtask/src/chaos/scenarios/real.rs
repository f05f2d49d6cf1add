//! Real servers that are restarted while clients call: the reference server and an example of the TypeScript
//! SDK.

use super::Scenario;
use crate::chaos::client::{Client, Era};
use crate::chaos::process::{Process, until};
use crate::chaos::scenario::Play;
use crate::chaos::stage::{SOON, free_address};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "real-everything",
        fault: 7,
        title: "the reference server restarts, and the next call of every client succeeds",
        variant: "everything",
        run,
    },
    Scenario {
        name: "real-sdk-example",
        fault: 7,
        title: "an example server of the TypeScript SDK restarts, and the next call of every client succeeds",
        variant: "example",
        run,
    },
];

/// A server of the npm packages.
struct Real {
    main: &'static str,
    args: &'static [&'static str],
    /// The variable that names its port.
    port: &'static str,
    tool: &'static str,
    /// The argument that the answer repeats.
    argument: &'static str,
}

const EVERYTHING: Real = Real {
    main: "@modelcontextprotocol/server-everything/dist/index.js",
    args: &["streamableHttp"],
    port: "PORT",
    tool: "up__echo",
    argument: "message",
};
const EXAMPLE: Real = Real {
    main: "@modelcontextprotocol/sdk/dist/esm/examples/server/simpleStreamableHttp.js",
    args: &[],
    port: "MCP_PORT",
    tool: "up__greet",
    argument: "name",
};

impl Real {
    fn start(&self, play: &Play<'_>, address: SocketAddr, log: &Path) -> Result<Process, String> {
        let mut command = Command::new(play.node.program());
        command.arg(play.node.module(self.main)).args(self.args).env(self.port, address.port().to_string());
        let mut server = Process::start(&mut command, log)?;
        let listens = until(2 * SOON, || TcpStream::connect(address).is_ok().then_some(()));
        if listens.is_some() && server.runs() {
            Ok(server)
        } else {
            Err(format!("no server: {}", server.words()))
        }
    }

    fn call(&self, client: &Client) -> Result<(), String> {
        let mut arguments = json!({});
        arguments[self.argument] = json!(Client::OWN_NONCE);
        let called = client.call(self.tool, arguments, 2 * SOON);
        called.text().map(drop).map_err(|why| format!("{}: {why}", client.era.version))
    }
}

fn run(play: &mut Play<'_>) -> Result<(), String> {
    let real = if play.variant == "everything" { EVERYTHING } else { EXAMPLE };
    let address = free_address()?;
    let log = play.stage.folder.join("real.log");
    let mut server = real.start(play, address, &log)?;
    let entry: Value = json!({ "url": format!("http://{address}/mcp") });
    play.stage.serve(&[("up", entry)], &json!({ "limits": { "listWait": "10s" } }))?;
    let mut clients: Vec<Arc<Client>> = Vec::new();
    for era in Era::ALL {
        for capabilities in [json!({}), json!({ "sampling": {} })] {
            let client = play.stage.client(era, &capabilities)?;
            client.names(SOON)?;
            real.call(&client)?;
            clients.push(client);
        }
    }
    let mut failed = Vec::new();
    for _ in 0..2 {
        server.kill();
        server = real.start(play, address, &log)?;
        failed.extend(clients.iter().filter_map(|client| real.call(client).err()));
    }
    match failed.first() {
        Some(first) => Err(format!("{} of {} calls failed; {first}", failed.len(), 2 * clients.len())),
        None => Ok(()),
    }
}
