//! Steps: where a move comes to next.

use crate::definition::{Catalog, Target};

use super::{DefinitionMismatch, Path, RunState};

/// Where a move comes to next.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// An entry, which may be skipped.
    Entry(Path),
    /// The inside of the reference at a path.
    Inside(Path),
    /// The end of the scope of a path, with its name if it has one.
    End(Path, Option<String>),
    /// The end of the run.
    Done,
}

impl Step {
    /// The entry, if it is one.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::Entry(path) | Self::Inside(path) => Some(path),
            Self::End(..) | Self::Done => None,
        }
    }
}

/// Where a target leads from an entry.
pub(super) fn step_to(
    target: &Target,
    from: &Path,
    catalog: &Catalog,
) -> Result<Step, DefinitionMismatch> {
    Ok(match target {
        Target::Pause | Target::Cancel => Step::Entry(from.clone()),
        Target::Next => behind(from, catalog),
        Target::End => Step::End(from.clone(), None),
        Target::EndAs(name) => Step::End(from.clone(), Some(name.clone())),
        Target::Done => Step::Done,
        Target::Phase(id) => match from.workflow(catalog) {
            Some(scope) => {
                let index = scope.phases.iter().position(|entry| entry.id() == id);
                let gone = || DefinitionMismatch::target_gone(scope, id);
                Step::Entry(from.moved_to(index.ok_or_else(gone)?))
            }
            None => Step::Done,
        },
    })
}

/// What follows an entry: the next one of its scope, or the end of that.
pub(super) fn behind(path: &Path, catalog: &Catalog) -> Step {
    let next = path.moved_to(path.innermost().phase_index + 1);
    if next.entry(catalog).is_some() {
        Step::Entry(next)
    } else {
        Step::End(path.clone(), None)
    }
}

/// The path of a run that goes to the next phase in order, whatever the conditions (cases 2 and 4). `None` at the end.
pub(crate) fn in_order(state: &RunState, catalog: &Catalog) -> Option<Path> {
    let mut path = state.current_path.clone();
    if path.subworkflow(catalog).is_none() {
        path = loop {
            match behind(&path, catalog) {
                Step::Entry(next) => break next,
                Step::Inside(_) | Step::End(..) | Step::Done => path = path.left()?,
            }
        };
    }
    Some(down_to_phase(path, catalog))
}

/// Enters subworkflows until the path ends on a phase. Ends, as no workflow contains itself.
pub(crate) fn down_to_phase(mut path: Path, catalog: &Catalog) -> Path {
    while let Some(reference) = path.subworkflow(catalog) {
        path = path.entered(&reference.key);
    }
    path
}
