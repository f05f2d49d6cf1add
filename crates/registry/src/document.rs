//! The document of a server in a registry. Members that Dragoman does not know are ignored. This module must not know how a server is run.

use serde_json::Value;

use super::offer::{Offer, OfferOrigin};
use super::server_name::ServerName;
use super::{package, remote};

/// The largest document that is read, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 1 << 20;

/// The member that contains the registry's own facts about a server.
const OFFICIAL: &str = "io.modelcontextprotocol.registry/official";

/// A document, or a part of it, that cannot be used.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum DocumentError {
    /// The answer is not the document of a server.
    #[error("the response is not a server document: {0}")]
    NoDocument(String),
    /// The document is about another server.
    #[error("the registry returned the document of another server, {0:?}")]
    OtherServer(String),
    /// An offer cannot be used; the text gives the reason.
    #[error("{0}")]
    Refused(String),
}

/// A server in a registry.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerDocument {
    /// The name with its namespace.
    pub name: String,
    /// The version.
    pub version: String,
    /// A sentence about the server; may be empty.
    pub description: String,
    /// `active`, `deprecated` or `deleted`; empty if the registry gives no status.
    pub status: String,
    /// The ways to run or reach the server, in the document's order: packages, then addresses.
    pub offers: Vec<Offer>,
    /// The reasons why the document's other offers cannot be used.
    pub refused: Vec<DocumentError>,
}

impl ServerDocument {
    /// Reads the answer of a registry to the request for one version of a server.
    ///
    /// # Errors Returns an error if the text is not a document, or is the document of another server.
    pub fn parse(text: &[u8], asked: &ServerName) -> Result<Self, DocumentError> {
        let root: Value =
            serde_json::from_slice(text).map_err(|error| DocumentError::NoDocument(error.to_string()))?;
        let server = root.get("server").unwrap_or(&root);
        let text = |name: &str| server[name].as_str().unwrap_or_default().to_owned();
        let name = text("name");
        if name.is_empty() {
            return Err(DocumentError::NoDocument("it has no `name`".to_owned()));
        }
        if !name.eq_ignore_ascii_case(asked.name()) {
            return Err(DocumentError::OtherServer(name));
        }
        let list = |name: &str| server[name].as_array().cloned().unwrap_or_default();
        let packages = list("packages");
        let remotes = list("remotes");
        let short = asked.short();
        let (mut offers, mut refused) = (Vec::new(), Vec::new());
        let all =
            packages.iter().map(package::offer).chain(remotes.iter().map(|one| remote::offer(one, &short)));
        for offer in all {
            match offer {
                Ok(offer) => offers.push(offer),
                Err(why) => refused.push(why),
            }
        }
        let status = root["_meta"][OFFICIAL]["status"].as_str().or_else(|| server["status"].as_str());
        let status = status.unwrap_or_default().to_owned();
        Ok(Self { name, version: text("version"), description: text("description"), status, offers, refused })
    }

    /// The offer with this origin; if `origin` is `None`, the first package, or else the first address.
    pub fn offer(&self, origin: Option<OfferOrigin>) -> Option<&Offer> {
        match origin {
            Some(origin) => self.offers.iter().find(|offer| offer.origin == origin),
            None => self.offers.first(),
        }
    }
}
