//! An embedded server as it is configured.

use std::time::Duration;

use indexmap::IndexMap;
use schemars::JsonSchema;

use crate::config::text::Text;
use crate::config::written;

/// Tools that live in Dragoman itself.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
pub struct NativeLink {
    /// Which of the embedded servers.
    pub native: Native,
    /// The site that the tools of `wordpress`, `buddyboss` and `buddypress` work on.
    #[schemars(with = "Option<Site>")]
    pub site: Option<Site>,
    /// The groups of tools that are on. `core` always is, and alone unless more are named; without this `buddyboss` has
    /// `buddyboss`, too. All sites have `discover`; `wordpress` and `buddyboss` have `extended`; `buddyboss` has `advanced`.
    #[schemars(with = "Option<written::OneOrMany<written::Phase>>")]
    pub phases: Option<Vec<String>>,
    /// Other addresses for the services that `heritage` asks.
    #[schemars(with = "Option<written::Sources>")]
    pub sources: IndexMap<Source, Text>,
    /// What happens to a call with an argument that the tool does not have: it is rejected with the nearest name that there
    /// is, or the argument is ignored, as the systems do that the presets are for. `demo` always rejects it.
    #[schemars(rename = "unknownArguments", with = "Option<UnknownArguments>", extend("default" = "reject"))]
    pub unknown_arguments: UnknownArguments,
}

/// What happens to arguments that a tool does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub enum UnknownArguments {
    /// The call is rejected.
    #[default]
    Reject,
    /// The arguments are ignored.
    Ignore,
}

impl UnknownArguments {
    /// The choices with the names that a configuration calls them by.
    pub const ALL: &[(&str, Self)] = &[("reject", Self::Reject), ("ignore", Self::Ignore)];
}

/// The servers that are embedded in Dragoman.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum Native {
    /// A few harmless tools, a resource and a prompt to try things out with.
    Demo,
    /// Plain tools: greetings, sums, texts, calculations.
    Plain,
    /// The tools of a WordPress site.
    #[schemars(rename = "wordpress")]
    WordPress,
    /// The tools of a site with BuddyBoss Platform.
    #[schemars(rename = "buddyboss")]
    BuddyBoss,
    /// The tools of a site with BuddyPress.
    #[schemars(rename = "buddypress")]
    BuddyPress,
    /// Norwegian cultural heritage: Wikipedia, Store norske leksikon, Riksantikvaren and its maps.
    Heritage,
}

impl Native {
    /// The embedded servers with the names that a configuration calls them by.
    pub const ALL: &[(&str, Self)] = &[
        ("demo", Self::Demo),
        ("plain", Self::Plain),
        ("wordpress", Self::WordPress),
        ("buddyboss", Self::BuddyBoss),
        ("buddypress", Self::BuddyPress),
        ("heritage", Self::Heritage),
    ];

    /// The name that a configuration calls it by.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, native)| *native == self).map_or("", |(name, _)| name)
    }

    /// Do its tools work on a site?
    pub fn needs_site(self) -> bool {
        matches!(self, Self::WordPress | Self::BuddyBoss | Self::BuddyPress)
    }

    /// The names of its groups of tools that can be on or off.
    pub fn phases(self) -> &'static [&'static str] {
        match self {
            Self::WordPress => &["core", "extended", "discover"],
            Self::BuddyBoss => &["core", "buddyboss", "advanced", "extended", "discover"],
            Self::BuddyPress => &["core", "discover"],
            Self::Demo | Self::Plain | Self::Heritage => &[],
        }
    }

    /// Returns true for servers that can be told to ignore arguments which their tools do not have.
    pub fn can_ignore_arguments(self) -> bool {
        self != Self::Demo
    }

    /// Does it ask sources?
    pub fn has_sources(self) -> bool {
        self == Self::Heritage
    }
}

/// A site that tools work on, and as whom.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that the configuration names")]
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Site {
    /// The site's address: `https://example.com`. It may be empty where a request may choose the site.
    #[schemars(with = "Option<String>")]
    pub url: Option<Text>,
    /// The user as whom the tools work when a request brings nobody.
    #[schemars(with = "Option<String>")]
    pub username: Option<Text>,
    /// That user's application password.
    #[schemars(with = "Option<String>")]
    pub password: Option<Text>,
    /// A request may choose site and user by `x-wordpress-url`, `x-wordpress-username` and `x-wordpress-password`.
    #[schemars(with = "Option<written::Flag>", extend("default" = false))]
    pub headers: bool,
    /// The caller's own name and password (HTTP's Basic scheme) go on to the site.
    #[schemars(with = "Option<written::Flag>", extend("default" = false))]
    pub basic: bool,
    /// A file that a call names by its URL may come from an address that is not public.
    #[schemars(with = "Option<written::Flag>", extend("default" = false))]
    pub private_files: bool,
    /// A site that a request names may have an address that is not public. `url` may anyway.
    #[schemars(with = "Option<written::Flag>", extend("default" = false))]
    pub private_sites: bool,
    /// The number of requests that may be at one site at the same time, from 1 to 1000; others wait.
    #[schemars(with = "Option<written::Count>", extend("default" = Site::AT_ONCE, "maximum" = 1000))]
    pub at_once: u32,
    /// The rate of requests to one site, as `600/1m`; unlimited when left out.
    #[schemars(with = "Option<written::Rate>")]
    pub rate: Option<SiteRate>,
    /// How answers are shown: the members that matter, with totals (`compact`); as the site gave them (`raw`); or with the
    /// members that matter and nothing beside them (`plain`), as the systems show them that the presets are for.
    #[schemars(with = "Option<Answers>", extend("default" = "compact"))]
    pub answers: Answers,
    /// Changes of content are saved even if blocks or shortcodes of the current content become plain HTML.
    #[schemars(with = "Option<written::Flag>", extend("default" = false))]
    pub allow_markup_loss: bool,
    /// Only tools that read are there.
    #[schemars(with = "Option<written::Flag>", extend("default" = false))]
    pub read_only: bool,
    /// The key for the host of images (`upload_to_imgbb`) when a request brings none.
    #[schemars(with = "Option<String>")]
    pub image_key: Option<Text>,
    /// Where that host's API is, up to its version; imgbb's own when left out.
    #[schemars(with = "Option<String>", extend("default" = Site::IMAGE_HOST))]
    pub image_host: Option<Text>,
    /// What the tool `site_request` of the group `discover` may ask.
    #[schemars(with = "Option<Requests>")]
    pub requests: Requests,
}

impl Site {
    /// The number of requests that may be at one site at the same time when nobody says otherwise.
    pub const AT_ONCE: u32 = 20;
    /// Where images are put when nobody says otherwise.
    pub const IMAGE_HOST: &str = "https://api.imgbb.com/1";
}

/// So many requests in so much time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SiteRate {
    /// How many.
    pub count: u32,
    /// In which time.
    pub period: Duration,
}

/// How the answers of a site are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub enum Answers {
    /// The members that matter, with totals.
    #[default]
    Compact,
    /// As the site gave them.
    Raw,
    /// The members that matter, and nothing beside them.
    Plain,
}

impl Answers {
    /// The ways with the names that a configuration calls them by.
    pub const ALL: &[(&str, Self)] =
        &[("compact", Self::Compact), ("raw", Self::Raw), ("plain", Self::Plain)];
}

/// What may be asked of a site beside what tools are made for.
#[derive(Debug, Clone, PartialEq, Default, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Requests {
    /// Routes of the site's REST API, with `*` for anything: `/wc/v3/*`. All when left out.
    #[schemars(with = "Option<written::OneOrMany<String>>")]
    pub allow: Vec<String>,
    /// Requests that change something are sent, too.
    #[schemars(with = "Option<written::Flag>", extend("default" = false))]
    pub write: bool,
}

/// A service that `heritage` asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// Wikipedia.
    Wikipedia,
    /// Store norske leksikon.
    Snl,
    /// Riksantikvaren's open data.
    Riksantikvaren,
    /// Riksantikvaren's map server.
    ArcGis,
}

impl Source {
    /// The services with the names that a configuration calls them by.
    pub const ALL: &[(&str, Self)] = &[
        ("wikipedia", Self::Wikipedia),
        ("snl", Self::Snl),
        ("riksantikvaren", Self::Riksantikvaren),
        ("arcgis", Self::ArcGis),
    ];
}
