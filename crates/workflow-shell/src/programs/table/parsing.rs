//! The format of the tables.

use std::collections::HashMap;

use super::heads::programs;
use super::lists::{Entry, alternatives, entries};
use super::row::{
    ArgumentSet, KnownOperands, KnownOption, Node, OptionValue, OptionWrites, Printed, Rest, Row,
    RowKind, RunKind, Tables,
};
use crate::file_access::AccessKind;

/// Names of lists of items, with the items: `@diff = --stat --numstat`.
type Lists = HashMap<&'static str, Vec<&'static str>>;

impl Tables {
    /// Parses the rows that name a program. A row with a mistake is left out, so that the program is unknown.
    pub(super) fn parse_program(files: &[(&'static str, &'static str)], name: &str) -> Self {
        Self::parse_rows(files, |head| programs(head).any(|program| program == name)).0
    }

    /// Parses tables. Returns the mistakes in them as well.
    #[cfg(test)]
    pub(super) fn parse(files: &[(&'static str, &'static str)]) -> (Self, Vec<String>) {
        Self::parse_rows(files, |_| true)
    }

    fn parse_rows(
        files: &[(&'static str, &'static str)],
        is_wanted: impl Fn(&'static str) -> bool,
    ) -> (Self, Vec<String>) {
        let mut tables = Self::default();
        let mut mistakes = Vec::new();
        for (file, text) in files {
            let mut lists = Lists::new();
            for (number, entry) in entries(text) {
                if !entry.head.starts_with('@') && !is_wanted(entry.head) {
                    continue;
                }
                if let Err(mistake) = tables.add(&entry, &mut lists) {
                    mistakes.push(format!("{file}:{number}: {mistake}"));
                }
            }
        }
        (tables, mistakes)
    }

    fn add(&mut self, entry: &Entry, lists: &mut Lists) -> Result<(), String> {
        if let Some(name) = entry.head.strip_prefix('@') {
            let items = expand(entry.items(), lists)?;
            return match lists.insert(name, items) {
                None => Ok(()),
                Some(_) => Err(format!("`@{name}` is defined twice")),
            };
        }
        let mut path: Vec<&'static str> = Vec::new();
        let mut kind = RowKind::Reads;
        let (mut whole_words, mut is_prefix, mut is_global) = (false, false, false);
        let (mut leading, mut exact) = (false, false);
        let mut rest = entry.head;
        while let Some((before, flags)) = rest.split_once('[') {
            path.extend(before.split_ascii_whitespace());
            let (flag, after) = flags.split_once(']').ok_or("`[` without `]`")?;
            match flag {
                "project" => kind = RowKind::Project,
                "writes" => kind = RowKind::Writes,
                "sends" => kind = RowKind::Sends,
                "writes operands" => kind = RowKind::WritesOperands,
                "prints names" => kind = RowKind::Prints(Printed::Names),
                "prints number" => kind = RowKind::Prints(Printed::Number),
                "prints numbers" => kind = RowKind::Prints(Printed::Numbers),
                "prints numbered lines" => kind = RowKind::Prints(Printed::NumberedLines),
                "prints filter" => kind = RowKind::Prints(Printed::Filter),
                "prints one line" => kind = RowKind::Prints(Printed::OneLine),
                "prints first field" => kind = RowKind::Prints(Printed::FirstField),
                "writes somewhere" => kind = RowKind::WritesSomewhere,
                "words" => whole_words = true,
                "leading" => leading = true,
                "exact" => exact = true,
                "code" => (kind, exact) = (RowKind::Code, true),
                "runs" => kind = RowKind::Runs(RunKind::Command),
                "runs in shell" => kind = RowKind::Runs(RunKind::SameShell),
                "runs elsewhere" => kind = RowKind::Runs(RunKind::Elsewhere),
                "runs project" => kind = RowKind::Runs(RunKind::Project),
                "runs behind dashes" => kind = RowKind::Runs(RunKind::BehindDashes),
                "runs scripts" => kind = RowKind::Runs(RunKind::Scripts),
                "runs script" => kind = RowKind::Runs(RunKind::Script),
                "prefix" => is_prefix = true,
                "global" => (is_prefix, is_global) = (true, true),
                _ => return Err(format!("`[{flag}]` is no mark")),
            }
            rest = after;
        }
        path.extend(rest.split_ascii_whitespace());
        if path.is_empty() {
            return Err("no program".to_owned());
        }
        if !kind.writes_in_any_case() && !entry.has_colon {
            return Err("no colon behind the program".to_owned());
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
            return Err("a row that writes in any case has no items".to_owned());
        }
        let row = Row {
            kind,
            is_global,
            arguments,
        };
        self.insert(&path, row, is_prefix);
        Ok(())
    }

    fn insert(&mut self, path: &[&'static str], row: Row, is_prefix: bool) {
        let index = self.rows.len();
        for combination in combinations(path) {
            let mut words = combination.iter();
            let Some(program) = words.next() else {
                continue;
            };
            let mut node = self.programs.entry(program).or_default();
            for word in words {
                node = node.subcommand_mut(word);
            }
            match row.kind {
                _ if is_prefix => node.prefix = Some(index),
                RowKind::Prints(_) => node.outputs.push(index),
                RowKind::Code => node.code = Some(index),
                _ => node.rows.push(index),
            }
        }
        self.is_for_paths |= row.kind == RowKind::Code || !row.arguments.trees.is_empty();
        self.rows.push(row);
    }
}

impl Node {
    fn subcommand_mut(&mut self, word: &'static str) -> &mut Self {
        let Some(start) = word.strip_suffix('*') else {
            return self.subcommands.entry(word).or_default();
        };
        let known = self.families.iter().position(|(known, _)| *known == start);
        let index = known.unwrap_or_else(|| {
            self.families.push((start, Self::default()));
            self.families.len() - 1
        });
        &mut self.families[index].1
    }
}

/// Replaces the names of lists by their items.
fn expand(
    items: impl Iterator<Item = &'static str>,
    lists: &Lists,
) -> Result<Vec<&'static str>, String> {
    let mut expanded = Vec::new();
    for item in items {
        match item.strip_prefix('@') {
            Some(name) => {
                let list = lists
                    .get(name)
                    .ok_or_else(|| format!("`@{name}` is not defined above"))?;
                expanded.extend(list.iter().copied());
            }
            None => expanded.push(item),
        }
    }
    Ok(expanded)
}

/// Returns all paths that `git log|show` stands for.
fn combinations(path: &[&'static str]) -> Vec<Vec<&'static str>> {
    path.iter().fold(vec![Vec::new()], |paths, word| {
        paths
            .iter()
            .flat_map(|path| {
                word.split('|').map(|alternative| {
                    let mut path = path.clone();
                    path.push(alternative);
                    path
                })
            })
            .collect()
    })
}

impl ArgumentSet {
    fn parse(items: &[&'static str], whole_words: bool) -> Result<Self, String> {
        let mut set = Self {
            whole_words,
            ..Self::default()
        };
        let mut items = items.iter();
        while let Some(item) = items.next() {
            if *item == "--" {
                let rest: Vec<&'static str> = items.by_ref().copied().collect();
                set.rest = Rest::Arguments(Box::new(Self::parse(&rest, whole_words)?));
            } else if *item == "*" {
                set.any = true;
            } else if *item == "-<n>" {
                set.number = true;
            } else if let Some(value) = item.strip_prefix("rest:") {
                set.rest = match value {
                    "*" => Rest::Any,
                    "options" => Rest::Options,
                    _ => return Err(format!("`{item}` is neither rest:* nor rest:options")),
                };
            } else if let Some(value) = item.strip_prefix("operands:") {
                set.operands.add(value)?;
            } else if let Some((kind, value)) = tree(item) {
                let options = match value {
                    "*" => Vec::new(),
                    _ => alternatives(value)?,
                };
                set.trees.push((kind, options));
            } else if let Some(value) = item.strip_prefix("skip:") {
                let number = value.parse();
                set.skip = number.map_err(|_| format!("`{item}` is no number of operands"))?;
            } else if let Some(value) = item.strip_prefix("needs:") {
                set.needs.push(alternatives(value)?);
            } else if item.starts_with('-') {
                set.add_option(item, whole_words)?;
            } else {
                return Err(format!("`{item}` is no item"));
            }
        }
        for option in set.needs.iter().flatten() {
            if *option != "-" && !set.options.contains_key(option) {
                return Err(format!("`{option}` is needed, but not listed"));
            }
        }
        if set.any && (!set.options.is_empty() || set.operands != KnownOperands::default()) {
            return Err("`*` stands alone".to_owned());
        }
        Ok(set)
    }

    fn add_option(&mut self, item: &'static str, whole_words: bool) -> Result<(), String> {
        let (item, writes) = if let Some(item) = item.strip_suffix("!!") {
            (item, OptionWrites::Operands)
        } else if let Some(item) = item.strip_suffix('!') {
            (item, OptionWrites::Somewhere)
        } else if let Some(item) = item.strip_suffix(">-") {
            (item, OptionWrites::ValueUnlessDash)
        } else if let Some(item) = item.strip_suffix('>') {
            (item, OptionWrites::Value)
        } else {
            (item, OptionWrites::Nothing)
        };
        if let Some(start) = item.strip_suffix('*') {
            if start.len() < 2 {
                return Err(format!("`{item}` is too short"));
            }
            self.starts.push(start);
            return Ok(());
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
        if matches!(writes, OptionWrites::Value | OptionWrites::ValueUnlessDash)
            && value == OptionValue::None
        {
            return Err(format!("`{item}` has no value that could be written"));
        }
        let option = KnownOption {
            value,
            values,
            writes,
        };
        let is_long = name.starts_with("--");
        if whole_words && is_long {
            return Err(format!("`{item}`: options of [words] have one dash here"));
        }
        let letters = name.len().saturating_sub(1);
        if is_long || whole_words || letters == 1 {
            return self.insert_option(name, option);
        }
        if value != OptionValue::None || writes != OptionWrites::Nothing {
            return Err(format!("`{item}`: more than one letter"));
        }
        for index in 1..name.len() {
            let letter = name
                .get(index..=index)
                .ok_or_else(|| format!("`{item}` is not ASCII"))?;
            self.insert_option(letter_name(letter)?, option.clone())?;
        }
        Ok(())
    }

    fn insert_option(&mut self, name: &'static str, option: KnownOption) -> Result<(), String> {
        let known = |c: char| c.is_ascii_alphanumeric() || "-_.#:@%+?,".contains(c);
        if name.len() < 2 || !name.chars().all(known) {
            return Err(format!("`{name}` is no option"));
        }
        match self.options.insert(name, option) {
            None => Ok(()),
            Some(_) => Err(format!("`{name}` is listed twice")),
        }
    }
}

/// Returns the name of the option that a letter is, with its dash.
fn letter_name(letter: &str) -> Result<&'static str, String> {
    const NAMES: &str = concat!(
        "-a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q-r-s-t-u-v-w-x-y-z",
        "-A-B-C-D-E-F-G-H-I-J-K-L-M-N-O-P-Q-R-S-T-U-V-W-X-Y-Z",
        "-0-1-2-3-4-5-6-7-8-9-#-@-%-+-?-,-:-."
    );
    (0..NAMES.len())
        .step_by(2)
        .map(|index| &NAMES[index..index + 2])
        .find(|name| &name[1..] == letter)
        .ok_or_else(|| format!("`{letter}` is no letter of an option"))
}

impl KnownOperands {
    fn add(&mut self, text: &'static str) -> Result<(), String> {
        let number = |text: &str| {
            text.parse::<usize>()
                .map_err(|_| format!("`{text}` is no number of operands"))
        };
        if let Some(without) = text.strip_prefix("without") {
            self.without = alternatives(without)?;
        } else if text.starts_with('(') {
            self.values = Some(alternatives(text)?);
        } else {
            (self.min, self.max) = match text.split_once("..") {
                Some((min, "")) => (number(min)?, usize::MAX),
                Some((min, max)) => (number(min)?, number(max)?),
                None => (number(text)?, number(text)?),
            };
        }
        Ok(())
    }
}

/// Returns the kind of an access to trees, and its condition: `removes:(-r)`.
fn tree(item: &'static str) -> Option<(AccessKind, &'static str)> {
    let (word, value) = item.split_once(':')?;
    let kind = match word {
        "removes" => AccessKind::RemoveTree,
        "replaces" => AccessKind::ReplaceTree,
        "reads" => AccessKind::ReadTree,
        _ => return None,
    };
    Some((kind, value))
}
