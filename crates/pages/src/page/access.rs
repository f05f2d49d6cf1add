//! The access check: the decision whether a caller may use a tool, and the rule behind the decision.

use super::tools::options;
use crate::model::{AccessPage, AccessReach, AccessStep, AccessVerdict, ForeignText, PageFrame, RuleEffect};
use crate::part::{
    Button, Empty, Glyph, Head, InputLine, Section, Tone, badge, count, counted, empty, faults, field,
    left_out, page, select, shown, submit, table,
};
use crate::route;
use maud::{Markup, html};

/// The access check.
pub fn access(frame: &PageFrame, data: &AccessPage) -> Markup {
    let head = Head::of(
        Section::Access,
        "Access check",
        "Check if a caller may use a tool, and which rule decides. No tool is called.",
    );
    page(
        frame,
        &head,
        &html! {
            (form(data))
            (faults(data.fault.as_slice()))
            @if let Some(answer) = &data.verdict { section aria-labelledby="answer" { h2 id="answer" { "Answer" } (verdict(answer)) (steps(&answer.steps)) } }
            @else if let Some(reach) = &data.reach { section aria-labelledby="answer" { h2 id="answer" { "Answer" } (self::reach(reach)) } }
            section aria-labelledby="rules" { h2 id="rules" { "Rules" } (rules(data)) }
        },
    )
}

/// The answer as one sentence; the playground shows it, too.
pub(super) fn verdict(answer: &AccessVerdict) -> Markup {
    let (class, icon, word) =
        if answer.allowed { ("good", Glyph::Good, "Yes. ") } else { ("bad", Glyph::Deny, "No. ") };
    html! { div.notice.(class) role="status" { (icon) div { p { strong { (word) } (answer.reason) } } } }
}

/// The tools of the profile that the caller may use.
fn reach(reach: &AccessReach) -> Markup {
    let may = reach.allowed.len() as u64;
    let all = may + reach.denied.len() as u64;
    let (class, icon) = if may > 0 { ("good", Glyph::Good) } else { ("bad", Glyph::Deny) };
    let names = |names: &[ForeignText]| html! { p { @for (at, name) in shown(names).iter().enumerate() { @if at > 0 { ", " } code { (name.name()) } } } (left_out(names)) };
    html! {
        div.notice.(class) role="status" { (icon) div { p { @match &reach.refusal {
            Some(reason) => { strong { "No. " } (reason) }
            None => { "The caller may use " strong { (count(may)) " of " (counted(all, "tool", "tools")) } " of the profile. To see which rule decides about a tool, choose it above." }
        } } } }
        @if may > 0 && !reach.denied.is_empty() { details.raw { summary { "The tools that it may use" } (names(&reach.allowed)) } }
        @if !reach.denied.is_empty() { details.raw { summary { "The tools that it may not use" } (names(&reach.denied)) } }
    }
}

/// Links to rules, with the words around them.
pub(super) fn rule_links(rules: &[u64]) -> Markup {
    html! { @for (at, rule) in rules.iter().enumerate() {
        @if at > 0 { ", " }
        a href=(format!("{}#rule-{rule}", route::ACCESS)) { "rule " (rule) }
    } }
}

fn form(data: &AccessPage) -> Markup {
    let form = &data.form;
    html! {
        form.panel.stack method="get" action=(route::ACCESS) {
            div.fields {
                (listed("caller", "Caller", form.caller.raw(), "ci-bot, user:ann or anyone", &data.callers))
                (select("ask", "profile", "Profile", form.profile.raw(), &options("default", &data.profiles)))
                (listed("tool", "Tool", form.tool.raw(), "blog__delete_post", &data.tools))
                (field(InputLine { form: "ask", name: "address", label: "Address of the client", value: form.address.raw(), example: "10.1.2.3", hint: "Only for rules with ip", ..InputLine::default() }))
            }
            div.field.wide {
                label for="ask-arguments" { "Arguments as JSON" }
                textarea.mono id="ask-arguments" name="arguments" rows="3" data-json spellcheck="false" aria-describedby="ask-arguments-hint" { "\n" (form.arguments.value()) }
                p.hint id="ask-arguments-hint" { "Only for rules with " code { "when: { arguments }" } }
            }
            (submit(Button::Main, Glyph::Access, "Check"))
        }
    }
}

/// A field with suggestions.
fn listed(name: &str, label: &str, value: &str, example: &str, list: &[crate::model::ForeignText]) -> Markup {
    let id = format!("ask-{name}");
    let list_id = format!("{id}-list");
    html! {
        div.field {
            label for=(id) { (label) }
            input id=(id) name=(name) type="text" value=(crate::foreign::field_value(value)) placeholder=(example) list=(list_id) autocomplete="off" spellcheck="false" autocapitalize="off";
            datalist id=(list_id) { @for item in list.iter().take(500) { option value=(item.value()) {} } }
        }
    }
}

fn steps(steps: &[AccessStep]) -> Markup {
    let rows = html! {
        @for step in steps { tr {
            td data-label="Check" { code { (step.check) } @if let Some(line) = step.line { div.sub { "line " (line) } } }
            td data-label="Effect" { @match step.effect {
                RuleEffect::Allows => (badge(Tone::Good, Glyph::Check, "allows")),
                RuleEffect::Denies => (badge(Tone::Bad, Glyph::Deny, "denies")),
                RuleEffect::Skipped => (badge(Tone::Quiet, Glyph::Go, "does not apply")),
                RuleEffect::Overruled => (badge(Tone::Quiet, Glyph::Check, "applies")),
            } }
            td.reason data-label="Reason" { (step.why) }
        } }
    };
    html! { @if !steps.is_empty() { (table("Checks, in order", &[("Check", ""), ("Effect", ""), ("Reason", "")], &rows)) } }
}

fn rules(data: &AccessPage) -> Markup {
    let rows = html! {
        @for rule in shown(&data.rules) { tr id=(format!("rule-{}", rule.number)) {
            td data-label="Rule" { (rule.number) }
            td data-label="Effect" { @if rule.allows { (badge(Tone::Good, Glyph::Check, "allow")) } @else { (badge(Tone::Bad, Glyph::Deny, "deny")) } }
            td data-label="Items" { code { (rule.patterns) } }
            td.text data-label="Applies to" { @if rule.conditions.is_empty() { "everybody, everywhere" } @else { (rule.conditions) } }
        } }
    };
    html! {
        @if data.rules.is_empty() {
            (empty(&Empty {
                icon: Glyph::Access,
                title: "No access rules",
                text: "Every admitted caller may use everything in its profiles. Write rules under access in the configuration.",
                link: Some((route::CONFIGURATION, "Open the configuration")),
            }))
        } @else {
            p.quiet { "A deny rule always wins. If there are allow rules, callers may use only what those rules allow." }
            (table("Rules", &[("Rule", ""), ("Effect", ""), ("Items", ""), ("Applies to", "")], &rows))
            (left_out(&data.rules))
        }
    }
}
