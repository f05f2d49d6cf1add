//! The `OpenAPI` document of the management API. It is written from the table that routes the requests, published as
//! `dragoman.openapi.json`, and compared with the table by a test; the program contains the published file. This module
//! must not know any operation.

use std::io::Read as _;
use std::sync::OnceLock;

use flate2::read::GzDecoder;
use serde_json::Value;

use gateway::process::VERSION;

/// The published document, compressed by the build script.
const PUBLISHED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/dragoman.openapi.json.gz"));

/// Returns the document, with the version of this program.
pub(super) fn document() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(|| {
        let mut text = String::new();
        // The file is part of the program, and a test reads it.
        let _ = GzDecoder::new(PUBLISHED).read_to_string(&mut text);
        let mut document: Value = serde_json::from_str(&text).unwrap_or_default();
        document["info"]["version"] = VERSION.into();
        document
    })
}

#[cfg(test)]
mod generator;
