//! A server from an MCPB bundle: its description and its settings, read without running anything.

use std::path::{Path, PathBuf};

use bundles::archive::{Archive, MAX_BUNDLE_BYTES, checksum_of};
use bundles::manifest::{Manifest, Setting};
use serde_json::{Map, Value, json};

use super::proposal::Proposal;
use crate::commands::servers::download::downloaded;
use crate::output::failure::Failure;

/// The largest bundle that is downloaded, in bytes; the user must download larger ones by other means.
const MAX_DOWNLOAD: usize = 256 << 20;

/// The folder for downloaded bundles, beside the configuration file.
const FOLDER: &str = "bundles";

/// Returns true if a text names a bundle.
pub(super) fn is_bundle(text: &str) -> bool {
    Path::new(text.split(['?', '#']).next().unwrap_or_default())
        .extension()
        .is_some_and(|ending| ending == "mcpb")
}

/// Returns the proposal for a bundle in a file.
///
/// # Errors
/// Fails if the file is not a valid bundle.
pub(super) fn of_file(name: &str, path: &str, folder: &Path) -> Result<Proposal, Failure> {
    let found = PathBuf::from(path);
    let archive = Archive::open(&found).map_err(|error| Failure::usage(format!("{path}: {error}")))?;
    // The configuration resolves the path against its own folder.
    let is_beside = std::env::current_dir().ok() == std::fs::canonicalize(folder).ok();
    let written = if is_beside || found.is_absolute() {
        path.to_owned()
    } else {
        std::fs::canonicalize(&found).unwrap_or(found).display().to_string()
    };
    proposal(name, archive, &written)
}

/// Downloads a bundle into the folder `bundles`, and returns its proposal. `expected` is the checksum from the
/// document of a registry, if there is one.
///
/// # Errors
/// Fails if the bundle cannot be downloaded, is not valid, or has another checksum.
pub(super) fn of_url(
    name: &str,
    url: &str,
    expected: Option<&str>,
    folder: &Path,
) -> Result<Proposal, Failure> {
    let bytes = downloaded(url, MAX_DOWNLOAD.min(usize::try_from(MAX_BUNDLE_BYTES).unwrap_or(MAX_DOWNLOAD)))?;
    let sum = checksum_of(&bytes);
    if let Some(expected) = expected.filter(|expected| !expected.eq_ignore_ascii_case(&sum)) {
        let message = format!("{url} has the checksum {sum}, but the registry names {expected}");
        return Err(
            Failure::new(message).help("do not use this file; report it to the operators of the registry")
        );
    }
    let relative = format!("{FOLDER}/{name}-{}.mcpb", &sum[..12]);
    let path = folder.join(&relative);
    let failed = |error: std::io::Error| Failure::new(format!("cannot write {}: {error}", path.display()));
    std::fs::create_dir_all(folder.join(FOLDER)).map_err(failed)?;
    std::fs::write(&path, &bytes).map_err(failed)?;
    let opened = Archive::open(&path).map_err(|error| Failure::usage(format!("{url}: {error}")));
    let proposed = opened.and_then(|archive| proposal(name, archive, &relative));
    match proposed {
        Ok(proposal) => Ok(Proposal { downloaded: Some(path), ..proposal }),
        Err(failure) => {
            let _ = std::fs::remove_file(&path);
            Err(failure)
        }
    }
}

fn proposal(name: &str, mut archive: Archive, path: &str) -> Result<Proposal, Failure> {
    let failed = |why: String| Failure::usage(format!("{path}: {why}"));
    let text = archive.manifest().map_err(|error| failed(error.to_string()))?;
    let manifest = Manifest::parse(&text).map_err(|error| failed(error.to_string()))?;
    let mut proposal = Proposal::default();
    let mut settings = Map::new();
    for setting in &manifest.settings {
        match (setting.required, &setting.default) {
            (true, None) => {
                let variable = variable(name, setting);
                settings.insert(setting.name.clone(), format!("${{{variable}}}").into());
                proposal.variables.push((variable, setting.title.clone()));
            }
            _ => proposal.optional.push(format!("config.{}", setting.name)),
        }
    }
    let mut entry = json!({ "bundle": path, "sha256": archive.checksum() });
    if !settings.is_empty() {
        entry["config"] = Value::Object(settings);
    }
    proposal.entry = entry;
    proposal.about.push(("Server", format!("{} {}", manifest.display_name, manifest.version)));
    proposal.about.push(("About", manifest.description.clone()));
    proposal.about.push(("Runs", manifest.shown_command()));
    proposal.about.push(("Checksum", archive.checksum().to_owned()));
    Ok(proposal)
}

/// Returns the name of the environment variable for a setting, for example `WEATHER_API_KEY`.
fn variable(server: &str, setting: &Setting) -> String {
    let text = format!("{server}_{}", setting.name);
    text.chars()
        .map(|char| if char.is_ascii_alphanumeric() { char.to_ascii_uppercase() } else { '_' })
        .collect()
}
