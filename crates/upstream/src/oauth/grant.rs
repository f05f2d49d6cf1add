//! One server's grant: the tokens that a user allowed, and the ways to get new tokens (from the vault, with a refresh token,
//! or by a new consent). One attempt runs at a time; other callers wait for its result.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use config::OAuthClient;
use engine::credential::challenge::Challenge;
use http::{HeaderValue, Uri};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use transport::net::client::Route;
use transport::up::{Credential, CredentialRefusal};

use super::caller_id::CallerId;
use super::client::Registered;
use super::consent_request::{ConsentRequest, ConsentTarget};
use super::discovery::is_same;
use super::fetcher::{FetchRules, within};
use super::metadata::{Service, canonical};
use super::shared::ConsentVersion;
use super::tokens::{self, NoTokens, Parties, Tokens};
use super::{ConsentFault, OAuthProcess};

/// The time limit of a token exchange.
pub(super) const EXCHANGE: Duration = Duration::from_secs(15);
/// The pause after a failed renewal, in seconds.
pub(super) const AGAIN: u64 = 30;
/// The age below which tokens count as new.
pub(super) const QUITE_NEW: Duration = Duration::from_secs(10);
/// The reason why a retired grant gets no more tokens.
pub(super) const OTHERWISE: &str = "the server's configuration has changed";

/// The configuration of a grant.
#[derive(Debug, Clone)]
pub struct GrantSettings {
    /// The server's address.
    pub url: Uri,
    /// Dragoman's client at the authorization server.
    pub client: OAuthClient,
    /// The proxy and the TLS settings for requests to the authorization server.
    pub route: Route,
}

/// The grant for one server, for all callers or for one.
pub struct Grant {
    pub(super) server: Arc<str>,
    /// The owner of the grant; `None` if all callers share it.
    pub(super) caller: Option<CallerId>,
    pub(super) url: Uri,
    pub(super) config: OAuthClient,
    route: Route,
    pub(super) around: Arc<OAuthProcess>,
    /// The credential that links to the server send.
    credential: Arc<Credential>,
    pub(super) known: Mutex<GrantState>,
    /// Held while tokens are being obtained. Grants for servers with the same name share this lock, because they store their
    /// tokens under the same name.
    pub(super) busy: Arc<tokio::sync::Mutex<()>>,
    /// Held while the stored tokens are compared with those of the other gateways.
    pub(super) sharing: Arc<tokio::sync::Mutex<()>>,
    /// True if the other gateways lack a change that was made here.
    pub(super) is_unshared: AtomicBool,
    /// True if the server's configuration has changed or the server was removed, so its tokens belong to another grant.
    has_left: AtomicBool,
}

/// The grant's current state.
#[derive(Default)]
pub(super) struct GrantState {
    pub(super) held: Option<HeldTokens>,
    /// The time at which the latest tokens were issued.
    pub(super) taken: Option<Instant>,
    pub(super) wanted: Option<ConsentTarget>,
    /// The challenge for which the authorization server was searched, the time of the search, and, if the search
    /// failed, the reason.
    pub(super) search: Option<(Challenge, Instant, Option<String>)>,
    pub(super) asked: Vec<ConsentRequest>,
    /// The reason why a renewal was postponed, until it succeeds.
    pub(super) postponed: Option<String>,
    /// True if all connections to the server led outside the public network, as of the server's last refusal.
    is_near: bool,
}

/// Tokens, with everything that is stored about them.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct HeldTokens {
    /// The server's address; tokens that were stored for another address are not used.
    pub(super) url: String,
    pub(super) resource: String,
    pub(super) service: Service,
    pub(super) client: Registered,
    pub(super) tokens: Tokens,
    /// The version, if several gateways share the tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<ConsentVersion>,
}

/// Returns the current time, in seconds since 1970.
pub(super) fn unix() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

impl std::fmt::Debug for Grant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Grant").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Grant {
    pub(super) fn new(
        (server, caller): (&Arc<str>, Option<CallerId>),
        settings: GrantSettings,
        around: Arc<OAuthProcess>,
    ) -> Self {
        let GrantSettings { url, client: config, route } = settings;
        Self {
            server: server.clone(),
            caller,
            url,
            config,
            route,
            around,
            credential: Arc::default(),
            known: Mutex::default(),
            busy: Arc::default(),
            sharing: Arc::default(),
            is_unshared: AtomicBool::new(false),
            has_left: AtomicBool::new(false),
        }
    }

    /// Returns true if the grant belongs to the server with this name and to this caller (`None` means all callers).
    pub(super) fn is_to(&self, server: &str, caller: Option<&CallerId>) -> bool {
        *self.server == *server && self.caller.as_ref() == caller
    }

    /// Makes this grant use the lock of the grant that it replaces; both are for servers with the same name.
    pub(super) fn in_place_of(mut self, other: &Self) -> Self {
        (self.busy, self.sharing) = (other.busy.clone(), other.sharing.clone());
        self
    }

    /// Retires the grant, because the configuration of its server has changed. Running calls may finish with the
    /// current token; the stored tokens belong to the next grant.
    pub fn leave(&self) {
        self.has_left.store(true, Ordering::SeqCst);
    }

    pub(super) fn has_left(&self) -> bool {
        self.has_left.load(Ordering::SeqCst)
    }

    /// Returns the credential that links to the server send. Its content is replaced when the tokens change.
    pub fn credential(&self) -> Arc<Credential> {
        self.credential.clone()
    }

    /// Returns the rules for requests to hosts that the server names.
    pub(super) fn way(&self, patience: Duration) -> FetchRules<'_> {
        let within = within(&self.url, self.known.lock().is_near);
        FetchRules { within, until: Instant::now() + patience, route: &self.route }
    }

    /// Handles a refusal without a user if this is possible; returns `true` if the request may be sent again.
    /// Otherwise, the consent page is available afterwards, or the reason why there is none.
    pub async fn answer(self: &Arc<Self>, refusal: &CredentialRefusal) -> bool {
        let (grant, refusal) = (self.clone(), refusal.clone());
        // The caller may be dropped while it waits, but exchanged tokens must be stored in any case.
        transport::task::spawn(async move { grant.answered(&refusal).await }).await.unwrap_or(false)
    }

    async fn answered(&self, refusal: &CredentialRefusal) -> bool {
        let _turn = self.busy.lock().await;
        self.known.lock().is_near = refusal.is_from_near;
        let now = self.credential.get();
        if now != refusal.shown {
            return now.is_some();
        }
        let challenge = Challenge::read(&refusal.challenge);
        if self.config.is_machine() {
            return self.answered_as_client(refusal, &challenge).await;
        }
        if self.adopt(refusal.shown.as_ref()).await {
            return true;
        }
        if refusal.status != 401 {
            if challenge.wants_scopes {
                self.want(&challenge).await;
            }
            return false;
        }
        // A server that refuses a very new token would refuse the next one as well.
        if self.known.lock().taken.is_some_and(|at| at.elapsed() < QUITE_NEW) {
            self.want(&challenge).await;
            return false;
        }
        match self.renew_alone().await {
            Ok(()) => return true,
            Err(ConsentFault::NoRefreshToken | ConsentFault::RefreshFailed { for_good: true, .. }) => {
                self.drop_tokens().await;
            }
            Err(_) => return false,
        }
        self.want(&challenge).await;
        false
    }

    /// Adopts tokens that another gateway, another process or an earlier run has stored. Returns `false` if the stored tokens
    /// are the `refused` ones, or if there are none.
    pub(super) async fn adopt(&self, refused: Option<&HeaderValue>) -> bool {
        if let Err(why) = self.compare().await {
            tracing::debug!(server = %self.server, "cannot compare a consent with those of the other gateways: {why}");
        }
        self.adopt_kept(refused).await
    }

    /// Adopts tokens from the vault.
    pub(super) async fn adopt_kept(&self, refused: Option<&HeaderValue>) -> bool {
        let held: Option<HeldTokens> = self.around.kept.get(&self.place()).await;
        let held = held.filter(|held| held.url == canonical(&self.url) && self.trusts(&held.service));
        let Some((held, header)) =
            held.and_then(|held| Some((held.tokens.header()?, held))).map(|(h, held)| (held, h))
        else {
            return false;
        };
        if refused == Some(&header) {
            self.known.lock().held.get_or_insert(held);
            return false;
        }
        self.take(held, header);
        true
    }

    /// Returns true unless the configuration names another authorization server.
    fn trusts(&self, service: &Service) -> bool {
        self.config.issuer.as_ref().is_none_or(|issuer| is_same(issuer, &service.issuer))
    }

    pub(super) fn take(&self, held: HeldTokens, header: HeaderValue) {
        let mut known = self.known.lock();
        known.held = Some(held);
        (known.wanted, known.postponed) = (None, None);
        known.asked.clear();
        self.credential.set(Some(header));
    }

    /// Stores new tokens, and uses them from now on. `before` are the tokens that were exchanged for them.
    pub(super) async fn keep(&self, held: HeldTokens, before: Option<&HeldTokens>) -> Result<(), String> {
        let header = held.tokens.header().ok_or("the token cannot be sent in a header")?;
        if self.has_left() && before.is_none() {
            return Err(OTHERWISE.to_owned());
        }
        let is_current = !self.has_left() || self.is_kept(before).await;
        let held = if is_current { self.store(held).await } else { held };
        self.take(held, header);
        self.known.lock().taken = Some(Instant::now());
        Ok(())
    }

    /// Returns true if the stored tokens are still the tokens `held`. In that case, the exchange has used up the
    /// stored tokens, and the new tokens may replace them.
    async fn is_kept(&self, held: Option<&HeldTokens>) -> bool {
        let kept: Option<HeldTokens> = self.around.kept.get(&self.place()).await;
        let access = |held: &HeldTokens| held.tokens.header();
        kept.zip(held).is_some_and(|(kept, held)| access(&kept) == access(held))
    }

    /// Forgets the tokens.
    pub(super) async fn drop_tokens(&self) -> bool {
        let Some(had) = self.forget_tokens() else { return false };
        if !self.has_left() {
            self.withdraw(had.version).await;
        }
        true
    }

    /// Forgets the tokens in memory; returns them.
    pub(super) fn forget_tokens(&self) -> Option<HeldTokens> {
        let mut known = self.known.lock();
        self.credential.set(None);
        known.held.take()
    }

    /// Takes the request whose `state` a browser returned.
    pub(super) fn named(&self, state: &str) -> Option<ConsentRequest> {
        if self.has_left() {
            return None;
        }
        let now = Instant::now();
        let mut known = self.known.lock();
        known.asked.retain(|asked| !asked.is_over(now));
        let at = known.asked.iter().position(|asked| asked.is_named(state))?;
        Some(known.asked.remove(at))
    }

    /// Obtains tokens in exchange for the code with which a browser returned.
    pub(super) async fn redeem(&self, asked: ConsentRequest, code: &str) -> Result<(), ConsentFault> {
        let _turn = self.busy.lock().await;
        let ConsentTarget { service, client, resource, scopes } = &asked.wanted;
        let parties = Parties { service, client, resource, scopes };
        let way = self.way(EXCHANGE);
        let grant = tokens::Grant::Code { code, verifier: &asked.verifier };
        let asked_for = tokens::ask(&self.around.outside, parties, grant, way, unix()).await;
        let tokens = asked_for.map_err(|why| match why {
            NoTokens::Refused(why) | NoTokens::Unavailable(why) => ConsentFault::NotExchanged(why),
        })?;
        let (url, resource) = (canonical(&self.url), resource.clone());
        let (service, client) = ((**service).clone(), (**client).clone());
        let held = HeldTokens { url, resource, service, client, tokens, version: None };
        self.keep(held, None).await.map_err(ConsentFault::NotExchanged)
    }

    /// Returns the current tokens.
    pub(super) fn held(&self) -> Option<HeldTokens> {
        self.known.lock().held.clone()
    }

    /// Returns true if a user has to give consent.
    pub(super) fn is_wanted(&self) -> bool {
        self.known.lock().wanted.is_some()
    }

    /// Returns the reason why consent cannot be requested; `None` if consent can be requested.
    pub(super) fn why_not(&self) -> Option<String> {
        self.known.lock().search.as_ref()?.2.clone()
    }

    /// Returns the name under which the tokens are stored.
    pub(super) fn place(&self) -> String {
        match &self.caller {
            Some(caller) => format!("grant {} of {}", self.server, caller.digest()),
            None => format!("grant {}", self.server),
        }
    }
}
