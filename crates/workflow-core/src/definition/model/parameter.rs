//! Inputs and outputs: the values that a run is given, and those that the agent hands over.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value, json};

use super::condition::Test;
use crate::definition::guard_text::GuardText;
use crate::definition::schema::{
    Change, Declared, Default, Key, KeyType, MapReader, Reader, Section, Shape, Written, flat,
    named, nearest, only, schema_of, section,
};
use crate::definition::syntax::{Entry, Kind};
use crate::definition::value::{
    Choices, FilledText, Flag, Text, Whole, is_name, not_a_name, scalar,
};
use crate::diagnostic::{Code, Finding, shown};
use crate::text::join;

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
        /// What a number or a list must be like.
        #[keys]
        #[serde(default, skip_serializing_if = "crate::definition::schema::is_absent")]
        pub limits: ValueLimits,
        /// A description for the user.
        #[key("about"?: Text, example: r#""The version to release""#)]
        pub about: String,
        /// Whether a run needs it to start.
        #[key("required": Flag, default: Described("true, unless there is a `default`"), example: "true")]
        pub required: bool,
        /// The value of an input that is not given.
        #[key("default"?: Any, example: r#""1.0.0""#)]
        pub default: Option<Value>,
        /// A value that fits. The answer to a wrong one shows it.
        #[key("example"?: Any, change: Some(Change::Text), example: r#""1.0.0""#)]
        pub example: Option<Value>,
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

section! {
    Section::guard("a number or a list");
    /// What a number or a list must be like.
    #[derive(Default)]
    pub struct ValueLimits {
        /// The smallest number.
        #[key("min"?: AnyNumber, default: Described("any"), example: "1")]
        pub min: Option<Number>,
        /// The largest number.
        #[key("max"?: AnyNumber, default: Described("any"), example: "5")]
        pub max: Option<Number>,
        /// The smallest number of items of a list.
        #[key("minItems"?: Whole<1>, default: Described("any"), example: "1")]
        pub min_items: Option<u32>,
        /// The largest number of items of a list.
        #[key("maxItems"?: Whole<1>, default: Described("any"), example: "12")]
        pub max_items: Option<u32>,
        /// True if a bound is the number, which then is whole.
        pub whole?: bool,
    }
}

/// The keys of an output: those of an input without `default` and `example`.
pub(super) const OUTPUT: &Section = &Section {
    name: "an output",
    keys: &OUTPUT_KEYS,
    ..*Parameter::SECTION
};

const OUTPUT_KEYS: [Key; 10] = flat(&[
    &[Parameter::of_type.key, Parameter::one_of.key],
    TextLimits::SECTION.keys,
    ValueLimits::SECTION.keys,
    &[
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
    ],
]);

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
    const SHAPE: Shape = Shape::new(|| named(&schema_of(Self::SECTION)), "map of maps");

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<Parameter>> {
        let of = written.key.name;
        let nothing = format!("`{of}` names nothing");
        let mut all = Vec::new();
        let before = std::mem::replace(&mut reader.sites.lacks_values, true);
        let entries = written.entries(reader, "a map of names to maps", nothing)?;
        for entry in entries {
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
        reader.sites.lacks_values = before || all.len() < entries.len();
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
            required: given.is_none(),
            ..Self::new(name, ParameterKind::TEXT)
        };
        parameter.read_keys(keys);
        parameter.kind = kind?;
        parameter.check_limits(keys);
        let shown = keys.place(&Self::example).filter(|_| takes_default);
        let mut outside = |what: &str, place: Option<&Entry<'_>>, value: Option<Value>| {
            let value = value.filter(|value| place.is_some() && parameter.takes(value));
            if let Some(place) = place.filter(|_| value.is_none()) {
                let words = parameter.in_words();
                let message = format!("the {what} of `{name}` is not {words}");
                let span = place.span();
                let finding = Finding::error(Code::ValueOutsideType, span, message);
                keys.report(finding.help(format!("write {words}, or change the type")));
            }
            value
        };
        let default = outside("default", given, parameter.default.clone());
        let example = outside("example", shown, parameter.example.clone());
        if parameter.required && given.is_some() {
            let message =
                format!("`{name}` is required and has a default: the default is never used");
            let span = keys.key_of(&Self::required);
            let finding = Finding::error(Code::ValueOutsideType, span, message);
            keys.report(finding.help("remove one of them"));
        }
        Some(Self {
            default,
            example,
            ..parameter
        })
    }

    /// A required value of a type.
    pub fn new(name: &str, kind: ParameterKind) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            limits: ValueLimits::default(),
            about: String::new(),
            required: true,
            default: None,
            example: None,
        }
    }

    /// Returns true if nothing works without a value that is given.
    pub(crate) fn is_needed(&self) -> bool {
        self.required && self.default.is_none()
    }

    /// Reports limits of another type, and those between which nothing is.
    fn check_limits(&self, keys: &mut MapReader<'_, '_, '_>) {
        let of_type = match self.kind {
            ParameterKind::Text(_) => "text",
            ParameterKind::Number => "number",
            ParameterKind::List => "list",
            ParameterKind::Flag | ParameterKind::OneOf(_) => "",
        };
        let limits = [
            ("text", ["pattern", "minLength"]),
            ("number", ["min", "max"]),
            ("list", ["minItems", "maxItems"]),
        ];
        let others = limits.iter().filter(|(meant, _)| *meant != of_type);
        for (meant, name) in others.flat_map(|(meant, names)| names.map(|name| (meant, name))) {
            if let Some(entry) = keys.entry(name) {
                let message = format!("`{name}` has a meaning for a {meant} only");
                let finding = Finding::error(Code::InvalidValue, entry.key_span, message);
                keys.report(finding.help(format!("write `type: {meant}`, or remove it")));
            }
        }
        let between = self.least().zip(self.most());
        if between.is_some_and(|(least, most)| least > most) {
            let name = &self.name;
            let message = format!("`{name}` takes no value: the limits exclude each other");
            let finding = Finding::error(Code::ValueOutsideType, keys.start, message);
            keys.report(finding.help("lower the smallest, or raise the largest"));
        }
    }

    /// The smallest number, or length of a list.
    pub(crate) fn least(&self) -> Option<f64> {
        match self.kind {
            ParameterKind::Number => self.limits.min.as_ref().and_then(Number::as_f64),
            ParameterKind::List => Some(self.limits.min_items.unwrap_or(0).into()),
            _ => None,
        }
    }

    /// The largest number, or length of a list.
    pub(crate) fn most(&self) -> Option<f64> {
        match self.kind {
            ParameterKind::Number => self.limits.max.as_ref().and_then(Number::as_f64),
            _ => self.limits.max_items.map(f64::from),
        }
    }

    /// Returns true if it takes every value that the other takes.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let is_above = |one: Option<f64>, other: Option<f64>| {
            one.is_some_and(|one| other.is_none_or(|other| one > other))
        };
        let negative = |bound: Option<f64>| bound.map(|bound| -bound);
        self.kind.covers(&other.kind)
            && !is_above(self.least(), other.least())
            && !is_above(negative(self.most()), negative(other.most()))
    }

    /// The texts of its values, where a definition decides them.
    pub(crate) fn closed_texts(&self) -> Option<Vec<String>> {
        match &self.kind {
            ParameterKind::OneOf(texts) => Some(texts.clone()),
            ParameterKind::Flag => Some(["true", "false"].map(str::to_owned).to_vec()),
            ParameterKind::Number => Some(vec![self.in_words()]),
            ParameterKind::Text(_) | ParameterKind::List => None,
        }
    }

    /// The values that it takes, as messages name them.
    pub(crate) fn in_words(&self) -> String {
        let limits = &self.limits;
        let is_number = self.kind == ParameterKind::Number;
        let items = |bound: Option<u32>| bound.map(Number::from);
        let (min, max) = if is_number {
            (limits.min.clone(), limits.max.clone())
        } else {
            (items(limits.min_items), items(limits.max_items))
        };
        let words = if limits.whole {
            "a whole number".to_owned()
        } else {
            self.kind.in_words()
        };
        let within = Test::Within { min, max }.to_string();
        match within.strip_prefix("is ") {
            Some("any") | None => words,
            Some(bounds) if is_number => format!("{words} {bounds}").replace(" at ", " of at "),
            Some(bounds) => format!("{words} with {bounds} items").replace("with from", "with"),
        }
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
            let names = ParameterKind::NAMED.map(|(name, _)| name);
            json!({"anyOf": [{"enum": names}, only("oneOf", &(Choices::SHAPE.schema)())]})
        },
        "`text`, `number`, `flag`, `list`, `{oneOf: [..]}`",
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
    let given = shown(word);
    let message = format!(
        "`type` must be `text`, `number`, `flag`, `list` or `{{oneOf: [..]}}`, not `{given}`"
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
        "a value of its type",
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

/// A number.
pub(crate) struct AnyNumber;

impl KeyType for AnyNumber {
    type Value = Number;
    const SHAPE: Shape = Shape::new(|| json!({"type": "number"}), "number");

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Number> {
        match written.entry.value.value() {
            Value::Number(number) => Some(number),
            _ => reader.refuse(written.wrong_type("a number")),
        }
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
    pub(crate) const TEXT: Self = Self::Text(TextLimits {
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
    fn covers(&self, other: &Self) -> bool {
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

    /// Returns true if it takes some value of the other type.
    pub(crate) fn may_take(&self, other: &Self) -> bool {
        let is_text = |kind: &Self| matches!(kind, Self::Text(_) | Self::OneOf(_));
        match (self, other) {
            (Self::OneOf(texts), Self::OneOf(others)) => {
                others.iter().any(|text| texts.contains(text))
            }
            (one, other) => one == other || is_text(one) && is_text(other),
        }
    }

    /// The values of a type, as messages name them.
    fn in_words(&self) -> String {
        match self {
            Self::Text(limits) => {
                let matching = limits.pattern.as_ref();
                let matching = matching.map(|it| format!(" that matches `{}`", shown(it)));
                let least = limits.min_length;
                let least = least.map(|least| format!(" of at least {least} characters"));
                "a text".to_owned() + &matching.unwrap_or_default() + &least.unwrap_or_default()
            }
            Self::Number | Self::Flag | Self::List => self.describe(),
            Self::OneOf(texts) => {
                let texts = join(texts.iter().map(|text| shown(text)), "`, `");
                format!("one of `{texts}`")
            }
        }
    }
}
