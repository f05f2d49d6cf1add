//! The JSON Schema of a configuration file, for editors, generated from the model's own doc comments.

use schemars::generate::SchemaSettings;

use super::model::Config;

/// The schema as readable JSON Schema 2020-12, with a newline at the end. `dragoman.schema.json` contains exactly
/// this text.
pub fn schema_json() -> String {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Config>();
    let mut json = serde_json::to_string_pretty(&schema).expect("a schema is plain JSON");
    json.push('\n');
    json
}
