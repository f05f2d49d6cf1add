//! The worlds of presets: the standard clients that can use each preset, and the transports.
//!
//! A preset may reject some requests of such clients, because its original system does so. These requests are
//! listed in the preset's topic of `tests/peers/questions.json` under `refused` and `why`, and are tested as well.

use super::served::Preset;
use super::visit::{Over, Topics, Visit, visit};
use super::worlds::{LEGACY, MODERN, STATELESS, World, asking, fixture};
use crate::stage::{Naming, Reach};

/// Clients that perform a handshake and send messages by POST.
const POSTING: &[Visit] = &[
    visit("inspector", "legacy", Over::Http),
    visit("ts-sdk-v1", "legacy", Over::Http),
    visit("ts-sdk-v2", "legacy", Over::Http),
    visit("py-sdk-v1", "legacy", Over::Http),
    visit("py-sdk-v2", "legacy", Over::Http),
    visit("mcp-remote", "legacy", Over::Http),
];
/// Clients that try to omit the handshake, in worlds that require one.
const FALLING_BACK: &[Visit] = &[
    visit("ts-sdk-v2", "fallback", Over::Http),
    visit("ts-sdk-v2", "fallback", Over::Stdio),
    visit("py-sdk-v2", "fallback", Over::Http),
    visit("py-sdk-v2", "fallback", Over::Stdio),
    visit("py-fastmcp", "fallback", Over::Http),
];
const PIPED: &[Visit] = &[
    visit("inspector", "legacy", Over::Stdio),
    visit("ts-sdk-v1", "legacy", Over::Stdio),
    visit("py-sdk-v1", "legacy", Over::Stdio),
];
const STREAMED: &[Visit] = &[
    visit("inspector", "legacy", Over::Sse),
    visit("ts-sdk-v1", "legacy", Over::Sse),
    visit("ts-sdk-v2", "legacy", Over::Sse),
    visit("py-sdk-v1", "legacy", Over::Sse),
    visit("py-sdk-v2", "legacy", Over::Sse),
    visit("py-fastmcp", "legacy", Over::Sse),
    visit("mcp-remote", "legacy", Over::Sse),
];
/// The first version of the Python SDK. It supports only 2024-11-05, and does not support Streamable HTTP.
const FIRST_PIPED: Visit = visit("py-sdk-v0", "2024-11-05", Over::Stdio);
const FIRST_STREAMED: Visit = visit("py-sdk-v0", "2024-11-05", Over::Sse);

/// Clients that request every feature of the preset `gateway`, including features that it does not declare.
const CURIOUS: &[Visit] = &[
    visit("ts-sdk-v1", "legacy", Over::Http),
    visit("ts-sdk-v1", "legacy", Over::Sse),
    visit("ts-sdk-v1", "legacy", Over::Stdio),
    visit("py-sdk-v1", "legacy", Over::Http),
    visit("py-sdk-v1", "legacy", Over::Sse),
    visit("py-sdk-v1", "legacy", Over::Stdio),
    visit("py-sdk-v2", "legacy", Over::Http),
    visit("py-sdk-v2", "legacy", Over::Sse),
    visit("py-sdk-v2", "fallback", Over::Http),
    visit("py-sdk-v2", "fallback", Over::Stdio),
    visit("py-fastmcp", "fallback", Over::Http),
    visit("py-fastmcp", "legacy", Over::Sse),
    visit("mcp-remote", "legacy", Over::Http),
    visit("mcp-remote", "legacy", Over::Sse),
    FIRST_STREAMED,
    FIRST_PIPED,
];
/// Clients that request only declared features.
const CAREFUL: &[Visit] = &[
    visit("inspector", "legacy", Over::Http),
    visit("inspector", "legacy", Over::Sse),
    visit("inspector", "legacy", Over::Stdio),
    visit("ts-sdk-v2", "legacy", Over::Http),
    visit("ts-sdk-v2", "legacy", Over::Sse),
    visit("ts-sdk-v2", "fallback", Over::Http),
    visit("ts-sdk-v2", "fallback", Over::Stdio),
];

/// A world of one preset with embedded tools.
const fn world(preset: Preset, asked: Topics, visits: &'static [&'static [Visit]]) -> World {
    World { name: preset.name, preset: Some(preset), naming: Naming::Plain, upstreams: &[], asked, visits }
}

/// The world of the preset `bb`. A client that requests any dated version gets that version. The version before all
/// dated ones is an integer, which the original system rejects because its versions are texts.
pub(super) const BB: World = world(
    Preset::BB,
    &[("bb", "")],
    &[POSTING, PIPED, STATELESS, &[visit("inspector", "auto", Over::Http), FIRST_PIPED]],
);
/// The world of the preset `buddyboss`. Like its original system, it has no event stream, and answers with its own
/// version, which the first version of the Python SDK does not support.
pub(super) const BUDDYBOSS: World =
    world(Preset::BUDDYBOSS, &[("buddyboss", "")], &[POSTING, FALLING_BACK, PIPED]);
/// The world of the preset `wordpress`. Like its original system, it has no event stream.
pub(super) const WORDPRESS: World =
    world(Preset::WORDPRESS, &[("wordpress", "")], &[POSTING, FALLING_BACK, PIPED, &[FIRST_PIPED]]);
pub(super) const KULTURARV: World = world(
    Preset::KULTURARV,
    &[("kulturarv", "")],
    &[POSTING, FALLING_BACK, STREAMED, PIPED, &[FIRST_STREAMED, FIRST_PIPED]],
);
/// The world of the preset `gateway`: servers of two eras in one profile.
pub(super) const GATEWAY: World = World {
    upstreams: &[("modern", fixture(Reach::Http, MODERN)), ("pipe", fixture(Reach::Stdio, LEGACY))],
    ..world(
        Preset::GATEWAY,
        &[("gateway", "modern__"), ("gateway", "pipe__")],
        &[CURIOUS, &asking::<{ CAREFUL.len() }>(CAREFUL, &[("gateway-careful", "pipe__")])],
    )
};
