//! One way to run or reach a server, as an entry of a configuration.
//!
//! A program that an offer starts runs on this machine with the rights of its user, so its variables keep the names
//! that the document gives. A server on the network must not obtain a variable of this machine by naming it in the
//! document, so the names of its variables begin with the server's name.

use serde_json::Value;

/// A variable that the user sets in the environment in which Dragoman starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// A description for people; may be empty.
    pub about: String,
    /// True if its value is a secret.
    pub is_secret: bool,
}

/// The origin of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferOrigin {
    /// A package of npm.
    Npm,
    /// A package of the Python Package Index.
    PyPi,
    /// A package of `NuGet`.
    NuGet,
    /// A container image.
    Oci,
    /// An MCPB bundle.
    Mcpb,
    /// A server on the network.
    Remote,
}

impl OfferOrigin {
    /// The words for origins, as documents and the command line write them.
    pub const WORDS: [(&'static str, Self); 6] = [
        ("npm", Self::Npm),
        ("pypi", Self::PyPi),
        ("nuget", Self::NuGet),
        ("oci", Self::Oci),
        ("mcpb", Self::Mcpb),
        ("remote", Self::Remote),
    ];

    /// The origin with this word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, origin)| *origin)
    }

    /// The word for this origin.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, origin)| *origin == self).map_or("", |(word, _)| word)
    }
}

/// A file that must be downloaded before the entry can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    /// The address of the file.
    pub url: String,
    /// The checksum that it must have: 64 hexadecimal digits.
    pub sha256: String,
}

/// One way to run or reach a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// The origin of the server.
    pub origin: OfferOrigin,
    /// The package with its version, or the URL.
    pub shown: String,
    /// The server's mapping in a configuration. For a bundle, the caller adds the path of the downloaded file.
    pub entry: Value,
    /// The variables that the user must set.
    pub variables: Vec<Variable>,
    /// The names of the optional environment variables or headers, for which the document gives no value.
    pub optional: Vec<String>,
    /// The file to download, if the offer is a bundle.
    pub download: Option<Download>,
}
