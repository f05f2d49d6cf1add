//! Declares a section as a table: each key is one row. The struct, the reader, the known names, the JSON Schema and the
//! table in the documentation are all generated from that row. This module must not know any key.

/// Declares a section: its struct, whose default is the section without keys, and the table of its keys. A row consists of the
/// key's purpose, its name, the field with its type, the spelling of its value, and
///
/// - `default`: the value if the key is absent, unless this value is the default of the type,
/// - `absent`: a description of the behavior without the key, if no value expresses this behavior,
/// - `needed`: an example of a required key,
/// - `see`: a reference to further documentation,
/// - `former`: the previous name of the key, which is rejected with a message that contains the current name.
///
/// The fields below `beside` are not set by a single key.
macro_rules! section {
    (
        $(#[doc = $section:literal])+
        $vis:vis struct $name:ident: $what:literal $({ $($own:tt)+ })? [
            $(
                $(#[doc = $doc:literal])+
                $key:literal $field:ident: $type:ty = $spelling:expr
                    $(, default $default:expr)? $(, absent $absent:literal)? $(, needed $needed:literal)? $(, see $see:literal)? $(, former $former:literal)?;
            )*
            $(beside: $( $(#[doc = $beside_doc:literal])+ $beside:ident: $beside_type:ty $(= $beside_value:expr)?; )+)?
        ]
    ) => {
        $(#[doc = $section])+
        #[derive(Debug, Clone, PartialEq)]
        #[allow(clippy::struct_excessive_bools, reason = "each is a switch that the configuration names")]
        $vis struct $name {
            $( $(#[doc = $doc])+ pub $field: $type, )*
            $($( $(#[doc = $beside_doc])+ pub $beside: $beside_type, )+)?
        }

        impl $crate::reading::section::Section for $name {
            const WHAT: &'static str = $what;
            const ABOUT: &'static str = concat!($($section),+);
            const ROWS: &'static [$crate::reading::section::SectionKey<Self>] = &[$($crate::reading::section::SectionKey {
                key: $key,
                about: concat!($($doc),+),
                absent: concat!($($absent)?),
                needed: $crate::reading::rows::optional!($($needed)?),
                see: concat!($($see)?),
                former: concat!($($former)?),
                read: |reader, entry, section| {
                    let spelling = &$spelling;
                    let old = Some(&section.$field);
                    section.$field = $crate::reading::spellings::Spelling::<$type>::read(spelling, reader, entry, old)?;
                    Some(())
                },
                written: |section| $crate::reading::spellings::Spelling::<$type>::written(&$spelling, &section.$field),
                shown: |section| $crate::reading::spellings::Spelling::<$type>::shown(&$spelling, &section.$field),
            }),*];

            fn described() -> Vec<$crate::reading::section::DescribedValue> {
                vec![$($crate::reading::section::DescribedValue {
                    schema: |generator| $crate::reading::spellings::Spelling::<$type>::schema(&$spelling, generator),
                    bounds: $crate::reading::spellings::Spelling::<$type>::bounds(&$spelling),
                }),*]
            }

            $($($own)+)?
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $( $field: $crate::reading::rows::or_default!($($default)?), )*
                    $($( $beside: $crate::reading::rows::or_default!($($beside_value)?), )+)?
                }
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::reading::section::schema::<Self>(generator)
            }
        }
    };
}

macro_rules! optional {
    () => {
        None
    };
    ($value:expr) => {
        Some($value)
    };
}

macro_rules! or_default {
    () => {
        Default::default()
    };
    ($value:expr) => {
        $value
    };
}

pub(crate) use {optional, or_default, section};

#[cfg(test)]
mod tests {
    use crate::reading::reader::Reader;
    use crate::reading::section;
    use crate::reading::spellings::Flag;
    use crate::syntax::parse::{Entry, parse};
    use crate::syntax::source::Source;
    use crate::syntax::substitute::Lookup;

    section! {
        /// A section with a renamed key.
        struct Renamed: "a mapping with `fresh`" [
            /// A switch.
            "fresh" fresh: bool = Flag, needed "fresh: true", former "stale";
            /// Another switch.
            "other" other: bool = Flag;
        ]
    }

    fn faults(text: &str) -> Vec<String> {
        let source = Source::new(text);
        let root = parse(text).ok().flatten().expect("the text is a mapping");
        let lookup = Lookup { env: &|_| None, file: &|_| Err(String::new()) };
        let mut reader = Reader::new(&source, "test.yaml", &lookup);
        section::read(&mut reader, &Entry::whole(&root), Renamed::default());
        reader
            .finish()
            .faults
            .into_iter()
            .map(|fault| format!("{} => {}", fault.message, fault.help))
            .collect()
    }

    #[test]
    fn a_former_name_is_refused_and_the_new_one_is_told() {
        let told = "`stale` is now called `fresh` => rename the key to `fresh`";
        assert_eq!(faults("fresh: true"), [""; 0]);
        assert_eq!(faults("stale: true"), [told]);
        assert_eq!(faults("stale: true\nfresh: true"), [told]);
        assert_eq!(faults("other: true"), ["there is no `fresh` => add it: fresh: true"]);
    }
}
