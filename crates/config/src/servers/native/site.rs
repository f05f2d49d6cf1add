//! The configuration keys of a site for the tools of an embedded server.

use crate::callers::rates::{Rate, RequestRate};
use crate::reading::reader::Reader;
use crate::reading::rows::section;
use crate::reading::spellings::{Count, Flag, MergedSection, Optional, OrEmpty, Parsed, Values, Word};
use crate::syntax::parse::Entry;
use crate::values::check::{self, Flaw};
use crate::values::text::Text;
use crate::values::words::words;

section! {
    /// The site that the tools work on, and the account that they use.
    pub struct Site: "a mapping with `url`, `username` and `password`" {
        /// Checks that the site and the account are given, and that a password may be sent to the site.
        fn check(&mut self, reader: &mut Reader<'_>, entry: &Entry, sound: bool) {
            if !sound {
                return;
            }
            if self.username.is_some() != self.password.is_some() {
                let help = "write both, or neither; is a variable empty?";
                reader.fault(&entry.key_at, "a user name and a password must be given together", help);
            }
            if self.url.is_none() && !self.headers && !self.login {
                let help = "add `url: https://example.com`, or set `headers: true`, so that each request chooses its site";
                reader.fault(&entry.key_at, "the site's `url` is missing", help);
            }
            if self.url.as_ref().is_some_and(|url| check::is_readable_on_the_way(url.expose())) {
                let help = "write https://, unless you trust the network between Dragoman and the site";
                let message = "passwords go to this site over http, where others can read them";
                reader.note(&entry.key_at, message, help);
            }
        }
    } [
        /// The site's address: `https://example.com`. It may be empty with `headers: true` and `login: true`.
        "url" url: Option<Text> = OrEmpty { secret: false, check: check::site_url };
        /// The user name for requests that carry no credentials for the site.
        "username" username: Option<Text> = OrEmpty { secret: false, check: check::basic_name };
        /// The application password of this user, not the login password.
        "password" password: Option<Text> = OrEmpty { secret: true, check: check::basic_password };
        /// Lets a request choose the site and the user with the headers `x-wordpress-url`, `x-wordpress-username` and
        /// `x-wordpress-password`. Requests with only some of these headers are refused.
        "headers" headers: bool = Flag;
        /// Forwards the caller's own name and password (HTTP's Basic scheme) to the site. Dragoman does not send them to
        /// any other server.
        "basic" basic: bool = Flag;
        /// Uses the account with which the caller has signed in (`auth.login`); with `url`, only if it is an account at this
        /// site.
        "login" login: bool = Flag, see "[sign-in.md](sign-in.md)";
        /// Lets a call fetch a file by URL (`wp_upload_media_from_url` and similar tools) from a private address. Enable
        /// this only in a network where callers may see everything.
        "privateFiles" private_files: bool = Flag;
        /// Lets a request name a site with a private address; `url` may always contain a private address. For development,
        /// the option `--allow-private-sites` does the same for all servers.
        "privateSites" private_sites: bool = Flag;
        /// The ports, besides 80 and 443, that a site named by a request may have. With `privateSites`, any port is allowed.
        "ports" ports: Vec<u32> = Values { what: "a list of ports", item: Count { most: 65_535 }, some: false },
            absent "80 and 443 only";
        /// The maximum number of requests that run at one site at the same time, from 1 to 1000. Requests above this number
        /// wait.
        "atOnce" at_once: u32 = Count { most: 1000 }, default Site::AT_ONCE;
        /// The maximum number of requests that Dragoman sends to one site within a period, such as `600/1m`, across all
        /// callers. Requests above this rate are refused, and the error says when to retry.
        "rate" rate: Option<RequestRate> = Optional(Rate { least: 1 });
        /// The form in which tools return the site's answers: `compact` (the important fields, with totals; a call can
        /// request all fields), `raw` (unchanged) or `plain` (only the important fields, as in the systems that the presets
        /// replace).
        "answers" answers: Answers = Word;
        /// Saves content changes even if blocks or shortcodes of the current content lose their markup.
        "allowMarkupLoss" allow_markup_loss: bool = Flag, see "[tools.md](tools.md#wordpress)";
        /// Offers only tools that do not change anything.
        "readOnly" read_only: bool = Flag;
        /// The API key for `upload_to_imgbb`, for calls without a key in the header `x-imgbb-api-key` or in the arguments.
        /// The preset `wordpress` takes the key from the variable `IMGBB_API_KEY`.
        "imageKey" image_key: Option<Text> = OrEmpty { secret: true, check: check::basic_password };
        /// The address of the image host's API, which must be compatible with imgbb's.
        "imageHost" image_host: Option<Text> = OrEmpty { secret: false, check: check::site_url },
            absent "`https://api.imgbb.com/1`";
        /// The requests that the tool `site_request` may send.
        "requests" requests: Requests = MergedSection, absent "reads, all routes", see "[below](#the-site-of-an-embedded-server)";
    ]
}

impl Site {
    /// The default maximum number of requests that may run at one site at the same time.
    pub const AT_ONCE: u32 = 20;
}

words! {
    /// The form in which the answers of a site are returned.
    #[derive(Default)]
    pub enum Answers {
        /// The important fields, with totals.
        #[default]
        Compact = "compact",
        /// The answers as the site sent them.
        Raw = "raw",
        /// Only the important fields.
        Plain = "plain",
    }
}

section! {
    /// The requests that the tool `site_request` may send to a site.
    pub struct Requests: "a mapping with `allow` and `write`" [
        /// The allowed routes of the site's REST API, with `*` for any characters: `/wc/v3/*`.
        "allow" allow: Vec<String> = Values { what: "a list of routes", item: Parsed("a route", route), some: false },
            absent "all";
        /// Also allows requests that change something.
        "write" write: bool = Flag;
    ]
}

fn route(route: &Text) -> Result<String, Flaw> {
    let path = route.expose();
    if path.starts_with('/') && !path.contains(['?', '#']) && !path.split('/').any(|part| part == "..") {
        return Ok(path.to_owned());
    }
    let help = "write the path after /wp-json, with * for anything: /wc/v3/*";
    Err(Flaw::new("this is not a route of a site's REST API", help))
}
