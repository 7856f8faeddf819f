//! Findings of the loader in the flow of a workflow: one case for each check.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use workflow_core::definition::{Loaded, MemoryFiles, Tier, load};
use workflow_core::diagnostic::Severity;

/// Loads a workflow of these keys and phases; each phase has its id and more keys.
fn loaded(keys: &str, phases: &[(&str, &str)]) -> Loaded {
    let mut text = format!("name: W\nshow: workflows\n{keys}\nphases:\n");
    for (id, more) in phases {
        writeln!(
            text,
            "  - {{ id: {id}, name: N, emoji: E, instructions: Do it., {more} }}"
        )
        .expect("a text can be written to");
    }
    load(&MemoryFiles::new().with(Tier::Project, "w/workflow.yaml", text))
}

/// The codes of what is found, each with the first letter of its severity.
fn found(keys: &str, phases: &[(&str, &str)]) -> Vec<String> {
    let loaded = loaded(keys, phases);
    let codes = loaded.diagnostics.iter().map(|found| {
        let severity = match found.severity {
            Severity::Error => 'e',
            Severity::Warning => 'w',
            Severity::Info => 'i',
        };
        format!("{severity} {}", found.code)
    });
    codes.collect()
}

const NOTHING: [&str; 0] = [];

#[test]
fn a_jump_to_a_phase_of_the_same_workflow_is_sound() {
    let phases = [
        ("a", "outcomes: { ok: next, back: c }"),
        ("b", "gate: [{ git: clean, onFail: a }], maxVisits: 2"),
        ("c", "maxVisits: 2, onLimit: b"),
    ];
    assert_eq!(found("", &phases), NOTHING);
}

#[test]
fn a_jump_to_an_unknown_phase_is_an_error_with_the_nearest_id() {
    let loaded = loaded(
        "",
        &[
            ("build", ""),
            ("b", "outcomes: { ok: biuld }, maxVisits: 2"),
        ],
    );
    let [found] = &loaded.diagnostics[..] else {
        panic!("{:?}", loaded.diagnostics)
    };
    assert_eq!(found.code.as_str(), "WF058");
    assert_eq!(found.help.as_deref(), Some("did you mean `build`?"));
    assert_eq!(
        found
            .location
            .as_ref()
            .and_then(workflow_core::diagnostic::Location::line),
        Some(6)
    );
    assert_eq!(loaded.catalog.iter().count(), 0);
}

#[test]
fn a_phase_behind_outcomes_that_lead_elsewhere_is_unreachable() {
    let phases = [("a", "outcomes: { ok: c }"), ("b", ""), ("c", "")];
    assert_eq!(found("", &phases), ["w WF059"]);
}

#[test]
fn a_loop_is_bounded_by_visits_of_one_of_its_phases() {
    let with = |a: &str, b: &str| {
        let b = format!("outcomes: {{ ok: next, back: a }}, {b}");
        found("", &[("a", a), ("b", &b)])
    };
    assert_eq!(with("", ""), ["w WF060"]);
    assert_eq!(with("maxVisits: 3", ""), NOTHING);
    assert_eq!(with("", "maxVisits: 3"), NOTHING);
}

#[test]
fn a_loop_through_an_answer_of_a_person_needs_no_bound() {
    let answers = "approve: { ask: Right?, choices: { yes: next, no: a } }";
    assert_eq!(found("", &[("a", ""), ("b", answers)]), NOTHING);
}

#[test]
fn a_check_that_leads_back_needs_a_bound() {
    let check = "gate: [{ git: clean, onFail: a }]";
    assert_eq!(found("", &[("a", ""), ("b", check)]), ["w WF060"]);
}

#[test]
fn a_phase_that_replaces_another_does_not_hide_a_loop() {
    let phases = [
        ("a", "maxVisits: 2, onLimit: b"),
        ("b", "outcomes: { ok: next, back: a }"),
    ];
    let loaded = loaded("", &phases);
    let [found] = &loaded.diagnostics[..] else {
        panic!("{:?}", loaded.diagnostics)
    };
    let message = "`b` leads back to `a`, and the `onLimit` of `a` leads on in this loop: `limits.maxVisits` (25) applies";
    assert_eq!(found.message, message);
    assert_eq!(
        found.help.as_deref(),
        Some("give `b` a bound: `maxVisits: 3`")
    );
}

#[test]
fn a_check_with_tries_bounds_the_loop_of_its_failures() {
    let check = "gate: [{ git: clean, onFail: a, tries: 3 }]";
    assert_eq!(found("", &[("a", ""), ("b", check)]), NOTHING);
}

#[test]
fn visits_of_a_phase_that_nothing_leads_back_to_are_idle() {
    let phases = [("a", "maxVisits: 2")];
    assert_eq!(found("loopable: false", &phases), ["w WF061"]);
    assert_eq!(found("", &phases), NOTHING);
}

#[test]
fn an_output_is_there_after_its_phase_on_every_path() {
    let with = |a: &str, b: &str| {
        let a = format!("outputs: {{ x: {{ type: flag }} }}, {a}");
        let b = format!("when: {{ outputs.a.x: true }}, {b}");
        found(
            "inputs: { i: { type: flag } }",
            &[("s", ""), ("a", &a), ("b", &b)],
        )
    };
    assert_eq!(with("", ""), NOTHING);
    assert_eq!(with("when: { inputs.i: true }", ""), ["i WF065"]);
    assert_eq!(with("gate: [{ git: clean, onFail: b }]", ""), ["i WF065"]);
    assert_eq!(with("outcomes: { ok: b, end: end }", ""), NOTHING);
}

#[test]
fn an_output_of_a_later_phase_has_no_value() {
    let phases = [
        ("a", "when: { outputs.b.x: true }"),
        ("b", "outputs: { x: { type: flag } }"),
    ];
    assert_eq!(found("", &phases), ["w WF065"]);
}

#[test]
fn a_question_may_name_the_outputs_of_its_own_phase() {
    let phases = [(
        "a",
        "outputs: { x: {} }, approve: { ask: \"Is {outputs.a.x} {inputs.no} {other} right?\" }",
    )];
    assert_eq!(found("", &phases), ["w WF019"]);
}

#[test]
fn a_completion_reads_the_outputs_of_the_run() {
    let keys = "completionMessage: \"{outputs.a.x} {outputs.b.x}\"\ninputs: { i: { type: flag } }";
    let phases = [
        ("a", "outputs: { x: {} }"),
        ("b", "outputs: { x: {} }, when: { inputs.i: true }"),
    ];
    assert_eq!(found(keys, &phases), ["i WF065"]);
}

#[test]
fn a_comment_is_there_if_an_approval_asks_for_it() {
    let with = |approve: &str| {
        let keys = "completionMessage: \"{answer.a.comment}\"";
        found(
            keys,
            &[("a", &format!("approve: {{ ask: Right? {approve} }}"))],
        )
    };
    assert_eq!(with(", comment: true"), NOTHING);
    assert_eq!(with(""), ["w WF068"]);
}

#[test]
fn an_id_that_is_a_keyword_of_jumps_matters_only_beside_jumps() {
    assert_eq!(found("", &[("done", "")]), NOTHING);
    let jump = ("a", "outcomes: { ok: next }");
    assert_eq!(found("", &[jump, ("done", "")]), ["w WF067"]);
    let to_it = ("a", "outcomes: { ok: done }");
    assert_eq!(
        found("", &[to_it, ("done", "")]),
        ["e WF067", "w WF067", "w WF059"]
    );
}

#[test]
fn tokens_and_costs_are_limits_of_some_hosts() {
    let budget = |keys: &str| found(&format!("budget: {{ {keys} }}"), &[("a", "")]);
    assert_eq!(budget("turns: 1"), NOTHING);
    assert_eq!(budget("usd: 0.01"), ["i WF066"]);
    assert_eq!(budget("usd: 0.001"), ["i WF066", "e WF016"]);
}

#[test]
fn dollars_are_read_as_cents() {
    let loaded = loaded("budget: { usd: 1.15 }", &[("a", "")]);
    let budget = &loaded.catalog.get("w").unwrap().budget;
    assert_eq!(budget.us_cents, Some(115));
}

#[test]
fn a_rule_set_of_the_user_applies_in_the_project_and_cannot_be_replaced() {
    let of = |project: &str| {
        let workflow = "name: W\nshow: workflows\ntools: { use: [net] }\nphases:\n  - { id: a, name: N, emoji: E, instructions: Do it. }\n";
        load(
            &MemoryFiles::new()
                .with_settings(Tier::Global, "{rulesets: {net: [{block: 'bash'}]}}")
                .with_settings(Tier::Project, project)
                .with(Tier::Project, "w/workflow.yaml", workflow),
        )
    };
    let sound = of("{}");
    assert_eq!(sound.diagnostics, []);
    assert_eq!(sound.catalog.get("w").unwrap().rules.len(), 1);
    let replaced = of("{rulesets: {net: [{allow: 'bash'}]}}");
    assert_eq!(replaced.diagnostics[0].code.as_str(), "WF069");
    assert_eq!(
        replaced.catalog.get("w").unwrap().rules,
        sound.catalog.get("w").unwrap().rules
    );
    assert!(!replaced.tiers[1].is_loaded());
}

#[test]
fn a_thousand_phases_with_conditions_and_references_are_checked_fast() {
    let mut text = "name: W\nshow: workflows\ninputs: { i: { type: flag } }\nphases:\n".to_owned();
    for at in 0..1000 {
        let before = at.max(1) - 1;
        writeln!(
            text,
            "  - {{ id: p{at}, name: N, emoji: E, instructions: \"{{outputs.p{before}.x}}\", outputs: {{ x: {{}} }}, when: {{ inputs.i: true }}, outcomes: {{ ok: next, back: p0 }}, maxVisits: 2 }}"
        )
        .unwrap();
    }
    let files = MemoryFiles::new().with(Tier::Project, "w/workflow.yaml", text);
    let start = Instant::now();
    let loaded = load(&files);
    assert_eq!(loaded.catalog.iter().count(), 1);
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
}

/// Findings in a workflow of these keys, around one whose only phase is `x`.
fn found_around(keys: &str, inner: &str, reference: &str) -> Loaded {
    let outer = format!(
        "name: W\nshow: workflows\n{keys}\nphases:\n  - {{ id: a, name: N, emoji: E, instructions: Do it., outputs: {{ hotfix: {{ type: flag }}, why: {{ type: text }} }} }}\n  - {reference}\n"
    );
    let part = format!(
        "name: P\nshow: workflows\n{inner}\nphases:\n  - {{ id: x, name: N, emoji: E, instructions: Do it. }}\n"
    );
    load(
        &MemoryFiles::new()
            .with(Tier::Project, "w/workflow.yaml", outer)
            .with(Tier::Project, "part/workflow.yaml", part),
    )
}

fn messages(loaded: &Loaded) -> Vec<String> {
    let found = loaded.diagnostics.iter();
    found
        .map(|found| {
            let line = found.location.as_ref();
            let line = line.and_then(workflow_core::diagnostic::Location::line);
            let help = found.help.as_deref().unwrap_or_default();
            format!("{} {line:?} {} | {help}", found.code, found.message)
        })
        .collect()
}

#[test]
fn a_subworkflow_may_have_conditions_on_values_of_the_workflow_around_it() {
    let part = "{ subworkflow: part, when: { outputs.a.hotfix: false, visits.a: 1 } }";
    let loaded = found_around("", "", part);
    assert_eq!(messages(&loaded), NOTHING);
    let work = loaded.catalog.get("w").expect("it is loaded");
    assert_eq!(work.phases[1].id(), "part");
    let conditions = work.phases[1].when().iter().map(ToString::to_string);
    let conditions: Vec<String> = conditions.collect();
    assert_eq!(conditions, ["outputs.a.hotfix is false", "visits.a is 1"]);
}

#[test]
fn a_condition_of_a_subworkflow_is_checked_like_that_of_a_phase() {
    for (when, expected) in [
        ("inputs.fast: true", "WF064"),
        ("visits.x: 1", "WF064"),
        ("outputs.a.why: no", "WF064"),
        ("outputs.a.hotfix: 3", "WF063"),
        ("hotfix: true", "WF064"),
    ] {
        let reference = format!("{{ subworkflow: part, when: {{ {when} }} }}");
        let loaded = found_around("", "", &reference);
        let messages = messages(&loaded);
        assert!(
            messages
                .iter()
                .any(|found| found.starts_with(&format!("{expected} Some(6)"))),
            "{when}: {messages:?}"
        );
        assert!(loaded.catalog.get("w").is_none(), "{when}");
    }
}

#[test]
fn an_input_that_a_subworkflow_requires_must_be_one_of_the_workflow_around_it() {
    let version = "inputs: { version: { type: text, pattern: '^[0-9.]+$' } }";
    let part = "{ subworkflow: part }";
    let loaded = found_around("", version, part);
    let [message] = &messages(&loaded)[..] else {
        panic!("{:?}", loaded.diagnostics)
    };
    assert!(
        message.starts_with(
            "WF070 Some(6) subworkflow `part` has the input `version`, which this workflow does not have | declare `version`"
        ),
        "{message}"
    );
    assert!(loaded.catalog.get("w").is_none());
    assert!(loaded.catalog.get("part").is_some());
    assert_eq!(messages(&found_around(version, version, part)), NOTHING);
}

#[test]
fn an_input_of_a_subworkflow_takes_all_values_that_the_workflow_around_it_takes() {
    let part = "{ subworkflow: part }";
    let found = |outer: &str, inner: &str| {
        let with = |kind: &str| format!("inputs: {{ v: {{ {kind} }} }}");
        let loaded = found_around(&with(outer), &with(inner), part);
        messages(&loaded)
    };
    for (outer, inner) in [
        ("type: flag", "type: text"),
        ("type: text", "type: text, minLength: 3"),
        ("type: { oneOf: [a, b] }", "type: { oneOf: [a] }"),
        ("type: text, required: false", "type: text"),
    ] {
        let found = found(outer, inner);
        assert!(
            found.len() == 1 && found[0].starts_with("WF070 Some(6)"),
            "{outer}: {found:?}"
        );
    }
    for (outer, inner) in [
        ("type: text, minLength: 3", "type: text"),
        ("type: { oneOf: [a] }", "type: { oneOf: [a, b] }"),
        ("type: text, default: x", "type: text"),
        ("type: text, required: false", "type: text, required: false"),
    ] {
        assert_eq!(found(outer, inner), NOTHING, "{outer}");
    }
}

#[test]
fn an_optional_input_that_only_a_subworkflow_has_is_a_warning_without_a_default() {
    let severity = |input: &str| {
        let inputs = format!("inputs: {{ fast: {{ {input} }} }}");
        let loaded = found_around("", &inputs, "{ subworkflow: part }");
        assert!(loaded.catalog.get("w").is_some());
        loaded.diagnostics[0].severity
    };
    assert_eq!(severity("type: text, required: false"), Severity::Warning);
    assert_eq!(severity("type: flag, default: true"), Severity::Info);
}

#[test]
fn no_visits_at_all_are_refused_with_the_location_and_the_least_number() {
    let loaded = loaded("", &[("a", "maxVisits: 0")]);
    let messages = messages(&loaded);
    assert!(
        messages.len() == 1
            && messages[0].starts_with("WF016 Some(5)")
            && messages[0].contains("at least 1"),
        "{messages:?}"
    );
    assert_eq!(loaded.catalog.iter().count(), 0);
}

#[test]
fn a_limit_leads_where_it_may_and_says_why_it_does_not() {
    let sound = [
        (
            "a",
            "maxVisits: 2, onLimit: next, outcomes: { ok: next, back: a }",
        ),
        (
            "b",
            "gate: [{ git: clean, tries: 3, onFail: end, onLimit: c }]",
        ),
        (
            "c",
            "budget: { turns: 3, onLimit: done }, continue: { onLimit: pause }",
        ),
    ];
    assert_eq!(found("budget: {turns: 9, onLimit: c}", &sound), NOTHING);
    let help =
        "`onLimit` cannot lead to `next`: that would pass the gate and the approval of the phase";
    for wrong in [
        "budget: { turns: 3, onLimit: next }",
        "continue: { onLimit: next }",
        "gate: [{ git: clean, tries: 3, onLimit: next }]",
    ] {
        let loaded = loaded("", &[("a", wrong), ("b", "")]);
        assert_eq!(loaded.diagnostics[0].message, help, "{wrong}");
    }
    let phases = [("a", "gate: [{ git: clean, onFail: next }]"), ("b", "")];
    assert_eq!(found("", &phases), ["e WF058"]);
    assert_eq!(
        found("continue: {onLimit: nowhere}", &[("a", "")]),
        ["e WF058"]
    );
    let idle = [("a", "gate: [{ git: clean, onLimit: pause }]")];
    assert_eq!(found("", &idle), ["e WF016"]);
}

#[test]
fn a_limit_of_visits_that_passes_the_gate_or_the_approval_of_its_phase_is_an_error() {
    let with = |guard: &str, to: &str| {
        let b = format!("maxVisits: 1, onLimit: {to}, {guard}");
        found("", &[("a", ""), ("b", &b), ("c", "")])
    };
    for guard in ["approve: { ask: Good? }", "gate: [{ git: clean }]"] {
        for to in ["next", "end", "done", "c"] {
            assert_eq!(with(guard, to), ["e WF058"], "{guard} {to}");
        }
        for to in ["pause", "cancel", "a"] {
            assert_eq!(with(guard, to), NOTHING, "{guard} {to}");
        }
    }
    assert_eq!(with("", "next"), NOTHING);
}

#[test]
fn one_mistake_is_reported_once_and_not_by_what_follows_from_it() {
    const INNER: &str = "name: Inner\nshow: workflows\ninputs: { x: { type: TYPE } }\noutputs: { y: '{outputs.a.y}' }\nphases:\n  - { id: a, instructions: '{inputs.x}', outputs: { y: { type: text } } }\n";
    const OUTER: &str = "name: Outer\nshow: workflows\nphases:\n  - { id: p, instructions: Do it. }\n  - subworkflow: batch\n    with: { x: a }\n  - { id: q, instructions: '{outputs.batch.y}' }\n";
    let messages = |kind: &str| {
        let files = MemoryFiles::new()
            .with(
                Tier::Project,
                "batch/workflow.yaml",
                INNER.replace("TYPE", kind),
            )
            .with(Tier::Project, "w/workflow.yaml", OUTER.to_owned());
        let found = load(&files).diagnostics.into_iter();
        found.map(|found| found.message).collect::<Vec<_>>()
    };
    assert_eq!(messages("text"), [""; 0]);
    let found = messages("strnig");
    assert!(found[0].contains("strnig"), "{found:?}");
    let follows = "`w` cannot run, because its subworkflow `batch` has errors";
    assert_eq!(found[1..], [follows], "{found:?}");
}

#[test]
fn what_a_phase_opens_acts_where_the_defaults_are_read_only() {
    const WORK: &str =
        "name: W\nshow: workflows\nphases:\n  - { id: a, instructions: a, TOOLS writable: [q] }\n";
    let found = |settings: &str, tools: &str| {
        let files = MemoryFiles::new()
            .with_settings(Tier::Project, settings)
            .with(
                Tier::Project,
                "w/workflow.yaml",
                WORK.replace("TOOLS", tools),
            );
        let found = load(&files).diagnostics.into_iter();
        found
            .map(|found| found.code.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(found("{}", ""), ["WF023"]);
    assert_eq!(found("{ defaults: { tools: 'read-only' } }", ""), NOTHING);
    let lifted = found("{ defaults: { tools: 'read-only' } }", "tools: all,");
    assert_eq!(lifted, ["WF023"]);
}

#[test]
fn a_value_that_is_passed_may_not_fit() {
    let found = |outer: &str, inner: &str| {
        let inner = format!(
            "name: S\nshow: workflows\ninputs: {{ o: {{ {inner} }} }}\nphases:\n  - {{ id: x, instructions: '{{inputs.o}}' }}\n"
        );
        let outer = format!(
            "name: W\nshow: workflows\ninputs: {{ o: {{ {outer} }} }}\nphases:\n  - {{ subworkflow: s, with: {{ o: '{{inputs.o}}' }} }}\n"
        );
        let files = MemoryFiles::new()
            .with(Tier::Project, "s/workflow.yaml", inner)
            .with(Tier::Project, "w/workflow.yaml", outer);
        let found = load(&files).diagnostics.into_iter();
        found.map(|found| found.message).collect::<Vec<_>>()
    };
    let wider = "the input `o` of subworkflow `s` is one of `p`, and its value may be another: one of `p`, `q`";
    assert_eq!(found("oneOf: [p, q]", "oneOf: [p]"), [wider]);
    assert_eq!(found("type: number", "type: number, max: 5").len(), 1);
    for (outer, inner) in [
        ("oneOf: [p]", "oneOf: [p, q]"),
        ("type: number, max: 5", "type: number, max: 5"),
        ("type: text", "pattern: '^a'"),
    ] {
        assert_eq!(found(outer, inner), NOTHING, "{outer}");
    }
}

#[test]
fn a_loop_in_the_words_of_other_programs_is_an_error_and_not_dropped() {
    for key in [
        "foreach", "for_each", "forEach", "retry", "parallel", "until",
    ] {
        let phase = format!("{key}: 3");
        assert_eq!(found("", &[("a", &phase)]), ["e WF012"], "{key}");
    }
    let work =
        "name: W\nshow: workflows\nphases:\n  - { subworkflow: s, for_each: '{inputs.l}' }\n";
    let inner = "name: S\nshow: workflows\nphases:\n  - { id: x, instructions: x }\n";
    let files = MemoryFiles::new()
        .with(Tier::Project, "s/workflow.yaml", inner)
        .with(Tier::Project, "w/workflow.yaml", work);
    let found = &load(&files).diagnostics[0];
    assert_eq!(found.severity, Severity::Error);
    assert_eq!(found.help.as_deref(), Some("did you mean `forEach`?"));
}
