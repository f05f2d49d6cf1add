//! The configuration keys of a server with `native`.

use indexmap::IndexMap;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::server::Native;
use super::site::Site;
use crate::reading::reader::{Fields, Reader};
use crate::reading::rows::section;
use crate::reading::section::{self, Section};
use crate::reading::spellings::{
    CheckedText, Flag, MergedSection, Optional, ReplacedSection, SchemaOnly, Spelling, Word, one_or_many,
    shown_mapping,
};
use crate::servers::route::{ClientTls, ProxyRule, ProxySpelling};
use crate::syntax::parse::{Entry, Node};
use crate::values::check::site_url;
use crate::values::text::Text;
use crate::values::wording::clip;
use crate::values::words::words;

section! {
    /// A server that is embedded in Dragoman.
    pub struct NativeLink: "a mapping with `native`" {
        fn adapt(schema: &mut Schema, _: &mut SchemaGenerator) {
            schema.remove("additionalProperties");
        }

        fn show_rest(&self, shown: &mut Map<String, Value>) {
            if let Some(phases) = &self.phases {
                shown.insert("phases".to_owned(), json!(phases));
            }
        }
    } [
        /// The embedded server: `demo`, `plain`, `wordpress`, `buddyboss`, `buddypress`, `woocommerce`, `heritage`.
        "native" native: Native = Word, default Native::Demo, needed "native: demo", see "[tools.md](tools.md)";
        /// The site of `wordpress`, `buddyboss`, `buddypress` and `woocommerce`.
        "site" site: Option<Site> = Optional(MergedSection), see "[below](#the-site-of-an-embedded-server)";
        /// The enabled groups of tools. `core` is always enabled; without this key, `native: buddyboss` also enables its
        /// group
        /// `buddyboss`. `wordpress`, `buddyboss` and `buddypress` have the group `discover`; `wordpress` and `buddyboss`
        /// have `extended`;
        /// `buddyboss` has `advanced`; `woocommerce` has `write`, with all tools that change the shop.
        "phases" phases: Option<Vec<String>> = SchemaOnly(phases_schema), see "[tools.md](tools.md)";
        /// Shows the personal data of a shop's customers, such as names and addresses.
        "personalData" personal_data: bool = Flag, see "[tools.md](tools.md#woocommerce)";
        /// Other addresses for the services that `heritage` queries: `wikipedia`, `snl`, `riksantikvaren`, `arcgis`.
        "sources" sources: IndexMap<Source, Text> = SourceAddresses;
        /// The handling of arguments that a tool does not have: `reject` refuses the call and suggests the nearest name;
        /// `ignore` ignores the argument, as the presets do. `demo` always refuses calls with unknown arguments.
        "unknownArguments" unknown_arguments: UnknownArguments = Word;
        /// The proxy for requests to the site or the services: `http://proxy.example.com:3128`, with a user name and a
        /// password if the proxy needs them; `none`, for no proxy; or `environment`, for the proxy that the environment
        /// names.
        "proxy" proxy: ProxyRule = ProxySpelling, absent "the proxy that the environment names", see "[upstreams.md](upstreams.md#proxies)";
        /// The files for TLS connections to the site or the services: `ca`, `cert`, `key`.
        "tls" tls: Option<ClientTls> = Optional(ReplacedSection), absent "the system's certificate authorities, no client certificate",
            see "[upstreams.md](upstreams.md#certificates)";
    ]
}

words! {
    /// The handling of arguments that a tool does not have.
    #[derive(Default)]
    pub enum UnknownArguments {
        /// The call is rejected.
        #[default]
        Reject = "reject",
        /// The arguments are ignored.
        Ignore = "ignore",
    }
}

words! {
    /// A service that `heritage` queries.
    pub enum Source {
        /// Wikipedia.
        Wikipedia = "wikipedia",
        /// Store norske leksikon.
        Snl = "snl",
        /// Riksantikvaren's open data.
        Riksantikvaren = "riksantikvaren",
        /// Riksantikvaren's map server.
        ArcGis = "arcgis",
    }
}

/// Addresses by service, merged into the existing mapping.
struct SourceAddresses;

impl Spelling<IndexMap<Source, Text>> for SourceAddresses {
    fn read(
        &self,
        reader: &mut Reader<'_>,
        entry: &Entry,
        old: Option<&IndexMap<Source, Text>>,
    ) -> Option<IndexMap<Source, Text>> {
        let mut sources = old.cloned().unwrap_or_default();
        for entry in reader.fields(&entry.value, "a mapping of addresses by service")?.rest() {
            reader.within(&entry.key, |reader| {
                let message = format!("there is no service `{}`", clip(&entry.key));
                let source = reader.key_word(entry, message)?;
                sources.insert(source, CheckedText("a URL", site_url).read(reader, entry, None)?)
            });
        }
        Some(sources)
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = Source::ALL.iter().map(|(name, _)| *name).collect();
        json_schema!({
            "type": "object", "propertyNames": { "enum": names }, "additionalProperties": { "type": "string" },
        })
    }

    fn shown(&self, sources: &IndexMap<Source, Text>) -> Value {
        shown_mapping(sources, |source| source.name().to_owned(), |url| json!(url.shown()))
    }
}

fn phases_schema(_: &mut SchemaGenerator) -> Schema {
    let phases = [Native::BuddyBoss.phases(), &["write"]].concat();
    one_or_many(&json_schema!({ "enum": phases }))
}

/// Reads the link of an embedded server. `chosen` is the key `native`; without it, the server comes from the base.
/// Missing keys keep their values from the base if the base has the same embedded server. `entry` is the server's
/// whole entry.
pub(crate) fn read_link(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    chosen: Option<&Entry>,
    entry: &Entry,
    base: Option<&NativeLink>,
) -> Option<NativeLink> {
    let native = match chosen {
        None => base.map(|base| base.native),
        Some(chosen) => reader.within("native", |reader| reader.word(&chosen.value, Native::ALL)),
    };
    let Some(native) = native else {
        fields.drop_all(&section::keys::<NativeLink>());
        return None;
    };
    for row in NativeLink::ROWS.iter().filter(|row| !native.takes(row.key)) {
        let Some(entry) = fields.take(row.key) else { continue };
        let message = format!("`{}` cannot be combined with `native: {}`", row.key, native.name());
        reader.within(row.key, |r| r.fault(&entry.key_at, message, "remove it; it has no effect there"));
    }
    let base = base.filter(|base| base.native == native).cloned();
    let mut link = base.unwrap_or_else(|| NativeLink { native, ..NativeLink::default() });
    if native.needs_site() && link.site.is_none() && !fields.has("site") {
        let help = "add it: site: { url: \"${WORDPRESS_URL}\", username: \"${WORDPRESS_USERNAME}\", \
                    password: \"${WORDPRESS_APP_PASSWORD}\" }";
        let at = chosen.map_or(&entry.key_at, |chosen| &chosen.value.at);
        reader.fault(at, format!("`{}` needs a site, but none is configured", native.name()), help);
    }
    if let Some(entry) = fields.take("phases") {
        link.phases = reader.within("phases", |reader| read_phases(reader, &entry.value, native.phases()));
    }
    section::take(reader, fields, entry, &mut link);
    Some(link)
}

fn read_phases(reader: &mut Reader<'_>, node: &std::rc::Rc<Node>, known: &[&str]) -> Option<Vec<String>> {
    let words: Vec<(&str, &str)> = known.iter().map(|name| (*name, *name)).collect();
    let items = reader.items(node, "a list of groups of tools", true)?;
    Some(items.into_iter().filter_map(|item| reader.word(item, &words)).map(str::to_owned).collect())
}
