//! Evaluates a formula's tree.

use config::nearest::nearest;

use super::functions::{FAMILIES, Function, constant};
use super::parse::Node;
use super::value::{FormulaFault, FormulaFaultKind, FormulaResult, Value};

/// The maximum number of values that the evaluation of a formula may visit. With this limit, evaluation takes far
/// less than the allowed five seconds.
const MOST_WORK: usize = 100_000;

/// The value of a tree.
///
/// # Errors
/// Returns the fault of the formula.
pub(super) fn evaluated(tree: &Node) -> FormulaResult {
    Work { left: MOST_WORK }.value(tree)
}

struct Work {
    left: usize,
}

impl Work {
    fn value(&mut self, node: &Node) -> FormulaResult {
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
                (function.run)(&given).map_err(|fault| FormulaFault {
                    message: format!("{name}: {}", fault.message).into(),
                    ..fault
                })
            }
        }
    }

    fn spend(&mut self, work: usize) -> Result<(), FormulaFault> {
        match self.left.checked_sub(work) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(FormulaFault::new(
                FormulaFaultKind::Timeout,
                "the formula takes too long",
                "calculate it in parts",
            )),
        }
    }
}

fn check(function: &Function, given: usize) -> Result<(), FormulaFault> {
    let Function { name, least, most, .. } = *function;
    if (least..=most).contains(&given) {
        return Ok(());
    }
    let wants = match (least, most) {
        (least, usize::MAX) => format!("at least {least}"),
        (least, most) if least == most => least.to_string(),
        (least, most) => format!("{least} to {most}"),
    };
    let message = format!("wrong number of arguments for {name}: {given} instead of {wants}");
    Err(FormulaFault::new(FormulaFaultKind::Validation, message, format!("write {}", function.usage)))
}

fn find(name: &str) -> Option<&'static Function> {
    FAMILIES.iter().flat_map(|family| family.iter()).find(|function| function.name == name)
}

fn names() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().flat_map(|family| family.iter()).map(|function| function.name)
}

fn unknown(what: &str, name: &str) -> FormulaFault {
    let shown: String = name.chars().take(40).collect();
    let help = match find(name) {
        Some(function) => format!("a function must be in brackets: write {}", function.usage),
        None => match nearest(name, names()) {
            Some(near) => format!("did you mean {near}?"),
            None => "the tool's description lists all names".to_owned(),
        },
    };
    FormulaFault::new(FormulaFaultKind::Validation, format!("there is no {what} {shown:?}"), help)
}
