//! The gateways of a cluster, and the store that they share.

use crate::model::{CopiedEventsRow, PageFrame, ReplicasPage, StoreRow, StoreStanding};
use crate::part::{
    Empty, Glyph, Head, Section, Tone, badge, bytes, count, empty, facts, left_out, page, shown, table, when,
};
use crate::route;
use maud::{Markup, html};

/// The gateways of the cluster.
pub fn replicas(frame: &PageFrame, data: &ReplicasPage) -> Markup {
    let lead = "Gateways that share sessions and API keys, and the store through which they share them.";
    let head = Head::of(Section::Replicas, "Replicas", lead);
    page(
        frame,
        &head,
        &html! {
            @if let Some(store) = &data.store {
                section aria-labelledby="store" { h2 id="store" { "Store" } (store_facts(frame, store)) }
                section aria-labelledby="gateways" { h2 id="gateways" { "Gateways" } (gateways(frame, data, store)) }
                @if let Some(events) = &data.events {
                    section aria-labelledby="events" { h2 id="events" { "Events of this gateway in the store" } (event_facts(events)) }
                }
            } @else {
                (empty(&Empty {
                    icon: Glyph::Replica,
                    title: "This gateway works alone",
                    text: "One gateway serves tens of thousands of calls a second. To let several gateways share sessions and \
                           keys, so that they survive the failure of one machine, write cluster in the configuration.",
                    link: Some((route::CONFIGURATION, "Open the configuration")),
                }))
            }
        },
    )
}

fn store_facts(frame: &PageFrame, store: &StoreRow) -> Markup {
    let (tone, glyph, word) = match store.standing {
        StoreStanding::Connecting => (Tone::Accent, Glyph::Busy, "connecting"),
        StoreStanding::Ready => (Tone::Good, Glyph::Good, "ready"),
        StoreStanding::Unreachable => (Tone::Bad, Glyph::Bad, "unreachable"),
        StoreStanding::Unfit => (Tone::Bad, Glyph::Bad, "cannot be used"),
    };
    let label = if store.standing == StoreStanding::Ready { "Version" } else { "Reason" };
    let detail = html! { @match &store.detail { Some(text) => (text), None => span.quiet { "–" } } };
    facts(&[("State", badge(tone, glyph, word)), (label, detail), ("Since", when(frame.now, store.since))])
}

/// The events that clients can get at another gateway.
fn event_facts(events: &CopiedEventsRow) -> Markup {
    html! {
        p.quiet { "If this gateway ends, clients resume their event streams at another one, which reads the events from the store." }
        (facts(&[
            ("Copied events", html! { (count(events.copied)) }),
            ("Events that were not copied", html! { (count(events.lost)) }),
            ("Streams in the store", html! { (count(events.streams)) " (" (bytes(events.bytes)) ")" }),
            ("Streams of other gateways resumed here", html! { (count(events.resumed)) }),
        ]))
    }
}

fn gateways(frame: &PageFrame, data: &ReplicasPage, store: &StoreRow) -> Markup {
    let rows = html! {
        @for row in shown(&data.replicas) { tr {
            td data-label="Name" { (row.name.name()) @if row.is_this_one { " " (badge(Tone::Accent, Glyph::Check, "this one")) } }
            td data-label="Id" { code { (row.id.name()) } }
            td data-label="Version" { (row.version.name()) }
            td.n data-label="Sessions in memory" { (count(row.sessions)) }
            td data-label="Address for other gateways" {
                @match &row.address { Some(address) => code { (address.name()) }, None => span.quiet { "none" } }
            }
            td data-label="Running since" { (when(frame.now, row.started)) }
        } }
    };
    let columns = [
        ("Name", ""),
        ("Id", ""),
        ("Version", ""),
        ("Sessions in memory", "n"),
        ("Address for other gateways", ""),
        ("Running since", ""),
    ];
    html! {
        @if store.standing != StoreStanding::Ready {
            p.quiet { "The other gateways are not known while the store cannot be used. This gateway continues with its own data." }
        } @else if data.replicas.is_empty() { p.quiet { "No gateway has reported yet. Each one reports every few seconds." } }
        @else { (table("Gateways", &columns, &rows)) (left_out(&data.replicas)) }
    }
}
