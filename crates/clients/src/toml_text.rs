//! Reads and edits settings in TOML. Only this module knows the TOML library.

use config::EditFault;
use serde_json::{Map, Number, Value};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value as TomlValue, value};

/// Returns the parsed content of a text.
pub(crate) fn document(text: &str) -> Result<Value, EditFault> {
    Ok(parsed(text)?.iter().map(|(key, item)| (key.to_owned(), of_item(item))).collect::<Map<_, _>>().into())
}

fn parsed(text: &str) -> Result<DocumentMut, EditFault> {
    text.parse().map_err(|broken: toml_edit::TomlError| EditFault {
        message: format!("the file is not valid TOML: {}", broken.message()),
        help: "repair the file first".to_owned(),
    })
}

fn of_item(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => of_value(value),
        Item::Table(table) => table.iter().map(|(key, item)| (key.to_owned(), of_item(item))).collect(),
        Item::ArrayOfTables(tables) => {
            tables.iter().map(|table| of_item(&Item::Table(table.clone()))).collect()
        }
    }
}

fn of_value(value: &TomlValue) -> Value {
    match value {
        TomlValue::String(text) => text.value().as_str().into(),
        TomlValue::Integer(number) => (*number.value()).into(),
        TomlValue::Float(number) => Number::from_f64(*number.value()).map_or(Value::Null, Value::Number),
        TomlValue::Boolean(flag) => (*flag.value()).into(),
        TomlValue::Datetime(time) => time.value().to_string().into(),
        TomlValue::Array(items) => items.iter().map(of_value).collect(),
        TomlValue::InlineTable(table) => {
            table.iter().map(|(key, value)| (key.to_owned(), of_value(value))).collect()
        }
    }
}

/// Returns the text with this content in the table `[key.name]`.
pub(crate) fn put(text: &str, key: &str, name: &str, entry: &Value) -> Result<String, EditFault> {
    let mut document = parsed(text)?;
    let servers = document.entry(key).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let content = entry.as_object().into_iter().flatten();
    match servers {
        Item::Table(servers) => {
            let mut table = Table::new();
            for (key, entry) in content {
                table.insert(key, value(to_value(entry)));
            }
            servers.insert(name, Item::Table(table));
        }
        Item::Value(TomlValue::InlineTable(servers)) => {
            servers.insert(name, to_value(entry));
        }
        _ => return Err(by_hand(key)),
    }
    Ok(document.to_string())
}

fn by_hand(key: &str) -> EditFault {
    EditFault { message: format!("`{key}` is not a table"), help: "edit the file by hand".to_owned() }
}

fn to_value(value: &Value) -> TomlValue {
    match value {
        Value::Null => TomlValue::from(""),
        Value::Bool(flag) => TomlValue::from(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(number) => TomlValue::from(number),
            None => TomlValue::from(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => TomlValue::from(text),
        Value::Array(items) => TomlValue::Array(items.iter().map(to_value).collect::<Array>()),
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| (key.as_str(), to_value(value)));
            TomlValue::InlineTable(members.collect::<InlineTable>())
        }
    }
}

/// Returns the text without the table `[key.name]`.
pub(crate) fn remove(text: &str, key: &str, name: &str) -> Result<String, EditFault> {
    let mut document = parsed(text)?;
    let is_removed = document
        .get_mut(key)
        .and_then(Item::as_table_like_mut)
        .is_some_and(|servers| servers.remove(name).is_some());
    if is_removed {
        return Ok(document.to_string());
    }
    let help = "there is nothing to remove".to_owned();
    Err(EditFault { message: format!("there is no {name:?} below `{key}`"), help })
}
