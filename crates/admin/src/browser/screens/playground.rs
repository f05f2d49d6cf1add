//! The playground: a form from a tool's schema, and the call with everything that happens during it.

use std::collections::HashSet;
use std::sync::Arc;

use pages::model::{
    OpenQuestion, PageFrame, PlaygroundPage, PlaygroundRun, PlaygroundTool, ProgressMark, RunState,
    SchemaField, ToolRow,
};
use pages::{Markup, page, route};
use serde_json::{Value, json};

use super::super::page_reply::{self, PageResult};
use super::super::page_request::PageRequest;
use super::super::page_stream::PageStream;
use super::super::played_call::{PlayState, PlayedAnswer, PlayedCall, PlayedRequest};
use super::paging::contains;
use super::{access, messages, schema_form, texts, tool_rows};
use crate::insight::access::{AskedCaller, reach};
use crate::insight::moment::PointInTime;
use crate::insight::profiles::whole_view;
use crate::insight::usage::Usage;
use gateway::changes::Refusal;
use gateway::process::Shard;

/// The maximum number of tools in the list.
const MOST_TOOLS: usize = 200;

/// Values of the form that the page shows again.
#[derive(Default)]
struct Entered {
    fields: Option<Vec<SchemaField>>,
    arguments: Option<String>,
}

/// Shows the playground.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    let (data, _) = data(request, &request.query, Entered::default()).await?;
    page_reply::ok(page::playground(&request.frame(), &data))
}

/// Gathers the page; also returns the input schema of the chosen tool.
async fn data(
    request: &PageRequest,
    values: &super::super::page_request::Fields,
    entered: Entered,
) -> Result<(PlaygroundPage, Option<Value>), Refusal> {
    let shard = &request.shard;
    let run = find(request, values.text("run"));
    let standing = request.standing();
    let profiles = texts(standing.config().profiles.keys());
    let wanted = run.as_ref().map_or_else(|| values.shown("profile"), |run| run.slug.as_str().into());
    let first = || profiles.first().cloned().unwrap_or_default();
    let profile = if profiles.contains(&wanted) { wanted } else { first() };
    let (q, caller) = (values.shown("q"), values.shown("caller"));
    let mut tools = tool_rows::of_profile(shard, profile.raw(), &Usage::default()).await?;
    let name = run.as_ref().map_or_else(|| values.text("tool").to_owned(), |run| run.tool.clone());
    let row = tools.iter().find(|row| row.client_name.raw() == name).cloned();
    let schema = schema(shard, profile.raw(), &name).await;
    tools.retain(|row| contains(&[row.client_name.raw(), row.title.raw(), row.description.raw()], q.raw()));
    let mut denied = Vec::new();
    if !caller.is_empty() {
        (tools, denied) = divided(shard, (profile.raw(), caller.raw()), tools).await;
    }
    tools.truncate(MOST_TOOLS);
    denied.truncate(MOST_TOOLS);
    let mut tool = None;
    if let Some(row) = row.filter(|_| !name.is_empty()) {
        let schema = schema.clone().unwrap_or_else(|| json!({}));
        let fields = entered.fields.or_else(|| schema_form::fields(&schema));
        let earlier = run.as_ref().map(|run| &run.arguments);
        let as_json = fields.is_none();
        let arguments =
            entered.arguments.or_else(|| earlier.map(indented)).unwrap_or_else(|| "{}".to_owned());
        let mut fields = fields.unwrap_or_default();
        if let Some(earlier) = earlier {
            schema_form::fill(&mut fields, earlier);
        }
        tool = Some(PlaygroundTool {
            verdict: match caller.raw() {
                "" => None,
                own => access::verdict(shard, (profile.raw(), &name, own), None, None).await.ok(),
            },
            name: name.into(),
            server: row.server,
            title: row.title,
            description: row.description,
            hints: row.hints,
            fields,
            arguments: arguments.into(),
            as_json,
        });
    }
    let callers = access::callers(request).await;
    let run = run.map(|run| shown(shard, &run));
    Ok((PlaygroundPage { profiles, profile, callers, caller, q, tools, denied, tool, run }, schema))
}

/// Divides the tools of a profile into those that a caller may use, and the others. If the caller is unknown, all tools are of the first
/// part, and the chosen tool shows the fault.
async fn divided(
    shard: &Arc<Shard>,
    (profile, caller): (&str, &str),
    tools: Vec<ToolRow>,
) -> (Vec<ToolRow>, Vec<ToolRow>) {
    let asked = AskedCaller { id: Some(caller.to_owned()), ..AskedCaller::default() };
    let Ok(reach) = reach(shard, profile, &asked).await else { return (tools, Vec::new()) };
    let denied: HashSet<String> = reach.denied.into_iter().collect();
    tools.into_iter().partition(|row| !denied.contains(row.client_name.raw()))
}

/// Returns the input schema of a tool as clients of a profile see it.
async fn schema(shard: &Arc<Shard>, profile: &str, tool: &str) -> Option<Value> {
    let whole = whole_view(shard, profile).await.ok()?;
    let found = whole.costs.tools.iter().find(|one| one.item.key == tool)?;
    let schema = found.item.member("inputSchema");
    Some(schema.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default())
}

fn indented(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// Returns a run of this session.
fn find(request: &PageRequest, id: &str) -> Option<Arc<PlayedCall>> {
    let found = request.state.run(id)?;
    request.session.owns(&found.owner).then_some(found)
}

/// Calls a tool.
pub(in super::super) async fn run(request: &PageRequest) -> PageResult {
    let (shard, form) = (&request.shard, &request.form);
    let (slug, tool, caller) = (form.text("profile"), form.text("tool"), form.text("caller"));
    let schema = schema(shard, slug, tool).await;
    let missing =
        || Refusal::new(404, "TOOL_NOT_FOUND", format!("The profile {slug:?} has no tool {tool:?}."));
    let schema = schema.ok_or_else(missing)?;
    let arguments = match (schema_form::fields(&schema), form.get("arguments")) {
        (Some(fields), None) => match schema_form::entered(fields, form) {
            Ok(arguments) => arguments,
            Err(fields) => return again(request, Entered { fields: Some(fields), arguments: None }).await,
        },
        (_, text) => match serde_json::from_str::<Value>(text.unwrap_or("{}")) {
            Ok(arguments) if arguments.is_object() => arguments,
            _ => {
                request.tell(gateway::admission::admin::sessions::FormNotice {
                    is_fault: true,
                    text: "The arguments are not a JSON object.".to_owned(),
                    advice: None,
                });
                return again(request, Entered { fields: None, arguments: text.map(str::to_owned) }).await;
            }
        },
    };
    if !caller.is_empty() {
        let verdict = access::verdict(shard, (slug, tool, caller), Some(arguments.clone()), None).await;
        let verdict = verdict.map_err(|fault| Refusal::new(422, "INVALID_CALLER", fault))?;
        if !verdict.allowed {
            request.tell(gateway::admission::admin::sessions::FormNotice {
                is_fault: true,
                text: format!("The rules deny this call for {caller}: {}", verdict.reason.raw()),
                advice: None,
            });
            let mut fields = schema_form::fields(&schema);
            if let Some(fields) = &mut fields {
                schema_form::fill(fields, &arguments);
            }
            return again(request, Entered { fields, arguments: Some(indented(&arguments)) }).await;
        }
    }
    let at = shard
        .gateway
        .snapshot
        .profiles
        .iter()
        .position(|profile| *profile.slug == *slug)
        .ok_or_else(missing)?;
    let wanted = PlayedRequest { profile: at, slug: slug.to_owned(), tool: tool.to_owned(), arguments };
    let run =
        request.state.play(shard, (request.session.form_token.clone(), &request.session.by.name()), wanted);
    let run = run?;
    let pairs = [("profile", slug), ("caller", caller), ("tool", tool), ("run", &run.id)];
    Ok(page_reply::to(&format!("{}#run", route::with_query(route::PLAYGROUND, &pairs))))
}

async fn again(request: &PageRequest, entered: Entered) -> PageResult {
    let (data, _) = data(request, &request.form, entered).await?;
    Ok(page_reply::unusable(page::playground(&request.frame(), &data)))
}

/// Answers a question.
pub(in super::super) async fn answer(request: &PageRequest) -> PageResult {
    let form = &request.form;
    let run = find(request, form.text("run")).ok_or_else(no_run)?;
    let question = run.facts().question.filter(|question| question.id == form.text("question"));
    let gone =
        || Refusal::new(409, "NO_QUESTION", "This question is no longer open. Reload the page of the run.");
    let question = question.ok_or_else(gone)?;
    let result = match form.text("action") {
        "accept" if question.params.get("url").is_some() => json!({ "action": "accept" }),
        "accept" => {
            let fields = schema_form::fields(&question.params["requestedSchema"]).unwrap_or_default();
            match schema_form::entered(fields, form) {
                Ok(content) => json!({ "action": "accept", "content": content }),
                Err(fields) => {
                    let fault = |field: &SchemaField| {
                        field.fault.as_ref().map(|fault| format!("{}: {}", field.label.raw(), fault.raw()))
                    };
                    let faults: Vec<String> = fields.iter().filter_map(fault).collect();
                    return Err(Refusal::new(422, "INVALID_ANSWER", faults.join("; ")));
                }
            }
        }
        "decline" => json!({ "action": "decline" }),
        _ => json!({ "action": "cancel" }),
    };
    if !run.answer(PlayedAnswer { question: question.id, result }) {
        return Err(gone());
    }
    Ok(page_reply::to(&address(&run)))
}

fn no_run() -> Refusal {
    Refusal::new(
        404,
        "RUN_NOT_FOUND",
        "There is no such run. It may have been removed to make room for newer runs.",
    )
}

fn address(run: &PlayedCall) -> String {
    let pairs = [("profile", run.slug.as_str()), ("tool", run.tool.as_str()), ("run", run.id.as_str())];
    format!("{}#run", route::with_query(route::PLAYGROUND, &pairs))
}

/// Cancels a run.
pub(in super::super) async fn cancel(request: &PageRequest) -> PageResult {
    let run = find(request, request.form.text("run")).ok_or_else(no_run)?;
    run.cancel();
    Ok(page_reply::to(&address(&run)))
}

/// Streams a run: its current state is sent after every change.
pub(in super::super) async fn events(request: &PageRequest) -> PageResult {
    let run = find(request, request.query.text("run")).ok_or_else(no_run)?;
    let (stream, response) = PageStream::open(request)?;
    let frame = request.frame_without_notice();
    transport::task::spawn(async move {
        let send = async {
            let mut changes = run.changes();
            loop {
                let is_over = run.is_over();
                let frame = PageFrame { now: PointInTime::now().0, ..frame.clone() };
                let shown = shown(&stream.thread.now(), &run);
                stream.send("replace", None, page::playground_run(&frame, &shown));
                if is_over || changes.changed().await.is_err() {
                    return stream.send("end", None, Markup::default());
                }
            }
        };
        tokio::select! { () = send => {}, () = stream.over() => {} }
    });
    Ok(response)
}

/// Returns a run as the page shows it.
fn shown(shard: &Shard, run: &PlayedCall) -> PlaygroundRun {
    let facts = run.facts();
    let micros = |time: std::time::Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let progress = facts.progress.iter().map(|mark| ProgressMark {
        after_us: micros(mark.after),
        value: mark.params["progress"].as_f64().unwrap_or_default(),
        total: mark.params["total"].as_f64(),
        text: mark.params["message"].as_str().unwrap_or_default().into(),
    });
    PlaygroundRun {
        id: run.id.clone(),
        tool: run.tool.as_str().into(),
        state: match facts.state {
            PlayState::Running => RunState::Running,
            PlayState::Asking => RunState::Asking,
            PlayState::Done => RunState::Done,
            PlayState::Failed => RunState::Failed,
            PlayState::Cancelled => RunState::Cancelled,
        },
        started: PointInTime::at(run.started).0,
        duration_us: micros(facts.ended.unwrap_or_else(|| run.started.elapsed())),
        progress: progress.collect(),
        question: facts.question.map(|question| OpenQuestion {
            text: question.params["message"].as_str().unwrap_or_default().into(),
            fields: schema_form::fields(&question.params["requestedSchema"]).unwrap_or_default(),
            url: question.params["url"].as_str().map(Into::into),
            id: question.id,
        }),
        answer: facts.answer.map(|answer| {
            let inner = answer.get("result").or(answer.get("error"));
            indented(inner.unwrap_or(&answer)).into()
        }),
        messages: messages::shown(shard, &run.messages()),
    }
}
