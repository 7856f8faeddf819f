//! Weakened flow: jumps that lead elsewhere, bounds and budgets that are raised, outputs that need not be handed over.

use crate::definition::{
    Approval, Budget, CancelBy, Catalog, Gate, Parameter, Phase, Subworkflow, Target, Workflow,
};
use crate::diagnostic::shown;

use super::gate::is_as_demanding;

/// Compares what a workflow says for the whole run.
pub(super) fn compare_workflows(
    level: &str,
    before: &Workflow,
    after: &Workflow,
    lost: &mut Vec<String>,
) {
    compare_budgets(level, before.budget, after.budget, lost);
    if before.cancel == Some(CancelBy::Person) && after.cancel != Some(CancelBy::Person) {
        lost.push(format!("the agent may cancel {level}"));
    }
}

/// Returns how settings raise the times that jumps may lead into a phase without a limit of its own, for display.
pub(crate) fn weakened_jumps(before: u32, after: u32) -> Option<String> {
    (after > before)
        .then(|| format!("`limits.maxVisits` of the settings is {after} instead of {before}"))
}

/// Compares the conditions of subworkflows: new ones skip the gates and approvals inside.
pub(super) fn compare_references(
    catalog: &Catalog,
    before: &Workflow,
    after: &Workflow,
    lost: &mut Vec<String>,
) {
    let mut left: Vec<&Subworkflow> = after.subworkflows().collect();
    for reference in before.subworkflows() {
        let inside = catalog.reachable_from(reference);
        let mut phases = inside.iter().flat_map(|workflow| workflow.own_phases());
        let is_guarded = phases.any(|phase| phase.approve.is_some() || !phase.gate.is_empty());
        // The same workflow may be there twice: they are compared in their order.
        let Some(at) = left.iter().position(|other| other.key == reference.key) else {
            continue;
        };
        let is_new = |condition: &_| !reference.when.contains(condition);
        if is_guarded && left.remove(at).when.iter().any(is_new) {
            let name = inside.first().map_or(&reference.key, |inner| &inner.name);
            lost.push(format!("`when` skips workflow {}", shown(name)));
        }
    }
}

/// Compares the flow of a phase.
pub(super) fn compare_phases(level: &str, before: &Phase, after: &Phase, lost: &mut Vec<String>) {
    compare_budgets(level, before.budget, after.budget, lost);
    if let Some(name) = new_outcome(before, after) {
        lost.push(format!("the outcomes of {level} lead elsewhere: {name}"));
    }
    if let Some(id) = new_on_fail(before, after) {
        lost.push(format!("a check of {level} leads to `{}`", shown(id)));
    }
    if let (Some(was), Some(is)) = (&before.approve, &after.approve)
        && let Some(answer) = new_answer(was, is)
    {
        lost.push(format!(
            "the answer \"{}\" of the approval of {level} leads elsewhere",
            shown(answer)
        ));
    }
    if before
        .max_visits
        .is_some_and(|most| after.max_visits.is_none_or(|now| now > most))
    {
        lost.push(format!("`maxVisits` of {level} was removed or higher"));
    }
    let redirect = after.redirect();
    if let Some(id) = redirect.filter(|_| before.redirect() != redirect) {
        lost.push(format!("`onMaxVisits` of {level} leads to `{}`", shown(id)));
    }
    for output in before.outputs.iter().filter(|output| output.required) {
        if !after.outputs.iter().any(|other| demands(output, other)) {
            let name = shown(&output.name);
            lost.push(format!(
                "the output `{name}` of {level} was removed or changed"
            ));
        }
    }
    let is_guarded = before.approve.is_some() || !before.gate.is_empty();
    let is_new = |condition: &_| !before.when.contains(condition);
    if is_guarded && after.when.iter().any(is_new) {
        lost.push(format!("`when` skips {level}"));
    }
}

fn compare_budgets(level: &str, before: Budget, after: Budget, lost: &mut Vec<String>) {
    let pairs = [
        ("turns", before.turns, after.turns),
        ("toolCalls", before.tool_calls, after.tool_calls),
        ("minutes", before.minutes, after.minutes),
        ("tokens", before.tokens, after.tokens),
        ("usd", before.us_cents, after.us_cents),
    ];
    for (name, was, is) in pairs {
        if was.is_some_and(|was| is.is_none_or(|is| is > was)) {
            lost.push(format!("`budget.{name}` of {level} was removed or higher"));
        }
    }
}

/// Returns an outcome that leads where none led before.
fn new_outcome(before: &Phase, after: &Phase) -> Option<String> {
    if after.outcomes.is_empty() {
        let changes = !before.outcomes.is_empty();
        return changes.then(|| "`next` needs none".to_owned());
    }
    let is_known = |to: &Target| match &*before.outcomes {
        [] => *to == Target::Next,
        outcomes => outcomes.iter().any(|outcome| outcome.to == *to),
    };
    let changed = after.outcomes.iter().find(|outcome| {
        let same = before
            .outcomes
            .iter()
            .find(|other| other.name == outcome.name);
        match same {
            Some(same) => same.to != outcome.to,
            None => !is_known(&outcome.to),
        }
    });
    changed.map(|outcome| {
        format!(
            "`{}` to `{}`",
            shown(&outcome.name),
            shown(&outcome.to.to_string())
        )
    })
}

/// Returns where a check leads that led nowhere, or elsewhere, before.
fn new_on_fail<'p>(before: &Phase, after: &'p Phase) -> Option<&'p str> {
    let is_known = |gate: &Gate| {
        let mut gates = before.gate.iter();
        gates.any(|was| was.on_fail == gate.on_fail && is_as_demanding(was, gate))
    };
    let mut leading = after.gate.iter().filter(|gate| !is_known(gate));
    leading.find_map(|gate| gate.on_fail.as_deref())
}

/// Returns an answer that leads on, and did not lead there before.
fn new_answer<'a>(before: &Approval, after: &'a Approval) -> Option<&'a str> {
    // Of lists the first answer approves, whatever it is called.
    if before.targets.is_empty() && after.targets.is_empty() {
        return None;
    }
    let led = |answer: &str, to: &Target| {
        let at = before.choices.iter().position(|choice| choice == answer);
        at.and_then(|at| before.target(at)).as_ref() == Some(to)
    };
    let mut answers = after.choices.iter().enumerate();
    answers.find_map(|(at, answer)| match after.target(at) {
        None | Some(Target::Cancel) => None,
        Some(to) => (!led(answer, &to)).then_some(&**answer),
    })
}

/// Returns whether an output must still be handed over, and be as it had to be.
fn demands(before: &Parameter, after: &Parameter) -> bool {
    before.name == after.name && after.required && before.kind.covers(&after.kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::{
        Check, Condition, GitCheck, OnMaxVisits, ParameterKind, PhaseEntry, PhaseOutcome, Subject,
        Subworkflow,
    };

    fn lost(before: &Phase, after: &Phase) -> Vec<String> {
        let mut lost = Vec::new();
        compare_phases("phase P", before, after, &mut lost);
        lost
    }

    fn is_weaker(before: &Phase, after: &Phase) -> bool {
        assert_eq!(lost(before, before), Vec::<String>::new());
        !lost(before, after).is_empty()
    }

    fn outcomes(of: &[(&str, &str)]) -> Phase {
        let outcome = |&(name, to): &(&str, &str)| PhaseOutcome {
            name: name.to_owned(),
            to: Target::from(to),
        };
        Phase {
            outcomes: of.iter().map(outcome).collect(),
            ..Phase::default()
        }
    }

    fn gate(on_fail: Option<&str>) -> Phase {
        Phase {
            gate: vec![Gate {
                check: Check::Git(GitCheck::Clean),
                on_fail: on_fail.map(str::to_owned),
                source: String::new(),
            }],
            ..Phase::default()
        }
    }

    fn visits(max_visits: Option<u32>, on_max_visits: OnMaxVisits) -> Phase {
        Phase {
            max_visits,
            on_max_visits,
            ..Phase::default()
        }
    }

    fn output(kind: ParameterKind, required: bool) -> Phase {
        Phase {
            outputs: vec![Parameter {
                name: "o".to_owned(),
                kind,
                about: String::new(),
                required,
                default: None,
            }],
            ..Phase::default()
        }
    }

    fn approval(choices: &[&str], targets: &[&str]) -> Phase {
        Phase {
            approve: Some(Approval {
                ask: "Right?".to_owned(),
                choices: choices.iter().map(|&choice| choice.to_owned()).collect(),
                targets: targets.iter().map(|&to| Target::from(to)).collect(),
                comment: false,
                show: None,
                source: String::new(),
            }),
            ..Phase::default()
        }
    }

    #[test]
    fn outcomes_that_lead_elsewhere_are_weaker() {
        let before = outcomes(&[("ok", "review"), ("again", "build")]);
        assert!(is_weaker(
            &before,
            &outcomes(&[("ok", "release"), ("again", "build")])
        ));
        assert!(is_weaker(
            &before,
            &outcomes(&[("ok", "review"), ("skip", "done")])
        ));
        assert!(is_weaker(&before, &Phase::default()));
        assert!(is_weaker(&Phase::default(), &outcomes(&[("ok", "done")])));
        assert!(!is_weaker(&before, &outcomes(&[("ok", "review")])));
        assert!(!is_weaker(&Phase::default(), &outcomes(&[("ok", "next")])));
    }

    #[test]
    fn a_check_that_leads_elsewhere_is_weaker() {
        assert!(is_weaker(&gate(None), &gate(Some("release"))));
        assert!(is_weaker(&gate(Some("build")), &gate(Some("release"))));
        assert!(is_weaker(&Phase::default(), &gate(Some("release"))));
        assert!(!is_weaker(&Phase::default(), &gate(None)));
    }

    #[test]
    fn answers_that_lead_elsewhere_are_weaker() {
        let before = approval(&["yes", "no"], &["next", "plan"]);
        assert!(is_weaker(
            &before,
            &approval(&["yes", "no"], &["next", "done"])
        ));
        assert!(is_weaker(&before, &approval(&["no", "yes"], &[])));
        assert!(is_weaker(&approval(&["yes", "no"], &[]), &before));
        assert!(!is_weaker(
            &before,
            &approval(&["yes", "no"], &["next", "cancel"])
        ));
        assert!(!is_weaker(
            &approval(&["yes", "no"], &[]),
            &approval(&["y", "n"], &[])
        ));
    }

    #[test]
    fn more_visits_are_weaker() {
        let three = visits(Some(3), OnMaxVisits::Pause);
        assert!(is_weaker(&three, &visits(Some(4), OnMaxVisits::Pause)));
        assert!(is_weaker(&three, &visits(None, OnMaxVisits::Pause)));
        let elsewhere = OnMaxVisits::Phase("release".to_owned());
        assert!(is_weaker(&three, &visits(Some(3), elsewhere.clone())));
        assert!(is_weaker(&Phase::default(), &visits(Some(3), elsewhere)));
        assert!(!is_weaker(&three, &visits(Some(2), OnMaxVisits::Cancel)));
        assert!(!is_weaker(&Phase::default(), &three));
    }

    #[test]
    fn outputs_that_demand_less_are_weaker() {
        let text = |least| ParameterKind::Text {
            pattern: None,
            min_length: least,
        };
        let before = output(text(Some(40)), true);
        assert!(is_weaker(&before, &Phase::default()));
        assert!(is_weaker(&before, &output(text(Some(39)), true)));
        assert!(is_weaker(&before, &output(text(Some(40)), false)));
        assert!(is_weaker(&before, &output(ParameterKind::Flag, true)));
        assert!(!is_weaker(&before, &output(text(Some(41)), true)));
        assert!(!is_weaker(&output(text(None), false), &Phase::default()));
        let one_of = |texts: &[&str]| {
            ParameterKind::OneOf(texts.iter().map(|&text| text.to_owned()).collect())
        };
        let both = output(one_of(&["a", "b"]), true);
        assert!(is_weaker(&output(one_of(&["a"]), true), &both));
        assert!(!is_weaker(&both, &output(one_of(&["a"]), true)));
    }

    #[test]
    fn a_condition_of_a_guarded_phase_that_skips_more_is_weaker() {
        let condition = Condition {
            subject: Subject::Input("hotfix".to_owned()),
            values: vec![false.into()],
            negated: false,
        };
        let with = |phase: Phase| Phase {
            when: vec![condition.clone()],
            ..phase
        };
        assert!(is_weaker(&gate(None), &with(gate(None))));
        assert!(!is_weaker(&with(gate(None)), &gate(None)));
        assert!(!is_weaker(&Phase::default(), &with(Phase::default())));
    }

    #[test]
    fn a_new_condition_of_a_subworkflow_with_guards_is_weaker() {
        let condition = |value: bool| Condition {
            subject: Subject::Input("hotfix".to_owned()),
            values: vec![value.into()],
            negated: false,
        };
        let lost = |inner: Phase, was: &[&[Condition]], is: &[&[Condition]]| {
            let root = |conditions: &[&[Condition]]| Workflow {
                key: "root".to_owned(),
                phases: conditions
                    .iter()
                    .map(|when| {
                        PhaseEntry::Subworkflow(Subworkflow {
                            key: "part".to_owned(),
                            when: when.to_vec(),
                        })
                    })
                    .collect(),
                ..Workflow::default()
            };
            let part = Workflow {
                key: "part".to_owned(),
                name: "Part".to_owned(),
                phases: vec![PhaseEntry::Phase(inner)],
                ..Workflow::default()
            };
            let (before, after) = (root(was), root(is));
            let catalog = Catalog::new(vec![before.clone(), part]);
            let mut lost = Vec::new();
            compare_references(&catalog, &before, &after, &mut lost);
            lost
        };
        let (one, other) = ([condition(false)], [condition(true)]);
        let none: [Condition; 0] = [];
        let both = [condition(false), condition(true)];
        let is_weaker =
            |was: &[&[Condition]], is: &[&[Condition]]| !lost(gate(None), was, is).is_empty();
        assert_eq!(
            lost(gate(None), &[&none], &[&one]),
            ["`when` skips workflow Part"]
        );
        assert!(is_weaker(&[&one], &[&other]));
        assert!(is_weaker(&[&one], &[&both]));
        assert!(!is_weaker(&[&both], &[&one]));
        assert!(!is_weaker(&[&one], &[&none]));
        // The second of two is compared with the second.
        assert!(is_weaker(&[&one, &none], &[&one, &one]));
        assert!(!is_weaker(&[&one, &none], &[&one, &none]));
        // Nothing inside is a guard.
        assert!(lost(Phase::default(), &[&none], &[&one]).is_empty());
    }

    #[test]
    fn higher_budgets_and_a_cancel_of_the_agent_are_weaker() {
        let workflow = |turns, cancel| Workflow {
            budget: Budget {
                turns,
                ..Budget::default()
            },
            cancel,
            ..Workflow::default()
        };
        let number = |before: &Workflow, after: &Workflow| {
            let mut lost = Vec::new();
            compare_workflows("workflow W", before, after, &mut lost);
            lost.len()
        };
        let before = workflow(Some(10), Some(CancelBy::Person));
        assert_eq!(number(&before, &workflow(Some(11), None)), 2);
        assert_eq!(number(&before, &workflow(None, Some(CancelBy::Anyone))), 2);
        assert_eq!(
            number(&before, &workflow(Some(9), Some(CancelBy::Person))),
            0
        );
        assert_eq!(number(&workflow(None, None), &before), 0);
    }
}
