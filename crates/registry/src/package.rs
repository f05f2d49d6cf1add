//! The offers of packages, by the registries that they come from. Adding a kind of packages means adding a row to [`RUNNERS`].

use serde_json::{Map, Value, json};

use super::document::DocumentError;
use super::input::{filled, literal, variable_name};
use super::offer::{Download, Offer, OfferOrigin, Variable};

/// The way to run packages of one registry.
struct Runner {
    origin: OfferOrigin,
    /// The programs that a document may choose; the first one is the default.
    programs: &'static [&'static str],
    /// The program's arguments that precede the package.
    before: &'static [&'static str],
    /// Joins the package's name and its version.
    joined: fn(&str, &str) -> String,
    /// The characters that a package's name may contain in addition to letters and digits.
    allowed: &'static str,
    /// The domains of the registry. A document may name another registry, but the runner would not use it, so such
    /// a package is refused.
    own_domains: &'static [&'static str],
}

const RUNNERS: [Runner; 4] = [
    Runner {
        origin: OfferOrigin::Npm,
        programs: &["npx", "bunx"],
        before: &["-y"],
        joined: |name, version| format!("{name}@{version}"),
        allowed: "@/._~-",
        own_domains: &["npmjs.org"],
    },
    Runner {
        origin: OfferOrigin::PyPi,
        programs: &["uvx"],
        before: &[],
        joined: |name, version| format!("{name}@{version}"),
        allowed: "._-",
        own_domains: &["pypi.org"],
    },
    Runner {
        origin: OfferOrigin::NuGet,
        programs: &["dnx"],
        before: &["--yes"],
        joined: |name, version| format!("{name}@{version}"),
        allowed: "._-",
        own_domains: &["nuget.org"],
    },
    Runner {
        origin: OfferOrigin::Oci,
        programs: &["docker", "podman"],
        before: &["run", "--interactive", "--rm"],
        joined: |name, version| {
            if version.is_empty() { name.to_owned() } else { format!("{name}:{version}") }
        },
        allowed: "./:@_-",
        own_domains: &["docker.io", "ghcr.io", "quay.io", "mcr.microsoft.com"],
    },
];

/// The offer of a package.
///
/// # Errors
/// Returns the reason why the package cannot be used.
pub(crate) fn offer(package: &Value) -> Result<Offer, DocumentError> {
    let word = package["registryType"].as_str().unwrap_or_default();
    let refused = |why: String| DocumentError::Refused(why);
    let origin = OfferOrigin::of_word(word)
        .ok_or_else(|| refused(format!("Dragoman does not support {word:?} packages")))?;
    let identifier = package["identifier"].as_str().unwrap_or_default();
    match package["transport"]["type"].as_str().unwrap_or("stdio") {
        "stdio" => {}
        other => {
            let why =
                format!("the {word} package {identifier:?} serves over {other}: start it, and add its URL");
            return Err(refused(why));
        }
    }
    if origin == OfferOrigin::Mcpb {
        return bundle(package, identifier);
    }
    let runner = RUNNERS.iter().find(|runner| runner.origin == origin);
    let runner = runner.ok_or_else(|| refused(format!("Dragoman cannot run {word:?} packages")))?;
    runner.offer(package, identifier)
}

impl Runner {
    fn offer(&self, package: &Value, identifier: &str) -> Result<Offer, DocumentError> {
        let word = self.origin.word();
        let refused = |why: &str| DocumentError::Refused(format!("the {word} package {identifier:?} {why}"));
        let is_name =
            identifier.starts_with(|char: char| {
                char.is_ascii_alphanumeric() || (char == '@' && self.origin == OfferOrigin::Npm)
            }) && identifier.chars().all(|char| char.is_ascii_alphanumeric() || self.allowed.contains(char));
        if !is_name {
            return Err(refused("has no valid name"));
        }
        let version = self.version(package, identifier).ok_or_else(|| refused("has no exact version"))?;
        if let Some(address) = package["registryBaseUrl"].as_str() {
            let host = address.trim_start_matches("https://").split('/').next().unwrap_or_default();
            let is_own = |domain: &str| {
                host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            };
            if !self.own_domains.iter().any(|domain| is_own(domain)) {
                return Err(refused(&format!(
                    "comes from {address}, which the runner does not use: write the command yourself"
                )));
            }
        }
        let hint = package["runtimeHint"].as_str().unwrap_or_default();
        let program = self.programs.iter().find(|program| **program == hint).or(self.programs.first());
        let (env, mut variables, optional) = environment(package);
        let mut args: Vec<String> = self.before.iter().map(|arg| (*arg).to_owned()).collect();
        let mut add = |list: &str, args: &mut Vec<String>| {
            for argument in package[list].as_array().into_iter().flatten() {
                let (texts, asked) = argument_texts(argument);
                args.extend(texts);
                variables.extend(asked);
            }
        };
        add("runtimeArguments", &mut args);
        if self.origin == OfferOrigin::Oci {
            // The container gets the variables from the runner, so that no secret is among the arguments.
            args.extend(env.keys().flat_map(|name| ["--env".to_owned(), name.clone()]));
        }
        let shown = (self.joined)(identifier, version);
        args.push(shown.clone());
        add("packageArguments", &mut args);
        let mut entry = json!({ "command": program, "args": args });
        if !env.is_empty() {
            entry["env"] = Value::Object(env);
        }
        Ok(Offer { origin: self.origin, shown, entry, variables, optional, download: None })
    }

    /// The exact version of a package; empty for an image whose name contains it.
    fn version<'a>(&self, package: &'a Value, identifier: &str) -> Option<&'a str> {
        let version = package["version"].as_str().unwrap_or_default();
        if self.origin == OfferOrigin::Oci && version.is_empty() {
            let last = identifier.rsplit('/').next().unwrap_or_default();
            return (last.contains([':', '@']) && !last.ends_with(":latest")).then_some("");
        }
        let is_exact = version.starts_with(|char: char| char.is_ascii_alphanumeric())
            && version.chars().all(|char| char.is_ascii_alphanumeric() || ".+-_!".contains(char))
            && version != "latest";
        is_exact.then_some(version)
    }
}

/// The offer of a bundle. The document must contain the bundle's checksum.
fn bundle(package: &Value, identifier: &str) -> Result<Offer, DocumentError> {
    let sha256 = package["fileSha256"].as_str().unwrap_or_default().to_ascii_lowercase();
    let is_sum = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !identifier.starts_with("https://") || !is_sum {
        let why = format!("the bundle {identifier:?} needs an address with https, and a checksum");
        return Err(DocumentError::Refused(why));
    }
    let (env, variables, optional) = environment(package);
    let mut entry = json!({ "sha256": sha256 });
    if !env.is_empty() {
        entry["env"] = Value::Object(env);
    }
    let download = Some(Download { url: identifier.to_owned(), sha256 });
    Ok(Offer {
        origin: OfferOrigin::Mcpb,
        shown: identifier.to_owned(),
        entry,
        variables,
        optional,
        download,
    })
}

/// The environment variables: those with a value, those that the user must set, and the names of all others.
fn environment(package: &Value) -> (Map<String, Value>, Vec<Variable>, Vec<String>) {
    let (mut env, mut variables, mut optional) = (Map::new(), Vec::new(), Vec::new());
    for variable in package["environmentVariables"].as_array().into_iter().flatten() {
        let name = variable["name"].as_str().unwrap_or_default();
        let is_name = !name.starts_with(|char: char| char.is_ascii_digit())
            && !name.is_empty()
            && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
        if !is_name {
            continue;
        }
        match filled(variable, name, "") {
            Some(value) => {
                env.insert(name.to_owned(), value.text().into());
                variables.extend(value.variables);
            }
            None => optional.push(name.to_owned()),
        }
    }
    (env, variables, optional)
}

/// An argument as texts: `--name` and its value, or a value alone; nothing if it is optional and has no value.
fn argument_texts(argument: &Value) -> (Vec<String>, Vec<Variable>) {
    let name = argument["name"].as_str().unwrap_or_default();
    let hint = argument["valueHint"].as_str().unwrap_or(if name.is_empty() { "ARGUMENT" } else { name });
    let value = filled(argument, variable_name(hint.trim_start_matches('-')).as_str(), "");
    let is_named = argument["type"] == "named" && !name.is_empty();
    match (is_named, value) {
        (true, Some(value)) => (vec![literal(name), value.text()], value.variables),
        // A flag without a value.
        (true, None) if argument.get("format").is_none() && argument["isRequired"] == true => {
            (vec![literal(name)], Vec::new())
        }
        (false, Some(value)) => (vec![value.text()], value.variables),
        (_, None) => (Vec::new(), Vec::new()),
    }
}
