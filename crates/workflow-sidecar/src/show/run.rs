//! The run that a timeline is at: its state, and what holds there as far as its definition is known.

use std::cell::OnceCell;
use std::sync::Arc;

use workflow_core::definition::{Catalog, Loaded, MemoryFiles, Origins};
use workflow_core::event::Entry;
use workflow_core::explain::Explained;
use workflow_core::guard::Pace;
use workflow_core::run::{Position, RunState, entry_type, restore};

/// A run, as the stored entries tell of it.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) state: RunState,
    pub(super) pace: Pace,
    catalog: Option<Arc<Catalog>>,
    /// What holds where it stands, worked out when it is asked for.
    explained: OnceCell<Option<Explained>>,
}

impl Run {
    /// A run whose definition is in a catalog, unless one is stored with it.
    pub(super) fn new(state: RunState, catalog: Option<Arc<Catalog>>) -> Self {
        Self {
            state,
            pace: Pace::default(),
            catalog,
            explained: OnceCell::new(),
        }
    }

    /// The same run at another place.
    pub(super) fn moved(&mut self, state: RunState) {
        self.state = state;
        self.explained = OnceCell::new();
    }

    /// Takes the definition that is stored with it; says whether there is one now.
    pub(super) fn define(&mut self, entry: Entry<'_>) -> bool {
        let state = serde_json::value::to_raw_value(&self.state).ok();
        let own = Entry {
            custom_type: entry_type::STATE,
            data: state.as_deref(),
        };
        let Some((catalog, _)) = restore(&[own, entry]).definition else {
            return false;
        };
        self.catalog = Some(Arc::new(catalog));
        self.explained = OnceCell::new();
        true
    }

    /// Takes how far pushing went; gives how far it had gone before.
    pub(super) fn pace(&mut self, entry: Entry<'_>) -> Pace {
        let state = serde_json::value::to_raw_value(&self.state).ok();
        let own = Entry {
            custom_type: entry_type::STATE,
            data: state.as_deref(),
        };
        let restored = restore(&[own, entry]);
        std::mem::replace(&mut self.pace, restored.pace)
    }

    /// The workflow's name, or its key.
    pub(super) fn workflow(&self) -> &str {
        let key = &self.state.workflow_key;
        let workflow = self.catalog.as_ref().and_then(|catalog| catalog.get(key));
        workflow.map_or(key, |workflow| &workflow.name)
    }

    /// The phase it stands in, with the scopes around it.
    pub(super) fn phase(&self) -> String {
        let position = self
            .catalog
            .as_ref()
            .and_then(|catalog| Position::of(&self.state, catalog).ok());
        let Some(position) = position else {
            let segments = self.state.current_path.segments().iter();
            let parts: Vec<String> = segments
                .map(|segment| format!("{} [{}]", segment.workflow_key, segment.phase_index + 1))
                .collect();
            return parts.join(" > ");
        };
        let inside = position.levels.iter().skip(1);
        let scopes = inside.map(|level| level.workflow.name.as_str());
        let phase = format!("{} {}", position.phase.emoji, position.phase.name);
        let mut parts: Vec<&str> = scopes.collect();
        parts.push(&phase);
        parts.join(" > ")
    }

    /// What holds where it stands, if its definition is known.
    pub(super) fn explained(&self) -> Option<&Explained> {
        self.explained
            .get_or_init(|| {
                let loaded = Loaded {
                    catalog: Arc::clone(self.catalog.as_ref()?),
                    ..Loaded::default()
                };
                let files = MemoryFiles::new();
                Explained::of(&self.state, &loaded, &Origins::new(&files, &loaded)).ok()
            })
            .as_ref()
    }
}

/// The state that an entry holds.
pub(super) fn state_of(entry: Entry<'_>) -> Option<RunState> {
    restore(&[entry]).state
}
