//! Explanations: the values that apply in a phase, and the origin of each.
//!
//! The values are those that a session uses in that phase, so that
//! an explanation cannot differ from the decisions. This adds the origin of each. It does not
//! know the output formats.
//!
//! ```
//! use workflow_core::definition::{MemoryFiles, Tier, load_located};
//! use workflow_core::explain::{Explained, phase_tree};
//!
//! let files = MemoryFiles::new().with(Tier::Project, "fix/workflow.yaml", r#"
//! name: Fix
//! commandName: fix
//! initialMessage: "Fix {description}"
//! phases: [{id: look, name: Look, emoji: 👀, instructions: Find it., tools: {whitelist: [read]}}]
//! "#);
//! let loaded = load_located(&files);
//! let workflow = loaded.catalog.get("fix").unwrap();
//! let tree = phase_tree(workflow, &loaded.catalog);
//! let look = tree.find("look").unwrap().state().unwrap();
//! let explained = Explained::of(&look, &loaded).unwrap();
//! assert_eq!(explained.blocks("read"), None);
//! assert!(explained.blocks("edit").unwrap().contains("during the Look phase"));
//! ```

mod phase_tree;
mod placeholders;
mod row;
mod rows;
mod tools;
mod values;

pub use phase_tree::{NodeKind, NotFound, PhaseNode, PhaseTree, phase_tree};
pub use row::{Origin, OriginKind, Row, Topic, Value};

use crate::definition::{Loaded, Settings, Workflow};
use crate::policy::rules::{Call, CallDecision, PLAIN_PATHS, Rules};
use crate::run::{DefinitionMismatch, Path, Position, RunState, down_to_phase};
use crate::session::commands::initial_message;
use crate::session::phase::{ResolvedPhase, door_levels, settings_levels};
use crate::text;
use rows::Rows;

/// The values that apply in the phase of a run.
#[derive(Debug)]
pub struct Explained {
    resolved: ResolvedPhase,
    /// The first message to the agent.
    pub initial_message: String,
    /// Every value, section by section.
    pub rows: Vec<Row>,
}

impl Explained {
    /// Resolves the values for the phase of a run; an error says why the run does not fit its definitions.
    pub fn of(state: &RunState, loaded: &Loaded) -> Result<Self, DefinitionMismatch> {
        explained(state, loaded, values::of_phase)
    }

    /// Returns the decision on a call.
    pub fn decide(&self, call: &Call<'_>) -> CallDecision<'_> {
        self.resolved.rules.decide(call)
    }

    /// Returns the reason of a call that is blocked or needs consent.
    pub fn denies(&self, call: &Call<'_>) -> Option<String> {
        self.resolved.denies(call)
    }

    /// Returns the reason why a call of this tool without arguments is blocked, if it is.
    #[expect(clippy::missing_panics_doc, reason = "an empty object is JSON")]
    pub fn blocks(&self, tool: &str) -> Option<String> {
        let no_arguments = serde_json::from_str("{}").expect("an empty object is JSON");
        // A copy: globs keep the paths that they are first compared with.
        let resolved = self.resolved.clone();
        resolved.denies(&Call::new(tool, Some(no_arguments), &*PLAIN_PATHS))
    }

    /// Returns true if this is the reason of a call that a list blocks, with or without the line on what is allowed.
    pub fn is_list_reason(&self, tool: &str, reason: &str) -> bool {
        let start = |text: &str| text.split(text::ALLOWED_IN_PHASE).next().map(str::to_owned);
        let blocks = self.blocks(tool);
        blocks.is_some_and(|blocks| start(&blocks) == start(reason))
    }

    /// Returns true if this is the reminder for an agent that stopped early.
    pub fn is_reminder(&self, text: &str) -> bool {
        let mut reminders = self.resolved.reminder.texts();
        reminders.any(|reminder| reminder == text)
    }

    /// The scopes' names from the root to the innermost one.
    pub fn breadcrumb(&self) -> String {
        self.resolved.breadcrumb_names()
    }

    /// The row of a key.
    pub fn row(&self, topic: Topic, key: &str) -> Option<&Row> {
        let mut rows = self.rows.iter();
        rows.find(|row| row.topic == topic && row.key == key)
    }
}

/// The values of a workflow that apply in every phase of it.
pub fn everywhere(workflow: &Workflow, loaded: &Loaded) -> Vec<Row> {
    let tree = phase_tree(workflow, &loaded.catalog);
    let first = tree.phases().next().and_then(PhaseNode::state);
    let explained = first.and_then(|state| explained(&state, loaded, values::of_workflow).ok());
    explained.map_or_else(Vec::new, |explained| explained.rows)
}

/// The rules on tool calls that hold without a run: those of the settings, and of `withoutRun` in them.
pub fn without_run(settings: &Settings) -> Rules {
    let levels = settings_levels(settings.guards()).into_iter();
    Rules::new(levels.chain(door_levels(settings.guards())))
}

/// Resolves the phase of a state, whose texts name the values that only a run has.
fn explained(
    state: &RunState,
    loaded: &Loaded,
    values: fn(Rows<'_>) -> Vec<Row>,
) -> Result<Explained, DefinitionMismatch> {
    let position = Position::of(state, &loaded.catalog)?;
    let variables = |path: &Path| placeholders::variables(path, &loaded.catalog);
    let resolved = ResolvedPhase::with_values(
        &state.clone().into(),
        &position,
        &variables,
        None,
        &loaded.settings,
    )?;
    let root = position.root();
    let inputs = placeholders::values("inputs", &root.inputs);
    // Of a run that skips no phase.
    let path = down_to_phase(Path::root(&root.key, 0), &loaded.catalog);
    let first = path.entry(&loaded.catalog);
    let message = initial_message(root, first, &inputs, &state.task_description);
    let rows = values(Rows {
        state,
        loaded,
        position: &position,
        resolved: &resolved,
        initial_message: &message,
        topic: Topic::Start,
        made: Vec::new(),
    });
    Ok(Explained {
        resolved,
        initial_message: message,
        rows,
    })
}
