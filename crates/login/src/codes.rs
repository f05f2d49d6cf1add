//! Authorization codes. A client receives a code through the browser, and exchanges it for tokens (OAuth 2.1, 4.1.2
//! and 4.1.3). This module must not know tokens.

use std::collections::HashMap;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use store::grants::ProfileNames;
use tokio::time::Instant;

use crate::random::{self, NoEntropy};

/// The time for which a code is valid.
const LIFE: Duration = Duration::from_mins(1);
/// The time for which a used code is remembered, so that a second use is detected.
const REMEMBERED: Duration = Duration::from_mins(10);
/// The maximum number of remembered codes; above it, the oldest code is dropped.
const MOST: usize = 4096;

/// A code, by its digest.
#[derive(Debug)]
struct Code {
    grant: String,
    profiles: Option<ProfileNames>,
    client: String,
    redirect_uri: String,
    challenge: String,
    made: Instant,
    is_spent: bool,
}

/// The grant of a new code, and the profiles for which the grant's tokens are valid.
pub(crate) struct GrantCode<'a> {
    pub(crate) grant: &'a str,
    pub(crate) profiles: Option<ProfileNames>,
}

/// All codes.
#[derive(Debug, Default)]
pub(crate) struct Codes(HashMap<[u8; 32], Code>);

/// The proof that a client presents to exchange a code.
#[derive(Clone, Copy)]
pub(crate) struct CodeProof<'a> {
    pub(crate) code: &'a str,
    pub(crate) client: &'a str,
    /// `None` if the client sends none: OAuth 2.1 has removed this parameter.
    pub(crate) redirect_uri: Option<&'a str>,
    pub(crate) verifier: &'a str,
}

/// The outcome of an exchange.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ExchangeOutcome {
    /// The grant of the code, and the profiles for which the grant's tokens are valid.
    Grant(String, Option<ProfileNames>),
    /// The code was used before. Somebody else also has it, so the grant has to end.
    Twice(String),
    /// The code is unknown or expired, or the proof is wrong.
    Invalid,
}

impl Codes {
    /// Creates a code for a grant, in the process with this number.
    ///
    /// # Errors
    /// Fails if the operating system's random number generator fails.
    pub(crate) fn make(
        &mut self,
        GrantCode { grant, profiles }: GrantCode<'_>,
        (client, redirect_uri, challenge): (&str, &str, &str),
        process: u32,
    ) -> Result<SecretString, NoEntropy> {
        let (now, text) = (Instant::now(), random::text(&random::numbered(process))?);
        self.0.retain(|_, code| now < code.made + REMEMBERED);
        if self.0.len() >= MOST
            && let Some(oldest) = self.0.iter().min_by_key(|(_, code)| code.made).map(|(digest, _)| *digest)
        {
            self.0.remove(&oldest);
        }
        let code = Code {
            grant: grant.to_owned(),
            profiles,
            client: client.to_owned(),
            redirect_uri: redirect_uri.to_owned(),
            challenge: challenge.to_owned(),
            made: now,
            is_spent: false,
        };
        self.0.insert(random::digest_of(text.expose_secret()), code);
        Ok(text)
    }

    /// Exchanges a code. A code can be exchanged only once, even if the proof is wrong, so somebody who has the
    /// code but not the proof gets only one attempt.
    pub(crate) fn exchange(&mut self, proof: CodeProof<'_>) -> ExchangeOutcome {
        let Some(code) = self.0.get_mut(&random::digest_of(proof.code)) else {
            return ExchangeOutcome::Invalid;
        };
        if code.client != proof.client {
            return ExchangeOutcome::Invalid;
        }
        if std::mem::replace(&mut code.is_spent, true) {
            return ExchangeOutcome::Twice(code.grant.clone());
        }
        let is_proven = Instant::now() < code.made + LIFE
            && proof.redirect_uri.is_none_or(|uri| uri == code.redirect_uri)
            && (43..=128).contains(&proof.verifier.len())
            && random::is_same(
                &SecretString::from(code.challenge.clone()),
                &random::challenge_of(proof.verifier),
            );
        if is_proven {
            ExchangeOutcome::Grant(code.grant.clone(), code.profiles.clone())
        } else {
            ExchangeOutcome::Invalid
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7636, appendix B.
    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    fn made(codes: &mut Codes) -> String {
        codes
            .make(GrantCode { grant: "g", profiles: None }, ("c", "https://a.example/", CHALLENGE), 0)
            .unwrap()
            .expose_secret()
            .to_owned()
    }

    fn proof(code: &str) -> CodeProof<'_> {
        CodeProof { code, client: "c", redirect_uri: Some("https://a.example/"), verifier: VERIFIER }
    }

    #[tokio::test(start_paused = true)]
    async fn a_code_is_exchanged_once() {
        let mut codes = Codes::default();
        let code = made(&mut codes);
        assert_eq!(codes.exchange(proof(&code)), ExchangeOutcome::Grant("g".to_owned(), None));
        assert_eq!(codes.exchange(proof(&code)), ExchangeOutcome::Twice("g".to_owned()));
        assert_eq!(codes.exchange(proof("other")), ExchangeOutcome::Invalid);
        let late = made(&mut codes);
        tokio::time::advance(LIFE).await;
        assert_eq!(codes.exchange(proof(&late)), ExchangeOutcome::Invalid);
    }

    #[tokio::test(start_paused = true)]
    async fn a_code_needs_every_part_of_its_proof() {
        let mut codes = Codes::default();
        let verifier = VERIFIER.replace('d', "e");
        for wrong in [
            CodeProof { verifier: &verifier, ..proof("") },
            CodeProof { verifier: "", ..proof("") },
            CodeProof { redirect_uri: Some("https://b.example/"), ..proof("") },
        ] {
            let code = made(&mut codes);
            assert_eq!(codes.exchange(CodeProof { code: &code, ..wrong }), ExchangeOutcome::Invalid);
        }
        let code = made(&mut codes);
        assert_eq!(codes.exchange(CodeProof { client: "d", ..proof(&code) }), ExchangeOutcome::Invalid);
        let without = CodeProof { redirect_uri: None, ..proof(&code) };
        assert_eq!(
            codes.exchange(without),
            ExchangeOutcome::Grant("g".to_owned(), None),
            "another client spends no code"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn codes_are_bounded() {
        let mut codes = Codes::default();
        for _ in 0..MOST + 10 {
            made(&mut codes);
        }
        assert_eq!(codes.0.len(), MOST);
    }
}
