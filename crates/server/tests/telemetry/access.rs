//! The places where figures are served, and the callers that may read them.

use crate::figures::Figures;
use crate::support::*;

const DEMO: &str = "mcpServers: { demo: { native: demo } }\n";

#[tokio::test]
async fn only_callers_that_may_read_the_figures_get_them() {
    let config = format!("{DEMO}auth: {{ bearer: a-token-of-some-length }}\nmetrics: true\n");
    let gateway = Gateway::start(&config).await;
    let http = gateway.http();
    assert_eq!(http.get("/metrics", &[]).await.status, 401);
    assert_eq!(http.showing("Bearer wrong").get("/metrics", &[]).await.status, 401);
    Figures::read(http.showing("Bearer a-token-of-some-length")).await;
    let config = config.replace("metrics: true", "metrics: { who: { user: scraper } }");
    let gateway = Gateway::start(&config).await;
    let mut refused = gateway.http().showing("Bearer a-token-of-some-length").get("/metrics", &[]).await;
    assert_eq!(
        (refused.status, refused.text().await.as_str()),
        (403, "you may not read the metrics of this server\n")
    );
}

#[tokio::test]
async fn who_lets_callers_in_unless_their_credentials_are_for_some_profiles_only() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("telemetry-keys-{}", std::process::id()));
    let state = folder.to_str().expect("UTF-8");
    let rest = "auth: { keys: true }\nmetrics: { who: { key: [scraper, part] } }\n";
    let config = format!("{DEMO}{rest}stateFolder: '{state}'\n");
    let key = async |args: &[&str]| {
        let args: Vec<&str> =
            ["new"].iter().chain(args).chain(&["--state", state, "--json"]).copied().collect();
        let made = run_to_end("key", &Start { args: &args, ..Start::default() }).await;
        let made: serde_json::Value = serde_json::from_str(made.out.trim())
            .unwrap_or_else(|e| panic!("{e}: {} {}", made.out, made.err));
        made["key"].as_str().expect("a key").to_owned()
    };
    let (scraper, part) = (key(&["scraper"]).await, key(&["part", "--profile", "default"]).await);
    let other = key(&["other"]).await;
    let gateway = Gateway::start(&config).await;
    Figures::read(gateway.http().showing(&format!("Bearer {scraper}"))).await;
    for (key, why) in [
        (part, "these credentials are valid for some profiles only, not for the metrics of this server\n"),
        (other, "you may not read the metrics of this server\n"),
    ] {
        let mut refused = gateway.http().showing(&format!("Bearer {key}")).get("/metrics", &[]).await;
        assert_eq!((refused.status, refused.text().await.as_str()), (403, why));
    }
    assert_eq!(gateway.stop().await.code, Some(0));
    std::fs::remove_dir_all(&folder).expect("the folder of the keys");
}

#[tokio::test]
async fn pages_of_other_sites_do_not_get_the_figures() {
    let gateway = Gateway::start(&format!("{DEMO}metrics: true\n")).await;
    let http = gateway.http();
    assert_eq!(http.get("/metrics", &[("Host", "evil.example")]).await.status, 403);
    assert_eq!(http.get("/metrics", &[("Sec-Fetch-Site", "cross-site")]).await.status, 403);
}

/// The address of the figures in the gateway's log.
async fn address_of(gateway: &Gateway) -> std::net::SocketAddr {
    gateway.log().has("/metrics").await;
    let log = gateway.log().text();
    let (_, rest) = log.rsplit_once("serving http://").expect("an address");
    rest.split_once("/metrics").expect("a path").0.parse().expect("an address")
}

#[tokio::test]
async fn an_address_of_its_own_serves_the_figures_and_nothing_else() {
    let config = format!("{DEMO}auth: {{ bearer: a-token-of-some-length }}\nmetrics: {{ listen: 0 }}\n");
    let env = [("DRAGOMAN_LOG", "info")];
    let gateway = Gateway::start_with(&Start { config: &config, env: &env, ..Start::default() }).await;
    let own = Http::new(address_of(&gateway).await);
    Figures::read(own).await;
    assert_eq!(own.get("/mcp", &[]).await.status, 404);
    assert_eq!(own.get("/", &[]).await.status, 404);
    assert_eq!(own.get("/metrics", &[("Host", "evil.example")]).await.status, 403);
    let http = gateway.http().showing("Bearer a-token-of-some-length");
    assert_eq!(http.get("/metrics", &[]).await.status, 404, "not where clients connect");
    // Without the key, nothing listens there.
    gateway.write(&config.replace("metrics: { listen: 0 }", ""));
    gateway.signal(rustix::process::Signal::HUP);
    gateway.log().has("reloaded the configuration").await;
    until("the end of the address", || std::net::TcpStream::connect(own.address).is_err()).await;
}
