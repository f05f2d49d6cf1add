//! Tools for APIs that have no tools of their own: the index of a site's REST API, requests to any of its routes,
//! and the site's abilities.
//!
//! The configuration decides which requests are allowed: routes by a list, changes by a switch.
//!
//! | file | is for |
//! |---|---|
//! | `routes` | the part of the index that an answer shows |
//! | `abilities` | the abilities that newer sites declare, as tools |
//! | `schema` | PHP's schemas as JSON Schema |

mod abilities;
mod routes;
mod schema;

#[cfg(test)]
mod tests;

use crate::rest::{Bind, CallerRequest, MissingValue, Shape, Step, StepCondition, delete, get, post, value};
use crate::site::SiteSettings;
use crate::tools::{
    CallFailure, Condition, Effect, Form, ToolArgument, ToolFinder, ToolRow, Values, any, int, object, text,
    titled,
};
use serde_json::{Map, Value};

/// The name of the set of these tools.
pub(crate) const PHASE: &str = "discover";

/// The tools that these settings allow.
pub(crate) fn tools(settings: &SiteSettings) -> Vec<&'static ToolRow> {
    READING.iter().chain(if settings.only_reads() { HARMLESS } else { CHANGING }).collect()
}

const ROUTE: ToolArgument = text("route", "Route below /wp-json, such as /wc/v3/products/7.").required();
const PARAMETERS: ToolArgument = object("parameters", "Query parameters by name.");
const BODY: ToolArgument = object("body", "Members of the JSON request body by name.");
const NAME: ToolArgument = text("name", "Full name of the ability, such as core/get-site-info.").required();
const INPUT: ToolArgument = any("input", "Input of the ability, as its input schema defines it.").kept();

const READING: &[ToolRow] = &[
    titled(
        "site_routes",
        "List REST API routes",
        "Returns the namespaces of the site's REST API with their versions and active components. With `namespace` or `search`, \
         returns matching routes; with `route`, the methods and parameters of that route. Routes of plugins, such as shop and \
         course plugins, are included.",
        &[
            text("namespace", "Return only routes of this namespace, such as wc/v3.").kept(),
            text("route", "Return the methods and parameters of this route, spelled as in the list of routes.").kept(),
            text("search", "Return only routes that contain this text.").kept(),
        ],
        &[get("index", "/").alone().step()],
        Shape::Made(routes::shown),
    )
    .phase(PHASE),
    titled(
        "site_abilities",
        "List abilities",
        "Returns a page of the abilities that the site offers. Requires WordPress 6.9 or newer.",
        &[
            int("page", "Page number.").or_int(1).least(1),
            int("per_page", "Number of items per page.").or_int(50).least(1).most(100),
            text("category", "Return only abilities of this category."),
            text("namespace", "Return only abilities of this namespace, such as core."),
            object("meta", "Return only abilities with this metadata, such as {annotations: {readonly: true}}."),
        ],
        &[get("index", "/wp-abilities/v1/abilities").step()],
        Shape::List("abilities", "name label description category meta.annotations"),
    )
    .phase(PHASE),
    titled(
        "site_ability",
        "Get an ability",
        "Returns one ability with its input and output schemas.",
        &[NAME],
        &[get("index", "/wp-abilities/v1/abilities/{*name}").step()],
        Shape::Whole,
    )
    .phase(PHASE),
    titled(
        "site_ability_categories",
        "List ability categories",
        "Returns a page of the categories of abilities.",
        &[
            int("page", "Page number.").or_int(1).least(1),
            int("per_page", "Number of items per page.").or_int(50).least(1).most(100),
        ],
        &[get("index", "/wp-abilities/v1/categories").step()],
        Shape::List("categories", "slug label description meta"),
    )
    .phase(PHASE),
    titled(
        "site_ability_category",
        "Get an ability category",
        "Returns one category of abilities.",
        &[text("slug", "Slug of the category.").required()],
        &[get("index", "/wp-abilities/v1/categories/{slug}").step()],
        Shape::Whole,
    )
    .phase(PHASE),
];

/// The finder that turns each ability into a tool.
pub(crate) const ABILITIES: ToolFinder = abilities::FOUND;

/// The annotations of an ability, which determine its method.
const SAID: &[Bind] = &[
    Bind { name: "readonly", at: "/meta/annotations/readonly", missing: MissingValue::Nothing },
    Bind { name: "destructive", at: "/meta/annotations/destructive", missing: MissingValue::Nothing },
    Bind { name: "idempotent", at: "/meta/annotations/idempotent", missing: MissingValue::Nothing },
    Bind { name: "schema", at: "/input_schema/type", missing: MissingValue::Nothing },
];

/// The steps of a run: look the ability up, determine the method that the site requires for it, send the request.
macro_rules! run {
    ($method:ident) => {
        &[
            get("index", "/wp-abilities/v1/abilities/{*name}").alone().binds(SAID).step(),
            Step::Make("method", $method),
            Step::Make("given", given),
            get("index", "/wp-abilities/v1/abilities/{*name}/run")
                .when(StepCondition::Is("method", "GET"))
                .alone()
                .with(&[value("input", "given", Form::Plain)])
                .step(),
            post("index", "/wp-abilities/v1/abilities/{*name}/run")
                .when(StepCondition::Is("method", "POST"))
                .alone()
                .with(&[value("input", "given", Form::Plain)])
                .step(),
            delete("index", "/wp-abilities/v1/abilities/{*name}/run")
                .when(StepCondition::Is("method", "DELETE"))
                .alone()
                .with(&[value("input", "given", Form::Plain)])
                .step(),
        ]
    };
}

const HARMLESS: &[ToolRow] = &[
    titled(
        "site_request",
        "Read a REST API route",
        "Sends a GET request to an allowed route of the site's REST API and returns the response.",
        &[text("method", "HTTP method.").or_text("GET").among(&["GET"]), ROUTE, PARAMETERS],
        &[Step::Open(OPEN)],
        Shape::Whole,
    )
    .effect(Effect::Reads)
    .phase(PHASE),
    titled(
        RUN,
        "Run a read-only ability",
        "Runs an ability that only reads, and returns its output.",
        &[NAME, INPUT],
        run!(reading),
        Shape::Whole,
    )
    .effect(Effect::Reads)
    .phase(PHASE),
];

const CHANGING: &[ToolRow] = &[
    titled(
        "site_request",
        "Send a REST API request",
        "Sends a request to an allowed route of the site's REST API and returns the response.",
        &[
            text("method", "HTTP method.").or_text("GET").among(&["GET", "POST", "PUT", "PATCH", "DELETE"]),
            ROUTE,
            PARAMETERS,
            BODY,
        ],
        &[Step::Open(OPEN)],
        Shape::Whole,
    )
    .effect(Effect::Toggles)
    .phase(PHASE),
    titled(
        RUN,
        "Run an ability",
        "Runs an ability of the site and returns its output.",
        &[NAME, INPUT],
        run!(fitting),
        Shape::Whole,
    )
    .effect(Effect::Toggles)
    .phase(PHASE),
];

/// The tool that runs an ability.
const RUN: &str = "site_run_ability";

const OPEN: CallerRequest =
    CallerRequest { base: "index", method: "method", route: "route", query: "parameters", body: "body" };

/// The method that the site requires (`wp-abilities/v1`): GET for abilities that only read, DELETE for idempotent destructive
/// ones, POST for the rest.
#[expect(clippy::unnecessary_wraps, reason = "a step may fail")]
fn fitting(values: &Values) -> Result<Option<Value>, CallFailure> {
    Ok(Some(Value::from(method(
        values.flag("readonly"),
        values.flag("destructive"),
        values.flag("idempotent"),
    ))))
}

/// The input of an ability: absent if the ability takes none, otherwise at least an empty object.
#[expect(clippy::unnecessary_wraps, reason = "a step may fail")]
fn given(values: &Values) -> Result<Option<Value>, CallFailure> {
    Ok(values
        .has("schema")
        .then(|| values.get("input").cloned().unwrap_or_else(|| Value::Object(Map::new()))))
}

fn method(reads: bool, destroys: bool, again: bool) -> &'static str {
    match (reads, destroys && again) {
        (true, _) => "GET",
        (false, true) => "DELETE",
        (false, false) => "POST",
    }
}

fn reading(values: &Values) -> Result<Option<Value>, CallFailure> {
    if values.flag("readonly") {
        return Ok(Some(Value::from("GET")));
    }
    let words = "this ability changes data, but the configuration allows this server only to read";
    Err(CallFailure::new(Condition::ToolFailed, words))
}
