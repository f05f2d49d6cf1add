//! How these tools are written as rows. It must not know a tool.

use crate::community::buddyboss::EXTENDED;
use crate::rest::{Shape, Step};
use crate::tools::{Argument, Tool, raw, tool};

pub(super) const PICTURE: Argument =
    raw("file", "The picture: in base64, as a data URL, or its public URL.").required().kept();

pub(super) const fn upload(
    name: &'static str,
    about: &'static str,
    arguments: &'static [Argument],
    steps: &'static [Step],
) -> Tool {
    tool(name, about, arguments, steps, Shape::Whole).phase(EXTENDED)
}

/// Tools as lines: a name, what it does, its arguments; then the request, and under which name the account that asks goes along
/// when a call names nobody.
macro_rules! rows {
    ($($name:literal, $about:literal, $arguments:expr; $verb:ident $route:literal $(as $who:literal)?;)*) => {
        &[$($crate::tools::tool(
            $name,
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
