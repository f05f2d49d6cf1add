//! A call to a tool of the table: the tool, its values, and the readings of its arguments for access rules. This
//! module must not know the action of the tool.

use std::fmt;

use proto::rpc::Frame;
use serde_json::{Map, Value};

use super::compact::more_of;
use super::found::FoundCall;
use super::row::{ToolAction, ToolRow};
use super::server::ToolServerState;
use crate::arguments::argument::ToolArgument;
use crate::arguments::call_failure::{CallFailure, Condition};
use crate::arguments::read::{Policy, read, taken, tree};
use crate::arguments::values::Values;
use crate::rest::settled;
use crate::unknown::{self, CALL_ID, UnknownArguments, is_injected};

/// The arguments as a JSON object. Numbers out of range and lone surrogates are valid JSON, but cannot be read here.
fn object(written: &[u8]) -> Result<Map<String, Value>, CallFailure> {
    serde_json::from_slice(written).map_err(|e| match written.first() {
        Some(b'{') => {
            CallFailure::new(Condition::UnreadableArguments, format!("the arguments cannot be read: {e}"))
        }
        _ => CallFailure::arguments("the arguments must be an object"),
    })
}

/// The fault of a call with arguments, or with members of arguments, that these rows do not declare.
fn unknown_of<'r>(
    given: &Map<String, Value>,
    rows: impl Iterator<Item = &'r ToolArgument> + Clone,
) -> Option<String> {
    let known: Vec<&str> = rows.clone().map(|row| row.name).collect();
    let own = unknown::fault(given.keys().map(String::as_str), &known);
    let of_row = |row: &ToolArgument| {
        let value = tree(given.get(row.name).filter(|_| !row.members.is_empty())?)?;
        let objects = value.as_array().map_or_else(|| std::slice::from_ref(&value), Vec::as_slice);
        let names = objects.iter().filter_map(Value::as_object).flat_map(Map::keys);
        unknown::member_fault(names.map(String::as_str), row.members, row.name)
    };
    let faults: Vec<String> = rows.filter_map(of_row).chain(own).collect();
    (!faults.is_empty()).then(|| faults.join("; "))
}

impl ToolServerState {
    /// The called tool and its values.
    pub(super) fn begun(&self, request: &Frame) -> Result<(&'static ToolRow, Values), CallFailure> {
        let words = |e: &dyn fmt::Display| CallFailure::new(Condition::UnknownTool, e.to_string());
        let span = request.param("name").map_err(|e| words(&e))?;
        let name = span.and_then(|span| request.string(span));
        let name = name.ok_or_else(|| words(&"\"name\" is required and must be a string"))?;
        let given = match request.param("arguments").map_err(|e| CallFailure::arguments(e.to_string()))? {
            Some(span) => object(span.of(request.text()))?,
            None => Map::new(),
        };
        let (name, given) = match self.found_call(&name, &given) {
            Some((name, given)) => (name.into(), given),
            None => (name, given),
        };
        let tool = self.tools.iter().find(|tool| tool.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.tools.iter().map(|tool| tool.name).collect();
            words(&format!("unknown tool {name:?}; the tools are {}", known.join(", ")))
        })?;
        let mut values = self.values(&given, tool)?;
        for (name, value) in &self.settings {
            values.set(name, value.clone());
        }
        Ok((tool, values))
    }

    /// The values of a call. If arguments are invalid, one message lists every fault.
    fn values(&self, given: &Map<String, Value>, tool: &ToolRow) -> Result<Values, CallFailure> {
        let (policy, more) = (self.family.policy, more_of(tool, self.compact));
        let read = read(given, tool.arguments, policy).and_then(|mut values| {
            values.0.extend(read(given, more, policy)?.0);
            Ok(values)
        });
        match (read, self.unknown_of(given, tool)) {
            (read, None) => read,
            (Ok(_), Some(unknown)) => Err(CallFailure::arguments(unknown)),
            (Err(other), Some(unknown)) => {
                Err(CallFailure::arguments(format!("{}; {unknown}", other.message)))
            }
        }
    }

    fn unknown_of(&self, given: &Map<String, Value>, tool: &ToolRow) -> Option<String> {
        match self.unknown {
            UnknownArguments::Reject => {
                unknown_of(given, tool.arguments.iter().chain(more_of(tool, self.compact)))
            }
            UnknownArguments::Ignore => None,
        }
    }

    /// The fault of a call with arguments that the tool does not have, for code that checks the arguments before the call. Returns
    /// `None` for a tool that was found at the site.
    pub(super) fn unknown_arguments(&self, name: &str, arguments: &[u8]) -> Option<String> {
        let tool = self.tools.iter().find(|tool| tool.name == name)?;
        self.unknown_of(&serde_json::from_slice(arguments).ok()?, tool)
    }

    /// Translates a call to a tool that was found at the site into a call to a tool of the table. Arguments that
    /// clients inject are removed, unless the found tool declares them. If the tools have not been listed yet, only
    /// members that certainly are not arguments are removed.
    fn found_call(&self, name: &str, given: &Map<String, Value>) -> Option<FoundCall> {
        let (found, kept, _) = self.found.as_ref()?;
        if self.unknown == UnknownArguments::Ignore || !given.keys().any(|key| is_injected(key)) {
            return (found.called)(name, given);
        }
        let is_own = |key: &str| !is_injected(key) || kept.declares(name, key).unwrap_or(key != CALL_ID);
        let given = given.iter().filter(|(key, _)| is_own(key));
        (found.called)(name, &given.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    /// The tool's readings of its arguments, for access rules.
    pub(super) fn readings(&self, name: &str, arguments: &[u8]) -> Vec<String> {
        let Some(tool) = self.tools.iter().find(|tool| tool.name == name) else { return Vec::new() };
        let Ok(given) = serde_json::from_slice::<Map<String, Value>>(arguments) else { return Vec::new() };
        // Arguments that are passed on unchanged are converted by the service that receives them.
        let policies: &[Policy] = match &self.family.policy {
            Policy::Loose => &[Policy::Loose, Policy::Lenient],
            policy => std::slice::from_ref(policy),
        };
        let of = |policy: &Policy| {
            let rows = tool.arguments.iter().chain(more_of(tool, self.compact));
            let mut values = Values(taken(&given, rows, *policy));
            if let ToolAction::Rest(steps, _) = tool.action {
                settled(steps, &mut values);
            }
            Value::Object(values.0).to_string()
        };
        policies.iter().map(of).collect()
    }
}
