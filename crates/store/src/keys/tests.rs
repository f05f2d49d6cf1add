use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::Error;
use crate::database::tests::Folder;

fn text(seed: u8) -> KeyText {
    KeyText::generate([seed; 32])
}

fn new(name: &str) -> NewKey {
    NewKey { name: name.to_owned(), ..NewKey::default() }
}

proptest! {
    #[test]
    fn what_is_generated_is_read(random: [u8; 32]) {
        let key = KeyText::generate(random);
        let read = KeyText::parse(&format!("  {}\n", key.expose())).unwrap();
        prop_assert_eq!(read.expose(), key.expose());
        prop_assert_eq!(key.expose().len(), KEY_LEN);
        prop_assert!(key.expose().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
        prop_assert!(key.expose().starts_with(key.prefix()) && key.prefix().len() == PREFIX_LEN);
        prop_assert_eq!(read.digest(), key.digest());
        let shown = format!("{key:?} {:?}", key.digest());
        prop_assert!(!shown.contains(&key.expose()[PREFIX_LEN..]));
    }

    #[test]
    fn two_neighbours_exchanged_are_noticed(random: [u8; 32], at in MARK.len()..KEY_LEN - 7) {
        let key = KeyText::generate(random);
        let mut typed = key.expose().as_bytes().to_vec();
        typed.swap(at, at + 1);
        let same = typed == key.expose().as_bytes();
        prop_assert_eq!(KeyText::parse(std::str::from_utf8(&typed).unwrap()).is_ok(), same);
    }

    #[test]
    fn any_text_is_read_without_harm(text: String) {
        if let Ok(key) = KeyText::parse(&text) {
            prop_assert_eq!(key.expose(), text.trim());
        }
        let _ = KeyText::parse(&format!("{MARK}{text}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Replaces each character with every other character that can be typed.
    #[test]
    fn any_single_typo_is_noticed(random: [u8; 32]) {
        let key = KeyText::generate(random);
        for at in 0..KEY_LEN {
            for typed in (b'!'..=b'~').filter(|typed| *typed != key.expose().as_bytes()[at]) {
                let mut text = key.expose().as_bytes().to_vec();
                text[at] = typed;
                let read = KeyText::parse(std::str::from_utf8(&text).unwrap());
                prop_assert!(read.is_err(), "{} at {at}", char::from(typed));
            }
            let (head, tail) = key.expose().split_at(at);
            prop_assert!(KeyText::parse(&format!("{head}{}", &tail[1..])).is_err(), "without {at}");
            prop_assert!(KeyText::parse(&format!("{head}x{tail}")).is_err(), "more at {at}");
        }
    }
}

#[test]
fn what_is_wrong_is_told() {
    let key = text(7);
    let check = |text: &str| KeyText::parse(text).err();
    assert_eq!(check("Bearer x"), Some(KeyTextError::Mark));
    assert_eq!(check(&key.expose()[..KEY_LEN - 1]), Some(KeyTextError::Length));
    assert_eq!(check(&format!("{}a", key.expose())), Some(KeyTextError::Length));
    assert_eq!(check("dgm_"), Some(KeyTextError::Length));
    assert_eq!(check(&key.expose().replace('_', "_-")), Some(KeyTextError::Character));
    assert_eq!(check(&format!("{MARK}{}", "é".repeat(30))), Some(KeyTextError::Character));
    assert_eq!(check(&format!("{MARK}{}", "0".repeat(49))), Some(KeyTextError::Checksum));
    assert!(KeyText::is_meant(" dgm_x") && !KeyText::is_meant("eyJhbGciOi"));
}

#[test]
fn keys_differ_as_their_bits_do() {
    let texts: HashSet<String> = (0..=255).map(|seed| text(seed).expose().to_owned()).collect();
    assert_eq!(texts.len(), 256);
    let mut bits = [0; 32];
    bits[31] = 1;
    assert_ne!(KeyText::generate(bits).expose(), text(0).expose());
}

#[test]
fn a_key_is_added_found_used_and_revoked() {
    let folder = Folder::new();
    let mut keys = Keys::open(folder.path()).unwrap();
    let mut wanted = new("ann's laptop");
    wanted.profiles = vec!["default".to_owned(), "editors".to_owned()];
    wanted.expires_ms = Some(5_000);
    let added = keys.add(&wanted, &text(1), 1_000).unwrap();
    assert_eq!(added.prefix, text(1).prefix());
    assert_eq!(added.profiles.as_deref(), Some(&wanted.profiles[..]));
    assert_eq!((added.created_ms, added.expires_ms, added.last_used_ms), (1_000, Some(5_000), None));
    let other = keys.add(&new("all"), &text(2), 1_500).unwrap();
    assert_eq!((other.profiles.as_deref(), other.expires_ms), (None, None));

    assert_eq!(keys.find(&text(1).digest()).unwrap().as_ref(), Some(&added));
    assert_eq!(keys.find(&text(3).digest()).unwrap(), None);
    let states = [4_999, 5_000].map(|now| added.state(now));
    assert_eq!(states, [KeyState::Active, KeyState::Expired]);

    let uses = LastUses::default();
    uses.note(added.id, 3_000);
    uses.note(added.id, 2_000);
    uses.note(999, 1);
    keys.touch(&uses.take()).unwrap();
    assert_eq!(uses.take(), []);
    keys.touch(&[(added.id, 2_500)]).unwrap();
    assert_eq!(keys.list().unwrap()[0].last_used_ms, Some(3_000));

    let Revocation::Done(revoked) = keys.revoke("ann's laptop", 4_000).unwrap() else {
        panic!("not revoked")
    };
    assert_eq!(
        (revoked.id, revoked.revoked_ms, revoked.state(4_000)),
        (added.id, Some(4_000), KeyState::Revoked)
    );
    assert_eq!(keys.revoke(&added.prefix, 4_500).unwrap(), Revocation::Already(revoked.clone()));
    assert_eq!(keys.find(&text(1).digest()).unwrap(), Some(revoked));
    assert_eq!(keys.revoke("nobody", 4_500).unwrap(), Revocation::Unknown);
    assert!(
        matches!(keys.revoke(text(2).expose(), 4_600).unwrap(), Revocation::Done(key) if key.id == other.id)
    );
}

#[test]
fn a_name_belongs_to_one_key_in_use() {
    let folder = Folder::new();
    let mut keys = Keys::open(folder.path()).unwrap();
    keys.add(&new("ci"), &text(1), 1).unwrap();
    let taken = keys.add(&new("ci"), &text(2), 2).unwrap_err();
    assert!(matches!(&taken, Error::NameTaken(name) if name == "ci"), "{taken}");
    assert!(matches!(keys.add(&new("other"), &text(1), 2), Err(Error::Repeated)));
    keys.revoke("ci", 3).unwrap();
    let again = keys.add(&new("ci"), &text(3), 4).unwrap();
    assert!(matches!(keys.revoke("ci", 5).unwrap(), Revocation::Done(key) if key.id == again.id));
    assert!(matches!(keys.revoke("ci", 6).unwrap(), Revocation::Already(key) if key.id == again.id));
}

#[test]
fn odd_names_are_refused() {
    let folder = Folder::new();
    let mut keys = Keys::open(folder.path()).unwrap();
    for name in
        ["", " ci", "ci\n", "a\u{202e}b", "a\u{200b}b", "a\u{e0041}", "dgm_abc", &"n".repeat(MAX_NAME + 1)]
    {
        let refused = keys.add(&new(name), &text(1), 1).unwrap_err();
        assert!(matches!(refused, Error::Name { .. }) && !refused.help().is_empty(), "{name:?}: {refused}");
    }
    for profile in ["", "a\nb", "Not A Slug", "é", &"p".repeat(257)] {
        let mut odd = new("ci");
        odd.profiles = vec!["good".to_owned(), profile.to_owned()];
        assert!(matches!(keys.add(&odd, &text(1), 1), Err(Error::Profile(_))), "{profile:?}");
    }
    let mut many = new("ci");
    many.profiles = vec!["p".to_owned(); MAX_PROFILES + 1];
    assert!(keys.add(&many, &text(1), 1).is_err());
    assert_eq!(keys.list().unwrap(), []);
    keys.add(&new(&"é".repeat(MAX_NAME)), &text(1), 1).unwrap();
}

#[test]
fn nothing_of_a_key_but_its_beginning_is_kept() {
    let folder = Folder::new();
    let mut keys = Keys::open(folder.path()).unwrap();
    let key = text(9);
    keys.add(&new("ci"), &key, 1).unwrap();
    drop(keys);
    let secret = &key.expose()[PREFIX_LEN..];
    for (name, bytes) in folder.files() {
        let has = |part: &str| bytes.windows(part.len()).any(|window| window == part.as_bytes());
        assert!(!has(&secret[..8]) && !has(&secret[secret.len() - 8..]), "{name}");
        assert!(name != "keys.db" || has(key.prefix()));
    }
}

#[test]
fn what_others_change_is_seen() {
    let folder = Folder::new();
    let mut one = Keys::open(folder.path()).unwrap();
    let mut other = Keys::open(folder.path()).unwrap();
    let before = one.changes().unwrap();
    one.add(&new("mine"), &text(1), 1).unwrap();
    assert_eq!(one.changes().unwrap(), before);
    other.revoke("mine", 2).unwrap();
    assert_ne!(one.changes().unwrap(), before);
    assert_eq!(one.find(&text(1).digest()).unwrap().unwrap().state(3), KeyState::Revoked);
    assert!(Keys::open_existing(&folder.path().join("none")).unwrap().is_none());
    assert!(Keys::open_existing(folder.path()).unwrap().is_some());
}
