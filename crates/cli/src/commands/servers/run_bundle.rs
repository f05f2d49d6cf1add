//! `dragoman run-bundle`: unpacks an MCPB bundle, and becomes its server. The gateway starts servers of bundles with this command.

use std::env;
use std::path::{Path, PathBuf};

use bundles::archive::Archive;
use bundles::launch::{Host, Launch, SettingValues};
use bundles::manifest::Manifest;
use bundles::unpack::unpacked;
use upstream::destination::BUNDLE_SETTINGS;

use crate::output::failure::Failure;

const EXAMPLES: &str = "\
Dragoman runs this command for a server with `bundle: FILE`. To run it by hand:
  DRAGOMAN_BUNDLE_SETTINGS='{\"key\": [\"value\"]}' dragoman run-bundle FILE";

/// Unpack an MCPB bundle and run its server
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The bundle
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Refuse the bundle if its checksum differs
    #[arg(long, value_name = "CHECKSUM")]
    sha256: Option<String>,
    /// Start the server in the current folder instead of the folder of its files
    #[arg(long)]
    stay: bool,
}

/// Unpacks the bundle and runs its server; returns only if the server does not start.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let failed = |why: String| Failure::new(format!("the bundle {}: {why}", args.file.display()));
    let mut archive = Archive::open(&args.file).map_err(|error| failed(error.to_string()))?;
    if let Some(expected) = &args.sha256
        && !expected.eq_ignore_ascii_case(archive.checksum())
    {
        let help = "if the new file is the one that you want, write its checksum as `sha256`";
        return Err(failed(format!("its checksum is {}, not {expected}", archive.checksum())).help(help));
    }
    let text = archive.manifest().map_err(|error| failed(error.to_string()))?;
    let manifest = Manifest::parse(&text).map_err(|error| failed(error.to_string()))?;
    let folder = unpacked(&mut archive, &cache()?).map_err(|error| failed(error.to_string()))?;
    let home = env::var("HOME").unwrap_or_default();
    let host = Host { folder: folder.display().to_string(), home, platform: platform() };
    let launch = manifest.launch(&host, &settings()?).map_err(|error| {
        failed(error.to_string())
            .help("write the settings of the bundle under `config`, such as config: { name: value }")
    })?;
    become_server(&launch, (!args.stay).then_some(folder.as_path()))
}

/// The folder of all unpacked bundles.
fn cache() -> Result<PathBuf, Failure> {
    let set = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    let help = "set HOME or XDG_CACHE_HOME in the `env` of the server";
    let cache =
        cache.ok_or_else(|| Failure::new("there is no folder for unpacked bundles".to_owned()).help(help))?;
    Ok(cache.join("dragoman/bundles"))
}

/// The values of the user's settings.
fn settings() -> Result<SettingValues, Failure> {
    match env::var(BUNDLE_SETTINGS) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| {
            Failure::usage(format!("{BUNDLE_SETTINGS} is not a JSON object of lists of strings: {error}"))
        }),
        Err(_) => Ok(SettingValues::new()),
    }
}

/// Returns Node's name for this platform, which manifests use.
const fn platform() -> &'static str {
    if cfg!(target_os = "macos") { "darwin" } else { "linux" }
}

/// Replaces this process by the server.
#[expect(
    clippy::disallowed_methods,
    reason = "no child is started: this process becomes the server, and keeps its supervisor"
)]
fn become_server(launch: &Launch, folder: Option<&Path>) -> Result<(), Failure> {
    use std::os::unix::process::CommandExt as _;
    let mut command = std::process::Command::new(&launch.program);
    command.args(&launch.args).envs(&launch.env).env_remove(BUNDLE_SETTINGS);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let error = command.exec();
    let help = match launch.program.as_str() {
        "node" => "install Node, or put its folder into the PATH of the server's `env`",
        "python" | "python3" => "install Python, or put its folder into the PATH of the server's `env`",
        "uv" => "install uv, or put its folder into the PATH of the server's `env`",
        _ => "ask the author of the bundle: its manifest names this program",
    };
    Err(Failure::new(format!("{} cannot be started: {error}", launch.program)).help(help))
}
