//! Servers that live in the binary, hosted by the gateway. They are created from the configuration. They get a port
//! for requests to other servers, and the credentials that a client's request contains for their site. This module
//! must not know their tools.

mod argument_interpreter;
mod carried;
mod clients;
mod offered;
mod passing;

#[cfg(test)]
mod passing_tests;
#[cfg(test)]
mod tests;

pub use argument_interpreter::ArgumentInterpreter;
pub use carried::{is_wanted, mapped};
pub use engine::credential::Carried;
pub use offered::offered;

use std::sync::Arc;

use config::{self, Native, NativeLink, Site, Source};
use engine::Snapshot;
use native::community::buddyboss::{self, Phases};
use native::community::buddypress::{self, Version};
use native::woocommerce::ShopSettings;
use native::wordpress::Sets;
use native::{
    AnswerStyle, Demo, HttpClient, NativeServer, Requests, SiteLogin, SiteSettings, UnknownArguments,
    heritage, plain, woocommerce, wordpress,
};
use secrecy::SecretString;

use crate::route::Routes;

/// Creates the embedded server of a configured link.
///
/// # Errors
/// Returns a message that names the invalid setting.
pub fn server(link: &NativeLink, snapshot: &Snapshot) -> Result<Arc<dyn NativeServer>, String> {
    let rules = site_rules(link.site.as_ref());
    let routes = Routes::of(&config::Link::Native(link.clone()))?;
    made(link, || Ok(Arc::new(clients::EmbeddedClients::new(&snapshot.limits, rules, routes.clone())?)))
}

/// Creates the server with the port to other servers that `http` returns.
fn made(
    link: &NativeLink,
    http: impl Fn() -> Result<Arc<dyn HttpClient>, String>,
) -> Result<Arc<dyn NativeServer>, String> {
    let unknown_arguments = match link.unknown_arguments {
        config::UnknownArguments::Reject => UnknownArguments::Reject,
        config::UnknownArguments::Ignore => UnknownArguments::Ignore,
    };
    let site = || SiteSettings { unknown_arguments, ..site_settings(link.site.as_ref()) };
    Ok(match link.native {
        Native::Demo => Arc::new(Demo),
        Native::Plain => Arc::new(plain::server(None, unknown_arguments)),
        Native::Heritage => {
            let settings = heritage::Settings { unknown_arguments, ..sources(link) };
            Arc::new(heritage::server(&settings, http()?)?)
        }
        Native::WordPress => Arc::new(wordpress::server(&site(), sets(link), http()?)?),
        Native::BuddyBoss => Arc::new(buddyboss::server(&site(), phases(link), http()?)?),
        Native::WooCommerce => {
            let shop = ShopSettings { write: is_on(link, "write"), personal_data: link.personal_data };
            Arc::new(woocommerce::server(&site(), shop, http()?)?)
        }
        Native::BuddyPress => {
            Arc::new(buddypress::server(&site(), Version::default(), is_on(link, "discover"), http()?)?)
        }
    })
}

fn phases(link: &NativeLink) -> Phases {
    if link.phases.is_none() {
        return Phases::default();
    }
    let on = |name| is_on(link, name);
    Phases {
        buddyboss: on("buddyboss"),
        advanced: on("advanced"),
        extended: on("extended"),
        discover: on("discover"),
    }
}

fn sets(link: &NativeLink) -> Sets {
    Sets { extended: is_on(link, "extended"), discover: is_on(link, "discover") }
}

fn is_on(link: &NativeLink, name: &str) -> bool {
    link.phases.iter().flatten().any(|phase| phase == name)
}

fn site_rules(site: Option<&Site>) -> clients::Rules {
    site.map_or_else(clients::Rules::default, |site| clients::Rules {
        at_once: site.at_once,
        rate: site.rate,
    })
}

fn site_settings(site: Option<&Site>) -> SiteSettings {
    let login = site.and_then(|site| {
        let text = |text: &Option<config::Text>| text.as_ref().map(|text| text.expose().to_owned());
        Some(SiteLogin {
            url: text(&site.url)?,
            username: text(&site.username).unwrap_or_default(),
            password: SecretString::from(text(&site.password).unwrap_or_default()),
            is_fixed: true,
        })
    });
    let Some(site) = site else { return SiteSettings::default() };
    let answers = match site.answers {
        config::Answers::Compact => AnswerStyle::Compact,
        config::Answers::Raw => AnswerStyle::Raw,
        config::Answers::Plain => AnswerStyle::Plain,
    };
    SiteSettings {
        login,
        brought: carried::brought(site),
        answers,
        private_files: site.private_files,
        private_sites: site.private_sites,
        ports: site.ports.iter().filter_map(|port| u16::try_from(*port).ok()).collect(),
        read_only: site.read_only,
        allow_markup_loss: site.allow_markup_loss,
        requests: Requests { allow: site.requests.allow.clone(), write: site.requests.write },
        image_key: site.image_key.as_ref().map(|key| SecretString::from(key.expose().to_owned())),
        image_host: site.image_host.as_ref().map(|host| host.expose().to_owned()),
        ..SiteSettings::default()
    }
}

fn sources(link: &NativeLink) -> heritage::Settings {
    let source = |source| link.sources.get(&source).map(|text| text.expose().to_owned());
    heritage::Settings {
        wikipedia: source(Source::Wikipedia),
        snl: source(Source::Snl),
        riksantikvaren: source(Source::Riksantikvaren),
        arcgis: source(Source::ArcGis),
        ..heritage::Settings::default()
    }
}
