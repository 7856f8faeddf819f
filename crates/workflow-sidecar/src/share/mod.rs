//! Workflows from elsewhere, copied into a project: a source is read, checked and compared before a file is written. What was
//! copied is in a lock file, with its source and digest. Only this is ever fetched, and only when the user says so.
//!
//! Copied are the definition of a workflow and the phase files that it names, and those of its subworkflows.

mod lock;
mod source;
#[cfg(unix)]
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail, ensure};
use workflow_core::definition::{LoadOutcome, Loaded, Tier, load_located, nearest};
use workflow_core::diagnostic::{render, visible};
use workflow_core::run::changed_terms;
use workflow_core::session::project_gate_commands;

use self::lock::{LOCK, Lock, Locked, is_plain};
use self::source::{Source, SourceFiles};
use crate::explain::guards;
use crate::files::{FileState, hash, write_atomically};
use crate::init::WORKFLOWS;
use crate::platform::disk::{Disk, user_agent_dir};
use crate::present::{Page, count};

pub(crate) use self::lock::drift;

/// What is copied, and how.
pub(crate) struct Copying<'a> {
    pub(crate) from: &'a str,
    /// The keys of the workflows; none for all.
    pub(crate) names: &'a [String],
    pub(crate) project: &'a Path,
    /// Replaces files that were not copied, or were changed since.
    pub(crate) force: bool,
    pub(crate) dry_run: bool,
}

/// A file of the project, and what happens to it.
struct Change {
    path: String,
    /// In words.
    what: String,
    /// It would replace what the user wrote.
    is_conflict: bool,
    /// What is written; `None` removes the file.
    text: Option<String>,
}

/// What happens to a file that is there already.
const SAME: &str = "the same";

impl Copying<'_> {
    /// Copies the workflows, or says what would be copied. An error leaves the project as it was, unless a file cannot be written.
    pub(crate) fn run(&self, page: &mut Page) -> anyhow::Result<()> {
        let source = Source::open(self.from)?;
        let disk = Disk::new(user_agent_dir(None), self.project.to_path_buf());
        let files = SourceFiles {
            source: &source,
            target: &disk,
            read: RefCell::default(),
        };
        let after = load_located(&files);
        let read = files.read.into_inner();
        let keys = self.selected(&after, &source.name, page)?;
        let wanted = read.into_iter().filter(|((key, _), _)| keys.contains(key));
        let wanted: BTreeMap<String, Vec<u8>> = wanted.map(|((_, path), of)| (path, of)).collect();
        let mut lock = Lock::read(self.project)?;
        let changes = self.changes(&source.name, &keys, wanted, &lock)?;
        let at = source.commit().map(|commit| format!(" at commit {commit}"));
        page.line(format_args!(
            "From {}{}:",
            visible(&source.name),
            at.unwrap_or_default()
        ));
        let row = |change: &Change| (change.what.clone(), visible(&change.path));
        page.pairs(&changes.iter().map(row).collect::<Vec<_>>());
        let new = changes.iter().filter(|change| change.what != SAME);
        let new = new.filter_map(|change| Some(change.path.split_once('/')?.0));
        add_guards(&load_located(&disk), &after, &keys, &new.collect(), page);
        let conflicts = changes.iter().filter(|change| change.is_conflict).count();
        if self.dry_run {
            page.line("\nNothing was written.");
            return Ok(());
        }
        if conflicts > 0 && !self.force {
            let files = count(conflicts, "file");
            bail!("{files} would be replaced: `--force` does it. Nothing was written");
        }
        let written = changes.iter().filter(|change| change.what != SAME).count();
        for Change { path, text, .. } in changes {
            let target = self.file(&path)?;
            let done = match &text {
                None => fs::remove_file(&target),
                Some(text) => target
                    .parent()
                    .map_or(Ok(()), fs::create_dir_all)
                    .and_then(|()| write_atomically(&target, text)),
            };
            done.with_context(|| format!("{WORKFLOWS}/{path} cannot be written"))?;
            lock.files.remove(&path);
            if let Some(text) = text {
                let locked = Locked {
                    source: source.name.clone(),
                    commit: source.commit().map(str::to_owned),
                    sha256: hash(text),
                };
                lock.files.insert(path, locked);
            }
        }
        let text = serde_json::to_string_pretty(&lock)? + "\n";
        write_atomically(&self.file(LOCK)?, &text)?;
        let files = count(written, "file");
        let commands = |key: &String| {
            let mut commands = project_gate_commands(key, &after.catalog, &after.index);
            commands.next().is_some()
        };
        let trust = if written > 0 && keys.iter().any(commands) {
            ". Commands of gates need `workflow-sidecar trust`."
        } else {
            ""
        };
        page.line(format_args!(
            "\nWrote {files}, and {WORKFLOWS}/{LOCK}{trust}"
        ));
        Ok(())
    }

    /// The keys of the workflows that are copied, with their subworkflows. One with errors is refused if it is named.
    fn selected(
        &self,
        after: &Loaded,
        source: &str,
        page: &mut Page,
    ) -> anyhow::Result<BTreeSet<String>> {
        let all = || after.index.iter().map(|listing| &*listing.key);
        ensure!(
            all().next().is_some(),
            "there are no workflows in {}; of a repository a commit is named: `ADDRESS@COMMIT`",
            visible(source)
        );
        let good = || all().filter(|key| after.catalog.get(key).is_some());
        let names: Vec<&str> = match self.names {
            [] if good().next().is_some() => good().collect(),
            [] => all().collect(),
            names => names.iter().map(|name| &**name).collect(),
        };
        let mut keys = BTreeSet::new();
        for name in names {
            let meant =
                || nearest(name, all()).map(|name| format!(": did you mean `{}`?", visible(name)));
            ensure!(
                all().any(|key| key == name),
                "{} has no workflow `{}`{}",
                visible(source),
                visible(name),
                meant().unwrap_or_default()
            );
            let reached = after.catalog.reachable_from(name).into_iter();
            keys.extend(reached.map(|workflow| workflow.key.clone()));
            keys.insert(name.to_owned());
        }
        let has_errors = |key: &&str| after.catalog.get(key).is_none();
        let is_told = |about: Option<&String>| about.is_none_or(|key| has_errors(&&**key));
        let found = after.diagnostics.iter();
        for found in found.filter(|found| is_told(found.workflow.as_ref())) {
            page.line(format_args!("{}\n", render(found, true)));
        }
        if keys.iter().any(|key| has_errors(&&**key)) {
            bail!("a workflow has errors: nothing was written");
        }
        for key in all().filter(has_errors) {
            page.line(format_args!(
                "{} has errors, and is not copied.\n",
                visible(key)
            ));
        }
        Ok(keys)
    }

    /// What happens to each file.
    fn changes(
        &self,
        source: &str,
        keys: &BTreeSet<String>,
        wanted: BTreeMap<String, Vec<u8>>,
        lock: &Lock,
    ) -> anyhow::Result<Vec<Change>> {
        let is_gone = |path: &str, locked: &Locked| {
            let key = path.split_once('/').map(|(key, _)| key);
            locked.source == source && key.is_some_and(|key| keys.contains(key))
        };
        let mut gone = lock.files.clone();
        gone.retain(|path, locked| is_gone(path, locked) && !wanted.contains_key(path));
        let wanted = wanted.into_iter().map(|(path, bytes)| (path, Some(bytes)));
        let mut changes = Vec::new();
        for (path, bytes) in wanted.chain(gone.into_keys().map(|path| (path, None))) {
            let shown = visible(&path);
            ensure!(is_plain(&path), "`{shown}` is not a name that is copied");
            let text = bytes.map(String::from_utf8).transpose();
            let text = text.map_err(|_| anyhow!("{} is not UTF-8", visible(&path)))?;
            let other = lock.files.get(&path);
            let locked = other.filter(|locked| locked.source == source);
            let is_as_copied = |now: &String| locked.is_some_and(|of| of.sha256 == *now);
            let (what, is_conflict) = match (FileState::of(&self.file(&path)?, None)?, &text) {
                (FileState::Absent, None) => continue,
                (FileState::Absent, Some(_)) => ("new", false),
                (FileState::Content(now), Some(text)) if now == hash(text) => (SAME, false),
                (FileState::Content(now), Some(_)) if is_as_copied(&now) => ("changed", false),
                (FileState::Content(now), None) if is_as_copied(&now) => ("removed", false),
                _ if locked.is_some() => ("changed here", true),
                _ => ("not from there", true),
            };
            let other = other.filter(|_| is_conflict && locked.is_none());
            let what = other.map_or(what.to_owned(), |of| {
                format!("copied from {}", visible(&of.source))
            });
            changes.push(Change {
                path,
                what,
                is_conflict,
                text,
            });
        }
        Ok(changes)
    }

    /// The path of a file in the workflows directory. Nothing is written through a link.
    fn file(&self, path: &str) -> anyhow::Result<PathBuf> {
        let full = self.project.join(WORKFLOWS).join(path);
        let mut inside = full.ancestors().take_while(|path| *path != self.project);
        if let Some(link) = inside.find(|path| path.is_symlink()) {
            let link = link.display();
            bail!("{link} is a link: nothing is written through it");
        }
        Ok(full)
    }
}

/// Adds the guards of the workflows, or how they differ from those that the project has.
fn add_guards(
    before: &Loaded,
    after: &Loaded,
    keys: &BTreeSet<String>,
    files: &BTreeSet<&str>,
    page: &mut Page,
) {
    for key in keys {
        let is_here = before.index.iter().any(|listing| {
            listing.key == *key
                && (listing.tier, listing.outcome) == (Tier::Project, LoadOutcome::Loaded)
        });
        let (were, changed) = if is_here {
            (guards(key, before), changed_terms(before, after, key))
        } else {
            Default::default()
        };
        let are = guards(key, after);
        let lost = were.iter().filter(|guard| !are.contains(guard));
        let new = are.iter().filter(|guard| !were.contains(guard));
        let lines = lost.map(|guard| format!("  - {guard}"));
        let lines: Vec<String> = lines
            .chain(new.map(|guard| format!("  + {guard}")))
            .collect();
        let is_new = |key: &String| files.contains(&**key);
        let mut used = after.catalog.reachable_from(key).into_iter();
        let used = used.find(|used| used.key != *key && is_new(&used.key));
        let title = match (is_here, lines.is_empty() && changed.is_empty(), used) {
            (true, true, _) => continue,
            (true, false, Some(used)) if !is_new(key) => {
                format!("uses {}, which changes", visible(&used.key))
            }
            (true, false, _) => format!("changes {}", changed.join(", ")),
            (false, true, _) => "has no guards".to_owned(),
            (false, false, _) => "has these guards".to_owned(),
        };
        page.line(format_args!("\n{} {}", visible(key), title.trim_end()));
        for line in &lines {
            page.line(line);
        }
    }
}
