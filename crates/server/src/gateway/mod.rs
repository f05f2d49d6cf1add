//! The gateway: clients' sessions and views, and the loop between them and `upstream` that asks the engine what to do.
//!
//! | file | is for |
//! |---|---|
//! | `run`, `farewell`, `partings` | starting and ending it all; the last goodbye to servers |
//! | `lasting`, `threads` | what stays when the configuration changes; what each thread has of it now |
//! | `reload`, `takeover`, `leaving`, `remade` | a new configuration while serving: read, put in force; servers and sessions that end with it, once nothing runs there; resources of servers that are others now |
//! | `http/` | clients over Streamable HTTP and HTTP+SSE |
//! | `dialect/` | clients of endpoints that behave as another system does |
//! | `stdio` | the one client over stdin and stdout |
//! | `lines`, `lines_stateless` | a client whose messages come in order one way and go out another: of `stdio`, or of HTTP+SSE |
//! | `in_flight` | how many calls at once |
//! | `in_session`, `stateless` | what a message comes to, whichever of the two brought it |
//! | `session`, `usage`, `newborn`, `sessions`, `streams`, `open_requests`, `subscriptions`, `log_level` | what a client of a handshake era has here |
//! | `link_user`, `asker`, `changed` | a session as links to servers know it; who asks its client; how it is told of changes |
//! | `manage`, `deeds` | what the management API does with all this, and what is written down of it |
//! | `shut` | servers of which a session may use nothing |
//! | `identity`, `client_label`, `rates`, `refusals`, `record` | who asks, how often, and what is written down of it |
//! | `withdrawn` | credentials that end, and with them what they have opened |
//! | `call`, `caller`, `said`, `mail`, `late` | one forwarded request: the engine's exchange, performed |
//! | `unchecked` | tools whose arguments nobody checks here |
//! | `deliver`, `relist` | over which link its request goes; its upstream's lists read again when those were old |
//! | `parked`, `lease` | calls that wait for a client without a session, and which of them have a link for themselves |
//! | `listen` | streams of notices for stateless clients |
//! | `views`, `view_cell`, `revision`, `audience` | what clients see, kept up to date |
//! | `apart` | servers that each caller has for itself, since it allowed them to be used |
//! | `consent` | servers that want the consent of their users: what clients are told, what is asked again |
//! | `memory` | giving it back after the start and after a rush |
//! | `tasks/` | calls that became tasks: what is kept for them, and who hears of them |
//! | `seal`, `sealer` | states and ids that nobody can forge or guess |
//!
//! Which versions differ in what is read from rows of `proto::era`; what is allowed and where a request goes is decided
//! in `engine`.

mod apart;
mod asker;
mod audience;
mod call;
mod caller;
mod changed;
mod client_label;
mod consent;
mod deeds;
mod deliver;
mod dialect;
mod farewell;
mod http;
mod identity;
mod in_flight;
mod in_session;
mod lasting;
mod late;
mod lease;
mod leaving;
mod lines;
mod lines_stateless;
mod link_user;
mod listen;
mod log_level;
mod mail;
pub(crate) mod manage;
mod memory;
mod newborn;
mod open_requests;
mod parked;
mod partings;
mod rates;
mod record;
mod refusals;
mod relist;
pub(crate) mod reload;
mod remade;
mod revision;
pub(crate) mod run;
mod said;
mod seal;
mod sealer;
mod session;
mod sessions;
mod shut;
mod stateless;
mod stdio;
mod streams;
mod subscriptions;
mod takeover;
mod tasks;
mod threads;
mod unchecked;
mod usage;
mod view_cell;
mod views;
mod withdrawn;

use std::net::IpAddr;
use std::ops::Deref;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ::http::HeaderMap;
use engine::catalogue::UpstreamId;
use engine::config::{Config, RateLimit, RateMethods, RatePer};
use engine::exchange::{Binding, Sealer};
use engine::{ClientAddress, Snapshot};
use proto::era::{Asks, Era};
use proto::rpc::FrameLimits;

use crate::auth::Authenticator;
use crate::manage::Standing;
use lasting::{Lasting, Outside};
use rates::{ManageRates, Rates};
pub(crate) use threads::Shard;
use upstream::{NO_RANDOM, Upstream, embedded};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The gateway under one configuration.
pub(crate) struct Gateway {
    snapshot: Arc<Snapshot>,
    /// What the snapshot was made of.
    standing: Arc<Standing>,
    guard: http::Guard,
    /// Who is let in, asking others over nobody's connections.
    door: Authenticator,
    rates: Arc<Rates>,
    /// Whether requests carry anything for sites behind embedded servers.
    carries: bool,
    lasting: Arc<Lasting>,
}

impl Deref for Gateway {
    type Target = Lasting;

    fn deref(&self) -> &Lasting {
        &self.lasting
    }
}

impl Gateway {
    fn new(standing: Standing, door: Authenticator, outside: Outside) -> Result<Self, String> {
        let config = standing.config();
        let snapshot = Arc::new(Snapshot::compile(config, VERSION));
        let lasting = Arc::new(Lasting::new(&snapshot, manage_rates(config)?, outside)?);
        let audience: Weak<Lasting> = Arc::downgrade(&lasting);
        lasting.egress.set_audience(audience);
        let rates = Arc::new(configured_rates(config)?);
        Ok(Self::over(lasting, (standing, snapshot), door, rates))
    }

    fn over(
        lasting: Arc<Lasting>,
        (standing, snapshot): (Standing, Arc<Snapshot>),
        door: Authenticator,
        rates: Arc<Rates>,
    ) -> Self {
        let (loopback, config) = (lasting.loopback, standing.config());
        lasting.consents.serve_at(consent::base(config, &lasting.addresses));
        lasting.consents.with_clients(snapshot.upstreams.iter().filter_map(consent::client));
        Self {
            guard: http::Guard::new(loopback, &config.allowed_hosts, &origins(config)),
            carries: embedded::is_wanted(&snapshot.upstreams),
            snapshot,
            standing: Arc::new(standing),
            door,
            rates,
            lasting,
        }
    }

    /// The client's address of a request, by the proxies that are trusted.
    fn client_of(&self, peer: IpAddr, headers: &HeaderMap) -> ClientAddress {
        ClientAddress::of(peer, headers, &self.snapshot.proxies)
    }

    fn next_key(&self) -> u64 {
        self.egress.next_key()
    }

    fn upstream(&self, id: UpstreamId) -> Arc<Upstream> {
        self.upstreams.get(id)
    }

    fn frame_limits(&self) -> FrameLimits {
        engine::snapshot::frame_limits(&self.snapshot.limits)
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

/// The origins whose pages may come: those of the configuration, and its own, where browsers find it under another name.
fn origins(config: &Config) -> Vec<String> {
    let own = config.public_url.as_ref().and_then(|url| url.parse::<::http::Uri>().ok());
    let own = own
        .and_then(|url| Some(format!("{}://{}", url.scheme_str()?, url.authority()?).to_ascii_lowercase()));
    config.allowed_origins.iter().cloned().chain(own).collect()
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

fn configured_rates(config: &Config) -> Result<Rates, String> {
    new_rates(&config.rate_limits, |place| format!("rateLimits[{place}]"))
}

fn new_rates(limits: &[RateLimit], name: impl Fn(usize) -> String) -> Result<Rates, String> {
    Ok(Rates::new(limits, name, seal::random_number().map_err(|_| NO_RANDOM.to_owned())?))
}

/// How often somebody may manage, and how often somebody at one address may be refused; `None` where nobody may.
fn manage_rates(config: &Config) -> Result<Option<ManageRates>, String> {
    let Some(management) = &config.management else { return Ok(None) };
    let limit = |per| RateLimit {
        enabled: true,
        per: vec![per],
        methods: RateMethods::All,
        profiles: None,
        tools: None,
        count: management.count,
        period: management.period,
        burst: management.count,
        trust_forwarded_for: None,
    };
    let new = |per, whose: &str| new_rates(&[limit(per)], |_| format!("management, by {whose}"));
    let (known, refused) = (new(RatePer::Principal, "principal")?, new(RatePer::Ip, "address")?);
    Ok(Some(ManageRates { known, refused }))
}
