//! Sets up the configured authentication: its methods and the key store. This module must not know what a credential
//! gives access to.

use std::path::Path;
use std::sync::Arc;

use config::Auth;
use login::AuthorizationServer;
use store::keys::Keys;
use transport::net::client::{Client, ClientLimits, Trust};

use super::auth::{Authenticator, KeyBook, StoredKeys};

/// Creates the authenticator that checks callers' credentials.
pub(crate) fn door(auth: &Auth, folder: Option<&Path>) -> Result<Authenticator, String> {
    let book: Option<Arc<dyn KeyBook>> = match folder.filter(|_| auth.keys) {
        Some(folder) => {
            let keys = Keys::open(folder).map_err(|e| format!("{e}; {}", e.help()))?;
            Some(Arc::new(StoredKeys::new(keys)))
        }
        None => None,
    };
    let sign_in = match (&auth.login, folder) {
        (Some(login), Some(folder)) => Some(Arc::new(AuthorizationServer::open(login, folder)?)),
        _ => None,
    };
    // This client is only a placeholder: each shard replaces it with a client of its own.
    let nobody = Client::new(ClientLimits::default(), Trust::default());
    Authenticator::new(auth, (book, sign_in), Arc::new(nobody)).map_err(|e| e.to_string())
}
