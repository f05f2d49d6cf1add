//! A tool as a row: what is read about it, its arguments, and what a call does.

use crate::arguments::argument::Argument;
use crate::arguments::trouble::Trouble;
use crate::arguments::values::Values;
use crate::port::Verb;
use crate::rest::{Shape, Step};

/// A tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its title for people, at most 60 characters; empty for none.
    pub(crate) title: &'static str,
    /// Its description, for a person or a model.
    pub(crate) about: &'static str,
    /// Its arguments.
    pub(crate) arguments: &'static [Argument],
    /// What a call does.
    pub(crate) act: Act,
    /// What it does to the world, where that does not follow from its requests.
    pub(crate) effect: Option<Effect>,
    /// Whether it is there only when it is switched on, under this name.
    pub(crate) phase: &'static str,
}

/// What a call does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Act {
    /// It computes an answer.
    Local(fn(&Values) -> Result<String, Trouble>),
    /// It sends requests, and answers with what the last of them brought, in a shape.
    Rest(&'static [Step], Shape),
}

/// What a tool does to the world (MCP, `ToolAnnotations`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing; it computes.
    Computes,
    /// Nothing; it asks.
    Reads,
    /// It adds something each time.
    Adds,
    /// It changes something; again changes nothing more.
    Changes,
    /// It changes something to and fro.
    Toggles,
    /// It removes something; again removes nothing more.
    Removes,
}

/// A tool that computes.
pub(crate) const fn local(
    name: &'static str,
    about: &'static str,
    arguments: &'static [Argument],
    run: fn(&Values) -> Result<String, Trouble>,
) -> Tool {
    Tool { name, title: "", about, arguments, act: Act::Local(run), effect: None, phase: "" }
}

/// A tool that sends requests.
pub(crate) const fn tool(
    name: &'static str,
    about: &'static str,
    arguments: &'static [Argument],
    steps: &'static [Step],
    shape: Shape,
) -> Tool {
    Tool { name, title: "", about, arguments, act: Act::Rest(steps, shape), effect: None, phase: "" }
}

/// A tool with a title that sends requests.
pub(crate) const fn titled(
    name: &'static str,
    title: &'static str,
    about: &'static str,
    arguments: &'static [Argument],
    steps: &'static [Step],
    shape: Shape,
) -> Tool {
    let mut tool = tool(name, about, arguments, steps, shape);
    tool.title = title;
    tool
}

impl Tool {
    /// It does this to the world, whatever its requests look like.
    pub(crate) const fn effect(mut self, effect: Effect) -> Self {
        self.effect = Some(effect);
        self
    }

    /// It is there only when this is switched on.
    pub(crate) const fn phase(mut self, phase: &'static str) -> Self {
        self.phase = phase;
        self
    }

    /// What it does to the world: said in its row, or following from the methods of its requests.
    pub(crate) fn does(&self) -> Effect {
        if let Some(effect) = self.effect {
            return effect;
        }
        let Act::Rest(steps, _) = self.act else { return Effect::Computes };
        let verbs = || steps.iter().filter_map(Step::verb);
        if verbs().any(|verb| verb == Verb::Delete) {
            Effect::Removes
        } else if verbs().any(|verb| matches!(verb, Verb::Put | Verb::Patch)) {
            Effect::Changes
        } else if verbs().any(|verb| verb == Verb::Post) {
            Effect::Adds
        } else {
            Effect::Reads
        }
    }
}
