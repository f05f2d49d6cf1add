//! The result of authentication: the principal, the client's address, and the credentials that the request carries for
//! a site behind embedded servers. This module must not know how credentials are checked.

use std::net::IpAddr;
use std::sync::{Arc, LazyLock};

use aws_lc_rs::digest::{Context, SHA256};
use engine::access::{Asker, Class, Principal};
use engine::passed_headers::PassedHeaders;
use engine::{ClientAddress, Snapshot};
use upstream::quota::Holder;

use upstream::embedded::Carried;

static ANYONE: LazyLock<Arc<Principal>> = LazyLock::new(|| Arc::new(Principal::anyone()));

/// A digest that identifies the owner of private data. No other caller may receive that data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct DataOwner(pub(crate) [u8; 32]);

/// The caller, as identified by authentication.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The name and the rights of the caller.
    pub principal: Arc<Principal>,
    /// The client's address; a client on a pipe has none.
    pub client_address: Option<ClientAddress>,
    /// The credentials in the request for sites behind embedded servers, if the configuration forwards any.
    pub carried: Option<Arc<Carried>>,
    /// The request headers that are passed on to servers. In a session, these are the headers of the request that
    /// opened the session.
    pub passed: PassedHeaders,
    /// The client's label for the record of calls: name and version, clipped. Unsuitable for comparisons.
    pub client_label: Option<Arc<str>>,
}

impl Identity {
    /// Returns the identity of an unauthenticated caller.
    pub fn anyone(client_address: Option<ClientAddress>) -> Self {
        Self::of(ANYONE.clone(), client_address)
    }

    /// Creates an identity; `client_address` is the address of the client, if it is known.
    pub fn of(principal: Arc<Principal>, client_address: Option<ClientAddress>) -> Self {
        Self {
            principal,
            client_address,
            carried: None,
            passed: PassedHeaders::default(),
            client_label: None,
        }
    }

    /// Returns the client's IP address, if it is known.
    pub fn address(&self) -> Option<IpAddr> {
        self.client_address.map(|client| client.address)
    }

    /// Returns the access class that the caller belongs to.
    pub(crate) fn access_class(&self, snapshot: &Snapshot) -> Class {
        snapshot.class(&Asker { principal: &self.principal, address: self.address() })
    }

    /// Returns true if both callers are the same principal, with the same rights.
    pub(crate) fn is_alike(&self, other: &Self, snapshot: &Snapshot) -> bool {
        let same = Arc::ptr_eq(&self.principal, &other.principal) && self.address() == other.address();
        let same =
            same || (self.id() == other.id() && self.access_class(snapshot) == other.access_class(snapshot));
        same && self.passed == other.passed
    }

    /// Returns the holder of the quota that limits the caller's requests.
    pub(crate) fn holder(&self) -> Holder {
        Holder::of(&self.principal, self.client_address.as_ref())
    }

    /// Returns a digest of everything that separates the caller's data from other callers' data: the principal, the
    /// headers that are passed on, and the request's credentials for sites.
    pub(crate) fn data_owner(&self) -> DataOwner {
        let mut digest = Context::new(&SHA256);
        let mut see = |part: &[u8]| {
            digest.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
            digest.update(part);
        };
        see(self.id().as_bytes());
        see(&self.passed.key());
        if let Some(carried) = &self.carried {
            carried.each_part(&mut see);
        }
        let mut owner = DataOwner::default();
        owner.0.copy_from_slice(digest.finish().as_ref());
        owner
    }

    /// Returns the principal's id, to which states, sessions and tasks are bound.
    pub fn id(&self) -> &str {
        &self.principal.id
    }
}

#[cfg(test)]
mod tests {
    use engine::access::Scheme;
    use http::{HeaderMap, HeaderName, HeaderValue};

    use super::*;

    /// The owner of the data of a request with these headers.
    fn owner(principal: &str, headers: &[(&'static str, &'static str)]) -> DataOwner {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let principal = Arc::new(Principal::new(principal, Scheme::Key));
        Identity {
            carried: Carried::read(&map).map(Arc::new),
            passed: PassedHeaders::read(&map, &[HeaderName::from_static("x-tenant")]),
            ..Identity::of(principal, None)
        }
        .data_owner()
    }

    #[test]
    fn callers_whose_data_may_differ_have_different_owners() {
        let site = |password| {
            [
                ("x-wordpress-url", "https://example.com"),
                ("x-wordpress-username", "ann"),
                ("x-wordpress-password", password),
            ]
        };
        let all = [
            owner("a", &[]),
            owner("b", &[]),
            owner("a", &[("x-tenant", "1")]),
            owner("a", &[("x-tenant", "2")]),
            owner("a", &[("authorization", "Basic YW5uOm9uZQ==")]),
            owner("a", &[("authorization", "Basic YW5uOnR3bw==")]),
            owner("a", &site("one")),
            owner("a", &site("two")),
            owner("a", &[("x-imgbb-api-key", "k")]),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(all[at + 1..].iter().all(|other| other != one), "{at}");
        }
        assert_eq!(owner("a", &[("x-other", "1")]), owner("a", &[]));
        assert_eq!(owner("a", &site("one")), owner("a", &site("one")));
    }
}
