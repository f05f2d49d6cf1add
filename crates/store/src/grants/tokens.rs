//! The tokens of grants, as digests.

use rusqlite::{OptionalExtension as _, Transaction, params};

use super::Grants;
use super::accounts::{COLUMNS, StoredGrant, read};
use super::profile_names::{ProfileNames, profiles};
use crate::Error;
use crate::database::{counted, kept};

/// The SHA-256 digest of a token. Tokens are random, so a token cannot be guessed from its digest.
pub type TokenDigest = [u8; 32];

/// The use of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenUse {
    /// An access token.
    Access,
    /// A refresh token, which is replaced when it is used.
    Refresh,
}

/// A token to be stored.
#[derive(Debug, Clone)]
pub struct NewToken {
    /// The token's digest.
    pub digest: TokenDigest,
    /// The use of the token.
    pub token_use: TokenUse,
    /// The time from which the token is no longer valid, in milliseconds since 1970.
    pub until_ms: u64,
    /// The profiles for which the token is valid; `None` for those of its grant.
    pub profiles: Option<ProfileNames>,
}

/// A token that is stored.
#[derive(Debug, Clone)]
pub struct FoundToken {
    /// The grant that the token belongs to; it has not ended.
    pub grant: StoredGrant,
    /// The use of the token.
    pub token_use: TokenUse,
    /// The time from which the token is no longer valid, in milliseconds since 1970.
    pub until_ms: u64,
    /// The time at which the refresh token was replaced, if it was.
    pub spent_ms: Option<u64>,
    /// The profiles for which the token is valid; `None` for all.
    pub profiles: Option<ProfileNames>,
}

impl Grants {
    /// Stores tokens of a grant.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn issue(&mut self, grant: &str, tokens: &[NewToken]) -> Result<(), Error> {
        self.file.write(|file| insert(file, grant, tokens))
    }

    /// Stores tokens that replace a refresh token, and marks the refresh token as replaced now. If it had already
    /// been replaced, its time of replacement becomes 0. This ends the period in which a replaced token is still
    /// accepted, so a third use is refused. Returns true only for the first replacement.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn renew(
        &mut self,
        (grant, spent): (&str, &TokenDigest),
        tokens: &[NewToken],
        now_ms: u64,
    ) -> Result<bool, Error> {
        self.file.write(|file| {
            let update = "UPDATE tokens SET spent_ms = ?2 WHERE digest = ?1 AND spent_ms IS NULL";
            let is_first = file.execute(update, params![spent, kept(now_ms)])? > 0;
            if !is_first {
                file.execute("UPDATE tokens SET spent_ms = 0 WHERE digest = ?1", [&spent[..]])?;
            }
            insert(file, grant, tokens)?;
            Ok(is_first)
        })
    }

    /// Returns the token with this digest and its grant, unless the grant has ended.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn find(&self, digest: &TokenDigest) -> Result<Option<FoundToken>, Error> {
        let query = format!(
            "SELECT {COLUMNS}, renews, until_ms, spent_ms, tokens.profiles FROM tokens JOIN grants ON grants.id = grant_id
             WHERE digest = ?1 AND ended_ms IS NULL"
        );
        let found = self.file.read(|file| {
            let mut query = file.prepare_cached(&query)?;
            let row = query.query_row([&digest[..]], |row| {
                let token_use = if row.get::<_, bool>(12)? { TokenUse::Refresh } else { TokenUse::Access };
                let spent_ms = row.get::<_, Option<i64>>(14)?.map(counted);
                Ok((read(row)?, token_use, counted(row.get(13)?), spent_ms, profiles(row, 15)?))
            });
            row.optional()
        })?;
        Ok(found.map(|((grant, sealed), token_use, until_ms, spent_ms, own)| FoundToken {
            profiles: own.or_else(|| grant.profiles.clone()),
            grant: self.opened(grant, &sealed),
            token_use,
            until_ms,
            spent_ms,
        }))
    }
}

fn insert(file: &Transaction<'_>, grant: &str, tokens: &[NewToken]) -> rusqlite::Result<()> {
    let mut insert = file.prepare_cached("INSERT INTO tokens VALUES (?1, ?2, ?3, ?4, NULL, ?5)")?;
    for token in tokens {
        let renews = token.token_use == TokenUse::Refresh;
        let profiles = token.profiles.as_ref().map(ProfileNames::text);
        insert.execute(params![&token.digest[..], grant, renews, kept(token.until_ms), profiles])?;
    }
    Ok(())
}
