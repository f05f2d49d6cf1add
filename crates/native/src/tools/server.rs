//! A server of tools: its methods, and how a call is read, run and answered.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use proto::era::{CacheHint, CacheScope, Era, InvalidArguments, ServerHello, Structured, complete};
use proto::json::quote;
use proto::mcp::Method;
use proto::rpc::Frame;
use serde_json::{Map, Value};

use super::compact::{more_of, output_of};
use super::found::{FoundTools, ToolFinder};
use super::offers::{Completion, OfferTable, text_of};
use super::row::{ToolAction, ToolRow, Wording};
use super::schema::described;
use crate::arguments::call_failure::{CallFailure, Condition};
use crate::arguments::read::Policy;
use crate::rest::{AnswerStyle, CONTENT_NAMES, CallAnswer, RestEnvironment, RunContext, VALUE_NAMES};
use crate::server::{Answering, Mapped, NativeCall, NativeRefusal, NativeServer, respond};
use crate::unknown::UnknownArguments;

const CAPABILITIES: &str = r#"{"tools":{}}"#;
/// The capabilities of a server that offers more than tools.
const MORE_CAPABILITIES: &str = r#"{"tools":{},"resources":{},"prompts":{},"completions":{}}"#;

/// The cache hint for a list of tools, which stays the same until the configuration changes.
const KEEP: CacheHint = CacheHint { ttl_ms: 3_600_000, scope: CacheScope::Public };
/// The cache hint for an answer for one account: it must not be shared, and may change at any time.
const OWN: CacheHint = CacheHint { ttl_ms: 0, scope: CacheScope::Private };
/// The cache hint for a list with found tools, which may change at their site.
const SHORTER: CacheHint = CacheHint { ttl_ms: 300_000, scope: CacheScope::Public };

/// The common settings of servers of one kind.
#[derive(Debug)]
pub(crate) struct Family {
    /// The server's name in `serverInfo`.
    pub(crate) name: &'static str,
    /// The server's title in `serverInfo`.
    pub(crate) title: &'static str,
    /// Titles, for compact answers, of tools whose rows have the form that presets require.
    pub(crate) titles: &'static [Wording],
    /// Instructions for models that use the tools.
    pub(crate) instructions: &'static str,
    /// The policy by which arguments are read.
    pub(crate) policy: Policy,
    /// The prefix of the message of a failed call.
    pub(crate) failed: &'static str,
    /// The prefix of the message about invalid arguments.
    pub(crate) unfit: &'static str,
}

/// The form of a failed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    /// As a result with `isError`; only failures that concern the server itself are errors.
    Results,
    /// As a JSON-RPC error whose `data.condition` names the kind of failure, for dialects that document such errors;
    /// otherwise as a result.
    Errors,
}

/// A server whose tools are rows. Clones are the same server: they share the cached answers from other services.
#[derive(Clone)]
pub struct ToolServer(Arc<ToolServerState>);

pub(super) struct ToolServerState {
    pub(super) family: &'static Family,
    channel: Channel,
    info: String,
    pub(super) tools: Vec<&'static ToolRow>,
    /// The list for eras with structured results, and the list for eras without them.
    lists: [String; 2],
    pub(super) compact: bool,
    pub(super) unknown: UnknownArguments,
    pub(super) settings: Map<String, Value>,
    environment: Option<RestEnvironment>,
    pub(super) found: Option<(ToolFinder, FoundTools, bool)>,
    offers: Option<&'static OfferTable>,
}

impl fmt::Debug for ToolServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolServer").field("name", &self.0.family.name).finish_non_exhaustive()
    }
}

impl ToolServer {
    /// A server of these tools. `settings` are values that each call has in addition to its arguments; `environment` is the
    /// environment of tools that send requests.
    pub(crate) fn new(
        family: &'static Family,
        (channel, unknown): (Channel, UnknownArguments),
        tools: Vec<&'static ToolRow>,
        settings: Map<String, Value>,
        environment: Option<RestEnvironment>,
    ) -> Self {
        let compact =
            environment.as_ref().is_some_and(|environment| environment.answers == AnswerStyle::Compact);
        let list = |structured: bool| {
            let row = |tool: &&'static ToolRow| {
                let output = if structured { output_of(tool, compact) } else { None };
                let wording = family.titles.iter().find(|wording| compact && wording.name == tool.name);
                described((tool, wording), more_of(tool, compact), output, unknown)
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
        Self(Arc::new(ToolServerState {
            family,
            channel,
            info,
            tools,
            lists,
            compact,
            unknown,
            settings,
            environment,
            found: None,
            offers: None,
        }))
    }

    /// Adds tools that are found at the site; with `only_reads`, only those that read.
    pub(crate) fn finding(mut self, found: ToolFinder, only_reads: bool) -> Self {
        // There are no clones yet.
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.found = Some((found, FoundTools::default(), only_reads));
        }
        self
    }

    /// Adds resources and prompts.
    pub(crate) fn offering(mut self, offers: &'static OfferTable) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.offers = Some(offers);
        }
        self
    }

    /// The rows of the server's tools.
    #[cfg(test)]
    pub(crate) fn rows(&self) -> &[&'static ToolRow] {
        &self.0.tools
    }

    /// The names of the server's tools, in the order of the list.
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
            Some(Method::ToolsCall) => self.call(call),
            Some(Method::Ping) => self.at_once(request, Ok(self.0.dressed(era, "", None))),
            Some(Method::ToolsList) => self.list(request, era),
            Some(method) if self.0.offers.is_some() => self.offered(request, era, method, call.mapped),
            _ => self.at_once(request, Err(NativeRefusal::method(&method))),
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
    fn at_once(&self, request: &Frame, outcome: Result<Bytes, NativeRefusal>) -> Answering {
        let _ = self;
        Answering::Ready(respond(request, outcome))
    }

    fn list(&self, request: &Frame, era: &'static Era) -> Answering {
        let knows = self.0.environment.as_ref().is_some_and(RestEnvironment::knows_its_place);
        if self.0.found.is_none() || !knows {
            return self.at_once(request, self.0.listed(request, era, &[], KEEP));
        }
        let (inner, request) = (self.0.clone(), request.clone());
        Answering::Soon(Box::pin(async move {
            let more = inner.found_now().await;
            respond(&request, inner.listed(&request, era, &more, SHORTER))
        }))
    }

    /// Answers a request for something other than tools.
    fn offered(
        &self,
        request: &Frame,
        era: &'static Era,
        method: Method,
        mapped: Option<&Mapped>,
    ) -> Answering {
        let (Some(offers), Some(_)) = (self.0.offers, &self.0.environment) else {
            return self.at_once(request, Err(NativeRefusal::method(method.name())));
        };
        let whole = |members: String| {
            let cursor = request.param("cursor").map_err(|e| NativeRefusal::params(e.to_string()))?;
            let refused = || NativeRefusal::params("this list has one page only: leave \"cursor\" out");
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
            _ => self.at_once(request, Err(NativeRefusal::method(method.name()))),
        }
    }

    fn read(
        &self,
        request: &Frame,
        era: &'static Era,
        offers: &'static OfferTable,
        (uri, mapped): (String, Option<&Mapped>),
    ) -> Answering {
        let (inner, request, mapped) = (self.0.clone(), request.clone(), mapped.cloned());
        Answering::Soon(Box::pin(async move {
            let members = match &inner.environment {
                Some(environment) => offers.read(&uri, era, environment, mapped.as_ref()).await,
                None => Err(NativeRefusal::method(Method::ResourcesRead.name())),
            };
            respond(&request, members.map(|members| inner.dressed(era, &members, Some(OWN))))
        }))
    }

    fn complete(
        &self,
        request: &Frame,
        era: &'static Era,
        offers: &'static OfferTable,
        (asked, mapped): (Completion, Option<&Mapped>),
    ) -> Answering {
        let (inner, request, mapped) = (self.0.clone(), request.clone(), mapped.cloned());
        Answering::Soon(Box::pin(async move {
            let members = match &inner.environment {
                Some(environment) => offers.complete(&asked, environment, mapped.as_ref()).await,
                None => Err(NativeRefusal::method(Method::Complete.name())),
            };
            respond(&request, members.map(|members| inner.dressed(era, &members, None)))
        }))
    }

    fn call(&self, call: NativeCall<'_>) -> Answering {
        let NativeCall { request, era, mapped, documented, transfer } = call;
        let (tool, values) = match self.0.begun(request) {
            Ok(begun) => begun,
            Err(failure) => return self.at_once(request, self.0.said((era, documented), Err(failure))),
        };
        match tool.action {
            ToolAction::Local(run) => {
                self.at_once(request, self.0.said((era, documented), run(&values).map(CallAnswer::text)))
            }
            ToolAction::Rest(steps, shape) => {
                let (inner, request, mapped) = (self.0.clone(), request.clone(), mapped.cloned());
                let transfer = transfer.cloned();
                Answering::Soon(Box::pin(async move {
                    let context = RunContext { mapped: mapped.as_ref(), transfer: transfer.as_ref() };
                    let outcome = match &inner.environment {
                        Some(environment) => {
                            environment.run(tool.arguments, (steps, &shape), values, context).await
                        }
                        None => {
                            Err(CallFailure::new(Condition::ToolFailed, "this server cannot send requests"))
                        }
                    };
                    respond(&request, inner.said((era, documented), outcome))
                }))
            }
        }
    }
}

impl ToolServerState {
    /// The tools that are currently found, each as JSON text.
    async fn found_now(&self) -> Vec<String> {
        let (Some((found, kept, only_reads)), Some(environment)) = (&self.found, &self.environment) else {
            return Vec::new();
        };
        found.tools(environment, kept, *only_reads).await.iter().map(Value::to_string).collect()
    }

    fn listed(
        &self,
        request: &Frame,
        era: &Era,
        more: &[String],
        keep: CacheHint,
    ) -> Result<Bytes, NativeRefusal> {
        if request.param("cursor").map_err(|e| NativeRefusal::params(e.to_string()))?.is_some() {
            return Err(NativeRefusal::params("this list has one page only: leave \"cursor\" out"));
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

    /// The result or the refusal that reports the outcome of a call, with the prefixes of the server's family. For
    /// `documented`, see [`NativeCall::documented`].
    fn said(
        &self,
        (era, documented): (&Era, bool),
        outcome: Result<CallAnswer, CallFailure>,
    ) -> Result<Bytes, NativeRefusal> {
        let (shown, is_error) = match outcome {
            Ok(shown) => (shown, false),
            Err(failure) if self.is_refused((era, documented), failure.condition) => {
                return Err(failure.refusal());
            }
            Err(failure) => {
                let unfit = failure.condition == Condition::InvalidArguments;
                let before = if unfit { self.family.unfit } else { self.family.failed };
                let message = if documented { failure.message } else { failure.with_status() };
                (CallAnswer::text(format!("{before}{message}")), true)
            }
        };
        // In an era without such content, the answer only mentions the file.
        let file = shown.file.filter(|_| era.shapes.tool_content.contains(&"resource"));
        let file = file.map(|file| format!(",{{\"type\":\"resource\",\"resource\":{file}}}"));
        let members = [CONTENT_NAMES.member, VALUE_NAMES.member];
        let address = shown
            .structured
            .as_ref()
            .and_then(|answer| members.iter().find_map(|member| answer.get(*member)?.as_str()));
        let link = address.filter(|_| era.shapes.tool_content.contains(&"resource_link")).map(|address| {
            let name = quote("what this change has replaced");
            format!(",{{\"type\":\"resource_link\",\"uri\":{},\"name\":{name}}}", quote(address))
        });
        let mut content = format!(
            "\"content\":[{{\"type\":\"text\",\"text\":{}}}{}{}],\"isError\":{is_error}",
            quote(&shown.text),
            file.unwrap_or_default(),
            link.unwrap_or_default()
        );
        // For eras without structured content, the text contains the same data.
        if let Some(value) =
            shown.structured.filter(|_| self.compact && era.shapes.structured != Structured::None)
        {
            content = format!("{content},\"structuredContent\":{value}");
        }
        Ok(self.dressed(era, &content, None))
    }

    fn is_refused(&self, (era, documented): (&Era, bool), condition: Condition) -> bool {
        let strict = matches!(self.family.policy, Policy::Exact | Policy::Filled);
        let unfit = condition == Condition::InvalidArguments
            && strict
            && matches!(era.invalid_arguments, InvalidArguments::Error);
        // Documented systems report a missing platform as an error, even if their other failures are results.
        let is_error = self.channel == Channel::Errors || condition == Condition::PlatformMissing;
        (is_error && documented) || condition.is_about_the_server() || unfit
    }

    fn dressed(&self, era: &Era, members: &str, cache: Option<CacheHint>) -> Bytes {
        complete(era, members.as_bytes(), cache, &self.info)
    }
}
