//! The form of the table of operations, and the look-up of an operation by method and path. One row both routes a
//! request and describes the operation in the `OpenAPI` document. This module must not know any operation.

use std::future::{Future, ready};
use std::pin::Pin;

use http::Response;
use schemars::JsonSchema;
#[cfg(test)]
use schemars::{Schema, SchemaGenerator};
use transport::net::Body;

use super::request::ManagementRequest;
use gateway::changes::Refusal;

/// The answer to a request, or the refusal of the request.
pub(super) type Answered = Result<Response<Body>, Refusal>;

/// A running operation.
pub(super) type Performing<'a> = Pin<Box<dyn Future<Output = Answered> + Send + 'a>>;

/// Turns an answer that is already available into a running operation.
pub(super) fn now<'a>(answered: Answered) -> Performing<'a> {
    Box::pin(ready(answered))
}

/// The function that performs an operation.
pub(super) type Run = for<'a> fn(&'a mut ManagementRequest) -> Performing<'a>;

/// The function that returns the schema of a value. Only the generator of the published document needs schemas, so the program contains none.
#[cfg(test)]
pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// One operation.
#[derive(Clone, Copy)]
pub(super) struct Operation {
    pub(super) method: &'static str,
    /// The path; a segment in braces is a parameter.
    pub(super) path: &'static str,
    /// The name of the operation, unique in the table.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "only the published document and the tests name operations")
    )]
    pub(super) id: &'static str,
    /// The purpose of the operation, as a sentence.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the published document describes operations"))]
    pub(super) about: &'static str,
    pub(super) query: &'static [QueryParameter],
    /// The schema of the request's body, if it needs one.
    #[cfg(test)]
    pub(super) body: Option<SchemaOf>,
    #[cfg(test)]
    pub(super) status: u16,
    #[cfg(test)]
    pub(super) answer: AnswerForm,
    /// True if only the control socket offers the operation.
    pub(super) is_local: bool,
    /// True if the row is another spelling of an operation, kept for programs that use it.
    pub(super) is_former: bool,
    pub(super) run: Run,
}

/// The form of an answer.
#[cfg(test)]
#[derive(Clone, Copy)]
pub(super) enum AnswerForm {
    /// No body.
    Nothing,
    /// JSON.
    Json(SchemaOf),
    /// A stream of events, each with data of this form.
    Events(SchemaOf),
}

/// A parameter in the query.
#[derive(Clone, Copy)]
pub(super) struct QueryParameter {
    pub(super) name: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "only the published document describes parameters"))]
    pub(super) about: &'static str,
    pub(super) kind: QueryKind,
}

/// The allowed values of a parameter.
#[derive(Clone, Copy)]
pub(super) enum QueryKind {
    Text,
    /// `true` or `1`.
    Flag,
    /// A number from the minimum to the maximum, both included.
    Number(u64, u64),
    /// One of these words.
    Word(&'static [&'static str]),
}

pub(super) const fn get(path: &'static str, id: &'static str, about: &'static str, run: Run) -> Operation {
    Operation::new("GET", path, id, about, run)
}

pub(super) const fn post(path: &'static str, id: &'static str, about: &'static str, run: Run) -> Operation {
    Operation::new("POST", path, id, about, run)
}

pub(super) const fn put(path: &'static str, id: &'static str, about: &'static str, run: Run) -> Operation {
    Operation::new("PUT", path, id, about, run)
}

pub(super) const fn delete(path: &'static str, id: &'static str, about: &'static str, run: Run) -> Operation {
    Operation::new("DELETE", path, id, about, run).status(204)
}

/// Describes a parameter in the query.
pub(super) const fn query(name: &'static str, kind: QueryKind, about: &'static str) -> QueryParameter {
    QueryParameter { name, about, kind }
}

impl Operation {
    const fn new(
        method: &'static str,
        path: &'static str,
        id: &'static str,
        about: &'static str,
        run: Run,
    ) -> Self {
        Self {
            method,
            path,
            id,
            about,
            query: &[],
            #[cfg(test)]
            body: None,
            #[cfg(test)]
            status: 200,
            #[cfg(test)]
            answer: AnswerForm::Nothing,
            is_local: false,
            is_former: false,
            run,
        }
    }

    /// Adds parameters in the query.
    pub(super) const fn asking(self, query: &'static [QueryParameter]) -> Self {
        Self { query, ..self }
    }

    /// Sets the form of the body.
    #[cfg(test)]
    pub(super) const fn taking<T: JsonSchema>(self) -> Self {
        Self { body: Some(SchemaGenerator::subschema_for::<T>), ..self }
    }

    /// Accepts the form of the body, but does not store it: only the published document contains it.
    #[cfg(not(test))]
    #[expect(clippy::extra_unused_type_parameters, reason = "as in the tests, which publish the document")]
    pub(super) const fn taking<T: JsonSchema>(self) -> Self {
        self
    }

    /// Sets the form of the answer.
    #[cfg(test)]
    pub(super) const fn giving<T: JsonSchema>(self) -> Self {
        let status = if self.status == 204 { 200 } else { self.status };
        Self { answer: AnswerForm::Json(SchemaGenerator::subschema_for::<T>), status, ..self }
    }

    /// Accepts the form of the answer, but does not store it: only the published document contains it.
    #[cfg(not(test))]
    #[expect(clippy::extra_unused_type_parameters, reason = "as in the tests, which publish the document")]
    pub(super) const fn giving<T: JsonSchema>(self) -> Self {
        self
    }

    /// Makes the answer a stream of events with data of this form.
    #[cfg(test)]
    pub(super) const fn streaming<T: JsonSchema>(self) -> Self {
        Self { answer: AnswerForm::Events(SchemaGenerator::subschema_for::<T>), ..self }
    }

    /// Accepts the form of the events, but does not store it: only the published document contains it.
    #[cfg(not(test))]
    #[expect(clippy::extra_unused_type_parameters, reason = "as in the tests, which publish the document")]
    pub(super) const fn streaming<T: JsonSchema>(self) -> Self {
        self
    }

    /// Sets the status of the answer.
    #[cfg(test)]
    pub(super) const fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// Accepts the status of the answer, but does not store it: only the published document contains it.
    #[cfg(not(test))]
    pub(super) const fn status(self, _status: u16) -> Self {
        self
    }

    /// Offers the operation on the control socket only.
    pub(super) const fn on_the_control_socket(self) -> Self {
        Self { is_local: true, ..self }
    }

    /// Marks the row as another spelling of an operation.
    pub(super) const fn former(self) -> Self {
        Self { is_former: true, ..self }
    }

    /// Returns the parameters in the path, if the path matches.
    fn fits(&self, steps: &[&str]) -> Option<Vec<(&'static str, String)>> {
        let own: Vec<&'static str> = self.path.split('/').skip(1).collect();
        if own.len() != steps.len() {
            return None;
        }
        let mut parameters = Vec::new();
        for (own, step) in own.into_iter().zip(steps) {
            match parameter(own) {
                Some(name) => parameters.push((name, (*step).to_owned())),
                None if own == *step => {}
                None => return None,
            }
        }
        Some(parameters)
    }

    /// Checks the query of a request.
    ///
    /// # Errors
    /// Returns the refusal of the first invalid value.
    pub(super) fn check(&self, query: &[(String, String)]) -> Result<(), Refusal> {
        for (name, value) in query {
            let Some(row) = self.query.iter().find(|row| row.name == name) else { continue };
            let wanted = match row.kind {
                QueryKind::Number(least, most) => {
                    let is_fine = value.parse::<u64>().is_ok_and(|number| (least..=most).contains(&number));
                    (!is_fine).then(|| format!("a number from {least} to {most}"))
                }
                QueryKind::Word(words) => {
                    let is_fine = value.is_empty() || words.contains(&value.as_str());
                    (!is_fine).then(|| format!("one of {}", words.join(", ")))
                }
                QueryKind::Text | QueryKind::Flag => None,
            };
            if let Some(wanted) = wanted {
                return Err(Refusal::request(format!("`{name}` must be {wanted}, not {value:?}")));
            }
        }
        Ok(())
    }
}

/// Returns the name of a parameter in a path; `None` for a fixed segment.
pub(super) fn parameter(segment: &'static str) -> Option<&'static str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

/// The result of a look-up.
pub(super) enum OperationMatch {
    /// The operation, and the parameters in the path.
    Operation(&'static Operation, Vec<(&'static str, String)>),
    /// The path exists, but only with these methods.
    Methods(String),
    /// There is no such path.
    Nothing,
}

/// Finds the operation for a method and a path. If several paths match, the path with the fewest parameters wins.
pub(super) fn find(
    all: impl Iterator<Item = &'static Operation>,
    method: &str,
    path: &str,
) -> OperationMatch {
    let steps: Vec<&str> = path.trim_end_matches('/').split('/').skip(1).collect();
    let mut fitting: Vec<_> = all.filter_map(|row| Some((row, row.fits(&steps)?))).collect();
    let Some(fewest) = fitting.iter().map(|(_, parameters)| parameters.len()).min() else {
        return OperationMatch::Nothing;
    };
    fitting.retain(|(_, parameters)| parameters.len() == fewest);
    let at = fitting.iter().position(|(row, _)| row.method == method);
    if let Some((row, parameters)) = at.map(|at| fitting.swap_remove(at)) {
        return OperationMatch::Operation(row, parameters);
    }
    let methods = fitting.iter().filter(|(row, _)| !row.is_former).map(|(row, _)| row.method);
    OperationMatch::Methods(methods.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::operations;
    use super::*;

    fn found(method: &str, path: &str) -> String {
        match find(operations::all(), method, path) {
            OperationMatch::Operation(row, parameters) => format!("{} {parameters:?}", row.id),
            OperationMatch::Methods(methods) => methods,
            OperationMatch::Nothing => "nothing".to_owned(),
        }
    }

    #[test]
    fn the_most_specific_path_counts_and_other_methods_are_named() {
        assert_eq!(found("GET", "/api/mcp-servers/x"), "getServer [(\"server\", \"x\")]");
        assert_eq!(found("GET", "/api/mcp-servers/batch-status"), "getServerStatuses []");
        assert_eq!(found("DELETE", "/api/mcp-servers/batch-status"), "GET");
        assert_eq!(found("PATCH", "/api/mcp-servers/x/"), "GET, PUT, DELETE");
        assert_eq!(found("GET", "/api/profiles/p/servers/s/toggle"), "POST");
        assert_eq!(found("GET", "/api/nothing"), "nothing");
        assert_eq!(found("GET", "/api/mcp-servers/x/status/y"), "nothing");
    }

    #[test]
    fn no_two_rows_are_for_the_same_request_or_have_the_same_name() {
        let mut seen = std::collections::HashSet::new();
        for row in operations::all() {
            let plain = row.path.split('/').map(|step| parameter(step).map_or(step, |_| "{}"));
            assert!(
                seen.insert(format!("{} {}", row.method, plain.collect::<Vec<_>>().join("/"))),
                "{}",
                row.path
            );
            assert!(seen.insert(row.id.to_owned()), "{}", row.id);
        }
    }
}
