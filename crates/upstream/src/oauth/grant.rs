//! What one server's user has allowed Dragoman, and how more of it is come by: from the vault, by a refresh token, by
//! asking. One thing at a time; whoever waits meanwhile gets what the first one got.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use engine::config::OAuthClient;
use engine::credential::challenge::Challenge;
use http::{HeaderValue, Uri};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use transport::up::{Credential, Refusal};

use super::asked::{Asked, Wanted};
use super::client::Registered;
use super::discovery::is_same;
use super::metadata::{Service, canonical};
use super::outside::{Way, within};
use super::tokens::{self, NoTokens, Parties, Tokens};
use super::whose::Whose;
use super::{Around, Fault, Page};

/// The time that an exchange for tokens may take.
const EXCHANGE: Duration = Duration::from_secs(15);
/// The time when a token is tried to be exchanged again after that failed, in seconds.
const AGAIN: u64 = 30;
/// The time for which tokens are quite new.
const QUITE_NEW: Duration = Duration::from_secs(10);
/// The reason why nothing is come by any more for a server that has left.
const OTHERWISE: &str = "its server is configured otherwise by now";
/// The number of pages of one server that may be open.
const PAGES: usize = 4;

/// Consent to one server.
pub struct Grant {
    pub(super) server: Arc<str>,
    /// Whose it is; all callers' without.
    pub(super) whose: Option<Whose>,
    pub(super) url: Uri,
    pub(super) config: OAuthClient,
    pub(super) around: Arc<Around>,
    /// What links to the server show.
    credential: Arc<Credential>,
    pub(super) known: Mutex<Known>,
    /// Held while tokens are come by. Grants to servers of one name keep them in one place, and share it.
    busy: Arc<tokio::sync::Mutex<()>>,
    /// True if its server is configured otherwise by now, or not at all: its tokens are another grant's.
    has_left: AtomicBool,
}

/// What is known of it now.
#[derive(Default)]
pub(super) struct Known {
    pub(super) held: Option<Held>,
    /// The time when new tokens were given.
    taken: Option<Instant>,
    pub(super) wanted: Option<Wanted>,
    /// What `wanted` was found by, and when; or why nothing was found.
    pub(super) search: Option<(Challenge, Instant, Option<String>)>,
    pub(super) asked: Vec<Asked>,
    /// True if the server was always where the public network is not, as of its last refusal.
    is_near: bool,
}

/// What is held, as it is kept.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Held {
    /// The server's address: what is kept for another one is nothing to this one.
    url: String,
    resource: String,
    service: Service,
    client: Registered,
    pub(super) tokens: Tokens,
}

/// Seconds since 1970.
pub(super) fn unix() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

impl Grant {
    pub(super) fn new(
        (server, whose): (&Arc<str>, Option<Whose>),
        url: Uri,
        config: OAuthClient,
        around: Arc<Around>,
    ) -> Self {
        Self {
            server: server.clone(),
            whose,
            url,
            config,
            around,
            credential: Arc::default(),
            known: Mutex::default(),
            busy: Arc::default(),
            has_left: AtomicBool::new(false),
        }
    }

    /// Returns true if it is to the server of this name, and as much this caller's as it says.
    pub(super) fn is_to(&self, server: &str, whose: Option<&Whose>) -> bool {
        *self.server == *server && self.whose.as_ref() == whose
    }

    /// The same in the place of another one to a server of this name.
    pub(super) fn in_place_of(mut self, other: &Self) -> Self {
        self.busy = other.busy.clone();
        self
    }

    /// Its server is no longer configured as it was: what runs may end with the token that there is. What is kept is for
    /// the grant that comes after it.
    pub fn leave(&self) {
        self.has_left.store(true, Ordering::SeqCst);
    }

    pub(super) fn has_left(&self) -> bool {
        self.has_left.load(Ordering::SeqCst)
    }

    /// What links to the server show: the cell, which is exchanged as tokens come and go.
    pub fn credential(&self) -> Arc<Credential> {
        self.credential.clone()
    }

    /// How those may be asked whom the server names.
    pub(super) fn way(&self, patience: Duration) -> Way {
        Way { within: within(&self.url, self.known.lock().is_near), until: Instant::now() + patience }
    }

    /// Does about a refusal what can be done without a user; `true` when the request may be sent again. Else it is known
    /// from now on where the user is to be sent, or why nobody can be asked.
    pub async fn answer(self: &Arc<Self>, refusal: &Refusal) -> bool {
        let (grant, refusal) = (self.clone(), refusal.clone());
        // Whoever asked may leave; tokens that were exchanged must be kept all the same.
        tokio::spawn(async move { grant.answered(&refusal).await }).await.unwrap_or(false)
    }

    async fn answered(&self, refusal: &Refusal) -> bool {
        let _turn = self.busy.lock().await;
        self.known.lock().is_near = refusal.is_from_near;
        let now = self.credential.get();
        if now != refusal.shown {
            return now.is_some();
        }
        let challenge = Challenge::read(&refusal.challenge);
        if self.adopt(refusal.shown.as_ref()).await {
            return true;
        }
        if refusal.status != 401 {
            if challenge.wants_scopes {
                self.want(&challenge).await;
            }
            return false;
        }
        // Who refuses a token that is quite new would refuse the next one, too.
        if self.known.lock().taken.is_some_and(|at| at.elapsed() < QUITE_NEW) {
            self.want(&challenge).await;
            return false;
        }
        match self.exchange_refresh_token().await {
            Ok(()) => return true,
            Err(Fault::NoRefreshToken | Fault::RefreshFailed { for_good: true, .. }) => {
                self.drop_tokens().await;
            }
            Err(_) => return false,
        }
        self.want(&challenge).await;
        false
    }

    /// Takes from the vault what another process, or this one before it was started again, has put there. `false` when
    /// that is what was `refused`, or nothing.
    pub(super) async fn adopt(&self, refused: Option<&HeaderValue>) -> bool {
        let held: Option<Held> = self.around.kept.get(&self.place()).await;
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

    /// Returns true if this is the authorization server that the configuration names, where it names one.
    fn trusts(&self, service: &Service) -> bool {
        self.config.issuer.as_ref().is_none_or(|issuer| is_same(issuer, &service.issuer))
    }

    fn take(&self, held: Held, header: HeaderValue) {
        let mut known = self.known.lock();
        known.held = Some(held);
        known.wanted = None;
        known.asked.clear();
        self.credential.set(Some(header));
    }

    /// Keeps new tokens, and uses them from now on. `before` are those that were given for them.
    async fn keep(&self, held: Held, before: Option<&Held>) -> Result<(), String> {
        let header = held.tokens.header().ok_or("its token does not fit into a header")?;
        if self.has_left() && before.is_none() {
            return Err(OTHERWISE.to_owned());
        }
        if !self.has_left() || self.is_kept(before).await {
            self.around.kept.put(&self.place(), &held).await;
        }
        self.take(held, header);
        self.known.lock().taken = Some(Instant::now());
        Ok(())
    }

    /// Returns true if these are what is kept: then they are worth nothing any more, and what came of them may replace
    /// them.
    async fn is_kept(&self, held: Option<&Held>) -> bool {
        let kept: Option<Held> = self.around.kept.get(&self.place()).await;
        let access = |held: &Held| held.tokens.header();
        kept.zip(held).is_some_and(|(kept, held)| access(&kept) == access(held))
    }

    /// Forgets the tokens.
    pub(super) async fn drop_tokens(&self) -> bool {
        let had = {
            let mut known = self.known.lock();
            self.credential.set(None);
            known.held.take().is_some()
        };
        if had && !self.has_left() {
            self.around.kept.remove(&self.place()).await;
        }
        had
    }

    /// Exchanges the refresh token, while nobody else does.
    pub(super) async fn renew(&self) -> Result<(), Fault> {
        let _turn = self.busy.lock().await;
        self.exchange_refresh_token().await
    }

    async fn exchange_refresh_token(&self) -> Result<(), Fault> {
        if self.has_left() {
            return Err(Fault::RefreshFailed { why: OTHERWISE.to_owned(), for_good: false });
        }
        let held = self.known.lock().held.clone();
        let Some((held, refresh)) = held.and_then(|held| Some((held.clone(), held.tokens.refresh?))) else {
            return Err(Fault::NoRefreshToken);
        };
        let parties = Parties {
            service: &held.service,
            client: &held.client,
            resource: &held.resource,
            scopes: &held.tokens.scopes,
        };
        let way = self.way(EXCHANGE);
        let asked =
            tokens::ask(&self.around.outside, parties, tokens::Grant::Refresh(&refresh), way, unix()).await;
        match asked {
            Ok(tokens) => {
                tracing::info!(server = %self.server, "the consent to it was renewed");
                let kept = self.keep(Held { tokens, ..held.clone() }, Some(&held)).await;
                kept.map_err(|why| Fault::RefreshFailed { why, for_good: true })
            }
            // Another process may have been quicker, and the token be good for once.
            Err(NoTokens::Refused(_)) if self.adopt(held.tokens.header().as_ref()).await => Ok(()),
            Err(NoTokens::Refused(why)) => {
                tracing::warn!(server = %self.server, why, "the consent to it has ended");
                Err(Fault::RefreshFailed { why, for_good: true })
            }
            Err(NoTokens::Unavailable(why)) => {
                tracing::warn!(server = %self.server, why, "the consent to it cannot be renewed now");
                if let Some(held) = &mut self.known.lock().held {
                    held.tokens.renew = held.tokens.renew.map(|_| unix() + AGAIN);
                }
                Err(Fault::RefreshFailed { why, for_good: false })
            }
        }
    }

    /// Returns true if its token should be exchanged at `now` (seconds since 1970), and nobody does that yet.
    pub(super) fn is_due(&self, now: u64) -> bool {
        let known = self.known.lock();
        let tokens = known.held.as_ref().map(|held| &held.tokens);
        let due = tokens.is_some_and(|t| t.refresh.is_some() && t.renew.is_some_and(|renew| renew <= now));
        due && !self.has_left() && self.busy.try_lock().is_ok()
    }

    /// Exchanges the token before its end, unless somebody did so meanwhile. One that cannot be exchanged is used as long
    /// as the server takes it.
    pub(super) async fn renew_if_due(self: Arc<Self>) {
        let _turn = self.busy.lock().await;
        let due = {
            let known = self.known.lock();
            known.held.as_ref().is_some_and(|held| held.tokens.renew.is_some_and(|renew| renew <= unix()))
        };
        if !due {
            return;
        }
        if let Err(Fault::RefreshFailed { for_good: true, .. }) = self.exchange_refresh_token().await
            && let Some(held) = &mut self.known.lock().held
        {
            held.tokens.refresh = None;
        }
    }

    /// The page where a user gives consent, while that is wanted.
    pub fn page(&self) -> Option<Page> {
        let now = Instant::now();
        let mut known = self.known.lock();
        let wanted = known.wanted.clone().filter(|_| !self.has_left())?;
        let start = self.around.start()?;
        known.asked.retain(|asked| !asked.is_over(now));
        let page = |asked: &Asked| {
            let url = format!("{start}{}", asked.entry.expose());
            Page { url, name: asked.name.clone() }
        };
        if let Some(asked) = known.asked.iter().rev().find(|asked| asked.serves(&wanted, now)) {
            return Some(page(asked));
        }
        let asked = Asked::new(wanted, now).inspect_err(|why| tracing::error!(why)).ok()?;
        if known.asked.len() >= PAGES {
            known.asked.remove(0);
        }
        known.asked.push(asked);
        known.asked.last().map(page)
    }

    /// The request that a browser names, which is over by that.
    pub(super) fn named(&self, state: &str) -> Option<Asked> {
        if self.has_left() {
            return None;
        }
        let now = Instant::now();
        let mut known = self.known.lock();
        known.asked.retain(|asked| !asked.is_over(now));
        let at = known.asked.iter().position(|asked| asked.is_named(state))?;
        Some(known.asked.remove(at))
    }

    /// Exchanges the code that a browser brought.
    pub(super) async fn redeem(&self, asked: Asked, code: &str) -> Result<(), Fault> {
        let _turn = self.busy.lock().await;
        let Wanted { service, client, resource, scopes } = &asked.wanted;
        let parties = Parties { service, client, resource, scopes };
        let way = self.way(EXCHANGE);
        let grant = tokens::Grant::Code { code, verifier: &asked.verifier };
        let asked_for = tokens::ask(&self.around.outside, parties, grant, way, unix()).await;
        let tokens = asked_for.map_err(|why| match why {
            NoTokens::Refused(why) | NoTokens::Unavailable(why) => Fault::NotExchanged(why),
        })?;
        let (url, resource) = (canonical(&self.url), resource.clone());
        let (service, client) = ((**service).clone(), (**client).clone());
        let held = Held { url, resource, service, client, tokens };
        self.keep(held, None).await.map_err(Fault::NotExchanged)
    }

    /// What is held now.
    pub(super) fn held(&self) -> Option<Held> {
        self.known.lock().held.clone()
    }

    /// Returns true if a user is to be asked.
    pub(super) fn is_wanted(&self) -> bool {
        self.known.lock().wanted.is_some()
    }

    /// The reason why nobody can be asked, where that is so.
    pub(super) fn why_not(&self) -> Option<String> {
        self.known.lock().search.as_ref()?.2.clone()
    }

    /// The name under which what is held is kept.
    fn place(&self) -> String {
        match &self.whose {
            Some(whose) => format!("grant {} of {}", self.server, whose.digest()),
            None => format!("grant {}", self.server),
        }
    }
}
