//! A client's labels in the record of calls: the client's address, and the name and version that the client reports.
//! This module must not know calls.

use std::cell::RefCell;
use std::net::IpAddr;
use std::sync::Arc;

use serde_json::Value;

/// The maximum length of a recorded name or version, in bytes.
const LONGEST: usize = 64;

/// A client's introduction, and the label derived from it.
type Labelled = (Box<[u8]>, Arc<str>);

thread_local! {
    /// The latest address label and the latest program label on this thread: most calls come from the same client
    /// as the call before.
    static ADDRESS: RefCell<Option<(IpAddr, Arc<str>)>> = const { RefCell::new(None) };
    static PROGRAM: RefCell<Option<Labelled>> = const { RefCell::new(None) };
}

/// Returns an address as text.
pub(crate) fn address(address: IpAddr) -> Arc<str> {
    ADDRESS.with_borrow_mut(|last| match last {
        Some((known, text)) if *known == address => text.clone(),
        _ => {
            let text: Arc<str> = address.to_string().into();
            *last = Some((address, text.clone()));
            text
        }
    })
}

/// Returns the name and version of a client, from the JSON object of its introduction.
pub(crate) fn program(info: &[u8]) -> Option<Arc<str>> {
    PROGRAM.with_borrow_mut(|last| {
        if let Some((known, text)) = last
            && **known == *info
        {
            return Some(text.clone());
        }
        let info_read: Value = serde_json::from_slice(info).ok()?;
        let part = |key: &str| clipped(info_read.get(key).and_then(Value::as_str).unwrap_or_default());
        let (name, version) = (part("name"), part("version"));
        let text = format!("{name} {version}");
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let text: Arc<str> = text.into();
        if info.len() <= 16 * LONGEST {
            *last = Some((info.into(), text.clone()));
        }
        Some(text)
    })
}

/// Returns the name and version in the params of a message that contains an introduction.
pub(crate) fn program_in(message: &[u8]) -> Option<Arc<str>> {
    let message: Value = serde_json::from_slice(message).ok()?;
    let info = message.get("params")?.get("clientInfo")?;
    program(info.to_string().as_bytes())
}

/// Returns the text on one line, clipped to the maximum length.
fn clipped(text: &str) -> String {
    let text = &text[..text.floor_char_boundary(LONGEST)];
    text.chars().filter(|one| !one.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_named_as_it_names_itself_in_short_and_on_one_line() {
        let of = |info: &str| program(info.as_bytes()).map(|text| text.to_string());
        assert_eq!(of(r#"{"name":"inspector","version":"1.2"}"#).as_deref(), Some("inspector 1.2"));
        assert_eq!(of(r#"{"name":"inspector","version":"1.2"}"#).as_deref(), Some("inspector 1.2"));
        assert_eq!(of(r#"{"name":"a\nb\u001b[1m"}"#).as_deref(), Some("ab[1m"));
        assert_eq!(of(r#"{"version":1.5}"#), None);
        for none in ["", "{", "[]", "1", "{}"] {
            assert_eq!(of(none), None, "{none}");
        }
        let long = format!(r#"{{"name":"{}","version":"1"}}"#, "å".repeat(5000));
        assert_eq!(of(&long), Some(format!("{} 1", "å".repeat(32))));
        let hello = br#"{"method":"initialize","params":{"clientInfo":{"name":"x","version":"2"}}}"#;
        assert_eq!(program_in(hello).as_deref(), Some("x 2"));
    }

    #[test]
    fn an_address_is_itself() {
        for text in ["192.0.2.1", "192.0.2.1", "2001:db8::1", "192.0.2.1"] {
            assert_eq!(&*address(text.parse().unwrap()), text);
        }
    }
}
