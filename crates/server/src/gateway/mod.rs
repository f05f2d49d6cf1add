//! The gateway: clients' sessions and views, and the loop between them and `upstream` that asks the engine what to do.
//!
//! | file | is for |
//! |---|---|
//! | `admission/` | who asks, and how often |
//! | `view/` | what clients see, kept up to date |
//! | `session/` | what a client of a handshake era has here |
//! | `call/` | one request of a client, done |
//! | `dialect_session/` | what is kept of clients of endpoints that behave as another system does |
//! | `http/` | clients over Streamable HTTP and HTTP+SSE |
//! | `dialect/` | clients of endpoints that behave as another system does |
//! | `stdio` | the one client over stdin and stdout |
//! | `lines`, `lines_stateless` | a client whose messages come in order one way and go out another: of `stdio`, or of HTTP+SSE |
//! | `manage`, `deeds` | what the management API does with all this, and what is written down of it |
//! | `withdrawn` | credentials that end, and with them what they have opened |
//! | `lasting`, `threads` | what stays when the configuration changes; what each thread has of it now |
//! | `run`, `farewell`, `partings` | starting and ending it all; the last goodbye to servers |
//! | `reload`, `takeover`, `leaving`, `apart` | a new configuration while serving: read, put in force; servers and sessions that end with it; servers that callers have for themselves from now on |
//!
//! Each of the first five may use those above it, and none the rest.
//!
//! Which versions differ in what is read from rows of `proto::era`; what is allowed and where a request goes is decided
//! in `engine`.

mod admission;
mod apart;
mod call;
mod deeds;
mod dialect;
mod dialect_session;
mod edits;
mod farewell;
mod http;
mod lasting;
mod leaving;
mod lines;
mod lines_stateless;
pub(crate) mod manage;
mod partings;
pub(crate) mod reload;
pub(crate) mod run;
mod session;
mod stdin;
mod stdio;
mod takeover;
mod threads;
mod view;
mod withdrawn;

use std::net::IpAddr;
use std::ops::Deref;
use std::sync::{Arc, Weak};

use ::http::HeaderMap;
use engine::access::Hosts;
use engine::config::{Config, RateLimit, RateMethods, RatePer};
use engine::{ClientAddress, Snapshot};
use proto::rpc::FrameLimits;

use crate::auth::Authenticator;
use crate::manage::Standing;
use admission::rates::{ManageRates, Rates};
use lasting::{Lasting, Outside};
use session::SessionState;
pub(crate) use threads::Shard;
use upstream::{NO_RANDOM, embedded};
use view::ViewState;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The gateway under one configuration.
pub(crate) struct Gateway {
    snapshot: Arc<Snapshot>,
    /// What the snapshot was made of.
    standing: Arc<Standing>,
    /// The hosts and origins for which requests are answered.
    hosts: Hosts,
    /// Who is let in, asking others over nobody's connections.
    door: Authenticator,
    rates: Arc<Rates>,
    /// True if requests carry anything for sites behind embedded servers.
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
        let audience: Weak<ViewState> = Arc::downgrade(&lasting.view);
        lasting.egress.set_audience(audience);
        let observer: Weak<SessionState> = Arc::downgrade(&lasting.session);
        lasting.view.set_observer(observer);
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
        lasting.consents.serve_at(call::consent::base(config, &lasting.addresses));
        lasting.consents.with_clients(snapshot.upstreams.iter().filter_map(call::consent::client));
        Self {
            hosts: Hosts::new(loopback, &config.allowed_hosts, &origins(config)),
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

    fn frame_limits(&self) -> FrameLimits {
        engine::snapshot::frame_limits(&self.snapshot.limits)
    }
}

/// The origins whose pages may come: those of the configuration, and its own, where browsers find it under another name.
fn origins(config: &Config) -> Vec<String> {
    let own = config.public_url.as_ref().and_then(|url| url.parse::<::http::Uri>().ok());
    let own = own
        .and_then(|url| Some(format!("{}://{}", url.scheme_str()?, url.authority()?).to_ascii_lowercase()));
    config.allowed_origins.iter().cloned().chain(own).collect()
}

fn configured_rates(config: &Config) -> Result<Rates, String> {
    new_rates(&config.rate_limits, |place| format!("rateLimits[{place}]"))
}

fn new_rates(limits: &[RateLimit], name: impl Fn(usize) -> String) -> Result<Rates, String> {
    Ok(Rates::new(limits, name, session::seal::random_number().map_err(|_| NO_RANDOM.to_owned())?))
}

/// The rate at which somebody may manage, and how often somebody at one address may be refused; `None` where nobody
/// may.
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
