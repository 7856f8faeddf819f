//! The inputs of a run, as a person writes them before the description: `--version 1.2.0`, `version=1.2.0`, `--hotfix`.

use serde_json::Value;

use crate::definition::{Parameter, ParameterKind, Workflow, nearest};
use crate::effect::Question;
use crate::run::{Values, complete_values};
use crate::text;
use crate::white_space::{is_white_space, split_first_word, trim};

/// Ends the inputs; the description follows.
const END_OF_INPUTS: &str = "--";

/// Reads the inputs at the start of a text; the rest, or what follows `--`, is the description. The error is shown to the
/// person.
pub(crate) fn read<'t>(workflow: &Workflow, text: &'t str) -> Result<(Values, &'t str), String> {
    let mut values = Values::new();
    let mut rest = trim(text);
    while let Some((parameter, written)) = next_input(&workflow.inputs, rest)? {
        let name = &parameter.name;
        let refuse = |problem: String| format!("Input `{name}` {problem}.\n\n{}", usage(workflow));
        let no_value = || refuse(format!("has no value: {}", parameter.kind.describe()));
        let (word, after) = match written.strip_prefix('=') {
            Some(value) => next_word(value),
            None => value_after(parameter, written).ok_or_else(no_value)?,
        };
        let value = parameter.parse(&word).map_err(refuse)?;
        match (values.get_mut(name), value) {
            (Some(Value::Array(items)), Value::Array(more)) => items.extend(more),
            (Some(_), _) => return Err(refuse("is given twice".to_owned())),
            (None, value) => {
                values.insert(name.clone(), value);
            }
        }
        rest = trim(after);
    }
    let rest = match split_first_word(rest) {
        (END_OF_INPUTS, description) if !workflow.inputs.is_empty() => description,
        _ => rest,
    };
    Ok((values, rest))
}

/// The value of an input that is written as `--name`, and the text after it. `None` if there is none.
fn value_after<'t>(parameter: &Parameter, text: &'t str) -> Option<(String, &'t str)> {
    let (word, after) = next_word(text);
    if parameter.kind != ParameterKind::Flag {
        return (!word.is_empty() && !word.starts_with("--")).then_some((word, after));
    }
    let is_value = matches!(&*word, "true" | "false");
    let alone = ("true".to_owned(), text);
    Some(if is_value { (word, after) } else { alone })
}

/// Adds the defaults, and checks that nothing is missing. The error is shown to the person.
pub(crate) fn complete(workflow: &Workflow, mut values: Values) -> Result<Values, String> {
    let problems = complete_values(&workflow.inputs, &mut values).into_iter();
    let lines = text::join(problems.map(|problem| format!("Input {problem}.")), "\n");
    if lines.is_empty() {
        return Ok(values);
    }
    Err(format!("{lines}\n\n{}", usage(workflow)))
}

/// The first input that is required and missing.
pub(crate) fn missing<'w>(workflow: &'w Workflow, values: &Values) -> Option<&'w Parameter> {
    let mut inputs = workflow.inputs.iter();
    inputs.find(|input| input.is_needed() && !values.contains_key(&input.name))
}

/// The question for the value of an input, with the problem of the value before.
pub(crate) fn question(workflow: &str, input: &Parameter, problem: Option<&str>) -> Question {
    let Parameter {
        name, about, kind, ..
    } = input;
    let title = match &**about {
        "" => format!("{workflow}: {name}"),
        about => format!("{workflow}: {name} — {about}"),
    };
    let message = problem.map_or_else(String::new, |problem| format!("Input `{name}` {problem}."));
    let options = choices(kind);
    let placeholder = match kind {
        ParameterKind::List => Some(format!("{}, separated by commas", kind.describe())),
        _ => options.is_empty().then(|| kind.describe()),
    };
    Question {
        options,
        placeholder,
        ..Question::new(title, message)
    }
}

/// Reads the answer to the question for an input. The error is a clause about the input.
pub(crate) fn read_answer(input: &Parameter, answer: &str) -> Result<Value, String> {
    let answer = trim(answer);
    if answer.is_empty() {
        return Err("must not be empty".to_owned());
    }
    input.parse(answer)
}

/// The line with which a workflow is started.
pub(crate) fn start_line(workflow: &Workflow, description: &str) -> String {
    let mut line = format!("/workflow {}", workflow.command_name);
    for input in &workflow.inputs {
        let kind = input.kind.describe();
        let written = match &input.kind {
            ParameterKind::Flag => format!("--{}", input.name),
            _ => format!("--{} {{{}}}", input.name, kind.trim_start_matches("a ")),
        };
        if input.is_needed() {
            line = format!("{line} {written}");
        } else {
            line = format!("{line} [{written}]");
        }
    }
    format!("{line} {description}")
}

/// The line with which a workflow is started, and its inputs.
pub(crate) fn usage(workflow: &Workflow) -> String {
    let mut line = format!("Usage: {}", start_line(workflow, "{description}"));
    let inputs = workflow.inputs.iter();
    for input in inputs.filter(|input| !input.about.is_empty()) {
        line = format!("{line}\n  --{} — {}", input.name, input.about);
    }
    line
}

/// The proposals for the last word behind these inputs: values of the input before it, or inputs that are not given yet.
/// Each is as it is written, with its description.
pub(crate) fn proposals(workflow: &Workflow, written: &str, last: &str) -> Vec<(String, String)> {
    let find = |name: &str| workflow.inputs.iter().find(|input| input.name == name);
    let given = |text| match read(workflow, text) {
        Ok((values, "")) => Some(values),
        Ok(_) | Err(_) => None,
    };
    let values_of = |input: &Parameter, before: &str, start: &str| {
        let values = choices(&input.kind).into_iter();
        let fitting = values.filter(|value| value.starts_with(start));
        fitting
            .map(|value| (format!("{before}{value}"), input.about.clone()))
            .collect()
    };
    let (before, open) = written.rsplit_once(is_white_space).unwrap_or(("", written));
    let awaited = open.strip_prefix("--").and_then(find);
    if let Some(input) = awaited.filter(|input| input.kind != ParameterKind::Flag) {
        return given(before).map_or_else(Vec::new, |_| values_of(input, "", last));
    }
    let Some(given) = given(written) else {
        return Vec::new();
    };
    if let Some((name, start)) = last.split_once('=') {
        let input = find(name.trim_start_matches('-'));
        return input.map_or_else(Vec::new, |input| {
            values_of(input, &format!("{name}="), start)
        });
    }
    let Some(prefix) = last.strip_prefix('-') else {
        return Vec::new();
    };
    let prefix = prefix.trim_start_matches('-');
    let inputs = workflow.inputs.iter();
    inputs
        .filter(|input| input.name.starts_with(prefix) && !given.contains_key(&input.name))
        .map(|input| (format!("--{}", input.name), input.about.clone()))
        .collect()
}

/// The values that a type has, if they can be listed.
fn choices(kind: &ParameterKind) -> Vec<String> {
    match kind {
        ParameterKind::Flag => vec!["true".to_owned(), "false".to_owned()],
        ParameterKind::OneOf(values) => values.clone(),
        ParameterKind::Text(_) | ParameterKind::Number | ParameterKind::List => Vec::new(),
    }
}

/// The input that a text begins with, and the text after its name: `=` and the value, or the value of `--name` unless it is
/// a flag.
fn next_input<'w, 't>(
    inputs: &'w [Parameter],
    text: &'t str,
) -> Result<Option<(&'w Parameter, &'t str)>, String> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let dashed = text.strip_prefix("--");
    let start = dashed.unwrap_or(text);
    let end = start.find(|c| !is_name(c)).unwrap_or(start.len());
    let (name, after) = start.split_at(end);
    let has_value = after.starts_with('=');
    let ends = after.is_empty() || after.starts_with(char::is_whitespace);
    let is_alone = dashed.is_some() && !name.is_empty() && ends && !inputs.is_empty();
    if !has_value && !is_alone {
        return Ok(None);
    }
    if let Some(input) = inputs.iter().find(|input| input.name == name) {
        return Ok(Some((input, after)));
    }
    let names = || inputs.iter().map(|input| &*input.name);
    let problem = if is_alone {
        let known = text::join(names().map(|name| format!("--{name}")), ", ");
        format!("There is no input `--{name}`. Inputs: {known}.")
    } else if let Some(meant) = nearest(name, names()) {
        format!("There is no input `{name}`. Did you mean `{meant}`?")
    } else {
        // Anything else with an equals sign is a part of the description.
        return Ok(None);
    };
    Err(format!(
        "{problem} Write `{END_OF_INPUTS}` before a description that begins so."
    ))
}

/// The next word, which may be quoted, and the text after it.
fn next_word(text: &str) -> (String, &str) {
    let text = text.trim_start();
    for quote in ['"', '\''] {
        if let Some(rest) = text.strip_prefix(quote)
            && let Some((inside, after)) = rest.split_once(quote)
        {
            return (inside.to_owned(), trim(after));
        }
    }
    let (word, rest) = split_first_word(text);
    (word.to_owned(), rest)
}
