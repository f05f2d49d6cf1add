//! The gateways of a cluster, and the store that they share.

use crate::model::{PageFrame, ReplicasPage, StoreRow, StoreStanding};
use crate::part::{
    Empty, Glyph, Head, Section, Tone, badge, count, empty, facts, left_out, page, shown, table, when,
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
