//! Forms: fields with labels, buttons, and forms that ask for confirmation. They work without scripts. This module must not know where a
//! form leads.

use super::icon::Glyph;
use crate::foreign::field_value;
use crate::model::{FieldKind, ForeignText, PageFrame, SchemaField};
use crate::route::encoded;
use maud::{Markup, html};

/// A field of one line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InputLine<'a> {
    /// The name in the form; also the id, after a prefix.
    pub(crate) name: &'a str,
    /// The prefix of the id, different for each form of a page.
    pub(crate) form: &'a str,
    /// The label above the field.
    pub(crate) label: &'a str,
    /// The value.
    pub(crate) value: &'a str,
    /// The example in the empty field.
    pub(crate) example: &'a str,
    /// The sentence below the field.
    pub(crate) hint: &'a str,
    /// The type of the field.
    pub(crate) kind: &'a str,
}

impl Default for InputLine<'_> {
    fn default() -> Self {
        Self { name: "", form: "f", label: "", value: "", example: "", hint: "", kind: "text" }
    }
}

/// A field of one line, with its label.
pub(crate) fn field(field: InputLine<'_>) -> Markup {
    let id = format!("{}-{}", field.form, field.name);
    let hint = format!("{id}-hint");
    let described = (!field.hint.is_empty()).then_some(&hint);
    let autocomplete = match (field.kind, field.name) {
        ("password", _) => "current-password",
        (_, "name") if field.form == "login" => "username",
        _ => "off",
    };
    html! {
        div.field {
            label for=(id) { (field.label) }
            input id=(id) name=(field.name) type=(field.kind) value=(field_value(field.value)) placeholder=[non_empty(field.example)]
                autocomplete=(autocomplete) spellcheck="false" autocapitalize="off" aria-describedby=[described];
            @if !field.hint.is_empty() { p.hint id=(hint) { (field.hint) } }
        }
    }
}

/// A choice. Options are pairs of a value and a label.
pub(crate) fn select(
    form: &str,
    name: &str,
    label: &str,
    chosen: &str,
    options: &[(&str, String)],
) -> Markup {
    let id = format!("{form}-{name}");
    html! {
        div.field {
            label for=(id) { (label) }
            select id=(id) name=(name) {
                @for (value, words) in options { option value=(field_value(value)) selected[*value == chosen] { (words) } }
                @if !chosen.is_empty() && !options.iter().any(|(value, _)| *value == chosen) {
                    option value=(field_value(chosen)) selected { (ForeignText::from(chosen).label()) }
                }
            }
        }
    }
}

/// The look of a button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Button {
    /// The one action that the page suggests.
    Main,
    /// An action.
    Plain,
    /// An action that removes something.
    Danger,
}

impl Button {
    fn class(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Plain => "plain",
            Self::Danger => "danger",
        }
    }
}

/// The button that sends a form.
pub(crate) fn submit(look: Button, icon: Glyph, words: &str) -> Markup {
    html! { button.button.(look.class()) type="submit" { (icon) (words) } }
}

/// A form that is one button.
pub(crate) fn button(
    frame: &PageFrame,
    action: &str,
    look: Button,
    icon: Glyph,
    words: &str,
    fields: &[(&str, &str)],
) -> Markup {
    let hidden = html! { @for (name, value) in fields { input type="hidden" name=(name) value=(field_value(value)); } };
    post(frame, action, "inline", &html! { (hidden) (submit(look, icon, words)) })
}

/// The reasons why something that was entered cannot be used, which screen readers announce.
pub(crate) fn faults(list: &[ForeignText]) -> Markup {
    html! { @if !list.is_empty() { div.faults role="alert" { (reasons(list)) } } }
}

/// The reasons why a form was refused, on the page that answers it. They receive the focus: the browser then shows
/// this part of the page, and the Tab key leads to the fields of the form.
pub(crate) fn refused(id: &str, list: &[ForeignText]) -> Markup {
    html! { @if !list.is_empty() { div.faults id=(id) role="alert" tabindex="-1" autofocus { (reasons(list)) } } }
}

fn reasons(list: &[ForeignText]) -> Markup {
    html! { ul { @for fault in list { li { (Glyph::Bad) span { (fault) } } } } }
}

/// A form that is sent by POST, with the token.
pub(crate) fn post(frame: &PageFrame, action: &str, class: &str, content: &Markup) -> Markup {
    html! {
        form method="post" action=(action) class=(class) {
            input type="hidden" name="csrf" value=(frame.csrf);
            (content)
        }
    }
}

/// The texts of a form that removes something: the name that must be typed, and the words around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Confirmed<'a> {
    /// The prefix of the ids.
    pub(crate) form: &'a str,
    /// The label of the button.
    pub(crate) words: &'a str,
    /// The sentence that describes the effect.
    pub(crate) effect: &'a str,
    /// The name to type.
    pub(crate) name: &'a ForeignText,
    /// More fields: names and values.
    pub(crate) fields: &'a [(&'a str, &'a str)],
}

/// A form that removes something. It opens above the page, and the operator has to type the name. The script gives the focus to the
/// field: with `autofocus`, the field would also ask for it while the form is closed.
pub(crate) fn confirmed(frame: &PageFrame, action: &str, ask: Confirmed<'_>) -> Markup {
    let id = format!("{}-confirm", ask.form);
    let sheet = format!("{}-sheet", ask.form);
    html! {
        button.button.danger type="button" popovertarget=(sheet) { (Glyph::Remove) (ask.words) }
        div.sheet id=(sheet) popover role="dialog" aria-label=(ask.words) {
            p { (ask.effect) }
            (post(frame, action, "stack", &html! {
                @for (name, value) in ask.fields { input type="hidden" name=(name) value=(field_value(value)); }
                div.field.wide {
                    label for=(id) { "Type " code { (ask.name.name()) } " to confirm" }
                    input id=(id) name="confirm" type="text" required autocomplete="off" spellcheck="false" autocapitalize="off";
                }
                (submit(Button::Danger, Glyph::Remove, ask.words))
            }))
        }
    }
}

/// A field that was made from a schema. Its name is encoded, because a form cannot send every name.
pub(crate) fn schema_field(field: &SchemaField, form: &str, number: usize) -> Markup {
    named_field(field, &format!("arg.{}", encoded(field.name.raw())), form, number)
}

/// Like [`schema_field`], but with the name `name`.
pub(crate) fn named_field(field: &SchemaField, name: &str, form: &str, number: usize) -> Markup {
    let id = format!("{form}-{number}");
    let hint = format!("{id}-hint");
    let fault = format!("{id}-fault");
    let described = [
        (!field.description.is_empty()).then_some(hint.as_str()),
        field.fault.as_ref().map(|_| fault.as_str()),
    ];
    let described = described.into_iter().flatten().collect::<Vec<_>>().join(" ");
    html! {
        div.field.wide[matches!(field.kind, FieldKind::Text | FieldKind::Json)] {
            label for=(id) {
                code { (field.label.name()) }
                @if field.required { " " span.quiet { "required" } }
            }
            (schema_input(field, &id, name, &described))
            @if !field.description.is_empty() { p.hint id=(hint) { (field.description) } }
            @if let Some(text) = &field.fault { p.fault id=(fault) { (Glyph::Bad) (text) } }
        }
    }
}

fn schema_input(field: &SchemaField, id: &str, name: &str, described: &str) -> Markup {
    let describe = non_empty(described);
    let invalid = field.fault.is_some().then_some("true");
    let value = &*field.value.value();
    let line = |kind: &str, step: Option<&str>, minimum: Option<i64>, maximum: Option<i64>| {
        html! {
            input id=(id) name=(name) type=(kind) value=(value) step=[step] min=[minimum] max=[maximum] required[field.required]
                aria-describedby=[describe] aria-invalid=[invalid] autocomplete="off" spellcheck="false";
        }
    };
    match &field.kind {
        FieldKind::Line => line("text", None, None, None),
        FieldKind::Integer { minimum, maximum } => line("number", Some("1"), *minimum, *maximum),
        FieldKind::Number => line("number", Some("any"), None, None),
        FieldKind::Date => line("date", None, None, None),
        FieldKind::Email => line("email", None, None, None),
        FieldKind::Url => line("url", None, None, None),
        FieldKind::Text => html! {
            textarea id=(id) name=(name) rows="4" required[field.required] aria-describedby=[describe] aria-invalid=[invalid] { "\n" (value) }
        },
        FieldKind::Json => html! {
            textarea.mono id=(id) name=(name) rows="6" data-json spellcheck="false" required[field.required] aria-describedby=[describe]
                aria-invalid=[invalid] { "\n" (value) }
        },
        FieldKind::Flag => html! {
            select id=(id) name=(name) required[field.required] aria-describedby=[describe] aria-invalid=[invalid] {
                @if !field.required || !["true", "false"].contains(&value) { option value="" { "not set" } }
                @for flag in ["true", "false"] { option value=(flag) selected[value == flag] { (flag) } }
            }
        },
        FieldKind::One(options) => html! {
            select id=(id) name=(name) required[field.required] aria-describedby=[describe] aria-invalid=[invalid] {
                @if !field.required || !options.iter().any(|option| option.value() == value) { option value="" { "not set" } }
                @for option in options { option value=(option.value()) selected[option.value() == value] { (option.label()) } }
            }
        },
        FieldKind::Some(options) => html! {
            select id=(id) name=(name) multiple size=(options.len().clamp(2, 6)) required[field.required] aria-describedby=[describe] aria-invalid=[invalid] {
                @for option in options { option value=(option.value()) selected[value.lines().any(|line| line == option.value())] { (option.label()) } }
            }
        },
    }
}

fn non_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}
