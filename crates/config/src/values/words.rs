//! Values that a configuration expresses by words, and lists of words. This module must not know any word.

use schemars::JsonSchema;

/// Returns true if the space-separated `list` contains `word`.
pub(crate) fn is_word_of(word: &str, list: &str) -> bool {
    list.split(' ').any(|other| other == word)
}

/// Values that a configuration expresses by words.
pub(crate) trait Words: Copy + PartialEq + JsonSchema + 'static {
    /// All words, each with the value that it stands for.
    const ALL: &'static [(&'static str, Self)];

    /// The word for this value.
    fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, value)| *value == self).map_or("", |(word, _)| word)
    }
}

/// Declares the words that are allowed for a key, each with its meaning.
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$variant_meta:meta])+ $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, schemars::JsonSchema)]
        $vis enum $name {
            $( $(#[$variant_meta])+ #[schemars(rename = $word)] $variant, )+
        }

        impl $name {
            /// All words that a configuration may contain, each with its value.
            pub const ALL: &[(&str, Self)] = &[$(($word, Self::$variant)),+];

            /// The word for this value in a configuration.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl $crate::values::words::Words for $name {
            const ALL: &'static [(&'static str, Self)] = Self::ALL;
        }
    };
}

pub(crate) use words;
