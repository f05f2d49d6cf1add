//! Structured results: with a schema, in addition to a text with the same content.

use serde_json::{Value, json};

use crate::section::Topics;
use crate::stage::{Feature, Stage};
use crate::tools::said;

const CALLS: Topics = Topics::during(&["tools/call"]);

pub(crate) const FEATURES: &[Feature] = &[
    Feature {
        name: "structured-object",
        title: "Structured results",
        topics: CALLS,
        run: |stage| {
            Box::pin(structured(stage, "test_structured_content", json!({"sum": 3, "parts": [1, 2]})))
        },
    },
    Feature {
        name: "structured-value",
        title: "Structured results other than objects",
        topics: CALLS,
        run: |stage| Box::pin(structured(stage, "test_structured_array", json!(["a", "b"]))),
    },
];

/// The structured result matches its schema, or neither of them is present; the text always has the same
/// content.
async fn structured(stage: &mut Stage, tool: &str, value: Value) {
    let answer = stage.call(tool, &json!({})).await;
    let text: Value = serde_json::from_str(said(stage, &answer)).expect("its JSON");
    assert_eq!(text, value, "{answer}");
    let schema = stage.output_schema(tool).await;
    let found = answer["result"].get("structuredContent");
    if stage.possible() {
        assert_eq!(found, Some(&value), "{answer}");
        assert!(schema.is_object(), "{tool} is listed without a schema");
    } else {
        assert_eq!(found, None, "{answer}");
        assert!(schema.is_null(), "{tool} is listed with {schema}, and answers no such thing");
    }
}
