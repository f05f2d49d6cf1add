//! The addresses of pages, forms and streams: one row each. This module must not know what is on a page.

use std::pin::Pin;

use pages::route;

use super::page_reply::PageResult;
use super::page_request::PageRequest;
use super::screens;

type PageFuture<'r> = Pin<Box<dyn Future<Output = PageResult> + Send + 'r>>;

/// One address.
pub(super) struct PageRow {
    /// True for a form that is sent by POST.
    is_form: bool,
    /// The path; `{}` stands for a name.
    path: &'static str,
    pub(super) run: for<'r> fn(&'r PageRequest) -> PageFuture<'r>,
}

macro_rules! rows {
    ($($kind:ident $path:expr => $run:path,)*) => {
        &[$(PageRow { is_form: rows!(@$kind), path: $path, run: |request| Box::pin($run(request)) },)*]
    };
    (@show) => { false };
    (@form) => { true };
}

const ROWS: &[PageRow] = rows! {
    show route::ROOT => screens::overview::show,
    show route::SERVERS => screens::servers::show,
    form route::SERVERS_ADD => screens::servers::add,
    show "/admin/servers/{}" => screens::server::show,
    form "/admin/servers/{}/{}" => screens::server_forms::act,
    show route::TOOLS => screens::tools::show,
    form route::TOOLS_VISIBILITY => screens::tools::set_visibility,
    show "/admin/tools/{}/{}" => screens::tool::show,
    show route::PROFILES => screens::profiles::show,
    form route::PROFILES_ADD => screens::profiles::add,
    show "/admin/profiles/{}" => screens::profile::show,
    form "/admin/profiles/{}/{}" => screens::profile::act,
    show route::PLAYGROUND => screens::playground::show,
    form route::PLAYGROUND_RUN => screens::playground::run,
    form route::PLAYGROUND_ANSWER => screens::playground::answer,
    form route::PLAYGROUND_CANCEL => screens::playground::cancel,
    show route::RUN_EVENTS => screens::playground::events,
    show route::CALLS => screens::calls::show,
    form route::CAPTURE => screens::call::capture,
    show route::CALLS_CSV => screens::calls::csv,
    show "/admin/calls/{}" => screens::call::show,
    show route::LIVE => screens::live::show,
    show route::LIVE_EVENTS => screens::live::events,
    show route::NOW_EVENTS => screens::overview::events,
    show route::SESSIONS => screens::sessions::show,
    form route::SESSIONS_END => screens::sessions::end,
    show route::KEYS => screens::keys::show,
    form route::KEYS_NEW => screens::keys::create,
    form route::KEYS_REVOKE => screens::keys::revoke,
    show route::ACCESS => screens::access::show,
    show route::LIMITS => screens::limits::show,
    show route::LOGINS => screens::logins::show,
    form route::LOGINS_REVOKE => screens::logins::revoke,
    form route::SIGN_INS_END => screens::logins::end_sign_in,
    show route::CONFIGURATION => screens::configuration::show,
    form route::RELOAD => screens::configuration::reload,
    show route::CONNECT => screens::connect::show,
    form route::CONNECT_TEST => screens::connect::test,
    show route::TEST_EVENTS => screens::connect::events,
    show route::REPLICAS => screens::replicas::show,
    show route::DOCTOR => screens::doctor::show,
    form route::DOCTOR_RUN => screens::doctor::run,
};

/// Finds the row for a path; returns it with the names in the path.
pub(super) fn find(is_form: bool, path: &str) -> Option<(&'static PageRow, Vec<String>)> {
    let rows = ROWS.iter().filter(|row| row.is_form == is_form);
    rows.map(|row| (row, names(row.path, path))).find_map(|(row, names)| Some((row, names?)))
}

fn names(pattern: &str, path: &str) -> Option<Vec<String>> {
    let (mut wanted, mut parts) = (pattern.split('/'), path.split('/'));
    let mut names = Vec::new();
    loop {
        match (wanted.next(), parts.next()) {
            (None, None) => return Some(names),
            (Some("{}"), Some(part)) => names.push(route::name_of(part)?),
            (Some(own), Some(part)) if own == part => {}
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_leads_to_one_row() {
        let found = |is_form, path: &str| find(is_form, path).map(|(row, names)| (row.path, names));
        assert_eq!(found(false, "/admin"), Some(("/admin", Vec::new())));
        let name = "a/b ..".to_owned();
        assert_eq!(found(false, &route::server(&name)), Some(("/admin/servers/{}", vec![name])));
        let tool = vec!["s".to_owned(), String::new()];
        assert_eq!(found(false, &route::tool("s", "")), Some(("/admin/tools/{}/{}", tool)));
        assert_eq!(found(true, "/admin"), None);
        assert_eq!(found(false, "/admin/servers/%zz"), None);
        assert_eq!(found(false, "/admin/keys-new"), None, "a form is not read");
    }
}
