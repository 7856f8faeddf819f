//! The arguments of the commands: completion, outcomes, and answers to a question for approval.

use super::command::Control;
use super::moves::scope_of;
use super::texts::takes_no_argument;
use crate::definition::{Approval, Phase, PhaseEntry, Target};
use crate::diagnostic::visible;
use crate::run::entry_name;
use crate::session::handover::{leads_to, meaning_of};
use crate::session::run::ActiveRun;
use crate::white_space;

/// The proposals for the argument of a command: the value and a description of each.
pub(crate) fn complete(
    control: Control,
    run: Option<&ActiveRun>,
    prefix: &str,
) -> Vec<(String, String)> {
    let Some(run) = run.filter(|run| run.phase().is_some()) else {
        return Vec::new();
    };
    let all: Vec<(String, String)> = match control {
        Control::Goto => scope_of(run).map_or_else(Vec::new, |(scope, now)| {
            let others = scope.phases.iter().enumerate();
            let others = others.filter(|(index, _)| *index != now);
            let named = |(_, entry): (usize, &PhaseEntry)| {
                let name = entry_name(entry, run.catalog());
                (entry.id().to_owned(), name.to_owned())
            };
            others.map(named).collect()
        }),
        Control::Approve => run.approval().map_or_else(Vec::new, |approval| {
            let described =
                |(index, choice): (usize, &String)| (choice.clone(), meaning_of(approval, index));
            approval.choices.iter().enumerate().map(described).collect()
        }),
        Control::Next => run.phase().map_or_else(Vec::new, |phase| {
            let outcomes = phase.phase.outcomes.iter();
            let described = outcomes.map(|outcome| (outcome.name.clone(), leads_to(&outcome.to)));
            described.collect()
        }),
        Control::Status | Control::Pause | Control::Resume | Control::Skip => Vec::new(),
    };
    all.into_iter()
        .filter(|(value, _)| value.starts_with(prefix))
        .collect()
}

/// Notes the outcome that a person names; the refusal is shown to the person.
pub(crate) fn choose_outcome(run: &mut ActiveRun, name: &str) -> Result<(), String> {
    let Some(phase) = run.phase().map(|phase| &phase.phase) else {
        return Ok(());
    };
    let found = phase.outcomes.iter().find(|outcome| outcome.name == name);
    let outcome = match found {
        Some(outcome) => outcome.clone(),
        None if phase.outcomes.is_empty() && name.is_empty() => return Ok(()),
        None if phase.outcomes.is_empty() => return Err(takes_no_argument(Control::Next, name)),
        None => return Err(name_an_outcome(phase, name)),
    };
    run.handover.choose(outcome);
    Ok(())
}

/// The answer to `/workflow-next` in a phase with outcomes, where none or an unknown one is named.
fn name_an_outcome(phase: &Phase, argument: &str) -> String {
    let lines = phase.outcomes.iter();
    let lines: Vec<String> = lines
        .map(|outcome| format!("  {} — {}", outcome.name, leads_to(&outcome.to)))
        .collect();
    let unknown = match argument {
        "" => String::new(),
        argument => format!(
            "\"{}\" is not an outcome of {}. ",
            visible(argument),
            phase.name
        ),
    };
    format!(
        "{unknown}Say how {} ended: /workflow-next {{outcome}}\n{}",
        phase.name,
        lines.join("\n")
    )
}

/// The answer of a person by `/workflow-approve`.
#[derive(Debug)]
pub(crate) struct ApprovalReply<'a> {
    pub(crate) choice: &'a str,
    /// The place that it leads to; `None` stays in the phase.
    pub(crate) target: Option<Target>,
    pub(crate) comment: Option<String>,
}

/// Reads the arguments of `/workflow-approve`; the error is shown to the person.
pub(crate) fn read_reply<'a>(
    approval: &'a Approval,
    arguments: &str,
) -> Result<ApprovalReply<'a>, String> {
    let usage = || {
        let listed = approval
            .choices
            .iter()
            .enumerate()
            .map(|(index, choice)| format!("  {choice} — {}", meaning_of(approval, index)));
        let listed: Vec<String> = listed.collect();
        let show = approval.show.as_deref();
        let show = show.map_or_else(String::new, |file| format!("\nLook at: {file}"));
        format!(
            "{}{show}\n\nAnswer with /workflow-approve {{choice}} {{comment}}:\n{}",
            approval.ask,
            listed.join("\n")
        )
    };
    if arguments.is_empty() {
        return Err(usage());
    }
    let rest_after = |choice: &str| {
        let head = arguments.get(..choice.len())?;
        let rest = &arguments[choice.len()..];
        let ends = rest.is_empty() || rest.starts_with(char::is_whitespace);
        (head.eq_ignore_ascii_case(choice) && ends).then_some(rest)
    };
    let fitting = approval.choices.iter().enumerate();
    let fitting = fitting.filter_map(|(index, choice)| Some((index, choice, rest_after(choice)?)));
    let Some((index, choice, rest)) = fitting.max_by_key(|(_, choice, _)| choice.len()) else {
        return Err(format!(
            "\"{}\" does not start with one of the choices.\n\n{}",
            visible(arguments),
            usage()
        ));
    };
    let comment = white_space::trim(rest);
    Ok(ApprovalReply {
        choice,
        target: approval.target(index),
        comment: (!comment.is_empty()).then(|| comment.to_owned()),
    })
}
