//! The command that starts the server of an unpacked bundle: the manifest's command with its variables filled in. This module must not know
//! where the values of settings come from.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::manifest::{Manifest, Setting, SettingForm};

/// The values that a user gives, by the names of the settings. A setting has one value or several.
pub type SettingValues = BTreeMap<String, Vec<String>>;

/// The machine on which the server starts.
#[derive(Debug, Clone)]
pub struct Host {
    /// The absolute path of the folder with the bundle's files.
    pub folder: String,
    /// The user's home folder.
    pub home: String,
    /// The platform as Node names it: `linux`, `darwin`.
    pub platform: &'static str,
}

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// A path, or a name that is looked up in `PATH`.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Environment variables, in addition to the usual ones.
    pub env: BTreeMap<String, String>,
}

/// The reason why a server cannot be started.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum LaunchError {
    /// The server does not run on this platform.
    #[error("its server runs only on {0}")]
    OtherPlatform(String),
    /// A required setting has no value.
    #[error("it needs the setting `{name}` ({title})")]
    Missing {
        /// The name of the setting.
        name: String,
        /// Its meaning, for people.
        title: String,
    },
    /// The bundle has no such setting.
    #[error("it has no setting `{name}`; its settings are: {known}")]
    Unknown {
        /// The name that was given.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// The value of a setting has the wrong form.
    #[error("the setting `{name}` must be {expected}")]
    Unfit {
        /// The name of the setting.
        name: String,
        /// A description of the expected form.
        expected: String,
    },
}

impl Manifest {
    /// Returns the command with its variables filled in, for a machine and the values of a user.
    ///
    /// # Errors
    /// Returns an error if the server does not run on the platform, or if a setting is missing, unknown or invalid.
    pub fn launch(&self, host: &Host, values: &SettingValues) -> Result<Launch, LaunchError> {
        if !self.platforms.is_empty() && !self.platforms.iter().any(|name| name == host.platform) {
            return Err(LaunchError::OtherPlatform(self.platforms.join(", ")));
        }
        let settings = self.settings(host, values)?;
        let command = self.command_for(host.platform);
        let filled = |text: &str| fill(text, host, &settings);
        let (usual, usual_args) = self.usual_command();
        let program = command.get("command").and_then(Value::as_str).map_or(usual, str::to_owned);
        let args: Vec<String> = match command.get("args").and_then(Value::as_array) {
            Some(args) => args.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            None => usual_args,
        };
        let mut env = BTreeMap::new();
        for (name, value) in command.get("env").and_then(Value::as_object).into_iter().flatten() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            // The variable for an optional setting without a value stays unset, instead of being set to an empty text.
            if alone(&text).is_some_and(|name| !settings.contains_key(name)) {
                continue;
            }
            env.insert(name.clone(), filled(&text));
        }
        Ok(Launch {
            program: located(&filled(&program), &host.folder),
            args: args.iter().flat_map(|arg| spread(arg, host, &settings)).collect(),
            env,
        })
    }

    /// The command of the manifest, with its overrides for a platform.
    fn command_for(&self, platform: &str) -> Map<String, Value> {
        let mut command = self.command.clone();
        if let Some(overrides) =
            self.command.get("platform_overrides").and_then(|all| all[platform].as_object())
        {
            for (key, value) in overrides {
                match (command.get_mut(key).and_then(Value::as_object_mut), value.as_object()) {
                    (Some(members), Some(changed)) => members.extend(changed.clone()),
                    _ => drop(command.insert(key.clone(), value.clone())),
                }
            }
        }
        command
    }

    /// Returns the values of all settings: the given value, or else the default. Settings with neither are left
    /// out.
    fn settings(&self, host: &Host, values: &SettingValues) -> Result<SettingValues, LaunchError> {
        if let Some(name) = values.keys().find(|name| !self.settings.iter().any(|one| one.name == **name)) {
            let known: Vec<&str> = self.settings.iter().map(|setting| setting.name.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(LaunchError::Unknown { name: name.clone(), known });
        }
        let mut all = SettingValues::new();
        for setting in &self.settings {
            let given =
                values.get(&setting.name).filter(|values| values.iter().any(|value| !value.is_empty()));
            let value = match (given, &setting.default) {
                (Some(given), _) => setting.checked(given)?,
                (None, Some(default)) => {
                    texts(default).iter().map(|text| fill(text, host, &SettingValues::new())).collect()
                }
                (None, None) if setting.required => {
                    let (name, title) = (setting.name.clone(), setting.title.clone());
                    return Err(LaunchError::Missing { name, title });
                }
                (None, None) => continue,
            };
            all.insert(setting.name.clone(), value);
        }
        Ok(all)
    }
}

impl Setting {
    fn checked(&self, values: &[String]) -> Result<Vec<String>, LaunchError> {
        let unfit = |expected: String| Err(LaunchError::Unfit { name: self.name.clone(), expected });
        if values.len() > 1 && !self.multiple {
            return unfit("one value, not a list".to_owned());
        }
        for value in values {
            match self.form {
                SettingForm::Text => {}
                SettingForm::Boolean if matches!(value.as_str(), "true" | "false") => {}
                SettingForm::Boolean => return unfit("true or false".to_owned()),
                SettingForm::Number { least, most } => {
                    let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
                    let fits = number.is_some_and(|number| {
                        least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most)
                    });
                    if !fits {
                        return unfit(bounds(least, most));
                    }
                }
            }
        }
        Ok(values.to_vec())
    }
}

fn bounds(least: Option<f64>, most: Option<f64>) -> String {
    match (least, most) {
        (Some(least), Some(most)) => format!("a number from {least} to {most}"),
        (Some(least), None) => format!("a number of at least {least}"),
        (None, Some(most)) => format!("a number of at most {most}"),
        (None, None) => "a number".to_owned(),
    }
}

/// A default's values as text.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::String(text) => vec![text.clone()],
        other => vec![other.to_string()],
    }
}

/// Returns the name of a setting if the text consists only of the setting's variable.
fn alone(text: &str) -> Option<&str> {
    text.strip_prefix("${user_config.")?.strip_suffix('}').filter(|name| !name.contains(['$', '}']))
}

/// Returns the arguments that replace one argument of the manifest. An argument that consists only of a setting's
/// variable is replaced by one argument for each value of the setting, or by none if the setting has no value.
fn spread(arg: &str, host: &Host, settings: &SettingValues) -> Vec<String> {
    match alone(arg) {
        Some(name) => settings.get(name).cloned().unwrap_or_default(),
        None => vec![fill(arg, host, settings)],
    }
}

/// Fills in the variables of a text, in one pass: a value that looks like a variable stays as it is. Unknown variables stay too.
fn fill(text: &str, host: &Host, settings: &SettingValues) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else { break };
        let (before, name) = (&rest[..start], &rest[start + 2..start + length]);
        filled.push_str(before);
        match variable(name, host, settings) {
            Some(value) => filled.push_str(&value),
            None => filled.push_str(&rest[start..=start + length]),
        }
        rest = &rest[start + length + 1..];
    }
    filled.push_str(rest);
    filled
}

fn variable(name: &str, host: &Host, settings: &SettingValues) -> Option<String> {
    let below_home = |folder: &str| Some(format!("{}/{folder}", host.home));
    match name {
        "__dirname" => Some(host.folder.clone()),
        "HOME" => Some(host.home.clone()),
        "DESKTOP" => below_home("Desktop"),
        "DOCUMENTS" => below_home("Documents"),
        "DOWNLOADS" => below_home("Downloads"),
        "/" | "pathSeparator" => Some("/".to_owned()),
        _ => {
            let values = settings.get(name.strip_prefix("user_config.")?);
            Some(values.map(|values| values.join(",")).unwrap_or_default())
        }
    }
}

/// Resolves a relative path against the bundle's folder; a plain name stays as it is, to be looked up in `PATH`.
fn located(program: &str, folder: &str) -> String {
    if program.contains('/') && !program.starts_with('/') {
        format!("{folder}/{}", program.trim_start_matches("./"))
    } else {
        program.to_owned()
    }
}

#[cfg(test)]
#[path = "launch_tests.rs"]
mod tests;
