//! The header codec: an encoded text can be sent and read back; two values count as equal only if they mean the same.

use proto::codec::headers::{
    HeaderError, check_annotations, decode_value, encode_value, mirrors, param_header, value_of,
};

/// The fuzzer's entry.
pub fn fuzz(input: &[u8]) {
    value(input);
    json(input);
    let text = String::from_utf8_lossy(input);
    round_trip(&text);
    name(&text);
    if let Some((one, other)) = text.split_once('|') {
        numbers(one, other);
        strings(one, other);
    }
}

/// Checks any bytes: reading them does not panic, and a text that was read can be written and read again.
pub fn value(bytes: &[u8]) {
    match decode_value(bytes) {
        Ok(text) => assert_eq!(decode_value(encode_value(&text).as_bytes()).as_deref(), Ok(&*text)),
        Err(error) => assert_ne!(error, HeaderError::NotMirrored),
    }
}

/// Checks that any text can be sent in a header, and is read back unchanged.
pub fn round_trip(text: &str) {
    let value = encode_value(text);
    sendable(&value);
    assert_eq!(decode_value(value.as_bytes()).as_deref(), Ok(text));
    assert_eq!(decode_value(format!(" \t{value}\t ").as_bytes()).as_deref(), Ok(text));
    let json = serde_json::to_string(text).expect("a string is always JSON");
    assert!(mirrors(text, json.as_bytes()));
    assert_eq!(value_of(json.as_bytes()).as_ref().map(Option::as_deref), Ok(Some(&*value)));
}

/// Checks any JSON value: its header value mirrors it.
pub fn json(text: &[u8]) {
    let Ok(parsed) = serde_json::from_slice::<serde_json::Value>(text) else { return };
    let text = text.trim_ascii();
    match value_of(text) {
        Ok(Some(value)) => {
            sendable(&value);
            let decoded = decode_value(value.as_bytes()).expect("what was encoded can be decoded");
            assert!(mirrors(&decoded, text), "{decoded:?}");
        }
        Ok(None) => assert!(parsed.is_null()),
        Err(error) => {
            assert_eq!(error, HeaderError::NotMirrored);
            assert!(!parsed.is_string() && !parsed.is_boolean() && !parsed.is_null());
            assert!(parsed.as_i64().is_none_or(|number| number.unsigned_abs() >= 1 << 53));
        }
    }
}

/// Checks two texts: a text mirrors a JSON string exactly if it is the string's content.
pub fn strings(text: &str, json: &str) {
    if let Ok(meant) = serde_json::from_str::<String>(json) {
        assert_eq!(mirrors(text, json.trim_ascii().as_bytes()), meant == text);
    }
}

/// Checks two texts: they mirror each other as numbers only if both are numbers, and are equal.
pub fn numbers(text: &str, json: &str) {
    let is_number = |text: &str| {
        serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok_and(|raw| raw.get() == text)
            && text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
    };
    if !is_number(json) {
        return;
    }
    let same = mirrors(text, json.as_bytes());
    assert!(!same || is_number(text));
    if !is_number(text) {
        return;
    }
    assert_eq!(same, mirrors(json, text.as_bytes()), "the comparison has a direction");
    if let (Ok(one), Ok(other)) = (text.parse::<i128>(), json.parse::<i128>()) {
        assert_eq!(same, one == other);
    }
    if let (Ok(one), Ok(other)) = (text.parse::<f64>(), json.parse::<f64>()) {
        // Rounding can make different numbers equal, but never equal numbers different.
        assert!(!same || one.to_bits() == other.to_bits() || one == other);
    }
}

/// Checks any annotated name: the header name made from it is a token, and an annotation with the same name in capitals collides
/// with it.
pub fn name(name: &str) {
    let valid = check_annotations([("path", name)]).is_ok();
    assert_eq!(param_header(name).is_some(), valid);
    if let Some(header) = param_header(name) {
        assert!(
            header.bytes().all(|byte| byte.is_ascii_graphic() && !byte.is_ascii_uppercase() && byte != b':')
        );
        assert!(check_annotations([("one", name), ("two", &name.to_ascii_uppercase())]).is_err());
    }
}

fn sendable(value: &str) {
    assert!(value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')), "{value:?}");
    assert_eq!(value, value.trim_matches([' ', '\t']));
}
