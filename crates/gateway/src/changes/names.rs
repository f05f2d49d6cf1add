//! Names and slugs. A server's id is its name in the configuration.

use super::Refusal;

/// The minimum and maximum length of a slug.
const SLUG: std::ops::RangeInclusive<usize> = 3..=50;

/// The maximum length of a server's name in the configuration.
const LONGEST: usize = config::MAX_SERVER_NAME;

/// Ids that would collide with segments of the API's paths.
const TAKEN: &[&str] = &["batch-status"];

/// Slugs that would collide with segments of the API's paths.
const TAKEN_SLUGS: &[&str] = &["by-slug", "by-name"];

/// Checks a slug: it must consist of lower-case letters, digits and hyphens, and begin with a letter.
pub(super) fn check_slug(slug: &str) -> Result<(), Refusal> {
    let is_letter = slug.starts_with(|first: char| first.is_ascii_lowercase());
    let is_plain = slug.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'));
    if TAKEN_SLUGS.contains(&slug) {
        return Err(Refusal::slug(format!("the slug {slug:?} is reserved; choose another one")));
    }
    if is_letter && is_plain && SLUG.contains(&slug.len()) {
        return Ok(());
    }
    let (least, most) = (SLUG.start(), SLUG.end());
    Err(Refusal::slug(format!(
        "a slug must have {least} to {most} lower-case letters, digits and hyphens, and begin with a letter"
    )))
}

/// Returns an id for a server with this name. The id is valid in a configuration, and not in use.
pub(super) fn new_id(name: &str, is_taken: impl Fn(&str) -> bool) -> Result<String, Refusal> {
    let mut id = String::new();
    for char in name.trim().chars().map(|char| char.to_ascii_lowercase()) {
        // Two underscores separate a server's name from the names of its tools.
        let plain = if char.is_ascii_alphanumeric() || matches!(char, '.' | '-' | '_') { char } else { '-' };
        if !(matches!(plain, '-' | '_') && id.ends_with(plain)) {
            id.push(plain);
        }
    }
    let id = id.trim_matches(['-', '_', '.']);
    let id: String = id.chars().take(LONGEST).collect();
    let id = id.trim_end_matches(['-', '_', '.']);
    if id.is_empty() {
        return Err(Refusal::config("`name` must contain letters or digits, such as \"My files\""));
    }
    let is_free = |id: &str| !TAKEN.contains(&id) && !is_taken(id);
    if is_free(id) {
        return Ok(id.to_owned());
    }
    let numbered = (2..1000).map(|number| {
        let number = format!("-{number}");
        let head: String = id.chars().take(LONGEST - number.len()).collect();
        head + &number
    });
    let mut free = numbered.filter(|id| is_free(id));
    free.next().ok_or_else(|| Refusal::config("too many servers have this name"))
}
