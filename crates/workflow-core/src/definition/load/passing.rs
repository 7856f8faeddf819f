//! What workflows pass to their subworkflows and take over from them, checked once all are read.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::directory::{Draft, ReferenceSites};
use super::flow::{Flow, PendingName, check_comparison};
use crate::definition::model::{
    Parameter, ParameterKind, Subject, Subworkflow, Workflow, only_name, output_of, value_text,
};
use crate::definition::schema::{Sites, listed, nearest};
use crate::diagnostic::{Code, Diagnostic, Finding, Location, Severity, shown};

/// The problem with what a workflow has for an input of its subworkflow, if there is one, and its help.
fn input_problem(input: &Parameter, by: &Workflow) -> Option<(Severity, String, String)> {
    let (name, kind) = (shown(&input.name), input.in_words());
    let is_needed = input.required && input.default.is_none();
    let Some(other) = by.inputs.iter().find(|other| other.name == input.name) else {
        // Without a value, an input that is not required is as if it was not given.
        let (severity, end) = match input.default {
            Some(_) => (Severity::Info, ": it always has its default"),
            None if !input.required => (Severity::Warning, ""),
            None => (Severity::Error, ""),
        };
        let what = format!("has the input `{name}`, which this workflow does not have{end}");
        let help = format!("declare `{name}` in `inputs` of this workflow too: {kind}");
        return Some((severity, what, help));
    };
    let (what, help) = if !input.covers(other) {
        (
            format!(
                "takes other values for the input `{name}` than this workflow: {kind}, not {}",
                other.in_words()
            ),
            format!("give `{name}` the same type in both workflows"),
        )
    } else if is_needed && !other.required && other.default.is_none() {
        (
            format!("requires the input `{name}`, which may have no value in this workflow"),
            format!("give `{name}` a default, or remove its `required: false`"),
        )
    } else {
        return None;
    };
    Some((Severity::Error, what, help))
}

/// Checks a workflow against its subworkflows. `loops` are the keys of those that contain a loop, and gets its own.
pub(super) fn check_passing<'d>(
    draft: &'d Draft,
    drafts: &HashMap<&str, &'d Draft>,
    loops: &mut HashSet<&'d str>,
) -> Vec<Diagnostic> {
    let find = |key: &str| drafts.get(key).map(|draft| &draft.workflow);
    let (own, none) = (Sites::default(), Vec::new());
    let check = Passing {
        draft,
        flow: Flow {
            workflow: &draft.workflow,
            own: &own,
            phases: &none,
            jumps: 0,
            find: &find,
        },
    };
    let mut found: Vec<Diagnostic> = draft
        .pending
        .iter()
        .filter_map(|name| check.name(name))
        .collect();
    let mut named = HashSet::new();
    for (reference, sites) in draft.workflow.subworkflows().zip(&draft.references) {
        let Some(inner) = drafts.get(&*reference.key) else {
            continue;
        };
        match &reference.with {
            Some(with) => {
                let passed = with.iter();
                found.extend(passed.filter_map(|(name, value)| {
                    check.passed(reference, sites, &inner.workflow, name, value)
                }));
                found.extend(check.missing(reference, sites, &inner.workflow));
            }
            None if named.insert(&reference.key) => {
                found.extend(check.equal_names(sites, &inner.workflow));
            }
            None => {}
        }
        found.extend(check.ends(reference, sites, inner));
        found.extend(check.list(reference, sites, &inner.workflow, loops));
        if reference.for_each.is_some() || loops.contains(&*inner.workflow.key) {
            loops.insert(&draft.workflow.key);
        }
    }
    found
}

struct Passing<'f, 'd> {
    draft: &'d Draft,
    flow: Flow<'f>,
}

impl<'f> Passing<'f, '_> {
    fn diagnostic(&self, location: &Location, severity: Severity, message: String) -> Diagnostic {
        Diagnostic::new(Code::SubworkflowInput, severity, message)
            .at(location.clone())
            .about(&self.draft.workflow.key)
    }

    fn error(&self, location: &Location, message: String, help: impl Into<String>) -> Diagnostic {
        self.diagnostic(location, Severity::Error, message)
            .with_help(help)
    }

    /// A name of an output of a subworkflow that there is not, or that is compared with what it cannot be.
    fn name(&self, name: &PendingName) -> Option<Diagnostic> {
        let PendingName {
            subject,
            comparison,
            is_needed,
            location,
        } = name;
        let finding = if let Some(comparison) = comparison {
            check_comparison(&self.flow, comparison, None).err()?
        } else {
            let unknown = self.flow.named(subject).err()?;
            let message = format!("unknown variable `{{{subject}}}`: {}", unknown.why);
            let severity = if *is_needed {
                Severity::Error
            } else {
                Severity::Warning
            };
            let finding = Finding::new(severity, Code::UnknownVariable, None, message);
            unknown.suggest(finding, |name| format!("{{{name}}}"))
        };
        let found = Diagnostic::new(finding.code, finding.severity, finding.message);
        let found = found.at(location.clone()).about(&self.draft.workflow.key);
        Some(found.with_help(finding.help))
    }

    /// The values that something in `with` can have; `None` where that is wrong and reported.
    fn type_of(&self, text: &str, has_list: bool) -> Option<Parameter> {
        let of_kind = |kind| Some(Parameter::new("", kind));
        match only_name(text) {
            None | Some(Subject::Item) => of_kind(ParameterKind::TEXT),
            Some(Subject::ItemNumber | Subject::ItemCount) => of_kind(ParameterKind::Number),
            Some(subject) => self.flow.named(&subject).ok().map(Cow::into_owned),
        }
        .filter(|_| has_list || !only_name(text).is_some_and(|subject| subject.is_item()))
    }

    /// A value of `with` that the subworkflow does not take.
    fn passed(
        &self,
        reference: &Subworkflow,
        sites: &ReferenceSites,
        inner: &Workflow,
        name: &str,
        value: &Value,
    ) -> Option<Diagnostic> {
        let (key, location) = (
            shown(&reference.key),
            sites.with.get(name).unwrap_or(&sites.location),
        );
        let Some(input) = inner.inputs.iter().find(|input| input.name == name) else {
            let message = format!("subworkflow `{key}` has no input `{}`", shown(name));
            let known = || inner.inputs.iter().map(|input| &*input.name);
            let help = match nearest(name, known()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if inner.inputs.is_empty() => {
                    format!("remove it, or declare it in `inputs` of `{key}`")
                }
                None => format!("known here: {}", listed(known())),
            };
            return Some(self.error(location, message, help));
        };
        let words = input.in_words();
        let given = match value {
            Value::String(text) if text.contains('{') => {
                let value = self.type_of(text, reference.for_each.is_some())?;
                (!input.kind.may_take(&value.kind)).then(|| value.in_words())?
            }
            value => (!input.takes(value)).then(|| format!("`{}`", shown(&value_text(value))))?,
        };
        let message = format!(
            "the input `{}` of subworkflow `{key}` is {words}, not {given}",
            shown(name)
        );
        Some(self.error(location, message, format!("pass {words}")))
    }

    /// The inputs that `with` leaves out, and that have no default.
    fn missing(
        &self,
        reference: &Subworkflow,
        sites: &ReferenceSites,
        inner: &Workflow,
    ) -> Option<Diagnostic> {
        let with = reference.with.as_ref()?;
        let mut inputs = inner.inputs.iter();
        let input = inputs.find(|input| {
            input.required && input.default.is_none() && !with.contains_key(&input.name)
        })?;
        let (key, name) = (shown(&reference.key), shown(&input.name));
        let message =
            format!("subworkflow `{key}` requires the input `{name}`, which `with` does not pass");
        let help = format!("add `{name}` to `with`: {}", input.in_words());
        Some(self.error(&sites.location, message, help))
    }

    /// The inputs of a subworkflow without `with` that do not get a value of the workflow around.
    fn equal_names(&self, sites: &ReferenceSites, inner: &Workflow) -> Vec<Diagnostic> {
        let inputs = inner.inputs.iter();
        let problems = inputs.filter_map(|input| input_problem(input, &self.draft.workflow));
        let found = problems.map(|(severity, what, help)| {
            let message = format!("subworkflow `{}` {what}", shown(&sites.key));
            self.diagnostic(&sites.location, severity, message)
                .with_help(help)
        });
        found.collect()
    }

    /// Ends of a subworkflow that its reference does not lead on, and those that it has not.
    fn ends(
        &self,
        reference: &Subworkflow,
        sites: &ReferenceSites,
        inner: &Draft,
    ) -> Vec<Diagnostic> {
        let key = shown(&reference.key);
        let is_listed = |name: &str| {
            reference
                .outcomes
                .iter()
                .any(|outcome| outcome.name == name)
        };
        let mut found = Vec::new();
        for name in inner.ends.iter().filter(|name| !is_listed(name)) {
            let message =
                format!("subworkflow `{key}` may end as `{name}`, which leads nowhere here");
            let help = format!("say where it leads: `outcomes: {{{name}: next}}`");
            found.push(Diagnostic {
                code: Code::UnknownTarget,
                ..self.error(&sites.location, message, help)
            });
        }
        for outcome in &reference.outcomes {
            let name = &outcome.name;
            if inner.ends.contains(name) {
                continue;
            }
            let message = format!("subworkflow `{key}` never ends as `{name}`");
            let help = match nearest(name, inner.ends.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("lead a phase of `{key}` to `{{end: {name}}}`, or remove it"),
            };
            let location = sites.outcomes.get(name).unwrap_or(&sites.location);
            found.push(Diagnostic {
                code: Code::UnknownTarget,
                ..self.error(location, message, help)
            });
        }
        found
    }

    /// What is wrong with the loop of a reference, and what it does not collect.
    fn list(
        &self,
        reference: &Subworkflow,
        sites: &ReferenceSites,
        inner: &'f Workflow,
        loops: &HashSet<&str>,
    ) -> Vec<Diagnostic> {
        let Some(subject) = &reference.for_each else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let location = sites.list.as_ref().unwrap_or(&sites.location);
        let key = shown(&reference.key);
        if let Ok(value) = self.flow.named(subject)
            && value.kind != ParameterKind::List
        {
            let message = format!(
                "`forEach` needs a list, and `{subject}` is {}",
                value.in_words()
            );
            found.push(self.error(location, message, "give it `type: list`"));
        }
        if loops.contains(&*inner.key) {
            let message = format!("a loop inside a loop: `{key}` has a `forEach` of its own");
            let help = "loop over one list, or put the inner loop into a phase of its own";
            found.push(self.error(location, message, help));
        }
        for returned in &inner.outputs {
            let output = output_of(inner, &returned.phase, &returned.output, self.flow.find);
            if output.is_some_and(|output| output.kind == ParameterKind::List) {
                let message = format!(
                    "`{}` of `{key}` is a list itself, which the loop does not collect",
                    returned.name
                );
                let found_list = self.diagnostic(location, Severity::Info, message);
                found.push(found_list.with_help("return a text for each item"));
            }
        }
        found
    }
}
