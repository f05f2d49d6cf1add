//! Functions and constants for writing these tools as rows. This module must not know any tool.

use crate::community::buddyboss::EXTENDED;
pub(super) use crate::community::buddyboss::arguments::{PAGE, PER_PAGE, SEARCH};
use crate::rest::{Shape, Step};
use crate::tools::{ToolArgument, ToolRow, raw, titled};

pub(super) const PICTURE: ToolArgument =
    raw("file", "Image: base64, a data URL, or a public URL.").required().kept();

pub(super) const fn upload(
    name: &'static str,
    title: &'static str,
    about: &'static str,
    arguments: &'static [ToolArgument],
    steps: &'static [Step],
) -> ToolRow {
    titled(name, title, about, arguments, steps, Shape::Whole).phase(EXTENDED)
}

/// Writes each tool as a line, in this order: its name, title, description and arguments; the request; the
/// parameter for the account, which is set to the caller's account if a call names none; the shape of a list.
macro_rules! rows {
    ($($name:literal, $title:literal, $about:literal, $arguments:expr; $verb:ident $route:literal $(as $who:literal)? $(=> $list:expr)?;)*) => {
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
        $(.shown($list))?
        .phase($crate::community::buddyboss::EXTENDED)),*]
    };
}
pub(super) use rows;
