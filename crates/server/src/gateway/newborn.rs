//! A session before its client has heard of it.

use std::ops::Deref;
use std::sync::Arc;

use engine::Fault;
use engine::catalogue::View;

use super::Shard;
use super::era_gap::refuse_handshake;
use super::session::{Birth, Face, Session};

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
    /// Makes a session and finds its view, in the newest era up to the asked one that any of its servers speaks.
    ///
    /// # Errors
    /// The fault to answer with, when none of them speaks any that has sessions.
    pub(crate) async fn introduce(
        shard: &Shard,
        birth: Birth,
        face: impl Fn() -> Face,
    ) -> Result<(Newborn, Arc<View>), Fault> {
        let (id, profile, hello) = (birth.id.clone(), birth.profile, birth.hello.clone());
        let limits = &shard.gateway.snapshot.limits;
        let session = Newborn::new(shard, Self::new(birth, limits));
        let view = session.find_view(shard).await.view();
        let older = view
            .upstreams()
            .iter()
            .filter_map(|u| u.offer.as_ref().err()?.speaks)
            .filter(|era| era.has_sessions())
            .max_by_key(|era| era.version);
        let Some(era) = older.filter(|_| !view.is_served()) else {
            return match refuse_handshake(&view, &hello.version) {
                Some(fault) => Err(fault),
                None => Ok((session, view)),
            };
        };
        drop(session);
        let birth = Birth { id, profile, era, hello, face: face() };
        let session = Newborn::new(shard, Self::new(birth, limits));
        let view = session.find_view(shard).await.view();
        Ok((session, view))
    }
}
