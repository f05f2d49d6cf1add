//! One site: its database and folder are created, filled with users and content, and served on a free port.

use super::database::Database;
use super::folder::below;
use crate::root;
use crate::run::{Log, Service};
use serde_json::Value;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The number of requests that a site handles at the same time.
const WORKERS: &str = "4";
/// The number of attempts to start: another program may take the free port before the site listens there.
const ATTEMPTS: usize = 3;
/// PHP's settings, with which no mail is sent, and errors are only logged.
const SETTINGS: &[&str] = &[
    "sendmail_path=/bin/true",
    "display_errors=0",
    "log_errors=1",
    "memory_limit=256M",
    "upload_max_filesize=64M",
    "post_max_size=70M",
    "opcache.enable_cli=1",
    "opcache.memory_consumption=128",
    "opcache.max_accelerated_files=10000",
];

/// A running site, which ends on drop.
pub(crate) struct Site {
    /// The site's address.
    pub(crate) url: String,
    /// The output of the site's set-up: its users, their passwords, and its content.
    pub(crate) told: Value,
    place: Place,
    service: Service,
}

/// The kind of installation at the address of a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SiteKind {
    Single,
    /// A main site with other sites in folders (multisite).
    Folders,
    /// A main site with other sites on subdomains (multisite), below a name that only a gateway with the site's
    /// server as its proxy can reach.
    Subdomains,
}

impl Site {
    pub(crate) fn start(
        name: &str,
        wordpress: &Path,
        folder: &Path,
        database: &Database,
        log: &Log,
    ) -> Result<Self, String> {
        Self::start_as((name, SiteKind::Single), wordpress, folder, database, log)
    }

    pub(super) fn start_as(
        (name, kind): (&str, SiteKind),
        wordpress: &Path,
        folder: &Path,
        database: &Database,
        log: &Log,
    ) -> Result<Self, String> {
        let folder = below(folder, name)?;
        let content = below(&folder, "content")?;
        below(&content, "uploads")?;
        below(&content, "plugins")?;
        let always = below(&content, "mu-plugins")?;
        register_fields(&always)?;
        for name in ["abilities.php", "media.php"] {
            let plugin = script(name);
            fs::copy(&plugin, always.join(name)).map_err(|error| format!("{}: {error}", plugin.display()))?;
        }
        let themes = content.join("themes");
        symlink(wordpress.join("wp-content/themes"), &themes)
            .map_err(|error| format!("{}: {error}", themes.display()))?;
        let mut why = String::new();
        for _ in 0..ATTEMPTS {
            let address = free_address()?;
            let place = Place {
                name: name.to_owned(),
                kind,
                wordpress: wordpress.to_owned(),
                folder: folder.clone(),
                socket: database.socket.clone(),
                address,
            };
            match place.serve(log) {
                Ok(service) => {
                    place.set_up("install", log)?;
                    let told = place.set_up("fill", log)?;
                    let line = told.lines().last().unwrap_or_default();
                    let told = serde_json::from_str(line)
                        .map_err(|error| format!("the set-up of the site {name} said `{line}`: {error}"))?;
                    return Ok(Self { url: place.url(), told, place, service });
                }
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    /// The address at which the site's server listens.
    pub(super) fn address(&self) -> &str {
        &self.place.address
    }

    /// The site's own folder: plugins and uploads are below `content`.
    pub(crate) fn folder(&self) -> &Path {
        &self.place.folder
    }

    /// A PHP command that runs in the context of this site, like the site's own requests.
    pub(crate) fn php(&self) -> Command {
        self.place.php()
    }

    pub(crate) fn tell(&self, log: &Log) {
        self.service.tell(log);
    }
}

/// Installs the file by which the documentation registers fields for the REST API.
fn register_fields(plugins: &Path) -> Result<(), String> {
    let page = root::checkout().join("docs/wordpress.md");
    let text = fs::read_to_string(&page).map_err(|error| format!("{}: {error}", page.display()))?;
    let blocks = text.split("```php\n").skip(1).filter_map(|rest| Some(rest.split_once("```")?.0));
    let file = blocks.into_iter().find(|block| block.contains("register_meta"));
    let file = file.ok_or_else(|| format!("{} no longer shows how to register fields", page.display()))?;
    let target = plugins.join("rank-math-fields.php");
    fs::write(&target, file).map_err(|error| format!("{}: {error}", target.display()))
}

/// The location of a site.
struct Place {
    name: String,
    kind: SiteKind,
    wordpress: PathBuf,
    folder: PathBuf,
    socket: PathBuf,
    address: String,
}

impl Place {
    fn url(&self) -> String {
        match self.kind {
            SiteKind::Single | SiteKind::Folders => format!("http://{}", self.address),
            SiteKind::Subdomains => format!("http://{}.test", self.name),
        }
    }

    fn php(&self) -> Command {
        let mut command = Command::new("php");
        command.args(SETTINGS.iter().flat_map(|setting| ["-d", setting]));
        command
            .env("SITE_URL", self.url())
            .env("SITE_FOLDER", &self.folder)
            .env("SITE_SOCKET", &self.socket)
            .env("SITE_DATABASE", &self.name);
        match self.kind {
            SiteKind::Single => {}
            SiteKind::Folders => drop(command.env("SITE_NETWORK", "folders")),
            SiteKind::Subdomains => drop(command.env("SITE_NETWORK", "subdomains")),
        }
        command
    }

    /// Serves the site with PHP's own web server.
    fn serve(&self, log: &Log) -> Result<Service, String> {
        let mut command = self.php();
        command.arg("-S").arg(&self.address).arg("-t").arg(&self.wordpress).arg(script("router.php"));
        command.env("PHP_CLI_SERVER_WORKERS", WORKERS);
        let ready = |line: &str| (line.contains(&self.address) && line.contains("started")).then(String::new);
        Ok(Service::start(&mut command, log, ready)?.0.with_children())
    }

    fn set_up(&self, what: &str, log: &Log) -> Result<String, String> {
        log.run(self.php().arg(script("setup.php")).arg(&self.wordpress).args([&self.name, what]))
    }
}

fn script(name: &str) -> PathBuf {
    root::checkout().join("tests/sites/php").join(name)
}

fn free_address() -> Result<String, String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|error| format!("no free port: {error}"))?;
    listener.local_addr().map(|address| address.to_string()).map_err(|error| format!("no free port: {error}"))
}
