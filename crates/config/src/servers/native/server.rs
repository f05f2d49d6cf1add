//! The servers that are embedded in Dragoman, and the keys that each accepts.

use crate::values::words::words;

words! {
    /// The servers that are embedded in Dragoman.
    pub enum Native {
        /// A few harmless tools, a resource and a prompt, for trying Dragoman out.
        Demo = "demo",
        /// Plain tools: greetings, sums, texts, calculations.
        Plain = "plain",
        /// The tools of a WordPress site.
        WordPress = "wordpress",
        /// The tools of a site with BuddyBoss Platform.
        BuddyBoss = "buddyboss",
        /// The tools of a site with BuddyPress.
        BuddyPress = "buddypress",
        /// The tools of a shop with `WooCommerce`.
        WooCommerce = "woocommerce",
        /// Norwegian cultural heritage: Wikipedia, Store norske leksikon, Riksantikvaren and its maps.
        Heritage = "heritage",
    }
}

impl Native {
    /// Returns true if the server's tools require a site.
    pub fn needs_site(self) -> bool {
        matches!(self, Self::WordPress | Self::BuddyBoss | Self::BuddyPress | Self::WooCommerce)
    }

    /// The names of the server's groups of tools that can be enabled.
    pub fn phases(self) -> &'static [&'static str] {
        match self {
            Self::WordPress => &["core", "extended", "discover"],
            Self::BuddyBoss => &["core", "buddyboss", "advanced", "extended", "discover"],
            Self::BuddyPress => &["core", "discover"],
            Self::WooCommerce => &["core", "write"],
            Self::Demo | Self::Plain | Self::Heritage => &[],
        }
    }

    /// Returns true if the server accepts this key.
    pub(super) fn takes(self, key: &str) -> bool {
        match key {
            "site" => self.needs_site(),
            "phases" => !self.phases().is_empty(),
            "personalData" => self == Self::WooCommerce,
            "sources" => self == Self::Heritage,
            "unknownArguments" => self != Self::Demo,
            "proxy" | "tls" => self.needs_site() || self == Self::Heritage,
            _ => true,
        }
    }
}
