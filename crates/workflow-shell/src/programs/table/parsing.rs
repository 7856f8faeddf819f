//! The format of the tables.

use std::collections::HashMap;
use std::sync::Arc;

use super::heads::programs;
use super::lists::{Entry, alternatives, entries};
use super::row::{
    ArgumentSet, KnownOperands, KnownOption, Node, OptionValue, OptionWrites, Output, Programs,
    Row, RowKind, RunKind, Tree, TreePart,
};
use crate::file_access::AccessKind;

/// Names of lists of items, with the items: `@diff = --stat --numstat`.
type Lists = HashMap<&'static str, Vec<&'static str>>;

/// Parses the rows of the wanted programs. A row with a mistake is left out, so that its program is unknown; the mistakes are returned as
/// well.
pub(super) fn parse(
    files: &[(&'static str, &'static str)],
    is_wanted: impl Fn(&str) -> bool,
) -> (Programs, Vec<String>) {
    let mut found = Programs::new();
    let mut mistakes = Vec::new();
    for (file, text) in files {
        let mut lists = Lists::new();
        for (number, entry) in entries(text) {
            let mut names = programs(entry.head)
                .filter(|name| is_wanted(name))
                .peekable();
            let added = match entry.head.strip_prefix('@') {
                Some(name) => add_list(name, &entry, &mut lists),
                None if names.peek().is_none() => Ok(()),
                None => add_row(names, &entry, &lists, &mut found),
            };
            if let Err(word) = added {
                mistakes.push(format!("{file}:{number}: `{word}` is a mistake"));
            }
        }
    }
    (found, mistakes)
}

/// Adds a list. An error is the word that is a mistake.
fn add_list(name: &'static str, entry: &Entry, lists: &mut Lists) -> Result<(), &'static str> {
    match lists.insert(name, expand(entry.items(), lists)?) {
        None => Ok(()),
        Some(_) => Err(entry.head),
    }
}

/// Adds a row of programs.
fn add_row(
    names: impl Iterator<Item = &'static str>,
    entry: &Entry,
    lists: &Lists,
    found: &mut Programs,
) -> Result<(), &'static str> {
    let mut path: Vec<&'static str> = Vec::new();
    let mut kind = RowKind::Reads;
    let (mut whole_words, mut is_prefix, mut is_global) = (false, false, false);
    let (mut leading, mut exact) = (false, false);
    let mut rest = entry.head;
    while let Some((before, flags)) = rest.split_once('[') {
        path.extend(before.split_ascii_whitespace());
        let (flag, after) = flags.split_once(']').ok_or(flags)?;
        match flag {
            "project" => kind = RowKind::Project,
            "writes" => kind = RowKind::Writes,
            "sends" => kind = RowKind::Sends,
            "writes operands" => kind = RowKind::WritesOperands,
            "writes target" => kind = RowKind::WritesTarget,
            "writes below" => kind = RowKind::WritesBelow,
            "prints names" => kind = RowKind::Prints(Output::Names),
            "prints number" => kind = RowKind::Prints(Output::Number),
            "prints numbers" => kind = RowKind::Prints(Output::Numbers),
            "prints filter" => kind = RowKind::Prints(Output::Filter),
            "writes somewhere" => kind = RowKind::WritesSomewhere,
            "words" => whole_words = true,
            "leading" => leading = true,
            "exact" => exact = true,
            "code" => (kind, exact) = (RowKind::Code, true),
            "runs" => kind = RowKind::Runs(RunKind::Command),
            "runs in shell" => kind = RowKind::Runs(RunKind::SameShell),
            "runs elsewhere" => kind = RowKind::Runs(RunKind::Elsewhere),
            "runs again" => kind = RowKind::Runs(RunKind::Again),
            "runs project" => kind = RowKind::Runs(RunKind::Project),
            "runs behind dashes" => kind = RowKind::Runs(RunKind::BehindDashes),
            "runs scripts" => kind = RowKind::Runs(RunKind::Scripts),
            "runs script" => kind = RowKind::Runs(RunKind::Script),
            "prefix" => is_prefix = true,
            "global" => (is_prefix, is_global) = (true, true),
            _ => return Err(flag),
        }
        rest = after;
    }
    path.extend(rest.split_ascii_whitespace());
    if path.is_empty() || !kind.writes_in_any_case() && !entry.has_colon {
        return Err(entry.head);
    }
    let items = expand(entry.items(), lists)?;
    let mut arguments = ArgumentSet::parse(&items, whole_words)?;
    // Behind its operands, a command has options of its own.
    arguments.exact = exact || matches!(kind, RowKind::Runs(_));
    arguments.leading = match kind {
        RowKind::Runs(RunKind::Scripts | RunKind::BehindDashes) => false,
        RowKind::Runs(_) => true,
        _ => leading,
    };
    if kind.writes_in_any_case() && !items.is_empty() {
        return Err(entry.head);
    }
    let row = Arc::new(Row {
        kind,
        is_global,
        arguments,
    });
    for name in names {
        found
            .entry(name)
            .or_default()
            .insert(&path[1..], &row, is_prefix);
    }
    Ok(())
}

impl Node {
    /// Adds a row to all subcommands that a path such as `log|show` stands for.
    fn insert(&mut self, path: &[&'static str], row: &Arc<Row>, is_prefix: bool) {
        if let Some((words, path)) = path.split_first() {
            for word in words.split('|') {
                let node = self.subcommands.entry(word).or_default();
                node.insert(path, row, is_prefix);
            }
            return;
        }
        let row = Arc::clone(row);
        match row.kind {
            _ if is_prefix => self.prefix = Some(row),
            RowKind::Prints(_) => self.outputs.push(row),
            RowKind::Code => self.code.push(row),
            _ => self.rows.push(row),
        }
    }
}

/// Replaces the names of lists by their items.
fn expand(
    items: impl Iterator<Item = &'static str>,
    lists: &Lists,
) -> Result<Vec<&'static str>, &'static str> {
    let items = items.map(|item| match item.strip_prefix('@') {
        Some(name) => lists.get(name).cloned().ok_or(item),
        None => Ok(vec![item]),
    });
    Ok(items.collect::<Result<Vec<_>, _>>()?.concat())
}

impl ArgumentSet {
    fn parse(items: &[&'static str], whole_words: bool) -> Result<Self, &'static str> {
        let mut set = Self {
            whole_words,
            ..Self::default()
        };
        let mut items = items.iter();
        while let Some(item) = items.next() {
            if *item == "--" {
                let rest: Vec<&'static str> = items.by_ref().copied().collect();
                set.rest = Some(Box::new(Self::parse(&rest, whole_words)?));
            } else {
                set.add(item).ok_or(*item)?;
            }
        }
        let mut needed = set.needs.iter().flatten();
        if let Some(option) =
            needed.find(|option| **option != "-" && !set.options.contains_key(**option))
        {
            return Err(option);
        }
        if set.any && (!set.options.is_empty() || set.operands != KnownOperands::default()) {
            return Err("*");
        }
        Ok(set)
    }

    fn add(&mut self, item: &'static str) -> Option<()> {
        let (key, value) = match item.split_once(':') {
            Some(item) if !item.0.starts_with('-') => item,
            _ => (item, ""),
        };
        let options = || match value {
            "*" => Some(Vec::new()),
            _ => alternatives(value),
        };
        let mut tree = |kind, part| {
            let options = options()?;
            self.trees.push(Tree {
                kind,
                part,
                options,
            });
            Some(())
        };
        match key {
            "*" => self.any = true,
            "-<n>" => self.number = true,
            "rest" if value == "*" => self.rest = Some(Box::new(Self::parse(&["*"], false).ok()?)),
            "operands" => self.operands.add(value)?,
            "target" => self.target = Some(alternatives(value)?),
            "skip" => self.skip = value.parse().ok()?,
            "needs" => self.needs.push(alternatives(value)?),
            "removes" => tree(AccessKind::RemoveTree, TreePart::Operands)?,
            "replaces" => tree(AccessKind::ReplaceTree, TreePart::Operands)?,
            "replaces-target" => tree(AccessKind::ReplaceTree, TreePart::Target)?,
            "replaces-all" => tree(AccessKind::ReplaceTree, TreePart::WorkingDirectory)?,
            "itself" => tree(AccessKind::Itself, TreePart::Operands)?,
            "reads" => tree(AccessKind::ReadTree, TreePart::Operands)?,
            "below" => tree(AccessKind::WriteWithin, TreePart::Directory)?,
            _ => self.add_option(item.starts_with('-').then_some(item)?)?,
        }
        Some(())
    }

    fn add_option(&mut self, item: &'static str) -> Option<()> {
        const WRITES: [(&str, OptionWrites); 4] = [
            ("!!", OptionWrites::Operands),
            ("!", OptionWrites::Somewhere),
            (">-", OptionWrites::ValueUnlessDash),
            (">", OptionWrites::Value),
        ];
        let marked = |(mark, writes)| Some((item.strip_suffix(mark)?, writes));
        let (item, writes) = WRITES
            .into_iter()
            .find_map(marked)
            .unwrap_or((item, OptionWrites::Nothing));
        if let Some(start) = item.strip_suffix('*') {
            self.starts
                .push(Some(start).filter(|start| start.len() > 1)?);
            return Some(());
        }
        let (name, value, values) = match item.split_once('=') {
            None => (item, OptionValue::None, None),
            Some((name, values)) => {
                let values = match values {
                    "" => None,
                    _ => Some(alternatives(values)?),
                };
                match name.strip_suffix('?') {
                    Some(name) => (name, OptionValue::Optional, values),
                    None => (name, OptionValue::Required, values),
                }
            }
        };
        let takes_value = value != OptionValue::None;
        let writes_value = matches!(writes, OptionWrites::Value | OptionWrites::ValueUnlessDash);
        let is_long = name.starts_with("--");
        // Options of `[words]` have one dash here.
        if writes_value && !takes_value || self.whole_words && is_long {
            return None;
        }
        let option = KnownOption {
            value,
            values,
            writes,
        };
        if is_long || self.whole_words || name.len() == 2 {
            return self.insert_option(name.to_owned(), option);
        }
        if takes_value || writes != OptionWrites::Nothing {
            return None;
        }
        let mut letters = name.chars().skip(1);
        letters.try_for_each(|letter| self.insert_option(format!("-{letter}"), option.clone()))
    }

    fn insert_option(&mut self, name: String, option: KnownOption) -> Option<()> {
        let known = |c: char| c.is_ascii_alphanumeric() || "-_.#:@%+?,".contains(c);
        let is_name = name.len() > 1 && name.chars().all(known);
        (is_name && self.options.insert(name, option).is_none()).then_some(())
    }
}

impl KnownOperands {
    fn add(&mut self, text: &'static str) -> Option<()> {
        if let Some(without) = text.strip_prefix("without") {
            self.without = alternatives(without)?;
        } else if text.starts_with('(') {
            self.values = Some(alternatives(text)?);
        } else {
            let (min, max) = text.split_once("..").unwrap_or((text, text));
            self.min = min.parse().ok()?;
            self.max = match max {
                "" => None,
                max => Some(max.parse().ok()?),
            };
        }
        Some(())
    }
}
