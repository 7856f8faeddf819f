//! Files of definitions: each begins with a line `%% agent/…` or `%% project/…`, as a directory of
//! `tests/definitions` has them.

use workflow_core::definition::{
    Catalog, Loaded, MemoryFiles, Root, SETTINGS_FILE, document, load,
};
use workflow_core::diagnostic::{Diagnostic, render};
use workflow_core::run::{
    Actor, Position, StoredDefinition, TransitionError, Values, advance, follow, repeat, start,
};

/// The beginning of a file's first line.
pub const FILE: &str = "%% ";

/// The longest walk through a workflow.
const STEPS: usize = 200;

/// The jumps into a phase without a limit.
const JUMPS: u32 = 3;

/// Checks that any files load deterministically, with findings that can be shown, and that loaded workflows can be run and stored.
pub fn play(data: &[u8]) {
    let files = files(data);
    let loaded = load(&files);
    assert_eq!(loaded, load(&files), "files mean one thing");
    loaded.diagnostics.iter().for_each(can_be_shown);
    for workflow in loaded.catalog.iter() {
        can_be_run(&workflow.key, &loaded);
    }
    if let Ok(text) = std::str::from_utf8(data) {
        json_is_json(text);
    }
}

fn files(data: &[u8]) -> MemoryFiles {
    // Bytes without a name are the one file of a workflow.
    let unnamed = "project/.pi/workflows/w/workflow.yaml".to_owned();
    let mut files = vec![(unnamed, Vec::new())];
    for line in data.split_inclusive(|byte| *byte == b'\n') {
        if let Some(path) = line.strip_prefix(FILE.as_bytes()) {
            let name = String::from_utf8_lossy(path.trim_ascii()).into_owned();
            files.push((name, Vec::new()));
        } else if let Some((_, content)) = files.last_mut() {
            content.extend_from_slice(line);
        }
    }
    files.into_iter().fold(MemoryFiles::new(), with)
}

fn with(files: MemoryFiles, (name, content): (String, Vec<u8>)) -> MemoryFiles {
    let roots = [
        (Root::User, "agent/"),
        (Root::Agents, "project/.agents/"),
        (Root::Project, "project/.pi/"),
    ];
    let mut found = roots.into_iter();
    let found = found.find_map(|(root, path)| Some((root, name.strip_prefix(path)?)));
    match found {
        Some((root, SETTINGS_FILE)) => files.with_settings(root.tier(), content),
        Some((root, path)) => match path.strip_prefix("workflows/") {
            Some(path) => files.with(root, path, content),
            None => files,
        },
        None => files,
    }
}

fn can_be_shown(found: &Diagnostic) {
    for text in [render(found, false), found.to_string()] {
        let hidden = |c: char| c.is_control() && c != '\n';
        assert!(!text.contains(hidden), "{text:?}");
    }
    let location = found.location.as_ref();
    if let Some(region) = location.and_then(|place| place.region.as_ref()) {
        let excerpt = &region.excerpt;
        assert!(excerpt.text.get(excerpt.start..excerpt.end).is_some());
        assert!(region.line >= 1 && region.column >= 1);
        assert!((region.line, region.column) <= (region.end_line, region.end_column));
    }
}

fn can_be_run(key: &str, loaded: &Loaded) {
    let catalog = &loaded.catalog;
    let workflow = catalog.get(key).expect("a catalog knows its own");
    let task = "wf-1-abcdef".to_owned();
    let mut run = match start(workflow, catalog, Values::default(), task, "task", 1) {
        // A subworkflow cannot begin with the values that it is given.
        Err(TransitionError::Given(_)) => return,
        run => run.expect("a run starts"),
    };
    let stored = StoredDefinition::of(key, catalog);
    let json = serde_json::to_string(&stored).expect("definitions are JSON");
    let back: StoredDefinition = serde_json::from_str(&json).expect("what is stored is read");
    assert_eq!(back, stored);
    let checked = Catalog::checked(back.workflows).expect("what loads holds what it promises");
    for _ in 0..STEPS {
        if !run.state.active {
            return;
        }
        let position = Position::of(&run.state, catalog).expect("a run stands on a phase");
        let stored = Position::of(&run.state, &checked).expect("and in what is stored of it");
        assert_eq!(position.phase, stored.phase);
        assert!(!position.phase.id.is_empty());
        let repeated = repeat(&run, Actor::User, catalog);
        let may_loop = !matches!(repeated, Err(TransitionError::NotLoopable));
        assert_eq!(may_loop, position.scope().loopable);
        for outcome in &position.phase.outcomes {
            let to = follow(&run, &outcome.to, Actor::Agent { jumps: JUMPS }, catalog);
            if let Ok(to) = to
                && to.state.active
            {
                assert!(Position::of(&to.state, catalog).is_ok());
            }
        }
        let next = match advance(&run, catalog) {
            Err(TransitionError::Given(_)) => return,
            next => next.expect("a phase has a way on"),
        };
        assert_eq!(
            next.state.global_step_count,
            run.state.global_step_count + 1
        );
        run = next;
    }
}

/// Checks that JSON means the same as JSON5, and as YAML where both have it.
fn json_is_json(text: &str) {
    let Ok(value) = serde_json::from_str::<serde_json::Value>(text) else {
        return;
    };
    let [json5, yaml] =
        ["settings.json5", "workflow.yaml"].map(|name| document(name, text.as_bytes()));
    if value.is_object() && json5.is_some() && yaml.is_some() {
        assert_eq!(json5, yaml, "one document in two languages");
    }
}
