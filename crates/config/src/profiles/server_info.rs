//! The name and the appearance of a profile as one server, and icons. This module must not know which protocol versions contain
//! them.

use std::fmt::Write as _;

use proto::json::quote;

use crate::reading::rows::section;
use crate::reading::spellings::{CheckedText, Optional, Parsed, Sections, Spelling, Word, any_text, texts};
use crate::values::check::{self, Flaw};
use crate::values::text::Text;
use crate::values::words::words;

/// The maximum number of icons of one item.
const MAX_ICONS: usize = 8;

/// The maximum length of an icon's address, in bytes, unless the address contains the icon.
const MAX_ICON_URL: usize = 2048;

/// The maximum length of an address that contains the icon, in bytes. Lists repeat the icon for each item.
const MAX_ICON_DATA: usize = 16 << 10;

section! {
    /// The description of a profile as one server. Clients of older protocol versions see only the fields that their version
    /// defines.
    pub struct ServerInfo: "a mapping with `name`, `title`, `icons`, …" [
        /// The name by which clients identify the server.
        "name" name: Option<Text> = Optional(CheckedText("a name", filled)), absent "`dragoman`";
        /// The name that clients display.
        "title" title: Option<Text> = Optional(any_text("a string")), absent "the `title` of the profile";
        /// The version that clients display.
        "version" version: Option<Text> = Optional(CheckedText("a version", filled)), absent "Dragoman's";
        /// A description for people.
        "description" description: Option<Text> = Optional(any_text("a string"));
        /// The address of a page about the server.
        "websiteUrl" website_url: Option<Text> = Optional(CheckedText("a URL", page_address));
        /// The icons that clients display.
        "icons" icons: Vec<Icon> = icons(), absent "none", see "[an icon](#icons)";
    ]
}

section! {
    /// An icon, in one or more sizes.
    pub struct Icon: "a mapping with `src`" [
        /// The address of the icon: `https:`, or `data:image/…;base64,…` with at most 16 KiB.
        "src" src: String = Parsed("an icon's address", icon_address), needed "src: https://example.com/icon.png";
        /// The type of the icon, such as `image/png`.
        "mimeType" mime_type: Option<String> = Optional(Parsed("a media type", media_type));
        /// The sizes for which the icon is made: `48x48`, or `any` for a scalable icon.
        "sizes" sizes: Vec<String> = texts(size), absent "any size";
        /// The background for which the icon is made.
        "theme" theme: Option<IconTheme> = Optional(Word), absent "any background";
    ]
}

words! {
    /// The background for which an icon is made.
    pub enum IconTheme {
        /// A light background.
        Light = "light",
        /// A dark background.
        Dark = "dark",
    }
}

impl ServerInfo {
    /// The name, title and version, a JSON object. The arguments `title` and `version` are used if the section does not set its
    /// own.
    pub fn short(&self, title: Option<&Text>, version: &str) -> String {
        let name = self.name.as_ref().map_or("dragoman", Text::expose);
        let version = self.version.as_ref().map_or(version, Text::expose);
        let title = self.title.as_ref().or(title);
        let title = title.map(|title| format!(",\"title\":{}", quote(title.expose()))).unwrap_or_default();
        format!("{{\"name\":{}{title},\"version\":{}}}", quote(name), quote(version))
    }

    /// The complete description, which begins with `short`.
    pub fn whole(&self, short: &str) -> String {
        let mut whole = short.trim_end_matches('}').to_owned();
        for (key, text) in [("description", &self.description), ("websiteUrl", &self.website_url)] {
            if let Some(text) = text {
                let _ = write!(whole, ",\"{key}\":{}", quote(text.expose()));
            }
        }
        if !self.icons.is_empty() {
            let _ = write!(whole, ",\"icons\":{}", Icon::list(&self.icons));
        }
        whole.push('}');
        whole
    }
}

impl Icon {
    /// Icons as the protocol writes them, a JSON array.
    pub fn list(icons: &[Self]) -> String {
        let all: Vec<String> = icons.iter().map(Self::json).collect();
        format!("[{}]", all.join(","))
    }

    fn json(&self) -> String {
        let mut text = format!("{{\"src\":{}", quote(&self.src));
        if let Some(kind) = &self.mime_type {
            let _ = write!(text, ",\"mimeType\":{}", quote(kind));
        }
        if !self.sizes.is_empty() {
            let sizes: Vec<String> = self.sizes.iter().map(|size| quote(size)).collect();
            let _ = write!(text, ",\"sizes\":[{}]", sizes.join(","));
        }
        if let Some(theme) = self.theme {
            let _ = write!(text, ",\"theme\":\"{}\"", theme.name());
        }
        text.push('}');
        text
    }
}

/// The spelling of icons.
pub(crate) fn icons() -> impl Spelling<Vec<Icon>> {
    Sections {
        what: "a list of icons",
        items: "icons",
        least: 0,
        most: MAX_ICONS,
        help: "write at most 8; clients choose one of them",
    }
}

fn filled(text: &Text) -> Result<(), Flaw> {
    if text.expose().trim().is_empty() {
        return Err(Flaw::new("this is empty", "write a text, or remove the key"));
    }
    Ok(())
}

fn icon_address(address: &Text) -> Result<String, Flaw> {
    let value = address.expose();
    let help = "write an `https:` address, or `data:image/png;base64,…`";
    if let Some(data) = value.strip_prefix("data:") {
        let encoded = data.strip_prefix("image/").and_then(|data| data.split_once(";base64,"));
        let is_base64 = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'/' | b'=');
        if !encoded.is_some_and(|(_, data)| !data.is_empty() && data.bytes().all(is_base64)) {
            return Err(Flaw::new("this is not an image in Base64", help));
        }
        if value.len() > MAX_ICON_DATA {
            let message = format!("this icon has {} bytes; at most {MAX_ICON_DATA} are allowed", value.len());
            return Err(Flaw::new(message, "use a smaller icon, or an `https:` address"));
        }
        return Ok(value.to_owned());
    }
    if !value.starts_with("https://") || value.len() > MAX_ICON_URL {
        return Err(Flaw::new("clients load icons only from `https:` and `data:` addresses", help));
    }
    check::url(address).map_err(|flaw| Flaw { help: help.to_owned(), ..flaw })?;
    Ok(value.to_owned())
}

fn page_address(address: &Text) -> Result<(), Flaw> {
    let help = "write it like https://example.com/about";
    check::url(address).map_err(|flaw| Flaw { help: help.to_owned(), ..flaw })
}

fn media_type(text: &Text) -> Result<String, Flaw> {
    let is_part = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "!#$&-^_.+".contains(c))
    };
    let value = text.expose();
    match value.split_once('/') {
        Some((kind, rest)) if is_part(kind) && is_part(rest) => Ok(value.to_owned()),
        _ => Err(Flaw::new("this is not a media type", "write it like `image/png`")),
    }
}

fn size(text: &Text) -> Result<String, Flaw> {
    let is_number = |part: &str| {
        (1..=5).contains(&part.len()) && part.bytes().all(|c| c.is_ascii_digit()) && !part.starts_with('0')
    };
    let value = text.expose();
    match value.split_once('x') {
        _ if value == "any" => Ok(value.to_owned()),
        Some((width, height)) if is_number(width) && is_number(height) => Ok(value.to_owned()),
        _ => Err(Flaw::new("this is not a size", "write it like `48x48`, or `any`")),
    }
}
