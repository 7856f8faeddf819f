//! What holds at a place of a workflow, and who says so.
//!
//! The values are the engine's own: they come from what a session goes by where it stands, so that
//! what is explained cannot differ from what is served. This adds where each of them is written. Must not
//! know how it is shown.
//!
//! ```
//! use workflow_core::definition::{MemoryFiles, Origins, Tier, load};
//! use workflow_core::explain::{Explained, places};
//!
//! let files = MemoryFiles::new().with(Tier::Project, "fix/workflow.yaml", r#"
//! name: Fix
//! commandName: fix
//! initialMessage: "Fix {description}"
//! phases: [{id: look, name: Look, emoji: 👀, instructions: Find it., tools: {whitelist: [read]}}]
//! "#);
//! let loaded = load(&files);
//! let workflow = loaded.catalog.get("fix").unwrap();
//! let places = places(workflow, &loaded.catalog);
//! let look = places.find("look").unwrap().state().unwrap();
//! let explained = Explained::of(&look, &loaded, &Origins::new(&files, &loaded)).unwrap();
//! assert_eq!(explained.blocks("read"), None);
//! assert!(explained.blocks("edit").unwrap().contains("during the Look phase"));
//! ```

mod here;
mod names;
mod places;
mod row;
mod rows;
mod turns;

pub use names::NotFound;
pub use places::{Place, Places, What, places};
pub use row::{Origin, Row, Said, Section, Value};

use crate::command::initial_message;
use crate::definition::{Loaded, Origins, Workflow};
use crate::policy::Continue;
use crate::policy::rules::{Call, PlainPaths};
use crate::run::{Position, RunState, Stale};
use crate::standing::Standing;
use here::Here;

/// What holds where a run stands.
#[derive(Debug)]
pub struct Explained {
    standing: Standing,
    initial_message: String,
    /// Every value, section by section.
    pub rows: Vec<Row>,
}

impl Explained {
    /// Works out what holds where a run stands, or says why the run does not fit its definitions.
    pub fn of(state: &RunState, loaded: &Loaded, origins: &Origins<'_>) -> Result<Self, Stale> {
        let standing = Standing::of(state, &loaded.catalog, &loaded.settings)?;
        let position = Position::of(state, &loaded.catalog)?;
        let here = Here::new(state, loaded, &position, &standing, origins);
        let rows = rows::of_phase(&here);
        let initial_message =
            initial_message(position.root(), &loaded.catalog, &state.task_description);
        Ok(Self {
            standing,
            initial_message,
            rows,
        })
    }

    /// The reason that a call is blocked with, or asked about, if it is.
    #[must_use]
    pub fn denies(&self, call: &Call<'_>) -> Option<String> {
        self.standing.denies(call)
    }

    /// The reason that a call of this tool without arguments is blocked with, if it is.
    #[must_use]
    pub fn blocks(&self, tool: &str) -> Option<String> {
        let no_arguments = serde_json::from_str("{}").ok();
        self.denies(&Call::new(tool, no_arguments, &PlainPaths))
    }

    /// The context message in full.
    #[must_use]
    pub fn context(&self) -> String {
        self.standing.context.in_full().to_string()
    }

    /// Whether this is what an agent is told that stopped early.
    #[must_use]
    pub fn is_reminder(&self, text: &str) -> bool {
        self.standing
            .reminder
            .texts()
            .any(|reminder| reminder == text)
    }

    /// What the agent was told when the run started.
    #[must_use]
    pub fn initial_message(&self) -> &str {
        &self.initial_message
    }

    /// The status line.
    #[must_use]
    pub fn status(&self) -> &str {
        &self.standing.status
    }

    /// How pushing goes here.
    #[must_use]
    pub fn auto_continue(&self) -> Continue {
        self.standing.auto_continue
    }

    /// The scopes' names from the root to the innermost one.
    #[must_use]
    pub fn breadcrumb(&self) -> String {
        self.standing.breadcrumb_names()
    }

    /// The phase's emoji and name.
    #[must_use]
    pub fn phase(&self) -> (&str, &str) {
        (&self.standing.phase.emoji, &self.standing.phase.name)
    }

    /// The row of a key.
    #[must_use]
    pub fn row(&self, section: Section, key: &str) -> Option<&Row> {
        self.rows
            .iter()
            .find(|row| row.section == section && row.key == key)
    }
}

/// What a workflow says that holds in every phase of a run of it.
#[must_use]
pub fn everywhere(workflow: &Workflow, loaded: &Loaded, origins: &Origins<'_>) -> Vec<Row> {
    let places = places(workflow, &loaded.catalog);
    let first = places.phases().next().and_then(Place::state);
    let Some(state) = first else {
        return Vec::new();
    };
    let standing = Standing::of(&state, &loaded.catalog, &loaded.settings);
    let position = Position::of(&state, &loaded.catalog);
    let (Ok(standing), Ok(position)) = (standing, position) else {
        return Vec::new();
    };
    let here = Here::new(&state, loaded, &position, &standing, origins);
    rows::of_workflow(&here)
}
