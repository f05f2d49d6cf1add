//! The heritage tools: the exact requests that each sends, the effect of hostile values, and the messages.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Settings, server};
use crate::ToolServer;
use crate::port::{HttpClient, HttpFaultKind, HttpRequest, HttpResponse};
use crate::rest::tests::{Fake, asked, check_lines, content, fault, reply, request};

fn over(fake: Arc<Fake>) -> ToolServer {
    server(&Settings::default(), fake).unwrap()
}

fn nothing(_: &HttpRequest) -> HttpResponse {
    reply(200, &json!({}))
}

#[test]
fn each_tool_asks_exactly_this() {
    check_lines(&over, nothing, include_str!("asked.txt"));
}

/// The filter that a call with this query sends.
fn filter(query: &str) -> String {
    let fake = Fake::json(json!({}));
    asked(&over(fake.clone()), "riksantikvaren-search-text", &json!({"query": query}));
    let url = fake.asked.lock().unwrap()[0].url.clone();
    let filter = url.split("filter=").nth(1).unwrap().split('&').next().unwrap().to_owned();
    let mut bytes = Vec::new();
    let mut rest = filter.as_bytes();
    while let [first, behind @ ..] = rest {
        let code = (*first == b'%')
            .then(|| u8::from_str_radix(std::str::from_utf8(&behind[..2]).unwrap(), 16).unwrap());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_text_stays_a_text_in_a_filter() {
    for (query, pattern) in [
        ("O'Brien", "%O''Brien%"),
        ("100%_sure", r"%100\%\_sure%"),
        (r"\' OR 1=1 --", "%_'' OR 1=1 --%"),
        ("a\nb", "%a b%"),
        ("'))) OR TRUE", "%''))) OR TRUE%"),
        (r"\", "%_%"),
    ] {
        let wanted =
            format!("CASEI(navn) LIKE CASEI('{pattern}') OR CASEI(informasjon) LIKE CASEI('{pattern}')");
        assert_eq!(filter(query), wanted, "{query}");
    }
}

#[test]
fn hostile_values_ask_nothing() {
    for (tool, arguments, says) in [
        ("wikipedia-search", json!({"query": "a", "language": "evil.example/#"}), "\"language\""),
        ("wikipedia-search", json!({"query": "a", "language": "EN"}), "\"language\""),
        ("wikipedia-search", json!({"query": "a", "language": ""}), "\"language\""),
        ("wikipedia-search", json!({}), "\"query\" is missing"),
        ("wikipedia-search", json!({"query": " "}), "must not be empty"),
        ("wikipedia-geosearch", json!({"latitude": 91, "longitude": 0}), "\"latitude\""),
        ("wikipedia-geosearch", json!({"latitude": "nan", "longitude": 0}), "\"latitude\" must be a number"),
        ("riksantikvaren-collections", json!({"dataset": ".."}), "is not allowed in a path"),
        ("riksantikvaren-feature", json!({"feature_id": "."}), "is not allowed in a path"),
        ("riksantikvaren-feature", json!({"feature_id": "a\r\nb"}), "is not allowed in a path"),
        ("snl-article", json!({"identifier": "/"}), "is not allowed in a path"),
        ("riksantikvaren-features", json!({"bbox": "1,2,3"}), "minlon,minlat"),
        ("riksantikvaren-features", json!({"bbox": "1,2,3,4,x"}), "minlon,minlat"),
        ("riksantikvaren-features", json!({"bbox": "11,59,10,60"}), "minlon,minlat"),
        ("riksantikvaren-search-text", json!({"query": "a".repeat(300)}), "longer than 200"),
        ("arcgis-query", json!({"where": "1=1; DROP TABLE x"}), "one condition"),
        ("arcgis-query", json!({"where": "navn='a"}), "one condition"),
        ("arcgis-query", json!({"where": "1=1 -- x"}), "one condition"),
        ("example-echo", json!({}), "\"message\" is missing"),
    ] {
        let fake = Fake::json(json!({}));
        let (text, is_error) = content(&asked(&over(fake.clone()), tool, &arguments));
        assert!(is_error && text.starts_with("Error: ") && text.contains(says), "{tool} {arguments}: {text}");
        assert!(fake.lines().is_empty(), "{tool} {arguments}");
    }
    let fake = Fake::json(json!({}));
    asked(&over(fake.clone()), "arcgis-query", &json!({"where": "navn='a;--b'"}));
    assert_eq!(fake.lines().len(), 1, "signs inside of a text are its own");
}

fn said(tool: &str, arguments: &Value, answer: Value) -> String {
    let (text, is_error) = content(&asked(&over(Fake::json(answer)), tool, arguments));
    assert!(!is_error, "{text}");
    text
}

#[test]
fn answers_are_markdown() {
    let (text, _) = content(&asked(&over(Fake::json(json!({}))), "example-ping", &json!({})));
    assert!(text.starts_with("pong"));
    let echo = asked(&over(Fake::json(json!({}))), "example-echo", &json!({"message": "Hello, World!"}));
    assert_eq!(content(&echo).0, "Echo: Hello, World!");
    let hits = json!({"query": {"search": [{"title": "Bryggen", "snippet": "<span class=\"x\">Bryggen</span> er &amp;"}]}});
    let text = said("wikipedia-search", &json!({"query": "bryggen"}), hits);
    assert_eq!(text, "Found 1 Wikipedia article about \"bryggen\":\n\n1. **Bryggen**\n   Bryggen er &");
    let page = json!({"query": {"pages": {"7": {"pageid": 7, "title": "Bryggen", "extract": "Tekst.",
        "fullurl": "https://no.wikipedia.org/wiki/Bryggen"}}}});
    let text = said("wikipedia-summary", &json!({"title": "Bryggen"}), page);
    assert_eq!(text, "# Bryggen\n\nTekst.\n\n**Source:** https://no.wikipedia.org/wiki/Bryggen");
    let none = json!({"query": {"pages": {"-1": {"title": "X", "missing": ""}}}});
    assert!(said("wikipedia-summary", &json!({"title": "X"}), none).contains("no article \"X\""));
    let near = json!({"query": {"geosearch": [{"pageid": 5, "title": "Bryggen", "dist": 12.4}]}});
    let text = said("wikipedia-geosearch", &json!({"latitude": 60.4, "longitude": 5.3}), near);
    assert!(text.contains("1. **Bryggen** (12 m away)\n   https://no.wikipedia.org/?curid=5"), "{text}");
    let hits =
        json!([{"headword": "stavkirke", "snippet": "tre", "article_url": "https://snl.no/stavkirke"}]);
    let text = said("snl-search", &json!({"query": "stav"}), hits);
    assert!(text.ends_with("1. **stavkirke**\n   tre\n   https://snl.no/stavkirke"), "{text}");
    let article = json!({"headword": "stavkirke", "xhtml_body": "<p>En <b>kirke</b>.</p><p>To</p>", "changed_at": "2024-01-02T03",
        "authors": [{"full_name": "Kari"}], "license_name": "fri", "permalink": "javascript:x"});
    let text = said("snl-article", &json!({"identifier": "stavkirke"}), article);
    assert_eq!(
        text,
        "# stavkirke\n\nEn kirke.\nTo\n\n**Authors:** Kari\n\n**Changed:** 2024-01-02\n\n**Licence:** fri"
    );
    assert!(said("snl-search", &json!({"query": "x"}), json!([])).contains("no article"));
}

#[test]
fn places_are_told_with_their_distance() {
    let place = json!({"id": 9, "properties": {"Navn": "Urnes", "kommune": "Luster", "linkKulturminnesok": "https://k.no/9"},
        "geometry": {"type": "Polygon", "coordinates": [[[10.7, 59.91], [10.8, 59.9]]]}});
    let places = json!({"features": [place], "numberMatched": 3});
    let text = said("arcgis-nearby", &json!({"latitude": 59.9, "longitude": 10.7}), places.clone());
    assert_eq!(
        text,
        "Found 3 places; these are 1:\n\n1. **Urnes**\n   Kommune: Luster\n   ID: 9\n   Lenke: https://k.no/9\n   \
         Koordinater: 59.91000, 10.70000\n   Avstand: 1.1 km\n\n*Source: Riksantikvaren*"
    );
    let text = said("riksantikvaren-features", &json!({}), places);
    assert!(!text.contains("Avstand"), "{text}");
    let one = json!({"id": "a", "properties": {"navn": "Urnes", "tom": null, "tall": 3}, "geometry":
        {"type": "Point", "coordinates": [7.3, 61.3]}});
    let text = said("riksantikvaren-feature", &json!({"feature_id": "a"}), one);
    assert!(
        text.starts_with("# Urnes\n\n**navn:** Urnes\n**tall:** 3\n\n**Coordinates:** 61.300000, 7.300000"),
        "{text}"
    );
    let text = said(
        "riksantikvaren-datasets",
        &json!({}),
        json!({"apis": [{"id": "k", "title": "K", "description": "D"}]}),
    );
    assert_eq!(text, "# Datasets of Riksantikvaren\n\n- **K** (`k`): D");
    assert!(said("riksantikvaren-collections", &json!({}), json!({})).contains("no collections"));
    let services = json!({"services": [{"name": "Distribusjon/X", "type": "MapServer"}]});
    assert!(said("arcgis-services", &json!({}), services).contains("- **X** (MapServer)"));
    assert!(said("arcgis-query", &json!({}), json!({"features": []})).contains("No places"));
}

#[test]
fn failures_of_services_are_results_with_an_error() {
    for (answer, says) in [
        (reply(200, &json!({"error": {"info": "bad query"}})), "wikipedia answered: bad query"),
        (reply(404, &json!({})), "no item with this name"),
        (reply(429, &json!({})), "limits the request rate"),
        (reply(500, &json!({"message": "down"})), "HTTP 500: down"),
        (HttpResponse { status: 200, headers: Vec::new(), body: "<html>".into() }, "not JSON"),
        (
            HttpResponse {
                status: 302,
                headers: vec![("Location".into(), "https://x/?a".into())],
                body: "".into(),
            },
            "redirects to https://x/:",
        ),
    ] {
        let fake = Fake::new(move |_| Ok(answer.clone()));
        let (text, is_error) = content(&asked(&over(fake), "wikipedia-search", &json!({"query": "a"})));
        assert!(is_error && text.starts_with("Error: ") && text.contains(says), "{text}");
    }
}

#[test]
fn a_connection_is_tried_three_times_within_the_time() {
    let fake = Fake::new(|_| Err(fault(HttpFaultKind::Unconnected)));
    let (text, _) = content(&asked(&over(fake.clone()), "wikipedia-search", &json!({"query": "a"})));
    assert!(text.contains("cannot be reached"), "{text}");
    let patience: Vec<u64> =
        fake.asked.lock().unwrap().iter().map(|request| request.patience.as_secs()).collect();
    assert_eq!(patience, [30, 29, 27]);
    let hasty = Settings { patience: Some(Duration::from_secs(2)), ..Settings::default() };
    let fake = Fake::new(|_| Err(fault(HttpFaultKind::Unconnected)));
    asked(&server(&hasty, fake.clone()).unwrap(), "wikipedia-search", &json!({"query": "a"}));
    assert_eq!(fake.lines().len(), 2);
    let fake = Fake::new(|_| Err(fault(HttpFaultKind::Broken)));
    asked(&over(fake.clone()), "wikipedia-search", &json!({"query": "a"}));
    assert_eq!(fake.lines().len(), 1, "what may have arrived is not sent again");
}

#[test]
fn what_seldom_changes_is_kept_for_a_while() {
    let fake = Fake::json(json!({"apis": []}));
    let heritage = over(fake.clone());
    for (passed, requests) in [(0, 1), (3599, 1), (2, 2)] {
        fake.pass(Duration::from_secs(passed));
        asked(&heritage, "riksantikvaren-datasets", &json!({}));
        assert_eq!(fake.lines().len(), requests);
    }
    asked(&heritage, "wikipedia-search", &json!({"query": "a"}));
    asked(&heritage, "wikipedia-search", &json!({"query": "a"}));
    assert_eq!(fake.lines().len(), 4, "searches are asked anew");
    let fake = Fake::json(json!({}));
    let fresh = server(&Settings { no_cache: true, ..Settings::default() }, fake.clone()).unwrap();
    asked(&fresh, "riksantikvaren-datasets", &json!({}));
    asked(&fresh, "riksantikvaren-datasets", &json!({}));
    assert_eq!(fake.lines().len(), 2);
    let fake = Fake::new(|request| Ok(reply(200, &json!({"id": request.url, "x": "y".repeat(9000)}))));
    let heritage = over(fake.clone());
    for number in 0..300 {
        asked(&heritage, "riksantikvaren-feature", &json!({"feature_id": number.to_string()}));
        let _ = fake.now();
    }
    asked(&heritage, "riksantikvaren-feature", &json!({"feature_id": "299"}));
    assert_eq!(fake.lines().len(), 300, "the last is still there");
    asked(&heritage, "riksantikvaren-feature", &json!({"feature_id": "0"}));
    let answers = fake.lines().len();
    for number in 0..300 {
        asked(&heritage, "riksantikvaren-feature", &json!({"feature_id": number.to_string()}));
    }
    assert!(fake.lines().len() >= answers + 300 - 257, "no more than 256 are kept");
}

#[test]
fn sources_are_configurable() {
    let settings = Settings {
        wikipedia: Some("http://127.0.0.1:9/{language}/".to_owned()),
        snl: Some("http://127.0.0.1:9/snl".to_owned()),
        ..Settings::default()
    };
    let fake = Fake::json(json!([]));
    let heritage = server(&settings, fake.clone()).unwrap();
    asked(&heritage, "snl-search", &json!({"query": "a"}));
    asked(&heritage, "wikipedia-search", &json!({"query": "a", "limit": 1}));
    assert_eq!(
        fake.lines(),
        [
            "GET http://127.0.0.1:9/snl/api/v1/search?query=a&limit=10",
            "GET http://127.0.0.1:9/no/w/api.php?action=query&list=search&format=json&srsearch=a&srlimit=1",
        ]
    );
    let wrong = Settings { arcgis: Some("file:///x".to_owned()), ..Settings::default() };
    assert!(server(&wrong, fake).unwrap_err().starts_with("arcgis: "));
}

#[test]
fn the_list_shows_sixteen_tools_with_their_schemas() {
    let heritage = over(Fake::json(json!({})));
    let list = request(&heritage, "tools/list", &json!({}), None);
    let tools = list["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 16);
    for tool in tools {
        let (name, schema) = (tool["name"].as_str().unwrap(), &tool["inputSchema"]);
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{name}");
        assert_eq!(schema["type"], "object");
        assert!(schema["properties"].is_object() && schema["required"].is_array(), "{name}");
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{name}");
    }
    let limit = &tools[2]["inputSchema"]["properties"]["limit"];
    assert_eq!(
        limit,
        &json!({"type": "integer", "description": "Maximum number of results (default: 10, max: 500)", "default": 10})
    );
}
