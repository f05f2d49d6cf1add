//! Methods of the requests and notifications that the gateway acts on. All other methods pass by name.

macro_rules! names {
    ($(#[$doc:meta])* $kind:ident { $($(#[$vdoc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $kind {
            $($(#[$vdoc])* $variant,)*
        }

        impl $kind {
            /// All variants.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The variant with this name; `None` if the gateway does not act on it.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// The name of this variant on the wire.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

names! {
    /// The requests that the gateway acts on.
    Method {
        /// Opens a session.
        Initialize = "initialize",
        /// Asks a stateless server to introduce itself.
        Discover = "server/discover",
        /// Checks that the other side responds.
        Ping = "ping",
        /// Lists tools.
        ToolsList = "tools/list",
        /// Calls a tool.
        ToolsCall = "tools/call",
        /// Lists prompts.
        PromptsList = "prompts/list",
        /// Reads a prompt.
        PromptsGet = "prompts/get",
        /// Lists resources.
        ResourcesList = "resources/list",
        /// Lists resource templates.
        TemplatesList = "resources/templates/list",
        /// Reads a resource.
        ResourcesRead = "resources/read",
        /// Subscribes this session to notices about one resource.
        Subscribe = "resources/subscribe",
        /// Ends a subscription to notices about one resource.
        Unsubscribe = "resources/unsubscribe",
        /// Opens a stream of notices.
        Listen = "subscriptions/listen",
        /// Suggests values for an argument of a prompt or a resource template.
        Complete = "completion/complete",
        /// Sets the session's log level.
        SetLevel = "logging/setLevel",
        /// Server to client: let a model answer.
        CreateMessage = "sampling/createMessage",
        /// Server to client: ask the user.
        Elicit = "elicitation/create",
        /// Server to client: list the open folders.
        RootsList = "roots/list",
    }
}

impl Method {
    /// Returns true if the method only reads, so a repeated request does not change the server.
    pub fn is_repeatable(self) -> bool {
        match self {
            Self::Discover
            | Self::Ping
            | Self::ToolsList
            | Self::PromptsList
            | Self::PromptsGet
            | Self::ResourcesList
            | Self::TemplatesList
            | Self::ResourcesRead
            | Self::Complete => true,
            Self::Initialize
            | Self::ToolsCall
            | Self::Subscribe
            | Self::Unsubscribe
            | Self::Listen
            | Self::SetLevel
            | Self::CreateMessage
            | Self::Elicit
            | Self::RootsList => false,
        }
    }
}

names! {
    /// The notifications that the gateway acts on.
    Notice {
        /// The handshake is over.
        Initialized = "notifications/initialized",
        /// A request is no longer wanted.
        Cancelled = "notifications/cancelled",
        /// The progress of a request.
        Progress = "notifications/progress",
        /// A log message.
        Message = "notifications/message",
        /// The tools have changed.
        ToolsChanged = "notifications/tools/list_changed",
        /// The prompts have changed.
        PromptsChanged = "notifications/prompts/list_changed",
        /// The resources have changed.
        ResourcesChanged = "notifications/resources/list_changed",
        /// One resource has changed.
        ResourceUpdated = "notifications/resources/updated",
        /// A listen stream is open.
        Acknowledged = "notifications/subscriptions/acknowledged",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for &m in Method::ALL {
            assert_eq!(Method::from_name(m.name()), Some(m));
        }
        for &n in Notice::ALL {
            assert_eq!(Notice::from_name(n.name()), Some(n));
        }
        assert_eq!(Method::from_name("tools/Call"), None);
    }
}
