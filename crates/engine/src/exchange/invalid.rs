//! The answer to a call with invalid arguments. This module must not know how arguments are checked.

use bytes::Bytes;
use proto::era::{Era, InvalidArguments, complete};
use proto::json::quote;
use proto::rpc::code;

use crate::fault::{Condition, Fault};

/// The answer to a call whose arguments are invalid: a tool result, or a fault in eras that require one.
pub(super) fn invalid_arguments(client: &Era, server_info: &str, why: &str) -> Result<Bytes, Fault> {
    match client.invalid_arguments {
        InvalidArguments::Error => {
            let fault = Fault::client(code::INVALID_PARAMS, why.to_owned());
            Err(fault.about(Condition::InvalidArguments, ""))
        }
        InvalidArguments::ToolResult => {
            let text = quote(why);
            let members = format!("\"content\":[{{\"type\":\"text\",\"text\":{text}}}],\"isError\":true");
            Ok(complete(client, members.as_bytes(), None, server_info))
        }
    }
}
