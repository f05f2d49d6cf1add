//! The tools.

use super::{articles, features, made};
use crate::rest::{Field, Step, When, fixed, get, told, value};
use crate::tools::{Argument, Form, Literal, Tool, int, local, number, text, tool};

const LANGUAGE: Argument = text("language", "The Wikipedia, by its language code.").or_text("no").kept();
const LATITUDE: Argument = number("latitude", "Latitude in decimal degrees.").required().kept();
const LONGITUDE: Argument = number("longitude", "Longitude in decimal degrees.").required().kept();
const DATASET: Argument =
    text("dataset", "The dataset, as riksantikvaren-datasets names it.").or_text("kulturminner");
const COLLECTION: Argument =
    text("collection", "The collection, as riksantikvaren-collections names it.").or_text("kulturminner");
const SERVICE: Argument =
    text("service", "The map service, as arcgis-services names it.").or_text("Kulturminner20180301");
const LAYER: Argument =
    int("layer_id", "The number of the service's layer; 6 has single monuments.").or_int(6).least(0);

const fn limit(default: i64, most: i64) -> Argument {
    int("limit", "How many answers.").or_int(default).least(1).most(most)
}

const fn word(name: &'static str, word: &'static str) -> Field {
    fixed(name, Literal::Text(word))
}

const fn plain(name: &'static str) -> Field {
    value(name, name, Form::Plain)
}

const WIKIPEDIA: &[Tool] = &[
    tool(
        "wikipedia-search",
        "Searches Wikipedia; answers with titles and snippets.",
        &[
            text("query", "What to search for.").required().called("srsearch"),
            LANGUAGE,
            limit(10, 500).called("srlimit"),
        ],
        &[get("wikipedia", "/w/api.php")
            .with(&[word("action", "query"), word("list", "search"), word("format", "json")])
            .step()],
        told(articles::wikipedia_hits),
    ),
    tool(
        "wikipedia-summary",
        "The introduction of a Wikipedia article.",
        &[text("title", "The article's title.").required().called("titles"), LANGUAGE],
        &[get("wikipedia", "/w/api.php")
            .with(&[
                word("action", "query"),
                word("prop", "extracts|info|pageimages"),
                word("exintro", "1"),
                word("explaintext", "1"),
                word("inprop", "url"),
                word("pithumbsize", "300"),
                word("format", "json"),
            ])
            .step()],
        told(articles::wikipedia_summary),
    ),
    tool(
        "wikipedia-geosearch",
        "Wikipedia articles about places near a point.",
        &[
            LATITUDE,
            LONGITUDE,
            int("radius", "How far away, in meters.").or_int(1000).least(10).most(10_000).called("gsradius"),
            LANGUAGE,
            limit(10, 500).called("gslimit"),
        ],
        &[
            Step::Make("point", made::wikipedia_point),
            get("wikipedia", "/w/api.php")
                .with(&[
                    word("action", "query"),
                    word("list", "geosearch"),
                    value("gscoord", "point", Form::Plain),
                    word("format", "json"),
                ])
                .step(),
        ],
        told(articles::wikipedia_near),
    ),
];

const SNL: &[Tool] = &[
    tool(
        "snl-search",
        "Searches Store norske leksikon, the Norwegian encyclopaedia; answers with titles, snippets and addresses.",
        &[text("query", "What to search for.").required(), limit(10, 100)],
        &[get("snl", "/api/v1/search").step()],
        told(articles::snl_hits),
    ),
    tool(
        "snl-article",
        "An article of Store norske leksikon.",
        &[text("identifier", "The article's number, or the name in its address.").required().kept()],
        &[
            Step::Make("slug", |values| Ok(Some(made::slug(values)))),
            get("snl", "/api/v1/article/{identifier}").when(When::Digits("identifier")).step(),
            get("snl", "/{slug}.json").when(When::Words("identifier")).step(),
        ],
        told(articles::snl_article),
    ),
];

const RIKSANTIKVAREN: &[Tool] = &[
    tool(
        "riksantikvaren-datasets",
        "The datasets of Riksantikvaren, the Directorate for Cultural Heritage.",
        &[],
        &[get("riksantikvaren", "/").with(&[word("f", "json")]).keep(3600).step()],
        told(features::datasets),
    ),
    tool(
        "riksantikvaren-collections",
        "The collections of a dataset.",
        &[DATASET],
        &[get("riksantikvaren", "/{dataset}/collections").with(&[word("f", "json")]).keep(3600).step()],
        told(features::collections),
    ),
    tool(
        "riksantikvaren-features",
        "Places of a collection. A box works for the dataset brukerminner only.",
        &[DATASET, COLLECTION, text("bbox", "A box: minlon,minlat,maxlon,maxlat.").kept(), limit(20, 100)],
        &[
            Step::Make("box", made::ogc_box),
            get("riksantikvaren", "/{dataset}/collections/{collection}/items")
                .with(&[word("f", "json"), value("bbox", "box", Form::Plain)])
                .step(),
        ],
        told(features::found),
    ),
    tool(
        "riksantikvaren-feature",
        "One place with all that is known of it.",
        &[text("feature_id", "Its number in the collection.").required(), DATASET, COLLECTION],
        &[get("riksantikvaren", "/{dataset}/collections/{collection}/items/{feature_id}")
            .with(&[word("f", "json")])
            .keep(300)
            .step()],
        told(features::one),
    ),
    tool(
        "riksantikvaren-nearby",
        "Places near a point: what people have contributed, unless another dataset is named.",
        &[
            LATITUDE,
            LONGITUDE,
            int("radius", "How far away, in meters.").or_int(2000).least(1).most(100_000).kept(),
            text("dataset", "The dataset.").or_text("brukerminner"),
            limit(20, 100),
        ],
        &[
            Step::Make("collection", |values| Ok(Some(made::collection(values)))),
            Step::Make("box", made::surrounding_box),
            get("riksantikvaren", "/{dataset}/collections/{collection}/items")
                .with(&[word("f", "json"), value("bbox", "box", Form::Plain)])
                .step(),
        ],
        told(features::near),
    ),
    tool(
        "riksantikvaren-search-text",
        "Places whose name or description has a text in it, in capitals or not.",
        &[text("query", "The text.").required().kept(), DATASET, COLLECTION, limit(20, 100)],
        &[
            Step::Make("filter", made::filter),
            get("riksantikvaren", "/{dataset}/collections/{collection}/items")
                .with(&[word("f", "json"), plain("filter"), word("filter-lang", "cql2-text")])
                .step(),
        ],
        told(features::found),
    ),
];

const ARCGIS: &[Tool] = &[
    tool(
        "arcgis-services",
        "The map services of Riksantikvaren.",
        &[],
        &[get("arcgis", "/rest/services/Distribusjon").with(&[word("f", "json")]).keep(3600).step()],
        told(features::services),
    ),
    tool(
        "arcgis-query",
        "Places of a map layer, in a box or by a condition.",
        &[
            SERVICE,
            LAYER,
            text("bbox", "A box: minlon,minlat,maxlon,maxlat.").kept(),
            text("where", "A condition in SQL's words, such as kommune='Bergen'.").or_text("1=1").kept(),
            limit(50, 200).called("resultRecordCount"),
        ],
        &[
            Step::Make("geometry", made::arcgis_box),
            Step::Make("geometryType", |values| Ok(made::with_box(values, "esriGeometryEnvelope"))),
            Step::Make("spatialRel", |values| Ok(made::with_box(values, "esriSpatialRelIntersects"))),
            Step::Make("inSR", |values| Ok(made::with_box(values, "4326"))),
            Step::Make("condition", made::condition),
            get("arcgis", "/rest/services/Distribusjon/{service}/MapServer/{layer_id}/query")
                .with(&[
                    value("where", "condition", Form::Plain),
                    plain("geometry"),
                    plain("geometryType"),
                    plain("spatialRel"),
                    plain("inSR"),
                    word("outFields", "*"),
                    word("returnGeometry", "true"),
                    word("outSR", "4326"),
                    word("f", "geojson"),
                ])
                .step(),
        ],
        told(features::found),
    ),
    tool(
        "arcgis-nearby",
        "Registered places near a point, each with its distance.",
        &[
            LATITUDE,
            LONGITUDE,
            int("distance", "How far away, in meters.").or_int(1000).least(1).most(100_000),
            SERVICE,
            LAYER,
            limit(20, 200).called("resultRecordCount"),
        ],
        &[
            Step::Make("geometry", made::arcgis_point),
            get("arcgis", "/rest/services/Distribusjon/{service}/MapServer/{layer_id}/query")
                .with(&[
                    word("where", "1=1"),
                    plain("geometry"),
                    word("geometryType", "esriGeometryPoint"),
                    word("spatialRel", "esriSpatialRelIntersects"),
                    word("units", "esriSRUnit_Meter"),
                    word("inSR", "4326"),
                    word("outFields", "*"),
                    word("returnGeometry", "true"),
                    word("outSR", "4326"),
                    word("f", "geojson"),
                ])
                .step(),
        ],
        told(features::near),
    ),
];

const EXAMPLES: &[Tool] = &[
    local("example-ping", "Returns a simple pong response", &[], |_| Ok("pong".to_owned())),
    local(
        "example-echo",
        "Echoes back the provided message",
        &[text("message", "The message to echo back").required()],
        |values| Ok(format!("Echo: {}", values.text("message"))),
    ),
];

/// All tools, in the order of their list.
pub(super) fn all() -> Vec<&'static Tool> {
    [EXAMPLES, WIKIPEDIA, SNL, RIKSANTIKVAREN, ARCGIS].into_iter().flatten().collect()
}
