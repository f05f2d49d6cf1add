//! `trustForwardedFor`: the proxies that are trusted to name the client. `engine::client_address` uses them.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::reading::reader::Reader;
use crate::reading::spellings::{Spelling, Values};
use crate::syntax::parse::{Entry, NodeKind};
use crate::values::ip::IpRange;

/// The maximum number of proxies in a row.
pub const MAX_HOPS: u8 = 32;

/// The maximum number of networks of proxies; there is a maximum because each entry in the header is compared with
/// all of them.
const MAX_NETWORKS: usize = 64;

/// The proxies that are trusted to name the client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TrustedProxies {
    /// None: the client is the peer of the connection.
    #[default]
    Nobody,
    /// This many proxies in a row are in front of the gateway, and each appends the address that connected to it.
    Hops(u8),
    /// Every proxy whose address is in one of these networks.
    Networks(Vec<IpRange>),
}

impl TrustedProxies {
    /// Returns true if no proxy is trusted.
    pub fn is_nobody(&self) -> bool {
        *self == Self::Nobody
    }

    /// Returns true if the peer of a connection is a trusted proxy. If only the number of proxies is configured, a
    /// proxy may have any address.
    pub fn contains(&self, peer: std::net::IpAddr) -> bool {
        match self {
            Self::Nobody => false,
            Self::Hops(hops) => *hops > 0,
            Self::Networks(networks) => networks.iter().any(|network| network.contains(peer.to_canonical())),
        }
    }
}

/// `true`, `false`, a number of proxies, or their networks.
pub(crate) struct Proxies;

impl Spelling<TrustedProxies> for Proxies {
    fn read(
        &self,
        reader: &mut Reader<'_>,
        entry: &Entry,
        _: Option<&TrustedProxies>,
    ) -> Option<TrustedProxies> {
        read(reader, entry)
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        let range = generator.subschema_for::<IpRange>();
        json_schema!({ "anyOf": [
            { "type": "boolean" },
            { "type": "integer", "minimum": 0, "maximum": MAX_HOPS },
            range,
            { "type": "array", "items": range, "minItems": 1, "maxItems": MAX_NETWORKS },
        ] })
    }

    fn written(&self, proxies: &TrustedProxies) -> Value {
        if proxies.is_nobody() { json!(false) } else { Value::Null }
    }

    fn shown(&self, proxies: &TrustedProxies) -> Value {
        match proxies {
            TrustedProxies::Nobody => Value::Null,
            TrustedProxies::Hops(number) => json!(number),
            TrustedProxies::Networks(networks) => networks.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Reads `true`, `false`, a number of proxies, or their networks.
fn read(reader: &mut Reader<'_>, entry: &Entry) -> Option<TrustedProxies> {
    let node = &entry.value;
    if matches!(node.kind, NodeKind::List(_)) {
        return networks(reader, entry);
    }
    let what = "true, false, the number of proxies, or a list of their networks";
    let text = reader.text(node, what)?;
    let hops = match text.expose().trim() {
        "true" | "True" | "TRUE" => Some(1),
        "false" | "False" | "FALSE" => Some(0),
        "" if text.hides() => Some(0),
        number if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            let hops = number.parse().ok().filter(|hops| *hops <= MAX_HOPS);
            if hops.is_none() {
                let help = format!("write a number from 0 to {MAX_HOPS}");
                reader.fault(&node.at, "too many proxies", help);
                return None;
            }
            hops
        }
        network => {
            if let Ok(range) = IpRange::parse(network) {
                return Some(TrustedProxies::Networks(vec![range]));
            }
            None
        }
    };
    let Some(hops) = hops else {
        reader.wrong_kind(node, what);
        return None;
    };
    Some(if hops == 0 { TrustedProxies::Nobody } else { TrustedProxies::Hops(hops) })
}

fn networks(reader: &mut Reader<'_>, entry: &Entry) -> Option<TrustedProxies> {
    let networks: Vec<IpRange> =
        Values { what: "a list of networks", item: Range, some: true }.read(reader, entry, None)?;
    if networks.len() > MAX_NETWORKS {
        let message = format!("this list has {} networks", networks.len());
        reader.fault(&entry.value.at, message, format!("write at most {MAX_NETWORKS}"));
        return None;
    }
    (!networks.is_empty()).then_some(TrustedProxies::Networks(networks))
}

/// A range of addresses.
pub(crate) struct Range;

impl Spelling<IpRange> for Range {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&IpRange>) -> Option<IpRange> {
        let text = reader.text(&entry.value, "a range such as 10.0.0.0/8")?;
        reader.sound_text(&entry.value.at, &text, IpRange::parse(text.expose()))
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<IpRange>()
    }

    fn shown(&self, range: &IpRange) -> Value {
        json!(range.to_string())
    }
}
