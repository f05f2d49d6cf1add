//! A server of tools: which methods it has, how a call is read, run and answered.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use proto::era::{CacheHint, CacheScope, Era, InvalidArguments, ServerHello, Structured, complete};
use proto::json::quote;
use proto::mcp::Method;
use proto::rpc::Frame;
use serde_json::{Map, Value, json};

use super::found::{Found, Kept};
use super::offers::{Completion, Offers, text_of};
use super::row::{Act, Tool};
use super::schema::described;
use crate::arguments::argument::{Argument, flag};
use crate::arguments::read::Policy;
use crate::arguments::trouble::{Condition, Trouble};
use crate::rest::{
    ALLOW_MARKUP_LOSS, Answers, CONTENT_FORMAT, CONTENT_NOTE, RAW, RENDERED, Shape, Shown, Step, World,
};
use crate::server::{Answering, Mapped, NativeCall, NativeServer, Refusal, respond};
use crate::unknown::UnknownArguments;

const CAPABILITIES: &str = r#"{"tools":{}}"#;
/// Of a server that offers more than tools.
const MORE_CAPABILITIES: &str = r#"{"tools":{},"resources":{},"prompts":{},"completions":{}}"#;

/// The tools stay the same until the configuration changes.
const KEEP: CacheHint = CacheHint { ttl_ms: 3_600_000, scope: CacheScope::Public };
/// What a site says to one account is for that one alone, and may change at once.
const OWN: CacheHint = CacheHint { ttl_ms: 0, scope: CacheScope::Private };
/// What is found at a place may change there.
const SHORTER: CacheHint = CacheHint { ttl_ms: 300_000, scope: CacheScope::Public };

/// What the servers of one kind have in common.
#[derive(Debug)]
pub(crate) struct Family {
    /// `serverInfo.name`.
    pub(crate) name: &'static str,
    /// `serverInfo.title`.
    pub(crate) title: &'static str,
    /// What a model should know before it uses the tools.
    pub(crate) instructions: &'static str,
    /// How arguments are read.
    pub(crate) policy: Policy,
    /// What stands before the text of a failed call.
    pub(crate) failed: &'static str,
    /// What stands before the text about arguments that do not fit.
    pub(crate) unfit: &'static str,
}

/// How a failed call is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    /// As a result with `isError`; only what is about the server as it stands is an error.
    Results,
    /// As a JSON-RPC error whose `data.condition` says what kind it is.
    Errors,
}

/// A server whose tools are rows. Clones are the same server: they share what it keeps of others' answers.
#[derive(Clone)]
pub struct ToolServer(Arc<Inner>);

pub(super) struct Inner {
    pub(super) family: &'static Family,
    channel: Channel,
    info: String,
    pub(super) tools: Vec<&'static Tool>,
    /// The list for eras with structured results, and for those without.
    lists: [String; 2],
    pub(super) compact: bool,
    pub(super) unknown: UnknownArguments,
    pub(super) settings: Map<String, Value>,
    world: Option<World>,
    pub(super) found: Option<(Found, Kept, bool)>,
    offers: Option<&'static Offers>,
}

/// The argument of tools whose answers are shown in part.
const WHOLE: &[Argument] = &[AS_GIVEN];
/// The same of tools that read content which may be edited, and of those that change it.
const READS_CONTENT: &[Argument] = &[AS_GIVEN, RENDERED];
const CHANGES_CONTENT: &[Argument] = &[AS_GIVEN, ALLOW_MARKUP_LOSS];
const AS_GIVEN: Argument =
    flag(RAW, "Whether the answer is shown as the site gave it, with all its members.");

/// What a tool takes beside its own arguments.
pub(super) fn more_of(tool: &Tool, compact: bool) -> &'static [Argument] {
    match tool.act {
        Act::Rest(_, Shape::Told(_) | Shape::Made(_) | Shape::File) | Act::Local(_) => &[],
        Act::Rest(steps, _) if compact && steps.iter().any(Step::shows_content) => READS_CONTENT,
        Act::Rest(steps, _) if compact && steps.iter().any(Step::is_check) => CHANGES_CONTENT,
        Act::Rest(..) if compact => WHOLE,
        Act::Rest(..) => &[],
    }
}

/// The schema of a tool's answers, where they are structured.
fn output_of(tool: &Tool, compact: bool) -> Option<Value> {
    match &tool.act {
        Act::Rest(steps, shape) if compact => {
            let mut schema = shape.schema()?;
            if steps.iter().any(Step::shows_content) {
                schema["properties"][CONTENT_FORMAT] =
                    json!({"type": "string", "enum": ["source", "rendered"]});
                schema["properties"][CONTENT_NOTE] = json!({"type": "string"});
            }
            Some(schema)
        }
        _ => None,
    }
}

impl fmt::Debug for ToolServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolServer").field("name", &self.0.family.name).finish_non_exhaustive()
    }
}

impl ToolServer {
    /// A server of these tools. `settings` are values that each call has beside its arguments; `world` is what tools that
    /// send requests need.
    pub(crate) fn new(
        family: &'static Family,
        (channel, unknown): (Channel, UnknownArguments),
        tools: Vec<&'static Tool>,
        settings: Map<String, Value>,
        world: Option<World>,
    ) -> Self {
        let compact = world.as_ref().is_some_and(|world| world.answers == Answers::Compact);
        let list = |structured: bool| {
            let row = |tool: &&'static Tool| {
                let output = if structured { output_of(tool, compact) } else { None };
                described(tool, more_of(tool, compact), output, unknown)
            };
            format!("\"tools\":{}", tools.iter().map(row).collect::<Value>())
        };
        let lists = [list(true), list(false)];
        let info = format!(
            "{{\"name\":{},\"title\":{},\"version\":\"{}\"}}",
            quote(family.name),
            quote(family.title),
            env!("CARGO_PKG_VERSION")
        );
        Self(Arc::new(Inner {
            family,
            channel,
            info,
            tools,
            lists,
            compact,
            unknown,
            settings,
            world,
            found: None,
            offers: None,
        }))
    }

    /// With tools that are found at the place that is asked; those that only read, where that is said.
    pub(crate) fn finding(mut self, found: Found, only_reads: bool) -> Self {
        // Nobody has a clone yet.
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.found = Some((found, Kept::default(), only_reads));
        }
        self
    }

    /// With resources and prompts.
    pub(crate) fn offering(mut self, offers: &'static Offers) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.offers = Some(offers);
        }
        self
    }

    /// The rows of its tools.
    #[cfg(test)]
    pub(crate) fn rows(&self) -> &[&'static Tool] {
        &self.0.tools
    }

    /// The names of its tools, in the order of its list.
    pub fn tools(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.0.tools.iter().map(|tool| tool.name)
    }
}

impl NativeServer for ToolServer {
    fn hello(&self, era: &'static Era) -> ServerHello {
        ServerHello {
            era,
            capabilities: Bytes::from_static(match self.0.offers {
                Some(_) => MORE_CAPABILITIES.as_bytes(),
                None => CAPABILITIES.as_bytes(),
            }),
            info: Bytes::from(self.0.info.clone()),
            instructions: Some(self.0.family.instructions.to_owned()),
        }
    }

    fn answer(&self, call: NativeCall<'_>) -> Answering {
        let (request, era) = (call.request, call.era);
        let method = request.method();
        match Method::from_name(&method).filter(|method| era.knows(*method)) {
            Some(Method::ToolsCall) => self.call(request, era, call.mapped),
            Some(Method::Ping) => self.at_once(request, Ok(self.0.dressed(era, "", None))),
            Some(Method::ToolsList) => self.list(request, era),
            Some(method) if self.0.offers.is_some() => self.offered(request, era, method, call.mapped),
            _ => self.at_once(request, Err(Refusal::method(&method))),
        }
    }

    fn readings(&self, tool: &str, arguments: &[u8]) -> Vec<String> {
        self.0.readings(tool, arguments)
    }

    fn unknown_arguments(&self, tool: &str, arguments: &[u8]) -> Option<String> {
        self.0.unknown_arguments(tool, arguments)
    }
}

impl ToolServer {
    fn at_once(&self, request: &Frame, outcome: Result<Bytes, Refusal>) -> Answering {
        let _ = self;
        Answering::Ready(respond(request, outcome))
    }

    fn list(&self, request: &Frame, era: &'static Era) -> Answering {
        let knows = self.0.world.as_ref().is_some_and(World::knows_its_place);
        if self.0.found.is_none() || !knows {
            return self.at_once(request, self.0.listed(request, era, &[], KEEP));
        }
        let (inner, request) = (self.0.clone(), request.clone());
        Answering::Soon(Box::pin(async move {
            let more = inner.found_now().await;
            respond(&request, inner.listed(&request, era, &more, SHORTER))
        }))
    }

    /// A request for what is offered beside tools.
    fn offered(
        &self,
        request: &Frame,
        era: &'static Era,
        method: Method,
        mapped: Option<&Mapped>,
    ) -> Answering {
        let (Some(offers), Some(_)) = (self.0.offers, &self.0.world) else {
            return self.at_once(request, Err(Refusal::method(method.name())));
        };
        let whole = |members: String| {
            let cursor = request.param("cursor").map_err(|e| Refusal::params(e.to_string()))?;
            let refused = || Refusal::params("this list has one page only: leave \"cursor\" out");
            if cursor.is_some() { Err(refused()) } else { Ok(self.0.dressed(era, &members, Some(KEEP))) }
        };
        match method {
            Method::ResourcesList => self.at_once(request, whole(offers.resources(false))),
            Method::TemplatesList => self.at_once(request, whole(offers.resources(true))),
            Method::PromptsList => self.at_once(request, whole(offers.prompts())),
            Method::PromptsGet => {
                let prompt = offers.prompt(request).map(|members| self.0.dressed(era, &members, None));
                self.at_once(request, prompt)
            }
            Method::ResourcesRead => match text_of(request, "uri") {
                Ok(uri) => self.read(request, era, offers, (uri, mapped)),
                Err(refusal) => self.at_once(request, Err(refusal)),
            },
            Method::Complete => match Completion::of(request) {
                Ok(asked) => self.complete(request, era, offers, (asked, mapped)),
                Err(refusal) => self.at_once(request, Err(refusal)),
            },
            _ => self.at_once(request, Err(Refusal::method(method.name()))),
        }
    }

    fn read(
        &self,
        request: &Frame,
        era: &'static Era,
        offers: &'static Offers,
        (uri, mapped): (String, Option<&Mapped>),
    ) -> Answering {
        let (inner, request, mapped) = (self.0.clone(), request.clone(), mapped.cloned());
        Answering::Soon(Box::pin(async move {
            let members = match &inner.world {
                Some(world) => offers.read(&uri, era, world, mapped.as_ref()).await,
                None => Err(Refusal::method(Method::ResourcesRead.name())),
            };
            respond(&request, members.map(|members| inner.dressed(era, &members, Some(OWN))))
        }))
    }

    fn complete(
        &self,
        request: &Frame,
        era: &'static Era,
        offers: &'static Offers,
        (asked, mapped): (Completion, Option<&Mapped>),
    ) -> Answering {
        let (inner, request, mapped) = (self.0.clone(), request.clone(), mapped.cloned());
        Answering::Soon(Box::pin(async move {
            let members = match &inner.world {
                Some(world) => offers.complete(&asked, world, mapped.as_ref()).await,
                None => Err(Refusal::method(Method::Complete.name())),
            };
            respond(&request, members.map(|members| inner.dressed(era, &members, None)))
        }))
    }

    fn call(&self, request: &Frame, era: &'static Era, mapped: Option<&Mapped>) -> Answering {
        let (tool, values) = match self.0.begun(request) {
            Ok(begun) => begun,
            Err(trouble) => return self.at_once(request, self.0.said(era, Err(trouble))),
        };
        match tool.act {
            Act::Local(run) => self.at_once(request, self.0.said(era, run(&values).map(Shown::text))),
            Act::Rest(steps, shape) => {
                let (inner, request, mapped) = (self.0.clone(), request.clone(), mapped.cloned());
                Answering::Soon(Box::pin(async move {
                    let outcome = match &inner.world {
                        Some(world) => {
                            world.run(tool.arguments, (steps, &shape), values, mapped.as_ref()).await
                        }
                        None => Err(Trouble::new(Condition::ToolFailed, "there is no way to send requests")),
                    };
                    respond(&request, inner.said(era, outcome))
                }))
            }
        }
    }
}

impl Inner {
    /// The tools that are found now, each as JSON text.
    async fn found_now(&self) -> Vec<String> {
        let (Some((found, kept, only_reads)), Some(world)) = (&self.found, &self.world) else {
            return Vec::new();
        };
        found.tools(world, kept, *only_reads).await.iter().map(Value::to_string).collect()
    }

    fn listed(&self, request: &Frame, era: &Era, more: &[String], keep: CacheHint) -> Result<Bytes, Refusal> {
        if request.param("cursor").map_err(|e| Refusal::params(e.to_string()))?.is_some() {
            return Err(Refusal::params("this list has one page only: leave \"cursor\" out"));
        }
        let list = &self.lists[usize::from(era.shapes.structured == Structured::None)];
        let mut list = list.strip_suffix(']').unwrap_or(list).to_owned();
        for tool in more {
            list.push(',');
            list.push_str(tool);
        }
        list.push(']');
        Ok(self.dressed(era, &list, Some(keep)))
    }

    /// The outcome of a call as the server's family says it.
    fn said(&self, era: &Era, outcome: Result<Shown, Trouble>) -> Result<Bytes, Refusal> {
        let (shown, is_error) = match outcome {
            Ok(shown) => (shown, false),
            Err(trouble) if self.is_refused(era, trouble.condition) => return Err(trouble.refusal()),
            Err(trouble) => {
                let unfit = trouble.condition == Condition::InvalidArguments;
                let before = if unfit { self.family.unfit } else { self.family.failed };
                (Shown::text(format!("{before}{}", trouble.message)), true)
            }
        };
        // An era that knows no such content is told of the file alone.
        let file = shown.file.filter(|_| era.shapes.tool_content.contains(&"resource"));
        let file = file.map(|file| format!(",{{\"type\":\"resource\",\"resource\":{file}}}"));
        let mut content = format!(
            "\"content\":[{{\"type\":\"text\",\"text\":{}}}{}],\"isError\":{is_error}",
            quote(&shown.text),
            file.unwrap_or_default()
        );
        // What eras without it would be given is in the text.
        if let Some(value) =
            shown.structured.filter(|_| self.compact && era.shapes.structured != Structured::None)
        {
            content = format!("{content},\"structuredContent\":{value}");
        }
        Ok(self.dressed(era, &content, None))
    }

    fn is_refused(&self, era: &Era, condition: Condition) -> bool {
        let strict = matches!(self.family.policy, Policy::Exact | Policy::Filled);
        let unfit = condition == Condition::InvalidArguments
            && strict
            && matches!(era.invalid_arguments, InvalidArguments::Error);
        self.channel == Channel::Errors || condition.is_about_the_server() || unfit
    }

    fn dressed(&self, era: &Era, members: &str, cache: Option<CacheHint>) -> Bytes {
        complete(era, members.as_bytes(), cache, &self.info)
    }
}
