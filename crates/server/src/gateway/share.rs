//! Room that all share, of which nobody who is known by name gets more than a part: one who takes all that there is takes
//! it from the others. It must not know what the room is for.

use std::collections::HashMap;
use std::sync::Arc;

use engine::access::Scheme;
use parking_lot::Mutex;

use super::identity::Identity;

/// The part of the room that one who is known may have: a quarter of it.
const PART: usize = 4;

/// So much room.
pub(crate) struct Room {
    most: usize,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    all: usize,
    by: HashMap<Arc<str>, usize>,
}

/// Why there is no room, as the beginning of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Full {
    #[error("too many")]
    All,
    #[error("too many of your")]
    Own,
}

/// A place, until this is dropped.
pub(crate) struct Place {
    room: Arc<Room>,
    /// Who has it, where that is known.
    who: Option<Arc<str>>,
}

impl Room {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, taken: Mutex::default() })
    }

    /// Takes a place.
    pub(crate) fn take(self: &Arc<Self>, identity: &Identity) -> Result<Place, Full> {
        let principal = &identity.principal;
        let who = (principal.scheme != Scheme::Anyone).then(|| principal.id.clone());
        let mut taken = self.taken.lock();
        if taken.all >= self.most {
            return Err(Full::All);
        }
        if let Some(who) = &who {
            let own = taken.by.entry(who.clone()).or_default();
            if *own >= (self.most / PART).max(1) {
                return Err(Full::Own);
            }
            *own += 1;
        }
        taken.all += 1;
        Ok(Place { room: self.clone(), who })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.room.taken.lock();
        taken.all -= 1;
        let Some(who) = &self.who else { return };
        if let Some(own) = taken.by.get_mut(who) {
            *own -= 1;
            if *own == 0 {
                taken.by.remove(who);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::access::Principal;

    use super::*;

    fn known(id: &str) -> Identity {
        Identity::of(Arc::new(Principal::new(id, Scheme::Key)), None)
    }

    #[test]
    fn nobody_who_is_known_takes_it_all() {
        let room = Room::new(8);
        let places: Vec<Place> = (0..2).map(|_| room.take(&known("key:a")).unwrap()).collect();
        assert_eq!(room.take(&known("key:a")).err(), Some(Full::Own));
        assert!(room.take(&known("key:b")).is_ok());
        drop(places);
        assert!(room.take(&known("key:a")).is_ok());
        assert!(room.taken.lock().by.is_empty());
    }

    #[test]
    fn those_whom_nobody_knows_share_what_is_left() {
        let room = Room::new(3);
        let places: Vec<Place> = (0..3).map(|_| room.take(&Identity::anyone(None)).unwrap()).collect();
        assert_eq!(room.take(&Identity::anyone(None)).err(), Some(Full::All));
        assert_eq!(room.take(&known("key:a")).err(), Some(Full::All));
        drop(places);
        assert!(room.take(&known("key:a")).is_ok());
    }
}
