//! A phase file: frontmatter, and the instructions after it.

use super::file_map::read_map;
use super::phase::{ReadPhase, read_phase};
use crate::definition::model::RuleSets;
use crate::definition::schema::Reader;
use crate::definition::syntax::frontmatter::{self, NoFrontmatter, Parts};
use crate::definition::syntax::{Kind, Map, Node, Span, TreeLimits, yaml};
use crate::diagnostic::{Code, Finding};

/// The keys that a phase file needs.
const PHASE_CONTENT: &str = "`id`, `name` and `emoji`";

/// Reads the phase of a file.
pub(super) fn read_phase_source(
    reader: &mut Reader<'_>,
    limits: TreeLimits,
    sets: &RuleSets,
) -> Option<ReadPhase> {
    let text = reader.source.text();
    let parts = match frontmatter::split(text) {
        Ok(parts) => parts,
        Err(problem) => {
            reader.report(no_frontmatter(problem));
            return None;
        }
    };
    let node = parse_frontmatter(&parts, limits);
    let map = match node {
        // As the host: no text between the lines is an empty map.
        Ok(Node {
            kind: Kind::Null, ..
        }) => Map::default(),
        node => read_map(reader, "the frontmatter", PHASE_CONTENT, node)?.0,
    };
    let body = Some((parts.body, body_span(&parts)));
    read_phase(reader, &map, Some(frontmatter::opening()), body, sets)
}

/// Parses the frontmatter of a phase file.
pub(super) fn parse_frontmatter<'s>(
    parts: &Parts<'s>,
    limits: TreeLimits,
) -> Result<Node<'s>, Finding> {
    yaml::parse(parts.yaml, parts.yaml_start, limits)
}

/// The location of a phase file's instructions.
fn body_span(parts: &Parts<'_>) -> Span {
    Span::new(parts.body_start, parts.body_start + parts.body.len())
}

fn no_frontmatter(problem: NoFrontmatter) -> Finding {
    let (message, help) = match problem {
        NoFrontmatter::NotOpened => (
            "a phase file must start with frontmatter",
            "start it with a `---` line, `id`, `name`, `emoji`, and a `---` line",
        ),
        NoFrontmatter::NotClosed => ("the frontmatter does not end", "end it with a `---` line"),
    };
    Finding::error(Code::Frontmatter, Some(frontmatter::opening()), message).help(help)
}
