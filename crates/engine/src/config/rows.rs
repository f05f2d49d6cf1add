//! The declaration of a section as a table: a key is one row, and the struct, the reader, the known names, the JSON Schema and
//! the documentation's table all come from that row. It must not know a key.

/// Declares a section: its struct, whose default is the section without a key, and the table of its keys. A row is what the key is for, its name, the field with its type,
/// the spelling of its value, and
///
/// - `default`: its value when it is left out, where that is not the type's own default,
/// - `absent`: what counts then, in words, where no value says it,
/// - `needed`: an example of a key that must be there,
/// - `see`: where the documentation says more,
/// - `former`: the name that the key had before: `check` and the start refuse it and name the new one.
///
/// Below `beside` are fields that no key fills alone.
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

        impl $crate::config::section::Section for $name {
            const WHAT: &'static str = $what;
            const ABOUT: &'static str = concat!($($section),+);
            const ROWS: &'static [$crate::config::section::SectionKey<Self>] = &[$($crate::config::section::SectionKey {
                key: $key,
                about: concat!($($doc),+),
                absent: concat!($($absent)?),
                needed: $crate::config::rows::optional!($($needed)?),
                see: concat!($($see)?),
                former: concat!($($former)?),
                read: |reader, entry, section| {
                    let spelling = &$spelling;
                    let old = Some(&section.$field);
                    section.$field = $crate::config::spellings::Spelling::<$type>::read(spelling, reader, entry, old)?;
                    Some(())
                },
                schema: |generator| $crate::config::spellings::Spelling::<$type>::schema(&$spelling, generator),
                bounds: || $crate::config::spellings::Spelling::<$type>::bounds(&$spelling),
                written: |section| $crate::config::spellings::Spelling::<$type>::written(&$spelling, &section.$field),
            }),*];

            $($($own)+)?
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $( $field: $crate::config::rows::or_default!($($default)?), )*
                    $($( $beside: $crate::config::rows::or_default!($($beside_value)?), )+)?
                }
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::config::section::schema::<Self>(generator)
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

pub(super) use {optional, or_default, section};

#[cfg(test)]
mod tests {
    use crate::config::parse::{Entry, parse};
    use crate::config::read::Reader;
    use crate::config::section;
    use crate::config::source::Source;
    use crate::config::spellings::Flag;
    use crate::config::substitute::Lookup;

    section! {
        /// A section with a key that has had another name.
        struct Renamed: "a mapping with `fresh`" [
            /// A switch.
            "fresh" fresh: bool = Flag, needed "fresh: true", former "stale";
            /// Another one.
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
