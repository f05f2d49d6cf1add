//! One type of item of `wp/v2`: listed, read, created, changed and deleted as in WordPress.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::answer::Answer;
use super::request::Request;

/// The default number of items per page.
const PER_PAGE: usize = 10;
/// The largest number of items of one type.
const MOST: usize = 10_000;

/// The properties of a type.
#[derive(Debug)]
pub(super) struct Kind {
    /// The route's name.
    pub(super) name: &'static str,
    /// The code and the message for an ID that does not exist.
    pub(super) missing: (&'static str, &'static str),
    /// True if the title and the content of an item are rendered.
    pub(super) rendered: bool,
    /// True if deleting without `force` moves an item to the trash.
    pub(super) trash: bool,
    /// The required members of a new item.
    pub(super) required: &'static [&'static str],
}

/// The items of one type.
#[derive(Debug)]
pub(super) struct Collection {
    pub(super) kind: &'static Kind,
    things: Mutex<Vec<Value>>,
}

/// The members whose text WordPress renders.
const RENDERED: &[&str] = &["title", "content", "excerpt", "caption"];

impl Collection {
    pub(super) fn new(kind: &'static Kind, things: Vec<Value>) -> Self {
        Self { kind, things: Mutex::new(things) }
    }

    fn things(&self) -> MutexGuard<'_, Vec<Value>> {
        self.things.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a request for this type; `parts` are the path segments after the name.
    pub(super) fn answer(&self, request: &Request, parts: &[&str], base: &str) -> Answer {
        match (request.method.as_str(), parts) {
            ("GET", []) => self.list(request),
            ("POST", []) => self.writing(request, |all| self.create(all, request, base)),
            ("GET", [id]) => {
                let all = self.things();
                find(&all, id).map_or_else(|| self.missing(), |at| Answer::ok(&all[at]))
            }
            ("POST" | "PUT" | "PATCH", [id]) => self.changing(request, id, |thing| {
                self.write(thing, request);
                Answer::ok(thing)
            }),
            ("DELETE", [id]) => self.delete(request, id),
            _ => Answer::no_route(),
        }
    }

    fn missing(&self) -> Answer {
        Answer::error(404, self.kind.missing.0, self.kind.missing.1)
    }

    /// Performs an action that requires permission to write.
    fn writing(&self, request: &Request, work: impl FnOnce(&mut Vec<Value>) -> Answer) -> Answer {
        match request.account {
            Some(account) if account.can("edit_posts") => work(&mut self.things()),
            account => {
                let status = if account.is_some() { 403 } else { 401 };
                let what = self.kind.name;
                let message = format!("Sorry, you are not allowed to change {what} as this user.");
                Answer::error(status, "rest_cannot_edit", &message)
            }
        }
    }

    fn changing(&self, request: &Request, id: &str, work: impl FnOnce(&mut Value) -> Answer) -> Answer {
        self.writing(request, |all| match find(all, id) {
            Some(at) => work(&mut all[at]),
            None => self.missing(),
        })
    }

    fn list(&self, request: &Request) -> Answer {
        let number = |name: &str, or: usize| {
            request.param(name).map_or(Some(or), |text| text.parse().ok()).filter(|count| *count > 0)
        };
        let (page, per_page) = (number("page", 1), number("per_page", PER_PAGE));
        let (Some(page), Some(per_page @ 1..=100)) = (page, per_page) else {
            return Answer::error(400, "rest_invalid_param", "Invalid parameter(s): per_page");
        };
        let search = request.param("search").unwrap_or_default().to_lowercase();
        let status = request.param("status").unwrap_or_else(|| "publish".to_owned());
        let all = self.things();
        let fits = |thing: &&Value| {
            let visible = thing.get("status").is_none_or(|is| *is == *status || *is == "approved");
            visible && (search.is_empty() || thing.to_string().to_lowercase().contains(&search))
        };
        let found: Vec<&Value> = all.iter().filter(fits).collect();
        let pages = found.len().div_ceil(per_page);
        if page > pages.max(1) && self.kind.rendered {
            let message = "The page number requested is larger than the number of pages available.";
            return Answer::error(400, "rest_post_invalid_page_number", message);
        }
        let shown: Vec<&&Value> = found.iter().skip((page - 1) * per_page).take(per_page).collect();
        Answer::ok(&json!(shown)).with("X-WP-Total", &found.len()).with("X-WP-TotalPages", &pages)
    }

    fn create(&self, all: &mut Vec<Value>, request: &Request, base: &str) -> Answer {
        let lacking: Vec<&str> =
            self.kind.required.iter().copied().filter(|name| request.param(name).is_none()).collect();
        if !lacking.is_empty() {
            let message = format!("Missing parameter(s): {}", lacking.join(", "));
            let data = json!({"status": 400, "params": lacking});
            let body = json!({"code": "rest_missing_callback_param", "message": message, "data": data});
            return Answer::json(400, &body);
        }
        if all.len() >= MOST {
            return Answer::error(500, "db_insert_error", "Could not insert into the database.");
        }
        let id = all.iter().filter_map(|thing| thing["id"].as_u64()).max().unwrap_or(0) + 1;
        let mut thing = json!({"id": id, "link": format!("{base}/?p={id}")});
        if self.kind.rendered {
            thing["status"] = json!("draft");
            thing["date"] = json!("2026-03-01T12:00:00");
            thing["modified"] = json!("2026-03-01T12:00:00");
            thing["author"] = json!(request.account.map_or(0, |account| account.id));
        }
        self.write(&mut thing, request);
        all.push(thing.clone());
        Answer::json(201, &thing).with("Location", &format!("{base}/wp-json/wp/v2/{}/{id}", self.kind.name))
    }

    /// Copies the members of the request's body into the item.
    fn write(&self, thing: &mut Value, request: &Request) {
        for (name, value) in request.body.as_object().into_iter().flatten() {
            let rendered = self.kind.rendered && RENDERED.contains(&name.as_str());
            thing[name.as_str()] = match value.as_str() {
                Some(text) if rendered && name == "content" => {
                    json!({"raw": text, "rendered": format!("{text}\n"), "protected": false})
                }
                Some(text) if rendered => json!({"raw": text, "rendered": text}),
                _ => value.clone(),
            };
        }
    }

    fn delete(&self, request: &Request, id: &str) -> Answer {
        let force = request.flag("force");
        self.writing(request, |all| {
            let Some(at) = find(all, id) else { return self.missing() };
            if force {
                let previous = all.remove(at);
                return Answer::ok(&json!({"deleted": true, "previous": previous}));
            }
            if !self.kind.trash {
                let message = "Terms do not support trashing. Set 'force=true' to delete.";
                return Answer::error(501, "rest_trash_not_supported", message);
            }
            if all[at]["status"] == "trash" {
                return Answer::error(410, "rest_already_trashed", "The post has already been deleted.");
            }
            all[at]["status"] = json!("trash");
            Answer::ok(&all[at])
        })
    }
}

fn find(all: &[Value], id: &str) -> Option<usize> {
    let id = id.parse::<u64>().ok()?;
    all.iter().position(|thing| thing["id"] == id)
}
