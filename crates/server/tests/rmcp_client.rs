//! rmcp, the Rust SDK, as a client of the gateway, in each way in which it can begin.
//!
//! The upstream is the fixture, which speaks both eras; what is asked is what this SDK can answer for itself.

#![allow(
    deprecated,
    reason = "the newest version deprecates what the others still have, which is asked here"
)]
#![allow(clippy::float_cmp, reason = "the fixture reports exact numbers")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, CreateMessageRequestParams,
    CreateMessageResult, ElicitRequestParams, ElicitResult, ElicitationAction, GetPromptRequestParams,
    Implementation, ListRootsResult, ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams,
    Role, Root, SamplingMessage, SamplingMessageContentBlock,
};
use rmcp::service::ClientLifecycleMode;
use rmcp::service::{NotificationContext, RequestContext, RunningService, serve_client_with_lifecycle};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::{Value, json};
use support::{Gateway, fixture, soon};
use testkit::fixture::Eras;

/// A user called Ada with a model that says one thing.
#[derive(Clone, Default)]
struct Ada {
    progress: Arc<Mutex<Vec<f64>>>,
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
}

type Client = RunningService<RoleClient, Ada>;

async fn call(client: &Client, name: &'static str, arguments: Value) -> CallToolResult {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    client.call_tool(CallToolRequestParams::new(name).with_arguments(arguments)).await.unwrap()
}

fn text(result: &CallToolResult) -> String {
    serde_json::to_value(result).unwrap()["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

async fn what_every_client_asks(client: &Client) {
    let tools = client.list_all_tools().await.unwrap();
    assert!(tools.iter().any(|tool| tool.name == "test_simple_text"), "{tools:?}");
    assert!(!client.list_all_resources().await.unwrap().is_empty());
    assert!(!client.list_all_resource_templates().await.unwrap().is_empty());
    let prompts = client.list_all_prompts().await.unwrap();
    assert!(prompts.iter().any(|prompt| prompt.name == "test_simple_prompt"), "{prompts:?}");

    let said = call(client, "test_simple_text", json!({})).await;
    assert_eq!(text(&said), "This is a simple text response for testing.");
    let failed = call(client, "test_error_handling", json!({})).await;
    assert_eq!(failed.is_error, Some(true));

    call(client, "test_tool_with_progress", json!({})).await;
    assert_eq!(*client.service().progress.lock().unwrap(), [0.0, 50.0, 100.0]);

    let read = client.read_resource(ReadResourceRequestParams::new("test://static-text")).await.unwrap();
    assert!(serde_json::to_string(&read).unwrap().contains("static text resource"));
    assert!(client.read_resource(ReadResourceRequestParams::new("test://no-such-resource")).await.is_err());
    let prompt = client.get_prompt(GetPromptRequestParams::new("test_simple_prompt")).await.unwrap();
    assert_eq!(prompt.messages.len(), 1);
    let completed = client.complete_prompt_simple("test_prompt_with_arguments", "arg1", "par").await.unwrap();
    assert_eq!(completed, ["paris", "park", "party"]);
}

/// Begins as told and asks everything; `questions` are tools that ask back, with what they say in the end.
async fn visit(
    lifecycle: ClientLifecycleMode,
    version: &ProtocolVersion,
    questions: &[(&'static str, Value, &str)],
) {
    let upstream = fixture(Eras::Both).await;
    let servers = json!({ "fixture": { "url": upstream.url() } });
    let config = json!({ "mcpServers": servers, "profiles": { "default": { "names": "plain" } } });
    let gateway = Gateway::start(&config.to_string()).await;
    let hello: Value = serde_json::from_str(&gateway.printed().text()).unwrap();
    let transport = StreamableHttpClientTransport::from_uri(hello["urls"][0].as_str().unwrap());
    let run = async {
        let client = serve_client_with_lifecycle(Ada::default(), transport, lifecycle).await.unwrap();
        let peer = serde_json::to_string(&client.peer_info()).unwrap();
        assert!(peer.contains(version.as_str()), "{peer}");
        what_every_client_asks(&client).await;
        for (name, arguments, expected) in questions {
            let said = text(&call(&client, name, arguments.clone()).await);
            assert!(said.contains(expected), "{name} said {said}");
        }
        client.cancel().await.unwrap();
    };
    soon("all that a client asks", run).await;
}

fn asked_of_stateless_clients() -> [(&'static str, Value, &'static str); 4] {
    [
        ("test_input_required_result_elicitation", json!({}), "Hello, Ada!"),
        ("test_input_required_result_sampling", json!({}), "Said by the client's model"),
        ("test_input_required_result_list_roots", json!({}), "file:///srv/files"),
        ("test_input_required_result_multiple_inputs", json!({}), "has 1 roots"),
    ]
}

#[tokio::test]
async fn with_a_handshake() {
    let questions = [
        ("test_sampling", json!({ "prompt": "Say it." }), "Said by the client's model"),
        ("test_elicitation", json!({ "message": "Who?" }), "ada@example.com"),
    ];
    visit(ClientLifecycleMode::Initialize, &ProtocolVersion::V_2025_11_25, &questions).await;
}

#[tokio::test]
async fn without_a_session() {
    let newest = ProtocolVersion::V_2026_07_28;
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions: vec![newest.clone()] };
    visit(lifecycle, &newest, &asked_of_stateless_clients()).await;
}

#[tokio::test]
async fn finding_out_by_itself() {
    let newest = ProtocolVersion::V_2026_07_28;
    let lifecycle =
        ClientLifecycleMode::Auto { preferred_versions: vec![newest.clone()], legacy_version: None };
    visit(lifecycle, &newest, &asked_of_stateless_clients()).await;
}
