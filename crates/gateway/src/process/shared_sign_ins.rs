//! Sign-ins in the store of the cluster. This module must not know what a sign-in is.

use std::sync::Arc;
use std::time::Duration;

use cluster::Cluster;
use login::{SharedSignIns, SharedText, Sharing};
use secrecy::SecretString;

/// The sign-ins in the store.
pub(crate) struct StoredSignIns(pub(crate) Arc<Cluster>);

impl SharedSignIns for StoredSignIns {
    fn read<'a>(&'a self, name: &'a str) -> Sharing<'a, SharedText> {
        Box::pin(async move {
            let found = self.0.sign_in(name).await.map_err(|error| error.to_string())?;
            Ok(SharedText { mark: found.mark, text: found.document.map(|document| document.text) })
        })
    }

    fn replace<'a>(
        &'a self,
        name: &'a str,
        mark: &'a str,
        text: (SecretString, Duration),
    ) -> Sharing<'a, bool> {
        Box::pin(
            async move { self.0.replace_sign_in(name, mark, text).await.map_err(|error| error.to_string()) },
        )
    }

    fn announce<'a>(&'a self, grant: &'a str) -> Sharing<'a, ()> {
        Box::pin(async move { self.0.announce_sign_in(grant).await.map_err(|error| error.to_string()) })
    }
}
