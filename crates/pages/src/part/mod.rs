//! Parts of pages: icons, times, numbers, badges, forms, charts, and the frame around a page. They must not know any page.
//!
//! | file | concern |
//! |---|---|
//! | `icon` | the icons, as SVG in the page |
//! | `time` | points in time, relative and exact |
//! | `figures` | numbers, sizes and durations for people |
//! | `badge` | states as an icon and a word |
//! | `form` | fields, buttons, and forms that ask for confirmation |
//! | `list` | filters, tables, paging, empty states |
//! | `chart` | charts as SVG, with the same numbers as a table |
//! | `text` | code, differences, messages, texts to copy |
//! | `shell` | the document around a page, with its navigation |

mod badge;
mod chart;
mod figures;
mod form;
mod icon;
mod list;
mod shell;
mod text;
mod time;

pub(crate) use badge::{
    Tone, badge, defined_in, definition_badge, hints, outcome_badge, server_badge, severity_icon,
    severity_word, state_name,
};
pub(crate) use chart::{latency_chart, meter, numbers, traffic_chart};
pub(crate) use figures::{bytes, compact, count, counted, duration, per_second, percent};
pub(crate) use form::{
    Button, Confirmed, InputLine, button, confirmed, faults, field, named_field, post, refused, schema_field,
    select, submit,
};
pub(crate) use icon::Glyph;
pub(crate) use list::{Empty, at_row, chooser, empty, facts, filter, jump, left_out, pager, shown, table};
pub(crate) use shell::{Head, Section, brand, document, note, page};
pub(crate) use text::{caller, code, copyable, diff, diff_fits, messages, not_recorded, recorded, snippet};
pub(crate) use time::{exact, until, when};
