//! The arguments of the commands: completion, outcomes, and answers to a question for approval.

use super::command::Control;
use super::moves::scopes_of;
use super::texts::takes_no_argument;
use crate::definition::{Approval, Settings};
use crate::diagnostic::visible;
use crate::effect::Effects;
use crate::run::{Actor, HandedOver, entry_name};
use crate::session::commands::Proposals;
use crate::session::run::ActiveRun;
use crate::{text, white_space};

/// The proposals for the argument of a command: the value and a description of each.
pub(crate) fn complete(control: Control, run: Option<&ActiveRun>, prefix: &str) -> Proposals {
    let Some(run) = run.filter(|run| run.phase().is_some()) else {
        return Vec::new();
    };
    let mut all: Proposals = match control {
        Control::Goto => {
            let entries = scopes_of(run).flat_map(|(at, scope)| {
                let entries = scope.phases.iter().enumerate();
                entries.map(move |(index, entry)| (at.moved_to(index), entry))
            });
            let others = entries.filter(|(to, _)| *to != run.state().current_path);
            let named = |entry| entry_name(entry, run.catalog()).to_owned();
            others
                .map(|(_, entry)| (entry.id().to_owned(), named(entry)))
                .collect()
        }
        Control::Approve => run
            .approval()
            .map_or_else(Vec::new, |approval| run.consequences(approval, Actor::User)),
        Control::Next => outcomes_of(run),
        Control::Status | Control::Pause | Control::Resume | Control::Skip | Control::Off => {
            Vec::new()
        }
    };
    all.retain(|(value, _)| value.starts_with(prefix));
    all
}

/// Notes the outcome that a person names; the refusal is shown to the person.
pub(crate) fn choose_outcome(
    run: &mut ActiveRun,
    name: &str,
    settings: &Settings,
    out: &mut Effects,
) -> Result<(), String> {
    let Some(resolved) = run.phase() else {
        return Ok(());
    };
    let phase = &resolved.phase;
    if phase.outcomes.is_empty() {
        let refusal = || takes_no_argument(Control::Next, name);
        return name.is_empty().then_some(()).ok_or_else(refusal);
    }
    if !phase.outcomes.iter().any(|outcome| outcome.name == name) {
        let (phase, listed) = (&phase.name, listing(&outcomes_of(run)));
        let unknown = match name {
            "" => String::new(),
            name => format!("\"{}\" is not an outcome of {phase}. ", visible(name)),
        };
        return Err(format!(
            "{unknown}Say how {phase} ended: /workflow-next {{outcome}}\n{listed}"
        ));
    }
    let data = &run.progress().data;
    // The outputs of an earlier visit stay.
    let outputs = data.values.outputs.get(&resolved.output_key());
    let handed_over = HandedOver {
        outcome: Some(name.to_owned()),
        outputs: outputs.cloned().unwrap_or_default(),
        ..data.handed_over.clone()
    };
    run.hand_over(handed_over, settings, out);
    Ok(())
}

/// The outcomes of the phase, each with what it does.
fn outcomes_of(run: &ActiveRun) -> Proposals {
    let outcomes = run.phase().map_or(&[][..], |phase| &phase.phase.outcomes);
    let described = outcomes.iter();
    let described = described.map(|outcome| (outcome.name.clone(), run.consequence_of(outcome)));
    described.collect()
}

fn listing(described: &[(String, String)]) -> String {
    let lines = described.iter();
    text::join(lines.map(|(name, does)| format!("  {name} — {does}")), "\n")
}

/// Reads the arguments of `/workflow-approve`, a choice and a comment. The error shows the question, and so does an answer to one
/// that was not shown.
pub(crate) fn read_reply<'a>(
    run: &ActiveRun,
    approval: &'a Approval,
    actor: Actor,
    was_shown: bool,
    arguments: &str,
) -> Result<(&'a str, Option<String>), String> {
    let usage = || {
        let (asks, choices) = (run.asks(), listing(&run.consequences(approval, actor)));
        format!("{asks}\n\nAnswer with /workflow-approve {{choice}} {{comment}}:\n{choices}")
    };
    if arguments.is_empty() {
        return Err(usage());
    }
    if !was_shown {
        return Err(format!(
            "Your answer does not count yet, because you may have seen another question before this one.\n\n{}",
            usage()
        ));
    }
    let rest_after = |choice: &str| {
        let head = arguments.get(..choice.len())?;
        let rest = &arguments[choice.len()..];
        let ends = rest.is_empty() || rest.starts_with(char::is_whitespace);
        (head.eq_ignore_ascii_case(choice) && ends).then_some(rest)
    };
    let fitting = approval.choices.iter();
    let fitting = fitting.filter_map(|choice| Some((choice, rest_after(choice)?)));
    let Some((choice, rest)) = fitting.max_by_key(|(choice, _)| choice.len()) else {
        let (said, usage) = (visible(arguments), usage());
        return Err(format!(
            "\"{said}\" does not start with one of the choices.\n\n{usage}"
        ));
    };
    let comment = white_space::trim(rest);
    let comment = (!comment.is_empty()).then(|| comment.to_owned());
    Ok((choice, comment))
}
