//! `listen`: the addresses to listen on.

use std::net::SocketAddr;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::reading::reader::Reader;
use crate::reading::spellings::{Spelling, one_or_many};
use crate::syntax::parse::Entry;
use crate::values::check;
use crate::values::wording::clip;

/// The maximum number of addresses.
const MOST: usize = 64;

/// One address.
pub(crate) struct OneAddress;

impl Spelling<SocketAddr> for OneAddress {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&SocketAddr>) -> Option<SocketAddr> {
        let text = reader.text(&entry.value, "an address such as 127.0.0.1:9464")?;
        reader.sound_text(&entry.value.at, &text, check::listen(text.expose()))
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        one_schema()
    }

    fn written(&self, address: &SocketAddr) -> Value {
        json!(address.to_string())
    }
}

fn one_schema() -> Schema {
    json_schema!({ "type": ["string", "integer"], "minimum": 0, "maximum": 65535 })
}

/// An address, or a list of addresses.
pub(crate) struct Addresses;

impl Spelling<Vec<SocketAddr>> for Addresses {
    fn read(
        &self,
        reader: &mut Reader<'_>,
        entry: &Entry,
        _: Option<&Vec<SocketAddr>>,
    ) -> Option<Vec<SocketAddr>> {
        let mut addresses: Vec<SocketAddr> = Vec::new();
        let items =
            reader.items(&entry.value, "an address such as 127.0.0.1:8808, or a list of them", true)?;
        if items.is_empty() || items.len() > MOST {
            let help = format!("write 127.0.0.1:8808, or a list of 1 to {MOST} addresses");
            reader.fault(&entry.value.at, format!("this list has {} addresses", items.len()), help);
            return None;
        }
        for item in items {
            let Some(text) = reader.text(item, "an address such as 127.0.0.1:8808") else { continue };
            let Some(address) = reader.sound_text(&item.at, &text, check::listen(text.expose())) else {
                continue;
            };
            if address.port() != 0 && addresses.contains(&address) {
                reader.fault(
                    &item.at,
                    format!("`{}` occurs twice", clip(text.shown())),
                    "keep one of the two",
                );
                continue;
            }
            addresses.push(address);
        }
        Some(addresses)
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        one_or_many(&one_schema())
    }

    fn written(&self, addresses: &Vec<SocketAddr>) -> Value {
        addresses.first().map_or(Value::Null, |address| json!(address.to_string()))
    }
}
