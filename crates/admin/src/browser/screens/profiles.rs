//! The list of profiles, and the form that adds or clones one.

use std::sync::Arc;

use engine::tokens::tokens_of_text;
use pages::model::{DefinedIn, ForeignText, ProfileRow, ProfilesPage};
use pages::{page, route};
use serde_json::json;

use super::super::page_reply::{self, PageResult};
use super::super::page_request::{PageRequest, Subject};
use super::{count, server_rows, texts};
use crate::insight::profiles::whole_view;
use gateway::admission::admin::sessions::FormNotice;
use gateway::changes::{self, Refusal};
use gateway::process::Shard;
use gateway::view::WholeView;

/// Shows the profiles.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    page_reply::ok(page::profiles(&request.frame(), &data(request, None).await))
}

async fn data(request: &PageRequest, fault: Option<String>) -> ProfilesPage {
    let shard = &request.shard;
    let mut rows = Vec::new();
    for slug in shard.gateway.standing.config().profiles.keys() {
        rows.extend(row(shard, slug).await.map(|(row, _)| row));
    }
    ProfilesPage { rows, servers: texts(server_rows::names(shard)), fault: super::text(fault) }
}

/// Returns the servers of a profile that cannot be used now.
fn failing(shard: &Arc<Shard>, slug: &str) -> Vec<ForeignText> {
    let Some(profile) = shard.gateway.snapshot.profiles.iter().find(|one| *one.slug == *slug) else {
        return Vec::new();
    };
    let fails = |id: &engine::catalogue::UpstreamId| {
        let server = shard.view.state.upstreams.get(*id).server.clone();
        let word = server.health.report().word.name();
        ["backing_off", "unreachable", "auth_required"].contains(&word).then(|| (&*server.spec.name).into())
    };
    profile.upstreams.iter().filter_map(fails).collect()
}

/// Returns the row of a profile, and the profile's view if it can be built. Returns `None` if there is no profile
/// with this name.
pub(super) async fn row(shard: &Arc<Shard>, slug: &str) -> Option<(ProfileRow, Option<Arc<WholeView>>)> {
    let standing = &shard.gateway.standing;
    let profile = changes::profile(standing, slug).ok()?;
    let at = shard.gateway.snapshot.profiles.iter().position(|one| &*one.slug == slug)?;
    let mode = shard.gateway.snapshot.profiles[at].rules.tools.mode;
    let whole = whole_view(shard, slug).await.ok();
    let (listed, searchable, unsearched) = whole.as_ref().map_or_else(Default::default, |whole| {
        (whole.costs.listed, whole.costs.searched.unwrap_or_default(), whole.costs.unsearched)
    });
    let instructions = whole.as_ref().and_then(|whole| whole.view.instructions()).map_or(0, tokens_of_text);
    let sessions = shard.session.state.sessions.those(|session| session.profile == at).len();
    let row = ProfileRow {
        slug: slug.into(),
        title: profile["name"].as_str().unwrap_or_default().into(),
        endpoint: format!("/mcp/{slug}").into(),
        mode: mode.name().into(),
        servers: count(standing.config().profiles.get(slug).map_or(0, |profile| profile.servers.len())),
        failing: failing(shard, slug),
        listed: count(listed.tools),
        tokens: listed.tokens,
        instructions_tokens: instructions,
        searchable: count(searchable.tools),
        searchable_tokens: searchable.tokens,
        unsearched_cost: unsearched.tokens.saturating_add(instructions),
        sessions: count(sessions),
        origin: if standing.base().profiles.contains_key(slug) { DefinedIn::File } else { DefinedIn::Api },
    };
    Some((row, whole))
}

/// Adds a profile, or clones one.
pub(in super::super) async fn add(request: &PageRequest) -> PageResult {
    let form = &request.form;
    let (slug, title) = (form.text("slug").to_owned(), form.chosen("title"));
    let made = if let Some(from) = form.chosen("from") {
        let wanted = slug.clone();
        let edited = request.edit(Subject::Profile(&slug), move |standing| {
            changes::clone_profile(standing, &from, &wanted, title)
        });
        edited.await
    } else {
        let servers: Vec<String> = form.all("server").map(str::to_owned).collect();
        let body = json!({ "slug": slug, "name": title, "servers": servers });
        request.edit(Subject::Profile(&slug), move |standing| changes::add_profile(standing, &body)).await
    };
    match made {
        Ok(made) => {
            let text = format!("The profile {} was added.", made.id);
            request.tell(FormNotice { is_fault: false, text, advice: None });
            Ok(page_reply::to(&route::profile(&made.id)))
        }
        Err(Refusal { message, .. }) => {
            let data = data(request, Some(message)).await;
            Ok(page_reply::unusable(page::profiles(&request.frame(), &data)))
        }
    }
}
