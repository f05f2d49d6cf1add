//! An endpoint as the rest of Dragoman sees it: a further path at which a profile is served. It must not know how it is read.

use schemars::JsonSchema;

/// A further path at which a profile is served.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Endpoint {
    /// An absolute path without a query: `/tools/mcp`. With `dialect` it may also be one of Dragoman's own: `/mcp`,
    /// `/mcp/{profile}`, `/sse`.
    pub path: String,
    /// The profile to serve there.
    #[schemars(with = "Option<String>", extend("default" = "default"))]
    pub profile: String,
    /// How it behaves there; as the profile does when left out.
    #[schemars(with = "Option<String>")]
    pub dialect: Option<String>,
    /// What is spoken there; when left out whatever the dialect has.
    pub transport: Option<EndpointTransport>,
    /// Where clients of an event stream send their messages: when left out `/message` for `/sse`; the dialect's `messagePath`
    /// beneath the path, where it has streams beside; else the path itself.
    #[schemars(with = "Option<String>")]
    pub message: Option<String>,
    /// True if callers have to show who they are there.
    #[schemars(with = "Option<EndpointAuth>", extend("default" = "inherit"))]
    pub auth: EndpointAuth,
}

/// What is spoken at an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum EndpointTransport {
    /// Streamable HTTP, or what the dialect answers to messages by POST.
    Http,
    /// HTTP+SSE of 2024: an event stream by GET, messages by POST.
    Sse,
    /// Both at one path.
    Both,
}

impl EndpointTransport {
    /// The words of a configuration.
    pub const ALL: &[(&str, Self)] = &[("http", Self::Http), ("sse", Self::Sse), ("both", Self::Both)];
}

/// Says whether callers have to show who they are at an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum EndpointAuth {
    /// As `auth` says.
    #[default]
    Inherit,
    /// Nobody is asked.
    None,
}

impl EndpointAuth {
    /// The words of a configuration.
    pub const ALL: &[(&str, Self)] = &[("inherit", Self::Inherit), ("none", Self::None)];
}
