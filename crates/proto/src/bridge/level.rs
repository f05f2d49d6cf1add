//! The levels of log messages: four in the oldest era, eight in all others.

use crate::era::Era;
use crate::json::{quote, unquote};

/// Translates a level, a JSON string, into the nearest level of `to` that is not more restrictive.
pub fn level(level: &[u8], to: &Era) -> String {
    let inner = level.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
    let name = inner.and_then(unquote).unwrap_or_default();
    if to.shapes.levels.contains(&name.as_ref()) {
        return quote(&name);
    }
    let nearest = match name.as_ref() {
        "notice" => "info",
        "critical" | "alert" | "emergency" => "error",
        other => other,
    };
    quote(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::era::{V1, V2025_11_25};

    #[test]
    fn what_an_era_lacks_becomes_the_level_below() {
        assert_eq!(level(b"\"notice\"", &V2025_11_25), "\"notice\"");
        assert_eq!(level(b"\"notice\"", &V1), "\"info\"");
        assert_eq!(level(b"\"emergency\"", &V1), "\"error\"");
        assert_eq!(level(b"\"warning\"", &V1), "\"warning\"");
    }
}
