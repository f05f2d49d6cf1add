//! The file of grants. It is never used on the threads that serve requests. This module must not know what is
//! stored.

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use store::grants::Grants;

use crate::random;

/// The open file.
#[derive(Clone)]
pub(crate) struct GrantFile(Arc<Mutex<Grants>>);

impl GrantFile {
    /// Opens the file in a folder; this may wait for a disk.
    ///
    /// # Errors
    /// Returns the reason, for the operator.
    pub(crate) fn open(folder: &Path) -> Result<Self, String> {
        let fresh = random::bytes().map_err(|error| error.to_string())?;
        let grants = Grants::open(folder, &fresh).map_err(|error| told(&error))?;
        Ok(Self(Arc::new(Mutex::new(grants))))
    }

    /// Runs `work` with the file. Errors are logged, because the people who sign in cannot fix them.
    ///
    /// # Errors
    /// Returns a text for the person who signs in.
    pub(crate) async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Grants) -> Result<T, store::Error> + Send + 'static,
    ) -> Result<T, String> {
        let file = self.0.clone();
        let done =
            transport::task::spawn_blocking(move || work(&mut file.lock()).map_err(|error| told(&error)));
        let done = done.await.map_err(|error| error.to_string()).and_then(|done| done);
        done.map_err(|why| {
            tracing::error!("cannot use the file of sign-ins: {why}");
            "Dragoman cannot store sign-ins at the moment; its log contains the reason".to_owned()
        })
    }
}

fn told(error: &store::Error) -> String {
    format!("{error}; {}", error.help())
}
