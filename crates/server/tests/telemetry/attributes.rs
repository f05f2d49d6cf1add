//! Attributes of spans and of log records, as the crate of OpenTelemetry decodes them.

use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;

/// The value of an attribute as text; empty if there is none.
pub(crate) fn attribute(attributes: &[KeyValue], key: &str) -> String {
    let value = attributes.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.clone()?.value);
    match value {
        Some(Any::StringValue(text)) => text,
        Some(Any::IntValue(number)) => number.to_string(),
        Some(Any::BoolValue(flag)) => flag.to_string(),
        Some(other) => panic!("{other:?}"),
        None => String::new(),
    }
}
