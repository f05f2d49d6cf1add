//! Two encyclopaedias and two registers of monuments. Their paths do not overlap, so one site can serve all four.
//! Any base path may come before them.

use serde_json::{Value, json};

use super::answer::Answer;
use super::request::Request;

/// Answers a GET request if its path belongs to one of the four services.
pub(super) fn answer(request: &Request) -> Option<Answer> {
    if request.method != "GET" {
        return None;
    }
    let path = request.path.as_str();
    if path.ends_with("/w/api.php") {
        return Some(wikipedia(request));
    }
    if path.contains("/arcgis/rest/services") {
        return Some(arcgis(request));
    }
    if path.contains("/collections") {
        return Some(riksantikvaren(request));
    }
    if path.ends_with("/api/v1/search") {
        return Some(Answer::ok(&json!([article(request.param("query").as_deref().unwrap_or_default())])));
    }
    let slug = path.rsplit('/').next().unwrap_or_default();
    if path.contains("/api/v1/article/") {
        return Some(Answer::ok(&article(slug)));
    }
    match slug.strip_suffix(".json") {
        Some("missing") => Some(Answer::json(404, &json!({"error": "not found"}))),
        Some(slug) => Some(Answer::ok(&article(slug))),
        None if request.param("f").as_deref() == Some("json") => {
            Some(Answer::ok(&json!({"datasets": ["kulturminner", "kulturmiljoer", "brukerminner"]})))
        }
        None => None,
    }
}

fn article(name: &str) -> Value {
    json!({
        "headword": name, "title": name, "article_id": 1001, "permalink": name, "snippet": format!("About {name}."),
        "first_two_sentences": format!("This is {name}. It is old."), "xhtml_body": format!("<p>This is {name}.</p>"),
        "article_url": format!("https://snl.example.com/{name}"), "url": format!("https://snl.example.com/{name}"),
    })
}

fn wikipedia(request: &Request) -> Answer {
    let text = |name: &str| request.param(name).unwrap_or_default();
    let query = match text("list").as_str() {
        "search" => {
            let wanted = text("srsearch");
            json!({"searchinfo": {"totalhits": 1}, "search": [{
                "ns": 0, "title": format!("{wanted} (article)"), "pageid": 100, "size": 1234, "wordcount": 200,
                "snippet": format!("About <span class=\"searchmatch\">{wanted}</span>"),
                "timestamp": "2026-01-01T00:00:00Z",
            }]})
        }
        "geosearch" => json!({"geosearch": [{
            "pageid": 101, "ns": 0, "title": "Nidarosdomen", "lat": 63.4269, "lon": 10.3969, "dist": 12.5,
            "primary": "",
        }]}),
        _ if text("titles") == "Missing" => {
            json!({"pages": {"-1": {"ns": 0, "title": "Missing", "missing": ""}}})
        }
        _ => {
            let title = text("titles");
            json!({"pages": {"100": {
                "pageid": 100, "ns": 0, "title": title, "extract": format!("{title} is a place."),
                "fullurl": "https://wiki.example.com/page",
            }}})
        }
    };
    Answer::ok(&json!({"batchcomplete": "", "query": query}))
}

fn monument(id: &str) -> Value {
    json!({
        "type": "Feature", "id": id, "geometry": {"type": "Point", "coordinates": [10.3969, 63.4269]},
        "properties": {"navn": "Nidarosdomen", "informasjon": "Katedral i Trondheim", "kommune": "Trondheim"},
    })
}

fn features() -> Value {
    json!({"type": "FeatureCollection", "numberMatched": 1, "numberReturned": 1, "features": [monument("f-1")]})
}

fn riksantikvaren(request: &Request) -> Answer {
    let (_, behind) = request.path.split_once("/collections").unwrap_or_default();
    let parts: Vec<&str> = behind.split('/').skip(1).collect();
    match parts.as_slice() {
        [] => Answer::ok(&json!({"collections": [
            {"id": "kulturminner", "title": "Kulturminner", "description": "Alle kulturminner"},
        ]})),
        [_] => Answer::ok(&json!({"id": parts[0], "title": parts[0]})),
        [_, "items"] => Answer::ok(&features()),
        [_, "items", "missing"] => {
            Answer::json(404, &json!({"code": "NotFound", "description": "There is no such feature."}))
        }
        [_, "items", id] => Answer::ok(&monument(id)),
        _ => Answer::no_route(),
    }
}

fn arcgis(request: &Request) -> Answer {
    if !request.path.ends_with("/query") {
        return Answer::ok(&json!({
            "currentVersion": 10.91, "folders": [],
            "services": [{"name": "Distribusjon/Kulturminner20180301", "type": "MapServer"}],
        }));
    }
    // The real service reports errors with status 200.
    if request.param("where").is_some_and(|clause| clause.contains(';')) {
        let error = json!({"code": 400, "message": "Unable to complete operation.", "details": []});
        return Answer::ok(&json!({"error": error}));
    }
    Answer::ok(&features())
}
