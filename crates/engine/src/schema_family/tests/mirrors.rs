//! Annotations for mirrored headers, which clients of some versions need.

use serde_json::json;

use super::*;

#[test]
fn annotations_stay_where_the_protocol_demands_them() {
    let schema = json!({ "type": "object", "properties": {
        "region": { "type": "string", "x-mcp-header": "Region", "pattern": "^a" },
        "in": { "type": "object", "properties": { "n": { "type": "integer", "x-mcp-header": "N", "exclusiveMinimum": 1 } } },
    }, "additionalProperties": false });
    let text = schema.to_string();
    for family in families() {
        let suited = suit(family, text.as_bytes(), true);
        let shown = suited.schema().unwrap_or(&text);
        let shown: Value = serde_json::from_str(shown).unwrap();
        let header = |pointer: &str| shown.pointer(pointer).and_then(|node| node["x-mcp-header"].as_str());
        assert_eq!(header("/properties/region"), Some("Region"), "{}", family.name);
        assert_eq!(header("/properties/in/properties/n"), Some("N"), "{}", family.name);
    }
    let without = suit(family("gemini"), text.as_bytes(), false);
    assert!(!without.schema().unwrap().contains("x-mcp-header"));
}
