//! Who asks, as the door found out: the principal, from where, and what the request carries for a site behind the tools.
//! It must not know how credentials are checked.

use std::net::IpAddr;
use std::sync::{Arc, LazyLock};

use engine::access::{Asker, Class, Principal};
use engine::{ClientAddress, Snapshot};
use upstream::quota::Holder;

use upstream::embedded::Carried;

static ANYONE: LazyLock<Arc<Principal>> = LazyLock::new(|| Arc::new(Principal::anyone()));

/// Who asks.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) principal: Arc<Principal>,
    /// Where the client is; nowhere for a pipe.
    pub(crate) client: Option<ClientAddress>,
    /// What the request carries for sites behind embedded servers, where any of it is to go there.
    pub(crate) carried: Option<Arc<Carried>>,
    /// The name and version of the client's program, where a session knows them.
    pub(crate) program: Option<Arc<str>>,
}

impl Identity {
    /// Somebody whom nobody asked who they are.
    pub(crate) fn anyone(client: Option<ClientAddress>) -> Self {
        Self::of(ANYONE.clone(), client)
    }

    pub(crate) fn of(principal: Arc<Principal>, client: Option<ClientAddress>) -> Self {
        Self { principal, client, carried: None, program: None }
    }

    /// The client's address.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        self.client.map(|client| client.address)
    }

    /// The class of askers that it belongs to.
    pub(crate) fn class(&self, snapshot: &Snapshot) -> Class {
        snapshot.class(&Asker { principal: &self.principal, address: self.address() })
    }

    /// Returns true if the other one is the same principal with the same rights.
    pub(crate) fn is_alike(&self, other: &Self, snapshot: &Snapshot) -> bool {
        let same = Arc::ptr_eq(&self.principal, &other.principal) && self.address() == other.address();
        same || (self.id() == other.id() && self.class(snapshot) == other.class(snapshot))
    }

    /// Whose share of what is scarce it uses.
    pub(crate) fn holder(&self) -> Holder {
        Holder::of(&self.principal, self.client.as_ref())
    }

    /// The name to which states, sessions and tasks are bound.
    pub(crate) fn id(&self) -> &str {
        &self.principal.id
    }
}
