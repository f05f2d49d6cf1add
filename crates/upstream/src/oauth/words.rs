//! What is said of a server's refusals, and of what it says, without tokens. It must not know how those are come by.

use transport::up::Refusal;

use super::grant::Grant;
use super::secret::Secret;

impl Grant {
    /// What is said of a refusal: the same, without the token, and what is to be done.
    pub fn told(&self, refusal: &Refusal, said: &str) -> String {
        let said = self.concealed(said.to_owned());
        if self.is_wanted() {
            return "wants the consent of its user first".to_owned();
        }
        // Who speaks of no bearer tokens is not understood to want any.
        let wants_tokens = refusal.challenge.to_ascii_lowercase().contains("bearer");
        match self.why_not().filter(|_| wants_tokens) {
            Some(why) => {
                format!("{said} (it wants the consent of its user, but nobody can be asked for it: {why})")
            }
            None => said,
        }
    }

    /// A text of the server's, which may have the token in it, without that.
    pub fn concealed(&self, text: String) -> String {
        let known = self.known.lock();
        let Some(held) = &known.held else { return text };
        let secrets = [Some(&held.tokens.access), held.tokens.refresh.as_ref()];
        let all = secrets.into_iter().flatten().map(Secret::expose);
        all.fold(text, |text, secret| if text.contains(secret) { text.replace(secret, "***") } else { text })
    }
}
