//! Messages about a server's refusals, including the server's own messages, without tokens. This module must not know
//! how tokens are obtained.

use transport::up::CredentialRefusal;

use super::grant::Grant;
use super::secret::Secret;

impl Grant {
    /// Returns the message for a refusal: the server's message without the token, and the next step.
    pub fn describe(&self, refusal: &CredentialRefusal, said: &str) -> String {
        let said = self.concealed(said.to_owned());
        if self.is_wanted() {
            return "requires the consent of its user first".to_owned();
        }
        let postponed = self.known.lock().postponed.clone();
        if let Some(why) = postponed {
            return format!("{said} ({why})");
        }
        // If a challenge does not name bearer tokens, the server is assumed to want none.
        let wants_tokens = refusal.challenge.to_ascii_lowercase().contains("bearer");
        if self.config.is_machine() {
            let why =
                self.why_not().map(|why| format!(" (it requires a token, and Dragoman got none: {why})"));
            return format!("{said}{}", why.unwrap_or_default());
        }
        match self.why_not().filter(|_| wants_tokens) {
            Some(why) => {
                format!("{said} (it requires the consent of its user, which cannot be requested: {why})")
            }
            None => said,
        }
    }

    /// Returns a text of the server from which the token has been removed.
    pub fn concealed(&self, text: String) -> String {
        let known = self.known.lock();
        let Some(held) = &known.held else { return text };
        let secrets = [Some(&held.tokens.access), held.tokens.refresh.as_ref()];
        let all = secrets.into_iter().flatten().map(Secret::expose);
        all.fold(text, |text, secret| if text.contains(secret) { text.replace(secret, "***") } else { text })
    }
}
