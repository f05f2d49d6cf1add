//! A store, replicas, an upstream and clients, for one case.

use super::balancer::Balancer;
use super::redis::Redis;
use super::replica::{Replica, Told};
use crate::chaos::client::{Client, End, Era, Way};
use crate::chaos::process::{LOOK, until};
use crate::chaos::stage::{SOON, Stage, Upstream};
use crate::root::Programs;
use crate::run::Log;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The number of replicas.
const REPLICAS: usize = 3;

/// The time within which a change must have reached all replicas.
pub(super) const KNOWN: Duration = Duration::from_secs(1);

/// The store, the replicas, the upstream and the clients of one case.
pub(super) struct Rig<'a> {
    // The replicas end before the programs that they use.
    pub(super) replicas: Vec<Replica>,
    pub(super) store: Redis,
    pub(super) up: Upstream,
    /// The balancers of cases whose replicas pass requests on.
    pub(super) balancers: Vec<Balancer>,
    pub(super) stage: Stage<'a>,
}

/// The versions whose clients can be served by any replica: those with sessions over Streamable HTTP, and the one
/// without sessions.
pub(super) fn eras() -> Vec<Era> {
    Era::ALL.into_iter().filter(|era| era.way != Way::Sse).collect()
}

/// The versions with sessions over Streamable HTTP.
pub(super) fn session_eras() -> Vec<Era> {
    Era::ALL.into_iter().filter(|era| era.way == Way::Session).collect()
}

impl<'a> Rig<'a> {
    /// Starts a store and an upstream.
    pub(super) fn new(
        name: &str,
        programs: &'a Programs,
        clients: usize,
        log: &'a Log,
    ) -> Result<Self, String> {
        let stage = Stage::new(&format!("cluster-{name}"), programs, clients, log)?;
        let up = stage.started("up", &["--era", "both"])?;
        let store = Redis::start(stage.folder.clone(), &stage.mark, &[])?;
        Ok(Self { replicas: Vec::new(), store, up, balancers: Vec::new(), stage })
    }

    /// The file of the key ring that the replicas share.
    pub(super) fn key_ring(&self) -> PathBuf {
        self.stage.folder.join("keyring")
    }

    /// A replica that is not started.
    pub(super) fn replica(&self, name: &str, store: &str, keys: bool) -> Result<Replica, String> {
        let (key_ring, servers) = (self.key_ring(), json!({ "up": self.up.over_http() }));
        let told = Told {
            name,
            store,
            key_ring: &key_ring,
            servers: &servers,
            keys,
            passes_on: false,
            more: &Value::Null,
        };
        Replica::new(&self.stage.folder, self.stage.programs, &self.stage.mark, &told)
    }

    /// Starts all replicas, which accept API keys if `keys` is true.
    pub(super) fn start(&mut self, keys: bool) -> Result<(), String> {
        let store = self.store.url();
        self.start_with(&store, keys)
    }

    /// Starts all replicas, with another URL of the store.
    pub(super) fn start_with(&mut self, store: &str, keys: bool) -> Result<(), String> {
        for number in 1..=REPLICAS {
            let replica = self.replica(&format!("gw-{number}"), store, keys)?;
            self.replicas.push(replica);
        }
        self.launch_all()
    }

    /// Starts all replicas, whose configurations have these keys in addition.
    pub(super) fn start_amended(&mut self, more: &Value) -> Result<(), String> {
        let store = self.store.url();
        for number in 1..=REPLICAS {
            let replica = self.replica(&format!("gw-{number}"), &store, false)?;
            replica.amend(more)?;
            self.replicas.push(replica);
        }
        self.launch_all()
    }

    /// Starts all replicas, which pass requests on to each other and have these servers in addition, and balancers in front of them.
    pub(super) fn start_passing_on(&mut self, more: &Value) -> Result<(), String> {
        self.start_and_balance(more, true, &Value::Null)
    }

    /// Starts all replicas like [`Self::start_passing_on`]; their configurations have these keys in addition.
    pub(super) fn start_passing_on_amended(&mut self, more: &Value, keys: &Value) -> Result<(), String> {
        self.start_and_balance(more, true, keys)
    }

    /// Starts all replicas with these servers and these keys of the configuration in addition, and balancers in front of them.
    pub(super) fn start_with_keys(&mut self, more: &Value, keys: &Value) -> Result<(), String> {
        self.start_and_balance(more, false, keys)
    }

    fn start_and_balance(&mut self, more: &Value, passes_on: bool, keys: &Value) -> Result<(), String> {
        self.start_all(more, passes_on, keys)?;
        self.balancers = self.balancers()?.into();
        Ok(())
    }

    /// Starts all replicas, which accept API keys and pass requests on, with this program, without balancers.
    pub(super) fn start_unbalanced_by(&mut self, program: &Path) -> Result<(), String> {
        self.write_all(&Value::Null, true, &json!({ "auth": { "keys": true } }))?;
        self.replicas.iter_mut().for_each(|replica| replica.becomes(program));
        self.launch_all()
    }

    /// Starts all replicas like [`Self::start_passing_on_amended`], without balancers.
    pub(super) fn start_unbalanced(&mut self, more: &Value, keys: &Value) -> Result<(), String> {
        self.start_all(more, true, keys)
    }

    fn start_all(&mut self, more: &Value, passes_on: bool, keys: &Value) -> Result<(), String> {
        self.write_all(more, passes_on, keys)?;
        self.launch_all()
    }

    fn launch_all(&mut self) -> Result<(), String> {
        self.replicas.iter_mut().try_for_each(Replica::launch)?;
        self.replicas.iter_mut().try_for_each(Replica::answers)
    }

    /// Writes the configurations of all replicas.
    fn write_all(&mut self, more: &Value, passes_on: bool, keys: &Value) -> Result<(), String> {
        let (key_ring, mut servers) = (self.key_ring(), json!({ "up": self.up.over_http() }));
        servers
            .as_object_mut()
            .into_iter()
            .for_each(|servers| servers.extend(more.as_object().cloned().unwrap_or_default()));
        let store = self.store.url();
        for number in 1..=REPLICAS {
            let name = format!("gw-{number}");
            let told = Told {
                name: &name,
                store: &store,
                key_ring: &key_ring,
                servers: &servers,
                keys: false,
                passes_on,
                more: keys,
            };
            let replica = Replica::new(&self.stage.folder, self.stage.programs, &self.stage.mark, &told)?;
            self.replicas.push(replica);
        }
        Ok(())
    }

    /// The addresses of all replicas.
    pub(super) fn addresses(&self) -> Vec<SocketAddr> {
        self.replicas.iter().map(|replica| replica.address).collect()
    }

    /// Starts nginx and `HAProxy` in front of the replicas.
    pub(super) fn balancers(&self) -> Result<[Balancer; 2], String> {
        let replicas = self.addresses();
        Ok([Balancer::nginx(&self.stage, &replicas)?, Balancer::haproxy(&self.stage, &replicas)?])
    }

    /// Opens `count` clients: each gets the next version and, after each round of versions, the next address.
    pub(super) fn clients(
        &self,
        count: usize,
        eras: &[Era],
        addresses: &[SocketAddr],
        key: Option<&str>,
    ) -> Result<Vec<Arc<Client>>, String> {
        let clients = (0..count).map(|number| {
            let address = addresses[number / eras.len() % addresses.len()];
            self.stage.client_at(address, eras[number % eras.len()], key)
        });
        clients.collect()
    }

    /// Writes the output of all programs into the log.
    pub(super) fn tell(&self) {
        for replica in &self.replicas {
            self.stage.log.note(&format!("--- said by {}:\n{}---", replica.name, replica.log()));
        }
        self.stage.log.note(&format!("--- said by the store:\n{}---", self.store.words()));
    }

    /// Ends all programs, and reports every violation of the conditions that hold for all cases.
    pub(super) fn finish(mut self) -> Result<(), String> {
        let mut faults: Vec<String> = self.replicas.iter_mut().filter_map(Replica::crashed).collect();
        faults.extend(self.replicas.iter_mut().filter_map(|replica| replica.end().err()));
        let doubled = self.up.doubled(&["read", "write", "late"]);
        faults.extend(doubled.iter().map(|nonce| format!("{nonce} ran twice")));
        let panicked = |replica: &&Replica| replica.log().contains("panicked at");
        faults.extend(
            self.replicas.iter().filter(panicked).map(|replica| format!("{} panicked", replica.name)),
        );
        faults.extend(self.stage.finish().err());
        if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
    }
}

/// Lets a client call at each of these addresses; its session must continue there.
pub(super) fn goes_on(client: &Arc<Client>, addresses: &[SocketAddr]) -> Result<(), String> {
    for address in addresses {
        let called = client.resumed(*address).call("up__write", json!({}), SOON);
        called.text().map_err(|why| format!("{} at {address}: {why}", client.era.version))?;
    }
    Ok(())
}

/// Lets all clients call at each of these addresses, at the same time.
pub(super) fn all_go_on(clients: &[Arc<Client>], addresses: &[SocketAddr]) -> Result<(), String> {
    each(clients, |client| goes_on(client, addresses))
}

/// Runs `visit` for all clients at the same time.
pub(super) fn each(
    clients: &[Arc<Client>],
    visit: impl Fn(&Arc<Client>) -> Result<(), String> + Sync,
) -> Result<(), String> {
    thread::scope(|scope| {
        let visits: Vec<_> = clients.iter().map(|client| scope.spawn(|| visit(client))).collect();
        let ends: Vec<_> =
            visits.into_iter().map(|one| one.join().map_err(|_| "a client panicked")).collect();
        ends.into_iter().try_for_each(|end| end?)
    })
}

/// Waits until each of these addresses refuses a session as unknown; returns the time that this took.
pub(super) fn ends_at(
    client: &Arc<Client>,
    addresses: &[SocketAddr],
    within: Duration,
) -> Result<Duration, String> {
    let begun = Instant::now();
    for address in addresses {
        let there = client.resumed(*address);
        let mut last = None;
        let gone = until(within.saturating_sub(begun.elapsed()), || {
            let end = there.call("up__read", json!({}), SOON).end;
            let gone =
                matches!(&end, End::Failed(why) if why.starts_with("404") || why.starts_with("status 404"));
            last = Some(end);
            gone.then_some(())
        });
        if gone.is_none() {
            let version = client.era.version;
            return Err(format!("a session of {version} that has ended goes on at {address}: {last:?}"));
        }
    }
    Ok(begun.elapsed())
}

/// The HTTP status of a request for the list of tools with an API key, at one address.
pub(super) fn status_with(address: SocketAddr, key: &str) -> Result<u16, String> {
    status_within(address, key, SOON)
}

/// Like [`status_with`], within this time.
pub(super) fn status_within(address: SocketAddr, key: &str, within: Duration) -> Result<u16, String> {
    use crate::chaos::client::http::{Sent, exchange};
    let authorization = format!("Bearer {key}");
    let headers = [
        ("Authorization", authorization.as_str()),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", Era::STATELESS.version),
        ("Mcp-Method", "tools/list"),
    ];
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": Era::STATELESS.version,
        "io.modelcontextprotocol/clientInfo": { "name": "cluster", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } });
    let body = body.to_string();
    let sent = Sent { method: "POST", path: "/mcp", headers: &headers, body: &body };
    let reply = exchange(address, &sent, Instant::now() + within);
    reply.map(|reply| reply.status).map_err(|error| format!("{address}: {error}"))
}

/// Waits until requests with a key get this status at all addresses; returns the time that this took.
pub(super) fn key_becomes(
    key: &str,
    status: u16,
    addresses: &[SocketAddr],
    within: Duration,
) -> Result<Duration, String> {
    let begun = Instant::now();
    loop {
        let found =
            addresses.iter().map(|address| status_with(*address, key)).collect::<Result<Vec<_>, _>>()?;
        let took = begun.elapsed();
        if found.iter().all(|its| *its == status) {
            return Ok(took);
        }
        if took > within {
            return Err(format!(
                "after {} ms, a key has the statuses {found:?}, not {status}",
                took.as_millis()
            ));
        }
        thread::sleep(LOOK);
    }
}
