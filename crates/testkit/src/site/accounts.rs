//! The accounts of the site: names, application passwords, capabilities.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// An account with an application password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account {
    /// The id.
    pub id: u64,
    /// The login name.
    pub user: &'static str,
    /// The name that is shown.
    pub name: &'static str,
    /// The application password as the site shows it, in groups of four.
    pub password: &'static str,
    /// The account's only role.
    pub role: &'static str,
    /// Some of the role's capabilities, under their WordPress names.
    pub capabilities: &'static [&'static str],
}

/// An account with all capabilities, including `manage_options`.
pub const ADMIN: Account = Account {
    id: 1,
    user: "admin",
    name: "Site Admin",
    password: "abcd efgh ijkl mnop qrst uvwx",
    role: "administrator",
    capabilities: &["manage_options", "edit_posts", "publish_posts", "upload_files", "read"],
};

/// An account that may write, but not administer.
pub const EDITOR: Account = Account {
    id: 2,
    user: "editor",
    name: "Site Editor",
    password: "edit edit edit edit edit edit",
    role: "editor",
    capabilities: &["edit_posts", "publish_posts", "upload_files", "read"],
};

/// An account that may read.
pub const SUBSCRIBER: Account = Account {
    id: 3,
    user: "subscriber",
    name: "Site Subscriber",
    password: "read read read read read read",
    role: "subscriber",
    capabilities: &["read"],
};

/// All accounts.
pub const ALL: &[Account] = &[ADMIN, EDITOR, SUBSCRIBER];

impl Account {
    /// The value of the `Authorization` header that this account sends, its password without spaces.
    pub fn basic(&self) -> String {
        format!("Basic {}", STANDARD.encode(format!("{}:{}", self.user, bare(self.password))))
    }

    /// Returns true if the account has this capability.
    pub fn can(&self, capability: &str) -> bool {
        self.capabilities.contains(&capability)
    }

    /// The account as `wp/v2/users` shows it; roles and capabilities only with `context=edit`.
    pub(super) fn shown(&self, edit: bool) -> Value {
        let mut shown = json!({"id": self.id, "name": self.name, "slug": self.user, "description": ""});
        if edit {
            shown["username"] = json!(self.user);
            shown["email"] = json!(format!("{}@example.com", self.user));
            shown["roles"] = json!([self.role]);
            let rights: serde_json::Map<String, Value> =
                self.capabilities.iter().map(|name| ((*name).to_owned(), json!(true))).collect();
            shown["capabilities"] = Value::Object(rights);
        }
        shown
    }
}

/// The account whose credentials are in an `Authorization` header. As in WordPress, spaces in the password are
/// ignored.
pub(super) fn identify(header: &str) -> Option<Account> {
    let text = String::from_utf8(STANDARD.decode(header.strip_prefix("Basic ")?).ok()?).ok()?;
    let (user, password) = text.split_once(':')?;
    ALL.iter().copied().find(|one| one.user == user && bare(one.password) == bare(password))
}

fn bare(password: &str) -> String {
    password.split_whitespace().collect()
}
