//! Places, datasets and services as text.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::articles::{counted, line, link, said, said_number};
use crate::tools::Values;

/// The details that are shown for a place: for each, a label, and the lower-case names of properties that may contain
/// the detail.
const SHOWN: &[(&str, &[&str])] = &[
    ("Kategori", &["kategori", "kulturminnekategori", "enkeltminnekategori"]),
    ("Kommune", &["kommune", "kommunenavn"]),
    ("Fylke", &["fylke", "fylkesnavn"]),
    ("Vernestatus", &["vernestatus"]),
    ("Vernetype", &["vernetype"]),
    ("Datering", &["datering", "kulturminnedatering"]),
    ("Funksjon", &["funksjon", "kulturminneopprinneligfunksjon"]),
    ("Beskrivelse", &["beskrivelse", "informasjon"]),
];

const NAMES: &[&str] = &["navn", "tittel", "name", "lokalitetsnavn"];
const LINKS: &[&str] = &["linkkulturminnes\u{f8}k", "linkkulturminnesok", "lenke"];

/// The maximum number of characters to show of a property in a list.
const LONGEST: usize = 300;

/// The list of datasets, as Markdown.
pub(super) fn datasets(answer: &Value, _values: &Values) -> String {
    entries("Datasets of Riksantikvaren", answer.get("apis"), "landingPageUri", "There are no datasets.")
}

/// The collections of a dataset, as Markdown.
pub(super) fn collections(answer: &Value, values: &Values) -> String {
    let dataset = values.text("dataset");
    let none = format!("The dataset \"{dataset}\" has no collections.");
    entries(&format!("Collections of {dataset}"), answer.get("collections"), "", &none)
}

fn entries(title: &str, rows: Option<&Value>, url: &str, none: &str) -> String {
    let rows = rows.and_then(Value::as_array).filter(|rows| !rows.is_empty());
    let Some(rows) = rows else { return none.to_owned() };
    let mut out = format!("# {title}\n");
    for row in rows {
        let _ = write!(out, "\n- **{}** (`{}`)", said(row, &["title", "id"]), said(row, &["id"]));
        let about = said(row, &["description"]);
        if !about.is_empty() {
            let _ = write!(out, ": {}", short(&about));
        }
        if let Some(url) = link(row, &[url]) {
            let _ = write!(out, "\n  {url}");
        }
    }
    out
}

/// The list of map services, as Markdown.
pub(super) fn services(answer: &Value, _values: &Values) -> String {
    let rows = answer.get("services").and_then(Value::as_array).filter(|rows| !rows.is_empty());
    let Some(rows) = rows else { return "There are no map services.".to_owned() };
    let mut out = String::from("# Map services of Riksantikvaren\n");
    for row in rows {
        let name = said(row, &["name"]);
        let name = name.rsplit('/').next().unwrap_or_default();
        let _ = write!(out, "\n- **{name}** ({})", said(row, &["type"]));
    }
    out.push_str(
        "\n\nWithout a service, Kulturminner20180301 is queried. Its layer 6 contains single monuments, 7 localities, 1 \
         protected buildings, and 14 cultural environments.",
    );
    out
}

/// The places that a search found, as Markdown.
pub(super) fn found(answer: &Value, values: &Values) -> String {
    told(answer, "No places were found.", None, values)
}

/// The places near a point, as Markdown.
pub(super) fn near(answer: &Value, values: &Values) -> String {
    let reach = values.int("radius").or(values.int("distance")).unwrap_or_default();
    let at = format!("({}, {})", said_number(values, "latitude"), said_number(values, "longitude"));
    let none = format!("No places were found within {reach} m of {at}.");
    let center = values.number("latitude").zip(values.number("longitude"));
    told(answer, &none, center, values)
}

fn told(answer: &Value, none: &str, center: Option<(f64, f64)>, values: &Values) -> String {
    let places = answer.get("features").and_then(Value::as_array).filter(|places| !places.is_empty());
    let Some(places) = places else { return none.to_owned() };
    let all = answer.get("numberMatched").and_then(Value::as_u64).filter(|all| *all > places.len() as u64);
    let mut out = match all {
        Some(all) => format!("Found {all} places; these are {}:\n", places.len()),
        None => format!("Found {}:\n", counted(places.len(), "place")),
    };
    for (at, place) in places.iter().enumerate() {
        let _ = write!(out, "\n{}. {}\n", at + 1, described(place, center));
    }
    let by_people = values.text("dataset") == "brukerminner";
    out.push_str(if by_people {
        "\n*Source: Riksantikvaren, brukerminner (contributed by people, not verified)*"
    } else {
        "\n*Source: Riksantikvaren*"
    });
    out
}

/// One place with all its details, as Markdown.
pub(super) fn one(answer: &Value, values: &Values) -> String {
    let properties = small(answer);
    let name = word(&properties, NAMES).unwrap_or_else(|| format!("Feature {}", values.text("feature_id")));
    let mut out = format!("# {name}\n");
    for (key, value) in answer.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let text = match value {
            Value::Null => continue,
            Value::String(text) => line(text),
            other => other.to_string(),
        };
        if !text.is_empty() {
            let _ = write!(out, "\n**{}:** {text}", line(key));
        }
    }
    if let Some((latitude, longitude)) = position(answer) {
        let _ = write!(out, "\n\n**Coordinates:** {latitude:.6}, {longitude:.6}");
    }
    out.push_str("\n\n*Source: Riksantikvaren*");
    out
}

/// The entry for a place in a list, as Markdown.
fn described(place: &Value, center: Option<(f64, f64)>) -> String {
    let properties = small(place);
    let number = said(place, &["id"]);
    let number =
        if number.is_empty() { word(&properties, &["objectid"]).unwrap_or_default() } else { number };
    let name = word(&properties, NAMES).unwrap_or_else(|| format!("Feature {number}"));
    let mut out = format!("**{name}**");
    for (label, names) in SHOWN {
        if let Some(text) = word(&properties, names) {
            let _ = write!(out, "\n   {label}: {}", short(&text));
        }
    }
    if !number.is_empty() {
        let _ = write!(out, "\n   ID: {number}");
    }
    if let Some(url) = link(&Value::Object(properties), LINKS) {
        let _ = write!(out, "\n   Lenke: {url}");
    }
    if let Some((latitude, longitude)) = position(place) {
        let _ = write!(out, "\n   Koordinater: {latitude:.5}, {longitude:.5}");
        if let Some(center) = center {
            let away = distance(center, (latitude, longitude));
            let _ = if away < 1000.0 {
                write!(out, "\n   Avstand: {away:.0} m")
            } else {
                write!(out, "\n   Avstand: {:.1} km", away / 1000.0)
            };
        }
    }
    out
}

/// The properties of a place, with their names in lower case, because the registers write the names differently.
fn small(place: &Value) -> Map<String, Value> {
    let properties = place.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(key, value)| (key.to_lowercase(), value.clone())).collect()
}

fn word(properties: &Map<String, Value>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| match properties.get(*name) {
        Some(Value::String(text)) if !text.trim().is_empty() => Some(line(text)),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    })
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Latitude and longitude: of a point, or of the first corner of a larger shape (RFC 7946, 3.1).
fn position(place: &Value) -> Option<(f64, f64)> {
    let mut at = place.pointer("/geometry/coordinates")?;
    while at.get(0).is_some_and(Value::is_array) {
        at = at.get(0)?;
    }
    Some((at.get(1)?.as_f64()?, at.get(0)?.as_f64()?))
}

/// Meters between two points on a sphere as large as the Earth (haversine).
fn distance(a: (f64, f64), b: (f64, f64)) -> f64 {
    const RADIUS: f64 = 6_371_000.0;
    let (north, east) = ((b.0 - a.0).to_radians(), (b.1 - a.1).to_radians());
    let part = (north / 2.0).sin().powi(2)
        + a.0.to_radians().cos() * b.0.to_radians().cos() * (east / 2.0).sin().powi(2);
    2.0 * RADIUS * part.sqrt().clamp(0.0, 1.0).asin()
}
