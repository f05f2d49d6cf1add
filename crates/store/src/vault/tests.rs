use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use secrecy::{ExposeSecret as _, SecretString};

use super::Vault;
use crate::database::tests::Folder;

const KEY: [u8; 32] = [7; 32];

fn nonce() -> [u8; 12] {
    let mut nonce = [0; 12];
    aws_lc_rs::rand::fill(&mut nonce).unwrap();
    nonce
}

fn secret(text: &str) -> SecretString {
    SecretString::from(text)
}

fn got(vault: &Vault, name: &str) -> Option<String> {
    vault.get(name).unwrap().map(|secret| secret.expose_secret().to_owned())
}

fn rights(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn what_is_put_in_is_there_until_it_is_removed() {
    let folder = Folder::new();
    assert!(Vault::open_existing(folder.path(), &KEY).unwrap().is_none());
    let mut vault = Vault::open(folder.path(), &KEY).unwrap();
    vault.put("a", &secret("first"), nonce()).unwrap();
    vault.put("a", &secret("second"), nonce()).unwrap();
    vault.put("b", &secret("other"), nonce()).unwrap();
    let again = Vault::open_existing(folder.path(), &[9; 32]).unwrap().expect("the file is there");
    assert_eq!((got(&again, "a").as_deref(), got(&again, "b").as_deref()), (Some("second"), Some("other")));
    assert!(vault.remove("a").unwrap());
    assert!(!vault.remove("a").unwrap());
    assert_eq!((got(&again, "a"), got(&again, "c")), (None, None));
    assert!(vault.put("long", &secret(&"x".repeat(300_000)), nonce()).is_err());
}

#[test]
fn the_file_says_nothing_without_its_key() {
    let folder = Folder::new();
    let mut vault = Vault::open(folder.path(), &KEY).unwrap();
    vault.put("name", &secret("to-ken-of-ann"), nonce()).unwrap();
    drop(vault);
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        assert!(!bytes.windows(13).any(|part| part == b"to-ken-of-ann"), "{}", path.display());
        assert_eq!(rights(&path), 0o600, "{}", path.display());
    }
    fs::write(folder.path().join("vault.key"), [1; 32]).unwrap();
    let vault = Vault::open(folder.path(), &KEY).unwrap();
    assert_eq!(got(&vault, "name"), None);
}

#[test]
fn a_text_in_anothers_place_is_not_taken_for_it() {
    let folder = Folder::new();
    let mut vault = Vault::open(folder.path(), &KEY).unwrap();
    vault.put("ann", &secret("hers"), nonce()).unwrap();
    vault.put("bob", &secret("his"), nonce()).unwrap();
    let file = rusqlite::Connection::open(folder.path().join("vault.db")).unwrap();
    let swap =
        "UPDATE secrets SET sealed = (SELECT sealed FROM secrets WHERE name = 'bob') WHERE name = 'ann'";
    assert_eq!(file.execute(swap, []).unwrap(), 1);
    assert_eq!((got(&vault, "ann"), got(&vault, "bob").as_deref()), (None, Some("his")));
    file.execute("UPDATE secrets SET sealed = x'00' WHERE name = 'bob'", []).unwrap();
    assert_eq!(got(&vault, "bob"), None);
}

#[test]
fn a_key_that_others_may_read_is_taken_from_them_and_half_a_key_is_none() {
    let folder = Folder::new();
    drop(Vault::open(folder.path(), &KEY).unwrap());
    let key = folder.path().join("vault.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    drop(Vault::open(folder.path(), &KEY).unwrap());
    assert_eq!(rights(&key), 0o600);
    fs::write(&key, [1; 31]).unwrap();
    let error = Vault::open(folder.path(), &KEY).unwrap_err();
    assert!(error.to_string().contains("vault.key is damaged"), "{error}");
}

#[test]
fn of_many_who_make_the_key_all_have_the_same() {
    let folder = Folder::new();
    let barrier = std::sync::Barrier::new(8);
    std::thread::scope(|scope| {
        for number in 0..8_u8 {
            let (folder, barrier) = (folder.path(), &barrier);
            scope.spawn(move || {
                barrier.wait();
                let mut vault = Vault::open(folder, &[number; 32]).unwrap();
                vault.put(&format!("of {number}"), &secret(&number.to_string()), nonce()).unwrap();
            });
        }
    });
    let vault = Vault::open(folder.path(), &KEY).unwrap();
    for number in 0..8 {
        assert_eq!(got(&vault, &format!("of {number}")), Some(number.to_string()));
    }
}
