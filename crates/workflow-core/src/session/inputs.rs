//! The inputs of a run, as a person writes them before the description: `--version 1.2.0`, `version=1.2.0`, `--hotfix`.

use serde_json::Value;

use super::questions::QuestionText;
use crate::definition::{Parameter, ParameterKind, Workflow};
use crate::diagnostic::shown;
use crate::run::{Values, problems};
use crate::white_space::{split_first_word, trim};

/// Reads the inputs at the start of a text; the rest is the description. The error is shown to the person.
pub(crate) fn read<'t>(workflow: &Workflow, text: &'t str) -> Result<(Values, &'t str), String> {
    let mut values = Values::new();
    let mut rest = trim(text);
    while let Some((parameter, after)) = next_input(&workflow.inputs, rest)? {
        let name = &parameter.name;
        let (word, after) = match after {
            Written::Alone(after) if parameter.kind == ParameterKind::Flag => {
                ("true".into(), after)
            }
            Written::Alone(after) | Written::Value(after) => next_word(after),
        };
        let value = parameter
            .parse(&word)
            .map_err(|problem| format!("Input `{name}` {problem}.\n\n{}", usage(workflow)))?;
        if values.insert(name.clone(), value).is_some() {
            return Err(format!(
                "Input `{name}` is given twice.\n\n{}",
                usage(workflow)
            ));
        }
        rest = trim(after);
    }
    Ok((values, rest))
}

/// Adds the defaults, and checks that nothing is missing. The error is shown to the person.
pub(crate) fn complete(workflow: &Workflow, mut values: Values) -> Result<Values, String> {
    for input in &workflow.inputs {
        if let Some(default) = &input.default {
            values
                .entry(input.name.clone())
                .or_insert_with(|| default.clone());
        }
    }
    let problems = problems(&workflow.inputs, &values);
    if problems.is_empty() {
        return Ok(values);
    }
    let lines: Vec<String> = problems
        .into_iter()
        .map(|problem| format!("Input {problem}."))
        .collect();
    Err(format!("{}\n\n{}", lines.join("\n"), usage(workflow)))
}

/// The inputs that are required and missing.
pub(crate) fn missing<'w>(
    workflow: &'w Workflow,
    values: &Values,
) -> impl Iterator<Item = &'w Parameter> {
    let inputs = workflow.inputs.iter();
    inputs.filter(|input| {
        input.required && input.default.is_none() && !values.contains_key(&input.name)
    })
}

/// The question for the value of an input, with the problem of the value before.
pub(crate) fn question(workflow: &str, input: &Parameter, problem: Option<&str>) -> QuestionText {
    let Parameter {
        name, about, kind, ..
    } = input;
    let title = match &**about {
        "" => format!("{workflow}: {name}"),
        about => format!("{workflow}: {name} — {about}"),
    };
    let message = problem.map_or_else(String::new, |problem| format!("Input `{name}` {problem}."));
    let options = match kind {
        ParameterKind::Flag => vec!["true".to_owned(), "false".to_owned()],
        ParameterKind::OneOf(values) => values.clone(),
        ParameterKind::Text { .. } | ParameterKind::Number | ParameterKind::List => Vec::new(),
    };
    let placeholder = match kind {
        ParameterKind::List => Some(format!("{}, separated by commas", kind.describe())),
        _ => options.is_empty().then(|| kind.describe()),
    };
    QuestionText {
        title,
        message,
        options,
        placeholder,
        show: None,
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

/// The answer to a start with inputs and without a description.
pub(crate) fn missing_description(workflow: &Workflow, arguments: &str) -> String {
    format!(
        "The description is missing. Write: /workflow {} {{description}}\n\n{}",
        shown(arguments),
        usage(workflow)
    )
}

/// The line with which a workflow is started, and its inputs.
pub(crate) fn usage(workflow: &Workflow) -> String {
    let mut line = format!("Usage: /workflow {}", workflow.command_name);
    for input in &workflow.inputs {
        let written = match &input.kind {
            ParameterKind::Flag => format!("--{}", input.name),
            _ => format!("--{} {{{}}}", input.name, input.kind.describe()),
        };
        if input.required && input.default.is_none() {
            line = format!("{line} {written}");
        } else {
            line = format!("{line} [{written}]");
        }
    }
    line.push_str(" {description}");
    let about = workflow
        .inputs
        .iter()
        .filter(|input| !input.about.is_empty());
    for input in about {
        line = format!("{line}\n  --{} — {}", input.name, input.about);
    }
    line
}

/// The inputs whose names begin as the last word of a text does: each as it is written, with its description.
pub(crate) fn proposals(workflow: &Workflow, last: &str) -> Vec<(String, String)> {
    let prefix = last.trim_start_matches('-');
    let inputs = workflow.inputs.iter();
    let fitting = inputs.filter(|input| last.starts_with('-') && input.name.starts_with(prefix));
    fitting
        .map(|input| (format!("--{}", input.name), input.about.clone()))
        .collect()
}

/// The form in which an input is written.
enum Written<'t> {
    /// `--name`: its value follows, unless it is a flag.
    Alone(&'t str),
    /// `--name=` or `name=`.
    Value(&'t str),
}

fn next_input<'w, 't>(
    inputs: &'w [Parameter],
    text: &'t str,
) -> Result<Option<(&'w Parameter, Written<'t>)>, String> {
    let find = |name: &str| inputs.iter().find(|input| input.name == name);
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let dashed = text.strip_prefix("--");
    let start = dashed.unwrap_or(text);
    let end = start.find(|c| !is_name(c)).unwrap_or(start.len());
    let (name, after) = start.split_at(end);
    if let Some(value) = after.strip_prefix('=') {
        // Anything else with an equals sign is a part of the description.
        return Ok(find(name).map(|input| (input, Written::Value(value))));
    }
    let ends = after.is_empty() || after.starts_with(char::is_whitespace);
    if dashed.is_none() || name.is_empty() || !ends || inputs.is_empty() {
        return Ok(None);
    }
    if let Some(input) = find(name) {
        return Ok(Some((input, Written::Alone(after))));
    }
    let known: Vec<String> = inputs
        .iter()
        .map(|input| format!("--{}", input.name))
        .collect();
    Err(format!(
        "There is no input `--{name}`. Inputs: {}.",
        known.join(", ")
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
