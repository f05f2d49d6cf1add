//! The first screen of `serve`: its addresses, its servers, and how to connect a client.
//!
//! This file is pure, which allows tests of the complete text. The text contains no secrets: values that may
//! contain one are masked.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::net::SocketAddr;

use config::{Config, DEFAULT_PROFILE, HttpTransport, Link, Native, NativeLink, Server, StdioLink};
use engine::places::second_path;
use serde_json::{Value, json};

use super::address;
use super::client_credentials::Credentials;
use crate::output::VERSION;
use crate::output::console::Paint;

/// The maximum length of a server's description, in characters.
const MOST: usize = 72;

/// The content of the first screen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Welcome<'a> {
    /// The addresses at which the gateway listens.
    pub(crate) addresses: &'a [SocketAddr],
    /// The origin at which clients reach the gateway, if it differs from that of the first address.
    pub(crate) origin: Option<&'a str>,
    /// The configuration that the gateway serves.
    pub(crate) config: &'a Config,
    /// The preset that is served, or that the file extends.
    pub(crate) preset: Option<&'a str>,
    /// The configuration's file as the user wrote it; `None` for a preset alone, or the embedded demo.
    pub(crate) file: Option<&'a str>,
    /// The absolute path of the file, for a client in another folder.
    pub(crate) absolute_file: Option<&'a str>,
    /// The path of this program.
    pub(crate) program: &'a str,
    /// A link that opens the admin pages once.
    pub(crate) admin_link: Option<&'a str>,
    /// The colors of the text.
    pub(crate) paint: Paint,
}

/// Returns the text of the first screen.
pub(crate) fn welcome(about: &Welcome<'_>) -> String {
    let paint = about.paint;
    let mut text = String::new();
    let urls: Vec<String> =
        about.addresses.iter().map(|one| address::url(about.config, *one, "/mcp")).collect();
    // People who sign in get tokens for the public address alone.
    let public = about.config.public_url.as_deref().filter(|_| about.config.auth.login.is_some());
    let first = public
        .or(about.origin)
        .map(|origin| format!("{origin}/mcp"))
        .or_else(|| urls.first().cloned())
        .unwrap_or_default();
    let shown: Vec<String> = urls.iter().map(|url| paint.cyan(url)).collect();
    let _ = writeln!(text, "{} serves {}\n", paint.bold(&format!("Dragoman {VERSION}")), shown.join(" and "));
    let config = match (about.file, about.preset) {
        (Some(file), None) => file.to_owned(),
        (Some(file), Some(preset)) => format!("{file}, on top of the preset {preset}"),
        (None, Some(preset)) => {
            format!("the preset {preset}; `dragoman config show --preset {preset}` prints it")
        }
        (None, None) => {
            "none found, so the embedded demo is served; configure your servers in ./dragoman.yaml".to_owned()
        }
    };
    rows(&mut text, "Configuration", vec![(String::new(), config)], paint);
    rows(&mut text, "Profiles", profiles(about), paint);
    let servers = about.config.mcp_servers.iter().map(|(name, server)| (name.clone(), described(server)));
    rows(&mut text, "Servers", servers.collect(), paint);
    rows(&mut text, "Connect", clients(about, &first), paint);
    if let Some(link) = about.admin_link {
        let note = paint.dim("works once, within 15 minutes; `dragoman admin link` prints another one");
        rows(&mut text, "Admin pages", vec![(String::new(), paint.cyan(link)), (String::new(), note)], paint);
    }
    let _ = writeln!(text, "\n{}", paint.dim("Press Ctrl-C to stop. `dragoman --help` shows all commands."));
    text
}

/// Adds a heading, and below it rows of two columns.
fn rows(text: &mut String, heading: &str, rows: Vec<(String, String)>, paint: Paint) {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (index, (name, value)) in rows.into_iter().enumerate() {
        let heading = format!("{:<14}", if index == 0 { heading } else { "" });
        let name = if width == 0 { String::new() } else { format!("{name:<width$}  ") };
        let _ = writeln!(text, "{}{name}{value}", paint.bold(&heading));
    }
}

fn profiles(about: &Welcome<'_>) -> Vec<(String, String)> {
    let Config { profiles, endpoints, .. } = about.config;
    let mut rows = Vec::new();
    for (slug, profile) in profiles {
        let mut paths =
            vec![if slug == DEFAULT_PROFILE { "/mcp".to_owned() } else { format!("/mcp/{slug}") }];
        // This path is for clients that recognize an MCP endpoint only if its path ends in `/mcp`.
        let second = format!("/{slug}/mcp");
        if slug != DEFAULT_PROFILE
            && second_path(&second).is_some()
            && !endpoints.iter().any(|one| one.path == second)
        {
            paths.push(second);
        }
        paths.extend(endpoints.iter().filter(|one| one.profile == *slug).map(|one| one.path.clone()));
        let servers =
            if profile.servers.is_empty() { "no servers".to_owned() } else { profile.servers.join(", ") };
        rows.push((slug.clone(), format!("{}  {}", paths.join(", "), about.paint.dim(&servers))));
    }
    rows
}

fn described(server: &Server) -> String {
    let (how, state) = match &server.link {
        Link::Native(native) => {
            let name =
                Native::ALL.iter().find(|(_, kind)| *kind == native.native).map_or("?", |(name, _)| name);
            (format!("embedded: {name}"), state(native))
        }
        Link::Http(http) if http.transport == HttpTransport::Sse => {
            (http.url.shown().to_owned(), "HTTP+SSE".into())
        }
        Link::Http(http) => (http.url.shown().to_owned(), "connects when needed".into()),
        Link::Stdio(StdioLink { bundle: Some(bundle), .. }) => {
            (format!("bundle {}", bundle.shown()), "starts when needed".into())
        }
        Link::Stdio(child) => {
            let words =
                std::iter::once(child.command.shown()).chain(child.args.iter().map(config::Text::shown));
            (words.collect::<Vec<_>>().join(" "), "starts when needed".into())
        }
    };
    let state = if server.disabled { "disabled".into() } else { state };
    format!("{} ({state})", clipped(&how))
}

/// Returns the state of an embedded server. A server that works on a site is ready once the site is known.
fn state(native: &NativeLink) -> Cow<'static, str> {
    if !native.native.needs_site() {
        return "ready".into();
    }
    let url = native.site.as_ref().and_then(|site| site.url.as_ref()).filter(|url| !url.expose().is_empty());
    match url {
        Some(url) => format!("ready, for {}", clipped(url.shown())).into(),
        None if native.site.as_ref().is_some_and(|site| site.login && !site.headers) => {
            "for the site at which each person signs in".into()
        }
        // A configuration without the site's URL must allow requests to name their sites; otherwise, the configuration is refused.
        None => {
            "each request names its site: x-wordpress-url, x-wordpress-username, x-wordpress-password".into()
        }
    }
}

fn clipped(text: &str) -> String {
    if text.chars().count() <= MOST {
        text.to_owned()
    } else {
        text.chars().take(MOST - 1).chain(['…']).collect()
    }
}

/// Returns true if clients send a bearer token of their own: an API key, or the token of the configuration.
pub(crate) fn needs_bearer(config: &Config) -> bool {
    config.auth.asks() && (config.auth.keys || config.auth.bearer.is_some())
}

fn clients(about: &Welcome<'_>, url: &str) -> Vec<(String, String)> {
    let mut args = vec!["stdio"];
    if let Some(preset) = about.preset {
        args.extend(["--preset", preset]);
    }
    if let Some(file) = about.absolute_file {
        args.extend(["--config", file]);
    }
    let credentials = Credentials::of(about.config, about.absolute_file);
    let child = json!({"mcpServers": {"dragoman": desktop(about, &credentials, url, &args)}});
    let cursor = json!({"mcpServers": {"dragoman": credentials.with(json!({"url": url}))}});
    let code = json!({"servers": {"dragoman": credentials.with(json!({"type": "http", "url": url}))}});
    let option = credentials.options("--header");
    let inspector = format!(
        "npx @modelcontextprotocol/inspector --cli {url} --transport http{option} --method tools/list"
    );
    let how = credentials.how.iter().enumerate();
    let how = how.map(|(at, how)| (if at == 0 { "Credentials" } else { "" }.to_owned(), how.clone()));
    how.collect::<Vec<_>>()
        .into_iter()
        .chain(
            [
                ("Claude Code", format!("claude mcp add --transport http dragoman {url}{option}")),
                ("Claude Desktop", format!("in claude_desktop_config.json: {child}")),
                ("Cursor", format!("in ~/.cursor/mcp.json: {cursor}")),
                ("VS Code", format!("in .vscode/mcp.json: {code}")),
                ("Inspector", inspector),
                ("This terminal", format!("dragoman list {url}{option}")),
            ]
            .map(|(name, how)| (name.to_owned(), how)),
        )
        .collect()
}

/// The entry for a client that starts programs. If requests name their site or people sign in, which is impossible
/// over stdio, the program is `mcp-remote`, and it connects to the running gateway.
fn desktop(about: &Welcome<'_>, credentials: &Credentials, url: &str, args: &[&str]) -> Value {
    let sites = Credentials::of_sites(about.config).headers;
    if sites.is_empty() && about.config.auth.login.is_none() {
        return json!({"command": about.program, "args": args});
    }
    let mut args = vec!["-y".to_owned(), "mcp-remote".to_owned(), url.to_owned()];
    // Some clients split an argument at spaces, so the values are variables.
    let mut env = serde_json::Map::new();
    for (header, value) in &credentials.headers {
        let variable = header.to_uppercase().replace('-', "_");
        args.extend(["--header".to_owned(), format!("{header}:${{{variable}}}")]);
        env.insert(variable, json!(value));
    }
    if env.is_empty() {
        return json!({"command": "npx", "args": args});
    }
    json!({"command": "npx", "args": args, "env": env})
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "mcpServers:
  files: { command: npx, args: [-y, '@modelcontextprotocol/server-filesystem', '.'], env: { KEY: s3cret } }
  docs: { url: 'https://docs.example.com/mcp?key=${KEY}' }
  old: { url: 'http://127.0.0.1:9000/mcp', disabled: true }
  demo: { native: demo }
profiles:
  default: { servers: [files, docs] }
  editors: { servers: [demo] }
endpoints:
  - { path: /tools/mcp, profile: editors }
";

    fn screen(text: &str, file: Option<&str>, paint: Paint) -> String {
        of_preset(text, None, file, paint)
    }

    fn of_preset(text: &str, preset: Option<&str>, file: Option<&str>, paint: Paint) -> String {
        let lookup =
            config::Lookup { env: &|_| Some("s3cret".to_owned()), file: &|_| Err("none".to_owned()) };
        let config = config::load(text, "test", &lookup).unwrap().config;
        welcome(&Welcome {
            addresses: &["127.0.0.1:8808".parse().unwrap(), "[::1]:8808".parse().unwrap()],
            origin: config.tls.is_some().then_some("https://mcp.example.com"),
            config: &config,
            preset,
            file,
            absolute_file: file.map(|_| "/etc/dragoman/dragoman.yaml"),
            admin_link: None,
            program: "/usr/bin/dragoman",
            paint,
        })
    }

    #[test]
    fn where_people_sign_in_clients_get_the_public_address_and_no_headers() {
        let text = "publicUrl: https://mcp.example.com\nauth: { login: wordpress }\n\
             mcpServers: { sites: { native: wordpress, site: { login: true } } }\n";
        let screen = screen(text, None, Paint(false));
        for said in [
            "for the site at which each person signs in",
            "clients open a browser",
            "claude mcp add --transport http dragoman https://mcp.example.com/mcp\n",
            r#"{"command":"npx","args":["-y","mcp-remote","https://mcp.example.com/mcp"]}"#,
        ] {
            assert!(screen.contains(said), "{said}: {screen}");
        }
    }

    #[test]
    fn with_tls_clients_get_the_name_of_the_certificate() {
        let screen = screen(
            &format!("{TEXT}listen: 127.0.0.1:8808\ntls: {{ cert: c, key: k }}\n"),
            None,
            Paint(false),
        );
        assert!(
            screen.contains("serves https://127.0.0.1:8808/mcp and https://[::1]:8808/mcp\n"),
            "{screen}"
        );
        assert!(
            screen.contains("claude mcp add --transport http dragoman https://mcp.example.com/mcp\n"),
            "{screen}"
        );
        assert_eq!(screen.matches("http://").count(), 1, "a configured server's: {screen}");
    }

    #[test]
    fn the_first_screen() {
        let screen = screen(TEXT, Some("dragoman.yaml"), Paint(false)).replace(VERSION, "VERSION");
        assert_eq!(screen, include_str!("welcome.txt"));
        assert!(!screen.contains("s3cret"));
    }

    #[test]
    fn the_demo_says_what_to_do_next() {
        let screen = screen("mcpServers: { demo: { native: demo } }", None, Paint(false));
        assert!(
            screen.contains("embedded demo is served; configure your servers in ./dragoman.yaml"),
            "{screen}"
        );
        assert!(screen.contains(r#""args":["stdio"]"#), "{screen}");
    }

    #[test]
    fn a_preset_is_named_wherever_it_has_to_be() {
        let demo = "mcpServers: { demo: { native: demo } }";
        let alone = of_preset(demo, Some("bb"), None, Paint(false));
        assert!(alone.contains("Configuration the preset bb; `dragoman config show --preset bb`"), "{alone}");
        assert!(alone.contains(r#""args":["stdio","--preset","bb"]"#), "{alone}");
        let extended = of_preset(demo, Some("bb"), Some("mine.yaml"), Paint(false));
        assert!(extended.contains("Configuration mine.yaml, on top of the preset bb\n"), "{extended}");
        let args = r#""args":["stdio","--preset","bb","--config","/etc/dragoman/dragoman.yaml"]"#;
        assert!(extended.contains(args), "{extended}");
    }

    #[test]
    fn lines_name_the_site_where_requests_have_to() {
        let shop = "mcpServers: { site: { native: wordpress, site: { headers: true } } }";
        let screen = of_preset(shop, Some("wordpress"), None, Paint(false));
        let options = "--header \"x-wordpress-url: https://YOUR-SITE\" --header \"x-wordpress-username: USER\" --header \
                       \"x-wordpress-password: APP-PASSWORD\"";
        assert!(
            screen.contains(&format!(
                "claude mcp add --transport http dragoman http://127.0.0.1:8808/mcp {options}\n"
            )),
            "{screen}"
        );
        assert!(screen.contains(r#""headers":{"x-wordpress-url":"https://YOUR-SITE","#), "{screen}");
        assert!(screen.contains(r#""--header","x-wordpress-url:${X_WORDPRESS_URL}""#), "{screen}");
        assert!(screen.contains("Credentials     write your site"), "{screen}");
        let one =
            "mcpServers: { site: { native: buddyboss, site: { url: 'https://a.example', basic: true } } }";
        let screen = of_preset(one, Some("buddyboss"), None, Paint(false));
        assert!(
            screen.contains("--header \"Authorization: Basic BASE64\"\n")
                && screen.contains("'USER:APP-PASSWORD'"),
            "{screen}"
        );
        let fixed = "mcpServers: { site: { native: wordpress, site: { url: 'https://a.example', username: u, password: p, headers: true } } }";
        assert!(!of_preset(fixed, None, None, Paint(false)).contains("--header"));
    }

    #[test]
    fn lines_for_clients_carry_what_is_asked_for() {
        let with = |auth: &str, file| {
            let text = format!("mcpServers: {{ demo: {{ native: demo }} }}\nauth: {auth}\n");
            screen(&text, file, Paint(false))
        };
        let keys = with("{ keys: true }", Some("dragoman.yaml"));
        for line in [
            "Credentials     replace KEY with an API key; create one with: dragoman key new me --config \
             /etc/dragoman/dragoman.yaml\n",
            "claude mcp add --transport http dragoman http://127.0.0.1:8808/mcp --header \"Authorization: Bearer KEY\"\n",
            r#"{"mcpServers":{"dragoman":{"url":"http://127.0.0.1:8808/mcp","headers":{"Authorization":"Bearer KEY"}}}}"#,
            r#""type":"http","url""#,
            "--transport http --header \"Authorization: Bearer KEY\" --method tools/list\n",
            "dragoman list http://127.0.0.1:8808/mcp --header \"Authorization: Bearer KEY\"\n",
        ] {
            assert!(keys.contains(line), "{line}\n{keys}");
        }
        let bearer = with("{ bearer: { token: '${KEY}abcdefghijklmnop' } }", None);
        assert!(bearer.contains("Authorization: Bearer TOKEN") && !bearer.contains("s3cret"), "{bearer}");
        let hash = "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$Zm9vYmFyYmF6Zm9vYmFyYmF6Zm9vYmFyYmF6Zm9vYmE";
        let users = with(&format!("{{ users: {{ ann: '{hash}' }} }}"), None);
        assert!(users.contains("Authorization: Basic BASE64") && users.contains("| base64\n"), "{users}");
    }

    #[test]
    fn tools_of_a_site_say_which() {
        let blog = |site: &str| {
            let text = format!("mcpServers: {{ blog: {{ native: wordpress, site: {site} }} }}");
            screen(&text, None, Paint(false))
        };
        let own = blog("{ url: 'https://blog.example.com', username: ann, password: '${KEY}' }");
        assert!(own.contains("embedded: wordpress (ready, for https://blog.example.com)\n"), "{own}");
        assert!(!own.contains("s3cret"));
        let theirs = blog("{ url: '', headers: true }");
        assert!(
            theirs.contains("embedded: wordpress (each request names its site: x-wordpress-url, "),
            "{theirs}"
        );
    }

    #[test]
    fn colors_change_nothing_else() {
        let mut colored = screen(TEXT, None, Paint(true));
        for code in ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[36m"] {
            colored = colored.replace(code, "");
        }
        assert_eq!(colored, screen(TEXT, None, Paint(false)));
    }
}
