//! The configuration: from the text of a file to checked values, or to everything that is wrong with it at once.
//!
//! Pure: files, environment and clock are the caller's; `${…}` is filled in through [`Lookup`].
//!
//! The way of a text: `parse` makes a tree of nodes with places, `mask` finds what must not be quoted, `document`,
//! `servers` (with `links`) and `profiles` read the tree through `read` (which fills in `${…}` by `substitute` and gathers faults) and
//! judge values by `check`; where nothing is wrong `advice` notes what cannot be meant. What comes out is the `model`. A new key is a field in `model`, a line where it is read and,
//! for its meaning, a function in `check`.

mod access;
mod advice;
mod audit;
mod auth;
mod check;
mod claims;
mod columns;
mod consent;
mod dialects;
mod document;
mod endpoint;
mod endpoints;
mod fault;
mod glob;
mod ip;
mod limits;
mod links;
mod load;
mod management;
mod mask;
mod model;
mod names;
mod native;
mod parse;
mod pieces;
mod profiles;
mod proxies;
mod rates;
mod read;
mod schema;
mod server_tools;
mod servers;
mod settings;
mod source;
mod substitute;
mod suggest;
mod text;
mod tls;
mod units;
mod written;

pub use access::{AccessRule, AnnotationHint, Effect, ValuePath, When, Who};
pub use audit::Audit;
pub use auth::{Algorithm, Auth, Bearer, FailureLimit, Jwt, OAuth, SiteCheck};
pub use check::{MAX_PUBLIC_NAME, MAX_SERVER_NAME, MAX_SLUG};
pub use consent::OAuthClient;
pub use fault::{Fault, Faults, MAX_REPORTED, Severity};
pub use glob::{Glob, MAX_GLOB_BYTES};
pub use ip::{IpRange, address_block};
pub use limits::{LimitRow, Limits, Unit};
pub use load::{Loaded, load, load_knowing, load_over};
pub use management::Management;
pub use model::{
    Affinity, Config, DEFAULT_LISTEN, DEFAULT_PROFILE, Endpoint, EndpointAuth, EndpointTransport, HttpLink,
    HttpTransport, Link, NameRules, Naming, Profile, Server, StdioLink, UriRules,
};
pub use names::{Offered, Offers};
pub use native::{Answers, Native, NativeLink, Requests, Site, SiteRate, Source, UnknownArguments};
pub use parse::MAX_FILE_BYTES;
pub use proxies::{MAX_HOPS, TrustedProxies};
pub use rates::{RateLimit, RateMethods, RatePer};
pub use schema::schema_json;
pub use server_tools::ServerTools;
pub use settings::{ToolSetting, ToolSettings};
pub use substitute::{Lookup, MAX_FILLED_BYTES};
pub use text::Text;
pub use tls::Tls;
