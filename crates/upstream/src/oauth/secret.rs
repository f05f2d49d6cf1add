//! A text that is stored and sent, but never displayed.

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A secret that can be serialized into sealed storage.
#[derive(Debug, Clone)]
pub(super) struct Secret(SecretString);

impl Secret {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(SecretString::from(text.into()))
    }

    pub(super) fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.expose())
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

/// Returns an unguessable text: 256 random bits in visible ASCII (valid for RFC 7636, 4.1).
///
/// # Errors
/// Fails if the operating system's random number generator fails.
pub(super) fn random() -> Result<String, String> {
    use base64::Engine as _;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD;
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|_| {
        "the operating system's random number generator \
        failed"
            .to_owned()
    })?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}
