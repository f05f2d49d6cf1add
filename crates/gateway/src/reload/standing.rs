//! The configuration with the changes that managers made. Changes are stored as long as management or pages are enabled. This
//! module must not know how a configuration is put into force.

use std::path::Path;

use config::Config;

use crate::changes::{Changes, Standing};
use crate::management::changes_file::ChangesFile;

/// Returns the first configuration, combined with the changes that were stored earlier, and the file of changes (`None`
/// if management is disabled). This blocks.
///
/// # Errors
/// Returns the reason why the changes cannot be read, or why they do not fit the configuration.
pub(crate) fn first_standing(
    config: Config,
    folder: Option<&Path>,
) -> Result<(Standing, Option<ChangesFile>), String> {
    if !config.keeps_changes() {
        let standing = Standing::new(config, Changes::default()).map_err(|refusal| refusal.message)?;
        return Ok((standing, None));
    }
    let folder =
        folder.ok_or("there is no state folder for changes; set stateFolder in the configuration")?;
    let (kept, changes) = ChangesFile::open(folder)?;
    let standing = Standing::new(config, changes).map_err(|refusal| {
        let folder = folder.display();
        format!(
            "the stored changes no longer fit the configuration: {refusal}; fix the configuration, or move \
                 changes.db in {folder} away"
        )
    })?;
    Ok((standing, Some(kept)))
}

/// Logs notes about the stored changes.
pub(crate) fn log_notes(standing: &Standing) {
    for note in standing.notes() {
        tracing::warn!("{note}");
    }
}
