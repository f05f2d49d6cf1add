//! Quotas: the share of a common resource that one caller may hold, so that no caller can take the whole resource. This
//! module must not know the resource.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use config::address_block;
use engine::ClientAddress;
use engine::access::{Principal, Scheme};
use parking_lot::Mutex;

/// The divisor for one holder's share: a quarter of the whole.
const SHARE: usize = 4;

/// The number of bits of an IPv6 address that identify a caller: a host usually has a whole network with a prefix
/// of this length.
const IPV6_BITS: u8 = 64;

/// The minimum time between two searches of a full table for entries to remove.
const SEARCH_EVERY: Duration = Duration::from_secs(1);

/// The holder of permits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Holder {
    /// An authenticated caller.
    Principal(Arc<str>),
    /// An unauthenticated client: its IPv4 address, or its IPv6 network.
    Address(IpAddr),
    /// All callers without a known address: callers on this machine, over pipes, and behind proxies that name no
    /// client. Their share is not limited, because they may be many callers.
    Unknown,
}

impl Holder {
    /// Returns the holder of a caller's permits.
    pub fn of(principal: &Principal, client: Option<&ClientAddress>) -> Self {
        if principal.scheme != Scheme::Anyone {
            return Self::Principal(principal.id.clone());
        }
        match client {
            Some(client) if !client.is_proxy && !client.is_local() => {
                Self::Address(address_block(client.address, IPV6_BITS))
            }
            _ => Self::Unknown,
        }
    }

    fn has_share(&self) -> bool {
        *self != Self::Unknown
    }
}

/// A number of permits, and their holders.
pub struct Quota {
    max: AtomicUsize,
    held: Mutex<HeldPermits>,
}

#[derive(Default)]
struct HeldPermits {
    all: usize,
    by: HashMap<Holder, usize>,
}

/// The reason why no permit is available, as the beginning of a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuotaError {
    #[error("too many")]
    /// All permits are taken; the value is their number.
    Whole(usize),
    #[error("too many of your")]
    /// The holder has used up its share; the value is the number of permits in the share.
    Own(Holder, usize),
}

impl QuotaError {
    /// Returns a sentence for the caller: the exceeded limit, and the configuration key that raises it.
    pub fn describe(&self, what: &str, key: &str) -> String {
        match self {
            Self::Whole(max) => {
                format!("all {max} {what} of this server are in use; try again soon, or raise `{key}`")
            }
            Self::Own(holder, share) => {
                let (whose, hint) = match holder {
                    Holder::Principal(_) => ("these credentials", ""),
                    _ => ("this client address", " (behind a proxy, set `trustForwardedFor`)"),
                };
                format!(
                    "{share} {what} of {whose} are open, the maximum for one caller (a quarter of `{key}`); close some, or \
                     raise `{key}`{hint}"
                )
            }
        }
    }
}

/// A permit, held until this value is dropped.
pub struct Permit {
    quota: Arc<Quota>,
    holder: Holder,
}

impl Permit {
    /// Returns the holder of the permit.
    pub fn holder(&self) -> &Holder {
        &self.holder
    }
}

impl Quota {
    /// Creates a quota of `max` permits.
    pub fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max: AtomicUsize::new(max), held: Mutex::default() })
    }

    /// Changes the number of permits. Permits that are already held stay valid.
    pub fn resize(&self, max: usize) {
        self.max.store(max, Ordering::Relaxed);
    }

    /// Returns the number of permits, and the number that one holder may have.
    pub fn limits(&self) -> (usize, usize) {
        let max = self.max.load(Ordering::Relaxed);
        (max, share_of(max))
    }

    /// Returns the number of permits that are held.
    pub fn held(&self) -> usize {
        self.held.lock().all
    }

    /// Takes a permit.
    pub fn take(self: &Arc<Self>, holder: Holder) -> Result<Permit, QuotaError> {
        let max = self.max.load(Ordering::Relaxed);
        let mut guard = self.held.lock();
        let held = &mut *guard;
        let own = held.by.get_mut(&holder);
        let share = share_of(max);
        if holder.has_share() && own.as_ref().is_some_and(|own| **own >= share) {
            return Err(QuotaError::Own(holder, share));
        }
        if held.all >= max {
            return Err(QuotaError::Whole(max));
        }
        held.all += 1;
        match own {
            Some(own) => *own += 1,
            None => drop(held.by.insert(holder.clone(), 1)),
        }
        drop(guard);
        Ok(Permit { quota: self.clone(), holder })
    }

    /// Returns the holder of the most permits.
    pub fn largest_holder(&self) -> Option<Holder> {
        let held = self.held.lock();
        held.by.iter().max_by_key(|(_, count)| **count).map(|(holder, _)| holder.clone())
    }
}

fn share_of(max: usize) -> usize {
    (max / SHARE).max(1)
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut held = self.quota.held.lock();
        held.all -= 1;
        if let Some(own) = held.by.get_mut(&self.holder) {
            *own -= 1;
            if *own == 0 {
                held.by.remove(&self.holder);
            }
        }
        // This releases the memory that a burst of callers took.
        if held.by.capacity() > 64 && held.by.len() * 4 < held.by.capacity() {
            held.by.shrink_to_fit();
        }
    }
}

/// Limits how often an operation that scans a whole table may run.
#[derive(Default)]
pub struct Throttle(Mutex<Option<Instant>>);

impl Throttle {
    /// Returns true if the operation may run now.
    pub fn pass(&self) -> bool {
        let (mut last, now) = (self.0.lock(), Instant::now());
        let is_due = last.is_none_or(|last| now.duration_since(last) >= SEARCH_EVERY);
        if is_due {
            *last = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(id: &str) -> Holder {
        Holder::of(&Principal::new(id, Scheme::Key), None)
    }

    fn anyone(client: Option<ClientAddress>) -> Holder {
        Holder::of(&Principal::anyone(), client.as_ref())
    }

    fn at(address: &str) -> Holder {
        anyone(Some(ClientAddress::direct(address.parse().unwrap())))
    }

    #[test]
    fn no_principal_holds_more_than_its_share() {
        let quota = Quota::new(8);
        let permits: Vec<Permit> = (0..2).map(|_| quota.take(known("key:a")).unwrap()).collect();
        let refused = quota.take(known("key:a")).err().unwrap();
        assert_eq!(refused, QuotaError::Own(Holder::Principal("key:a".into()), 2));
        assert!(quota.take(known("key:b")).is_ok());
        drop(permits);
        assert!(quota.take(known("key:a")).is_ok());
        assert!(quota.held.lock().by.is_empty());
    }

    #[test]
    fn no_address_holds_more_than_its_share() {
        let quota = Quota::new(8);
        let one = ["203.0.113.1", "::ffff:203.0.113.1"].map(|address| quota.take(at(address)).unwrap());
        assert!(matches!(quota.take(at("203.0.113.1")), Err(QuotaError::Own(Holder::Address(_), 2))));
        let network = ["2001:db8::1", "2001:db8::ffff:1"].map(|address| quota.take(at(address)).unwrap());
        assert!(matches!(quota.take(at("2001:db8::2")), Err(QuotaError::Own(..))));
        assert!(quota.take(at("2001:db8:0:1::2")).is_ok() && quota.take(at("203.0.113.2")).is_ok());
        drop((one, network));
        assert!(quota.held.lock().by.is_empty());
    }

    #[test]
    fn this_machine_and_proxies_that_name_no_client_share_the_whole() {
        let proxy = ClientAddress { is_proxy: true, ..ClientAddress::direct([10, 0, 0, 1].into()) };
        let proxy = anyone(Some(proxy));
        for holder in [anyone(None), at("127.0.0.1"), at("127.9.9.9"), at("::1"), proxy] {
            let quota = Quota::new(3);
            let permits: Vec<Permit> = (0..3).map(|_| quota.take(holder.clone()).unwrap()).collect();
            assert_eq!(quota.take(holder.clone()).err(), Some(QuotaError::Whole(3)));
            assert_eq!(quota.take(known("key:a")).err(), Some(QuotaError::Whole(3)));
            assert_eq!(quota.largest_holder(), Some(Holder::Unknown));
            drop(permits);
            assert!(quota.take(known("key:a")).is_ok());
        }
    }

    #[test]
    fn a_refusal_names_whose_limit_it_is_and_the_key_that_raises_it() {
        let own = |holder| QuotaError::Own(holder, 2).describe("sessions", "limits.sessions");
        let by_address = own(Holder::Address([192, 0, 2, 1].into()));
        assert!(by_address.starts_with("2 sessions of this client address are open"), "{by_address}");
        assert!(by_address.contains("trustForwardedFor") && by_address.contains("`limits.sessions`"));
        assert!(own(Holder::Principal("key:a".into())).starts_with("2 sessions of these credentials"));
        let whole = QuotaError::Whole(8).describe("sessions", "limits.sessions");
        assert!(whole.starts_with("all 8 sessions of this server") && whole.contains("`limits.sessions`"));
    }
}
