//! The files beside the pages: the style sheet, the scripts, the icon. Their addresses contain a digest of their content, so browsers
//! may keep them forever. This module must not know how they are served.

/// A file that pages refer to. `assets/htmx.LICENSE` and `icons/LICENSE` are the licenses of the files that others wrote.
#[derive(Debug)]
pub struct Asset {
    /// The name, such as `style.css`.
    pub name: &'static str,
    /// The value of `Content-Type`.
    pub content_type: &'static str,
    /// The content.
    pub body: &'static [u8],
    /// The content, compressed with gzip.
    pub gzip: &'static [u8],
    /// A digest of the content.
    digest: u64,
}

/// The value of `Cache-Control` for assets.
pub const CACHE_CONTROL: &str = "public, max-age=31536000, immutable";

/// The value of `Content-Security-Policy` for every page and asset.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

macro_rules! asset {
    ($id:ident, $name:literal, $content_type:literal, $doc:literal) => {
        #[doc = $doc]
        pub static $id: Asset = Asset {
            name: $name,
            content_type: $content_type,
            body: include_bytes!(concat!("../assets/", $name)),
            gzip: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".gz")),
            digest: digest(include_bytes!(concat!("../assets/", $name))),
        };
    };
}

asset!(STYLE, "style.css", "text/css; charset=utf-8", "The style sheet.");
asset!(SCRIPT, "pages.js", "text/javascript; charset=utf-8", "Our own script, a module.");
asset!(HTMX, "htmx.min.js", "text/javascript; charset=utf-8", "htmx 4.0.1 (0BSD).");
asset!(ICON, "icon.svg", "image/svg+xml", "The icon of the pages in the browser's tab.");

/// All assets.
pub static ASSETS: [&Asset; 4] = [&STYLE, &SCRIPT, &HTMX, &ICON];

impl Asset {
    /// The path of the asset: `/admin/assets/1f2e3d4c5b6a7988/style.css`.
    pub fn path(&self) -> String {
        format!("{}/{:016x}/{}", crate::route::ASSETS, self.digest, self.name)
    }
}

/// The asset with this path.
pub fn find(path: &str) -> Option<&'static Asset> {
    ASSETS.into_iter().find(|asset| asset.path() == path)
}

/// FNV-1a, which distinguishes versions of a file. It is not a cryptographic hash.
const fn digest(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::{ASSETS, find};

    #[test]
    fn assets_are_found_by_their_path_alone() {
        for asset in ASSETS {
            assert_eq!(find(&asset.path()).map(|found| found.name), Some(asset.name));
        }
        assert!(find("/admin/assets/0000000000000000/style.css").is_none());
    }
}
