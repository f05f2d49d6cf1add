//! Reads what stands beside `native`.

use std::rc::Rc;

use indexmap::IndexMap;

use super::model::{Answers, Native, NativeLink, Requests, Site, SiteRate, Source, UnknownArguments};
use crate::config::check;
use crate::config::parse::{Entry, Node};
use crate::config::rates;
use crate::config::read::{CHANGE_FILLED, Fields, Reader, clip};
use crate::config::suggest;
use crate::config::text::Text;

/// Keys that go with `native` only.
pub(in crate::config) const KEYS: &[&str] = &["site", "phases", "sources", "unknownArguments"];
const SITE_KEYS: &[&str] = &[
    "url",
    "username",
    "password",
    "headers",
    "basic",
    "privateFiles",
    "privateSites",
    "atOnce",
    "rate",
    "answers",
    "allowMarkupLoss",
    "readOnly",
    "imageKey",
    "imageHost",
    "requests",
];
/// The most requests at a time.
const MOST_AT_ONCE: u32 = 1000;
const REQUESTS_KEYS: &[&str] = &["allow", "write"];

/// An embedded server: one that `entry` names, or that of the base. What is not said beside it is as in the base, if that
/// has the same one. `at` is the server's entry.
pub(in crate::config) fn read_link(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    entry: Option<&Entry>,
    at: &Entry,
    base: Option<&NativeLink>,
) -> Option<NativeLink> {
    let native = match entry {
        None => base.map(|base| base.native),
        Some(entry) => reader.within("native", |reader| reader.word(&entry.value, Native::ALL)),
    };
    let Some(native) = native else {
        fields.drop_all(KEYS);
        return None;
    };
    let base = base.filter(|base| base.native == native);
    let old_site = base.and_then(|base| base.site.as_ref());
    let site = match fields.take("site") {
        Some(site) if native.needs_site() => {
            reader.within("site", |reader| read_site(reader, site, old_site)).map(Some)
        }
        Some(site) => {
            refuse(reader, site, native);
            None
        }
        None if native.needs_site() && old_site.is_none() => {
            let mend = "add it: site: { url: \"${WORDPRESS_URL}\", username: \"${WORDPRESS_USERNAME}\", \
                        password: \"${WORDPRESS_APP_PASSWORD}\" }";
            reader.fault(
                entry.map_or(&at.key_at, |entry| &entry.value.at),
                format!("`{}` works on a site, and none is named", native.name()),
                mend,
            );
            None
        }
        None => Some(old_site.cloned()),
    };
    let phases = match fields.take("phases") {
        Some(entry) if native.phases().is_empty() => {
            refuse(reader, entry, native);
            None
        }
        Some(entry) => {
            reader.within("phases", |reader| read_phases(reader, &entry.value, native.phases())).map(Some)
        }
        None => Some(base.and_then(|base| base.phases.clone())),
    };
    let sources = read_own_sources(reader, fields, native, base);
    let unknown_arguments = read_unknown_arguments(reader, fields, native, base);
    Some(NativeLink {
        native,
        site: site?,
        phases: phases?,
        sources: sources?,
        unknown_arguments: unknown_arguments?,
    })
}

fn read_own_sources(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    native: Native,
    base: Option<&NativeLink>,
) -> Option<IndexMap<Source, Text>> {
    let old_sources = base.map(|base| base.sources.clone()).unwrap_or_default();
    match fields.take("sources") {
        Some(entry) if native.has_sources() => {
            reader.within("sources", |reader| read_sources(reader, &entry.value, old_sources))
        }
        Some(entry) => {
            refuse(reader, entry, native);
            None
        }
        None => Some(old_sources),
    }
}

fn read_unknown_arguments(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    native: Native,
    base: Option<&NativeLink>,
) -> Option<UnknownArguments> {
    match fields.take("unknownArguments") {
        Some(entry) if native.can_ignore_arguments() => {
            reader.within("unknownArguments", |reader| reader.word(&entry.value, UnknownArguments::ALL))
        }
        Some(entry) => {
            refuse(reader, entry, native);
            None
        }
        None => Some(base.map_or_else(UnknownArguments::default, |base| base.unknown_arguments)),
    }
}

fn refuse(reader: &mut Reader<'_>, entry: &Entry, native: Native) {
    let message = format!("`{}` does not go with `native: {}`", entry.key, native.name());
    reader.within(&entry.key, |reader| {
        reader.fault(&entry.key_at, message, "remove it; it does nothing there");
    });
}

fn read_site(reader: &mut Reader<'_>, entry: &Entry, base: Option<&Site>) -> Option<Site> {
    let mut fields = reader.fields(&entry.value, "a mapping with `url`, `username` and `password`")?;
    let old = |text: fn(&Site) -> &Option<Text>| base.and_then(|base| text(base).clone());
    let url = optional(reader, &mut fields, "url", false, check::site_url, old(|site| &site.url));
    let username =
        optional(reader, &mut fields, "username", false, check::basic_name, old(|site| &site.username));
    let password =
        optional(reader, &mut fields, "password", true, check::basic_password, old(|site| &site.password));
    let headers = reader.flag_in(&mut fields, "headers", base.is_some_and(|base| base.headers));
    let basic = reader.flag_in(&mut fields, "basic", base.is_some_and(|base| base.basic));
    let private_files =
        reader.flag_in(&mut fields, "privateFiles", base.is_some_and(|base| base.private_files));
    let private_sites =
        reader.flag_in(&mut fields, "privateSites", base.is_some_and(|base| base.private_sites));
    let at_once = match fields.take("atOnce") {
        Some(entry) => reader.within("atOnce", |reader| read_at_once(reader, entry)),
        None => Some(base.map_or(Site::AT_ONCE, |base| base.at_once)),
    };
    let rate = read_rate(reader, &mut fields, base);
    let answers = match fields.take("answers") {
        Some(entry) => reader.within("answers", |reader| reader.word(&entry.value, Answers::ALL)),
        None => Some(base.map_or_else(Answers::default, |base| base.answers)),
    };
    let read_only = reader.flag_in(&mut fields, "readOnly", base.is_some_and(|base| base.read_only));
    let allow_markup_loss =
        reader.flag_in(&mut fields, "allowMarkupLoss", base.is_some_and(|base| base.allow_markup_loss));
    let images = read_images(reader, &mut fields, base);
    let old_requests = base.map(|base| base.requests.clone()).unwrap_or_default();
    let requests = read_requests(reader, &mut fields, old_requests);
    reader.refuse(&fields.rest(), SITE_KEYS);
    let (Some(answers), Some(requests)) = (answers, requests) else { return None };
    let (Ok(url), Ok(username), Ok(password)) = (url, username, password) else { return None };
    let Ok((image_key, image_host)) = images else { return None };
    check_login(reader, entry, url.as_ref(), (username.is_some(), password.is_some()), headers);
    Some(Site {
        url,
        username,
        password,
        headers,
        basic,
        private_files,
        private_sites,
        at_once: at_once?,
        rate: rate.ok()?,
        answers,
        allow_markup_loss,
        read_only,
        image_key,
        image_host,
        requests,
    })
}

/// Checks that it is known which site and account are meant, and that a password may go there.
fn check_login(
    reader: &mut Reader<'_>,
    entry: &Entry,
    url: Option<&Text>,
    (has_name, has_password): (bool, bool),
    headers: bool,
) {
    if has_name != has_password {
        let mend = "write both, or neither; is a variable empty?";
        reader.fault(&entry.key_at, "a user name and a password belong together", mend);
    }
    if url.is_none() && !headers {
        let mend = "add it: url: https://example.com; or let requests choose: headers: true";
        reader.fault(&entry.key_at, "nothing says which site this is", mend);
    }
    if url.is_some_and(|url| check::is_readable_on_the_way(url.expose())) {
        let mend = "write https://, unless the way to the site is safe";
        reader.note(&entry.key_at, "passwords go to this site over http, where others can read them", mend);
    }
}

/// The key for the host of images, and where that is.
fn read_images(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    base: Option<&Site>,
) -> Result<(Option<Text>, Option<Text>), Unread> {
    let old = |text: fn(&Site) -> &Option<Text>| base.and_then(|base| text(base).clone());
    let key = optional(reader, fields, "imageKey", true, check::basic_password, old(|site| &site.image_key));
    let host = optional(reader, fields, "imageHost", false, check::site_url, old(|site| &site.image_host));
    Ok((key?, host?))
}

fn read_at_once(reader: &mut Reader<'_>, entry: &Entry) -> Option<u32> {
    let what = "a whole number";
    let text = reader.text(&entry.value, what)?;
    let Ok(count) = text.expose().parse::<u32>() else {
        reader.wrong_kind(&entry.value, what);
        return None;
    };
    if !(1..=MOST_AT_ONCE).contains(&count) {
        let mend = if text.hides() {
            CHANGE_FILLED.to_owned()
        } else {
            format!("write a number from 1 to {MOST_AT_ONCE}")
        };
        reader.fault(&entry.value.at, "so many requests at a time are out of bounds", mend);
        return None;
    }
    Some(count)
}

fn read_rate(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    base: Option<&Site>,
) -> Result<Option<SiteRate>, Unread> {
    let Some(entry) = fields.take("rate") else { return Ok(base.and_then(|base| base.rate)) };
    let rate = reader.within("rate", |reader| rates::read_rate(reader, &entry.value, 1));
    rate.map(|(count, period)| Some(SiteRate { count, period })).ok_or(Unread)
}

fn read_requests(reader: &mut Reader<'_>, fields: &mut Fields<'_>, base: Requests) -> Option<Requests> {
    let Some(entry) = fields.take("requests") else { return Some(base) };
    reader.within("requests", |reader| read_requests_of(reader, entry, base))
}

fn read_requests_of(reader: &mut Reader<'_>, entry: &Entry, base: Requests) -> Option<Requests> {
    let mut fields = reader.fields(&entry.value, "a mapping with `allow` and `write`")?;
    let write = reader.flag_in(&mut fields, "write", base.write);
    let allow = match fields.take("allow") {
        None => Some(base.allow),
        Some(entry) => reader.within("allow", |reader| {
            let items = reader.items(&entry.value, "a list of routes", true)?;
            // All are looked at, so that all faults are named.
            let routes: Vec<_> = items.into_iter().map(|item| read_route(reader, item)).collect();
            routes.into_iter().collect()
        }),
    };
    reader.refuse(&fields.rest(), REQUESTS_KEYS);
    Some(Requests { allow: allow?, write })
}

fn read_route(reader: &mut Reader<'_>, node: &Rc<Node>) -> Option<String> {
    let route = reader.text(node, "a route")?.expose().to_owned();
    if route.starts_with('/') && !route.contains(['?', '#']) && !route.split('/').any(|part| part == "..") {
        return Some(route);
    }
    let mend = "write it as it stands behind /wp-json, with * for anything: /wc/v3/*";
    reader.fault(&node.at, "this is no route of a site's REST API", mend);
    None
}

/// A value that was refused.
struct Unread;

/// A text that may be left out, and then is that of the base; an empty one counts as none.
fn optional(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    key: &str,
    secret: bool,
    checked: fn(&Text) -> Result<(), check::Flaw>,
    base: Option<Text>,
) -> Result<Option<Text>, Unread> {
    let Some(entry) = fields.take(key) else { return Ok(base) };
    reader.within(key, |reader| {
        let what = "a text";
        let read = if secret { Reader::secret_text } else { Reader::text };
        let text = read(reader, &entry.value, what).ok_or(Unread)?;
        if text.expose().is_empty() {
            return Ok(None);
        }
        reader.sound_text(&entry.value.at, &text, checked(&text)).ok_or(Unread)?;
        Ok(Some(text))
    })
}

fn read_phases(reader: &mut Reader<'_>, node: &Rc<Node>, known: &[&str]) -> Option<Vec<String>> {
    let words: Vec<(&str, usize)> = known.iter().enumerate().map(|(at, name)| (*name, at)).collect();
    let mut phases: Vec<String> = Vec::new();
    for item in reader.items(node, "a list of groups of tools", true)? {
        phases.extend(reader.word(item, &words).map(|at| known[at].to_owned()));
    }
    Some(phases)
}

fn read_sources(
    reader: &mut Reader<'_>,
    node: &Node,
    base: IndexMap<Source, Text>,
) -> Option<IndexMap<Source, Text>> {
    let mut sources = base;
    let names = || Source::ALL.iter().map(|(name, _)| *name);
    for entry in reader.fields(node, "a mapping of addresses by service")?.rest() {
        reader.within(&entry.key, |reader| {
            let Some((_, source)) = Source::ALL.iter().find(|(name, _)| *name == entry.key) else {
                let mend = match suggest::nearest(&entry.key, names()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("remove it; there are: {}", names().collect::<Vec<_>>().join(", ")),
                };
                reader.fault(&entry.key_at, format!("there is no service `{}`", clip(&entry.key)), mend);
                return None;
            };
            let text = reader.text(&entry.value, "a URL")?;
            reader.sound(&entry.value.at, check::site_url(&text))?;
            sources.insert(*source, text)
        });
    }
    Some(sources)
}
