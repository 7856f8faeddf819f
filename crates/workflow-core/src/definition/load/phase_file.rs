//! A phase file: frontmatter, and the instructions after it.

use super::file_map::read_map;
use super::phase::read_phase;
use crate::definition::model::{Phase, RuleSets};
use crate::definition::schema::{Reader, Sites};
use crate::definition::syntax::{Kind, Map, Node, Span, TreeLimits, frontmatter, yaml};

/// The keys that a phase file needs.
const PHASE_CONTENT: &str = "`id`, `name` and `emoji`";

/// Reads the phase of a file.
pub(super) fn read_phase_source(
    reader: &mut Reader<'_>,
    limits: TreeLimits,
    sets: &RuleSets,
) -> Option<(Phase, Sites)> {
    let text = reader.source.text();
    let parts = match frontmatter::split(text) {
        Ok(parts) => parts,
        Err(finding) => return reader.refuse(finding),
    };
    let map = match yaml::parse(parts.yaml, parts.yaml_start, limits) {
        // As the host: no text between the lines is an empty map.
        Ok(Node {
            kind: Kind::Null, ..
        }) => Map::default(),
        node => read_map(reader, "the frontmatter", PHASE_CONTENT, node)?.0,
    };
    let end = parts.body_start + parts.body.len();
    let body = Some((parts.body, Span::new(parts.body_start, end)));
    read_phase(reader, &map, Some(frontmatter::opening()), body, sets)
}
