//! Arguments that some clients add to those of the model, for any tool. The gateway's own tools ignore them instead of
//! refusing the call. This module must not know any tool.

/// n8n's agent adds the call's ID and the tool's name (n8n-io/n8n#21500), and its chat trigger adds the session, the action and
/// the input.
pub const INJECTED_ARGUMENTS: [&str; 5] = ["toolCallId", "tool", "sessionId", "action", "chatInput"];
