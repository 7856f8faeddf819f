//! Readers of inputs and outputs.

use serde_json::Value;

use super::names::{is_name, not_a_name};
use crate::definition::model::{Parameter, ParameterKind};
use crate::definition::schema::keys::{input, output, phase, workflow};
use crate::definition::schema::{Field, Key, MapReader, Section, Typed, nearest, wrong_type};
use crate::definition::syntax::{Kind, Map, Node, Reader, Span};
use crate::diagnostic::{Code, Finding, shown};

/// The longest name of a parameter.
const MAX_NAME_LENGTH: usize = 64;

/// Reads `inputs`.
pub(in crate::definition::load) fn read_inputs(keys: &mut MapReader<'_, '_, '_>) -> Vec<Parameter> {
    read_parameters(keys, &workflow::INPUTS, Section::Input)
}

/// Reads `outputs`.
pub(in crate::definition::load) fn read_outputs(
    keys: &mut MapReader<'_, '_, '_>,
) -> Vec<Parameter> {
    read_parameters(keys, &phase::OUTPUTS, Section::Output)
}

fn read_parameters(
    keys: &mut MapReader<'_, '_, '_>,
    key: &Key,
    section: Section,
) -> Vec<Parameter> {
    let Some(entry) = keys.entry(key) else {
        return Vec::new();
    };
    let span = entry.value.span;
    let map = match entry.value.kind {
        Kind::Map(map) => map,
        kind => {
            let finding = wrong_type(key, "a map of names to maps", &kind, span);
            keys.report(finding.help(key.for_example()));
            return Vec::new();
        }
    };
    if map.entries.is_empty() {
        let message = format!("`{}` names nothing", key.name);
        keys.report(Finding::error(Code::MissingKey, span, message).help(key.for_example()));
    }
    let mut all = Vec::new();
    for entry in map.entries {
        let name = entry.key.into_owned();
        if !is_name(&name) || name.len() > MAX_NAME_LENGTH {
            keys.report(not_a_name(section.describe(), &name, entry.key_span));
            continue;
        }
        match entry.value.kind {
            Kind::Map(map) => {
                let reader = &mut *keys.reader;
                let key_span = entry.key_span;
                all.extend(read_parameter(reader, section, name, map, key_span));
            }
            kind => {
                let message = format!(
                    "`{}` of `{}` must be a map, not {}",
                    shown(&name),
                    key.name,
                    kind.describe()
                );
                let finding = Finding::error(
                    Code::WrongType,
                    entry.value.span.or(entry.key_span),
                    message,
                );
                keys.report(finding.help(format!("write `{name}: {{type: text}}`")));
            }
        }
    }
    all
}

/// The keys that inputs and outputs have alike.
struct Shared {
    kind: &'static Key,
    one_of: &'static Typed<Vec<String>>,
    pattern: &'static Typed<crate::definition::schema::Text>,
    min_length: &'static Typed<u32>,
    about: &'static Typed<crate::definition::schema::Text>,
    required: &'static Typed<bool>,
}

const INPUT: Shared = Shared {
    kind: &input::TYPE,
    one_of: &input::ONE_OF,
    pattern: &input::PATTERN,
    min_length: &input::MIN_LENGTH,
    about: &input::ABOUT,
    required: &input::REQUIRED,
};

const OUTPUT: Shared = Shared {
    kind: &output::TYPE,
    one_of: &output::ONE_OF,
    pattern: &output::PATTERN,
    min_length: &output::MIN_LENGTH,
    about: &output::ABOUT,
    required: &output::REQUIRED,
};

fn read_parameter(
    reader: &mut Reader<'_>,
    section: Section,
    name: String,
    map: Map<'_>,
    key_span: Option<Span>,
) -> Option<Parameter> {
    let of = if section == Section::Input {
        INPUT
    } else {
        OUTPUT
    };
    let mut keys = MapReader::new(reader, section, map, key_span);
    let kind = read_kind(&mut keys, &of);
    let about = keys
        .get(of.about)
        .map(|text| text.value)
        .unwrap_or_default();
    let required = keys.field(of.required);
    let default = if section == Section::Input {
        keys.entry(&input::DEFAULT)
    } else {
        None
    };
    let kind = kind?;
    let value = default.as_ref().and_then(|entry| {
        let value = value_of(&entry.value).filter(|value| kind.takes(value));
        if value.is_none() {
            let span = entry.value.span.or(entry.key_span);
            let message = format!("the default of `{name}` is not {}", described(&kind));
            keys.report(
                Finding::error(Code::ValueOutsideType, span, message)
                    .help(format!("write {}, or change the type", described(&kind))),
            );
        }
        value
    });
    if let Field::Value {
        key_span,
        value: true,
        ..
    } = required
        && default.is_some()
    {
        let message = format!("`{name}` is required and has a default: the default is never used");
        let finding = Finding::error(Code::ValueOutsideType, key_span, message);
        keys.report(finding.help("remove one of them"));
    }
    Some(Parameter {
        required: required.value().unwrap_or(default.is_none()),
        name,
        kind,
        about,
        default: value,
    })
}

/// Reads the type of a parameter, with the keys that belong to one type.
fn read_kind(keys: &mut MapReader<'_, '_, '_>, of: &Shared) -> Option<ParameterKind> {
    let one_of = keys.field(of.one_of);
    let pattern = keys.field(of.pattern);
    let min_length = keys.field(of.min_length);
    let given = keys.has("type");
    let entry = keys.entry(of.kind);
    if given && entry.is_none() {
        return None;
    }
    let kind = match entry {
        None => match &one_of {
            Field::Absent => ParameterKind::Text {
                pattern: None,
                min_length: None,
            },
            Field::Value { value, .. } => ParameterKind::OneOf(value.clone()),
            Field::NoValue | Field::Wrong { .. } => return None,
        },
        Some(entry) => {
            if let Field::Value { key_span, .. } | Field::Wrong { key_span, .. } = one_of {
                let finding = Finding::error(
                    Code::BothLists,
                    key_span,
                    "`type` and `oneOf` are both given",
                );
                keys.report(finding.help("remove `type`"));
                return None;
            }
            read_type(keys, of, entry.value)?
        }
    };
    let ParameterKind::Text { .. } = kind else {
        for (name, span) in [
            ("pattern", span_of(&pattern)),
            ("minLength", span_of(&min_length)),
        ] {
            if let Some(span) = span {
                let message = format!("`{name}` has a meaning for a text only");
                let finding = Finding::error(Code::InvalidValue, span, message);
                keys.report(finding.help("write `type: text`, or remove it"));
            }
        }
        return unique(keys, kind);
    };
    Some(ParameterKind::Text {
        pattern: pattern.value().map(|text| text.value),
        min_length: min_length.value(),
    })
}

/// Reports a text that is twice in `oneOf`.
fn unique(keys: &mut MapReader<'_, '_, '_>, kind: ParameterKind) -> Option<ParameterKind> {
    if let ParameterKind::OneOf(texts) = &kind
        && let Some((_, twice)) =
            (texts.iter().enumerate()).find(|(at, text)| texts[..*at].contains(text))
    {
        let message = format!("`{}` is in `oneOf` twice", shown(twice));
        let finding = Finding::error(Code::InvalidValue, keys.start, message);
        keys.report(finding.help("keep one of them"));
        return None;
    }
    Some(kind)
}

#[expect(clippy::option_option, reason = "absent, or without a location")]
fn span_of<T>(field: &Field<T>) -> Option<Option<Span>> {
    match field {
        Field::Wrong { key_span, .. } | Field::Value { key_span, .. } => Some(*key_span),
        Field::Absent | Field::NoValue => None,
    }
}

/// Reads the value of `type`.
fn read_type(
    keys: &mut MapReader<'_, '_, '_>,
    of: &Shared,
    node: Node<'_>,
) -> Option<ParameterKind> {
    const WORDS: [&str; 4] = ["text", "number", "flag", "list"];
    let span = node.span;
    match node.kind {
        Kind::Text(word) => match &*word {
            "text" => Some(ParameterKind::Text {
                pattern: None,
                min_length: None,
            }),
            "number" => Some(ParameterKind::Number),
            "flag" => Some(ParameterKind::Flag),
            "list" => Some(ParameterKind::List),
            word => {
                let message = format!(
                    "`type` must be `text`, `number`, `flag`, `list` or `{{oneOf: [..]}}`, not `{}`",
                    shown(word)
                );
                let finding = Finding::error(Code::InvalidValue, span, message);
                let meant = match word {
                    "string" | "str" => Some("text"),
                    "boolean" | "bool" => Some("flag"),
                    "integer" | "int" | "float" => Some("number"),
                    "array" | "texts" => Some("list"),
                    word => nearest(word, WORDS),
                };
                keys.report(match meant {
                    Some(meant) => finding
                        .help(format!("did you mean `{meant}`?"))
                        .fix(word, meant),
                    None => finding.help("write `type: text`, for example"),
                });
                None
            }
        },
        Kind::Map(mut map) => {
            if let (Some(entry), true) = (map.take("oneOf"), map.entries.is_empty()) {
                let read = of.one_of.reader();
                let texts = read(keys.reader, &of.one_of.key, &entry.value)?;
                return unique(keys, ParameterKind::OneOf(texts));
            }
            let message = "`type` as a map has `oneOf` and nothing else";
            let finding = Finding::error(Code::InvalidValue, span, message);
            keys.report(finding.help("write `type: {oneOf: [minor, major]}`"));
            None
        }
        kind => {
            keys.report(wrong_type(
                of.kind,
                "a text or `{oneOf: [..]}`",
                &kind,
                span,
            ));
            None
        }
    }
}

/// A text, a number, true or false.
pub(super) fn scalar(node: &Node<'_>) -> Option<Value> {
    match &node.kind {
        Kind::Text(text) => Some(Value::from(&**text)),
        Kind::Bool(flag) => Some(Value::from(*flag)),
        Kind::Number(number) => Some(number_value(*number)),
        Kind::Null | Kind::Tagged(_) | Kind::List(_) | Kind::Map(_) => None,
    }
}

/// A number as a value: a whole one without decimals, so that it equals one that was given without.
fn number_value(number: f64) -> Value {
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= WHOLE {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it is whole and in the range"
        )]
        return Value::from(number as i64);
    }
    Value::from(number)
}

/// A value that a default may be.
fn value_of(node: &Node<'_>) -> Option<Value> {
    match &node.kind {
        Kind::List(items) => items
            .iter()
            .map(scalar)
            .collect::<Option<_>>()
            .map(Value::Array),
        _ => scalar(node),
    }
}

/// The values of a type, as messages name them.
pub(super) fn described(kind: &ParameterKind) -> String {
    match kind {
        ParameterKind::Text {
            pattern,
            min_length,
        } => {
            let matching = pattern
                .as_ref()
                .map(|pattern| format!(" that matches `{}`", shown(pattern)));
            let least = min_length.map(|least| format!(" of at least {least} characters"));
            [
                "a text".to_owned(),
                matching.unwrap_or_default(),
                least.unwrap_or_default(),
            ]
            .concat()
        }
        ParameterKind::Number => "a number".to_owned(),
        ParameterKind::Flag => "true or false".to_owned(),
        ParameterKind::List => "a list of texts".to_owned(),
        ParameterKind::OneOf(texts) => {
            let texts = texts.iter().map(|text| shown(text)).collect::<Vec<_>>();
            format!("one of `{}`", texts.join("`, `"))
        }
    }
}
