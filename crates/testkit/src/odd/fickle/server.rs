//! The core of the server: it answers messages, keeps the sessions, and announces changes. This module must not
//! know any transport.

use super::Lifecycle;
use super::session::{Session, lock};
use super::switches::Switches;
use super::tools::{self, Call};
use super::wording::{self, Wording};
use crate::odd::act::pause;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const CHANGED: &str = "notifications/tools/list_changed";
const MODERN: &str = "2026-07-28";
/// The versions with a handshake, oldest first.
const HANDSHAKES: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// The interval at which the file of switches is read.
const LOOK: Duration = Duration::from_millis(20);

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(super) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(super) const LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// The channel for messages of a running call.
pub(super) trait Voice {
    /// Sends a message.
    fn send(&mut self, message: &Value) -> io::Result<()>;
}

/// The server.
#[derive(Debug)]
pub(super) struct Fickle {
    pub(super) era: Lifecycle,
    switches: Mutex<Arc<Switches>>,
    file: Option<PathBuf>,
    ledger: Option<PathBuf>,
    more_tools: usize,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    /// Streams of stateless clients, each with the id of its request.
    listeners: Mutex<Vec<(Value, Sender<Value>)>>,
    last: AtomicU64,
    /// The values that the switch `forget` has had. Each value has the wording with which the sessions that were
    /// opened before it are refused.
    forgotten: Mutex<BTreeMap<u64, &'static Wording>>,
}

impl Fickle {
    pub(super) fn new(era: Lifecycle, file: Option<PathBuf>, ledger: Option<PathBuf>) -> Self {
        let switches = file.as_deref().map(Switches::read).unwrap_or_default();
        let server = Self {
            era,
            switches: Mutex::default(),
            file,
            ledger,
            more_tools: 0,
            sessions: Mutex::default(),
            listeners: Mutex::default(),
            last: AtomicU64::new(0),
            forgotten: Mutex::default(),
        };
        server.take(switches);
        server
    }

    /// The same server with this number of additional tools.
    pub(super) fn with_more(self, more_tools: usize) -> Self {
        Self { more_tools, ..self }
    }

    /// The switches as they are now.
    pub(super) fn switches(&self) -> Arc<Switches> {
        Arc::clone(&lock(&self.switches))
    }

    /// A number that was not used before.
    pub(super) fn number(&self) -> u64 {
        self.last.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Applies these switches. Also records which sessions they forget, and with which wording, because a forgotten
    /// session stays forgotten.
    fn take(&self, switches: Switches) {
        let number = switches.number("forget");
        if number > 0 {
            lock(&self.forgotten).insert(number, wording::named(switches.text("wording")));
        }
        *lock(&self.switches) = Arc::new(switches);
    }

    /// The wording in which an unknown or forgotten session is refused.
    pub(super) fn wording(&self, id: Option<&str>) -> &'static Wording {
        let session = id.and_then(|id| lock(&self.sessions).get(id).cloned());
        let forgotten = lock(&self.forgotten);
        let first = session.and_then(|session| forgotten.range(session.epoch + 1..).next());
        first.or(forgotten.last_key_value()).map_or(wording::named(None), |(_, wording)| *wording)
    }

    /// The highest value of the switch `forget` so far.
    fn epoch(&self) -> u64 {
        lock(&self.forgotten).last_key_value().map_or(0, |(number, _)| *number)
    }

    /// Opens a session for the client that sent this `initialize` message.
    pub(super) fn open(&self, initialize: &Value) -> (String, Arc<Session>) {
        let capabilities = initialize["params"]["capabilities"].clone();
        let session = Arc::new(Session::new(self.epoch(), capabilities));
        let id = format!("fickle-{}-{}", std::process::id(), self.number());
        lock(&self.sessions).insert(id.clone(), Arc::clone(&session));
        (id, session)
    }

    /// The session with this ID, unless it is unknown or forgotten.
    pub(super) fn session(&self, id: &str) -> Option<Arc<Session>> {
        let epoch = self.epoch();
        lock(&self.sessions).get(id).filter(|session| session.epoch >= epoch).cloned()
    }

    pub(super) fn end(&self, id: &str) {
        lock(&self.sessions).remove(id);
    }

    /// Returns true if a request belongs to no session.
    pub(super) fn is_stateless(&self, message: &Value) -> bool {
        self.era != Lifecycle::Handshake && message["params"]["_meta"][VERSION].is_string()
    }

    /// Keeps a stateless client's stream for announcements.
    pub(super) fn follow(&self, id: Value, stream: Sender<Value>) {
        lock(&self.listeners).push((id, stream));
    }

    /// Records an executed call.
    pub(super) fn executed(&self, tool: &str, nonce: &str) {
        self.record(&json!({ "tool": tool, "nonce": nonce, "pid": std::process::id() }));
    }

    /// Records that a session was refused in the wording with this name.
    pub(super) fn refused(&self, wording: &str) {
        self.record(&json!({ "refused": wording }));
    }

    /// Records that a client has cancelled a request.
    pub(super) fn cancelled(&self, request: &Value) {
        self.record(&json!({ "cancelled": request }));
    }

    fn record(&self, what: &Value) {
        let Some(path) = &self.ledger else { return };
        let line = format!("{what}\n");
        let written = OpenOptions::new().append(true).create(true).open(path);
        if let Err(error) = written.and_then(|mut file| file.write_all(line.as_bytes())) {
            // Without its ledger, a run proves nothing; the output of the run shows this line.
            let _ = writeln!(io::stderr(), "fickle: {}: {error}", path.display());
        }
    }

    /// The answer to a request. Messages that precede the answer are sent to `voice`. The caller has already looked
    /// up the session.
    pub(super) fn answer(&self, request: &Value, session: &Session, voice: &mut dyn Voice) -> Value {
        let switches = self.switches();
        pause(Duration::from_millis(switches.number("slow")));
        let stateless = self.is_stateless(request);
        let method = request["method"].as_str().unwrap_or_default();
        let result = match method {
            "initialize" if self.era != Lifecycle::Stateless => Ok(initialized(request)),
            "server/discover" if stateless => Ok(discovered()),
            "ping" | "logging/setLevel" if !stateless => Ok(json!({})),
            "tools/list" => {
                let mut tools = tools::list(&switches, capabilities(request, session));
                tools.extend((0..self.more_tools).map(tools::filler));
                Ok(json!({ "tools": tools }))
            }
            "tools/call" => {
                let call = Call { server: self, session, request, stateless, switches: &switches };
                call.run(voice)
            }
            _ => Err(json!({ "code": -32601, "message": format!("no method {method}") })),
        };
        let id = &request["id"];
        match result {
            Ok(mut result) => {
                if stateless && result["resultType"].is_null() {
                    result["resultType"] = json!("complete");
                    if method != "tools/call" {
                        (result["ttlMs"], result["cacheScope"]) = (json!(3_600_000), json!("public"));
                    }
                }
                json!({ "jsonrpc": "2.0", "id": id, "result": result })
            }
            Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
        }
    }

    /// Sends this number of log messages, which concern no call, and an announcement to all clients. Clients
    /// without a session accept announcements only, so each of them gets this number of announcements.
    fn flood(&self, messages: u64) {
        let params = json!({ "level": "error", "logger": "fickle", "data": "a line of a flood" });
        let line = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params });
        let told = lock(&self.sessions)
            .values()
            .filter(|session| (0..messages).all(|_| session.tell(line.clone())))
            .count();
        let told = told + lock(&self.listeners).len();
        for _ in 1..messages {
            self.announce_to_listeners();
        }
        self.announce();
        self.record(&json!({ "flooded": told }));
    }

    /// Announces to all clients that the list of tools changed.
    fn announce(&self) {
        for session in lock(&self.sessions).values() {
            session.tell(json!({ "jsonrpc": "2.0", "method": CHANGED }));
        }
        self.announce_to_listeners();
    }

    fn announce_to_listeners(&self) {
        lock(&self.listeners).retain(|(id, stream)| {
            let meta = json!({ "io.modelcontextprotocol/subscriptionId": id });
            stream.send(json!({ "jsonrpc": "2.0", "method": CHANGED, "params": { "_meta": meta } })).is_ok()
        });
    }
}

/// Reads the switches repeatedly, in a thread that lives as long as the process.
pub(super) fn watch(server: &Arc<Fickle>) {
    let server = Arc::clone(server);
    std::thread::spawn(move || {
        let Some(path) = server.file.clone() else { return };
        loop {
            pause(LOOK);
            let (now, before) = (Switches::read(&path), server.switches());
            match now.number("flood") {
                0 => {}
                messages => server.flood(messages),
            }
            if now == *before {
                continue;
            }
            server.take(now.clone());
            if now.has("die") {
                die();
            }
            if !now.same_lists(&before) && !now.has("quiet") {
                server.announce();
            }
        }
    });
}

/// Ends the process without notifying anyone, like a crash.
pub(super) fn die() -> ! {
    std::process::exit(3)
}

/// The capabilities of the client that sends a request.
pub(super) fn capabilities<'a>(request: &'a Value, session: &'a Session) -> &'a Value {
    match &request["params"]["_meta"][CAPABILITIES] {
        Value::Null => &session.capabilities,
        own => own,
    }
}

fn initialized(request: &Value) -> Value {
    let asked = request["params"]["protocolVersion"].as_str();
    let version = HANDSHAKES.iter().find(|known| Some(**known) == asked).unwrap_or(&HANDSHAKES[3]);
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": { "listChanged": true }, "logging": {} },
        "serverInfo": { "name": "fickle", "version": "1" },
    })
}

fn discovered() -> Value {
    json!({
        "supportedVersions": [MODERN],
        "capabilities": { "tools": { "listChanged": true }, "logging": {} },
        "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "fickle", "version": "1" } },
    })
}
