//! The document around a page: head, navigation, notice, footer. This module must not know what a page shows.

use super::badge::{severity_icon, severity_word};
use super::icon::Glyph;
use crate::asset::{HTMX, ICON, SCRIPT, STYLE};
use crate::model::{Notice, PageFrame};
use crate::route;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Settings of htmx: it adds no styles and no animations, and sends no requests to other origins. Only the policy
/// of [`crate::asset`] keeps it from evaluating text as code. By default, it also shows responses with the status
/// 422.
const HTMX_CONFIG: &str = r#"{"includeIndicatorCSS":false,"mode":"same-origin","transitions":false}"#;

/// A page of the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Overview,
    Servers,
    Tools,
    Profiles,
    Playground,
    Calls,
    Live,
    Sessions,
    Keys,
    Access,
    Limits,
    Logins,
    Configuration,
    Connect,
    Replicas,
    Doctor,
}

/// A page of the navigation, with its label, its icon and its address.
type NavigationItem = (Section, &'static str, Glyph, &'static str);

/// The navigation: groups of pages.
const GROUPS: &[(&str, &[NavigationItem])] = &[
    (
        "",
        &[
            (Section::Overview, "Overview", Glyph::Overview, route::ROOT),
            (Section::Connect, "Connect", Glyph::Connect, route::CONNECT),
        ],
    ),
    (
        "Catalogue",
        &[
            (Section::Servers, "Servers", Glyph::Server, route::SERVERS),
            (Section::Tools, "Tools", Glyph::Tool, route::TOOLS),
            (Section::Profiles, "Profiles", Glyph::Profile, route::PROFILES),
            (Section::Playground, "Playground", Glyph::Playground, route::PLAYGROUND),
        ],
    ),
    (
        "Traffic",
        &[
            (Section::Calls, "Calls", Glyph::Calls, route::CALLS),
            (Section::Live, "Live", Glyph::Live, route::LIVE),
            (Section::Sessions, "Sessions", Glyph::Session, route::SESSIONS),
        ],
    ),
    (
        "Access",
        &[
            (Section::Keys, "Keys", Glyph::Key, route::KEYS),
            (Section::Access, "Access check", Glyph::Access, route::ACCESS),
            (Section::Limits, "Limits", Glyph::Limit, route::LIMITS),
            (Section::Logins, "Logins", Glyph::Login, route::LOGINS),
        ],
    ),
    (
        "System",
        &[
            (Section::Configuration, "Configuration", Glyph::Configuration, route::CONFIGURATION),
            (Section::Replicas, "Replicas", Glyph::Replica, route::REPLICAS),
            (Section::Doctor, "Doctor", Glyph::Doctor, route::DOCTOR),
        ],
    ),
];

/// The top of a page.
#[derive(Debug)]
pub(crate) struct Head<'a> {
    /// The page of the navigation.
    pub(crate) section: Section,
    /// The title for the browser's tab.
    pub(crate) title: String,
    /// The heading.
    pub(crate) heading: Markup,
    /// The sentence below the heading.
    pub(crate) lead: Markup,
    /// Buttons beside the heading.
    pub(crate) actions: Markup,
    /// The page above this one: its address and its name.
    pub(crate) above: Option<(&'a str, &'a str)>,
}

impl Head<'_> {
    /// The top of a page of the navigation, with a title and a sentence.
    pub(crate) fn of(section: Section, title: &str, lead: &str) -> Self {
        Self {
            section,
            title: title.to_owned(),
            heading: html! { (title) },
            lead: html! { (lead) },
            actions: PreEscaped(String::new()),
            above: None,
        }
    }
}

/// A page with the navigation.
pub(crate) fn page(frame: &PageFrame, head: &Head<'_>, content: &Markup) -> Markup {
    document(
        &head.title,
        "framed",
        &html! {
            a.skip href="#main" { "Skip to content" }
            header.bar {
                button.button.plain.menu type="button" popovertarget="menu" { (Glyph::Menu) "Menu" }
                (brand())
            }
            (navigation(frame, head.section))
            main id="main" tabindex="-1" {
                @if let Some(notice) = &frame.notice { (note(notice)) }
                header.head {
                    @if let Some((href, words)) = head.above { a.above href=(href) { (Glyph::Previous) (words) } }
                    div.row { h1 { (head.heading) } div.actions { (head.actions) } }
                    @if !head.lead.0.is_empty() { div.lead { (head.lead) } }
                }
                (content)
                footer {
                    span { "Dragoman " (frame.version) " at " (frame.address.name()) }
                    span { "All exact times are UTC." }
                }
            }
        },
    )
}

/// A document without navigation.
pub(crate) fn document(title: &str, class: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="htmx-config" content=(HTMX_CONFIG);
                title { (title) " · Dragoman" }
                link rel="icon" type="image/svg+xml" href=(ICON.path());
                link rel="stylesheet" href=(STYLE.path());
                script src=(HTMX.path()) defer {}
                script src=(SCRIPT.path()) type="module" {}
            }
            body class=(class) { (body) }
        }
    }
}

/// A message at the top of a page.
pub(crate) fn note(notice: &Notice) -> Markup {
    let (word, class) = severity_word(notice.severity);
    html! {
        div.notice.(class) role="status" {
            (severity_icon(notice.severity))
            div {
                p { strong { (word) ": " } (notice.text) }
                @if let Some(advice) = &notice.advice { p { (advice) } }
            }
        }
    }
}

/// The name of the product with its logo: two speech bubbles that meet.
pub(crate) fn brand() -> Markup {
    html! {
        a.brand href=(route::ROOT) {
            svg.sign viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" {
                path.left d="M3 5h9v9H8l-3 4v-4H3z" {}
                path.right d="M12 8h9v9h-2v4l-3-4h-4z" {}
            }
            "Dragoman"
        }
    }
}

fn navigation(frame: &PageFrame, current: Section) -> Markup {
    html! {
        nav id="menu" popover aria-label="Main" {
            (brand())
            @for (number, (group, pages)) in GROUPS.iter().enumerate() {
                @let id = format!("nav-{number}");
                @if !group.is_empty() { span.group id=(id) { (group) } }
                ul aria-labelledby=[(!group.is_empty()).then_some(&id)] {
                    @for (section, words, icon, path) in *pages {
                        li { a href=(path) aria-current=[(*section == current).then_some("page")] { (icon) span { (words) } (alert(frame, *section)) } }
                    }
                }
            }
            form.out method="post" action=(route::LOGOUT) {
                input type="hidden" name="csrf" value=(frame.csrf);
                span.who { (frame.admin.name()) }
                button.button.plain type="submit" { (Glyph::LogOut) "Log out" }
            }
        }
    }
}

/// The number beside a page that needs attention.
fn alert(frame: &PageFrame, section: Section) -> Markup {
    let (number, words) = match section {
        Section::Servers => (frame.failing_servers, "failing"),
        Section::Tools => (frame.pending_definitions, "to approve"),
        _ => (0, ""),
    };
    html! { @if number > 0 { span.alert { (number) span.vh { " " (words) } } } }
}
