//! Limits concurrent TLS handshakes, which are the most expensive operation that a stranger can trigger. One address can use at
//! most a quarter of the limit, so clients that begin handshakes without finishing them cannot lock out others. This module must
//! not know TLS.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The maximum number of concurrent handshakes per listener and shard; further ones wait, within the deadline for
/// reading heads.
const MOST: usize = 256;
/// The maximum number of concurrent handshakes from one address. This machine may use all of them, because connections from this
/// machine may come from a proxy.
const MOST_OF_ONE: usize = MOST / 4;

/// The handshakes in progress.
#[derive(Clone, Debug)]
pub(super) struct Handshakes(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    all: Arc<Semaphore>,
    /// The limits, by address. There are entries only for addresses with open connections, so the connection cap also
    /// limits the size of this map.
    of_addresses: Mutex<HashMap<IpAddr, Arc<Semaphore>>>,
    most_of_one: usize,
}

/// Permission for one handshake.
#[derive(Debug)]
pub(super) struct HandshakePermit {
    _all: OwnedSemaphorePermit,
    _own: Option<AddressPermit>,
}

#[derive(Debug)]
struct AddressPermit {
    permit: Option<OwnedSemaphorePermit>,
    address: IpAddr,
    counts: Arc<Counts>,
}

impl Default for Handshakes {
    fn default() -> Self {
        Self::new(MOST, MOST_OF_ONE)
    }
}

impl Handshakes {
    fn new(most: usize, most_of_one: usize) -> Self {
        let all = Arc::new(Semaphore::new(most));
        Self(Arc::new(Counts { all, of_addresses: Mutex::default(), most_of_one }))
    }

    /// Waits for permission. Connections from the same address are served in order.
    pub(super) async fn permit(&self, peer: IpAddr) -> HandshakePermit {
        let peer = peer.to_canonical();
        let own = if peer.is_loopback() { None } else { Some(self.of_address(network(peer)).await) };
        HandshakePermit { _all: acquire(self.0.all.clone()).await, _own: own }
    }

    async fn of_address(&self, address: IpAddr) -> AddressPermit {
        let counts = self.0.clone();
        let semaphore = {
            let mut all = counts.lock();
            let new = || Arc::new(Semaphore::new(counts.most_of_one));
            all.entry(address).or_insert_with(new).clone()
        };
        // The permit is created before the wait, so that it cleans up however the wait ends.
        let mut own = AddressPermit { permit: None, address, counts };
        own.permit = Some(acquire(semaphore).await);
        own
    }
}

/// Waits for a permit of a semaphore that is never closed.
async fn acquire(semaphore: Arc<Semaphore>) -> OwnedSemaphorePermit {
    match semaphore.acquire_owned().await {
        Ok(permit) => permit,
        Err(_) => std::future::pending().await,
    }
}

impl Counts {
    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, Arc<Semaphore>>> {
        self.of_addresses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for AddressPermit {
    fn drop(&mut self) {
        let mut all = self.counts.lock();
        drop(self.permit.take());
        // No other task holds the semaphore or waits for it, because all of them get it from the map under this lock.
        if all.get(&self.address).is_some_and(|own| Arc::strong_count(own) == 1) {
            all.remove(&self.address);
        }
    }
}

/// Returns the network of an address, because one IPv6 subscriber has a whole /64.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX)).into(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    async fn got(handshakes: &Handshakes, peer: &str) -> Option<HandshakePermit> {
        timeout(Duration::from_millis(20), handshakes.permit(peer.parse().unwrap())).await.ok()
    }

    #[tokio::test]
    async fn one_address_does_not_take_all() {
        let handshakes = Handshakes::new(4, 2);
        let first = got(&handshakes, "192.0.2.1").await.unwrap();
        let _second = got(&handshakes, "::ffff:192.0.2.1").await.unwrap();
        assert!(got(&handshakes, "192.0.2.1").await.is_none());
        let other = (got(&handshakes, "2001:db8::1").await, got(&handshakes, "2001:db8::2").await);
        assert!(other.0.is_some() && other.1.is_some());
        assert!(got(&handshakes, "192.0.2.2").await.is_none(), "all are taken");
        drop(other);
        drop(first);
        assert!(got(&handshakes, "192.0.2.1").await.is_some());
        let own: Vec<_> = [(); 3].map(|()| "127.0.0.1").into();
        let mut held = Vec::new();
        for peer in own {
            held.push(got(&handshakes, peer).await.unwrap());
        }
    }

    #[tokio::test]
    async fn nothing_is_kept_of_those_who_have_left() {
        let handshakes = Handshakes::new(1, 1);
        let held = got(&handshakes, "192.0.2.1").await;
        assert!(held.is_some());
        for peer in ["192.0.2.1", "192.0.2.2", "2001:db8::1"] {
            assert!(got(&handshakes, peer).await.is_none());
        }
        assert_eq!(handshakes.0.lock().len(), 1);
        drop(held);
        assert!(handshakes.0.lock().is_empty());
    }
}
