//! The map that every file of the language contains.

use crate::definition::schema::{Reader, Section, Sites};
use crate::definition::syntax::{Findings, Kind, Map, Node, Source, Span};
use crate::definition::tier::Tier;
use crate::diagnostic::{Code, Finding, shown};

/// A reader at the start of a file.
pub(super) fn reader_of<'r>(
    source: &'r Source,
    findings: &'r mut Findings,
    tier: Tier,
    keeps_locations: bool,
) -> Reader<'r> {
    Reader {
        source,
        findings,
        tier,
        sections: Section::ALL,
        sites: Sites::default(),
        keeps_locations,
    }
}

/// The top-level map of a file, with its location; duplicate keys are reported. `what` names it, `content` its keys.
pub(super) fn read_map<'s>(
    reader: &mut Reader<'_>,
    what: &str,
    content: &str,
    node: Result<Node<'s>, Finding>,
) -> Option<(Map<'s>, Option<Span>)> {
    if let Some(span) = reader.source.not_utf8() {
        let message = "the file is not UTF-8: bytes that cannot be read are replaced";
        reader.report(Finding::warning(Code::NotUtf8, Some(span), message));
    }
    let mut node = match node {
        Ok(node) => node,
        Err(finding) => return reader.refuse(finding),
    };
    let mut dropped = Vec::new();
    node.drop_duplicates(&mut dropped);
    for (key, span) in dropped {
        let message = format!("the map contains the key `{}` twice", shown(&key));
        reader.report(Finding::error(Code::DuplicateKey, span, message));
    }
    let (code, why) = match node.kind {
        Kind::Map(map) => return Some((map, node.span)),
        Kind::Null => (Code::MissingKey, "is empty".to_owned()),
        kind => (
            Code::WrongType,
            format!("must be a map, not {}", kind.describe()),
        ),
    };
    let finding = Finding::error(code, node.span, format!("{what} {why}"));
    reader.refuse(finding.help(format!("write {content}")))
}
