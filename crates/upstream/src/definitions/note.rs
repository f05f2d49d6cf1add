//! The description of the tools that nobody has approved, for the log. This module must not know where the log is.

use aws_lc_rs::digest;
use config::DefinitionPolicy;
use engine::pinning::{ListedDefinition, PinVerdict, Pins, visible};

/// The maximum number of tools that a log line names, and the maximum length of each name in it.
const NAMED: usize = 8;
const NAME: usize = 64;

/// A description of the tools in a list that nobody has approved.
pub(super) struct DefinitionNote {
    pub(super) text: String,
    /// The digest of the policy and of all these definitions, including those that the text does not name.
    pub(super) digest: [u8; 32],
}

/// Describes the tools in a list that nobody has approved; `None` if there are none.
pub(super) fn note(
    pins: &Pins,
    policy: DefinitionPolicy,
    seen: &[ListedDefinition],
) -> Option<DefinitionNote> {
    let mut context = digest::Context::new(&digest::SHA256);
    context.update(policy.name().as_bytes());
    let mut parts: Vec<String> = Vec::new();
    for (what, verdict) in [("changed", PinVerdict::Changed), ("new", PinVerdict::New)] {
        let all: Vec<&ListedDefinition> = seen.iter().filter(|one| pins.judge(one) == verdict).collect();
        for one in &all {
            context.update(&one.tool.len().to_le_bytes());
            context.update(one.tool.as_bytes());
            context.update(&one.fingerprint.0);
        }
        if all.is_empty() {
            continue;
        }
        context.update(what.as_bytes());
        let shown = all.iter().take(NAMED).map(|one| {
            let name: String = one.tool.chars().take(NAME).collect();
            format!("{:?} ({})", visible(&name), one.fingerprint)
        });
        let mut text = format!("{what}: {}", shown.collect::<Vec<_>>().join(", "));
        if all.len() > NAMED {
            text = format!("{text} and {} more", all.len() - NAMED);
        }
        parts.push(text);
    }
    if parts.is_empty() {
        return None;
    }
    let effect = match policy {
        DefinitionPolicy::Hold => "they are hidden until somebody approves them",
        _ => "they are served nevertheless",
    };
    let mut digest = [0; 32];
    digest.copy_from_slice(context.finish().as_ref());
    let text = format!("tools that nobody has approved: {}; {effect}", parts.join("; "));
    Some(DefinitionNote { text, digest })
}
