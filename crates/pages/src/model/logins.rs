//! Consents that allow the gateway to act at a server, and sign-ins by which people let clients use their account
//! at a site.

use super::{Caller, ForeignText, Millis, Paging};

/// The data of the page: consents, and people who have signed in.
#[derive(Debug, Clone, Default)]
pub struct LoginsPage {
    /// The filter: a part of the server or the caller. The query parameter is `q`.
    pub q: ForeignText,
    /// The consents that match the filter.
    pub rows: Vec<ConsentRow>,
    /// The position of these rows in the whole list.
    pub paging: Paging,
    /// The people who have signed in here, and match the filter; `None` if nobody can sign in.
    pub sign_ins: Option<Vec<SignInRow>>,
}

/// A person who has signed in.
#[derive(Debug, Clone, Default)]
pub struct SignInRow {
    /// The id for the form that ends the sign-in.
    pub id: String,
    /// The name of the account.
    pub user: ForeignText,
    /// The site of the account.
    pub site: ForeignText,
    /// The name of the client that got the tokens, as the client states it.
    pub client: ForeignText,
    /// The client's id.
    pub client_id: ForeignText,
    /// The time at which the person signed in.
    pub since: Millis,
    /// The time of the last use.
    pub used: Millis,
}

/// A consent.
#[derive(Debug, Clone, Default)]
pub struct ConsentRow {
    /// The id for the form that revokes the consent.
    pub id: String,
    /// The server.
    pub server: ForeignText,
    /// The caller who gave the consent.
    pub principal: Caller,
    /// True if the consent applies to all callers.
    pub shared: bool,
    /// The authorization server.
    pub issuer: ForeignText,
    /// The scopes.
    pub scopes: Vec<ForeignText>,
    /// The expiry time of the token.
    pub expires: Option<Millis>,
    /// The status of the consent.
    pub standing: ConsentStanding,
    /// The reason for the status: the answer of the authorization server.
    pub reason: Option<ForeignText>,
}

/// The status of a consent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ConsentStanding {
    /// The consent can be used.
    #[default]
    Valid,
    /// A caller was asked, and has not answered yet.
    Asked,
    /// The consent has expired, and cannot be renewed.
    Expired,
    /// The authorization server refused to renew the token.
    Refused,
}
