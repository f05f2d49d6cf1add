//! How these tools are written as rows. It must not know a tool.

use crate::community::buddyboss::{self, EXTENDED};
use crate::rest::{Shape, Step};
use crate::tools::{Argument, Tool, raw, titled};

pub(super) const PAGE: Argument = buddyboss::PAGE.saying("Page number.");
pub(super) const PER_PAGE: Argument = buddyboss::PER_PAGE.saying("Number of items per page.");
pub(super) const SEARCH: Argument = buddyboss::SEARCH.saying("Return only items that contain this text.");
pub(super) const PICTURE: Argument =
    raw("file", "Image: base64, a data URL, or a public URL.").required().kept();

pub(super) const fn upload(
    name: &'static str,
    title: &'static str,
    about: &'static str,
    arguments: &'static [Argument],
    steps: &'static [Step],
) -> Tool {
    titled(name, title, about, arguments, steps, Shape::Whole).phase(EXTENDED)
}

/// Tools as lines: a name, a title, a description, arguments; then the request, and the name under which the account that asks
/// is sent when a call names nobody.
macro_rules! rows {
    ($($name:literal, $title:literal, $about:literal, $arguments:expr; $verb:ident $route:literal $(as $who:literal)?;)*) => {
        &[$($crate::tools::titled(
            $name,
            $title,
            $about,
            &$arguments,
            &[
                $($crate::community::caller_unless_given!($who),)?
                $crate::rest::$verb("buddyboss", $route).step(),
            ],
            $crate::rest::Shape::Whole,
        )
        .phase($crate::community::buddyboss::EXTENDED)),*]
    };
}
pub(super) use rows;
