//! Reads and writes columns by their names in a configuration. This module must not know which code uses a column.

use serde_json::Value;

use super::cell::{CellKind, Text};
use super::row::{Column, Dialect};
use super::sense;

/// A value that cannot be set.
#[derive(Debug, PartialEq, Eq)]
pub struct UnfitValue {
    /// The fault, in words.
    pub reason: String,
    /// The suggested fix; `None` if the fix is to write a value of the column's kind.
    pub help: Option<String>,
}

impl UnfitValue {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), help: None }
    }
}

impl Dialect {
    /// Sets one column. Individual members of a fault's text can also be set, such as `unknownTool.code`. The column `variant`
    /// sets the columns of one of [`Dialect::variants`].
    ///
    /// # Errors
    /// Returns the fault, in words.
    pub fn set(&mut self, column: &str, value: &Value) -> Result<(), UnfitValue> {
        if column == "variant" {
            return self.vary(value);
        }
        let (name, member) = column.split_once('.').map_or((column, None), |(name, m)| (name, Some(m)));
        let found = Self::column(name)
            .ok_or_else(|| UnfitValue::new(format!("{column} is not a column of a dialect")))?;
        let wrapped;
        let value = match member {
            Some(member) if found.kind == CellKind::FaultText => {
                wrapped = Value::from_iter([(member.to_owned(), value.clone())]);
                &wrapped
            }
            Some(_) => return Err(UnfitValue::new(format!("{name} has no members"))),
            None => value,
        };
        let mut changed = self.clone();
        (found.set)(&mut changed, value).map_err(|what| UnfitValue::new(format!("{name} {what}")))?;
        sense::check(found, &changed)?;
        // Setting any other column implies that the row interprets messages.
        if name != "interpreted" {
            changed.interpreted = true;
        }
        *self = changed;
        Ok(())
    }

    /// The column with this name.
    pub fn column(name: &str) -> Option<&'static Column> {
        Self::COLUMNS.iter().find(|column| column.name == name)
    }

    /// This row, adapted to pipes, which carry only JSON-RPC: a request with an id always gets a JSON-RPC answer,
    /// even for a fault with a body of its own; a message without an id gets no answer.
    #[must_use]
    pub fn over_pipes(&self) -> Self {
        let mut row = self.clone();
        let no_body = Value::from_iter([("body".to_owned(), Value::Bool(false))]);
        for column in Self::COLUMNS.iter().filter(|column| column.kind == CellKind::FaultText) {
            (column.set)(&mut row, &no_body).expect("a fault text is valid without its own body");
        }
        row.reading.ack_body = Text::default();
        row
    }

    /// The value of a column, as a configuration would contain it.
    pub fn get(&self, column: &str) -> Option<Value> {
        Self::column(column).map(|column| (column.show)(self))
    }

    fn vary(&mut self, value: &Value) -> Result<(), UnfitValue> {
        let found = value.as_str().and_then(|name| self.variants.iter().find(|v| v.name == name));
        let Some(variant) = found else {
            let names: Vec<&str> = self.variants.iter().map(|v| v.name).collect();
            let choice = if names.is_empty() {
                "it has no variants".to_owned()
            } else {
                format!("its variants: {}", names.join(", "))
            };
            return Err(UnfitValue::new(format!("dialect {} has no such variant; {choice}", self.name)));
        };
        for (column, json) in variant.changes {
            let value = serde_json::from_str(json)
                .map_err(|e| UnfitValue::new(format!("variant {}: {e}", variant.name)))?;
            self.set(column, &value)?;
        }
        Ok(())
    }
}
