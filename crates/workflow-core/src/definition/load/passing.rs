//! What workflows pass to their subworkflows and take over from them, checked once all are read.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use super::directory::{Draft, ReferenceSites};
use super::flow::{Flow, NamePlace, PendingName, check_comparison, wrong_name};
use crate::definition::model::{
    Parameter, ParameterKind, RunCheck, Subject, Subworkflow, Workflow, only_name, value_text,
};
use crate::definition::schema::{Sites, meant_or, nearest};
use crate::diagnostic::{Code, Diagnostic, Location, Severity, shown};

/// The problem with what a workflow has for an input of its subworkflow, if there is one, and its help.
fn input_problem(input: &Parameter, by: &Workflow) -> Option<(Severity, String, String)> {
    let (name, kind) = (shown(&input.name), input.in_words());
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
    let words = other.in_words();
    let (what, help) = if !input.covers(other) {
        (
            format!(
                "takes other values for the input `{name}` than this workflow: {kind}, not {words}"
            ),
            format!("give `{name}` the same type in both workflows"),
        )
    } else if input.is_needed() && !other.required && other.default.is_none() {
        (
            format!("requires the input `{name}`, which may have no value in this workflow"),
            format!("give `{name}` a default, or remove its `required: false`"),
        )
    } else {
        return None;
    };
    Some((Severity::Error, what, help))
}

/// The values that commands of a workflow may contain, each with its texts.
pub(super) type ClosedValues = BTreeMap<String, Vec<String>>;

/// Checks a workflow against its subworkflows, and finds the values for its commands. `loops` are the keys of those that contain
/// a loop, and gets its own.
pub(super) fn check_passing<'d>(
    draft: &'d Draft,
    drafts: &HashMap<&str, &'d Draft>,
    loops: &mut HashSet<&'d str>,
) -> (Vec<Diagnostic>, ClosedValues) {
    let find = |key: &str| drafts.get(key).map(|draft| &draft.workflow);
    let flow = &Flow {
        workflow: &draft.workflow,
        own: &Sites::default(),
        phases: &[],
        jumps: 0,
        find: &find,
    };
    let pending = draft.pending.iter();
    let mut found: Vec<Diagnostic> = pending
        .filter_map(|name| wrong_pending(flow, name))
        .collect();
    let mut named = HashSet::new();
    for (reference, sites) in draft.workflow.subworkflows().zip(&draft.references) {
        let Some(inner) = drafts.get(&*reference.key) else {
            continue;
        };
        let check = Passing {
            flow,
            reference,
            sites,
            inner,
            key: shown(&reference.key),
        };
        match &reference.with {
            Some(with) => {
                let passed = with.iter();
                found.extend(passed.filter_map(|(name, value)| check.passed(name, value)));
                found.extend(check.missing());
            }
            None if named.insert(&reference.key) => found.extend(check.equal_names()),
            None => {}
        }
        found.extend(check.open_bounds());
        found.extend(check.ends());
        found.extend(check.list(loops));
        if reference.for_each.is_some() || loops.contains(&*inner.workflow.key) {
            loops.insert(&draft.workflow.key);
        }
    }
    let gates = flow.workflow.own_phases().flat_map(|phase| &phase.gate);
    let commands = gates.filter_map(|gate| gate.check.command());
    let closed = commands.flat_map(RunCheck::variables).filter_map(|name| {
        let value = flow.named(&Subject::named(name)?).ok()?;
        Some((name.to_owned(), value.closed_texts()?))
    });
    (found, closed.collect())
}

/// A name of an output of a subworkflow that there is not, that is compared with what it cannot be, or that a guard does not take.
fn wrong_pending(flow: &Flow<'_>, name: &PendingName) -> Option<Diagnostic> {
    let subject = &name.subject;
    // What is wrong with a workflow that is not there is said where it is named.
    let reference = subject.producer().and_then(|id| flow.reference(id))?;
    (flow.find)(&reference.key)?;
    let finding = match &name.place {
        NamePlace::When(comparison) => check_comparison(flow, comparison, None).err()?,
        NamePlace::Template(reference) => wrong_name(flow, subject, reference)?,
    };
    let found = Diagnostic::new(finding.code, finding.severity, finding.message);
    let found = found.at(name.location.clone()).about(&flow.workflow.key);
    Some(found.with_help(finding.help))
}

/// A reference to a subworkflow, with the workflow around it.
struct Passing<'d> {
    flow: &'d Flow<'d>,
    reference: &'d Subworkflow,
    sites: &'d ReferenceSites,
    inner: &'d Draft,
    /// The key of the subworkflow, as it is shown.
    key: String,
}

impl<'d> Passing<'d> {
    fn found(&self, severity: Severity, location: &Location, message: String) -> Diagnostic {
        Diagnostic::new(Code::SubworkflowInput, severity, message)
            .at(location.clone())
            .about(&self.flow.workflow.key)
    }

    fn error(&self, location: Option<&Location>, message: String, help: String) -> Diagnostic {
        let location = location.unwrap_or(&self.sites.location);
        self.found(Severity::Error, location, message)
            .with_help(help)
    }

    fn inputs(&self) -> &'d [Parameter] {
        &self.inner.workflow.inputs
    }

    /// The values that something in `with` can have; `None` where that is wrong and reported.
    fn type_of(&self, text: &str) -> Option<Parameter> {
        let of_kind = |kind| Some(Parameter::new("", kind));
        let has_list = self.reference.for_each.is_some();
        match only_name(text) {
            Some(subject) if subject.is_item() && !has_list => None,
            None | Some(Subject::Item) => of_kind(ParameterKind::TEXT),
            Some(Subject::ItemNumber | Subject::ItemCount) => of_kind(ParameterKind::Number),
            Some(subject) => self.flow.named(&subject).ok(),
        }
    }

    /// A value of `with` that the subworkflow does not take.
    fn passed(&self, name: &str, value: &Value) -> Option<Diagnostic> {
        let (key, location) = (&self.key, self.sites.with.get(name));
        let shown_name = shown(name);
        let Some(input) = self.inputs().iter().find(|input| input.name == name) else {
            let message = format!("subworkflow `{key}` has no input `{shown_name}`");
            let known = self.inputs().iter().map(|input| &*input.name);
            let nothing = format!("remove it, or declare it in `inputs` of `{key}`");
            return Some(self.error(location, message, meant_or(name, known, &nothing)));
        };
        let words = input.in_words();
        let given = match value {
            Value::String(text) if text.contains('{') => {
                let value = self.type_of(text)?;
                if input.kind.may_take(&value.kind) {
                    return self.wider(input, text, &value, location);
                }
                value.in_words()
            }
            value => (!input.takes(value)).then(|| format!("`{}`", shown(&value_text(value))))?,
        };
        let message =
            format!("the input `{shown_name}` of subworkflow `{key}` is {words}, not {given}");
        Some(self.error(location, message, format!("pass {words}")))
    }

    /// The warning about a value of `with` that can be what the input does not take. That of a free text is known at the move only.
    fn wider(
        &self,
        input: &Parameter,
        text: &str,
        value: &Parameter,
        location: Option<&Location>,
    ) -> Option<Diagnostic> {
        let is_item = only_name(text).is_none_or(|subject| subject.is_item());
        let is_text = matches!(input.kind, ParameterKind::Text(_));
        if is_item || is_text || input.covers(value) {
            return None;
        }
        let (name, key, words) = (shown(&input.name), &self.key, input.in_words());
        let message = format!(
            "the input `{name}` of subworkflow `{key}` is {words}, and its value may be another: {}",
            value.in_words()
        );
        let location = location.unwrap_or(&self.sites.location);
        let help = format!("let both be {words}: another value keeps the run in the phase before");
        let found = self.found(Severity::Warning, location, message);
        Some(found.with_help(help))
    }

    /// The inputs that `with` leaves out, and that have no default.
    fn missing(&self) -> Option<Diagnostic> {
        let with = self.reference.with.as_ref()?;
        let mut inputs = self.inputs().iter();
        let input = inputs.find(|input| input.is_needed() && !with.contains_key(&input.name))?;
        let (key, name) = (&self.key, shown(&input.name));
        let message =
            format!("subworkflow `{key}` requires the input `{name}`, which `with` does not pass");
        let help = format!("add `{name}` to `with`: {}", input.in_words());
        Some(self.error(None, message, help))
    }

    /// The inputs of a subworkflow without `with` that do not get a value of the workflow around.
    fn equal_names(&self) -> impl Iterator<Item = Diagnostic> {
        let inputs = self.inputs().iter();
        let problems = inputs.filter_map(|input| input_problem(input, self.flow.workflow));
        let is_loop = self.reference.for_each.is_some();
        problems.map(move |(severity, what, help)| {
            let help = if is_loop {
                "pass it in `with`: `{item}` is the item of the loop".to_owned()
            } else {
                help
            };
            let message = format!("subworkflow `{}` {what}", self.key);
            let found = self.found(severity, &self.sites.location, message);
            found.with_help(help)
        })
    }

    /// The inputs that are bounds, and that may be any number which an agent has handed over somewhere.
    fn open_bounds(&self) -> impl Iterator<Item = Diagnostic> {
        let is_open = |input: &&Parameter| input.limits.whole && input.most().is_none();
        self.inputs().iter().filter(is_open).map(|input| {
            let (name, key) = (shown(&input.name), &self.key);
            let message = format!("the bound `{name}` of subworkflow `{key}` has no `max`");
            self.error(None, message, format!("give `{name}` of `{key}` a `max`"))
        })
    }

    /// Ends of a subworkflow that its reference does not lead on, and those that it has not.
    fn ends(&self) -> Vec<Diagnostic> {
        let (key, ends) = (&self.key, &self.inner.ends);
        let led_on = self.reference.outcomes.iter().map(|outcome| &outcome.name);
        let unlisted = ends
            .iter()
            .filter(|end| !led_on.clone().any(|name| name == *end));
        let unlisted = unlisted.map(|name| {
            let message =
                format!("subworkflow `{key}` may end as `{name}`, which leads nowhere here");
            let help = format!("say where it leads: `outcomes: {{{name}: next}}`");
            self.error(None, message, help)
        });
        let unknown = led_on.clone().filter(|name| !ends.contains(*name));
        let unknown = unknown.map(|name| {
            let message = format!("subworkflow `{key}` never ends as `{name}`");
            let help = match nearest(name, ends.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("lead a phase of `{key}` to `{{end: {name}}}`, or remove it"),
            };
            self.error(self.sites.outcomes.get(name), message, help)
        });
        let mut found: Vec<Diagnostic> = unlisted.chain(unknown).collect();
        for found in &mut found {
            found.code = Code::UnknownTarget;
        }
        found
    }

    /// What is wrong with the loop of a reference, and what it does not collect.
    fn list(&self, loops: &HashSet<&str>) -> Vec<Diagnostic> {
        let Some(subject) = &self.reference.for_each else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let (key, inner) = (&self.key, &self.inner.workflow);
        let location = self.sites.list.as_ref();
        if let Ok(value) = self.flow.named(subject)
            && value.kind != ParameterKind::List
        {
            let words = value.in_words();
            let message = format!("`forEach` needs a list, and `{subject}` is {words}");
            found.push(self.error(location, message, "give it `type: list`".to_owned()));
        }
        if loops.contains(&*inner.key) {
            let message = format!("a loop inside a loop: `{key}` has a `forEach` of its own");
            let help = "loop over one list, or put the inner loop into a phase of its own";
            found.push(self.error(location, message, help.to_owned()));
        }
        for returned in &inner.outputs {
            let output = inner.output_of(&returned.phase, &returned.output, self.flow.find);
            if output.is_some_and(|output| output.kind == ParameterKind::List) {
                let name = &returned.name;
                let message = format!(
                    "`{name}` of `{key}` is a list itself, which the loop does not collect"
                );
                let location = location.unwrap_or(&self.sites.location);
                let of_list = self.found(Severity::Info, location, message);
                found.push(of_list.with_help("return a text for each item"));
            }
        }
        found
    }
}
