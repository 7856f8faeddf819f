//! Directories that a command accesses as a whole, and the targets of its copies.

use super::arguments::{Found, Sets};
use super::row::{ArgumentSet, Node, Row, RowKind, Tree, TreePart};
use super::rows;
use crate::file_access::{AccessKind, FileAccess};
use crate::word::Word;

/// Returns the locations that a command accesses with everything below them, and the targets of its copies. What its rows do not know is
/// an option without a value, or an operand.
pub(crate) fn trees(name: &str, arguments: &[Word]) -> Vec<FileAccess> {
    let Some(program) = rows(name) else {
        return Vec::new();
    };
    let place = program.place(arguments, false);
    let Node { rows, code, .. } = place.node;
    let is_for_paths = |row: &&Row| {
        let arguments = &row.arguments;
        row.kind == RowKind::Code || !arguments.trees.is_empty() || arguments.target.is_some()
    };
    // The first one counts of whose options those that it needs are there.
    let mut locations = [rows, code, &program.node.code]
        .into_iter()
        .flatten()
        .map(|row| &**row)
        .filter(is_for_paths)
        .find_map(|row| {
            let found = Sets::of(&row.arguments, &[]).find_any(place.words, program.name)?;
            Some(accessed(name, &row.arguments, &found))
        })
        .unwrap_or_default();
    if let Some(from) = place.prefix.values(&["-C", "--work-tree"]).last() {
        for location in &mut locations {
            location.path = format!("{}/{}", from.location(), location.path);
            location.is_glob |= from.is_glob;
        }
    }
    locations
}

fn accessed(name: &str, row: &ArgumentSet, found: &Found) -> Vec<FileAccess> {
    let here = Word::literal(".");
    let target = row.target.as_ref().map(|options| found.target(options));
    let sources = target
        .as_ref()
        .map_or(&*found.operands, |(_, sources)| sources);
    let mut locations = Vec::new();
    for Tree {
        kind,
        part,
        options,
    } in &row.trees
    {
        let mut add = |word: &Word| locations.push(FileAccess::of(word, *kind));
        match (part, &target) {
            (TreePart::Directory, _) => add(&found.directory(options)),
            _ if !options.is_empty() && !found.has(options) => {}
            (TreePart::Operands, _) if !sources.is_empty() => sources.iter().for_each(add),
            (TreePart::Operands, _) if *kind == AccessKind::Itself => {}
            (TreePart::Target, Some((target, _))) => add(target),
            _ => add(&here),
        }
    }
    let Some((target, _)) = &target else {
        return locations;
    };
    let copies_tree = |tree: &Tree| tree.kind == AccessKind::ReadTree && found.has(&tree.options);
    let kind = if row.trees.iter().any(copies_tree) {
        AccessKind::ReplaceTree
    } else {
        AccessKind::Write
    };
    for source in sources {
        locations.extend(copy_inside(source, target, kind));
        if found.has(&["-s", "--symbolic", "--symbolic-link"]) {
            locations.extend(linked(source, target));
        }
        // The contents of a directory are copied.
        let path = source.shape();
        if matches!(path, "." | "./")
            || path.ends_with("/.")
            || name == "rsync" && path.ends_with('/')
        {
            locations.push(FileAccess::of(target, AccessKind::ReplaceTree));
        }
    }
    locations
}

/// Returns the locations to which a symbolic link may lead: a relative one starts from the directory of the link, which is the target
/// or contains it.
fn linked(source: &Word, target: &Word) -> Vec<FileAccess> {
    if source.shape().starts_with(['/', '~', '\0']) {
        return Vec::new();
    }
    let (target, source) = (target.location(), source.location());
    let parent = target.rsplit_once('/').map_or(".", |(parent, _)| parent);
    let from = |directory: &str| FileAccess::at(&format!("{directory}/{source}"), AccessKind::Read);
    vec![from(parent), from(&target)]
}

/// Returns the location of a copy inside the target, in case the target is a directory.
fn copy_inside(source: &Word, target: &Word, kind: AccessKind) -> Option<FileAccess> {
    let path = source.location();
    let name = path.trim_end_matches('/').rsplit('/').next()?;
    if matches!(name, "" | "." | "..") || name.chars().all(|c| c == '\0') {
        return None;
    }
    Some(FileAccess {
        path: format!("{}/{name}", target.location().trim_end_matches('/')),
        is_glob: source.is_glob || target.is_glob,
        kind,
    })
}
