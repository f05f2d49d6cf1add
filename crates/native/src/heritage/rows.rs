//! The tools.

use super::{articles, features, made};
use crate::rest::{Field, Step, StepCondition, fixed, get, told, value};
use crate::tools::{Form, Literal, ToolArgument, ToolRow, int, local, number, text, tool};

const LANGUAGE: ToolArgument =
    text("language", "Language code of the Wikipedia edition, such as no, nn or en.").or_text("no").kept();
const LATITUDE: ToolArgument = number("latitude", "Latitude in decimal degrees.").required().kept();
const LONGITUDE: ToolArgument = number("longitude", "Longitude in decimal degrees.").required().kept();
const DATASET: ToolArgument =
    text("dataset", "ID of the dataset, as returned by riksantikvaren-datasets.").or_text("kulturminner");
const COLLECTION: ToolArgument =
    text("collection", "ID of the collection, as returned by riksantikvaren-collections.")
        .or_text("kulturminner");
const SERVICE: ToolArgument = text("service", "Name of the map service, as returned by arcgis-services.")
    .or_text("Kulturminner20180301");
const LAYER: ToolArgument =
    int("layer_id", "ID of the layer of the map service. Layer 6 contains single monuments.")
        .or_int(6)
        .least(0);

const fn limit(default: i64, most: i64) -> ToolArgument {
    int("limit", "Maximum number of results.").or_int(default).least(1).most(most)
}

const fn word(name: &'static str, word: &'static str) -> Field {
    fixed(name, Literal::Text(word))
}

const fn plain(name: &'static str) -> Field {
    value(name, name, Form::Plain)
}

const WIKIPEDIA: &[ToolRow] = &[
    tool(
        "wikipedia-search",
        "Searches Wikipedia and returns titles and snippets of matching articles.",
        &[
            text("query", "Search terms.").required().called("srsearch"),
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
        "Returns the introduction of a Wikipedia article.",
        &[text("title", "Title of the article.").required().called("titles"), LANGUAGE],
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
        "Returns Wikipedia articles about places near a point, with distances.",
        &[
            LATITUDE,
            LONGITUDE,
            int("radius", "Maximum distance in meters.")
                .or_int(1000)
                .least(10)
                .most(10_000)
                .called("gsradius"),
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

const SNL: &[ToolRow] = &[
    tool(
        "snl-search",
        "Searches Store norske leksikon, the Norwegian encyclopedia, and returns titles, snippets and URLs of matching articles.",
        &[text("query", "Search terms.").required(), limit(10, 100)],
        &[get("snl", "/api/v1/search").step()],
        told(articles::snl_hits),
    ),
    tool(
        "snl-article",
        "Returns an article of Store norske leksikon.",
        &[text("identifier", "ID of the article, or its name in the URL.").required().kept()],
        &[
            Step::Make("slug", |values| Ok(Some(made::slug(values)))),
            get("snl", "/api/v1/article/{identifier}").when(StepCondition::Digits("identifier")).step(),
            get("snl", "/{slug}.json").when(StepCondition::Words("identifier")).step(),
        ],
        told(articles::snl_article),
    ),
];

const RIKSANTIKVAREN: &[ToolRow] = &[
    tool(
        "riksantikvaren-datasets",
        "Returns the datasets of Riksantikvaren, the Norwegian Directorate for Cultural Heritage.",
        &[],
        &[get("riksantikvaren", "/").with(&[word("f", "json")]).keep(3600).step()],
        told(features::datasets),
    ),
    tool(
        "riksantikvaren-collections",
        "Returns the collections of a Riksantikvaren dataset.",
        &[DATASET],
        &[get("riksantikvaren", "/{dataset}/collections").with(&[word("f", "json")]).keep(3600).step()],
        told(features::collections),
    ),
    tool(
        "riksantikvaren-features",
        "Returns places of a Riksantikvaren collection. Only the dataset brukerminner supports `bbox`.",
        &[
            DATASET,
            COLLECTION,
            text("bbox", "Bounding box as minlon,minlat,maxlon,maxlat.").kept(),
            limit(20, 100),
        ],
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
        "Returns one place of a Riksantikvaren collection with all of its properties.",
        &[text("feature_id", "ID of the place in the collection.").required(), DATASET, COLLECTION],
        &[get("riksantikvaren", "/{dataset}/collections/{collection}/items/{feature_id}")
            .with(&[word("f", "json")])
            .keep(300)
            .step()],
        told(features::one),
    ),
    tool(
        "riksantikvaren-nearby",
        "Returns places near a point with their distances. Searches user contributions (brukerminner) unless `dataset` names another dataset.",
        &[
            LATITUDE,
            LONGITUDE,
            int("radius", "Maximum distance in meters.").or_int(2000).least(1).most(100_000).kept(),
            text("dataset", "ID of the dataset.").or_text("brukerminner"),
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
        "Returns places whose name or description contains a text. Case does not matter.",
        &[text("query", "Text to find.").required().kept(), DATASET, COLLECTION, limit(20, 100)],
        &[
            Step::Make("filter", made::filter),
            get("riksantikvaren", "/{dataset}/collections/{collection}/items")
                .with(&[word("f", "json"), plain("filter"), word("filter-lang", "cql2-text")])
                .step(),
        ],
        told(features::found),
    ),
];

const ARCGIS: &[ToolRow] = &[
    tool(
        "arcgis-services",
        "Returns the map services of Riksantikvaren.",
        &[],
        &[get("arcgis", "/rest/services/Distribusjon").with(&[word("f", "json")]).keep(3600).step()],
        told(features::services),
    ),
    tool(
        "arcgis-query",
        "Returns places on a map layer that lie in a bounding box or match a condition.",
        &[
            SERVICE,
            LAYER,
            text("bbox", "Bounding box as minlon,minlat,maxlon,maxlat.").kept(),
            text("where", "SQL condition, such as kommune='Bergen'.").or_text("1=1").kept(),
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
        "Returns registered places near a point with their distances.",
        &[
            LATITUDE,
            LONGITUDE,
            int("distance", "Maximum distance in meters.").or_int(1000).least(1).most(100_000),
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

const EXAMPLES: &[ToolRow] = &[
    local("example-ping", "Returns a simple pong response", &[], |_| Ok("pong".to_owned())),
    local(
        "example-echo",
        "Echoes back the provided message",
        &[text("message", "The message to echo back").required()],
        |values| Ok(format!("Echo: {}", values.text("message"))),
    ),
];

/// All tools, in the order of their list.
pub(super) fn all() -> Vec<&'static ToolRow> {
    [EXAMPLES, WIKIPEDIA, SNL, RIKSANTIKVAREN, ARCGIS].into_iter().flatten().collect()
}
