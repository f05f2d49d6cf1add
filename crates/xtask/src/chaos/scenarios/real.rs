//! Real servers that are restarted while clients of all versions call: the reference server and an example of the TypeScript
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
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "real-everything",
        fault: 7,
        title: "the reference server restarts while clients of all versions call: each loses at most the call that was running",
        variant: "everything",
        run,
    },
    Scenario {
        name: "real-sdk-example",
        fault: 7,
        title: "an example server of the TypeScript SDK restarts while clients of all versions call: each loses at most the call that was running",
        variant: "example",
        run,
    },
];

/// The time for which all clients call before a restart, and after it.
const LOADED: Duration = Duration::from_millis(500);

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

    /// Calls one after another until `over`; returns the number of calls that ended well, and the errors of the others.
    fn calls(&self, client: &Client, over: &AtomicBool) -> (usize, Vec<String>) {
        let (mut done, mut failed) = (0, Vec::new());
        while !over.load(Ordering::Relaxed) {
            match self.call(client) {
                Ok(()) => done += 1,
                Err(why) => failed.push(why),
            }
        }
        (done, failed)
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
    let mut loss = Vec::new();
    for _ in 0..2 {
        let over = AtomicBool::new(false);
        let (restarted, under_load) = thread::scope(|scope| {
            let callers: Vec<_> =
                clients.iter().map(|client| scope.spawn(|| real.calls(client, &over))).collect();
            thread::sleep(LOADED);
            server.kill();
            let restarted = real.start(play, address, &log);
            thread::sleep(LOADED);
            over.store(true, Ordering::Relaxed);
            let ended =
                callers.into_iter().map(|caller| caller.join().unwrap_or((0, vec!["panicked".to_owned()])));
            (restarted, ended.collect::<Vec<_>>())
        });
        server = restarted?;
        // A call that the server may have executed fails when the server is killed; each client has at most one such call.
        for (done, failed) in under_load {
            if failed.len() > 1 || done == 0 {
                loss.push(format!("{done} calls ended well, {} failed: {}", failed.len(), failed.join("; ")));
            }
        }
        loss.extend(clients.iter().filter_map(|client| real.call(client).err()));
    }
    match loss.first() {
        Some(first) => Err(format!("{} clients lost calls; {first}", loss.len())),
        None => Ok(()),
    }
}
