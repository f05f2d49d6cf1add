//! A call of a tool of the table: which one, with which values, and what rules about arguments have to know of them. It must
//! not know what the tool does.

use std::fmt;

use proto::rpc::Frame;
use serde_json::{Map, Value};

use super::read::{Policy, read, taken};
use super::row::{Act, Tool};
use super::server::{Inner, more_of};
use super::trouble::{Condition, Trouble};
use super::unknown::refuse_unknown;
use super::values::Values;
use crate::rest::settled;

/// Arguments as they are read here. What is a number beyond all, or half a character, is JSON all the same.
fn object(written: &[u8]) -> Result<Map<String, Value>, Trouble> {
    serde_json::from_slice(written).map_err(|e| match written.first() {
        Some(b'{') => {
            Trouble::new(Condition::UnreadableArguments, format!("the arguments cannot be read: {e}"))
        }
        _ => Trouble::arguments("the arguments must be an object"),
    })
}

impl Inner {
    /// The tool that is called, and its values.
    pub(super) fn begun(&self, request: &Frame) -> Result<(&'static Tool, Values), Trouble> {
        let words = |e: &dyn fmt::Display| Trouble::new(Condition::UnknownTool, e.to_string());
        let span = request.param("name").map_err(|e| words(&e))?;
        let name = span.and_then(|span| request.string(span));
        let name = name.ok_or_else(|| words(&"\"name\" is required and must be a string"))?;
        let given = match request.param("arguments").map_err(|e| Trouble::arguments(e.to_string()))? {
            Some(span) => object(span.of(request.text()))?,
            None => Map::new(),
        };
        let (name, given) = match self.found.as_ref().and_then(|(found, ..)| (found.called)(&name, &given)) {
            Some((name, given)) => (name.into(), given),
            None => (name, given),
        };
        let tool = self.tools.iter().find(|tool| tool.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.tools.iter().map(|tool| tool.name).collect();
            words(&format!("unknown tool {name:?}; there are {}", known.join(", ")))
        })?;
        let more = more_of(tool, self.compact);
        if self.refuses_unknown {
            refuse_unknown(&given, tool.arguments.iter().chain(more))?;
        }
        let mut values = read(&given, tool.arguments, self.family.policy)?;
        values.0.extend(read(&given, more, self.family.policy)?.0);
        for (name, value) in &self.settings {
            values.set(name, value.clone());
        }
        Ok((tool, values))
    }

    /// What the tool makes of its arguments, for those who decide about them.
    pub(super) fn readings(&self, name: &str, arguments: &[u8]) -> Vec<String> {
        let Some(tool) = self.tools.iter().find(|tool| tool.name == name) else { return Vec::new() };
        let Ok(given) = serde_json::from_slice::<Map<String, Value>>(arguments) else { return Vec::new() };
        // What goes on as it is, is bent by the place where it goes.
        let policies: &[Policy] = match &self.family.policy {
            Policy::Loose => &[Policy::Loose, Policy::Lenient],
            policy => std::slice::from_ref(policy),
        };
        let of = |policy: &Policy| {
            let rows = tool.arguments.iter().chain(more_of(tool, self.compact));
            let mut values = Values(taken(&given, rows, *policy));
            if let Act::Rest(steps, _) = tool.act {
                settled(steps, &mut values);
            }
            Value::Object(values.0).to_string()
        };
        policies.iter().map(of).collect()
    }
}
