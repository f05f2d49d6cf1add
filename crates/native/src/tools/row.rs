//! A tool as a row: its texts for readers, its arguments, and the action of a call.

use crate::arguments::argument::ToolArgument;
use crate::arguments::call_failure::CallFailure;
use crate::arguments::values::Values;
use crate::port::Verb;
use crate::rest::{Shape, Step};

/// A tool as a row of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolRow {
    /// The tool's name.
    pub(crate) name: &'static str,
    /// The tool's title for people, at most 60 characters; empty for none.
    pub(crate) title: &'static str,
    /// The tool's description, for a person or a model.
    pub(crate) about: &'static str,
    /// The tool's arguments.
    pub(crate) arguments: &'static [ToolArgument],
    /// The action of a call.
    pub(crate) action: ToolAction,
    /// The tool's effect on the environment, if that does not follow from its requests.
    pub(crate) effect: Option<Effect>,
    /// The tool's phase, which is a set of tools that the configuration can enable; empty if the tool is always offered.
    pub(crate) phase: &'static str,
}

/// A title, and optionally another description, for a tool whose row has the form that a preset requires.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wording {
    /// The tool's name.
    pub(crate) name: &'static str,
    /// The tool's title.
    pub(crate) title: &'static str,
    /// The tool's description; if empty, the row's description is used.
    pub(crate) about: &'static str,
}

/// The actions that a call can perform.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ToolAction {
    /// The tool computes an answer.
    Local(fn(&Values) -> Result<String, CallFailure>),
    /// The tool sends requests, and shows the answer to the last request in this shape.
    Rest(&'static [Step], Shape),
}

/// The effect of a tool on the environment (MCP, `ToolAnnotations`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// No effect: the tool only computes.
    Computes,
    /// No effect: the tool only reads from a service.
    Reads,
    /// The tool adds something each time.
    Adds,
    /// The tool changes something; repeating the call changes nothing more.
    Changes,
    /// The tool can move money; repeating the call moves it again.
    Pays,
    /// The tool switches something back and forth.
    Toggles,
    /// The tool removes something; repeating the call removes nothing more.
    Removes,
}

/// A tool that computes its answer, and sends no request.
pub(crate) const fn local(
    name: &'static str,
    about: &'static str,
    arguments: &'static [ToolArgument],
    run: fn(&Values) -> Result<String, CallFailure>,
) -> ToolRow {
    ToolRow { name, title: "", about, arguments, action: ToolAction::Local(run), effect: None, phase: "" }
}

/// A tool that sends requests.
pub(crate) const fn tool(
    name: &'static str,
    about: &'static str,
    arguments: &'static [ToolArgument],
    steps: &'static [Step],
    shape: Shape,
) -> ToolRow {
    ToolRow {
        name,
        title: "",
        about,
        arguments,
        action: ToolAction::Rest(steps, shape),
        effect: None,
        phase: "",
    }
}

/// A tool with a title that sends requests.
pub(crate) const fn titled(
    name: &'static str,
    title: &'static str,
    about: &'static str,
    arguments: &'static [ToolArgument],
    steps: &'static [Step],
    shape: Shape,
) -> ToolRow {
    let mut tool = tool(name, about, arguments, steps, shape);
    tool.title = title;
    tool
}

impl ToolRow {
    /// Sets the tool's effect on the environment, overriding the effect that its requests suggest.
    pub(crate) const fn effect(mut self, effect: Effect) -> Self {
        self.effect = Some(effect);
        self
    }

    /// Sets the shape of the answer.
    pub(crate) const fn shown(mut self, shape: Shape) -> Self {
        if let ToolAction::Rest(steps, _) = self.action {
            self.action = ToolAction::Rest(steps, shape);
        }
        self
    }

    /// Sets the phase that enables the tool.
    pub(crate) const fn phase(mut self, phase: &'static str) -> Self {
        self.phase = phase;
        self
    }

    /// The tool's effect on the environment: from its row, or from the methods of its requests.
    pub(crate) fn does(&self) -> Effect {
        if let Some(effect) = self.effect {
            return effect;
        }
        let ToolAction::Rest(steps, _) = self.action else { return Effect::Computes };
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
