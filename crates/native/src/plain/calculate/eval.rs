//! A formula's tree to its value.

use super::functions::{FAMILIES, Function, constant};
use super::parse::Node;
use super::value::{Fault, Kind, Outcome, Value};
use crate::nearest::nearest;

/// How many values may be looked at. It keeps a formula far below the five seconds that one may take.
const MOST_WORK: usize = 100_000;

/// The value of a tree.
///
/// # Errors
/// What is wrong with it.
pub(super) fn evaluated(tree: &Node) -> Outcome {
    Work { left: MOST_WORK }.value(tree)
}

struct Work {
    left: usize,
}

impl Work {
    fn value(&mut self, node: &Node) -> Outcome {
        match node {
            Node::Value(value) => Ok(value.clone()),
            Node::Name(name) => constant(name).ok_or_else(|| unknown("constant", name)),
            Node::Vector(nodes) => {
                let values = nodes.iter().map(|node| self.value(node)).collect::<Result<Vec<_>, _>>()?;
                Ok(Value::Vector(values))
            }
            Node::Call(name, nodes) => {
                let function = find(name).ok_or_else(|| unknown("function", name))?;
                let given = nodes.iter().map(|node| self.value(node)).collect::<Result<Vec<_>, _>>()?;
                self.spend(1 + given.iter().map(Value::size).sum::<usize>())?;
                check(function, given.len())?;
                (function.run)(&given)
                    .map_err(|fault| Fault { message: format!("{name}: {}", fault.message).into(), ..fault })
            }
        }
    }

    fn spend(&mut self, work: usize) -> Result<(), Fault> {
        match self.left.checked_sub(work) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Fault::new(Kind::Timeout, "the formula takes too long", "calculate it in parts")),
        }
    }
}

fn check(function: &Function, given: usize) -> Result<(), Fault> {
    let Function { name, least, most, .. } = *function;
    if (least..=most).contains(&given) {
        return Ok(());
    }
    let wants = match (least, most) {
        (least, usize::MAX) => format!("at least {least}"),
        (least, most) if least == most => least.to_string(),
        (least, most) => format!("{least} to {most}"),
    };
    let message = format!("{name} wants {wants} arguments and is given {given}");
    Err(Fault::new(Kind::Validation, message, format!("write {}", function.usage)))
}

fn find(name: &str) -> Option<&'static Function> {
    FAMILIES.iter().flat_map(|family| family.iter()).find(|function| function.name == name)
}

fn names() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().flat_map(|family| family.iter()).map(|function| function.name)
}

fn unknown(what: &str, name: &str) -> Fault {
    let shown: String = name.chars().take(40).collect();
    let mend = match find(name) {
        Some(function) => format!("functions stand in brackets: write {}", function.usage),
        None => match nearest(name, names()) {
            Some(near) => format!("perhaps {near} is meant"),
            None => "the tool's description lists what there is".to_owned(),
        },
    };
    Fault::new(Kind::Validation, format!("there is no {what} {shown:?}"), mend)
}
