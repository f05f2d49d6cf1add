//! Finds and reads the configuration of this run, and fills in `${…}`. The crate `config` is pure, so reading is
//! done here.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::{
    Config, Effective, Fault, Link, Loaded, Lookup, MAX_FILE_BYTES, MAX_FILLED_BYTES, NativeLink,
    load_knowing, masked,
};
use serde_json::json;

use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::preset::Preset;
use gateway::Origin;
use upstream::embedded::offered;

/// The names of a configuration file, in the order in which they are tried.
const NAMES: [&str; 3] = ["dragoman.yaml", "dragoman.yml", "dragoman.json"];

/// The configuration that is served if there is no other.
const DEMO: &str =
    "mcpServers:\n  demo: { native: demo }\nprofiles:\n  default: { servers: [demo], names: plain }\n";

/// A configuration and its source.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The configuration.
    pub(crate) config: Config,
    /// The configuration's file; `None` for the embedded demo.
    pub(crate) file: Option<PathBuf>,
    /// Notes about the configuration.
    pub(crate) notes: Vec<Fault>,
    /// The line of the file's first secret that is written as plain text.
    pub(crate) literal_secret: Option<usize>,
}

impl Settings {
    /// Reads the configuration that a command uses, and prints its notes.
    ///
    /// # Errors
    /// Fails if the configuration cannot be read, or is invalid.
    pub(crate) fn read(explicit: Option<&Path>, console: &Console) -> Result<Self, Failure> {
        let settings = Self::load(explicit)?;
        settings.note(console);
        Ok(settings)
    }

    /// Allows requests to name sites at private addresses, if requests may name sites at all.
    pub(crate) fn allow_private_sites(&mut self) {
        for server in self.config.mcp_servers.values_mut() {
            if let Link::Native(NativeLink { site: Some(site), .. }) = &mut server.link {
                site.private_sites = true;
            }
        }
    }

    /// Prints the notes about the configuration.
    pub(crate) fn note(&self, console: &Console) {
        for note in &self.notes {
            console.note(&format!("{note}\n"));
        }
    }

    /// Reads the configuration that a command uses.
    ///
    /// # Errors
    /// Fails in the same cases as [`Settings::read`].
    pub(crate) fn load(explicit: Option<&Path>) -> Result<Self, Failure> {
        let found = explicit.map(Path::to_path_buf).or_else(|| find(&places()));
        match found {
            Some(file) => Self::of_file(file, None),
            None => Self::of_text(DEMO, "the embedded demo", Path::new(""), None),
        }
    }

    /// Reads a preset, with a file that extends it.
    ///
    /// # Errors
    /// Fails in the same cases as [`Settings::read`].
    fn load_preset(preset: Preset, explicit: Option<&Path>) -> Result<Self, Failure> {
        let name = format!("the preset {}", preset.name);
        let mut settings = Self::of_text(preset.text, &name, Path::new(""), None)?;
        if let Some(file) = explicit {
            settings = Self::of_file(file.to_path_buf(), Some(settings.config))?;
        }
        Ok(settings)
    }

    /// Creates a configuration with one server at a URL; the names of its tools stay unchanged.
    ///
    /// # Errors
    /// Fails if the URL is invalid.
    pub(crate) fn of_url(url: &str) -> Result<Self, Failure> {
        // In a URL on the command line, nothing is a placeholder.
        let url = url.replace("${", "$${");
        let text = json!({
            "mcpServers": {"remote": {"url": url}},
            "profiles": {"default": {"servers": ["remote"], "names": "plain"}},
        });
        Self::of_text(&text.to_string(), "the URL on the command line", Path::new(""), None)
    }

    /// Reads a file, which extends `base` if there is one.
    fn of_file(file: PathBuf, base: Option<Config>) -> Result<Self, Failure> {
        let text = text_of(&file)?;
        let name = file.display().to_string();
        let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
        Self::over(base, &text, &name, &folder, Some(file))
    }

    fn of_text(text: &str, name: &str, folder: &Path, file: Option<PathBuf>) -> Result<Self, Failure> {
        Self::over(None, text, name, folder, file)
    }

    fn over(
        base: Option<Config>,
        text: &str,
        name: &str,
        folder: &Path,
        file: Option<PathBuf>,
    ) -> Result<Self, Failure> {
        let of_file = |path: &str| filled(folder, path);
        let lookup = Lookup { env: &|name| std::env::var(name).ok(), file: &of_file };
        let loaded = load_knowing(base, text, name, &lookup, &offered);
        let Loaded { mut config, notes, literal_secret } =
            loaded.map_err(|faults| Failure::Config(Box::new(faults)))?;
        config.tls = config.tls.map(|tls| tls.from_folder(folder));
        config.resolve_files(folder);
        for server in config.mcp_servers.values_mut() {
            server.link.resolve_files(folder);
        }
        Ok(Self { config, file, notes, literal_secret })
    }

    /// Returns the file's absolute path, for a client that starts in another folder.
    pub(crate) fn absolute_file(&self) -> Option<PathBuf> {
        let file = self.file.as_ref()?;
        Some(fs::canonicalize(file).unwrap_or_else(|_| file.clone()))
    }
}

/// Returns the text of a configuration file.
fn text_of(file: &Path) -> Result<String, Failure> {
    let cannot = |why: String| {
        let help = "give another file with --config, or omit it to serve the demo";
        Failure::usage(format!("cannot read the configuration {}: {why}", file.display())).help(help)
    };
    // Reading one byte more than is allowed is enough: the loader then reports that the file is too large.
    read(file, MAX_FILE_BYTES + 1).map_err(cannot)
}

/// Prints a preset, and the file that extends it.
///
/// # Errors
/// Fails if the file cannot be read.
pub(crate) fn show_preset(preset: Preset, over: Option<&Path>, console: &Console) -> Result<(), Failure> {
    if console.json {
        let file = over.map(text_of).transpose()?;
        let shown = |text: &str| Effective::of(text).settings;
        let told = json!({"preset": preset.name, "settings": shown(preset.text), "over": file.as_deref().map(shown)});
        return console.print(&told.to_string());
    }
    let Some(file) = over else { return console.print(preset.text.trim_end()) };
    let text = masked(&text_of(file)?);
    let name = file.display();
    console.print(&format!(
        "# The preset {}:\n{}\n---\n# The settings of {name}, which override it:\n{}",
        preset.name,
        preset.text.trim_end(),
        text.trim_end()
    ))
}

/// Prints the configuration as it takes effect, without secrets.
///
/// # Errors
/// Fails if the configuration cannot be read, or is invalid.
pub(crate) fn show(explicit: Option<&Path>, console: &Console) -> Result<(), Failure> {
    let settings = Settings::load(explicit)?;
    let text = match &settings.file {
        Some(file) => text_of(file)?,
        None => DEMO.to_owned(),
    };
    let effective = Effective::of(&text);
    let file = settings.file.as_ref().map(|file| file.display().to_string());
    if console.json {
        let told = json!({"file": file, "settings": effective.settings, "defaults": effective.defaults});
        return console.print(&told.to_string());
    }
    let name =
        file.unwrap_or_else(|| "There is no configuration file, so the embedded demo is served:".to_owned());
    console.print(&format!("# {name}\n{}", console.shown(&effective.to_yaml())))
}

/// The source of a configuration, from which it can be read again.
#[derive(Debug, Clone)]
pub(crate) struct ConfigSource {
    preset: Option<Preset>,
    file: Option<PathBuf>,
}

impl ConfigSource {
    /// Returns the source for a preset, if there is one, and the file that was given or found.
    pub(crate) fn of(preset: Option<Preset>, explicit: Option<&Path>) -> Self {
        let file = explicit.map(Path::to_path_buf);
        let file = file.or_else(|| if preset.is_none() { find(&places()) } else { None });
        Self { preset, file }
    }

    /// Reads the configuration.
    ///
    /// # Errors
    /// Fails in the same cases as [`Settings::read`].
    pub(crate) fn load(&self) -> Result<Settings, Failure> {
        match self.preset {
            Some(preset) => Settings::load_preset(preset, self.file.as_deref()),
            None => Settings::load(self.file.as_deref()),
        }
    }

    /// Returns the source from which a running gateway reloads the configuration; `fitted` applies the command
    /// line's options. `None` if the configuration is not in a file.
    pub(crate) fn origin(
        &self,
        settings: &Settings,
        fitted: impl Fn(Settings) -> Result<Settings, Failure> + Send + Sync + 'static,
    ) -> Option<Origin> {
        let (source, file) = (self.clone(), settings.file.clone()?);
        let read = move || {
            let settings = source.load().and_then(&fitted).map_err(Failure::into_unread)?;
            for note in &settings.notes {
                tracing::warn!("{note}");
            }
            Ok(settings.config)
        };
        Some(Origin { read: Arc::new(read), file: Some(file) })
    }
}

/// Returns the folders in which the configuration is searched for: the current folder, and the user's configuration folder.
fn places() -> Vec<PathBuf> {
    let user = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute())
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")));
    std::iter::once(PathBuf::new()).chain(user.map(|folder| folder.join("dragoman"))).collect()
}

/// Returns the configuration file that commands find by themselves.
pub(crate) fn found() -> Option<PathBuf> {
    find(&places())
}

fn find(places: &[PathBuf]) -> Option<PathBuf> {
    places.iter().flat_map(|folder| NAMES.map(|name| folder.join(name))).find(|path| path.is_file())
}

/// Returns the content for `${file:path}`; a relative path starts at the configuration's folder.
pub(crate) fn filled(folder: &Path, path: &str) -> Result<String, String> {
    let text = read(&folder.join(path), MAX_FILLED_BYTES + 1)?;
    if text.len() > MAX_FILLED_BYTES {
        Err(format!("it has more than {MAX_FILLED_BYTES} bytes"))
    } else {
        Ok(text)
    }
}

fn read(path: &Path, most: usize) -> Result<String, String> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|e| e.to_string())?;
    file.take(most as u64).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        // The limit may have split a character; a text that is too long is refused because of its length.
        Err(e) if e.as_bytes().len() == most => Ok(String::from_utf8_lossy(e.as_bytes()).into_owned()),
        Err(e) => {
            let sound = String::from_utf8_lossy(&e.as_bytes()[..e.utf8_error().valid_up_to()]);
            Err(format!("it is not UTF-8 text (see line {})", sound.matches('\n').count() + 1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_is_a_configuration() {
        let settings = Settings::of_text(DEMO, "demo", Path::new(""), None).unwrap();
        assert!(settings.notes.is_empty());
        assert!(settings.config.mcp_servers.contains_key("demo"));
    }

    #[test]
    fn a_url_is_taken_as_it_is() {
        let settings = Settings::of_url("http://h.example/${A}?x=1").unwrap();
        let config::Link::Http(link) = &settings.config.mcp_servers["remote"].link else {
            panic!("no URL");
        };
        assert_eq!(link.url.expose(), "http://h.example/${A}?x=1");
        assert!(matches!(Settings::of_url("ftp://h"), Err(Failure::Config(_))));
    }
}
