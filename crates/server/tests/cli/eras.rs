//! The terminal's client against servers of one version each, over every transport of the version: with a requested
//! version, and with detection.

use testkit::fixture::version::{Legacy, Version};
use testkit::fixture::{Eras, Options, Running, serve_http, serve_sse};

use super::run::{Folder, Run, dragoman, in_folder, program};

const ANY: std::net::SocketAddr =
    std::net::SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

/// The address of a server, and the name of its transport in `ping`.
enum Place {
    Url(Running, &'static str),
    Child(Vec<String>),
}

impl Place {
    /// Runs a command on it; `words` begins with the command.
    async fn run(&self, words: &[&str]) -> Run {
        match self {
            Self::Url(running, _) => {
                let url = running.url();
                let args: Vec<&str> =
                    words[..1].iter().copied().chain([&*url]).chain(words[1..].iter().copied()).collect();
                dragoman(&args).await
            }
            Self::Child(command) => {
                let behind = std::iter::once("--").chain(command.iter().map(String::as_str));
                dragoman(&words.iter().copied().chain(behind).collect::<Vec<_>>()).await
            }
        }
    }

    fn transport(&self) -> &'static str {
        match self {
            Self::Url(_, transport) => transport,
            Self::Child(_) => "stdio",
        }
    }
}

fn child(more: &[&str]) -> Place {
    let words = [program(), "--stdio"].into_iter().chain(more.iter().copied());
    Place::Child(words.map(str::to_owned).collect())
}

/// A server of one version over every transport that it has.
async fn places(version: Version) -> Vec<Place> {
    let only = || Options::only(version);
    let name = version.as_str();
    let mut places = vec![child(&["--version", name])];
    if let Version::Legacy(_) = version {
        places.push(Place::Url(serve_sse(ANY, only()).await.expect("a free port").1, "HTTP+SSE"));
    }
    if !matches!(version, Version::Legacy(old) if old < Legacy::March2025) {
        places.push(Place::Url(serve_http(ANY, only()).await.expect("a free port").1, "HTTP"));
    }
    places
}

/// Checks every kind of request to a server.
async fn all_works(place: &Place, version: &str, pinned: &[&str]) {
    let run = async |words: &[&str]| {
        let run = place.run(&[words, pinned].concat()).await;
        assert_eq!(run.code, Some(0), "{version} {words:?}: {run:?}");
        run
    };
    let ping = run(&["ping", "--json"]).await.json();
    assert_eq!((&ping["protocol"], &ping["transport"]), (&version.into(), &place.transport().into()));
    let list = run(&["list", "--json"]).await.json();
    for kind in ["tools", "prompts", "resources", "resourceTemplates"] {
        assert!(!list[kind].as_array().expect("a list").is_empty(), "{version} {kind}");
    }
    let called = run(&["call", "test_simple_text"]).await;
    assert_eq!(called.text(), "This is a simple text response for testing.\n", "{version}");
    let read = run(&["read", "test://template/7/data"]).await;
    assert!(read.text().contains('7'), "{version}: {read:?}");
    let prompt = run(&["prompt", "test_prompt_with_arguments", "arg1=x", "arg2=y"]).await;
    assert!(prompt.text().starts_with("user:\n") && prompt.text().contains('x'), "{version}: {prompt:?}");
    let failed = place.run(&[&["call", "test_error_handling"], pinned].concat()).await;
    assert_eq!(failed.code, Some(1), "{version}: {failed:?}");
    assert!(
        failed.text().contains("intentionally") && failed.err.contains("the tool reported an error"),
        "{version}: {failed:?}"
    );
}

async fn asked_for_and_found_out(version: Version) {
    for place in places(version).await {
        all_works(&place, version.as_str(), &[]).await;
        all_works(&place, version.as_str(), &["--era", version.as_str()]).await;
    }
}

#[tokio::test]
async fn version_1() {
    asked_for_and_found_out(Version::Legacy(Legacy::First)).await;
    let named = child(&["--version", "1"]).run(&["ping", "--json", "--era", "1.0"]).await;
    assert_eq!(named.json()["protocol"], "1", "{named:?}");
}

#[tokio::test]
async fn version_2024_10_07() {
    asked_for_and_found_out(Version::Legacy(Legacy::October2024)).await;
}

#[tokio::test]
async fn version_2024_11_05() {
    asked_for_and_found_out(Version::Legacy(Legacy::November2024)).await;
}

#[tokio::test]
async fn version_2025_03_26() {
    asked_for_and_found_out(Version::Legacy(Legacy::March2025)).await;
}

#[tokio::test]
async fn version_2025_06_18() {
    asked_for_and_found_out(Version::Legacy(Legacy::June2025)).await;
}

#[tokio::test]
async fn version_2025_11_25() {
    asked_for_and_found_out(Version::Legacy(Legacy::November2025)).await;
}

#[tokio::test]
async fn version_2026_07_28() {
    asked_for_and_found_out(Version::Modern).await;
}

/// The answers of a server of the first versions are shown like any others; scripts get them unchanged.
#[tokio::test]
async fn a_result_of_the_first_versions() {
    for version in ["1", "2024-10-07"] {
        let raw = child(&["--version", version]).run(&["call", "test_error_handling", "--json"]).await;
        assert_eq!(raw.code, Some(1), "{raw:?}");
        assert!(raw.json().get("toolResult").is_some(), "{raw:?}");
    }
}

/// Children that end at the first request, or do not answer it.
#[tokio::test]
async fn children_that_know_handshakes_only() {
    for (flag, opening) in [("--die-on-unknown", "dies"), ("--mute-discover", "says nothing")] {
        let ping = child(&[flag]).run(&["ping", "--json"]).await;
        assert_eq!(ping.json()["protocol"], "2025-11-25", "{opening}: {ping:?}");
    }
}

#[tokio::test]
async fn a_configured_server_over_http_and_sse() {
    let options = Options { eras: Eras::Legacy, ..Options::default() };
    let (_, sse) = serve_sse(ANY, options).await.expect("a free port");
    let text = format!("mcpServers:\n  old: {{ type: sse, url: '{}' }}\n", sse.url());
    let folder = Folder::new().with("dragoman.yaml", text);
    let ping = in_folder(&folder, &["ping", "old", "--json"], "").await;
    assert_eq!(ping.json()["transport"], "HTTP+SSE", "{ping:?}");
    let refused = in_folder(&folder, &["ping", "old", "--era", "2026-07-28"], "").await;
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("2026-07-28") && refused.err.contains("HTTP+SSE"), "{}", refused.err);
}

/// A message reports that there is no common version.
#[tokio::test]
async fn servers_that_cannot_be_spoken_to() {
    let http =
        serve_http(ANY, Options::only(Version::Legacy(Legacy::June2025))).await.expect("a free port").1;
    let refused = dragoman(&["ping", &http.url(), "--era", "2025-11-25"]).await;
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("2025-06-18") && refused.err.contains("omit --era"), "{}", refused.err);
    let nowhere = http.url().replace("/mcp", "/nowhere");
    let missing = dragoman(&["ping", &nowhere]).await;
    assert_eq!(missing.code, Some(1));
    assert!(missing.err.contains("nothing here; the endpoint is /mcp"), "{}", missing.err);
}
