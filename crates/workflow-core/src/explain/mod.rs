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

mod flow_values;
mod not_found;
mod origin_lookup;
mod phase_tree;
mod placeholders;
mod row;
mod rows;
mod tool_values;
mod turn_values;
mod values;

pub use not_found::NotFound;
pub use phase_tree::{NodeKind, PhaseNode, PhaseTree, phase_tree};
pub use row::{Origin, OriginKind, Row, Topic, Value};

use crate::definition::{Loaded, Workflow};
use crate::policy::rules::{Call, Decision, PLAIN_PATHS};
use crate::reminders::ContinuePolicy;
use crate::run::{DefinitionMismatch, Position, RunState};
use crate::session::commands::initial_message;
use crate::session::phase::ResolvedPhase;
use crate::text;
use origin_lookup::OriginLookup;

/// The values that apply in the phase of a run.
#[derive(Debug)]
pub struct Explained {
    resolved: ResolvedPhase,
    initial_message: String,
    /// Every value, section by section.
    pub rows: Vec<Row>,
}

impl Explained {
    /// Resolves the values for the phase of a run; an error says why the run does not fit its definitions.
    pub fn of(state: &RunState, loaded: &Loaded) -> Result<Self, DefinitionMismatch> {
        let position = Position::of(state, &loaded.catalog)?;
        let resolved = resolved(state, &position, loaded)?;
        let lookup = OriginLookup::new(state, loaded, &position, &resolved);
        let rows = values::of_phase(&lookup);
        let initial_message = initial_message(
            position.root(),
            &loaded.catalog,
            &placeholders::inputs(position.root()),
            &state.task_description,
        );
        Ok(Self {
            resolved,
            initial_message,
            rows,
        })
    }

    /// Returns the reason of a call that is blocked or needs consent.
    #[must_use]
    pub fn denies(&self, call: &Call<'_>) -> Option<String> {
        self.resolved.denies(call)
    }

    /// Returns the decision on a call, with the level and the location of the rule that decides.
    #[must_use]
    pub fn decides(&self, call: &Call<'_>) -> CallDecision {
        let (is_asked, denial) = match self.resolved.rules.decide(call) {
            Decision::Allow => return CallDecision::Allowed,
            Decision::Ask(denial) => (true, denial),
            Decision::Block(denial) => (false, denial),
        };
        if is_asked {
            CallDecision::Asked(denial.location())
        } else {
            CallDecision::Blocked(denial.location())
        }
    }

    /// Returns the reason why a call of this tool without arguments is blocked, if it is.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "an empty object is JSON")]
    pub fn blocks(&self, tool: &str) -> Option<String> {
        let no_arguments = serde_json::from_str("{}").expect("an empty object is JSON");
        self.denies(&Call::new(tool, Some(no_arguments), &*PLAIN_PATHS))
    }

    /// Returns true if this is the reason of a call that a list blocks, with or without the line on what is allowed.
    #[must_use]
    pub fn is_list_reason(&self, tool: &str, reason: &str) -> bool {
        let start = |text: &str| {
            let start = text.split(text::ALLOWED_IN_PHASE).next();
            start.unwrap_or_default().to_owned()
        };
        self.blocks(tool)
            .is_some_and(|blocks| start(&blocks) == start(reason))
    }

    /// The context message in full.
    #[must_use]
    pub fn context(&self) -> String {
        self.resolved.context.in_full()
    }

    /// Returns true if this is the reminder for an agent that stopped early.
    #[must_use]
    pub fn is_reminder(&self, text: &str) -> bool {
        self.resolved
            .reminder
            .texts()
            .any(|reminder| reminder == text)
    }

    /// The first message to the agent.
    #[must_use]
    pub fn initial_message(&self) -> &str {
        &self.initial_message
    }

    /// The status line.
    #[must_use]
    pub fn status(&self) -> &str {
        &self.resolved.status
    }

    /// Returns the settings of reminders in this phase.
    #[must_use]
    pub fn auto_continue(&self) -> ContinuePolicy {
        self.resolved.auto_continue
    }

    /// The scopes' names from the root to the innermost one.
    #[must_use]
    pub fn breadcrumb(&self) -> String {
        self.resolved.breadcrumb_names()
    }

    /// The phase's emoji and name.
    #[must_use]
    pub fn phase(&self) -> (&str, &str) {
        (&self.resolved.phase.emoji, &self.resolved.phase.name)
    }

    /// The row of a key.
    #[must_use]
    pub fn row(&self, topic: Topic, key: &str) -> Option<&Row> {
        self.rows
            .iter()
            .find(|row| row.topic == topic && row.key == key)
    }
}

/// The decision on a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallDecision {
    /// It may run.
    Allowed,
    /// A person is asked, because of this level and rule.
    Asked(String),
    /// It is blocked by this level and rule.
    Blocked(String),
}

/// The values of a workflow that apply in every phase of it.
#[must_use]
pub fn everywhere(workflow: &Workflow, loaded: &Loaded) -> Vec<Row> {
    let tree = phase_tree(workflow, &loaded.catalog);
    let first = tree.phases().next().and_then(PhaseNode::state);
    let Some(state) = first else {
        return Vec::new();
    };
    let Ok(position) = Position::of(&state, &loaded.catalog) else {
        return Vec::new();
    };
    let Ok(resolved) = resolved(&state, &position, loaded) else {
        return Vec::new();
    };
    let lookup = OriginLookup::new(&state, loaded, &position, &resolved);
    values::of_workflow(&lookup)
}

/// The phase of a state, whose texts name the values that only a run has.
fn resolved(
    state: &RunState,
    position: &Position<'_>,
    loaded: &Loaded,
) -> Result<ResolvedPhase, DefinitionMismatch> {
    let variables = placeholders::variables(state, position, &loaded.catalog);
    ResolvedPhase::with_values(
        &state.clone().into(),
        position,
        &variables,
        &loaded.catalog,
        None,
        &loaded.settings,
    )
}
