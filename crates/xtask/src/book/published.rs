//! The lines about packages. Until the packages' names are registered, the pages do not show these lines, because a
//! stranger could register the names.

use crate::files::{failed, read};
use std::fs;
use std::path::Path;

/// The mark that the lines replace.
const MARK: &str = "<!-- published: packages -->";

/// The pages that contain the mark.
const PAGES: [&str; 2] = ["README.md", "docs/get-started.md"];

/// Replaces the mark by the lines in all pages.
pub(super) fn turn_on(checkout: &Path) -> Result<(), String> {
    let lines = read(&checkout.join("docs/book/published.md"))?.replace("VERSION", env!("CARGO_PKG_VERSION"));
    for name in PAGES {
        let path = checkout.join(name);
        let text = read(&path)?.replace(MARK, lines.trim_end());
        fs::write(&path, text).map_err(|error| failed(&path, &error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{MARK, PAGES};
    use crate::root::checkout;
    use std::fs;

    #[test]
    fn every_page_has_the_mark_or_the_lines() {
        for name in PAGES {
            let text = fs::read_to_string(checkout().join(name)).unwrap();
            assert_eq!(text.matches(MARK).count() + text.matches("Or take a package:").count(), 1, "{name}");
        }
    }
}
