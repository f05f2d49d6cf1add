//! Requests that refer to a resource or a template by its URI, and completions. This module must not know how servers' URIs
//! are distinguished.

use std::borrow::Cow;

use proto::json::{Members, Span, quote};
use proto::mcp::Method;
use proto::rpc::Frame;

use super::dispatch::{Route, missing, param_fault, text, unknown_resource};
use crate::catalogue::{ListKind, View};
use crate::fault::{Condition, Fault};

pub(super) fn resource<'v>(frame: &Frame, view: &'v View, method: Method) -> Result<Route<'v>, Fault> {
    let (span, uri) = text(frame, "uri")?;
    let unknown = || unknown_resource(view.era(), span.of(frame.text()), &uri);
    // A server's answer to a subscription would reveal too much about unlisted resources.
    let found = view.resource(&uri).filter(|found| !found.masked || method == Method::ResourcesRead);
    let found = found.ok_or_else(|| unknown().hiding(view.withheld_by(ListKind::Resources, &uri)))?;
    let masked = found.masked.then(|| Box::new(unknown()));
    let rename = found.own.as_ref().map(|own| (span, quote(own).into()));
    let uris = found.own.and_then(|own| {
        let uris = view.uris_of(found.upstream)?.asked(own, uri.clone().into_owned());
        Some(Box::new(uris))
    });
    Ok(Route { rename, uris, masked, ..Route::to(found.upstream, Cow::Borrowed(method.name())) })
}

pub(super) fn completion<'v>(frame: &Frame, view: &'v View) -> Result<Route<'v>, Fault> {
    let reference = frame.param("ref")?.ok_or_else(|| param_fault("ref", "is required"))?;
    let members =
        Members::of_value(frame.text(), reference).ok_or_else(|| param_fault("ref", "must be an object"))?;
    let member = |key| -> Result<Option<(Span, Cow<'_, str>)>, Fault> {
        let found = members.unique(frame.text(), key)?;
        Ok(found.and_then(|span| Some((span, frame.string(span)?))))
    };
    let method = Cow::Borrowed(Method::Complete.name());
    if let Some((span, name)) = member("name")? {
        let prompt = view.prompt(&name).ok_or_else(|| missing("prompt", &name, view))?;
        let rename = prompt.renaming(&name).map(|real| (span, real));
        return Ok(Route { rename, ..Route::to(prompt.upstream, method) });
    }
    let Some((span, uri)) = member("uri")? else {
        return Err(param_fault(
            "ref",
            "needs a \"name\" (of a prompt) or a \"uri\" (of a resource template)",
        ));
    };
    let unknown = || {
        let fault = param_fault("ref", &format!("names {uri}, which no server of this profile has"));
        fault
            .about(Condition::UnknownResource, uri.as_ref())
            .hiding(view.withheld_by(ListKind::Resources, &uri))
    };
    let (upstream, own) = view.located(&uri).ok_or_else(unknown)?;
    let rename = (own != uri).then(|| (span, quote(&own).into()));
    Ok(Route { rename, ..Route::to(upstream, method) })
}
