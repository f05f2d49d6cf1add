//! Tools that a server finds at the site to which it sends requests, in addition to the tools of its table.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::arguments::argument::ToolArgument;
use crate::arguments::values::Values;
use crate::rest::{RestEnvironment, RunContext, Shape, Step};

/// The finder of a site's own tools: the request that lists these tools, and the translation of calls to them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolFinder {
    /// The arguments of the request: `page` and `per_page`.
    pub(crate) arguments: &'static [ToolArgument],
    /// The request for one page of the list of tools.
    pub(crate) steps: &'static [Step],
    /// The shape of the answer: an object with the list `items`.
    pub(crate) shape: Shape,
    /// Translates an entry into a tool; the flag is true if the tool only reads. Returns `None` if the entry cannot
    /// be a tool.
    pub(crate) described: fn(&Value) -> Option<(Value, bool)>,
    /// Translates a call to a found tool into a call to a tool of the table; returns `None` if no found tool has
    /// this name.
    pub(crate) called: fn(&str, &Map<String, Value>) -> Option<FoundCall>,
}

/// The name of a tool of the table, and the arguments of the call.
pub(crate) type FoundCall = (&'static str, Map<String, Value>);

/// The time for which found tools are valid.
const KEPT: Duration = Duration::from_mins(5);
/// The pause after a failed request or an empty list: without this pause, each list request would wait for the
/// site's answer.
const LEFT_ALONE: Duration = Duration::from_secs(30);
const PAGES: i64 = 5;
const PER_PAGE: i64 = 100;

/// The tools that were found, and the time at which they expire.
#[derive(Debug, Default)]
pub(super) struct FoundTools(Mutex<Option<(Duration, Tools)>>);

impl FoundTools {
    /// Returns true if a found tool declares an argument with this name; `None` if no such tool was found.
    pub(super) fn declares(&self, tool: &str, argument: &str) -> Option<bool> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, tools) = kept.as_ref()?;
        let tool = tools.iter().find(|found| found.get("name").is_some_and(|name| name == tool))?;
        Some(tool.pointer("/inputSchema/properties").is_some_and(|known| known.get(argument).is_some()))
    }

    fn put(&self, until: Duration, tools: &Tools) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((until, tools.clone()));
    }
}

/// Tools as a list shows them.
type Tools = Arc<Vec<Value>>;

impl ToolFinder {
    /// The tools that exist now; none if the site cannot be asked. Tools that change something are left out if only
    /// reading is allowed.
    pub(super) async fn tools(
        &self,
        environment: &RestEnvironment,
        kept: &FoundTools,
        only_reads: bool,
    ) -> Tools {
        let now = environment.http.now();
        let old = kept.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, tools)) = old.as_ref().filter(|(until, _)| *until > now) {
            return tools.clone();
        }
        let mut tools = Vec::new();
        for page in 1..=PAGES {
            let mut values = Values::default();
            values.set("page", Value::from(page));
            values.set("per_page", Value::from(PER_PAGE));
            let answer = environment
                .run(self.arguments, (self.steps, &self.shape), values, RunContext::default())
                .await;
            let Ok(shown) = answer else {
                // The previous tools are better than none; if there were none, the place has no such tools.
                let tools = old.map(|(_, tools)| tools).unwrap_or_default();
                kept.put(environment.http.now() + LEFT_ALONE, &tools);
                return tools;
            };
            let items =
                shown.structured.as_ref().and_then(|value| value.get("items")).and_then(Value::as_array);
            let items = items.map(Vec::as_slice).unwrap_or_default();
            let fitting = items.iter().filter_map(self.described).filter(|(_, reads)| *reads || !only_reads);
            tools.extend(fitting.map(|(tool, _)| tool));
            if i64::try_from(items.len()).unwrap_or_default() < PER_PAGE {
                break;
            }
        }
        let tools = Arc::new(tools);
        kept.put(now + KEPT, &tools);
        tools
    }
}
