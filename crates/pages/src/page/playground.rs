//! The playground: a form from a tool's schema, and the call with everything that happens during it.

use super::access::verdict;
use super::tools::options;
use crate::model::{
    FieldKind, ForeignText, OpenQuestion, PageFrame, PlaygroundPage, PlaygroundRun, PlaygroundTool, RunState,
    SchemaField, ToolRow,
};
use crate::part::{
    Button, Empty, Glyph, Head, InputLine, Section, Tone, badge, button, chooser, code, counted, duration,
    empty, field, filter, hints, left_out, messages, named_field, page, post, schema_field, select, shown,
    submit,
};
use crate::route;
use maud::{Markup, html};

/// The playground.
pub fn playground(frame: &PageFrame, data: &PlaygroundPage) -> Markup {
    let head = Head::of(
        Section::Playground,
        "Playground",
        "Call a tool by hand, answer its questions, and read the messages of both sides.",
    );
    page(
        frame,
        &head,
        &html! {
            (choices(data))
            div.bench id="bench" {
                div.finder {
                    (search(data))
                    nav.tools aria-label="Tools" id="tools" { (tools(data)) }
                }
                div.stage {
                    @match &data.tool {
                        Some(tool) => (form(frame, data, tool)),
                        None => (empty(&Empty { icon: Glyph::Playground, title: "Choose a tool", text: "The form for its arguments is made from its schema.", link: None })),
                    }
                    @if let Some(run) = &data.run { (playground_run(frame, run)) }
                }
            }
        },
    )
}

/// One run. The stream [`route::RUN_EVENTS`] sends it again whenever something happens.
pub fn playground_run(frame: &PageFrame, run: &PlaygroundRun) -> Markup {
    let live = matches!(run.state, RunState::Running | RunState::Asking);
    let stream = live.then(|| route::with_query(route::RUN_EVENTS, &[("run", &run.id)]));
    html! {
        section.panel.run id="run" data-stream=[stream] aria-labelledby="run-title" {
            div.row role="status" {
                h2 id="run-title" { "Call of " code { (run.tool.name()) } }
                (state(run.state))
                span.quiet { (duration(run.duration_us)) }
                @if live { (button(frame, route::PLAYGROUND_CANCEL, Button::Danger, Glyph::Stop, "Cancel", &[("run", &run.id)])) }
            }
            (progress(run))
            @if let Some(question) = &run.question { (self::question(frame, run, question)) }
            @if let Some(answer) = &run.answer {
                h3 { @if run.state == RunState::Failed { "Error" } @else { "Result" } }
                (code("Answer", answer))
            }
            @if !run.messages.is_empty() { h3 { "Messages" } (messages(&run.messages)) }
            @if live { p.hint data-stream-state { noscript { "Reload the page to see what has happened since." } } }
        }
    }
}

/// The choices of a profile and a caller, on which all parts of the page below depend.
fn choices(data: &PlaygroundPage) -> Markup {
    let profiles: Vec<_> = data.profiles.iter().map(|name| (name.raw(), name.label())).collect();
    chooser(
        route::PLAYGROUND,
        "bench",
        &html! {
            @if let Some(tool) = &data.tool { input type="hidden" name="tool" value=(tool.name.value()); }
            (select("f", "profile", "Profile", data.profile.raw(), &profiles))
            (select("f", "caller", "With the rules for", data.caller.raw(), &options("me, the administrator", &data.callers)))
        },
    )
}

/// The filter of the tools. It changes neither the form of the tool nor the arguments that were typed into this
/// form.
fn search(data: &PlaygroundPage) -> Markup {
    filter(
        route::PLAYGROUND,
        "tools",
        &html! {
            input type="hidden" name="profile" value=(data.profile.value());
            input type="hidden" name="caller" value=(data.caller.value());
            @if let Some(tool) = &data.tool { input type="hidden" name="tool" value=(tool.name.value()); }
            (field(InputLine { name: "q", label: "Tool", value: data.q.raw(), kind: "search", ..InputLine::default() }))
        },
    )
}

fn tools(data: &PlaygroundPage) -> Markup {
    let chosen = data.tool.as_ref().map(|tool| tool.name.raw());
    html! {
        @if data.tools.is_empty() && data.denied.is_empty() { p.quiet { "No matching tools." } }
        @else if data.tools.is_empty() { p.quiet { code { (data.caller.name()) } " may use none of these tools." } }
        (tool_list(data, &data.tools, chosen))
        @if !data.denied.is_empty() {
            p.quiet { (Glyph::Deny) "Not for " code { (data.caller.name()) } ":" }
            (tool_list(data, &data.denied, chosen))
        }
    }
}

fn tool_list(data: &PlaygroundPage, tools: &[ToolRow], chosen: Option<&str>) -> Markup {
    html! {
        @if !tools.is_empty() { ul {
            @for row in shown(tools) {
                @let pairs = [("profile", data.profile.raw()), ("caller", data.caller.raw()), ("q", data.q.raw()), ("tool", row.client_name.raw())];
                li { a href=(route::with_query(route::PLAYGROUND, &pairs)) aria-current=[(chosen == Some(row.client_name.raw())).then_some("true")] {
                    (row.client_name.name())
                    @if !row.title.is_empty() { span.sub { (row.title.name()) } }
                } }
            }
        } }
        (left_out(tools))
    }
}

fn form(frame: &PageFrame, data: &PlaygroundPage, tool: &PlaygroundTool) -> Markup {
    html! {
        section.panel aria-labelledby="tool" {
            div.row { h2 id="tool" { code { (tool.name.name()) } } (hints(tool.hints)) a href=(route::server(tool.server.raw())) { (tool.server.name()) } }
            @if !tool.title.is_empty() { p { strong { (tool.title) } } }
            @if !tool.description.is_empty() { div.prose.clamp-more tabindex="0" role="group" aria-label="Description" { (tool.description.block()) } }
            @if let Some(answer) = &tool.verdict {
                (verdict(answer))
                p.hint { "Only the rules of " code { (data.caller.name()) } " are tested. The call uses your own session, and never that caller's logins or credentials." }
            }
            (post(frame, route::PLAYGROUND_RUN, "stack", &html! {
                input type="hidden" name="profile" value=(data.profile.value());
                input type="hidden" name="caller" value=(data.caller.value());
                input type="hidden" name="tool" value=(tool.name.value());
                (arguments(tool))
                @if tool.verdict.as_ref().is_none_or(|answer| answer.allowed) { (submit(Button::Main, Glyph::Run, "Call the tool")) }
                @else { p.hint { "The rules of " code { (data.caller.name()) } " do not allow this call." } }
            }))
        }
    }
}

fn arguments(tool: &PlaygroundTool) -> Markup {
    if tool.as_json {
        let whole = SchemaField {
            name: "arguments".into(),
            label: "arguments".into(),
            description: "All arguments as one JSON object.".into(),
            kind: FieldKind::Json,
            value: tool.arguments.clone(),
            ..SchemaField::default()
        };
        return named_field(&whole, "arguments", "arg", 0);
    }
    html! {
        @if tool.fields.is_empty() { p.quiet { "This tool takes no arguments." } }
        div.fields { @for (number, item) in tool.fields.iter().enumerate() { (schema_field(item, "arg", number)) } }
    }
}

fn state(state: RunState) -> Markup {
    match state {
        RunState::Running => badge(Tone::Accent, Glyph::Busy, "running"),
        RunState::Asking => badge(Tone::Warn, Glyph::Unknown, "asks you"),
        RunState::Done => badge(Tone::Good, Glyph::Check, "done"),
        RunState::Failed => badge(Tone::Bad, Glyph::Bad, "failed"),
        RunState::Cancelled => badge(Tone::Quiet, Glyph::Stop, "cancelled"),
    }
}

fn progress(run: &PlaygroundRun) -> Markup {
    let Some(last) = run.progress.last() else { return html! {} };
    let bar = last.total.filter(|total| *total > 0.0 && last.value.is_finite() && total.is_finite());
    html! {
        div.progress {
            @match bar {
                Some(total) => progress aria-label="Progress of the call" value=(last.value.clamp(0.0, total)) max=(total) {},
                None => progress aria-label="Progress of the call" {},
            }
            span { (last.text) }
        }
        details.raw data-key="progress" { summary { (counted(run.progress.len() as u64, "report", "reports")) " of progress" }
            ol.history { @for mark in run.progress.iter().rev().take(200) { li {
                span.quiet { "+" (duration(mark.after_us)) } " " (number(mark.value)) @if let Some(total) = mark.total { " of " (number(total)) } " " (mark.text)
            } } }
        }
    }
}

fn number(value: f64) -> ForeignText {
    ForeignText::new(format!("{value}"))
}

fn question(frame: &PageFrame, run: &PlaygroundRun, question: &OpenQuestion) -> Markup {
    let answer = |value: &str, class: &str, icon: Glyph, words: &str, skip: bool| {
        html! { button.button.(class) type="submit" name="action" value=(value) formnovalidate[skip] { (icon) (words) } }
    };
    html! {
        section.ask data-question=(question.id) aria-labelledby="question" {
            h3 id="question" { (Glyph::Unknown) "The server asks" }
            div.prose { (question.text.block()) }
            @if let Some(url) = &question.url {
                p { "It wants you to open this address. Check that you trust it, then copy it into your browser:" }
                (code("Address", url))
            }
            (post(frame, route::PLAYGROUND_ANSWER, "stack", &html! {
                input type="hidden" name="run" value=(run.id);
                input type="hidden" name="question" value=(question.id);
                div.fields { @for (number, item) in question.fields.iter().enumerate() { (schema_field(item, "answer", number)) } }
                div.row {
                    (answer("accept", "main", Glyph::Send, if question.url.is_some() { "I have opened it" } else { "Send the answer" }, false))
                    (answer("decline", "plain", Glyph::Deny, "Decline", true))
                    (answer("cancel", "plain", Glyph::Close, "Dismiss", true))
                }
            }))
        }
    }
}
