//! Limits, and their current use.

use crate::model::{CapRow, LimitsPage, PageFrame, RateRow};
use crate::part::{
    Empty, Glyph, Head, Section, counted, empty, left_out, meter, page, percent, shown, table,
};
use crate::route;
use maud::{Markup, html};

/// The limits.
pub fn limits(frame: &PageFrame, data: &LimitsPage) -> Markup {
    let head = Head::of(
        Section::Limits,
        "Limits",
        "Rate limits with the requests that they refused, and caps with their current use.",
    );
    page(
        frame,
        &head,
        &html! {
            section aria-labelledby="rates" {
                h2 id="rates" { "Rate limits" }
                @if data.rates.is_empty() {
                    (empty(&Empty {
                        icon: Glyph::Limit,
                        title: "No rate limits",
                        text: "Callers may call as often as they like. To limit them, write rateLimits in the configuration.",
                        link: Some((route::CONFIGURATION, "Open the configuration")),
                    }))
                } @else { div.cards { @for rate in shown(&data.rates) { (rate_card(rate)) } } (left_out(&data.rates)) }
            }
            section aria-labelledby="caps" { h2 id="caps" { "Caps" } (caps(&data.caps)) }
        },
    )
}

fn rate_card(rate: &RateRow) -> Markup {
    html! {
        article.panel {
            h3 { (rate.scope) }
            p { strong { (rate.quota.name()) } " for each " (rate.per.name()) ", " (counted(rate.refused, "request", "requests")) " refused" }
        }
    }
}

fn caps(caps: &[CapRow]) -> Markup {
    let rows = html! {
        @for cap in shown(caps) { tr {
            td data-label="Key" { code { (cap.key.name()) } }
            td.text data-label="Meaning" { (cap.means) }
            td.n data-label="Limit" { (cap.limit.name()) }
            td.nb data-label="In use" { @match cap.used {
                Some((used, most)) => { (meter(used, most)) " " (percent(used, most)) },
                None => span.quiet { "–" },
            } }
        } }
    };
    html! {
        @if caps.is_empty() { p.quiet { "No caps are known." } }
        @else { (table("Caps", &[("Key", ""), ("Meaning", ""), ("Limit", "n"), ("In use", "")], &rows)) (left_out(caps)) }
    }
}
