//! Texts of API keys: every accepted text is a well-formed key, and a mistyped key is rejected.

use store::keys::{KEY_LEN, KeyText, KeyTextError, MARK, PREFIX_LEN};

/// The fuzzer's entry: the bytes are used as a text, and as the random bits of a key and a change of it.
pub fn fuzz(input: &[u8]) {
    any(&String::from_utf8_lossy(input));
    any(&format!("{MARK}{}", String::from_utf8_lossy(input)));
    if let Some((random, [place, byte, ..])) = input.split_first_chunk::<32>() {
        made(*random, usize::from(*place), *byte);
    }
}

/// Checks any text.
pub fn any(text: &str) {
    match KeyText::parse(text) {
        Ok(key) => {
            assert!(KeyText::is_meant(text));
            assert_eq!(key.expose(), text.trim());
            assert_eq!(key.expose().len(), KEY_LEN);
            hidden(&key);
        }
        Err(error) => {
            let rest = text.trim().strip_prefix(MARK).unwrap_or_default();
            let is_like_one =
                rest.len() == KEY_LEN - MARK.len() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
            assert_eq!(is_like_one, error == KeyTextError::Checksum, "{error:?}");
        }
    }
}

/// Checks that a key with one changed character is rejected.
pub fn made(random: [u8; 32], place: usize, byte: u8) {
    let key = KeyText::generate(random);
    assert_eq!(KeyText::parse(&format!(" {} ", key.expose())).map(|read| read.digest()), Ok(key.digest()));
    hidden(&key);
    let mut other = key.expose().to_owned().into_bytes();
    let place = MARK.len() + place % (KEY_LEN - MARK.len());
    other[place] = byte;
    let other = String::from_utf8_lossy(&other).into_owned();
    if other != key.expose() {
        let why = KeyText::parse(&other).err();
        assert!(why.is_some_and(|why| why != KeyTextError::Mark), "{place} {byte}");
    }
}

fn hidden(key: &KeyText) {
    assert!(!format!("{key:?}").contains(&key.expose()[PREFIX_LEN..]));
    assert_eq!(key.prefix().len(), PREFIX_LEN);
}
