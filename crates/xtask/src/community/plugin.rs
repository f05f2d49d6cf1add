//! A plugin's folder, and a site that runs it.

use super::last_line;
use crate::root;
use crate::run::Log;
use crate::sites::{Database, Site, copy, main_file};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The raised limits of PHP, because some steps of the set-up load a whole plugin at once.
const LIMITS: [&str; 4] = ["-d", "memory_limit=1G", "-d", "max_execution_time=300"];
/// The number of bytes from the end of PHP's log that are shown.
const LATEST: usize = 20_000;

/// A community plugin from a folder.
#[derive(Debug)]
pub(super) struct Plugin {
    /// The tools for the plugin, as named in a configuration.
    pub(super) tools: &'static str,
    /// The enabled groups of these tools, if groups can be selected.
    pub(super) phases: Option<&'static [&'static str]>,
    /// The plugin's folder among the site's plugins.
    name: &'static str,
    /// The plugin's main file.
    main: &'static str,
    tree: PathBuf,
    with: Vec<PathBuf>,
}

impl Plugin {
    /// Detects the plugin in a folder.
    pub(super) fn read(tree: &Path, with: Vec<&Path>) -> Result<Self, String> {
        if tree.join("woocommerce.php").exists() {
            let (tree, with) = (tree.to_owned(), with.into_iter().map(Path::to_owned).collect());
            let phases: &[&str] = &["core", "write"];
            let main = "woocommerce.php";
            return Ok(Self {
                tools: "woocommerce",
                phases: Some(phases),
                name: "woocommerce",
                main,
                tree,
                with,
            });
        }
        let main = "bp-loader.php";
        let loader = tree.join(main);
        let text = fs::read_to_string(&loader).map_err(|error| format!("{}: {error}", loader.display()))?;
        let (tree, with) = (tree.to_owned(), with.into_iter().map(Path::to_owned).collect());
        let boss = text.lines().any(|line| line.contains("Plugin Name:") && line.contains("BuddyBoss"));
        Ok(if boss {
            let phases: &[&str] = &["core", "buddyboss", "advanced", "extended"];
            Self { tools: "buddyboss", phases: Some(phases), name: "buddyboss-platform", main, tree, with }
        } else {
            Self { tools: "buddypress", phases: None, name: "buddypress", main, tree, with }
        })
    }

    /// The parts to be installed, in order: each with its folder, its name and its main file.
    fn parts(&self) -> Result<Vec<(&Path, String, String)>, String> {
        let mut parts = vec![(self.tree.as_path(), self.name.to_owned(), self.main.to_owned())];
        for folder in &self.with {
            let name =
                folder.file_name().ok_or("a plugin's folder has a name")?.to_string_lossy().into_owned();
            parts.push((folder, name, main_file(folder)?));
        }
        Ok(parts)
    }
}

/// A site with such a plugin.
pub(super) struct Community {
    /// The plugin and its version.
    pub(super) title: String,
    /// The site.
    pub(super) site: Site,
}

impl Community {
    /// Starts a site. If `early` is true, the site accepts application passwords from the start of a request.
    pub(super) fn start(
        name: &str,
        plugin: &Plugin,
        early: bool,
        wordpress: &Path,
        folder: &Path,
        database: &Database,
        log: &Log,
    ) -> Result<Self, String> {
        let site = Site::start(name, wordpress, folder, database, log)?;
        let set_up = |main: &str, step: &str| {
            let mut php = site.php();
            php.args(LIMITS).arg(file("setup.php")).arg(wordpress).args([main, step]);
            log.run(&mut php)
        };
        let mut told = Value::Null;
        for (number, (tree, name, main)) in plugin.parts()?.into_iter().enumerate() {
            copy(tree, &site, &name, log)?;
            let main = format!("{name}/{main}");
            set_up(&main, "activate")?;
            if number == 0 {
                set_up(&main, "components")?;
                told = last_line(&set_up(&main, "tables")?)?;
            }
        }
        let always = site.folder().join("content/mu-plugins");
        let said = |error: std::io::Error| format!("{}: {error}", always.display());
        fs::create_dir_all(&always).map_err(said)?;
        for script in ["made.php", "shop.php", "early.php"].into_iter().take(if early { 3 } else { 2 }) {
            fs::copy(file(script), always.join(script)).map_err(said)?;
        }
        let word = |pointer: &str| told.get(pointer).and_then(Value::as_str).unwrap_or("?").to_owned();
        let core = site.told.get("version").and_then(Value::as_str).unwrap_or("?");
        let title = format!("{} {} on WordPress {core}", word("plugin"), word("version"));
        Ok(Self { title, site })
    }

    /// Writes the output of the site and its PHP into the log.
    pub(super) fn tell(&self, log: &Log) {
        self.site.tell(log);
        let said = fs::read(self.site.folder().join("php.log")).unwrap_or_default();
        let latest = said.get(said.len().saturating_sub(LATEST)..).unwrap_or_default();
        log.note(&format!("--- the site's PHP, at last:\n{}\n---", String::from_utf8_lossy(latest)));
    }
}

fn file(script: &str) -> PathBuf {
    root::checkout().join("tests/community/php").join(script)
}
