//! The authorization server: its settings, and the state of everything in progress.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};
use std::sync::{Arc, OnceLock};

use config::Login;
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::attempts::Attempts;
use crate::client_document::ClientDocuments;
use crate::codes::Codes;
use crate::confirmations::Confirmations;
use crate::endings::EndedPasswords;
use crate::grant_file::GrantFile;
use crate::metadata;
use crate::outbound::{Network, Outbound};
use crate::random::NoEntropy;
use crate::request_limit::RequestLimit;
use crate::shared::SharedSignIns;
use crate::site::SiteReach;
use crate::site_address::{SiteAddress, SiteRules};

/// The maximum number of concurrent requests to sites and documents for people who have not signed in yet.
const AT_ONCE: usize = 8;

/// The authorization server of this gateway.
pub struct AuthorizationServer {
    pub(crate) settings: Login,
    /// The public address, without a slash at the end.
    base: Mutex<Option<Arc<str>>>,
    pub(crate) grants: GrantFile,
    pub(crate) outbound: Box<dyn Outbound>,
    pub(crate) attempts: Mutex<Attempts>,
    pub(crate) codes: Mutex<Codes>,
    pub(crate) documents: ClientDocuments,
    pub(crate) confirmations: Mutex<Confirmations>,
    pub(crate) turns: Semaphore,
    pub(crate) limit: RequestLimit,
    pub(crate) endings: AtomicU64,
    pub(crate) ended: Mutex<EndedPasswords>,
    /// The number of cleanups so far.
    pub(crate) runs: AtomicUsize,
    /// The time of the next cleanup; `None` if it is due now.
    pub(crate) next_tidying: Mutex<Option<Instant>>,
    pub(crate) is_tidying: AtomicBool,
    /// The storage that several gateways share; empty for a gateway that works alone.
    pub(crate) shared: OnceLock<Arc<dyn SharedSignIns>>,
    /// The number by which the other gateways recognize this process; 0 without other gateways.
    pub(crate) process: AtomicU32,
    /// The grants that have ended, which the other gateways do not know yet.
    pub(crate) unshared: Mutex<HashSet<String>>,
}

impl AuthorizationServer {
    /// Sets up the server; `folder` is the folder that contains the file of grants. This may wait for a disk.
    ///
    /// # Errors
    /// Returns the reason, for the operator.
    pub fn open(settings: &Login, folder: &Path) -> Result<Self, String> {
        let grants = GrantFile::open(folder)?;
        Self::over(settings.clone(), grants, Box::new(Network::new())).map_err(|error| error.to_string())
    }

    pub(crate) fn over(
        settings: Login,
        grants: GrantFile,
        outbound: Box<dyn Outbound>,
    ) -> Result<Self, NoEntropy> {
        Ok(Self {
            settings,
            base: Mutex::default(),
            grants,
            outbound,
            attempts: Mutex::default(),
            codes: Mutex::default(),
            documents: ClientDocuments::default(),
            confirmations: Mutex::default(),
            turns: Semaphore::new(AT_ONCE),
            limit: RequestLimit::new()?,
            endings: AtomicU64::new(0),
            ended: Mutex::default(),
            runs: AtomicUsize::new(0),
            next_tidying: Mutex::default(),
            is_tidying: AtomicBool::new(false),
            shared: OnceLock::new(),
            process: AtomicU32::new(0),
            unshared: Mutex::default(),
        })
    }

    /// Sets the gateway's public address, without a slash at the end; `None` if it has none.
    pub fn serve_at(&self, base: Option<&str>) {
        *self.base.lock() = base.map(Arc::from);
    }

    pub(crate) fn base(&self) -> Option<Arc<str>> {
        self.base.lock().clone()
    }

    /// Returns true if browsers reach this gateway over TLS.
    pub(crate) fn is_secure(&self) -> bool {
        self.base().is_some_and(|base| base.starts_with("https:"))
    }

    /// Returns the address of the metadata of the resource at this path (RFC 9728, 3.1); `None` without a public address.
    pub fn resource_metadata_url(&self, path: &str) -> Option<String> {
        self.base().map(|base| metadata::resource_address(&base, path))
    }

    /// Returns the scope that is named in challenges.
    pub fn scope(&self) -> &'static str {
        metadata::SCOPE
    }

    /// Returns the site that a person has chosen.
    ///
    /// # Errors
    /// Returns what to do instead.
    pub(crate) fn chosen_site(&self, typed: &str) -> Result<SiteAddress, String> {
        let sites = self.settings.sites.as_slice();
        let chosen = match sites {
            [] => {
                let rules = SiteRules { private: self.settings.private_sites, ports: &self.settings.ports };
                return SiteAddress::typed(typed, rules);
            }
            [only] => Some(only),
            sites => sites.iter().find(|site| *site == typed),
        };
        chosen
            .and_then(|site| SiteAddress::configured(site))
            .ok_or_else(|| "Choose one of the sites.".to_owned())
    }

    /// Returns true if people may sign in at this site under the current configuration, which may have changed
    /// since they signed in.
    pub(crate) fn admits(&self, site: &str) -> bool {
        if !self.settings.sites.is_empty() {
            return self.is_configured(site);
        }
        let rules = SiteRules { private: self.settings.private_sites, ports: &self.settings.ports };
        SiteAddress::typed(site, rules).is_ok()
    }

    /// Returns true if addresses that people or clients name may have this port.
    pub(crate) fn allows_port(&self, port: u16) -> bool {
        self.settings.private_sites || self.settings.ports.contains(&u32::from(port))
    }

    /// Returns true if the configuration names this site.
    pub(crate) fn is_configured(&self, site: &str) -> bool {
        let is_it = |own: &String| SiteAddress::configured(own).is_some_and(|own| own.as_str() == site);
        self.settings.sites.iter().any(is_it)
    }

    /// Returns the handle for requests to a site. A site that a person has entered must be public, regardless of
    /// the address to which its name resolves.
    pub(crate) fn reach(&self, site: &str) -> SiteReach<'_> {
        let public_only = !self.is_configured(site) && !self.settings.private_sites;
        SiteReach { outbound: &*self.outbound, public_only }
    }
}

impl std::fmt::Debug for AuthorizationServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuthorizationServer").field("settings", &self.settings).finish_non_exhaustive()
    }
}
