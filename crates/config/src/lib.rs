//! The configuration: turns the text of a file into checked values, or into a list of all its faults.
//!
//! Pure: the caller supplies files, environment and clock; `${…}` is filled in through [`Lookup`].
//!
//! | folder | is for |
//! |---|---|
//! | `values` | single values: checks, patterns, sizes, words |
//! | `syntax` | the text of a file: its tree, its secret parts, `${…}`, faults |
//! | `reading` | the mechanism by which keys are read: sections, rows, spellings |
//! | `callers` | settings about callers: authentication, access rules, rate limits |
//! | `servers` | settings of servers |
//! | `profiles` | settings of profiles |
//! | `dialects` | dialects, built in and custom |
//! | `serving` | settings for the client side: addresses, endpoints, limits |
//! | `operation` | settings for operators: pages, changes, records, metrics |
//! | `file_edit` | changes to a file's text that keep every other byte |
//! | `document` | the whole configuration: loaded, checked, shown, described |
//! | [`forward_proxy`] | the proxies through which the gateway sends its own requests |
//!
//! A text is processed in this order: `syntax::parse` builds a tree of nodes with positions, `syntax::mask` finds the parts that must
//! not be quoted, and `document::top_level` reads the tree through `reading::reader`, which fills in `${…}` by `syntax::substitute` and
//! collects faults. If there are no faults, `document::advice` adds notes on settings that are probably not intended. The result is
//! `document::model`.
//!
//! Each section is a table of keys, declared with the macro in `reading::rows`, which uses the mechanism in `reading::section`. A row is
//! a key with its field, spelling, default and meaning. The struct, the reader, the schema and the documentation are generated from the
//! row. The spellings of values are in `reading::spellings`, their checks in `values::check`.

mod callers;
mod dialects;
mod document;
mod file_edit;
pub mod forward_proxy;
mod operation;
mod profiles;
mod reading;
mod servers;
mod serving;
mod syntax;
mod values;

pub use callers::access::{
    AccessRule, AnnotationHint, CallerSelection, Effect, RuleConditions, Scheme, ValuePath,
};
pub use callers::auth::{Algorithm, Auth, Bearer, Jwt, Login, OAuth, SiteCheck};
pub use callers::rates::{RateLimit, RateMethods, RatePer, RequestRate, WithoutStore};
pub use callers::trusted_proxies::{MAX_HOPS, TrustedProxies};
pub use dialects::dialect_rows;
pub use document::effective::{Effective, yaml_of};
pub use document::load::{Loaded, load, load_knowing, load_over};
pub use document::model::{Config, DEFAULT_LISTEN};
pub use document::names::{EmbeddedItems, Offers};
pub use document::schema::schema_json;
pub use document::tables::key_tables;
pub use file_edit::{
    ChangedLine, EditFault, Removal, add_server, add_to_profile, changed_lines, masked, put_member,
    read_value, remove_member, remove_server,
};
pub use operation::admin::Admin;
pub use operation::audit::Audit;
pub use operation::cluster::{Cluster, StoreUrl, StoreUrlFault};
pub use operation::log_format::LogFormat;
pub use operation::management::Management;
pub use operation::metrics::Metrics;
pub use operation::readiness::Readiness;
pub use profiles::name_rules::{ListedNames, NameRules, SchemaForm, ToolMode, ToolRules};
pub use profiles::overrides::{ArgumentOverride, PromptOverride, ToolCache, ToolOverride};
pub use profiles::profile::{DEFAULT_PROFILE, Naming, Profile, UriRules};
pub use profiles::server_info::{Icon, IconTheme, ServerInfo};
pub use profiles::tool_settings::{ArgumentSetting, ToolSetting, ToolSettings};
pub use reading::section::KeyRow;
pub use servers::consent::{OAuthClient, OAuthGrant};
pub use servers::links::{HttpLink, HttpTransport, StdioLink};
pub use servers::native::{Answers, Native, NativeLink, Requests, Site, Source, UnknownArguments};
pub use servers::pass_headers::PassedHeader;
pub use servers::route::{ClientTls, ProxyRule};
pub use servers::server::{Affinity, DefinitionPolicy, Link, QuestionPolicy, ResendRule, Server};
pub use servers::server_tools::ServerTools;
pub use servers::tool_calls::ToolCalls;
pub use serving::endpoints::{Endpoint, EndpointAuth, EndpointTransport};
pub use serving::limits::Limits;
pub use serving::tls::Tls;
pub use syntax::fault::{Fault, Faults, MAX_REPORTED, Severity};
pub use syntax::mask::{SecretOption, is_literal_secret, marks_secret};
pub use syntax::parse::MAX_FILE_BYTES;
pub use syntax::substitute::{Lookup, MAX_FILLED_BYTES};
pub use values::check::{
    MAX_PUBLIC_NAME, MAX_SERVER_NAME, MAX_SLUG, allowed_server_name, is_protocol_header,
};
pub use values::glob::{Glob, MAX_GLOB_BYTES};
pub use values::ip::{IpRange, address_block};
pub use values::nearest;
pub use values::text::Text;
