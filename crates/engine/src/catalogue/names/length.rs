//! The maximum length of names, and the characters that names may have. Clients and model APIs reject names that
//! are too long, and clients add a prefix of their own to each name. This module must not know which names there
//! are.

use std::borrow::Cow;

use crate::schema_family::SchemaFamily;

/// The maximum length of a name together with the client's prefix, in characters.
const MAX_NAME: usize = 64;

/// The length that remains for names after the longest prefix: `mcp__PROFILE__` with a profile name of 50
/// characters.
const MIN_LIMIT: usize = 7;

/// The length of the digits that replace the rest of a name, including the separator before them.
const DIGITS: usize = 9;

/// The minimum length at which a shortened name still contains the beginning of the full name.
const WITH_BEGINNING: usize = 12;

/// The rules for the names of a profile: their maximum length, and the allowed characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameLimit {
    most: usize,
    /// True if a name that is just the server's own name for the item may exceed the maximum.
    spares_plain: bool,
    /// The family of clients whose rules the names follow.
    family: Option<&'static SchemaFamily>,
}

impl NameLimit {
    /// The limit for clients that add `prefix` to the start of each name.
    pub fn behind(prefix: &str) -> Self {
        let most = MAX_NAME.saturating_sub(prefix.chars().count()).max(MIN_LIMIT);
        Self { most, spares_plain: false, family: None }
    }

    /// The limit for a dialect. Servers' own names stay as they are; names that Dragoman forms are shortened to 64
    /// characters.
    pub const fn of_dialect() -> Self {
        Self { most: MAX_NAME, spares_plain: true, family: None }
    }

    /// Adapts the limit to a family of clients, which also restricts the characters of names. Characters other than
    /// letters, digits, `_` and `-` become `_`.
    #[must_use]
    pub fn for_family(self, family: Option<&'static SchemaFamily>) -> Self {
        let most = family.map_or(self.most, |family| self.most.min(family.longest_name));
        Self { most, spares_plain: self.spares_plain && family.is_none(), family }
    }

    /// Returns true if characters of names may have to be replaced.
    pub(super) fn is_spelled(self) -> bool {
        self.family.is_some()
    }

    /// Returns true if clients may also use names other than the listed ones. The names of a dialect are fixed.
    pub(in crate::catalogue) fn is_flexible(self) -> bool {
        !self.spares_plain
    }

    /// Returns true if `name` is the short form that earlier versions of Dragoman gave to this item. Those versions
    /// did not count the prefixes that clients add.
    pub(in crate::catalogue) fn was_called(self, identity: &str, name: &str) -> bool {
        !is_within(identity, self.most) && shortened_to(identity, MAX_NAME) == name
    }

    /// The maximum length, in characters.
    pub fn most(self) -> usize {
        self.most
    }

    /// A name that Dragoman forms, shortened if it is too long.
    pub(super) fn fit(self, full: String) -> String {
        let full = self.spelled(&full).unwrap_or(full);
        if is_within(&full, self.most) { full } else { shortened(&full, self.most, 0) }
    }

    /// A server's own name, shortened if it is too long.
    pub(super) fn fit_plain(self, own: &str) -> Cow<'_, str> {
        if let Some(spelled) = self.spelled(own) {
            return Cow::Owned(shortened_to(&spelled, self.most).into_owned());
        }
        if self.spares_plain || is_within(own, self.most) {
            return Cow::Borrowed(own);
        }
        Cow::Owned(shortened(own, self.most, 0))
    }

    /// Another short form of a name, used if the first one belongs to another item; each `turn` gives a new form.
    pub(super) fn fit_again(self, full: &str, turn: u32) -> String {
        let spelled = self.spelled(full);
        let head = spelled.as_deref().unwrap_or(full);
        // The digits are a hash of the whole original name, so names that become equal through replaced characters get
        // different digits.
        coded(head, full, self.most, turn)
    }

    /// A name in which the characters that the family refuses are replaced; `None` if the family accepts the name.
    fn spelled(self, name: &str) -> Option<String> {
        let family = self.family.filter(|family| !family.admits_name(name))?;
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let spelled: String = name.chars().map(plain).collect();
        Some(if family.admits_name(&spelled) { spelled } else { format!("_{spelled}") })
    }
}

fn is_within(name: &str, most: usize) -> bool {
    name.len() <= most || name.chars().count() <= most
}

fn shortened_to(full: &str, most: usize) -> Cow<'_, str> {
    if is_within(full, most) { Cow::Borrowed(full) } else { Cow::Owned(shortened(full, most, 0)) }
}

/// The beginning of a name, followed by eight digits of a hash of the full name, so that the same item always gets
/// the same name.
fn shortened(full: &str, most: usize, turn: u32) -> String {
    coded(full, full, most, turn)
}

/// The beginning of `head`, followed by digits of a hash of `full`. If there is no room for a beginning, the name
/// starts with a letter, because some clients refuse names that start with a digit.
fn coded(head: &str, full: &str, most: usize, turn: u32) -> String {
    let hash = format!("{:08x}", fold(full, turn));
    if most < WITH_BEGINNING {
        return format!("t{}", &hash[..hash.len().min(most - 1)]);
    }
    let head: String = head.chars().take(most - DIGITS).collect();
    format!("{head}_{hash}")
}

/// FNV-1a, folded to 32 bits: stable across versions and machines, which `Hash` does not guarantee.
fn fold(text: &str, turn: u32) -> u32 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, step);
    let hash = if turn == 0 { hash } else { turn.to_le_bytes().into_iter().fold(hash, step) };
    u32::try_from((hash >> 32) ^ (hash & 0xffff_ffff)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::SchemaForm;

    #[test]
    fn long_names_are_shortened_the_same_way_each_time() {
        let limit = NameLimit::behind("");
        let long = format!("files__{}", "x".repeat(80));
        let short = limit.fit(long.clone());
        assert_eq!(short, limit.fit(long.clone()));
        assert_eq!(short.chars().count(), MAX_NAME);
        assert!(short.starts_with("files__xxx"));
        assert_ne!(short, limit.fit(format!("{long}y")));
        assert_ne!(short, limit.fit_again(&long, 1));
        assert_eq!(limit.fit("files__read".to_owned()), "files__read");
    }

    #[test]
    fn the_prefix_of_the_client_counts() {
        let name = "x".repeat(51);
        assert_eq!(NameLimit::behind("mcp__work__").most(), 53);
        assert_eq!(NameLimit::behind("mcp__work__").fit(name.clone()), name);
        assert_eq!(NameLimit::behind("mcp__default__").fit(name.clone()).len(), 50);
        for (prefix, length) in [(52, 12), (53, 9), (57, 7)] {
            let limit = NameLimit::behind(&"p".repeat(prefix));
            let short = limit.fit(name.clone());
            assert_eq!(short.len(), length, "{short}");
            assert!(short.starts_with(if length == 12 { "xxx_" } else { "t" }), "{short}");
            assert_ne!(short, limit.fit_again(&name, 1));
        }
        assert_eq!(NameLimit::of_dialect().fit_plain(&"x".repeat(80)).len(), 80);
        assert_eq!(NameLimit::behind("").fit_plain(&"x".repeat(80)).len(), MAX_NAME);
        let portable = SchemaFamily::of(SchemaForm::Portable);
        let family = NameLimit::behind("mcp__work__").for_family(portable);
        assert_eq!(family.most(), 40);
        assert_eq!(family.fit("files__a.b/c d".to_owned()), "files__a_b_c_d");
        assert_eq!(family.fit("4__x".to_owned()), "_4__x");
        assert_eq!(family.fit_plain("a-b"), "a-b");
        assert_ne!(family.fit_again("files__a.b", 1), family.fit_again("files__a_b", 1));
        // Characters count, not bytes.
        assert_eq!(NameLimit::behind("").fit_plain(&"ä".repeat(64)).chars().count(), MAX_NAME);
    }
}
