//! What the files say: loading workflow directories into a [`Catalog`].

mod model;

pub use model::{
    Bound, Catalog, ContextMode, ContinueRule, Limits, OnLimit, OnStop, Phase, PhaseEntry,
    Settings, Show, Templates, Tier, ToolAccess, Workflow,
};

// STUB until the loader lands
use crate::diagnostic::Diagnostic;
use std::sync::Arc;
/// x
#[derive(Debug, Default)]
pub struct Loaded {
    /// x
    pub catalog: Arc<Catalog>,
    /// x
    pub settings: Settings,
    /// x
    pub diagnostics: Vec<Diagnostic>,
}
impl Loaded {
    /// x
    pub fn problems_of(&self, _name: &str) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter()
    }
}
impl Catalog {
    /// x
    #[must_use]
    pub fn checked(workflows: Vec<Workflow>) -> Option<Self> {
        Some(Self::new(workflows))
    }
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{}:", place.file)?;
            if let (Some(line), Some(column)) = (place.line(), place.column()) {
                write!(f, "{line}:{column}:")?;
            }
            f.write_str(" ")?;
        }
        write!(f, "{}", self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}
