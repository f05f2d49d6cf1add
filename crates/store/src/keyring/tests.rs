use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Barrier;

use proptest::prelude::*;

use super::ring::FreshKey;
use super::*;
use crate::Error;
use crate::database::tests::Folder;

const DAY: u64 = 24 * 60 * 60 * 1000;

/// A little more than the time from a key's creation until it seals.
const SPREAD: u64 = 4_000;

fn fresh(number: u8) -> FreshKey {
    let mut fresh = [number; 36];
    fresh[..4].copy_from_slice(&[0, 0, 0, number]);
    fresh
}

fn ring() -> Ring {
    Ring::new(&[fresh(1), fresh(2)], 0)
}

fn states(ring: &Ring, now: u64) -> Vec<(String, KeyState)> {
    ring.keys().iter().map(|key| (key.id.to_string()[6..].to_owned(), ring.state(key, now))).collect()
}

fn rights(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_text_opens_with_its_purpose_its_bound_and_its_key_alone() {
    let keys = ring().keys_for(Purpose::State, SPREAD);
    let sealed = keys.seal(b"plain", b"me", [3; 12]).unwrap();
    assert_eq!(keys.open(&sealed, b"me").as_deref(), Some(&b"plain"[..]));
    assert_eq!(sealed.len(), 17 + 5 + 16);
    assert_eq!(keys.open(&sealed, b"you"), None);
    let other = Ring::new(&[fresh(1), fresh(3)], 0).keys_for(Purpose::Task, 0);
    assert_eq!(other.open(&sealed, b"me"), None);
    for at in 0..sealed.len() {
        let mut altered = sealed.clone();
        altered[at] ^= 1;
        assert_eq!(keys.open(&altered, b"me"), None, "byte {at}");
        assert_eq!(keys.open(&sealed[..at], b"me"), None, "{at} bytes");
    }
}

#[test]
fn the_same_secret_has_other_keys_for_each_purpose() {
    // A ring whose two keys differ in nothing but their roles.
    let text = ring().text().replace(&"02".repeat(32), &"01".repeat(32));
    let ring = Ring::parse(&text).unwrap();
    let (states, tasks) = (ring.keys_for(Purpose::State, 0), ring.keys_for(Purpose::Task, 0));
    let mut sealed = states.seal(b"plain", b"", [3; 12]).unwrap();
    assert_ne!(sealed[17..], tasks.seal(b"plain", b"", [3; 12]).unwrap()[17..]);
    sealed[4] = 2;
    assert_eq!(tasks.open(&sealed, b""), None);
}

#[test]
fn names_are_the_same_each_time_until_their_key_is_replaced() {
    let mut ring = ring();
    let name = |ring: &Ring, now| ring.keys_for(Purpose::Task, now).seal_name(b"task", b"me").unwrap();
    let first = name(&ring, SPREAD);
    ring.rotate(Role::Seals, &fresh(3), SPREAD);
    assert_eq!(name(&ring, 3 * SPREAD), first, "rotation leaves names alone");
    ring.rotate(Role::Names, &fresh(4), 3 * SPREAD);
    assert_eq!(name(&ring, 3 * SPREAD), first, "others may not know it yet");
    assert_ne!(name(&ring, 5 * SPREAD), first);
    let keys = ring.keys_for(Purpose::Task, 5 * SPREAD);
    assert_eq!(keys.open(&first, b"me").as_deref(), Some(&b"task"[..]));
}

#[test]
fn a_new_key_waits_then_seals_and_the_old_one_goes_in_the_end() {
    let mut ring = ring();
    assert!(!ring.is_due(30 * DAY - 1) && ring.is_due(30 * DAY));
    let of = |number: &str, state| (number.to_owned(), state);
    assert_eq!(states(&ring, 0), [of("02", KeyState::Seals), of("01", KeyState::Seals)]);
    ring.rotate(Role::Seals, &fresh(3), 30 * DAY);
    assert!(!ring.is_due(30 * DAY) && ring.has_waiting(Role::Seals, 30 * DAY));
    let before = [of("03", KeyState::Waits), of("02", KeyState::Seals), of("01", KeyState::Seals)];
    assert_eq!(states(&ring, 30 * DAY), before);
    let sealed = ring.keys_for(Purpose::State, 30 * DAY).seal(b"x", b"", [0; 12]).unwrap();
    let now = 30 * DAY + SPREAD;
    let after = [of("03", KeyState::Seals), of("02", KeyState::Seals), of("01", KeyState::Opens)];
    assert_eq!(states(&ring, now), after);
    assert!(ring.keys_for(Purpose::State, now).open(&sealed, b"").is_some());
    assert!(!ring.prune(31 * DAY, DAY), "it stopped sealing less than a day ago");
    assert!(ring.prune(31 * DAY + SPREAD, DAY));
    assert_eq!(states(&ring, 40 * DAY), [of("03", KeyState::Seals), of("02", KeyState::Seals)]);
    assert!(ring.keys_for(Purpose::State, 40 * DAY).open(&sealed, b"").is_none());
}

#[test]
fn numbers_never_clash_and_the_ring_stays_small() {
    let mut ring = ring();
    for _ in 0..100 {
        ring.rotate(Role::Seals, &fresh(1), 0);
    }
    let mut ids: Vec<String> = ring.keys().iter().map(|key| key.id.to_string()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 32);
    assert!(ring.keys().iter().any(|key| key.role == Role::Names), "each role drops its own");
    assert!(Ring::parse(&ring.text()).is_ok());
}

#[test]
fn faults_of_a_text_are_named_without_its_secrets() {
    let text = ring().text().to_string();
    let line = text.lines().last().unwrap().to_owned();
    for (text, why) in [
        (String::new(), "does not begin with"),
        (text.replace("keyring 1", "keyring 2"), "does not begin with"),
        (text.replace("seals", "x"), "line 4 is not a key"),
        (text.replace(&"01".repeat(32), &"01".repeat(31)), "line 4 is not a key"),
        (text.replace(&"01".repeat(32), &"é".repeat(32)), "line 4 is not a key"),
        (text.replace(" 0 ", " soon "), "line 3 is not a key"),
        (format!("{text}{line}\n"), "line 5 has the number of another key"),
        (text.replace(&line, ""), "no key with the role \"seals\""),
    ] {
        let fault = Ring::parse(&text).unwrap_err();
        assert!(fault.contains(why) && !fault.contains("0101"), "{fault}");
    }
}

proptest! {
    #[test]
    fn any_ring_is_read_back(turns in prop::collection::vec((any::<bool>(), any::<[u8; 32]>(), 0_u64..1 << 50), 0..40)) {
        let mut ring = ring();
        for (names, secret, now) in turns {
            let mut fresh = [0; 36];
            fresh[4..].copy_from_slice(&secret);
            ring.rotate(if names { Role::Names } else { Role::Seals }, &fresh, now);
        }
        let again = Ring::parse(&ring.text()).unwrap();
        prop_assert_eq!(&*again.text(), &*ring.text());
        for purpose in [Purpose::State, Purpose::Task] {
            let sealed = ring.keys_for(purpose, 7).seal(b"x", b"y", [1; 12]).unwrap();
            prop_assert_eq!(again.keys_for(purpose, 9).open(&sealed, b"y"), Some(b"x".to_vec()));
        }
    }

    #[test]
    fn no_text_is_too_odd_to_be_refused(text in "(?s).{0,300}") {
        let whole = format!("dragoman-keyring 1\n{text}");
        prop_assert!(Ring::parse(&text).is_err() && Ring::parse(&whole).is_err());
    }

    #[test]
    fn no_bytes_are_too_odd_to_be_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        prop_assert_eq!(ring().keys_for(Purpose::State, 0).open(&bytes, b""), None);
    }
}

#[test]
fn the_file_is_its_owners_alone_and_says_the_same_to_all() {
    let folder = Folder::new();
    let path = RingFile::path_in(&folder.path().join("new"));
    assert!(RingFile::open_existing(&path).unwrap().is_none());
    let (mut file, first) = RingFile::open(&path, &[fresh(1), fresh(2)], 5).unwrap();
    let (_, second) = RingFile::open(&path, &[fresh(8), fresh(9)], 6).unwrap();
    assert_eq!((*first.text()).clone(), *second.text());
    assert_eq!((rights(&path), rights(path.parent().unwrap())), (0o600, 0o700));
    assert!(file.look().unwrap().is_none());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    RingFile::open_existing(&path).unwrap();
    assert_eq!(rights(&path), 0o600);
}

#[test]
fn a_change_by_another_process_is_seen() {
    let folder = Folder::new();
    let path = RingFile::path_in(folder.path());
    let (mut one, _) = RingFile::open(&path, &[fresh(1), fresh(2)], 0).unwrap();
    let (mut other, _) = RingFile::open(&path, &[fresh(8), fresh(9)], 0).unwrap();
    let changed = other.change(|ring| {
        ring.rotate(Role::Seals, &fresh(3), 9);
        true
    });
    let seen = one.look().unwrap().expect("it has changed");
    assert_eq!(*seen.text(), *changed.unwrap().text());
    assert!(one.look().unwrap().is_none() && other.look().unwrap().is_none());
    assert_eq!(rights(&path), 0o600);
    other.change(|_| false).unwrap();
    assert!(one.look().unwrap().is_none(), "nothing was written");
}

#[test]
fn what_goes_wrong_with_the_file_is_said_once_and_harms_nothing() {
    let folder = Folder::new();
    let path = RingFile::path_in(folder.path());
    let (mut file, _) = RingFile::open(&path, &[fresh(1), fresh(2)], 0).unwrap();
    fs::write(&path, "no ring").unwrap();
    assert!(matches!(file.look(), Err(Error::Damaged { .. })));
    assert!(file.look().unwrap().is_none());
    assert!(matches!(RingFile::open(&path, &[fresh(1), fresh(2)], 0), Err(Error::Damaged { .. })));
    assert!(file.change(|_| true).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "no ring", "a damaged file is left as it is");
    fs::remove_file(&path).unwrap();
    assert!(file.look().is_err() && file.look().unwrap().is_none());
    fs::write(&path, vec![b'#'; 70_000]).unwrap();
    assert!(file.look().unwrap_err().to_string().contains("longer than"));
}

#[test]
fn of_many_who_make_and_change_it_nobody_loses_anything() {
    let folder = Folder::new();
    let path = RingFile::path_in(folder.path());
    let barrier = Barrier::new(8);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (path, barrier) = (&path, &barrier);
            scope.spawn(move || {
                barrier.wait();
                let (mut file, _) =
                    RingFile::open(path, &[fresh(100 + number), fresh(110 + number)], 0).unwrap();
                let add = |ring: &mut Ring| {
                    ring.rotate(Role::Seals, &fresh(number), u64::from(number));
                    true
                };
                file.change(add).unwrap();
            });
        }
    });
    let (_, ring) = RingFile::open_existing(&path).unwrap().unwrap();
    let mut ids: Vec<String> = ring.keys().iter().map(|key| key.id.to_string()).collect();
    ids.sort_unstable();
    let added: Vec<String> = (0..8).map(|number| format!("{number:08x}")).collect();
    assert_eq!((ids.len(), &ids[..8]), (10, &added[..]));
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name == "keyring" || name == "keyring.lock"), "{left:?}");
}
