//! The check of values against the parameters that a definition declares.

use serde_json::{Number, Value};

use super::Values;
use crate::definition::{Parameter, ParameterKind, value_text};
use crate::diagnostic::shown;
use crate::pattern::matches;
use crate::text::shortened;
use crate::white_space::trim;

/// The longest value, in bytes as JSON.
const MAX_VALUE: usize = 64 << 10;
/// UTF-16 units of a wrong value that are shown.
const MAX_SHOWN: u32 = 60;

impl Parameter {
    /// Checks a value; the error says what it must be.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        if value.to_string().len() > MAX_VALUE {
            return Err(format!(
                "must take at most {} KiB; write it to a file and name the file",
                MAX_VALUE >> 10
            ));
        }
        let text = value.as_str().unwrap_or("…");
        if self.required && matches!(self.kind, ParameterKind::Text(_)) && trim(text).is_empty() {
            return Err("must not be empty".to_owned());
        }
        let mistake = self.mistake_in(value);
        mistake.map_or(Ok(()), |mistake| Err(self.with_example(mistake)))
    }

    /// Returns whether it takes a value.
    pub(crate) fn takes(&self, value: &Value) -> bool {
        self.mistake_in(value).is_none()
    }

    /// Returns what a value must be, if it is not.
    fn mistake_in(&self, value: &Value) -> Option<String> {
        let (number, found) = match value {
            Value::Number(number) => (number.as_f64(), number.to_string()),
            Value::Array(items) => {
                let length = Number::from(items.len());
                (length.as_f64(), format!("{length} items"))
            }
            _ => (None, String::new()),
        };
        let is_outside = number.is_some_and(|number| {
            self.least().is_some_and(|least| number < least)
                || self.most().is_some_and(|most| number > most)
                || self.limits.whole && number.fract() != 0.0
        });
        let outside = || is_outside.then(|| format!("must be {}, not {found}", self.in_words()));
        self.kind.mistake_in(value).or_else(outside)
    }

    /// What is said of a value, with the example that the definition gives.
    fn with_example(&self, said: String) -> String {
        match &self.example {
            Some(example) => format!("{said}, for example `{}`", shown(&value_text(example))),
            None => said,
        }
    }

    /// Reads a value that a person wrote.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        let wrong = || {
            let wrong = format!("must be {}, not `{}`", self.kind.describe(), shown(text));
            self.with_example(wrong)
        };
        let value = match &self.kind {
            ParameterKind::Text(_) | ParameterKind::OneOf(_) => Value::from(text),
            ParameterKind::List => {
                let items = text.split(',').map(str::trim);
                items.filter(|item| !item.is_empty()).collect()
            }
            ParameterKind::Number => {
                let number = text.parse::<i64>().map(Value::from);
                number
                    .or_else(|_| text.parse::<f64>().map(Value::from))
                    .map_err(|_| wrong())?
            }
            ParameterKind::Flag => match text {
                "true" | "yes" => Value::from(true),
                "false" | "no" => Value::from(false),
                _ => return Err(wrong()),
            },
        };
        self.check(&value)?;
        Ok(value)
    }

    /// A value that fits, for an example.
    pub(crate) fn fitting(&self) -> Value {
        if let Some(example) = &self.example {
            return example.clone();
        }
        match &self.kind {
            ParameterKind::Text(_) => Value::from("…"),
            ParameterKind::Number => self.limits.min.clone().unwrap_or(1.into()).into(),
            ParameterKind::Flag => Value::from(true),
            ParameterKind::List => Value::from(vec!["…"]),
            ParameterKind::OneOf(values) => values.first().map_or("…", String::as_str).into(),
        }
    }
}

impl ParameterKind {
    /// Returns what a value must be, if it is not of this type.
    fn mistake_in(&self, value: &Value) -> Option<String> {
        let found = |text: &str| shown(&shortened(text, MAX_SHOWN));
        let fits = match (self, value) {
            (Self::Text(limits), Value::String(text)) => {
                let least = limits.min_length.unwrap_or_default();
                let length = text.chars().count();
                if length < least as usize {
                    return Some(format!(
                        "must have at least {least} characters, not {length}"
                    ));
                }
                let pattern = limits.pattern.as_ref();
                if let Some(pattern) = pattern.filter(|pattern| !matches(pattern, text)) {
                    return Some(format!("must match `{pattern}`, not `{}`", found(text)));
                }
                true
            }
            (Self::Number, Value::Number(_)) | (Self::Flag, Value::Bool(_)) => true,
            (Self::List, Value::Array(items)) => items.iter().all(Value::is_string),
            (Self::OneOf(values), Value::String(text)) => values.contains(text),
            _ => false,
        };
        let written = value.to_string();
        (!fits).then(|| format!("must be {}, not `{}`", self.describe(), found(&written)))
    }

    /// The values that it takes, for people and for the agent.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Text(_) => "a text".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::List => "a list of texts".to_owned(),
            Self::OneOf(values) => format!("one of {}", values.join(", ")),
        }
    }
}

/// Adds the defaults of parameters that have no value, and returns the problems of the values.
pub(crate) fn complete_values(parameters: &[Parameter], values: &mut Values) -> Vec<String> {
    for parameter in parameters {
        if let Some(default) = &parameter.default {
            let value = values.entry(parameter.name.clone());
            value.or_insert_with(|| default.clone());
        }
    }
    problems(parameters, values)
}

/// Checks named values against parameters. The errors name the value, and come in the order of the parameters; those of
/// values that nothing declares come last.
pub fn problems(parameters: &[Parameter], given: &Values) -> Vec<String> {
    let mut problems = Vec::new();
    for parameter in parameters {
        match given.get(&parameter.name) {
            Some(value) => {
                if let Err(problem) = parameter.check(value) {
                    problems.push(format!("`{}` {problem}", parameter.name));
                }
            }
            None if parameter.required => {
                let about = match &*parameter.about {
                    "" => String::new(),
                    about => format!(": {about}"),
                };
                let kind = parameter.in_words();
                let missing = format!("`{}` is missing ({kind}{about})", parameter.name);
                problems.push(parameter.with_example(missing));
            }
            None => {}
        }
    }
    let known = |name: &str| parameters.iter().any(|parameter| parameter.name == name);
    let unknown = given.keys().filter(|name| !known(name));
    problems.extend(unknown.map(|name| format!("`{}` is not declared", shown(name))));
    problems
}
