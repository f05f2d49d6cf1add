//! `trustForwardedFor`: which proxies are trusted to name the client. What is done with it is in `crate::client_address`.

use std::borrow::Cow;
use std::rc::Rc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::ip::IpRange;
use super::parse::{Kind, Node};
use super::pieces;
use super::read::{CHANGE_FILLED, Reader};

/// The most proxies in a row.
pub const MAX_HOPS: u8 = 32;

/// The most networks of proxies: each entry of the header is compared with all of them.
const MAX_NETWORKS: usize = 64;

/// The proxies that are trusted to name the client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TrustedProxies {
    /// None: the client is whoever connects.
    #[default]
    Nobody,
    /// So many proxies in a row stand in front of the gateway, and each appends the address that connected to it.
    Hops(u8),
    /// Every proxy whose address is in one of these networks.
    Networks(Vec<IpRange>),
}

impl TrustedProxies {
    /// Returns true if no proxy is trusted.
    pub fn is_nobody(&self) -> bool {
        *self == Self::Nobody
    }
}

impl JsonSchema for TrustedProxies {
    fn schema_name() -> Cow<'static, str> {
        "TrustedProxies".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let range = generator.subschema_for::<IpRange>();
        json_schema!({ "anyOf": [
            { "type": "boolean" },
            { "type": "integer", "minimum": 0, "maximum": MAX_HOPS },
            range,
            { "type": "array", "items": range, "minItems": 1, "maxItems": MAX_NETWORKS },
        ] })
    }
}

/// Reads `true`, `false`, a number of proxies, or their networks.
pub(super) fn read(reader: &mut Reader<'_>, node: &Rc<Node>) -> Option<TrustedProxies> {
    if matches!(node.kind, Kind::List(_)) {
        return networks(reader, node).map(TrustedProxies::Networks);
    }
    let what = "true, false, a number of proxies, or a list of their networks";
    let text = reader.text(node, what)?;
    let hops = match text.expose().trim() {
        "true" | "True" | "TRUE" => Some(1),
        "false" | "False" | "FALSE" => Some(0),
        "" if text.hides() => Some(0),
        number if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            let hops = number.parse().ok().filter(|hops| *hops <= MAX_HOPS);
            if hops.is_none() {
                let mend = format!("write a number from 0 to {MAX_HOPS}");
                reader.fault(&node.at, "too many proxies in a row", mend);
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

fn networks(reader: &mut Reader<'_>, node: &Rc<Node>) -> Option<Vec<IpRange>> {
    pieces::refuse_empty(reader, node);
    let items = reader.items(node, "a list of networks", false)?;
    if items.len() > MAX_NETWORKS {
        let message = format!("a list of {} networks", items.len());
        reader.fault(&node.at, message, format!("write at most {MAX_NETWORKS}"));
        return None;
    }
    let ranges: Vec<IpRange> = items.into_iter().filter_map(|item| read_range(reader, item)).collect();
    (!ranges.is_empty()).then_some(ranges)
}

/// Reads one range of addresses.
pub(super) fn read_range(reader: &mut Reader<'_>, item: &Node) -> Option<IpRange> {
    let text = reader.text(item, "a range such as 10.0.0.0/8")?;
    match IpRange::parse(text.expose()) {
        Ok(range) => Some(range),
        Err((reason, better)) => {
            let mend = match better {
                Some(_) if text.hides() => CHANGE_FILLED.to_owned(),
                Some(better) => format!("write {better}"),
                None => "write it like 10.0.0.0/8, 2001:db8::/32 or 192.0.2.7".to_owned(),
            };
            reader.fault(&item.at, reason, mend);
            None
        }
    }
}
