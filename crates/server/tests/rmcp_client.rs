//! rmcp, the Rust SDK, as a client of the gateway, with each of its ways to begin, and with upstreams of each era
//! and transport behind the gateway, alone and side by side.
//!
//! The upstreams are fixtures; their questions are those that this SDK can answer by itself.

#![allow(
    deprecated,
    reason = "the newest version deprecates what the others still have, which is asked here"
)]
#![allow(clippy::float_cmp, reason = "the fixture reports exact numbers")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ClientRequest,
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult, ElicitationAction,
    GetPromptRequestParams, Implementation, ListRootsResult, ProgressNotificationParam, ProtocolVersion,
    ReadResourceRequestParams, ResourceUpdatedNotificationParam, Role, Root, SamplingMessage,
    SamplingMessageContentBlock, ServerNotification, SubscribeRequestParams, SubscriptionFilter,
};
use rmcp::service::{
    ClientLifecycleMode, NotificationContext, PeerRequestOptions, RequestContext, RunningService,
    Subscription, serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::{Value, json};
use support::{Gateway, soon};
use testkit::fixture::version::Version;
use testkit::fixture::{Eras, Options, Running, serve_http, serve_sse};
use tokio::sync::Notify;

const WATCHED: &str = "test://watched-resource";
const FIRST_SSE: &str = "2024-11-05";

/// A user named Ada with a model that always gives the same answer.
#[derive(Clone, Default)]
struct Ada {
    progress: Arc<Mutex<Vec<f64>>>,
    tools_changed: Arc<Notify>,
    watched_changed: Arc<Notify>,
}

impl ClientHandler for Ada {
    fn get_info(&self) -> ClientConfig {
        let capabilities: ClientCapabilities =
            serde_json::from_value(json!({ "sampling": {}, "elicitation": {}, "roots": {} })).unwrap();
        ClientConfig::new(capabilities, Implementation::new("rmcp", "3.9"))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let said = SamplingMessageContentBlock::text("Said by the client's model");
        Ok(CreateMessageResult::new(SamplingMessage::new(Role::Assistant, said), "none".to_owned()))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(vec![Root::new("file:///srv/files")]))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let content = json!({ "name": "Ada", "username": "Ada", "email": "ada@example.com" });
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.lock().unwrap().push(params.progress);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        assert_eq!(params.uri, WATCHED);
        self.watched_changed.notify_one();
    }
}

/// Servers behind one gateway.
struct Behind {
    servers: Value,
    /// The prefix of each server's names, and true if the server supports elicitation.
    each: Vec<(&'static str, bool)>,
    /// True if each stateless call has a separate process, so none shows what another call did.
    scattered: bool,
    _running: Vec<Running>,
}

impl Behind {
    fn alone(server: &Value, running: Vec<Running>) -> Self {
        let servers = json!({ "fixture": server });
        Self { servers, each: vec![("", true)], scattered: false, _running: running }
    }

    async fn http(eras: Eras) -> Self {
        let running = over_http(eras).await;
        Self::alone(&json!({ "url": running.url() }), vec![running])
    }

    /// A child with sessions.
    fn legacy_child() -> Self {
        Self { scattered: true, ..Self::alone(&pipe("legacy"), Vec::new()) }
    }

    async fn sse() -> Self {
        let running = over_sse(Options { eras: Eras::Legacy, ..Options::default() }).await;
        Self::alone(&json!({ "type": "sse", "url": running.url() }), vec![running])
    }

    /// Four eras side by side.
    async fn mixed() -> Self {
        let (modern, legacy) = (over_http(Eras::Modern).await, over_http(Eras::Legacy).await);
        let old = over_sse(Options::only(FIRST_SSE.parse::<Version>().unwrap())).await;
        Self {
            servers: json!({
                "modern": { "url": modern.url() },
                "legacy": { "url": legacy.url() },
                "pipe": pipe("legacy"),
                "old": { "type": "sse", "url": old.url() },
            }),
            each: vec![("modern__", true), ("legacy__", true), ("pipe__", true), ("old__", false)],
            scattered: false,
            _running: vec![modern, legacy, old],
        }
    }
}

fn free() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}

async fn over_http(eras: Eras) -> Running {
    serve_http(free(), Options { eras, ..Options::default() }).await.unwrap().1
}

async fn over_sse(options: Options) -> Running {
    serve_sse(free(), options).await.unwrap().1
}

fn pipe(eras: &str) -> Value {
    json!({ "command": testkit::fixture::program(), "args": ["--stdio", "--eras", eras] })
}

type Client = RunningService<RoleClient, Ada>;

async fn call(client: &Client, name: &str, arguments: Value) -> CallToolResult {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    client.call_tool(CallToolRequestParams::new(name.to_owned()).with_arguments(arguments)).await.unwrap()
}

fn text(result: &CallToolResult) -> String {
    serde_json::to_value(result).unwrap()["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

async fn read(client: &Client, uri: &str) -> String {
    let read = client.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap();
    serde_json::to_value(&read).unwrap()["contents"][0]["text"].as_str().unwrap().to_owned()
}

/// Requests to one server, whose names begin with `prefix`.
async fn ask_server(client: &Client, prefix: &str, elicits: bool) {
    let named = |name: &str| format!("{prefix}{name}");
    let said = call(client, &named("test_simple_text"), json!({})).await;
    assert_eq!(text(&said), "This is a simple text response for testing.");
    let failed = call(client, &named("test_error_handling"), json!({})).await;
    assert_eq!(failed.is_error, Some(true));

    client.service().progress.lock().unwrap().clear();
    call(client, &named("test_tool_with_progress"), json!({})).await;
    assert_eq!(*client.service().progress.lock().unwrap(), [0.0, 50.0, 100.0]);

    let questions = [
        (false, "test_sampling", json!({ "prompt": "Say it." }), "Said by the client's model"),
        (false, "test_input_required_result_sampling", json!({}), "Said by the client's model"),
        (false, "test_input_required_result_list_roots", json!({}), "file:///srv/files"),
        (true, "test_elicitation", json!({ "message": "Who?" }), "ada@example.com"),
        (true, "test_input_required_result_elicitation", json!({}), "Hello, Ada!"),
        (true, "test_input_required_result_multiple_inputs", json!({}), "has 1 roots"),
    ];
    for (elicitation, name, arguments, expected) in questions {
        if elicits || !elicitation {
            let said = text(&call(client, &named(name), arguments).await);
            assert!(said.contains(expected), "{prefix}{name} said {said}");
        }
    }

    let prompt = client.get_prompt(GetPromptRequestParams::new(named("test_simple_prompt"))).await.unwrap();
    assert_eq!(prompt.messages.len(), 1);
    let prompt = named("test_prompt_with_arguments");
    assert_eq!(
        client.complete_prompt_simple(prompt, "arg1", "par").await.unwrap(),
        ["paris", "park", "party"]
    );
}

/// Cancels calls until the server has received one cancellation: this SDK may drop a call before it is sent.
async fn give_up(client: &Client, prefix: &str, counted: bool) {
    let before = read(client, "test://cancelled-count").await;
    loop {
        let arguments = json!({ "ms": 3_600_000 }).as_object().unwrap().clone();
        let slow = CallToolRequestParams::new(format!("{prefix}slow")).with_arguments(arguments);
        let slow = ClientRequest::CallToolRequest(CallToolRequest::new(slow));
        let running = client.send_cancellable_request(slow, PeerRequestOptions::no_options()).await.unwrap();
        // Once a later request is answered, the call has most likely arrived.
        let prompt = GetPromptRequestParams::new(format!("{prefix}test_simple_prompt"));
        client.get_prompt(prompt).await.unwrap();
        running.cancel(Some("given up".to_owned())).await.unwrap();
        if !counted || read(client, "test://cancelled-count").await != before {
            return;
        }
    }
}

/// Receives notifications as the client's era requires.
enum Ear {
    /// Automatically, and about resources after a subscription.
    Told,
    Listening(Box<Subscription>),
}

impl Ear {
    async fn open(client: &Client, stateless: bool) -> Self {
        if stateless {
            let mut filter = SubscriptionFilter::builder().tools_list_changed().build();
            filter.resource_subscriptions = Some(vec![WATCHED.to_owned()]);
            return Self::Listening(Box::new(client.listen(filter).await.unwrap()));
        }
        client.subscribe(SubscribeRequestParams::new(WATCHED)).await.unwrap();
        Self::Told
    }

    async fn tools_changed(&mut self, client: &Client) {
        match self {
            Self::Told => client.service().tools_changed.notified().await,
            Self::Listening(open) => {
                while !matches!(
                    open.next().await.unwrap(),
                    Some(ServerNotification::ToolListChangedNotification(_))
                ) {
                    assert!(open.end().is_none(), "the stream ended: {:?}", open.end());
                }
            }
        }
    }

    async fn watched_changed(&mut self, client: &Client) {
        match self {
            Self::Told => client.service().watched_changed.notified().await,
            Self::Listening(open) => {
                while !matches!(
                    open.next().await.unwrap(),
                    Some(ServerNotification::ResourceUpdatedNotification(_))
                ) {
                    assert!(open.end().is_none(), "the stream ended: {:?}", open.end());
                }
            }
        }
    }
}

/// Changes what the first server offers, and checks it after the notification.
async fn hear_changes(client: &Client, prefix: &str, stateless: bool, scattered: bool) {
    let mut ear = Ear::open(client, stateless).await;
    let revision = text(&call(client, &format!("{prefix}test_trigger_tool_change"), json!({})).await);
    let wanted = revision.to_lowercase();
    loop {
        ear.tools_changed(client).await;
        let tools = client.list_all_tools().await.unwrap();
        let tool = tools.iter().find(|tool| tool.name == format!("{prefix}test_changing_tool")).unwrap();
        if tool.description.as_deref().unwrap_or_default().ends_with(&wanted) {
            break;
        }
    }
    if scattered {
        return;
    }
    let revision = text(&call(client, &format!("{prefix}test_touch_watched"), json!({})).await);
    loop {
        ear.watched_changed(client).await;
        if read(client, WATCHED).await == revision {
            break;
        }
    }
}

async fn what_every_client_asks(client: &Client, behind: &Behind, stateless: bool) {
    let tools = client.list_all_tools().await.unwrap();
    let prompts = client.list_all_prompts().await.unwrap();
    for (prefix, elicits) in &behind.each {
        assert!(tools.iter().any(|tool| tool.name == format!("{prefix}test_simple_text")), "{tools:?}");
        let simple = format!("{prefix}test_simple_prompt");
        assert!(prompts.iter().any(|prompt| prompt.name == simple), "{prompts:?}");
        ask_server(client, prefix, *elicits).await;
    }
    assert!(!client.list_all_resources().await.unwrap().is_empty());
    assert!(!client.list_all_resource_templates().await.unwrap().is_empty());
    assert!(read(client, "test://static-text").await.contains("static text resource"));
    assert!(client.read_resource(ReadResourceRequestParams::new("test://no-such-resource")).await.is_err());
    // If several servers have a URI, the first one gets the request.
    let (first, _) = behind.each[0];
    let scattered = stateless && behind.scattered;
    give_up(client, first, !scattered).await;
    hear_changes(client, first, stateless, scattered).await;
}

/// Begins in this way and makes every kind of request.
async fn visit(lifecycle: ClientLifecycleMode, version: ProtocolVersion, behind: Behind) {
    let names = if behind.each.len() == 1 { "plain" } else { "prefix" };
    let config = json!({ "mcpServers": behind.servers, "profiles": { "default": { "names": names } } });
    let gateway = Gateway::start(&config.to_string()).await;
    let hello: Value = serde_json::from_str(&gateway.printed().text()).unwrap();
    let transport = StreamableHttpClientTransport::from_uri(hello["urls"][0].as_str().unwrap());
    let run = async {
        let client = serve_client_with_lifecycle(Ada::default(), transport, lifecycle).await.unwrap();
        let peer = serde_json::to_string(&client.peer_info()).unwrap();
        assert!(peer.contains(version.as_str()), "{peer}");
        what_every_client_asks(&client, &behind, version == ProtocolVersion::V_2026_07_28).await;
        client.cancel().await.unwrap();
    };
    soon("all that a client asks", run).await;
}

/// A test for each way to begin, with these servers behind the gateway.
macro_rules! with {
    ($($name:ident: $behind:expr;)*) => {$(
        mod $name {
            use super::*;

            #[tokio::test]
            async fn with_a_handshake() {
                visit(ClientLifecycleMode::Initialize, ProtocolVersion::V_2025_11_25, $behind.await).await;
            }

            #[tokio::test]
            async fn without_a_session() {
                let newest = ProtocolVersion::V_2026_07_28;
                let lifecycle = ClientLifecycleMode::Discover { preferred_versions: vec![newest.clone()] };
                visit(lifecycle, newest, $behind.await).await;
            }

            #[tokio::test]
            async fn finding_out_by_itself() {
                let newest = ProtocolVersion::V_2026_07_28;
                let preferred_versions = vec![newest.clone()];
                let lifecycle = ClientLifecycleMode::Auto { preferred_versions, legacy_version: None };
                visit(lifecycle, newest, $behind.await).await;
            }
        }
    )*};
}

with! {
    server_of_all_eras: Behind::http(Eras::Both);
    legacy_server: Behind::http(Eras::Legacy);
    legacy_child: async { Behind::legacy_child() };
    modern_server: Behind::http(Eras::Modern);
    modern_child: async { Behind::alone(&pipe("modern"), Vec::new()) };
    server_over_sse: Behind::sse();
    servers_of_four_eras: Behind::mixed();
}
