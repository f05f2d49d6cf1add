//! A server from an MCP registry: its document, and the chosen offer.

use std::path::Path;

use registry::document::{MAX_DOCUMENT_BYTES, ServerDocument};
use registry::offer::{Offer, OfferOrigin};
use registry::server_name::ServerName;
use serde_json::Value;

use super::bundle;
use super::proposal::Proposal;
use crate::commands::servers::download::downloaded;
use crate::output::failure::Failure;

/// Looks a server up in the registry at a base URL. `name` is the server's name in the configuration.
///
/// # Errors
/// Fails if the registry does not answer with the document of this server, or if no offer can be used.
pub(super) fn proposal(
    wanted: &ServerName,
    name: &str,
    origin: Option<OfferOrigin>,
    base: &str,
    folder: &Path,
) -> Result<Proposal, Failure> {
    let text = downloaded(&wanted.url(base), MAX_DOCUMENT_BYTES)?;
    let document =
        ServerDocument::parse(&text, wanted).map_err(|error| Failure::new(format!("{base}: {error}")))?;
    if document.status == "deleted" {
        let help = "use another version: NAME@VERSION";
        return Err(Failure::new(format!("{wanted} was deleted from the registry")).help(help));
    }
    let offer = document.offer(origin).ok_or_else(|| no_offer(&document, wanted, origin))?;
    let mut proposal = match &offer.download {
        Some(file) => of_bundle(offer, name, &file.url, &file.sha256, folder)?,
        None => Proposal { entry: offer.entry.clone(), ..Proposal::default() },
    };
    let shown = format!("{} ({})", offer.shown, offer.origin.word());
    let mut about = vec![
        ("Server", format!("{} {}", document.name, document.version)),
        ("About", document.description.clone()),
        (if offer.origin == OfferOrigin::Remote { "Address" } else { "Package" }, shown),
    ];
    if let Some(command) = offer.entry["command"].as_str() {
        let args = offer.entry["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
        about.push(("Runs", std::iter::once(command).chain(args).collect::<Vec<_>>().join(" ")));
    }
    let others: Vec<&str> =
        document.offers.iter().filter(|other| *other != offer).map(|other| other.origin.word()).collect();
    if !others.is_empty() {
        about.push(("Others", format!("{} (choose with --from)", others.join(", "))));
    }
    about.extend(proposal.about.into_iter().filter(|(title, _)| matches!(*title, "Runs" | "Checksum")));
    proposal.about = about;
    proposal.variables.extend(offer.variables.iter().map(|one| (one.name.clone(), one.about.clone())));
    proposal.optional.extend(offer.optional.iter().cloned());
    if document.status == "deprecated" {
        proposal.warnings.push("the registry marks this server as deprecated".to_owned());
    }
    Ok(proposal)
}

/// Returns the proposal for a bundle that the document names, with the document's variables.
fn of_bundle(offer: &Offer, name: &str, url: &str, sha256: &str, folder: &Path) -> Result<Proposal, Failure> {
    let mut proposal = bundle::of_url(name, url, Some(sha256), folder)?;
    if let Some(env) = offer.entry.get("env") {
        proposal.entry["env"] = env.clone();
    }
    Ok(proposal)
}

fn no_offer(document: &ServerDocument, wanted: &ServerName, origin: Option<OfferOrigin>) -> Failure {
    let known: Vec<&str> = document.offers.iter().map(|offer| offer.origin.word()).collect();
    if let Some(origin) = origin.filter(|_| !known.is_empty()) {
        let (origin, known) = (origin.word(), known.join(", "));
        let message =
            format!("{wanted} is not available with `--from {origin}`; the available choices are: {known}");
        return Failure::new(message).help("choose one of them with `--from`, or leave the option out");
    }
    let why: Vec<String> = document.refused.iter().map(ToString::to_string).collect();
    let why = if why.is_empty() { "it has no packages and no address".to_owned() } else { why.join("; ") };
    Failure::new(format!("{wanted} offers nothing that Dragoman can use: {why}"))
        .help("add the server by its command or its URL: dragoman add NAME -- COMMAND")
}
