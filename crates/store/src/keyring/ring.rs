//! The keys of a ring: their order, their states, and their text in a file. Pure: times and random bytes are arguments.
//! This module must not know files.

use std::fmt;

use secrecy::zeroize::Zeroizing;

use super::key::{Purpose, PurposeKeys};

/// The first line of a ring's text after the comment.
const HEAD: &str = "dragoman-keyring 1";

/// The comment above [`HEAD`], for people who find the file.
const COMMENT: &str = "# The keys that seal session ids and states of clients. Keep this file secret, and back it up with the state folder.\n";

/// The maximum number of keys in a ring; the oldest key of a role is removed first.
const MOST: usize = 32;

/// The time from a key's creation until it starts to seal, in milliseconds: other processes must have read it
/// by then.
const SPREAD_MS: u64 = 3_000;

/// The time after which a sealing key is replaced, in milliseconds.
const ROTATED_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// The number by which a sealed text names its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RingKeyId(pub(super) [u8; 4]);

impl fmt::Display for RingKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", u32::from_be_bytes(self.0))
    }
}

/// The use of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The key seals texts that differ each time, and is replaced regularly.
    Seals,
    /// The key seals texts that must be the same each time, such as names of tasks. It is replaced only on request.
    Names,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 2] = [Self::Seals, Self::Names];

    /// The role's name in the file and for people.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Seals => "seals",
            Self::Names => "names",
        }
    }
}

/// The state of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// The key seals and opens.
    Seals,
    /// The key opens, and will seal as soon as every process has read it.
    Waits,
    /// The key only opens, until it is removed.
    Opens,
}

/// Random bytes for a new key.
pub type FreshKey = [u8; 36];

/// A key of the ring.
#[derive(Clone)]
pub struct RingKey {
    /// The number by which sealed texts name the key.
    pub id: RingKeyId,
    /// The use of the key.
    pub role: Role,
    /// The time of the key's creation, in milliseconds since 1970.
    pub created_ms: u64,
    pub(super) secret: Zeroizing<[u8; 32]>,
}

impl fmt::Debug for RingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RingKey({} {} {})", self.id, self.role.word(), self.created_ms)
    }
}

/// All keys, the newest of each role first. There is at least one for each role.
#[derive(Debug, Clone)]
pub struct Ring {
    keys: Vec<RingKey>,
}

impl Ring {
    /// A ring with one key for each role.
    pub fn new(fresh: &[FreshKey; 2], now_ms: u64) -> Self {
        let mut ring = Self { keys: Vec::new() };
        for (role, fresh) in Role::ALL.into_iter().zip(fresh) {
            ring.rotate(role, fresh, now_ms);
        }
        ring
    }

    /// Adds a key, which replaces the sealing key of this role.
    pub fn rotate(&mut self, role: Role, fresh: &FreshKey, now_ms: u64) {
        let (number, secret) = fresh.split_at(4);
        let mut number = u32::from_be_bytes(number.try_into().unwrap_or_default());
        // Key numbers are short, and a clash would make one of the keys useless.
        while self.keys.iter().any(|key| key.id.0 == number.to_be_bytes()) {
            number = number.wrapping_add(1);
        }
        let mut bytes = Zeroizing::new([0; 32]);
        bytes.copy_from_slice(secret);
        let id = RingKeyId(number.to_be_bytes());
        self.keys.insert(0, RingKey { id, role, created_ms: now_ms, secret: bytes });
        while self.keys.len() > MOST {
            let oldest = self.keys.iter().rposition(|key| key.role == role);
            oldest.map(|at| self.keys.remove(at));
        }
    }

    /// Removes the keys that stopped sealing more than `kept_ms` ago. Returns true if there were any.
    pub fn prune(&mut self, now_ms: u64, kept_ms: u64) -> bool {
        let before = self.keys.len();
        for role in Role::ALL {
            // A key stops sealing when the next one starts.
            let mut newer: Option<u64> = None;
            self.keys.retain(|key| {
                if key.role != role {
                    return true;
                }
                let stopped = newer.replace(key.created_ms).map(|at| at.saturating_add(SPREAD_MS));
                stopped.is_none_or(|stopped| now_ms.saturating_sub(stopped) < kept_ms)
            });
        }
        self.keys.len() != before
    }

    /// Returns true if the sealing key is old enough to be replaced.
    pub fn is_due(&self, now_ms: u64) -> bool {
        let newest = self.of(Role::Seals).next();
        newest.is_some_and(|key| now_ms.abs_diff(key.created_ms) >= ROTATED_MS)
    }

    /// The keys, the newest first.
    pub fn keys(&self) -> &[RingKey] {
        &self.keys
    }

    fn of(&self, role: Role) -> impl Iterator<Item = &RingKey> {
        self.keys.iter().filter(move |key| key.role == role)
    }

    /// The sealing key of a role.
    fn sealing(&self, role: Role, now_ms: u64) -> Option<&RingKey> {
        // A key from the future was created under another clock, and is as valid as any other.
        let is_spread = |key: &&RingKey| now_ms.abs_diff(key.created_ms) >= SPREAD_MS;
        let oldest = self.of(role).last();
        self.of(role).find(is_spread).or(oldest)
    }

    /// Returns true if a newer key will soon become the sealing key of a role.
    pub fn has_waiting(&self, role: Role, now_ms: u64) -> bool {
        self.of(role).next().map(|newest| newest.id) != self.sealing_id(role, now_ms)
    }

    /// The number of the sealing key of a role.
    pub fn sealing_id(&self, role: Role, now_ms: u64) -> Option<RingKeyId> {
        self.sealing(role, now_ms).map(|key| key.id)
    }

    /// The state of a key of this ring.
    pub fn state(&self, key: &RingKey, now_ms: u64) -> KeyState {
        let sealing = self.sealing(key.role, now_ms).map(|key| key.id);
        let mut newer = self.of(key.role).take_while(|newer| Some(newer.id) != sealing);
        if sealing == Some(key.id) {
            KeyState::Seals
        } else if newer.any(|newer| newer.id == key.id) {
            KeyState::Waits
        } else {
            KeyState::Opens
        }
    }

    /// The keys for a purpose at a given time.
    pub fn keys_for(&self, purpose: Purpose, now_ms: u64) -> PurposeKeys {
        let sealing = self.sealing(purpose.role(), now_ms);
        let others = self.of(purpose.role()).filter(|key| Some(key.id) != sealing.map(|first| first.id));
        PurposeKeys::derive(purpose, sealing.into_iter().chain(others))
    }

    /// The ring as text for a file.
    pub fn text(&self) -> Zeroizing<String> {
        use fmt::Write as _;
        // The capacity suffices for the whole text: a buffer that grows would leave copies of keys behind.
        let mut text = Zeroizing::new(String::with_capacity(256 + self.keys.len() * 128));
        text.push_str(COMMENT);
        let _ = writeln!(text, "{HEAD}");
        for key in &self.keys {
            let _ = write!(text, "{} {} {} ", key.role.word(), key.id, key.created_ms);
            for byte in key.secret.iter() {
                let _ = write!(text, "{byte:02x}");
            }
            text.push('\n');
        }
        text
    }

    /// Reads a ring from the text of its file.
    ///
    /// # Errors
    /// Returns the fault of the text, without any secret.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.starts_with('#') && !line.is_empty());
        match lines.next() {
            Some((HEAD, _)) => {}
            _ => return Err(format!("it does not begin with {HEAD:?}")),
        }
        let mut keys: Vec<RingKey> = Vec::new();
        for (line, number) in lines {
            let key = parse_key(line).ok_or_else(|| format!("line {number} is not a key"))?;
            if keys.iter().any(|other| other.id == key.id) {
                return Err(format!("line {number} has the number of another key"));
            }
            if keys.len() == MOST {
                return Err(format!("it has more than {MOST} keys"));
            }
            keys.push(key);
        }
        if let Some(role) = Role::ALL.iter().find(|role| keys.iter().all(|key| key.role != **role)) {
            return Err(format!("it has no key with the role {:?}", role.word()));
        }
        Ok(Self { keys })
    }
}

fn parse_key(line: &str) -> Option<RingKey> {
    let mut parts = line.split(' ');
    let (role, id, created, secret) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let role = *Role::ALL.iter().find(|one| one.word() == role)?;
    let is_hex = |text: &str, length| text.len() == length && text.bytes().all(|b| b.is_ascii_hexdigit());
    if parts.next().is_some() || !is_hex(id, 8) || !is_hex(secret, 64) {
        return None;
    }
    let id = RingKeyId(u32::from_str_radix(id, 16).ok()?.to_be_bytes());
    let mut bytes = Zeroizing::new([0; 32]);
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(secret.get(place * 2..place * 2 + 2)?, 16).ok()?;
    }
    Some(RingKey { id, role, created_ms: created.parse().ok()?, secret: bytes })
}
