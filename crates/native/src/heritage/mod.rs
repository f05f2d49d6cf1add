//! Encyclopaedias and registers of cultural heritage in Norway: Wikipedia, Store norske leksikon, Riksantikvaren's open data
//! and its map server. Answers are Markdown.
//!
//! | file | is for |
//! |---|---|
//! | `rows` | the tools |
//! | `made` | values computed for requests: boxes, points, filters |
//! | `sources` | the addresses of the services, and the form of their errors |
//! | `articles` | articles as text |
//! | `features` | places as text |

mod articles;
mod features;
mod made;
mod rows;
mod sources;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Map;

use crate::port::HttpClient;
use crate::rest::{AnswerStyle, Cache, RequestLimits, RestEnvironment};
use crate::tools::{Channel, Family, Policy, ToolServer};
use crate::unknown::UnknownArguments;
use sources::Sources;

const FAMILY: Family = Family {
    name: "dragoman-heritage",
    title: "Norwegian cultural heritage",
    titles: &[],
    instructions: "Finds encyclopedia articles (Wikipedia, Store norske leksikon) and registered cultural heritage in Norway \
                   (Riksantikvaren). Coordinates are WGS 84 in decimal degrees. Cite the source of every result that you use.",
    policy: Policy::Filled,
    failed: "Error: ",
    unfit: "Error: ",
};

/// Addresses of the services, and settings of requests to them. `None` means the service's public address.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Wikipedia's URL; `{language}` in it is replaced by the requested language.
    pub wikipedia: Option<String>,
    /// The URL of Store norske leksikon.
    pub snl: Option<String>,
    /// The URL of Riksantikvaren's OGC API.
    pub riksantikvaren: Option<String>,
    /// The URL of Riksantikvaren's map server, up to `/arcgis`.
    pub arcgis: Option<String>,
    /// The handling of arguments that a tool does not have.
    pub unknown_arguments: UnknownArguments,
    /// Disables the cache for lists of datasets and services, which seldom change, and for single places.
    pub no_cache: bool,
    /// The deadline of one request, including all its attempts; 30 seconds if `None`.
    pub patience: Option<Duration>,
}

/// The largest number of cached answers, and their largest total size in bytes.
const KEPT: (usize, usize) = (256, 8 << 20);

/// Creates the server with the heritage tools.
///
/// # Errors
/// Fails with a message if a URL in the settings is invalid.
pub fn server(settings: &Settings, http: Arc<dyn HttpClient>) -> Result<ToolServer, String> {
    let limits = RequestLimits {
        attempts: 3,
        patience: settings.patience.unwrap_or(RequestLimits::default().patience),
        ..RequestLimits::default()
    };
    let environment = RestEnvironment {
        http,
        places: Box::new(Sources::new(settings)?),
        limits,
        cache: (!settings.no_cache).then(|| Cache::new(KEPT.0, KEPT.1)),
        answers: AnswerStyle::Plain,
    };
    Ok(ToolServer::new(
        &FAMILY,
        (Channel::Results, settings.unknown_arguments),
        rows::all(),
        Map::new(),
        Some(environment),
    ))
}
