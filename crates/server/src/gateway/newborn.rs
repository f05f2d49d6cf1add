//! A session before its client has heard of it.

use std::ops::Deref;
use std::sync::Arc;

use engine::catalogue::View;

use super::Shard;
use super::session::{Birth, Session};

/// A session that no client can name yet. Unless it is kept it ends when this is dropped, also when its client leaves
/// while servers are still being asked: links that were opened for it serve nobody else.
pub(crate) struct Newborn {
    shard: Shard,
    session: Arc<Session>,
    kept: bool,
}

impl Newborn {
    pub(crate) fn new(shard: &Shard, session: Arc<Session>) -> Self {
        Self { shard: shard.clone(), session, kept: false }
    }

    /// The session, which somebody else will end.
    pub(crate) fn keep(mut self) -> Arc<Session> {
        self.kept = true;
        self.session.clone()
    }
}

impl Deref for Newborn {
    type Target = Arc<Session>;

    fn deref(&self) -> &Arc<Session> {
        &self.session
    }
}

impl Drop for Newborn {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        let (shard, session) = (self.shard.clone(), self.session.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { session.end(&shard).await });
        }
    }
}

impl Session {
    /// Makes a session and finds its view.
    pub(crate) async fn introduce(shard: &Shard, birth: Birth) -> (Newborn, Arc<View>) {
        let session = Newborn::new(shard, Self::new(birth, &shard.gateway.snapshot.limits));
        let view = session.find_view(shard).await.view();
        (session, view)
    }
}
