//! Signing in: Dragoman as the authorization server of its own endpoints, whose users have an account at a WordPress site.

use std::time::Duration;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::reading::reader::Reader;
use crate::reading::rows::section;
use crate::reading::section::{self, Section};
use crate::reading::spellings::{Count, Flag, Parsed, Spelling, Time, Values, texts};
use crate::syntax::parse::{Entry, NodeKind};
use crate::values::check::{Flaw, is_readable_on_the_way, site_url, word};
use crate::values::text::Text;

/// The only kind of site at which people can sign in.
const WORDPRESS: &str = "wordpress";

section! {
    /// Lets people sign in with their account at a WordPress site.
    pub struct Login: "`wordpress`, or a mapping with `sites`, `capability`, …" {
        fn check(&mut self, reader: &mut Reader<'_>, entry: &Entry, sound: bool) {
            if sound && self.sites.iter().any(|site| is_readable_on_the_way(site)) {
                let help = "write https://, unless you trust the network between Dragoman and the site";
                let message = "passwords go to this site over http, where others can read them";
                reader.note(&entry.key_at, message, help);
            }
        }
    } [
        /// The sites at which people can sign in: `https://example.com`. If there is exactly one, Dragoman does not ask people
        /// for their site.
        "sites" sites: Vec<String> = texts(site), absent "the site that each person names";
        /// The capability that the account must have at the site.
        "capability" capability: String = Parsed("a capability's name", |name| word(name.expose())),
            default "read".to_owned();
        /// The time after which an unused sign-in ends, from `1h` to `365d`.
        "idle" idle: Duration = Time { least: Duration::from_hours(1), most: Duration::from_hours(365 * 24) },
            default Duration::from_hours(30 * 24);
        /// The time for which Dragoman reuses the site's answer that a password is still valid, at most `1h`.
        "cache" cache: Duration = Time { least: Duration::ZERO, most: Duration::from_hours(1) },
            default Duration::from_mins(1);
        /// The ports, besides 80 and 443, that a site named by a person may have. The address of a client's metadata
        /// document may have these ports, too, besides 443.
        "ports" ports: Vec<u32> = Values { what: "a list of ports", item: Count { most: 65_535 }, some: false },
            absent "80 and 443 only";
        /// Lets people name sites with private addresses, on any port, and without TLS. Use this only for development.
        "privateSites" private_sites: bool = Flag;
    ]
}

fn site(address: &Text) -> Result<String, Flaw> {
    site_url(address)?;
    Ok(address.expose().trim_end_matches('/').to_owned())
}

/// The word `wordpress`, or the section.
pub(super) struct OrWordPress;

impl Spelling<Option<Login>> for OrWordPress {
    fn read(
        &self,
        reader: &mut Reader<'_>,
        entry: &Entry,
        _: Option<&Option<Login>>,
    ) -> Option<Option<Login>> {
        let NodeKind::Scalar { .. } = &entry.value.kind else {
            return section::read(reader, entry, Login::default()).map(Some);
        };
        let text = reader.text(&entry.value, Login::WHAT)?;
        if text.expose() == WORDPRESS {
            return Some(Some(Login::default()));
        }
        let help = "write login: wordpress";
        reader.fault(&entry.value.at, "people can sign in only with an account at a WordPress site", help);
        None
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "const": WORDPRESS }, generator.subschema_for::<Login>()] })
    }

    fn shown(&self, login: &Option<Login>) -> Value {
        login.as_ref().map_or(Value::Null, |login| json!(section::shown(login)))
    }
}
