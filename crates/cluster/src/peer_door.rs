//! The address at which a replica listens for the other replicas, and its key, as texts. This module must not know connections.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use transport::net::PeerPublicKey;

/// The address at which a replica listens for the other replicas, and the key that it proves there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerDoor {
    /// The address.
    pub address: SocketAddr,
    /// The public key in DER, in hexadecimal digits.
    key: String,
}

impl PeerDoor {
    /// Creates the description of this replica's own door.
    pub fn new(address: SocketAddr, key: &PeerPublicKey) -> Self {
        Self { address, key: to_hex(key.der()) }
    }

    /// Returns the key; `None` if its text is invalid.
    pub(crate) fn key(&self) -> Option<PeerPublicKey> {
        Some(PeerPublicKey::from_der(from_hex(&self.key)?))
    }
}

/// Writes bytes as hexadecimal digits.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        for half in [byte >> 4, byte & 15] {
            text.push(char::from_digit(half.into(), 16).unwrap_or('0'));
        }
        text
    })
}

/// Reads hexadecimal digits; `None` for any other text.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_from_their_digits() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(from_hex(&to_hex(&all)), Some(all));
        assert_eq!([from_hex("0"), from_hex("0g"), from_hex("+1")], [None, None, None]);
    }
}
