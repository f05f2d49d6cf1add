//! The HTTP service of one thread: routing, and the checks before anything is read.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

use ::login::AuthorizationServer;
use config::DEFAULT_PROFILE;
use engine::places::{ServedPath, second_path};
use http::{Method, Response, StatusCode};
use transport::net::{Body, Handler, Responding};

use super::entry::AdmittedRequest;
use super::identify::identify;
use super::operators::{API_ROOT, METRICS_PATH, OperatorEndpoints, is_page};
use super::replicas::consent_pages;
use super::replicas::movable::MovableRequest;
use super::{answer, consent, denied, dialect, get, guard, limited, login, post, ready, seen, sse};
use crate::admission::Identity;
use crate::front::dialect::{Front, NO_PROFILE};
use crate::process::Shard;
use crate::process::threads::Thread;
use transport::net::Arrived;

/// The HTTP service of one thread.
#[derive(Clone)]
pub(crate) struct Service {
    thread: Arc<Thread>,
    operators: Arc<dyn OperatorEndpoints>,
}

impl Service {
    pub(crate) fn new(thread: Arc<Thread>, operators: Arc<dyn OperatorEndpoints>) -> Self {
        Self { thread, operators }
    }

    pub(crate) fn thread(&self) -> &Arc<Thread> {
        &self.thread
    }

    /// Returns the service at the control socket.
    pub(crate) fn of_control(&self) -> Box<dyn Handler> {
        self.operators.control_service(self.thread.clone())
    }

    /// Returns the thread's gateway. If this process stood still while the other gateways of its cluster went on, it first compares
    /// its data with the cluster's store.
    async fn shard(&self) -> Arc<Shard> {
        let shard = self.thread.now();
        match shard.session.state.cluster.get().filter(|cluster| !cluster.is_current()) {
            Some(cluster) => Box::pin(cluster.catch_up()).await,
            None => return shard,
        }
        self.thread.now()
    }

    /// Answers a request that another gateway of the cluster has passed on. `client` is the address from which that gateway got
    /// the request. It has also checked the host and the origin.
    pub(super) async fn respond_passed_on(&self, request: Arrived, client: SocketAddr) -> Response<Body> {
        let arrival = Arrival { shard: self.shard().await, operators: &*self.operators, is_passed_on: true };
        arrival.route(request, client).await
    }

    /// Returns the service at the separate address for metrics.
    pub(crate) fn of_metrics(&self) -> Box<dyn Handler> {
        self.operators.metrics_service(self.thread.clone())
    }
}

/// One request, with the configuration that was in force when the request arrived.
struct Arrival<'s> {
    shard: Arc<Shard>,
    operators: &'s dyn OperatorEndpoints,
    /// True if another gateway of the cluster has passed the request on.
    is_passed_on: bool,
}

impl Arrival<'_> {
    async fn respond(self, request: Arrived, peer: SocketAddr) -> Response<Body> {
        if let Some(door) = self.shard.gateway.admin.as_ref().filter(|_| self.leads_to_pages(&request)) {
            // The pages are for their own origin alone, so what other origins may do elsewhere does not matter.
            return match guard::check_host(&self.shard.gateway.hosts, &request) {
                Ok(()) => self.operators.page(&self.shard, door, request, peer).await,
                Err(refusal) => *refusal,
            };
        }
        let origin = match guard::check(&self.shard.gateway.hosts, &request) {
            Ok(origin) => origin,
            Err(refusal) => return seen::refused(&self.shard, (&request, peer), None, *refusal),
        };
        let seen = seen::request(&self.shard, &request, peer);
        let shard = self.shard.clone();
        let mut response = self.route(request, peer).await;
        seen::answered(&shard, seen, &response);
        if let Some(origin) = origin {
            guard::allow_origin(response.headers_mut(), origin);
        }
        response
    }

    /// Returns true if a request is for the operators' pages. A configured path takes precedence.
    fn leads_to_pages(&self, request: &Arrived) -> bool {
        let path = request.uri().path();
        is_page(path) && self.shard.gateway.snapshot.at(path).is_none()
    }

    async fn route(&self, request: Arrived, peer: SocketAddr) -> Response<Body> {
        let shard = &self.shard;
        let path = request.uri().path();
        if let Some(metadata) = shard.door.metadata(path) {
            return answer::metadata(metadata);
        }
        let place = shard.gateway.snapshot.at(path);
        if place.is_none()
            && let Some(part) = OAuthPart::at(shard, path)
        {
            return Box::pin(part.respond((shard, self.is_passed_on), request, peer)).await;
        }
        let bare = path.strip_suffix('/').unwrap_or(path);
        let is_stream = bare == sse::STREAM && sse::is_served(&shard.gateway.snapshot);
        let is_sse = place.is_none() && (is_stream || bare == sse::MESSAGES);
        if place.is_none() && !is_sse {
            let management = shard.gateway.standing.config().management.as_ref();
            if let Some(management) = management.filter(|_| path.starts_with(API_ROOT)) {
                return self.operators.management(shard, management, request, peer).await;
            }
            let metrics = shard.gateway.standing.config().metrics.as_ref();
            if let Some(metrics) = metrics.filter(|metrics| path == METRICS_PATH && metrics.listen.is_none())
            {
                return self.operators.metrics(shard, metrics, &request, peer).await;
            }
            return match path.strip_prefix("/mcp/").or_else(|| second_path(path)).map(str::to_owned) {
                Some(slug) => Box::pin(self.at_no_profile(slug, request, peer)).await,
                None => self.elsewhere((&request, peer), None),
            };
        }
        if let Some(refusal) = guard::refuse_foreign_page(request.headers()) {
            return refusal;
        }
        let preflight = *request.method() == Method::OPTIONS;
        let asks = place.is_none_or(|place| place.asks) && !preflight;
        let profile =
            place.map_or(DEFAULT_PROFILE, |place| &*shard.gateway.snapshot.profiles[place.profile].slug);
        let identity = match identify(shard, &request, peer, asks, profile).await {
            Ok(identity) => identity,
            Err(refused) => {
                let response = denied::refuse_entry(place.and_then(|p| p.dialect.as_deref()), &refused);
                return seen::refused(shard, (&request, peer), None, response);
            }
        };
        let Some(place) = place else {
            if bare == sse::STREAM {
                return sse::stream(shard, identity, &request).await;
            }
            // The session determines the profile.
            let entry = self.entry(0, identity, &request, peer);
            return Box::pin(sse::messages(shard, entry, request)).await;
        };
        let entry = self.entry(place.profile, identity, &request, peer);
        if let Some(refused) = denied::elsewhere(shard, &entry, path) {
            let response = denied::refuse_entry(place.dialect.as_deref(), &refused);
            return seen::refused(shard, (&request, peer), Some(&entry.identity.principal.id), response);
        }
        self.serve(place, entry, request).await
    }

    /// Answers a request for a profile that does not exist. The caller is authenticated and counted as for an
    /// existing profile; otherwise anybody could find out which profiles exist.
    async fn at_no_profile(&self, slug: String, request: Arrived, peer: SocketAddr) -> Response<Body> {
        let shard = &self.shard;
        if let Some(refusal) = guard::refuse_foreign_page(request.headers()) {
            return refusal;
        }
        let row = shard.gateway.snapshot.stranger();
        if *request.method() == Method::OPTIONS {
            return row.map_or_else(guard::preflight, |row| dialect::preflight(row, request.headers()));
        }
        let entered = identify(shard, &request, peer, true, &slug).await;
        let who = entered.as_ref().ok().map(|identity| identity.principal.id.clone());
        let entered = entered.and_then(|identity| {
            let place = (slug.as_str(), request.uri().path());
            denied::not_for(shard, &identity.principal, place).map_or(Ok(identity), Err)
        });
        match (entered, row) {
            (Err(refused), row) => {
                let response = denied::refuse_entry(row.map(|row| &**row), &refused);
                seen::refused(shard, (&request, peer), who.as_ref(), response)
            }
            (Ok(identity), Some(row)) => dialect::stranger(shard, row, &identity, slug, request).await,
            (Ok(identity), None) => {
                let rates = &shard.gateway.rates;
                match rates.check(&identity, request.headers(), NO_PROFILE, None).await {
                    Some(verdict) if !verdict.allowed => limited::refused(&verdict, None),
                    _ => self.elsewhere((&request, peer), who.as_ref()),
                }
            }
        }
    }

    fn entry(
        &self,
        profile: usize,
        identity: Identity,
        request: &Arrived,
        peer: SocketAddr,
    ) -> AdmittedRequest {
        let is_passed_on = self.is_passed_on;
        let movable = if is_passed_on { None } else { MovableRequest::of(&self.shard, request, peer) };
        AdmittedRequest { movable, is_passed_on, ..AdmittedRequest::new(profile, identity) }
    }

    async fn serve(
        &self,
        place: &ServedPath,
        mut entry: AdmittedRequest,
        request: Arrived,
    ) -> Response<Body> {
        let (shard, profile) = (&self.shard, place.profile);
        if let Some(row) = &place.dialect {
            let front = Front { row: row.clone(), profile };
            let visit = dialect::Visit { shard, place, front, entry };
            return Box::pin(visit.respond(request)).await;
        }
        let counted = !matches!(*request.method(), Method::POST | Method::OPTIONS);
        if counted
            && let Some(refused) =
                limited::count(shard, &entry, request.headers()).await.filter(|v| !v.allowed)
        {
            return limited::refused(&refused, None);
        }
        match *request.method() {
            Method::POST if sse::session_named(&request).is_some() => {
                Box::pin(sse::post(shard, Some(profile), entry, request)).await
            }
            Method::POST => post::post(shard, &mut entry, request).await,
            Method::GET => get::get(shard, &entry, &request).await,
            Method::DELETE => get::delete(shard, &entry, &request).await,
            Method::OPTIONS => guard::preflight(),
            _ => answer::not_allowed(),
        }
    }

    /// Answers a request to a path that is not an MCP endpoint, and keeps it if nothing is served there.
    fn elsewhere(&self, arrived: (&Arrived, SocketAddr), who: Option<&Arc<str>>) -> Response<Body> {
        let response = self.other(arrived.0.uri().path());
        match response.status() {
            StatusCode::NOT_FOUND => seen::refused(&self.shard, arrived, who, response),
            _ => response,
        }
    }

    /// Answers a request to a path that is not an MCP endpoint.
    fn other(&self, path: &str) -> Response<Body> {
        let gateway = &self.shard.gateway;
        match path {
            "/health" => answer::text(StatusCode::OK, "ok\n"),
            "/ready" | "/health/ready" => ready::ready(&self.shard),
            "/" => answer::text(StatusCode::OK, &self.front_page()),
            _ => {
                let paths = self.known_paths().join(", ");
                let mut message = format!("nothing is served at {path}; MCP endpoints here: {paths}");
                if sse::is_served(&gateway.snapshot) {
                    message.extend(["; for older clients (HTTP+SSE): ", sse::STREAM]);
                }
                answer::refusal(StatusCode::NOT_FOUND, &message)
            }
        }
    }

    /// Returns the public paths. If callers have to authenticate, these include only the profiles that require no
    /// authentication.
    fn known_paths(&self) -> Vec<&str> {
        let (snapshot, asks) = (&self.shard.gateway.snapshot, self.shard.door.asks());
        let is_open = |path: &str| snapshot.at(path).is_some_and(|place| !place.asks);
        let is_known = |path: &&str| !asks || !path.starts_with("/mcp/") || is_open(path);
        snapshot.paths().into_iter().filter(is_known).collect()
    }

    fn front_page(&self) -> String {
        let mut page =
            format!("Dragoman {}\n\nMCP endpoints (POST, GET, DELETE):\n", env!("CARGO_PKG_VERSION"));
        for path in self.known_paths() {
            page.extend(["  ", path, "\n"]);
        }
        if sse::is_served(&self.shard.gateway.snapshot) {
            let _ = write!(
                page,
                "\nOlder clients (HTTP+SSE): GET {} or an endpoint above; its first event contains the address for messages \
                 ({})\n",
                sse::STREAM,
                sse::MESSAGES
            );
        }
        page.push_str("\nState: /health, /ready\n");
        page
    }
}

/// A part of OAuth that browsers and clients open: signing in here, or consent to servers.
enum OAuthPart {
    SignIn(Arc<AuthorizationServer>),
    ConsentBack,
    ConsentDocument(String),
    ConsentStart,
}

impl OAuthPart {
    fn at(shard: &Shard, path: &str) -> Option<Self> {
        if let Some(server) = login::at(shard, path) {
            return Some(Self::SignIn(server.clone()));
        }
        if upstream::oauth::is_callback(path) {
            return Some(Self::ConsentBack);
        }
        if let Some(document) = shard.gateway.process.consents.client_document(path) {
            return Some(Self::ConsentDocument(document));
        }
        path.starts_with(upstream::oauth::START).then_some(Self::ConsentStart)
    }

    /// Answers a request. Consents are finished at the gateway at which they began.
    async fn respond(
        self,
        (shard, is_passed_on): (&Arc<Shard>, bool),
        mut request: Arrived,
        peer: SocketAddr,
    ) -> Response<Body> {
        let began_somewhere = matches!(self, Self::ConsentBack | Self::ConsentStart);
        if began_somewhere && !is_passed_on {
            request = match consent_pages::passed_on(shard, request, peer).await {
                Ok(response) => return response,
                Err(request) => request,
            };
        }
        match self {
            Self::SignIn(server) => login::respond((shard, is_passed_on), &server, request, peer).await,
            Self::ConsentBack => consent::callback(shard, &request).await,
            Self::ConsentDocument(document) => consent::client_document(request.method(), document),
            Self::ConsentStart => consent::start(shard, request, peer).await,
        }
    }
}

impl Handler for Service {
    fn handle(&self, request: Arrived, peer: SocketAddr) -> Responding<'_> {
        // The future is constructed inside its box, to avoid a copy.
        let responding = Box::write(Box::new_uninit(), async move {
            let (shard, operators) = (self.shard().await, &*self.operators);
            let arrival = Arrival { shard, operators, is_passed_on: false };
            arrival.respond(request, peer).await
        });
        Box::into_pin(responding)
    }

    /// Counts a connection that has become idle. Once many connections have become idle, freed memory is returned
    /// to the system.
    fn rested(&self) {
        self.thread.now().session.state.tidying.count();
    }
}
