//! The ways to connect a client, with a self-test that waits for its first request.

use crate::model::{ClientSnippet, ConnectPage, PageFrame, SelfTest, SelfTestState};
use crate::part::{
    Button, Empty, Glyph, Head, Section, Tone, badge, button, copyable, empty, facts, page, select,
    severity_icon, severity_word, snippet, submit, when,
};
use crate::route;
use maud::{Markup, html};

/// The snippets for clients, and the self-test.
pub fn connect(frame: &PageFrame, data: &ConnectPage) -> Markup {
    let head = Head::of(
        Section::Connect,
        "Connect a client",
        "Copy the snippet for your client, then let the self-test watch its first request.",
    );
    let chosen = data.clients.iter().find(|client| client.id == data.client).or(data.clients.first());
    page(
        frame,
        &head,
        &html! {
            @if !data.notes.is_empty() { div.notice.note { (Glyph::Note) div { @for note in &data.notes { p { (note) } } } } }
            section aria-labelledby="address" {
                h2 id="address" { "1. Address" }
                @if let Some(unknown) = &data.unknown { div.notice.warn { (Glyph::Warning) div { p { "There is no profile " code { (unknown.name()) } ". The address below is that of " code { (data.profile.name()) } "." } } } }
                (profile(data))
                (facts(&[
                    ("URL", copyable("url", "URL", &data.url)),
                    ("Header", html! { @match &data.header {
                        Some((name, value)) => { code { (name.name()) ": " (value.name()) } " " a href=(format!("{}#new", route::with_query(route::KEYS, &[("profile", data.profile.raw()), ("client", &data.client)]))) { "Make a key" } },
                        None => span.quiet { "none: this address needs no authentication" },
                    } }),
                ]))
            }
            section aria-labelledby="client" {
                h2 id="client" { "2. Client" }
                @match chosen {
                    Some(client) => { (clients(data, client)) (client_snippet(client)) },
                    None => (empty(&Empty { icon: Glyph::Connect, title: "No snippets", text: "Give your client the URL above, and choose the transport Streamable HTTP.", link: None })),
                }
            }
            section aria-labelledby="test-title" {
                h2 id="test-title" { "3. Self-test" }
                @match &data.test {
                    Some(test) => (connect_test(frame, test)),
                    None => {
                        p { "Start the test, then start your client. Dragoman shows what the client sends first, and what is wrong with it." }
                        (button(frame, route::CONNECT_TEST, Button::Main, Glyph::Run, "Start the self-test", &[("profile", data.profile.raw()), ("client", &data.client)]))
                    },
                }
            }
        },
    )
}

/// The self-test. The stream [`route::TEST_EVENTS`] sends it again whenever something happens.
pub fn connect_test(frame: &PageFrame, test: &SelfTest) -> Markup {
    let live = matches!(test.state, SelfTestState::Waiting | SelfTestState::Talking);
    let stream = live.then(|| route::with_query(route::TEST_EVENTS, &[("test", &test.id)]));
    let (tone, icon, words) = match test.state {
        SelfTestState::Waiting => (Tone::Accent, Glyph::Waiting, "waiting for the first request"),
        SelfTestState::Talking => (Tone::Accent, Glyph::Busy, "the client is connecting"),
        SelfTestState::Works => (Tone::Good, Glyph::Good, "it works"),
        SelfTestState::Fails => (Tone::Bad, Glyph::Bad, "something is wrong"),
        SelfTestState::Over => (Tone::Warn, Glyph::Clock, "no request arrived in time"),
    };
    html! {
        div.panel id="test" data-stream=[stream] {
            div.row role="status" {
                (badge(tone, icon, words))
                @if live {
                    span.quiet { "ends" } (when(frame.now, test.until))
                    (button(frame, route::CONNECT_TEST, Button::Plain, Glyph::Stop, "Stop", &[("stop", &test.id)]))
                }
            }
            ol.history { @for event in &test.events {
                @let (word, class) = severity_word(event.severity);
                li.(class) {
                    (severity_icon(event.severity)) span.vh { (word) ": " }
                    div { (event.text) @if let Some(advice) = &event.advice { p.help { (advice) } } }
                    (when(frame.now, event.at))
                }
            } }
            @if live { p.hint data-stream-state { noscript { "Reload the page to see what has happened since." } } }
            @if test.state == SelfTestState::Over { p.help { "Check that the client uses exactly the URL above, and that it was started after the test." } }
        }
    }
}

fn profile(data: &ConnectPage) -> Markup {
    let options: Vec<_> = data.profiles.iter().map(|name| (name.raw(), name.label())).collect();
    html! {
        @if options.len() > 1 {
            form.row method="get" action=(route::CONNECT) {
                input type="hidden" name="client" value=(data.client);
                (select("for", "profile", "Profile", data.profile.raw(), &options))
                div.field { (submit(Button::Plain, Glyph::Check, "Use it")) }
            }
        }
    }
}

fn clients(data: &ConnectPage, chosen: &ClientSnippet) -> Markup {
    html! {
        nav.segments.wrap aria-label="Clients" {
            @for client in &data.clients {
                a href=(route::with_query(route::CONNECT, &[("profile", data.profile.raw()), ("client", client.id)])) aria-current=[(client.id == chosen.id).then_some("true")] { (client.name) }
            }
        }
    }
}

fn client_snippet(client: &ClientSnippet) -> Markup {
    html! {
        p.place { (Glyph::Terminal) "For " strong { (client.name) } ", in " code { (client.place) } }
        (snippet("snippet", &format!("snippet for {}", client.name), &client.text))
        @if !client.then.is_empty() { p { (client.then) } }
    }
}
