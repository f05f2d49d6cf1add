//! Files that a service returns, in the form in which the answer to a call contains them. This module must not know
//! the purpose of a file.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::environment::Run;
use super::file;
use super::unread::{self, UnreadableKind};
use crate::port::{HttpRequest, HttpResponse};
use crate::tools::{CallFailure, Condition};

/// The size limit of a file, divided by the size limit of other answers. WordPress's default theme alone reaches
/// the limit of other answers.
const LARGER: usize = 2;
const ZIP: &str = "application/zip";

impl Run<'_> {
    /// The answer to a request as a file: its `uri`, `name`, `mimeType`, `size` in bytes, and its content in base64
    /// as `blob`.
    ///
    /// # Errors
    /// Fails if the request fails, or if its answer is empty, too large, a web page or data.
    pub(super) async fn brought(
        &mut self,
        base: &'static str,
        digest: Option<[u8; 32]>,
        mut request: HttpRequest,
    ) -> Result<Value, CallFailure> {
        request.most = self.environment.limits.answer.saturating_mul(LARGER);
        let uri = request.url.split('?').next().unwrap_or_default().to_owned();
        let response = self.response(base, request).await;
        let response = response.inspect_err(|failure| self.environment.note_failure(failure, digest))?;
        let body = response.body.clone();
        let no = || {
            let hint = self.environment.places.unread(unread::kind(&body));
            let words = format!("the site's answer is not a file ({hint})");
            CallFailure::new(Condition::UpstreamError, words)
        };
        if body.is_empty() || unread::kind(&body) == UnreadableKind::Page {
            return Err(no());
        }
        let name = said_name(&response);
        let kind = response.header("content-type").map(str::to_owned);
        let found = file::fetched(&uri, kind.as_deref(), &body).map_err(|_| no())?;
        // Text that a site prints before a file, such as a notice, makes the file unusable.
        if found.mime == ZIP && !body.starts_with(b"PK") {
            return Err(no());
        }
        let name = name.map_or(found.name, |name| file::file_name(&name, &found.mime));
        let mut said = json!({"uri": uri, "name": name, "mimeType": found.mime, "size": body.len()});
        // The text is moved into the object rather than copied, because it is large.
        said["blob"] = Value::String(STANDARD.encode(&body));
        Ok(said)
    }
}

/// The file name in a response's `Content-Disposition` header (RFC 6266, `filename`).
fn said_name(response: &HttpResponse) -> Option<String> {
    let said = response.header("content-disposition")?;
    let name = said.split(';').skip(1).find_map(|part| part.trim().strip_prefix("filename="))?;
    Some(name.trim().trim_matches('"').to_owned())
}
