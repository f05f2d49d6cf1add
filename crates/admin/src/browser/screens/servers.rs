//! The list of servers, and the form that adds servers.

use http::Response;
use pages::model::{AddServer, ServerRow, ServerState, ServersFilter, ServersPage};
use pages::{page, route};
use transport::net::Body;

use super::super::page_reply::{self, PageResult};
use super::super::page_request::{PageRequest, Subject};
use super::paging::{contains, part};
use super::{server_rows, texts};
use gateway::admission::admin::sessions::FormNotice;
use gateway::changes::pasted::{self, PastedServer};
use gateway::changes::{self, Refusal};

/// Shows the servers.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    page_reply::ok(page::servers(&request.frame(), &data(request, AddServer::default()).await))
}

async fn data(request: &PageRequest, add: AddServer) -> ServersPage {
    let (shard, query) = (&request.shard, &request.query);
    let filter = ServersFilter { q: query.shown("q"), state: ServerState::from_name(query.text("state")) };
    let usage = server_rows::day(request).await;
    let is_chosen = |row: &ServerRow| {
        filter.state.is_none_or(|state| row.state == state)
            && contains(&[row.id.raw(), row.description.raw()], filter.q.raw())
    };
    let rows = server_rows::all(shard, &usage).into_iter().filter(is_chosen).collect();
    let (rows, paging) = part(request, rows);
    ServersPage { filter, rows, counted_since: usage.counted_since, paging, add }
}

/// Shows which servers a pasted text would add, or adds them.
pub(in super::super) async fn add(request: &PageRequest) -> PageResult {
    let (text, name) = (request.form.get("text").unwrap_or_default(), request.form.text("name"));
    let again = |faults: Vec<String>| AddServer {
        text: text.into(),
        name: name.into(),
        faults: texts(faults),
        ..AddServer::default()
    };
    let servers = match pasted::servers(&request.standing(), text, name) {
        Ok(servers) => servers,
        Err(faults) => return refused(request, again(faults)).await,
    };
    let mark = pasted::mark(&servers);
    if request.form.text("confirm") != mark {
        let preview = texts(servers.iter().map(|one| format!("{}: {}", one.id, one.destination())));
        let add = AddServer { preview, mark, ..again(Vec::new()) };
        return page_reply::ok(page::servers(&request.frame(), &data(request, add).await));
    }
    let (mut added, mut faults) = (Vec::new(), Vec::new());
    for server in servers {
        let name = server.name.clone();
        match add_one(request, server).await {
            Ok(id) => added.push(id),
            Err(refusal) => faults.push(format!("{name}: {}", refusal.message)),
        }
    }
    if added.is_empty() {
        return refused(request, again(faults)).await;
    }
    let text = format!("Added: {}. The state of each server shows whether it can be used.", added.join(", "));
    let advice = (!faults.is_empty()).then(|| format!("Not added: {}", faults.join("; ")));
    request.tell(FormNotice { is_fault: advice.is_some(), text, advice });
    Ok(page_reply::to(route::SERVERS))
}

async fn add_one(request: &PageRequest, server: PastedServer) -> Result<String, Refusal> {
    let name = server.name.clone();
    let made =
        request.edit(Subject::Server(&name), move |standing| changes::add_server(standing, &server.body));
    Ok(made.await?.id)
}

async fn refused(request: &PageRequest, add: AddServer) -> Result<Response<Body>, Refusal> {
    Ok(page_reply::unusable(page::servers(&request.frame(), &data(request, add).await)))
}
