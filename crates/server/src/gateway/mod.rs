//! The gateway: clients' sessions, upstreams' links, and the loop between them that asks the engine what to do.
//!
//! | file | is for |
//! |---|---|
//! | `run`, `farewell` | starting and ending it all |
//! | `http/` | clients over Streamable HTTP and HTTP+SSE |
//! | `dialect/` | clients of endpoints that behave as another system does |
//! | `stdio` | the one client over stdin and stdout |
//! | `lines`, `lines_stateless` | a client whose messages come in order one way and go out another: of `stdio`, or of HTTP+SSE |
//! | `in_session`, `stateless` | what a message comes to, whichever of the two brought it |
//! | `session`, `newborn`, `sessions`, `streams`, `subscriptions`, `requests` | what a client of a handshake era has here |
//! | `identity`, `rates`, `record` | who asks, how often, and what is written down of it |
//! | `call`, `caller` | one forwarded request: the engine's exchange, performed |
//! | `deliver`, `relist` | over which link its request goes; its upstream's lists read again when those were old |
//! | `parked`, `lease`, `share` | calls that wait for a client without a session, links that such a call has for itself, and how much of both there is for whom |
//! | `listen`, `topics` | streams of notices for stateless clients; resources that clients listen to |
//! | `follower`, `telling` | one server told of them, and heard; links of one call told of them |
//! | `views`, `offers` | what clients see, kept up to date |
//! | `upstream`, `link`, `wire`, `reply`, `link_cell`, `pump`, `changes` | links to servers, and what those say, asked and unasked |
//! | `embedded/` | servers that live in the binary |
//! | `outbox` | what servers are told without waiting |
//! | `ladder`, `opening` | in which era and over which transport a server is spoken to |
//! | `partings` | letting go of sessions and links without keeping anybody waiting |
//! | `memory` | giving it back after a rush |
//! | `tasks/` | calls that became tasks: what is kept for them, and who hears of them |
//! | `seal` | states and ids that nobody can forge or guess |
//!
//! Which versions differ in what is read from rows of `proto::era`; what is allowed and where a request goes is decided
//! in `engine`.

mod call;
mod caller;
mod changes;
mod deliver;
mod dialect;
mod embedded;
mod farewell;
mod follower;
mod http;
mod identity;
mod in_session;
pub(crate) mod ladder;
mod lease;
mod lines;
mod lines_stateless;
mod link;
mod link_cell;
mod listen;
mod memory;
mod newborn;
mod offers;
mod opening;
mod outbox;
mod parked;
mod partings;
mod pump;
mod rates;
mod record;
mod relist;
mod reply;
mod requests;
pub(crate) mod run;
mod seal;
mod session;
mod sessions;
mod share;
mod stateless;
mod stdio;
mod streams;
mod subscriptions;
mod tasks;
mod telling;
mod topics;
mod upstream;
mod views;
mod wire;

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use engine::Snapshot;
use engine::catalogue::UpstreamId;
use engine::config::{Config, Limits};
use engine::exchange::{Binding, Sealer};
use proto::era::{Asks, Era};
use proto::rpc::FrameLimits;
use transport::child::Supervisor;
use transport::net::Stop;
use transport::net::client::Client;

use crate::audit::AuditSink;
use crate::auth::Authenticator;
use memory::Tidying;
use parked::Parked;
use rates::Rates;
use seal::Seal;
use sessions::Sessions;
use tasks::Homes;
use upstream::{Kind, Upstream};
use views::Views;

/// Who the gateway is towards upstreams.
const CLIENT_INFO: &str = concat!("{\"name\":\"dragoman\",\"version\":\"", env!("CARGO_PKG_VERSION"), "\"}");

const NO_RANDOM: &str = "the operating system gives no random numbers";

/// Everything that the whole process shares.
pub(crate) struct Gateway {
    snapshot: Arc<Snapshot>,
    upstreams: Vec<Arc<Upstream>>,
    sessions: Sessions,
    views: Views,
    supervisor: Supervisor,
    seal: Seal,
    parked: Parked,
    homes: Homes,
    held: parking_lot::Mutex<engine::tasks::Held>,
    keys: AtomicU64,
    listens: AtomicU64,
    dialect_sessions: dialect::Sessions,
    dialect_lists: dialect::Lists,
    /// Whether requests carry anything for sites behind embedded servers.
    carries: bool,
    rates: Rates,
    audit: AuditSink,
    tidying: Tidying,
    stop: Stop,
}

/// A thread's hold on the gateway, with its own connections to upstreams.
#[derive(Clone)]
pub(crate) struct Shard(Arc<ShardState>);

pub(crate) struct ShardState {
    gateway: Arc<Gateway>,
    client: Client,
    door: Authenticator,
}

impl Deref for Shard {
    type Target = ShardState;

    fn deref(&self) -> &ShardState {
        &self.0
    }
}

impl Gateway {
    fn new(config: &Config, audit: AuditSink, stop: Stop) -> Result<Self, String> {
        let snapshot = Snapshot::compile(config, env!("CARGO_PKG_VERSION"));
        let upstreams: Result<Vec<_>, String> = snapshot
            .upstreams
            .iter()
            .map(|spec| Upstream::new(spec.clone(), &snapshot).map(Arc::new))
            .collect();
        Ok(Self {
            upstreams: upstreams?,
            sessions: Sessions::new(&snapshot.limits),
            views: Views::default(),
            supervisor: Supervisor::new(snapshot.limits.children),
            seal: Seal::new().map_err(|_| NO_RANDOM.to_owned())?,
            parked: Parked::new(snapshot.limits.parked_calls, snapshot.limits.request_state_lifetime),
            homes: Homes::new(snapshot.limits.parked_calls, snapshot.limits.request_state_lifetime),
            held: tasks::new_held(snapshot.limits.request_state_lifetime),
            // Keys are also progress tokens, which some servers take for missing when they are 0.
            keys: AtomicU64::new(1),
            listens: AtomicU64::new(0),
            dialect_sessions: dialect::Sessions::new(snapshot.limits.sessions),
            dialect_lists: dialect::Lists::default(),
            carries: embedded::Carried::is_wanted(&snapshot.upstreams),
            rates: Rates::new(&config.rate_limits, seal::random_number().map_err(|_| NO_RANDOM.to_owned())?),
            audit,
            tidying: Tidying::default(),
            stop,
            snapshot: Arc::new(snapshot),
        })
    }

    fn next_key(&self) -> u64 {
        self.keys.fetch_add(1, Ordering::Relaxed)
    }

    fn upstream(&self, id: UpstreamId) -> &Arc<Upstream> {
        &self.upstreams[id.0 as usize]
    }

    fn frame_limits(&self) -> FrameLimits {
        frame_limits(&self.snapshot.limits)
    }

    /// What states of `era` are bound to; the clock is only asked where there are states.
    fn binding<'a>(&self, principal: &'a str, server: &'a str, era: &Era) -> Binding<'a> {
        let lifetime = self.snapshot.limits.request_state_lifetime;
        let now = match era.asks {
            Asks::InputRequired => SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
            Asks::Requests => Duration::ZERO,
        };
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Binding { principal, server, now_ms: millis(now), lifetime_ms: millis(lifetime) }
    }
}

impl Sealer for Gateway {
    fn seal(&self, plain: &[u8], bound: &[u8]) -> String {
        self.seal.seal(plain, bound)
    }

    fn seal_name(&self, plain: &[u8], bound: &[u8]) -> String {
        self.seal.seal_name(plain, bound)
    }

    fn open(&self, sealed: &str, bound: &[u8]) -> Option<Vec<u8>> {
        self.seal.open(sealed, bound)
    }

    fn fresh_key(&self) -> u64 {
        self.next_key()
    }
}

fn frame_limits(limits: &Limits) -> FrameLimits {
    let depth = u32::try_from(limits.json_depth).unwrap_or(u32::MAX).min(proto::json::MAX_DEPTH);
    FrameLimits { depth, batch: limits.batch }
}

/// The gateway's own params of `initialize` on a link that several clients share.
fn own_hello(kind: &Kind) -> Bytes {
    let capabilities = String::from_utf8_lossy(&kind.capabilities);
    let version = proto::json::quote(kind.era.version);
    Bytes::from(format!(
        "{{\"protocolVersion\":{version},\"capabilities\":{capabilities},\"clientInfo\":{CLIENT_INFO}}}"
    ))
}
