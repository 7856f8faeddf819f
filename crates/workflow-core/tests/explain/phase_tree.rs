//! The phases of a workflow, and their names.

use workflow_core::definition::{Loaded, MemoryFiles, Tier, load};
use workflow_core::explain::{NotFound, phase_tree};
use workflow_core::run::{RunState, Values, advance, start};

const PHASE: &str = "emoji: p, instructions: Do it.}";

fn loaded() -> Loaded {
    let workflow = |name: &str, show: &str, phases: &str| {
        format!(
            "name: {name}\ncommandName: {name}\ninitialMessage: Go\nshow: {show}\nphases: [{phases}]\n"
        )
    };
    let phase = |id: &str, name: &str| format!("{{id: {id}, name: {name}, {PHASE}");
    let outer = [
        phase("plan", "Plan"),
        "{subworkflow: build}".to_owned(),
        phase("check", "Look/back"),
        "{subworkflow: build}".to_owned(),
    ];
    let build = [phase("make", "Make"), "{subworkflow: verify}".to_owned()];
    let verify = [phase("check", "Check"), phase("report", "Report")];
    let loaded = load(
        &MemoryFiles::new()
            .with(
                Tier::Project,
                "ship/workflow.yaml",
                workflow("ship", "user", &outer.join(", ")),
            )
            .with(
                Tier::Project,
                "build/workflow.yaml",
                workflow("build", "workflows", &build.join(", ")),
            )
            .with(
                Tier::Project,
                "verify/workflow.yaml",
                workflow("verify", "workflows", &verify.join(", ")),
            ),
    );
    assert_eq!(loaded.diagnostics, []);
    loaded
}

fn find(wanted: &str) -> Result<String, NotFound> {
    let loaded = loaded();
    let ship = loaded.catalog.get("ship").unwrap();
    phase_tree(ship, &loaded.catalog)
        .find(wanted)
        .map(|place| place.name.clone())
}

#[test]
fn the_phases_are_those_that_next_alone_reaches() {
    let loaded = loaded();
    let ship = loaded.catalog.get("ship").unwrap();
    let described: Vec<RunState> = phase_tree(ship, &loaded.catalog)
        .phases()
        .map(|place| place.state().unwrap())
        .collect();
    let first = &described[0];
    let mut run = start(
        ship,
        &loaded.catalog,
        Values::default(),
        first.task_id.clone(),
        &first.task_description,
        0,
    )
    .unwrap();
    let mut walked = Vec::new();
    while run.state.active {
        walked.push(run.state.clone());
        run = advance(&run, &loaded.catalog).unwrap();
    }
    assert_eq!(described, walked);
}

#[test]
fn a_phase_is_found_by_its_id_its_name_or_its_path() {
    assert_eq!(find("plan").unwrap(), "plan");
    assert_eq!(find("Plan").unwrap(), "plan");
    assert_eq!(find("Look/back").unwrap(), "check");
    assert_eq!(find("build/verify/report").unwrap(), "build/verify/report");
    assert_eq!(
        find("build#2/verify/report").unwrap(),
        "build#2/verify/report"
    );
    assert_eq!(
        find("build#2/verify/Report").unwrap(),
        "build#2/verify/report"
    );
}

#[test]
fn a_name_that_several_phases_have_names_them_all() {
    assert_eq!(
        find("report").unwrap_err().to_string(),
        "`report` is more than one phase: say which of `build/verify/report`, `build#2/verify/report`"
    );
    // One that is a path in full is no question.
    assert_eq!(find("check").unwrap(), "check");
    assert_eq!(
        find("verify/check").unwrap_err().to_string(),
        "`verify/check` is more than one phase: say which of `build/verify/check`, `build#2/verify/check`"
    );
}

#[test]
fn a_name_that_no_phase_has_is_answered_with_a_near_one() {
    assert_eq!(
        find("pln").unwrap_err().to_string(),
        "there is no phase `pln`: did you mean `plan`?"
    );
    let unknown = find("xyzzy").unwrap_err().to_string();
    assert!(
        unknown.starts_with("there is no phase `xyzzy`: there are `plan`, `build/make`"),
        "{unknown}"
    );
    assert!(find("").is_err() && find("/").is_err() && find("build").is_err());
}

#[test]
fn subworkflows_that_multiply_are_looked_at_up_to_a_bound() {
    let mut files = MemoryFiles::new();
    for level in 0..16 {
        let inner = level + 1;
        let phases = format!("{{subworkflow: w{inner}}}, {{subworkflow: w{inner}}}");
        let text =
            format!("name: W\ncommandName: w{level}\ninitialMessage: Go\nphases: [{phases}]\n");
        files = files.with(Tier::Project, &format!("w{level}/workflow.yaml"), text);
    }
    let last = format!("name: W\nshow: workflows\nphases: [{{id: a, name: A, {PHASE}]\n");
    let loaded = load(&files.with(Tier::Project, "w16/workflow.yaml", last));
    let found = phase_tree(loaded.catalog.get("w0").unwrap(), &loaded.catalog);
    assert!(found.cut);
    assert_eq!(found.nodes.len(), 2000);
}
