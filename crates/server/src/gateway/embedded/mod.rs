//! Servers that live in the binary, as the gateway hosts them: made from the configuration, lent a way to ask others, and
//! told what a client's request carries for the site behind them. It must not know their tools.

mod carried;
mod world;

pub(super) use carried::{is_wanted, mapped};
pub(super) use engine::credential::Carried;

use std::sync::Arc;

use engine::Snapshot;
use engine::config::{Native, NativeLink, Site, Source};
use native::community::buddyboss::{self, Phases};
use native::community::buddypress::{self, Version};
use native::{Demo, HttpClient, NativeServer, SiteLogin, SiteSettings, heritage, plain, wordpress};
use secrecy::SecretString;

/// The embedded server of a configured link.
///
/// # Errors
/// Which setting it cannot work with, in words.
pub(super) fn server(link: &NativeLink, snapshot: &Snapshot) -> Result<Arc<dyn NativeServer>, String> {
    let rules = site_rules(link.site.as_ref());
    let http = || -> Result<Arc<dyn HttpClient>, String> {
        Ok(Arc::new(world::World::new(&snapshot.limits, rules)?))
    };
    let site = || site_settings(link.site.as_ref());
    Ok(match link.native {
        Native::Demo => Arc::new(Demo),
        Native::Plain => Arc::new(plain::server(None)),
        Native::Heritage => Arc::new(heritage::server(&sources(link), http()?)?),
        Native::WordPress => Arc::new(wordpress::server(&site(), http()?)?),
        Native::BuddyBoss => Arc::new(buddyboss::server(&site(), phases(link), http()?)?),
        Native::BuddyPress => Arc::new(buddypress::server(&site(), Version::default(), http()?)?),
    })
}

fn phases(link: &NativeLink) -> Phases {
    let Some(named) = &link.phases else { return Phases::default() };
    let on = |name: &str| named.iter().any(|phase| phase == name);
    Phases { buddyboss: on("buddyboss"), advanced: on("advanced") }
}

fn site_rules(site: Option<&Site>) -> world::Rules {
    site.map_or_else(world::Rules::default, |site| world::Rules { at_once: site.at_once, rate: site.rate })
}

fn site_settings(site: Option<&Site>) -> SiteSettings {
    let login = site.and_then(|site| {
        let text = |text: &Option<engine::config::Text>| text.as_ref().map(|text| text.expose().to_owned());
        Some(SiteLogin {
            url: text(&site.url)?,
            username: text(&site.username).unwrap_or_default(),
            password: SecretString::from(text(&site.password).unwrap_or_default()),
        })
    });
    let private_files = site.is_some_and(|site| site.private_files);
    let private_sites = site.is_some_and(|site| site.private_sites);
    SiteSettings { login, private_files, private_sites, ..SiteSettings::default() }
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
