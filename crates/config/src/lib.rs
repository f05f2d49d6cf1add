//! The configuration: turns the text of a file into checked values, or into a list of all its faults.
//!
//! Pure: the caller supplies files, environment and clock; `${…}` is filled in through [`Lookup`].
//!
//! A text is processed in this order: `parse` builds a tree of nodes with positions, `mask` finds the parts that must not be
//! quoted, and `document` reads the tree through `read`, which fills in `${…}` by `substitute` and collects faults. If there are no
//! faults, `advice` adds notes on settings that are probably not intended. The result is the `model`.
//!
//! Each section is a table of keys, declared with the macro in `rows`, which uses the mechanism in `section`. A row is a key with
//! its field, spelling, default and meaning. The struct, the reader, the schema and the documentation are generated from the row.
//! The spellings of values are in `spellings`, their checks in `check`.

mod access;
mod admin;
mod advice;
mod audit;
mod auth;
mod check;
mod claims;
mod cluster;
mod columns;
mod consent;
pub mod dialect_rows;
mod dialects;
mod document;
mod effective;
mod endpoints;
mod fault;
mod file_edit;
pub mod forward_proxy;
mod glob;
mod ip;
mod known;
mod limits;
mod links;
mod listen;
mod load;
mod log_format;
mod management;
mod mask;
mod metrics;
mod model;
mod name_rules;
mod names;
mod native;
pub mod nearest;
mod overrides;
mod parse;
mod pass_headers;
mod profiles;
mod proxies;
mod rates;
mod read;
mod readiness;
mod route;
mod rows;
mod schema;
mod section;
mod server;
mod server_info;
mod server_tools;
mod servers;
mod settings;
mod source;
mod spellings;
mod substitute;
mod suggest;
mod tables;
mod text;
mod tls;
mod tool_calls;
mod units;
mod words;

pub use access::{AccessRule, AnnotationHint, Effect, Scheme, ValuePath, When, Who};
pub use admin::Admin;
pub use audit::Audit;
pub use auth::{Algorithm, Auth, Bearer, Jwt, Login, OAuth, SiteCheck};
pub use check::{MAX_PUBLIC_NAME, MAX_SERVER_NAME, MAX_SLUG, allowed_server_name, is_protocol_header};
pub use cluster::{Cluster, StoreUrl, StoreUrlFault};
pub use consent::{OAuthClient, OAuthGrant};
pub use effective::{Effective, yaml_of};
pub use endpoints::{Endpoint, EndpointAuth, EndpointTransport};
pub use fault::{Fault, Faults, MAX_REPORTED, Severity};
pub use file_edit::{
    ChangedLine, EditFault, Removal, add_server, add_to_profile, changed_lines, masked, put_member,
    read_value, remove_member, remove_server,
};
pub use glob::{Glob, MAX_GLOB_BYTES};
pub use ip::{IpRange, address_block};
pub use limits::Limits;
pub use links::{HttpLink, HttpTransport, StdioLink};
pub use load::{Loaded, load, load_knowing, load_over};
pub use log_format::LogFormat;
pub use management::Management;
pub use mask::{SecretOption, is_literal_secret, marks_secret};
pub use metrics::Metrics;
pub use model::{Config, DEFAULT_LISTEN};
pub use name_rules::{ListedNames, NameRules, SchemaForm, ToolMode, ToolRules};
pub use names::{Offered, Offers};
pub use native::{Answers, Native, NativeLink, Requests, Site, Source, UnknownArguments};
pub use overrides::{ArgumentOverride, PromptOverride, ToolCache, ToolOverride};
pub use parse::MAX_FILE_BYTES;
pub use pass_headers::PassedHeader;
pub use profiles::{DEFAULT_PROFILE, Naming, Profile, UriRules};
pub use proxies::{MAX_HOPS, TrustedProxies};
pub use rates::{RateLimit, RateMethods, RatePer, RequestRate};
pub use readiness::Readiness;
pub use route::{ClientTls, ProxyRule};
pub use schema::schema_json;
pub use section::KeyRow;
pub use server::{Affinity, DefinitionPolicy, Link, QuestionPolicy, ResendRule, Server};
pub use server_info::{Icon, IconTheme, ServerInfo};
pub use server_tools::ServerTools;
pub use settings::{ArgumentSetting, ToolSetting, ToolSettings};
pub use substitute::{Lookup, MAX_FILLED_BYTES};
pub use tables::key_tables;
pub use text::Text;
pub use tls::Tls;
pub use tool_calls::ToolCalls;
