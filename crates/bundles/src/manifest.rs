//! The manifest of a bundle: the server that it describes, and the settings that it asks for. Unknown members are ignored. This module must
//! not know the machine on which the server runs.

use serde_json::{Map, Value};

/// A manifest that cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ManifestError {
    /// The text is not JSON.
    #[error("its manifest.json is not JSON: {0}")]
    NotJson(String),
    /// A member is missing or has another type than the specification demands.
    #[error("its manifest.json has no valid `{0}`")]
    Invalid(&'static str),
    /// The type of the server is unknown to Dragoman.
    #[error("its server has the unknown type {0:?}; Dragoman supports node, python, binary and uv")]
    UnknownType(String),
}

/// The description of a bundle.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// The name for programs.
    pub name: String,
    /// The name for people; `name` if the manifest has no separate one.
    pub display_name: String,
    /// The version of the bundle.
    pub version: String,
    /// A sentence about the server.
    pub description: String,
    /// The settings that the server asks for, in the manifest's order.
    pub settings: Vec<Setting>,
    pub(crate) program: Program,
    /// The file that the program runs, or the program itself.
    pub(crate) entry_point: String,
    /// The member `mcp_config`, if there is one.
    pub(crate) command: Map<String, Value>,
    /// The platforms on which the server runs, as Node names them; empty for all.
    pub(crate) platforms: Vec<String>,
}

/// The kind of program that a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    Node,
    Python,
    Binary,
    Uv,
}

/// A setting that a server asks for (`user_config`).
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The key.
    pub name: String,
    /// A name or a sentence for people.
    pub title: String,
    /// True if the server does not start without this setting.
    pub required: bool,
    /// True if the value is a secret.
    pub sensitive: bool,
    /// True if the setting can have several values.
    pub multiple: bool,
    /// The value that applies if the user gives none.
    pub default: Option<Value>,
    pub(crate) form: SettingForm,
}

/// The form of a setting's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum SettingForm {
    /// Text, a file or a folder.
    Text,
    /// A number within bounds.
    Number { least: Option<f64>, most: Option<f64> },
    /// `true` or `false`.
    Boolean,
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors Returns an error if a required member is missing or has another type.
    pub fn parse(text: &[u8]) -> Result<Self, ManifestError> {
        let root: Value =
            serde_json::from_slice(text).map_err(|error| ManifestError::NotJson(error.to_string()))?;
        let text = |name: &'static str| {
            root[name].as_str().filter(|text| !text.is_empty()).ok_or(ManifestError::Invalid(name))
        };
        let server = root["server"].as_object().ok_or(ManifestError::Invalid("server"))?;
        let program = match server.get("type").and_then(Value::as_str) {
            Some("node") => Program::Node,
            Some("python") => Program::Python,
            Some("binary") => Program::Binary,
            Some("uv") => Program::Uv,
            Some(other) => return Err(ManifestError::UnknownType(other.to_owned())),
            None => return Err(ManifestError::Invalid("server.type")),
        };
        let entry_point = server.get("entry_point").and_then(Value::as_str);
        let settings = root["user_config"].as_object().into_iter().flatten();
        let platforms = root["compatibility"]["platforms"].as_array().into_iter().flatten();
        Ok(Self {
            name: text("name")?.to_owned(),
            display_name: text("display_name").or_else(|_| text("name"))?.to_owned(),
            version: text("version")?.to_owned(),
            description: root["description"].as_str().unwrap_or_default().to_owned(),
            settings: settings.map(|(name, setting)| Setting::parse(name, setting)).collect(),
            program,
            entry_point: entry_point.ok_or(ManifestError::Invalid("server.entry_point"))?.to_owned(),
            command: server.get("mcp_config").and_then(Value::as_object).cloned().unwrap_or_default(),
            platforms: platforms.filter_map(Value::as_str).map(str::to_owned).collect(),
        })
    }
}

impl Manifest {
    /// The command as the manifest writes it, with its variables; the command for this platform may differ.
    pub fn shown_command(&self) -> String {
        let (usual, usual_args) = self.usual_command();
        let command = self.command.get("command").and_then(Value::as_str).map_or(usual, str::to_owned);
        let args = self.command.get("args").and_then(Value::as_array);
        let args = args
            .map_or(usual_args, |args| args.iter().filter_map(Value::as_str).map(str::to_owned).collect());
        std::iter::once(command).chain(args).collect::<Vec<_>>().join(" ")
    }

    /// Returns the command for a manifest without one: the program that runs entry points of this type, and the
    /// entry point.
    pub(crate) fn usual_command(&self) -> (String, Vec<String>) {
        let entry = format!("${{__dirname}}/{}", self.entry_point);
        match self.program {
            Program::Node => ("node".to_owned(), vec![entry]),
            Program::Python => ("python3".to_owned(), vec![entry]),
            Program::Binary => (entry, Vec::new()),
            Program::Uv => {
                let args = ["run", "--directory", "${__dirname}", &entry];
                ("uv".to_owned(), args.map(str::to_owned).to_vec())
            }
        }
    }
}

impl Setting {
    fn parse(name: &str, setting: &Value) -> Self {
        let flag = |member: &str| setting[member].as_bool().unwrap_or_default();
        let title = ["title", "description"].iter().find_map(|member| setting[*member].as_str());
        Self {
            name: name.to_owned(),
            title: title.unwrap_or(name).to_owned(),
            required: flag("required"),
            sensitive: flag("sensitive"),
            multiple: flag("multiple"),
            default: setting.get("default").filter(|value| !value.is_null()).cloned(),
            form: match setting["type"].as_str() {
                Some("number") => {
                    SettingForm::Number { least: setting["min"].as_f64(), most: setting["max"].as_f64() }
                }
                Some("boolean") => SettingForm::Boolean,
                _ => SettingForm::Text,
            },
        }
    }
}
