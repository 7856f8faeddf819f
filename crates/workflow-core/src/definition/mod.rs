//! What the files say: loading workflow directories into a [`Catalog`].

mod model;

pub use model::{
    Bound, Catalog, ContextMode, ContinueRule, Limits, OnLimit, OnStop, Phase, PhaseEntry,
    Settings, Show, Templates, Tier, ToolAccess, Workflow,
};
