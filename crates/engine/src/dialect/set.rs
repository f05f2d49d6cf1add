//! Setting and showing columns by their names, as a configuration has them. It must not know what acts on a column.

use serde_json::Value;

use super::cell::Kind;
use super::row::Dialect;

impl Dialect {
    /// Sets one column. Of those that say how something is told, single members may be named: `unknownTool.code`.
    /// The column `variant` sets what one of [`Dialect::variants`] does.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn set(&mut self, column: &str, value: &Value) -> Result<(), String> {
        if column == "variant" {
            return self.vary(value);
        }
        let (name, member) = column.split_once('.').map_or((column, None), |(name, m)| (name, Some(m)));
        let found = Self::COLUMNS.iter().find(|c| c.name == name);
        let found = found.ok_or_else(|| format!("{column} is no column of a dialect"))?;
        let wrapped;
        let value = match member {
            Some(member) if found.kind == Kind::Say => {
                wrapped = Value::from_iter([(member.to_owned(), value.clone())]);
                &wrapped
            }
            Some(_) => return Err(format!("{name} has no members")),
            None => value,
        };
        (found.set)(self, value).map_err(|what| format!("{name} {what}"))?;
        // Whoever changes something wants it to be so.
        if name != "interpreted" {
            self.interpreted = true;
        }
        Ok(())
    }

    /// The value of a column as it is configured.
    pub fn get(&self, column: &str) -> Option<Value> {
        Self::COLUMNS.iter().find(|c| c.name == column).map(|c| (c.show)(self))
    }

    fn vary(&mut self, value: &Value) -> Result<(), String> {
        let found = value.as_str().and_then(|name| self.variants.iter().find(|v| v.name == name));
        let Some(variant) = found else {
            let names: Vec<&str> = self.variants.iter().map(|v| v.name).collect();
            let choice = if names.is_empty() {
                "; it has none".to_owned()
            } else {
                format!("; there are {}", names.join(", "))
            };
            return Err(format!("variant must be one of dialect {}'s{choice}", self.name));
        };
        for (column, json) in variant.changes {
            let value = serde_json::from_str(json).map_err(|e| format!("variant {}: {e}", variant.name))?;
            self.set(column, &value)?;
        }
        Ok(())
    }
}
