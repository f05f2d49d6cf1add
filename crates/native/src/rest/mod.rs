//! The one interpreter of tools that send requests: rows in, requests out, answers shaped.
//!
//! All escaping is done here, depending on where a value goes; a row never concatenates texts. This module must not
//! know what a particular service is.
//!
//! | file | is for |
//! |---|---|
//! | `step` | the part of a row that describes its requests |
//! | `source`, `content_format` | content as editors see it; the form in which it is shown |
//! | `shape` | the part of an answer that is shown, and its form |
//! | `unread`, `unreadable` | answers that are not JSON, and how they are reported |
//! | `normalize` | PHP's answers in a regular form |
//! | `plain_text` | titles and names without entities |
//! | `place` | the target of requests, and the form of that service's errors |
//! | `url` | URLs of targets in canonical form |
//! | `offered`, `api_probe` | the routes that sites report, and how sites are asked for them |
//! | `expiring` | values that expire |
//! | `known`, `entry` | checks that a target knows the credentials |
//! | `request` | a step and a call's values as a request |
//! | `permalinks` | sites that take a route only as a parameter |
//! | `previous`, `replaced`, `restored` | content and values that calls have replaced, and how calls show and restore them |
//! | `references`, `stored`, `stored_content` | IDs that a change refers to; what a change has stored; content that it stored otherwise |
//! | `difference` | the lines in which two texts differ |
//! | `plugin_fields` | fields that plugins add to content |
//! | `visitor`, `explained` | accounts that a site treats as visitors, and how sites are asked about them |
//! | `false_failure` | failures that services report although the request took effect |
//! | `pick`, `brief` | the members of a shown answer; long texts in the entries of lists |
//! | `paged` | pages of lists that a service does not divide itself |
//! | `settled` | values that name a route, in the form in which they are sent |
//! | `open` | requests whose route the call chooses |
//! | `steps` | running steps, one after the other |
//! | `environment` | requests: deadlines, attempts, caching |
//! | `context` | the caller of a run |
//! | `cache` | a cache of answers |
//! | `file` | files that calls contain or name |
//! | `brought` | files that services return |
//! | `fetch` | files that calls name by URL |
//! | `multipart` | bodies with files (RFC 7578) |
//! | `encode` | values in URLs (RFC 3986) |

mod api_probe;
mod brief;
mod brought;
mod cache;
mod content_format;
mod context;
mod difference;
mod encode;
mod entry;
mod environment;
mod expiring;
mod explained;
mod false_failure;
mod fetch;
mod file;
mod known;
mod multipart;
mod normalize;
mod offered;
mod open;
mod paged;
mod permalinks;
mod pick;
mod place;
mod plain_text;
mod plugin_fields;
mod previous;
mod references;
mod replaced;
mod request;
mod restored;
mod settled;
mod shape;
mod source;
mod step;
mod steps;
mod stored;
mod stored_content;
mod unread;
mod unreadable;
mod url;
mod visitor;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use cache::Cache;
pub(crate) use content_format::{CONTENT_FORMAT, CONTENT_NOTE};
pub(crate) use context::RunContext;
pub(crate) use encode::decoded;
pub(crate) use environment::{ADDRESS_NOT_ALLOWED, FIELDS, FULL, RequestLimits, RestEnvironment};
pub(crate) use file::FileFrom;
pub(crate) use known::AcceptedCredentials;
pub(crate) use offered::ReportedNamespaces;
pub(crate) use open::is_listed;
pub(crate) use permalinks::PlainSites;
pub(crate) use pick::{MemberSource, ShownMember, pick};
pub(crate) use place::{ApiProbe, EntryCheck, Reference, RequestTarget, RequestTargets};
pub(crate) use previous::{CONTENT_NAMES, PreviousContents, PreviousNames, VALUE_NAMES};
pub(crate) use restored::{DRY_RUN, NOT_KEPT};
pub(crate) use settled::settled;
pub use shape::AnswerStyle;
pub(crate) use shape::{CallAnswer, Shape, told};
pub(crate) use source::{ALLOW_MARKUP_LOSS, RENDERED};
pub(crate) use step::{
    Bind, CallerRequest, Check, EDITING, Encoding, FalseFailure, Field, FieldSource, KeptState, KeptValues,
    MissingValue, RestRequest, Restoring, Step, StepCondition, content, delete, edit, editable, fixed, get,
    patch, post, purge, put, query, seldom_paged, unpaged, value,
};
pub(crate) use stored::{NOT_STORED, STORED, may_tell};
pub(crate) use unread::{UnreadableKind, json};
pub(crate) use url::{base_url, port_of};
pub(crate) use visitor::{VisitorCheck, VisitorQuestion, VisitorVerdicts};
