//! The operations on profiles. This module must not know how a profile is served.

use http::{Response, StatusCode};
use transport::net::Body;

use super::super::answers::{answer, empty, ok};
use super::super::request::ManagementRequest;
use super::super::table::{
    Answered, Operation, QueryKind, QueryParameter, delete, get, now, post, put, query,
};
use super::shapes::{
    ChangedMember, ChangedProfile, NewMember, NewProfile, ProfileForm, ProfileForms, ProfileMembers,
    ProfileTools, ToolSettings,
};
use crate::insight::catalogue;
use crate::insight::profiles::{self, ProfileItems, ProfileStatus};
use crate::insight::servers;
use gateway::changes::{self as ask, Standing};

const REFRESH: &[QueryParameter] =
    &[query("refresh", QueryKind::Flag, "Fetches the list from the server again.")];

const TOGGLE: &str = "Turns a server of a profile off or on.";

pub(super) const OPERATIONS: &[Operation] = &[
    get("/api/profiles", "listProfiles", "Lists the profiles.", |request| now(Ok(list(request))))
        .giving::<ProfileForms>(),
    post("/api/profiles", "addProfile", "Adds a profile.", |request| Box::pin(add(request)))
        .taking::<NewProfile>()
        .giving::<ProfileForm>()
        .status(201),
    get("/api/profiles/by-slug/{profile}", "getProfileBySlug", "Shows a profile.", |request| {
        now(show(request))
    })
    .giving::<ProfileForm>()
    .former(),
    get("/api/profiles/by-name/{profile}", "getProfileByName", "Shows a profile.", |request| {
        now(show(request))
    })
    .giving::<ProfileForm>()
    .former(),
    get("/api/profiles/{profile}", "getProfile", "Shows a profile.", |request| now(show(request)))
        .giving::<ProfileForm>(),
    put(
        "/api/profiles/{profile}",
        "changeProfile",
        "Changes a profile; omitted fields stay unchanged.",
        |request| Box::pin(change(request)),
    )
    .taking::<ChangedProfile>()
    .giving::<ProfileForm>(),
    delete("/api/profiles/{profile}", "removeProfile", "Removes a profile.", |request| {
        Box::pin(remove(request))
    }),
    get(
        "/api/profiles/{profile}/status",
        "getProfileStatus",
        "Shows how many tools a profile has before access rules apply, and how many tokens they take.",
        |request| Box::pin(status(request)),
    )
    .giving::<ProfileStatus>(),
    get(
        "/api/profiles/{profile}/items",
        "listProfileItems",
        "Lists the items that clients of a profile see, with the names that they have there, before access rules apply.",
        |request| Box::pin(items(request)),
    )
    .asking(&[
        query("kind", QueryKind::Word(catalogue::KINDS), "The kind of items; `tools` if omitted."),
        query("search", QueryKind::Text, "Only items whose name or description contains this text."),
        query("offset", QueryKind::Number(0, catalogue::MOST_ITEMS), "The number of items to skip."),
        query("limit", QueryKind::Number(1, 500), "The maximum number of items; 100 if omitted."),
    ])
    .giving::<ProfileItems>(),
    get(
        "/api/profiles/{profile}/servers",
        "listProfileServers",
        "Lists a profile's servers, in order.",
        |request| now(members(request)),
    )
    .giving::<ProfileMembers>(),
    post("/api/profiles/{profile}/servers", "addProfileServer", "Adds a server to a profile.", |request| {
        Box::pin(add_member(request))
    })
    .taking::<NewMember>()
    .giving::<ProfileMembers>()
    .status(201),
    put(
        "/api/profiles/{profile}/servers/{server}",
        "changeProfileServer",
        "Changes a server of a profile.",
        |request| Box::pin(change_member(request)),
    )
    .taking::<ChangedMember>()
    .giving::<ProfileMembers>(),
    delete(
        "/api/profiles/{profile}/servers/{server}",
        "removeProfileServer",
        "Removes a server from a profile.",
        |request| Box::pin(remove_member(request)),
    ),
    post("/api/profiles/{profile}/servers/{server}/toggle", "toggleProfileServer", TOGGLE, |request| {
        Box::pin(toggle(request))
    })
    .giving::<ProfileMembers>(),
    put("/api/profiles/{profile}/servers/{server}/toggle", "toggleProfileServerByPut", TOGGLE, |request| {
        Box::pin(toggle(request))
    })
    .giving::<ProfileMembers>()
    .former(),
    Operation {
        method: "PATCH",
        ..put(
            "/api/profiles/{profile}/servers/{server}/toggle",
            "toggleProfileServerByPatch",
            TOGGLE,
            |request| Box::pin(toggle(request)),
        )
        .giving::<ProfileMembers>()
        .former()
    },
    get(
        "/api/profiles/{profile}/servers/{server}/tools",
        "listProfileServerTools",
        "Lists the tools of a server in a profile, with their settings.",
        |request| Box::pin(tools(request)),
    )
    .asking(REFRESH)
    .giving::<ProfileTools>(),
    put(
        "/api/profiles/{profile}/servers/{server}/tools",
        "setProfileServerTools",
        "Changes the settings of some tools of a server in a profile; other tools stay unchanged.",
        |request| Box::pin(set_tools(request)),
    )
    .taking::<ToolSettings>()
    .giving::<ProfileTools>(),
];

fn list(request: &ManagementRequest) -> Response<Body> {
    ok(&ask::profiles(&request.standing))
}

async fn add(request: &mut ManagementRequest) -> Answered {
    let body = request.json().await?;
    let made = request.edit(move |standing| ask::add_profile(standing, &body)).await?;
    Ok(answer(StatusCode::CREATED, &made.of(ask::profile)?))
}

fn show(request: &ManagementRequest) -> Answered {
    Ok(ok(&ask::profile(&request.standing, &request.named("profile"))?))
}

async fn change(request: &mut ManagementRequest) -> Answered {
    let (body, slug) = (request.json().await?, request.named("profile"));
    let made = request.edit(move |standing| ask::change_profile(standing, &slug, &body)).await?;
    Ok(ok(&made.of(ask::profile)?))
}

async fn remove(request: &mut ManagementRequest) -> Answered {
    let slug = request.named("profile");
    request.edit(move |standing| Ok((String::new(), ask::remove_profile(standing, &slug)?))).await?;
    Ok(empty())
}

async fn status(request: &mut ManagementRequest) -> Answered {
    let slug = request.named("profile");
    ask::profile(&request.standing, &slug)?;
    let found = profiles::status(&request.shard.now(), &request.identity, &slug).await;
    Ok(ok(&found.ok_or_else(|| ask::Refusal::no_profile(&slug))?))
}

async fn items(request: &mut ManagementRequest) -> Answered {
    let slug = request.named("profile");
    ask::profile(&request.standing, &slug)?;
    let query = catalogue::CatalogueQuery {
        kind: catalogue::kind(request.asked_for("kind")),
        server: None,
        search: request.chosen("search"),
        is_held: false,
        offset: request.number("offset").unwrap_or(0),
        limit: request.number("limit").unwrap_or(100),
    };
    Ok(ok(&profiles::items(&request.shard.now(), &slug, query).await?))
}

fn members(request: &ManagementRequest) -> Answered {
    Ok(ok(&ask::profile_servers(&request.standing, &request.named("profile"))?))
}

async fn add_member(request: &mut ManagementRequest) -> Answered {
    let (body, slug) = (request.json().await?, request.named("profile"));
    let made = request.edit(move |standing| {
        let then = ask::add_server_to_profile(standing, &slug, &body)?;
        Ok((slug, then))
    });
    Ok(answer(StatusCode::CREATED, &made.await?.of(ask::profile_servers)?))
}

async fn change_member(request: &mut ManagementRequest) -> Answered {
    let (body, slug, id) = (request.json().await?, request.named("profile"), request.named("server"));
    let made = request.edit(move |standing| {
        let then = ask::change_profile_server(standing, &slug, &id, &body)?;
        Ok((slug, then))
    });
    Ok(ok(&made.await?.of(ask::profile_servers)?))
}

async fn remove_member(request: &mut ManagementRequest) -> Answered {
    let (slug, id) = (request.named("profile"), request.named("server"));
    let made = request.edit(move |standing| {
        let then = ask::remove_server_from_profile(standing, &slug, &id)?;
        Ok((slug, then))
    });
    made.await?;
    Ok(empty())
}

async fn toggle(request: &mut ManagementRequest) -> Answered {
    let (slug, id) = (request.named("profile"), request.named("server"));
    let made = request.edit(move |standing| {
        let then = ask::toggle_profile_server(standing, &slug, &id)?;
        Ok((slug, then))
    });
    Ok(ok(&made.await?.of(ask::profile_servers)?))
}

async fn tools(request: &mut ManagementRequest) -> Answered {
    listed(request, &request.standing).await
}

async fn set_tools(request: &mut ManagementRequest) -> Answered {
    let (body, slug, id) = (request.json().await?, request.named("profile"), request.named("server"));
    let made = request.edit(move |standing| {
        let then = ask::set_profile_tools(standing, &slug, &id, &body)?;
        Ok((slug, then))
    });
    let made = made.await?;
    listed(request, &made.standing).await
}

/// Returns the tools of a server in a profile, even if the server currently cannot be reached.
async fn listed(request: &ManagementRequest, standing: &Standing) -> Answered {
    let (slug, id) = (request.named("profile"), request.named("server"));
    // A request that would be refused anyway does not need the server's list.
    ask::profile_tools(standing, &slug, &id, &[])?;
    let known = servers::tools(&request.shard.now(), &request.identity, &id, request.flag("refresh")).await;
    let known = known.map(|tools| servers::known(&tools)).unwrap_or_default();
    Ok(ok(&ask::profile_tools(standing, &slug, &id, &known)?))
}
