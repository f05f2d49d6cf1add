//! The result of authentication: the principal, the client's address, and the credentials that the request carries for
//! a site behind embedded servers. It must not know how credentials are checked.

use std::net::IpAddr;
use std::sync::{Arc, LazyLock};

use engine::access::{Asker, Class, Principal};
use engine::{ClientAddress, Snapshot};
use upstream::quota::Holder;

use upstream::embedded::Carried;

static ANYONE: LazyLock<Arc<Principal>> = LazyLock::new(|| Arc::new(Principal::anyone()));

/// The caller, as identified by authentication.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) principal: Arc<Principal>,
    /// The client's address; a client on a pipe has none.
    pub(crate) client_address: Option<ClientAddress>,
    /// The credentials that the request carries for sites behind embedded servers, if the configuration forwards any.
    pub(crate) carried: Option<Arc<Carried>>,
    /// The client's label for the record of calls: name and version, clipped. Do not use it for comparisons.
    pub(crate) program: Option<Arc<str>>,
}

impl Identity {
    /// Returns the identity of an unauthenticated caller.
    pub(crate) fn anyone(client_address: Option<ClientAddress>) -> Self {
        Self::of(ANYONE.clone(), client_address)
    }

    pub(crate) fn of(principal: Arc<Principal>, client_address: Option<ClientAddress>) -> Self {
        Self { principal, client_address, carried: None, program: None }
    }

    /// The client's address.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        self.client_address.map(|client| client.address)
    }

    /// Returns the access class that the caller belongs to.
    pub(crate) fn class(&self, snapshot: &Snapshot) -> Class {
        snapshot.class(&Asker { principal: &self.principal, address: self.address() })
    }

    /// Returns true if both are the same principal, with the same rights.
    pub(crate) fn is_alike(&self, other: &Self, snapshot: &Snapshot) -> bool {
        let same = Arc::ptr_eq(&self.principal, &other.principal) && self.address() == other.address();
        same || (self.id() == other.id() && self.class(snapshot) == other.class(snapshot))
    }

    /// Returns the holder of the quota that the caller's requests use.
    pub(crate) fn holder(&self) -> Holder {
        Holder::of(&self.principal, self.client_address.as_ref())
    }

    /// Returns the principal's id, to which states, sessions and tasks are bound.
    pub(crate) fn id(&self) -> &str {
        &self.principal.id
    }
}
