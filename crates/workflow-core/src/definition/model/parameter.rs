//! Inputs and outputs: the values that a run is given, and those that the agent hands over.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::definition::guard_text::GuardText;
use crate::definition::schema::{
    Declared, Default, Key, KeyType, MapReader, Reader, Section, Shape, Written, nearest,
    schema_of, section,
};
use crate::definition::syntax::{Kind, Node};
use crate::definition::value::{Choices, FilledText, Flag, Text, Whole, is_name, not_a_name};
use crate::diagnostic::{Code, Finding, shown};

/// The longest name of a parameter.
const MAX_NAME_LENGTH: usize = 64;

section! {
    Section::guard("an input");
    /// A value that a run is given at its start (an input), or that the agent hands over when it leaves a phase (an output).
    pub struct Parameter {
        /// Its name.
        pub name: String,
        /// The values that it takes.
        pub kind: ParameterKind,
        /// The type of the value. `flag` is true or false, `list` a list of texts.
        #[key("type": TypeOfValue, default: Text("text"), example: r#""text""#)]
        const of_type;
        /// The allowed texts.
        #[key("oneOf": Choices, default: Described("any"), example: r#"["minor", "major"]"#)]
        const one_of;
        #[keys(TextLimits)]
        /// A description for the user.
        #[key("about"?: Text, example: r#""The version to release""#)]
        pub about: String,
        /// Whether a run needs it to start.
        #[key("required": Flag, default: Described("true, unless there is a `default`"), example: "true")]
        pub required: bool,
        /// The value of an input that is not given.
        #[key("default"?: Any, example: r#""1.0.0""#)]
        pub default: Option<Value>,
    }
}

section! {
    Section::guard("a text");
    /// What a text must be like.
    #[derive(Default)]
    pub struct TextLimits {
        /// A regular expression that a text must match.
        #[key("pattern"?: FilledText, check: Some(GuardText::Regex), default: Described("any"), example: r#""^.+$""#)]
        pub pattern: Option<String>,
        /// The smallest number of characters of a text.
        #[key("minLength"?: Whole<1>, default: Described("any"), example: "40")]
        pub min_length: Option<u32>,
    }
}

/// The keys of an output: those of an input without `default`.
pub(super) const OUTPUT: &Section = &Section {
    name: "an output",
    keys: &OUTPUT_KEYS,
    ..*Parameter::SECTION
};

const OUTPUT_KEYS: [Key; 6] = [
    Parameter::of_type.key,
    Parameter::one_of.key,
    TextLimits::pattern.key,
    TextLimits::min_length.key,
    Key {
        summary: "A description for the agent.",
        example: r#""What will be changed, and why""#,
        ..Parameter::about.key
    },
    Key {
        summary: "Whether `next` needs it.",
        default: Default::Described("true"),
        example: "false",
        ..Parameter::required.key
    },
];

/// Inputs by their names.
pub(crate) type Inputs = Parameters<false>;
/// Outputs by their names.
pub(crate) type Outputs = Parameters<true>;

/// Inputs or outputs by their names.
pub(crate) struct Parameters<const ARE_OUTPUTS: bool>;

impl<const ARE_OUTPUTS: bool> Parameters<ARE_OUTPUTS> {
    const SECTION: &'static Section = if ARE_OUTPUTS {
        OUTPUT
    } else {
        Parameter::SECTION
    };
}

impl<const ARE_OUTPUTS: bool> KeyType for Parameters<ARE_OUTPUTS> {
    type Value = Vec<Parameter>;
    const SHAPE: Shape = Shape::new(
        || {
            json!({
                "type": "object",
                "minProperties": 1,
                "propertyNames": {"pattern": "^[A-Za-z0-9_-]+$"},
                "additionalProperties": schema_of(Self::SECTION),
            })
        },
        || "map of maps".to_owned(),
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<Parameter>> {
        let of = written.key.name;
        let nothing = format!("`{of}` names nothing");
        let mut all = Vec::new();
        for entry in written.entries(reader, "a map of names to maps", nothing)? {
            let name = &*entry.key;
            if !is_name(name) || name.len() > MAX_NAME_LENGTH {
                reader.report(not_a_name(Self::SECTION.name, name, entry.key_span));
            } else if let Kind::Map(map) = &entry.value.kind {
                let mut keys = MapReader::new(reader, Self::SECTION, map, entry.key_span);
                all.extend(Parameter::read(&mut keys, name));
            } else {
                let (kind, span) = (entry.value.kind.describe(), entry.value.span);
                let message = format!("`{}` of `{of}` must be a map, not {kind}", shown(name));
                let finding = Finding::error(Code::WrongType, span.or(entry.key_span), message);
                reader.report(finding.help(format!("write `{name}: {{type: text}}`")));
            }
        }
        Some(all)
    }
}

impl Parameter {
    fn read(keys: &mut MapReader<'_, '_, '_>, name: &str) -> Option<Self> {
        let kind = read_kind(keys);
        // An output has none: then it is an unknown key.
        let takes_default = keys.section.keys.len() == Self::SECTION.keys.len();
        let given = keys.place(&Self::default).filter(|_| takes_default);
        let mut parameter = Self {
            name: name.to_owned(),
            kind: ParameterKind::TEXT,
            about: String::new(),
            required: given.is_none(),
            default: None,
        };
        parameter.read_keys(keys);
        let kind = kind?;
        let default = parameter
            .default
            .filter(|value| given.is_some() && kind.takes(value));
        if let Some(place) = given.filter(|_| default.is_none()) {
            let message = format!("the default of `{name}` is not {}", kind.in_words());
            let span = place.value.span.or(place.key_span);
            let finding = Finding::error(Code::ValueOutsideType, span, message);
            keys.report(finding.help(format!("write {}, or change the type", kind.in_words())));
        }
        if parameter.required && given.is_some() {
            let message =
                format!("`{name}` is required and has a default: the default is never used");
            let span = keys.key_of(&Self::required);
            let finding = Finding::error(Code::ValueOutsideType, span, message);
            keys.report(finding.help("remove one of them"));
        }
        Some(Self {
            kind,
            default,
            ..parameter
        })
    }
}

/// Reads the type of a parameter, with the keys that belong to one type.
fn read_kind(keys: &mut MapReader<'_, '_, '_>) -> Option<ParameterKind> {
    let texts = keys.get(&Parameter::one_of);
    let limits: TextLimits = keys.read();
    if keys.has_several(&["type", "oneOf"], "remove `type`") {
        return None;
    }
    let kind = match keys.get(&Parameter::of_type) {
        Some(kind) => kind,
        None if keys.has("type") || keys.has("oneOf") && texts.is_none() => return None,
        None => texts.map_or(ParameterKind::TEXT, ParameterKind::OneOf),
    };
    if kind == ParameterKind::TEXT {
        return Some(ParameterKind::Text(limits));
    }
    for name in ["pattern", "minLength"] {
        if let Some(entry) = keys.entry(name) {
            let message = format!("`{name}` has a meaning for a text only");
            let finding = Finding::error(Code::InvalidValue, entry.key_span, message);
            keys.report(finding.help("write `type: text`, or remove it"));
        }
    }
    let mut seen = HashSet::new();
    if let ParameterKind::OneOf(texts) = &kind
        && let Some(twice) = texts.iter().find(|text| !seen.insert(*text))
    {
        let message = format!("`{}` is in `oneOf` twice", shown(twice));
        let finding = Finding::error(Code::InvalidValue, keys.start, message);
        return keys.reader.refuse(finding.help("keep one of them"));
    }
    Some(kind)
}

/// The type of an input or an output.
pub(crate) struct TypeOfValue;

impl KeyType for TypeOfValue {
    type Value = ParameterKind;
    const SHAPE: Shape = Shape::new(
        || {
            json!({"anyOf": [
                {"enum": ParameterKind::NAMED.map(|(name, _)| name)},
                {
                    "type": "object",
                    "properties": {"oneOf": (Choices::SHAPE.schema)()},
                    "required": ["oneOf"],
                    "additionalProperties": false,
                },
            ]})
        },
        || "`text`, `number`, `flag`, `list`, `{oneOf: [..]}`".to_owned(),
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<ParameterKind> {
        match written.kind() {
            Kind::Text(word) => {
                let mut named = ParameterKind::NAMED.into_iter();
                let kind = named.find_map(|(name, kind)| (name == word).then_some(kind));
                kind.or_else(|| reader.refuse(not_a_type(written, word)))
            }
            Kind::Map(map) => {
                if let [entry] = &*map.entries
                    && entry.key == "oneOf"
                {
                    let key = &Parameter::one_of.key;
                    let texts = Written { key, entry };
                    return Choices::read(reader, texts).map(ParameterKind::OneOf);
                }
                let message = "`type` as a map has `oneOf` and nothing else";
                let finding = Finding::error(Code::InvalidValue, written.span(), message);
                reader.refuse(finding.help("write `type: {oneOf: [minor, major]}`"))
            }
            _ => reader.refuse(written.wrong_type("a text or `{oneOf: [..]}`")),
        }
    }
}

fn not_a_type(written: Written<'_>, word: &str) -> Finding {
    let message = format!(
        "`type` must be `text`, `number`, `flag`, `list` or `{{oneOf: [..]}}`, not `{}`",
        shown(word)
    );
    let finding = Finding::error(Code::InvalidValue, written.span(), message);
    let meant = match word {
        "string" | "str" => Some("text"),
        "boolean" | "bool" => Some("flag"),
        "integer" | "int" | "float" => Some("number"),
        "array" | "texts" => Some("list"),
        word => nearest(word, ParameterKind::NAMED.map(|(name, _)| name)),
    };
    match meant {
        Some(meant) => finding.meant(word, meant),
        None => finding.help("write `type: text`, for example"),
    }
}

/// A text, a number, true or false, or a list of texts.
pub(crate) struct Any;

impl KeyType for Any {
    type Value = Value;
    const SHAPE: Shape = Shape::new(
        || json!({"type": ["string", "number", "boolean", "array"]}),
        || "a value of its type".to_owned(),
    );

    fn read(_reader: &mut Reader<'_>, written: Written<'_>) -> Option<Value> {
        match written.kind() {
            Kind::List(items) => {
                let items: Option<Vec<Value>> = items.iter().map(scalar).collect();
                items.map(Value::Array)
            }
            _ => scalar(&written.entry.value),
        }
    }
}

/// A text, a number, true or false.
pub(super) fn scalar(node: &Node<'_>) -> Option<Value> {
    match &node.kind {
        Kind::Text(_) | Kind::Bool(_) | Kind::Number(_) => Some(node.value()),
        Kind::Null | Kind::Tagged(_) | Kind::List(_) | Kind::Map(_) => None,
    }
}

/// The values that a parameter takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ParameterKind {
    /// A text.
    Text(TextLimits),
    /// A number.
    Number,
    /// `true` or `false`.
    Flag,
    /// A list of texts.
    List,
    /// One of these texts.
    OneOf(Vec<String>),
}

impl ParameterKind {
    /// A text without conditions.
    const TEXT: Self = Self::Text(TextLimits {
        pattern: None,
        min_length: None,
    });

    /// The types that have a name.
    const NAMED: [(&str, Self); 4] = [
        ("text", Self::TEXT),
        ("number", Self::Number),
        ("flag", Self::Flag),
        ("list", Self::List),
    ];

    /// Returns true if it takes every value that the other takes.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(one), Self::Text(other)) => {
                (one.pattern.is_none() || one.pattern == other.pattern)
                    && one.min_length.unwrap_or(0) <= other.min_length.unwrap_or(0)
            }
            (Self::Text(_), Self::OneOf(texts)) => *self == Self::TEXT && !texts.is_empty(),
            (Self::OneOf(texts), Self::OneOf(others)) => {
                others.iter().all(|text| texts.contains(text))
            }
            (one, other) => one == other,
        }
    }

    /// The values of a type, as messages name them.
    pub(crate) fn in_words(&self) -> String {
        match self {
            Self::Text(limits) => {
                let matching = limits.pattern.as_ref().map_or_else(String::new, |pattern| {
                    format!(" that matches `{}`", shown(pattern))
                });
                let least = limits.min_length.map_or_else(String::new, |least| {
                    format!(" of at least {least} characters")
                });
                format!("a text{matching}{least}")
            }
            Self::Number | Self::Flag | Self::List => self.describe(),
            Self::OneOf(texts) => {
                let texts = texts.iter().map(|text| shown(text)).collect::<Vec<_>>();
                format!("one of `{}`", texts.join("`, `"))
            }
        }
    }
}
