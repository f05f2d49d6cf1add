//! The configuration of this run: where it lies, reading it, filling in `${…}`. The impure part of `engine::config`.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::config::{
    Config, Fault, Link, Loaded, Lookup, MAX_FILE_BYTES, MAX_FILLED_BYTES, NativeLink, load_knowing,
};
use serde_json::json;

use crate::gateway::reload::Origin;
use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::preset::Preset;
use upstream::embedded::offered;

/// The names of a configuration file, in the order in which they are tried.
const NAMES: [&str; 3] = ["dragoman.yaml", "dragoman.yml", "dragoman.json"];

/// What is served when nobody configured anything.
const DEMO: &str =
    "mcpServers:\n  demo: { native: demo }\nprofiles:\n  default: { servers: [demo], names: plain }\n";

/// A configuration and where it comes from.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The configuration.
    pub(crate) config: Config,
    /// Its file; `None` for the embedded demo.
    pub(crate) file: Option<PathBuf>,
    /// What is worth knowing about it.
    pub(crate) notes: Vec<Fault>,
    /// The line of the file's first secret that stands there itself.
    pub(crate) literal_secret: Option<usize>,
}

impl Settings {
    /// The configuration that a command uses; its notes are said.
    ///
    /// # Errors
    /// When it cannot be read, or is refused.
    pub(crate) fn read(explicit: Option<&Path>, console: &Console) -> Result<Self, Failure> {
        let settings = Self::load(explicit)?;
        settings.note(console);
        Ok(settings)
    }

    /// Lets requests name sites at addresses that are not public, wherever they may name one.
    pub(crate) fn allow_private_sites(&mut self) {
        for server in self.config.mcp_servers.values_mut() {
            if let Link::Native(NativeLink { site: Some(site), .. }) = &mut server.link {
                site.private_sites = true;
            }
        }
    }

    /// Says what is worth knowing about it.
    pub(crate) fn note(&self, console: &Console) {
        for note in &self.notes {
            console.note(&format!("{note}\n"));
        }
    }

    /// The configuration that a command uses.
    ///
    /// # Errors
    /// As [`Settings::read`].
    pub(crate) fn load(explicit: Option<&Path>) -> Result<Self, Failure> {
        let found = explicit.map(Path::to_path_buf).or_else(|| find(&places()));
        match found {
            Some(file) => Self::of_file(file, None),
            None => Self::of_text(DEMO, "the embedded demo", Path::new(""), None),
        }
    }

    /// A preset, extended by what a file says.
    ///
    /// # Errors
    /// As [`Settings::read`].
    fn load_preset(preset: Preset, explicit: Option<&Path>) -> Result<Self, Failure> {
        let name = format!("the preset {}", preset.name);
        let mut settings = Self::of_text(preset.text, &name, Path::new(""), None)?;
        if let Some(file) = explicit {
            settings = Self::of_file(file.to_path_buf(), Some(settings.config))?;
        }
        Ok(settings)
    }

    /// A configuration with one server that is reached at a URL, under its own names.
    ///
    /// # Errors
    /// When the URL is none.
    pub(crate) fn of_url(url: &str) -> Result<Self, Failure> {
        // Nothing in a URL of the command line stands for something else.
        let url = url.replace("${", "$${");
        let text = json!({
            "mcpServers": {"remote": {"url": url}},
            "profiles": {"default": {"servers": ["remote"], "names": "plain"}},
        });
        Self::of_text(&text.to_string(), "the URL of the command line", Path::new(""), None)
    }

    /// What a file says, or makes of another configuration.
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
        Ok(Self { config, file, notes, literal_secret })
    }

    /// The file as a client of another folder has to write it.
    pub(crate) fn absolute_file(&self) -> Option<PathBuf> {
        let file = self.file.as_ref()?;
        Some(fs::canonicalize(file).unwrap_or_else(|_| file.clone()))
    }
}

/// The text of a configuration's file.
fn text_of(file: &Path) -> Result<String, Failure> {
    let cannot = |why: String| {
        let mend = "name another file with --config, or leave it out to serve the demo";
        Failure::usage(format!("cannot read the configuration {}: {why}", file.display())).mend(mend)
    };
    // One byte more than allowed is enough for the loader to say that it is too much.
    read(file, MAX_FILE_BYTES + 1).map_err(cannot)
}

/// Prints a preset, and the file that is laid over it.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn show(preset: Preset, over: Option<&Path>, console: &Console) -> Result<(), Failure> {
    let Some(file) = over else { return console.print(preset.text.trim_end()) };
    let text = text_of(file)?;
    let name = file.display();
    console.print(&format!(
        "# The preset {}:\n{}\n---\n# What {name} says over it:\n{}",
        preset.name,
        preset.text.trim_end(),
        text.trim_end()
    ))
}

/// Where a configuration comes from, so that it can be read again.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    preset: Option<Preset>,
    file: Option<PathBuf>,
}

impl Source {
    /// A preset or none, and the file that the command line names or that is found.
    pub(crate) fn of(preset: Option<Preset>, explicit: Option<&Path>) -> Self {
        let file = explicit.map(Path::to_path_buf);
        let file = file.or_else(|| if preset.is_none() { find(&places()) } else { None });
        Self { preset, file }
    }

    /// Reads it.
    ///
    /// # Errors
    /// As [`Settings::read`].
    pub(crate) fn load(&self) -> Result<Settings, Failure> {
        match self.preset {
            Some(preset) => Settings::load_preset(preset, self.file.as_deref()),
            None => Settings::load(self.file.as_deref()),
        }
    }

    /// Where it comes from again while serving; `fitted` makes of it what the command line wants. `None` where it is in no
    /// file.
    pub(crate) fn origin(
        &self,
        settings: &Settings,
        fitted: impl Fn(Settings) -> Result<Settings, Failure> + Send + Sync + 'static,
    ) -> Option<Origin> {
        let (source, file) = (self.clone(), settings.file.clone()?);
        let read = move || {
            let settings = source.load().and_then(&fitted).map_err(|failure| failure.told())?;
            for note in &settings.notes {
                tracing::warn!("{note}");
            }
            Ok(settings.config)
        };
        Some(Origin { read: Arc::new(read), file: Some(file) })
    }
}

/// The folders where a configuration is looked for: this one, and the user's for configuration.
fn places() -> Vec<PathBuf> {
    let user = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute())
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")));
    std::iter::once(PathBuf::new()).chain(user.map(|folder| folder.join("dragoman"))).collect()
}

fn find(places: &[PathBuf]) -> Option<PathBuf> {
    places.iter().flat_map(|folder| NAMES.map(|name| folder.join(name))).find(|path| path.is_file())
}

/// The content for `${file:path}`; a relative path counts from the configuration's folder.
fn filled(folder: &Path, path: &str) -> Result<String, String> {
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
        // The cap may have cut a character in two; what is too long is refused for that.
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
        let engine::config::Link::Http(link) = &settings.config.mcp_servers["remote"].link else {
            panic!("no URL");
        };
        assert_eq!(link.url.expose(), "http://h.example/${A}?x=1");
        assert!(matches!(Settings::of_url("ftp://h"), Err(Failure::Config(_))));
    }
}
