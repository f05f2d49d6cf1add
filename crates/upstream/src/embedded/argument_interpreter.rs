//! Lets access rules use an embedded server's interpretation of arguments. This module must not know the rules.

use std::fmt;
use std::sync::Arc;

use engine::catalogue::ReadsArguments;
use native::NativeServer;

/// An embedded server that is used only to interpret arguments.
pub struct ArgumentInterpreter(Arc<dyn NativeServer>);

impl ArgumentInterpreter {
    /// Creates a reader for this server.
    pub fn of(server: &Arc<dyn NativeServer>) -> Arc<dyn ReadsArguments> {
        Arc::new(Self(server.clone()))
    }
}

impl fmt::Debug for ArgumentInterpreter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reading(..)")
    }
}

impl ReadsArguments for ArgumentInterpreter {
    fn readings(&self, tool: &str, arguments: &[u8]) -> Vec<String> {
        self.0.readings(tool, arguments)
    }

    fn unknown_arguments(&self, tool: &str, arguments: &[u8]) -> Option<String> {
        self.0.unknown_arguments(tool, arguments)
    }
}
