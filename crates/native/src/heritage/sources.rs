//! The addresses of the services, and the form of their errors. Only the configuration determines hosts.

use serde_json::Value;

use super::Settings;
use crate::port::HttpResponse;
use crate::rest::{RequestTarget, RequestTargets, base_url};
use crate::server::Mapped;
use crate::tools::{CallFailure, Condition, Values};

const LANGUAGE: &str = "{language}";

/// The services by the names that rows use for them.
pub(super) struct Sources(Vec<(&'static str, String)>);

impl Sources {
    /// Creates the services with the configured addresses.
    ///
    /// # Errors
    /// Fails if a URL is invalid.
    pub(super) fn new(settings: &Settings) -> Result<Self, String> {
        let rows: [(&'static str, &Option<String>, &str); 4] = [
            ("wikipedia", &settings.wikipedia, "https://{language}.wikipedia.org"),
            ("snl", &settings.snl, "https://snl.no"),
            ("riksantikvaren", &settings.riksantikvaren, "https://api.ra.no"),
            ("arcgis", &settings.arcgis, "https://kart.ra.no/arcgis"),
        ];
        let mut sources = Vec::new();
        for (name, configured, usual) in rows {
            let text = configured.as_deref().unwrap_or(usual);
            // For the check, a word replaces the placeholder of the language; the placeholder is restored afterwards.
            let word = "language-goes-here";
            let url = base_url(&text.replace(LANGUAGE, word)).map_err(|why| format!("{name}: {why}"))?;
            sources.push((name, url.replace(word, LANGUAGE)));
        }
        Ok(Self(sources))
    }
}

impl RequestTargets for Sources {
    fn place(
        &self,
        base: &str,
        values: &Values,
        _mapped: Option<&Mapped>,
    ) -> Result<RequestTarget, CallFailure> {
        let found = self.0.iter().find(|(name, _)| *name == base).map(|(_, url)| url.as_str());
        let url = found.unwrap_or_default();
        let url =
            if url.contains(LANGUAGE) { url.replace(LANGUAGE, language(values)?) } else { url.to_owned() };
        Ok(RequestTarget { url, authorization: None, public_only: false, is_fixed_host: true, entry: None })
    }

    fn failure(&self, base: &str, response: &HttpResponse) -> CallFailure {
        let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let said = ["/description", "/detail", "/error/message", "/message"]
            .iter()
            .find_map(|at| body.pointer(at).and_then(Value::as_str))
            .map(|text| format!(": {}", text.chars().take(300).collect::<String>()));
        let message = match response.status {
            404 => format!("{base} has no item with this name (HTTP 404)"),
            429 => format!("{base} limits the request rate (HTTP 429): try again in a minute"),
            status => format!("{base} answered HTTP {status}{}", said.unwrap_or_default()),
        };
        CallFailure::new(Condition::UpstreamError, message).with("status", response.status)
    }

    fn refused(&self, base: &str, answer: &Value) -> Option<CallFailure> {
        let error = answer.get("error")?;
        let said = ["info", "message"].iter().find_map(|name| error.get(name).and_then(Value::as_str));
        let said: String = said.unwrap_or("an error without a message").chars().take(300).collect();
        Some(CallFailure::new(Condition::UpstreamError, format!("{base} answered: {said}")))
    }
}

/// The requested language, which becomes part of a host's name.
fn language(values: &Values) -> Result<&str, CallFailure> {
    let code = values.text("language");
    let fits = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    if code.len() <= 20 && code.split('-').all(fits) {
        return Ok(code);
    }
    Err(CallFailure::arguments("the argument \"language\" must be a code such as no, nn or en"))
}
