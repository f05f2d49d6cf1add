//! An upper bound for the work of validating arguments against a schema, computed without validating. Schemas come from
//! servers: a single page of alternatives that refer to each other can require more time or memory than is available,
//! and the validation library has no limit. This module must not know which arguments match.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value};

use crate::arguments::ArgumentValue;

/// The maximum number of subschemas that can be reached in a schema.
const MAX_PLACES: usize = 10_000;

/// The maximum nesting of subschemas that apply to one value; the validation library recurses for each of them.
const MAX_DEPTH: u32 = 256;

/// The number of listed values that cost one step: elements of an `enum`, names of required members, and elements
/// of similar lists.
const WORDS_A_STEP: u64 = 4;

/// The number of bytes of a text that a pattern reads in one step.
const BYTES_A_STEP: u64 = 16;

/// The number of bytes of a text that are counted, copied or compared in one step.
const BYTES_A_SCAN: u64 = 256;

/// The number of steps for a pattern that may backtrack.
const TRYING: u64 = 8192;

/// A subschema, with the subschemas that apply to each part of a value.
#[derive(Debug, Default)]
struct Subschema {
    /// The steps for the subschema's own keywords.
    own: u64,
    /// Steps for each [`BYTES_A_STEP`] bytes of a text.
    reads: u64,
    /// Steps for each [`BYTES_A_SCAN`] bytes of a text.
    scans: u64,
    /// Steps for each member's name, and for each [`BYTES_A_STEP`] bytes of the name.
    a_name: u64,
    /// True if all elements of an array are copied in order to compare them with each other.
    copies: bool,
    same: Vec<usize>,
    named: HashMap<String, usize>,
    members: Vec<usize>,
    names: Vec<usize>,
    elements: Vec<usize>,
}

impl Subschema {
    fn all(&self) -> impl Iterator<Item = usize> {
        let rest = [&self.same, &self.members, &self.names, &self.elements];
        self.named.values().chain(rest.into_iter().flatten()).copied()
    }
}

/// The cost of validating with a schema.
#[derive(Debug)]
pub struct SchemaCost {
    places: Vec<Subschema>,
    /// The maximum number of steps for each value of the arguments; `None` if this number depends on the depth of the arguments.
    most: Option<u64>,
}

impl SchemaCost {
    /// Reads a schema; `None` if its cost is unknown because it has too many parts, or a reference with an unclear
    /// target.
    pub fn of(schema: &Value) -> Option<Self> {
        let mut reader =
            SubschemaReader { root: schema, known: HashMap::new(), queue: VecDeque::new(), refers: false };
        reader.place(schema)?;
        let mut places = Vec::new();
        while let Some(schema) = reader.queue.pop_front() {
            places.push(reader.read(schema)?);
        }
        if reader.refers && has_resources(schema, true) {
            return None;
        }
        let mut measured = Measured { places: &places, done: vec![None; places.len()] };
        let most = measured.of(0, &mut vec![false; places.len()], 0).map(|(steps, _)| steps);
        Some(Self { places, most })
    }

    /// Returns true if arguments, given both as text and as a value, can be validated within `budget` steps.
    pub fn is_within(&self, budget: u64, text: &[u8], value: &ArgumentValue<'_>) -> bool {
        // Nearly all schemas and arguments are so small that no counting is needed.
        let values = text.len() as u64 + 1;
        self.most.is_some_and(|most| most.saturating_mul(values) <= budget) || self.count(budget, value)
    }

    /// Counts every path that a validation could take.
    fn count(&self, budget: u64, value: &ArgumentValue<'_>) -> bool {
        let mut walk = Walk { places: &self.places, left: budget, open: Vec::new() };
        if !walk.go(0, Instance::Value(value), 0) {
            return false;
        }
        while let Some((at, seen, depth)) = walk.open.pop() {
            if !walk.below(&self.places[at], seen, depth + 1) {
                return false;
            }
        }
        true
    }
}

/// A value, or a member's name, to which a subschema applies.
#[derive(Clone, Copy)]
enum Instance<'a> {
    Value(&'a ArgumentValue<'a>),
    Name(&'a str),
}

/// The values still to be visited, and the remaining steps.
struct Walk<'a> {
    places: &'a [Subschema],
    left: u64,
    open: Vec<(usize, Instance<'a>, u32)>,
}

impl<'a> Walk<'a> {
    fn spend(&mut self, steps: u64) -> bool {
        let left = self.left.checked_sub(steps);
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    fn go(&mut self, at: usize, seen: Instance<'a>, depth: u32) -> bool {
        let place = &self.places[at];
        let text = match seen {
            Instance::Value(ArgumentValue::String(text)) => text.len(),
            Instance::Name(text) => text.len(),
            Instance::Value(_) => 0,
        };
        let reading = place.reads.saturating_mul(text as u64 / BYTES_A_STEP);
        let scanning = place.scans.saturating_mul(text as u64 / BYTES_A_SCAN);
        self.open.push((at, seen, depth));
        depth <= MAX_DEPTH && self.spend(place.own.saturating_add(reading).saturating_add(scanning))
    }

    fn below(&mut self, place: &Subschema, seen: Instance<'a>, depth: u32) -> bool {
        if !place.same.iter().all(|at| self.go(*at, seen, depth)) {
            return false;
        }
        match seen {
            Instance::Value(ArgumentValue::Array(items)) => {
                let all = |at: &usize| items.iter().all(|item| self.go(*at, Instance::Value(item), depth));
                place.elements.iter().all(all) && (!place.copies || self.spend(items.iter().map(size).sum()))
            }
            Instance::Value(ArgumentValue::Object(members)) => members.iter().all(|(name, value)| {
                let to_value = place.named.get(name.as_ref()).into_iter().chain(&place.members);
                let length = name.len() as u64;
                let matching = place.a_name.saturating_mul(1 + length / BYTES_A_STEP);
                self.spend(matching.saturating_add(length / BYTES_A_SCAN))
                    && to_value.into_iter().all(|at| self.go(*at, Instance::Value(value), depth))
                    && place.names.iter().all(|at| self.go(*at, Instance::Name(name), depth))
            }),
            Instance::Value(_) | Instance::Name(_) => true,
        }
    }
}

/// The cost of each subschema with every reference expanded: the maximum number of steps for one value, and the nesting of
/// subschemas.
struct Measured<'a> {
    places: &'a [Subschema],
    done: Vec<Option<(u64, u32)>>,
}

impl Measured<'_> {
    /// The measurement of one subschema; `None` if references are circular or too deep.
    fn of(&mut self, at: usize, open: &mut Vec<bool>, depth: u32) -> Option<(u64, u32)> {
        if let Some((steps, height)) = self.done[at] {
            return (depth + height <= MAX_DEPTH).then_some((steps, height));
        }
        if open[at] || depth > MAX_DEPTH {
            return None;
        }
        open[at] = true;
        let place = &self.places[at];
        let mut steps =
            [place.own, place.reads, place.scans, place.a_name].into_iter().fold(0, u64::saturating_add);
        if place.copies {
            // The depth is counted once for each array that contains the value.
            steps = steps.saturating_add(proto::json::MAX_DEPTH.into());
        }
        let mut height = 0;
        for below in place.all() {
            let (more, deep) = self.of(below, open, depth + 1)?;
            steps = steps.saturating_add(more);
            height = height.max(deep + 1);
        }
        open[at] = false;
        self.done[at] = Some((steps, height));
        Some((steps, height))
    }
}

/// Collects the subschemas.
struct SubschemaReader<'s> {
    root: &'s Value,
    known: HashMap<*const Value, usize>,
    queue: VecDeque<&'s Value>,
    refers: bool,
}

impl<'s> SubschemaReader<'s> {
    fn place(&mut self, schema: &'s Value) -> Option<usize> {
        let next = self.known.len();
        let at = *self.known.entry(std::ptr::from_ref(schema)).or_insert(next);
        if at == next {
            self.queue.push_back(schema);
        }
        (at < MAX_PLACES).then_some(at)
    }

    /// The indices of the values that are subschemas. Values that are not objects are skipped, such as the lists of
    /// names in `dependencies`.
    fn places(&mut self, among: impl IntoIterator<Item = &'s Value>) -> Option<Vec<usize>> {
        among.into_iter().filter(|schema| schema.is_object()).map(|schema| self.place(schema)).collect()
    }

    fn read(&mut self, schema: &'s Value) -> Option<Subschema> {
        let mut place = Subschema { own: 1, ..Subschema::default() };
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            self.applies(keyword, value, &mut place)?;
        }
        // To find unevaluated members and items, the validator evaluates the alternatives once more.
        let again = ["unevaluatedProperties", "unevaluatedItems"];
        if again.iter().any(|keyword| schema.get(keyword).is_some()) {
            place.same.extend_from_within(..);
        }
        Some(place)
    }

    fn applies(&mut self, keyword: &str, value: &'s Value, place: &mut Subschema) -> Option<()> {
        let listed = || value.as_array().into_iter().flatten();
        let members = || value.as_object().into_iter().flat_map(Map::values);
        match keyword {
            "title" | "description" | "default" | "examples" | "$comment" | "$defs" | "definitions" => {}
            "$ref" => {
                self.refers = true;
                let target = self.root.pointer(&pointer(value.as_str()?)?)?;
                place.same.push(self.place(target)?);
            }
            // The target of such a reference depends on the path that the validation has taken.
            "$dynamicRef" | "$recursiveRef" => return None,
            "allOf" | "anyOf" | "oneOf" => place.same.extend(self.places(listed())?),
            "not" | "if" | "then" | "else" => place.same.extend(self.places([value])?),
            "dependentSchemas" | "dependencies" => {
                place.own = place.own.saturating_add(words(value));
                place.same.extend(self.places(members())?);
            }
            "properties" => {
                for (name, schema) in value.as_object()? {
                    place.named.insert(name.clone(), self.place(schema)?);
                }
                place.own += place.named.len() as u64 / WORDS_A_STEP;
            }
            "patternProperties" => {
                for (text, schema) in value.as_object()? {
                    place.a_name = place.a_name.saturating_add(of_pattern(text));
                    place.members.push(self.place(schema)?);
                }
            }
            "additionalProperties" | "unevaluatedProperties" => place.members.extend(self.places([value])?),
            "propertyNames" => place.names.extend(self.places([value])?),
            "items" | "prefixItems" | "additionalItems" | "unevaluatedItems" | "contains" => {
                place.elements.extend(self.places([value])?);
                place.elements.extend(self.places(listed())?);
            }
            "pattern" => {
                place.own = place.own.saturating_add(of_pattern(value.as_str()?));
                place.reads += 1;
            }
            "format" | "contentEncoding" | "contentMediaType" => place.reads += 1,
            "minLength" | "maxLength" => place.scans += 1,
            "uniqueItems" => place.copies = value.as_bool() == Some(true),
            _ => {
                // An `enum` compares texts by a hash of the whole text.
                place.scans += u64::from(keyword == "enum");
                place.own = place.own.saturating_add(words(value));
            }
        }
        Some(())
    }
}

/// The JSON pointer of a reference within its own document.
fn pointer(reference: &str) -> Option<String> {
    let fragment = reference.strip_prefix('#')?;
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        bytes.push(match byte {
            b'%' => {
                let (hex, after) = rest.split_at_checked(2)?;
                rest = after;
                u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()?
            }
            byte => *byte,
        });
    }
    String::from_utf8(bytes).ok().filter(|pointer| pointer.is_empty() || pointer.starts_with('/'))
}

/// Returns true if a part of a schema is a document of its own, in which references are relative to that part.
fn has_resources(schema: &Value, is_root: bool) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(key, value)| {
            let names = matches!(key.as_str(), "$id" | "id" | "$schema") && value.is_string();
            (names && !is_root) || has_resources(value, false)
        }),
        Value::Array(items) => items.iter().any(|item| has_resources(item, false)),
        _ => false,
    }
}

/// The steps for one match of a pattern.
fn of_pattern(pattern: &str) -> u64 {
    let goes_back = ["(?=", "(?!", "(?<", "(?>"].iter().any(|look| pattern.contains(look))
        || pattern
            .as_bytes()
            .windows(2)
            .any(|pair| pair[0] == b'\\' && matches!(pair[1], b'0'..=b'9' | b'k'));
    if goes_back { TRYING } else { 1 }
}

/// The steps for copying a value and comparing it with others.
fn size(value: &ArgumentValue<'_>) -> u64 {
    let text = |text: &str| 1 + text.len() as u64 / BYTES_A_SCAN;
    match value {
        ArgumentValue::Array(items) => items.iter().map(size).sum::<u64>() + 1,
        ArgumentValue::Object(members) => {
            members.iter().map(|(name, value)| name.len() as u64 / BYTES_A_SCAN + size(value)).sum::<u64>()
                + 1
        }
        ArgumentValue::String(written) => text(written),
        _ => 1,
    }
}

/// The steps for a comparison with the values that a keyword lists.
fn words(value: &Value) -> u64 {
    fn count(value: &Value) -> u64 {
        match value {
            Value::Array(items) => items.iter().map(count).sum::<u64>() + 1,
            Value::Object(members) => {
                members.iter().map(|(name, value)| text(name) - 1 + count(value)).sum::<u64>() + 1
            }
            Value::String(word) => text(word),
            _ => 1,
        }
    }
    fn text(word: &str) -> u64 {
        1 + word.len() as u64 * WORDS_A_STEP / BYTES_A_SCAN
    }
    count(value) / WORDS_A_STEP
}
