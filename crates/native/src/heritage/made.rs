//! Values that requests need and that are computed from a call's arguments: boxes, points, filters.

use serde_json::{Value, json};

use crate::tools::{CallFailure, Values};

type ComputedValue = Result<Option<Value>, CallFailure>;

/// The length of one degree of latitude, in meters.
const DEGREE: f64 = 111_320.0;

/// The geographic point that a call's arguments give.
fn point(values: &Values) -> Result<(f64, f64), CallFailure> {
    let coordinate = |name: &str, most: f64| {
        let found = values.number(name).filter(|number| number.abs() <= most);
        found.ok_or_else(|| {
            CallFailure::arguments(format!("the argument {name:?} must be between -{most} and {most}"))
        })
    };
    Ok((coordinate("latitude", 90.0)?, coordinate("longitude", 180.0)?))
}

/// The point that a call gives, in Wikipedia's format.
pub(super) fn wikipedia_point(values: &Values) -> ComputedValue {
    let (latitude, longitude) = point(values)?;
    Ok(Some(Value::from(format!("{latitude}|{longitude}"))))
}

/// The point that a call gives, in the map server's format.
pub(super) fn arcgis_point(values: &Values) -> ComputedValue {
    let (latitude, longitude) = point(values)?;
    Ok(Some(Value::from(json!({"x": longitude, "y": latitude}).to_string())))
}

/// A bounding box around the point that a call gives.
#[expect(clippy::cast_precision_loss, reason = "a radius has few digits")]
pub(super) fn surrounding_box(values: &Values) -> ComputedValue {
    let (latitude, longitude) = point(values)?;
    let radius = values.int("radius").unwrap_or_default() as f64;
    let height = radius / DEGREE;
    // Near the poles, a degree of longitude is close to zero meters.
    let width = radius / (DEGREE * latitude.to_radians().cos().abs().max(0.01));
    let edges = [
        (longitude - width).max(-180.0),
        (latitude - height).max(-90.0),
        (longitude + width).min(180.0),
        (latitude + height).min(90.0),
    ];
    Ok(Some(Value::from(edges.map(|edge| format!("{edge:.6}")).join(","))))
}

/// The bounding box that a call's arguments give, if any.
fn corners(values: &Values) -> Result<Option<[f64; 4]>, CallFailure> {
    let text = values.text("bbox").trim();
    if text.is_empty() {
        return Ok(None);
    }
    let numbers: Vec<f64> = text.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    let no = || {
        CallFailure::arguments("the argument \"bbox\" must be minlon,minlat,maxlon,maxlat in decimal degrees")
    };
    let corners: [f64; 4] = numbers.try_into().map_err(|_| no())?;
    let [west, south, east, north] = corners;
    let fits = text.split(',').count() == 4
        && [west, east].iter().all(|number| number.abs() <= 180.0)
        && [south, north].iter().all(|number| number.abs() <= 90.0)
        && west <= east
        && south <= north;
    if fits { Ok(Some(corners)) } else { Err(no()) }
}

/// The bounding box that a call gives, in OGC's format.
pub(super) fn ogc_box(values: &Values) -> ComputedValue {
    let text = |corners: [f64; 4]| Value::from(corners.map(|corner| corner.to_string()).join(","));
    Ok(corners(values)?.map(text))
}

/// The bounding box that a call gives, in the map server's format.
pub(super) fn arcgis_box(values: &Values) -> ComputedValue {
    Ok(corners(values)?.map(|[west, south, east, north]| {
        Value::from(json!({"xmin": west, "ymin": south, "xmax": east, "ymax": north}).to_string())
    }))
}

/// Returns `word` if the call gives a bounding box.
pub(super) fn with_box(values: &Values, word: &str) -> Option<Value> {
    values.has("geometry").then(|| Value::from(word))
}

/// The main collection of a dataset, if the dataset has one.
pub(super) fn collection(values: &Values) -> Value {
    let dataset = values.text("dataset");
    let known = [
        ("KulturminnerFredaBygninger", "fredabygninger"),
        ("KulturminnerSEFRAKbygninger", "sefrakbygninger"),
    ];
    let found =
        known.iter().find(|(name, _)| *name == dataset).map_or(dataset, |(_, collection)| *collection);
    Value::from(found)
}

/// The slug of an article in an encyclopaedia, even if the call gives a path.
pub(super) fn slug(values: &Values) -> Value {
    let slug = values.text("identifier").trim().trim_matches('/').trim_end_matches(".json");
    Value::from(slug.replace(' ', "_"))
}

/// The longest search text, in characters.
const LONGEST: usize = 200;

/// A filter for places whose name or description contains a text (OGC CQL2, 21-065, text encoding).
///
/// Quotes in the text are doubled, so the text cannot close the literal in any dialect of CQL2. A backslash becomes the wildcard for one
/// character, because some grammars read it as the beginning of an escaped quote.
pub(super) fn filter(values: &Values) -> ComputedValue {
    let query = values.text("query").trim();
    if query.chars().count() > LONGEST {
        let words = format!("the argument \"query\" must not be longer than {LONGEST} characters");
        return Err(CallFailure::arguments(words));
    }
    let mut pattern = String::from("%");
    for c in query.chars() {
        match c {
            '\'' => pattern.push_str("''"),
            '\\' => pattern.push('_'),
            '%' | '_' => {
                pattern.push('\\');
                pattern.push(c);
            }
            c if c.is_control() => pattern.push(' '),
            c => pattern.push(c),
        }
    }
    pattern.push('%');
    let parts = ["navn", "informasjon"].map(|field| format!("CASEI({field}) LIKE CASEI('{pattern}')"));
    Ok(Some(Value::from(parts.join(" OR "))))
}

/// The condition of a query, which the caller writes in SQL: one condition, without a second statement, a comment or an open
/// quote.
pub(super) fn condition(values: &Values) -> ComputedValue {
    let text = values.text("where").trim();
    let mut outside = String::new();
    for (at, part) in text.split('\'').enumerate() {
        if at % 2 == 0 {
            outside.push_str(part);
            outside.push(' ');
        }
    }
    let closed = text.matches('\'').count().is_multiple_of(2);
    let single = ![";", "--", "/*", "*/"].iter().any(|sign| outside.contains(sign));
    if closed && single && text.len() <= 1000 && !text.chars().any(char::is_control) {
        return Ok(Some(Value::from(text)));
    }
    let words = "the argument \"where\" must be one condition such as navn LIKE '%kirke%', with quotes doubled inside texts";
    Err(CallFailure::arguments(words))
}
