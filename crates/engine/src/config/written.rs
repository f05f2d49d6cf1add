//! The shapes in which values are written, where they differ from those in which they are kept. They must not know a key.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::config::check::MAX_PUBLIC_NAME;
use crate::config::units;

macro_rules! written {
    ($name:ident, $schema:tt) => {
        pub(crate) struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

written!(Listen, { "type": ["string", "integer"], "minimum": 0, "maximum": 65535 });
written!(Scalar, { "type": ["string", "number", "boolean"] });
written!(Time, { "type": ["number", "string"], "pattern": units::TIME_PATTERN });
written!(Flag, {
    "anyOf": [{ "type": "boolean" }, { "type": "string", "pattern": "\\$\\{" }],
});
written!(Count, {
    "type": ["integer", "string"], "minimum": 1, "maximum": 1_000_000, "pattern": "^(\\d+|.*\\$\\{.*)$",
});
written!(ValuesByPlace, {
    "type": "object",
    "additionalProperties": { "anyOf": [
        { "type": ["string", "number", "boolean"] },
        { "type": "array", "items": { "type": ["string", "number", "boolean"] }, "minItems": 1 },
    ] },
});
written!(Phase, { "enum": ["core", "buddyboss", "advanced", "extended", "discover"] });
written!(Rate, { "type": "string", "pattern": units::RATE_PATTERN });
written!(RateOrOff, {
    "anyOf": [{ "type": "string", "pattern": units::RATE_PATTERN }, { "const": false }],
});
written!(PasswordHash, { "type": "string", "pattern": "^\\$argon2id\\$|\\$\\{" });
written!(BearerToken, {
    "anyOf": [{ "type": "string" }, {
        "type": "object",
        "properties": {
            "token": { "type": "string", "description": "The token." },
            "optional": {
                "anyOf": [{ "type": "boolean" }, { "type": "string", "pattern": "\\$\\{" }],
                "description": "An empty token means that nobody is asked for it.",
                "default": false,
            },
        },
        "required": ["token"],
        "additionalProperties": false,
    }],
});
written!(Sources, {
    "type": "object",
    "propertyNames": { "enum": ["wikipedia", "snl", "riksantikvaren", "arcgis"] },
    "additionalProperties": { "type": "string" },
});
written!(HttpType, { "enum": ["http", "streamable-http", "sse"] });
written!(NewName, {
    "type": "string", "minLength": 1, "maxLength": MAX_PUBLIC_NAME, "pattern": "^[A-Za-z0-9_./-]+$",
});

/// One value, or a list of them.
pub(crate) struct OneOrMany<T>(std::marker::PhantomData<T>);

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("OneOrMany{}", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
    }
}

/// `true`, `false`, or settings.
pub(crate) struct OrFlag<T>(std::marker::PhantomData<T>);

impl<T: JsonSchema> JsonSchema for OrFlag<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}OrFlag", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let settings = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [Flag::json_schema(generator), settings] })
    }
}

/// `type: stdio` may be written; the model keeps it as the kind of link.
pub(crate) fn stdio_type(schema: &mut Schema) {
    add_property(schema, "type", json_schema!({ "const": "stdio", "description": "May be left out." }));
}

/// Lets a file name its own schema, and keep anchors under `x-…`.
pub(crate) fn allow_schema_key(schema: &mut Schema) {
    add_property(
        schema,
        "$schema",
        json_schema!({ "type": "string", "description": "This schema, for editors." }),
    );
    schema.insert("patternProperties".to_owned(), serde_json::json!({ "^x-": true }));
}

fn add_property(schema: &mut Schema, key: &str, property: Schema) {
    if let Some(properties) = schema.get_mut("properties").and_then(serde_json::Value::as_object_mut) {
        properties.insert(key.to_owned(), property.to_value());
    }
}
