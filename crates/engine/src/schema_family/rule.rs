//! The rules that findings name. This module must not know how a rule is checked.

macro_rules! rules {
    ($($(#[$meta:meta])* $variant:ident = $id:literal: $sentence:literal,)+) => {
        /// A rule of a family of clients that a tool breaks.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum SchemaRule {
            $( #[doc = $sentence] $(#[$meta])* $variant, )+
        }

        impl SchemaRule {
            /// All rules.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The stable id of the rule.
            pub fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)+ }
            }

            /// The reason for a refusal, for people.
            pub fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence,)+ }
            }
        }
    };
}

rules! {
    NameChars = "name-chars": "the name has characters that are not allowed",
    NameLength = "name-length": "the name is too long",
    ArgumentName = "property-name": "the name of an argument has characters that are not allowed, or is too long",
    RootObject = "root-object": "the schema lacks `type: object`",
    RootCombinator = "root-combinator": "alternatives are not allowed at the root of the schema",
    RootProperties = "root-properties": "the schema has no `properties`",
    Keyword = "keyword": "this keyword is unknown",
    UsualKeyword = "usual-keyword": "this keyword is unknown, but clients usually remove it themselves",
    Reference = "ref": "references are not allowed",
    ReferenceUnresolved = "ref-unresolved": "the reference does not resolve",
    Const = "const": "`const` is unknown",
    OneOf = "one-of": "`oneOf` is unknown",
    AllOf = "all-of": "`allOf` is unknown",
    Combinator = "combinator": "`anyOf`, `oneOf` and `allOf` are not allowed",
    AnyOfSiblings = "any-of-siblings": "`anyOf` cannot have other keywords beside it",
    TypeMissing = "type-missing": "there is no `type`",
    TypeUnion = "type-union": "`type` must name a single type",
    TypeNull = "type-null": "the type `null` is not allowed",
    TypeValue = "type-value": "this type is unknown",
    Format = "format": "this format is unknown",
    EnumType = "enum-type": "`enum` is for strings only",
    EnumEmptyValue = "enum-empty-value": "`enum` must not contain an empty string",
    ItemsMissing = "items-missing": "a list has no `items`",
    ItemsShape = "items-shape": "`items` must be one schema",
    BooleanSchema = "boolean-schema": "`true` and `false` are not allowed as schemas",
    ObjectEmpty = "object-empty": "`properties` must not be empty",
    FieldMisplaced = "field-misplaced": "this keyword does not belong to the type",
    RequiredUndefined = "required-undefined": "`required` names an argument that is not in `properties`",
    DefaultReference = "default-ref": "a default value contains `$ref`, which clients treat as a reference",
    SchemaValid = "schema-valid": "this is not valid JSON Schema",
    Size = "size": "the schema is too large or too deeply nested",
}

impl SchemaRule {
    /// Returns true if the rule can be satisfied by another form of the schema. Rules about a tool's name cannot.
    pub fn is_repairable(self) -> bool {
        !matches!(self, Self::NameChars | Self::NameLength)
    }

    /// Returns true if clients refuse a tool that breaks this rule.
    pub fn is_refused(self) -> bool {
        self != Self::UsualKeyword
    }
}

#[cfg(test)]
mod tests {
    use super::SchemaRule;

    #[test]
    fn ids_are_unique() {
        let mut ids: Vec<&str> = SchemaRule::ALL.iter().map(|rule| rule.id()).collect();
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}
