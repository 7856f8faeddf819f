//! The arguments that sets of options and operands know.

use super::classes::fits;
use super::lists::is_listed;
use super::row::{ArgumentSet, KnownOption, OptionValue, OptionWrites};
use crate::effect::{Unknown, UnknownReason};
use crate::file_access::{AccessKind, FileAccess};
use crate::programs::outcome::Outcome;
use crate::word::{UNKNOWN, Word};

/// Files that are no files of the project.
const NO_FILES: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr"];

/// The options and operands that are present.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The options with their dashes and values, and what they write.
    options: Vec<(&'static str, OptionWrites, Option<Word>)>,
    pub(crate) operands: Vec<Word>,
    /// A value that may become several words, which shift the operands.
    pub(super) variable_value: Option<Word>,
    pub(super) program: &'static str,
}

/// Returns whether only the shell knows the text of a word.
fn is_variable(word: &Word) -> bool {
    word.is_glob || word.shape().contains(UNKNOWN)
}

/// Returns whether a word may be several words, or none.
fn may_be_several(word: &Word) -> bool {
    is_variable(word) && (word.is_glob || !word.is_one)
}

impl Found {
    /// Creates the empty set for a program.
    pub(super) fn of(program: &'static str) -> Self {
        Self {
            program,
            ..Self::default()
        }
    }

    /// Returns the writes of options.
    pub(super) fn writes(&self, path: &[&str], operands: &[Word]) -> Option<Outcome> {
        let writing = self.options.iter();
        let mut writing = writing.filter(|(_, writes, _)| *writes != OptionWrites::Nothing);
        let (first, _, _) = writing.clone().next()?;
        let operation = format!("`{} {first}`", path.join(" "));
        let mut files = Vec::new();
        let names_files = writing.all(|(_, writes, value)| match (writes, value) {
            (OptionWrites::Operands, _) => {
                files.extend(operands);
                !operands.is_empty()
            }
            (OptionWrites::Value | OptionWrites::ValueUnlessDash, Some(value)) => {
                files.push(value);
                true
            }
            _ => false,
        });
        Some(if names_files {
            Outcome::writes(&operation, files)
        } else {
            Outcome::writes_within(operation, chosen_by(path))
        })
    }

    fn note(&mut self, name: &'static str, option: &KnownOption, value: Option<Word>) {
        if self.variable_value.is_none() {
            self.variable_value = value.clone().filter(may_be_several);
        }
        let text = value.as_ref().and_then(Word::text).unwrap_or_default();
        let is_output = NO_FILES.contains(&text);
        let writes = match option.writes {
            OptionWrites::Value if is_output => OptionWrites::Nothing,
            OptionWrites::ValueUnlessDash if is_output || text == "-" => OptionWrites::Nothing,
            writes => writes,
        };
        self.options.push((name, writes, value));
    }

    /// Returns whether one of these options is present.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, ..)| names.contains(name))
    }

    /// Returns the options with their values.
    pub(crate) fn options(&self) -> impl DoubleEndedIterator<Item = (&'static str, Option<&Word>)> {
        let options = self.options.iter();
        options.map(|(name, _, value)| (*name, value.as_ref()))
    }

    /// Returns the values of these options.
    pub(crate) fn values(&self, names: &[&str]) -> Vec<&Word> {
        let given = self.options().filter(|(name, _)| names.contains(name));
        given.filter_map(|(_, value)| value).collect()
    }

    /// Returns the target of the operands, and the others. Of one operand alone, it is the working directory.
    pub(super) fn target(&self, options: &[&str]) -> (Word, &[Word]) {
        match (self.values(options).last(), self.operands.split_last()) {
            (Some(target), _) => ((*target).clone(), &self.operands),
            (None, Some((target, sources @ [_, ..]))) => (target.clone(), sources),
            _ => (Word::literal("."), &self.operands),
        }
    }

    /// Returns the directory that one of these options names, or the working directory.
    pub(super) fn directory(&self, options: &[&str]) -> Word {
        let mut writes = self.options.iter().map(|(_, writes, _)| *writes);
        match self.values(options).as_slice() {
            _ if writes.any(|writes| writes == OptionWrites::Somewhere) => Word::unknown(),
            [] => Word::literal("."),
            [directory] => (*directory).clone(),
            // Each is relative to the previous one.
            _ => Word::unknown(),
        }
    }
}

/// The sets of arguments that are known at a place.
pub(super) struct Sets {
    row: &'static ArgumentSet,
    /// That of the row, and those of the options that commands share.
    all: Vec<&'static ArgumentSet>,
}

impl Sets {
    /// Returns the set of a row with shared ones.
    pub(super) fn of(row: &'static ArgumentSet, shared: &[&'static ArgumentSet]) -> Self {
        let all = [&[row], shared].concat();
        Self { row, all }
    }

    pub(super) fn find(&self, words: &[Word], program: &'static str) -> Result<Found, Unknown> {
        let mut found = Found::of(program);
        let rest = self.read(words, &mut found, true)?;
        match (rest.unwrap_or_default(), &self.row.rest) {
            (rest, None) => found.operands.extend_from_slice(rest),
            ([], _) => {}
            (_, Some(set)) if set.any => {}
            (rest, Some(set)) => {
                let behind = Self::of(set, &[]).find(rest, program)?;
                found.options.extend(behind.options);
            }
        }
        self.check_places(&found)?;
        self.check_operands(&found)?;
        self.check_needs(&found)?;
        Ok(found)
    }

    /// Checks that no word may be missing where the places of the words behind it count.
    fn check_places(&self, found: &Found) -> Result<(), Unknown> {
        let row = self.row;
        let is_several = |word: &&Word| word.is_glob && !word.is_one || word.may_be_none();
        let has_places = row.leading || row.exact || row.skip > 0 || !row.needs.is_empty();
        let value = found.variable_value.as_ref();
        let value = value.filter(|word| has_places && is_several(word));
        let mut first = found.operands.iter().take(row.skip);
        let next = found.operands.get(row.skip).filter(|_| row.leading);
        let missing = || {
            first
                .find(is_several)
                .or(next.filter(|word| word.may_be_none()))
        };
        match value.or_else(missing) {
            Some(word) => Err(unknown(word, UnknownReason::Expansion)),
            None => Ok(()),
        }
    }

    /// Reads words that may be unknown: such a word is an option without a value, or an operand. Returns `None` if an option is missing
    /// that the row needs.
    pub(super) fn find_any(&self, words: &[Word], program: &'static str) -> Option<Found> {
        let mut found = Found::of(program);
        if let Ok(Some(rest)) = self.read(words, &mut found, false) {
            found.operands.extend_from_slice(rest);
        }
        self.check_needs(&found).is_ok().then_some(found)
    }

    /// Checks that the options are present of which the row needs one each.
    fn check_needs(&self, found: &Found) -> Result<(), Unknown> {
        let has_dash = || {
            found
                .operands
                .last()
                .is_some_and(|word| word.shape() == "-")
        };
        let is_present = |name: &&str| found.has(&[name]) || *name == "-" && has_dash();
        let mut needs = self.row.needs.iter();
        match needs.find(|needed| !needed.iter().any(is_present)) {
            Some(needed) => Err(missing(needed.first().copied().unwrap_or_default())),
            None => Ok(()),
        }
    }

    /// Reads options and operands up to `--`, and returns the words behind it. If that is not strict, what is not known is an option
    /// without a value, or an operand.
    fn read<'a>(
        &self,
        words: &'a [Word],
        found: &mut Found,
        is_strict: bool,
    ) -> Result<Option<&'a [Word]>, Unknown> {
        let mut words = words;
        while let Some((word, after)) = words.split_first() {
            if self.row.leading && !found.operands.is_empty() {
                found.operands.extend(words.iter().cloned());
                break;
            }
            if word.shape() == "--" {
                return Ok(Some(after));
            }
            if is_strict && word.may_hide_option() && (self.row.exact || !word.lists_files()) {
                return Err(unknown(word, UnknownReason::Expansion));
            }
            if is_option(word) {
                take_option(&mut words, &self.all, found, is_strict)?;
            } else {
                found.operands.push(word.clone());
                words = after;
            }
        }
        Ok(None)
    }

    fn check_operands(&self, found: &Found) -> Result<(), Unknown> {
        let (known, operands) = (&self.row.operands, &found.operands);
        let count = if self.row.leading { 1 } else { usize::MAX };
        let unlisted = known.values.as_ref().and_then(|values| {
            let is_known = |word: &&Word| values.iter().any(|value| fits(value, word));
            operands.iter().take(count).find(|word| !is_known(word))
        });
        let is_excluded = |word: &&Word| {
            let has = |part: &&str| word.shape().contains(part);
            !known.without.is_empty() && (is_variable(word) || known.without.iter().any(has))
        };
        let surplus = known.max.and_then(|max| {
            // A glob or an expansion may be several words.
            let several = operands.iter().find(|word| max > 0 && may_be_several(word));
            let shifting = found.variable_value.as_ref();
            operands.get(max).or(several).or(shifting)
        });
        // Some programs take `--check false` for `--check=false`.
        let is_off = |word: &&Word| {
            !self.row.needs.is_empty() && matches!(word.shape(), "false" | "no" | "0")
        };
        let is_unfit = |word: &&Word| is_excluded(word) || is_off(word);
        let unfit = unlisted.or(surplus);
        match unfit.or_else(|| operands.iter().find(is_unfit)) {
            Some(word) => Err(unknown(word, UnknownReason::Argument)),
            None if operands.len() < known.min => Err(missing("an operand")),
            None => Ok(()),
        }
    }
}

/// Takes the options before a subcommand.
pub(super) fn take_options(
    words: &mut &[Word],
    sets: &[&'static ArgumentSet],
    found: &mut Found,
    is_strict: bool,
) -> Result<(), Unknown> {
    while let Some(word) = words.first() {
        if is_toolchain(word, sets) {
            *words = &words[1..];
        } else if is_option(word) {
            take_option(words, sets, found, is_strict)?;
        } else {
            break;
        }
    }
    Ok(())
}

/// Returns whether a word names a toolchain: `+nightly`, not a directory.
pub(super) fn is_toolchain(word: &Word, sets: &[&ArgumentSet]) -> bool {
    word.shape().starts_with('+')
        && word.text().is_some_and(|text| !text.contains('/'))
        && sets
            .iter()
            .any(|set| set.operands.values.as_deref() == Some(&["+*"]))
}

/// Takes an option and its value from the words. If that is not strict, an unknown option has no value.
fn take_option(
    words: &mut &[Word],
    sets: &[&'static ArgumentSet],
    found: &mut Found,
    is_strict: bool,
) -> Result<(), Unknown> {
    let after = &words[1..];
    let taken = take_known_option(words, sets, found);
    if words.len() > after.len() {
        *words = after;
    }
    taken.or_else(|unknown| if is_strict { Err(unknown) } else { Ok(()) })
}

fn take_known_option(
    words: &mut &[Word],
    sets: &[&'static ArgumentSet],
    found: &mut Found,
) -> Result<(), Unknown> {
    let Some((word, after)) = words.split_first() else {
        return Ok(());
    };
    if word.may_hide_option() {
        return Err(unknown(word, UnknownReason::Expansion));
    }
    let shape = word.shape();
    let is_start = |set: &&'static ArgumentSet| {
        // What is behind `;` is a setting of its own: `-p:Configuration=Debug;OutputPath=src`.
        let rests = set.starts.iter().map(|start| shape.strip_prefix(start));
        rests.flatten().any(|rest| !rest.contains(';'))
    };
    let is_number = |set: &&'static ArgumentSet| {
        set.number && shape[1..].bytes().all(|byte| byte.is_ascii_digit())
    };
    let name = shape.split('=').next().unwrap_or_default();
    let is_long = shape.starts_with("--");
    let known = sets.iter().find_map(|set| {
        // Options of whole words have one dash in the table.
        let name = &name[usize::from(set.whole_words && is_long)..];
        let option = set.options.get_key_value(name)?;
        (is_long || set.whole_words).then_some((set, option))
    });
    if let Some((set, (known, option))) = known {
        *words = after;
        let joined = (name.len() < shape.len()).then(|| word.suffix(name.len() + 1));
        // An option that is off is none; one that a row needs is not there then.
        if option.value == OptionValue::None
            && !name.trim_start_matches('-').starts_with("no")
            && joined.as_ref().and_then(Word::text) == Some("false")
            && is_listed("boolean_values", found.program)
        {
            return Ok(());
        }
        if option.value == OptionValue::None && joined.is_some() {
            return Err(unknown(word, UnknownReason::Option));
        }
        let value = value_of(word, joined, words, option, set.exact)?;
        found.note(known, option, value);
        return Ok(());
    }
    if sets.iter().any(is_number) || sets.iter().any(is_start) && word.text().is_some() {
        *words = after;
        return Ok(());
    }
    if is_long || sets.iter().all(|set| set.whole_words) {
        // Where arguments are not read strictly, it is the option that it abbreviates.
        let options = sets.iter().flat_map(|set| &set.options);
        let abbreviated = options.filter(|(known, _)| name.len() >= 5 && known.starts_with(name));
        if let Some((name, option)) = abbreviated.min_by_key(|(known, _)| known.as_str()) {
            found.note(name, option, None);
        }
        return Err(unknown(word, UnknownReason::Option));
    }
    *words = after;
    let mut known = Ok(());
    let mut name = String::from("-");
    for (index, letter) in shape.char_indices().skip(1) {
        name.truncate(1);
        name.push(letter);
        let mut letters = sets.iter().filter(|set| !set.whole_words);
        let option = letters.find_map(|set| {
            let known = set.options.get_key_value(name.as_str());
            Some((set, known?))
        });
        let Some((set, (name, option))) = option else {
            known = Err(unknown(word, UnknownReason::Option));
            continue;
        };
        let rest = word.suffix(index + letter.len_utf8());
        let joined = (!rest.shape().is_empty()).then_some(rest);
        if option.value == OptionValue::None {
            found.note(name, option, None);
            continue;
        }
        let value = value_of(word, joined, words, option, set.exact)?;
        found.note(name, option, value);
        break;
    }
    known
}

/// Returns the value of an option: what is joined to it, or the next word.
fn value_of(
    word: &Word,
    joined: Option<Word>,
    words: &mut &[Word],
    option: &KnownOption,
    is_exact: bool,
) -> Result<Option<Word>, Unknown> {
    let value = match joined {
        None if option.value == OptionValue::Required => {
            Some(take_value(word, words, option, is_exact)?)
        }
        joined => joined.as_ref().map(Word::as_one),
    };
    check_value(word, option, value.as_ref())?;
    Ok(value)
}

/// Takes the value of an option from the next word.
///
/// A value that looks like an option is not known unless the table lists it: if the table were wrong and the option took no
/// value, it would be one.
fn take_value(
    word: &Word,
    words: &mut &[Word],
    option: &KnownOption,
    is_exact: bool,
) -> Result<Word, Unknown> {
    let (value, after) = words
        .split_first()
        .ok_or_else(|| unknown(word, UnknownReason::Option))?;
    let taken = if after.is_empty() {
        value.as_one()
    } else {
        value.clone()
    };
    if is_exact {
        if value.may_add_words || value.is_glob && value.may_hide_option() {
            return Err(unknown(value, UnknownReason::Expansion));
        }
        *words = after;
        return Ok(taken);
    }
    // The table lists it: `-ldflags '-s -w'`.
    let is_listed = option.values.is_some() && check_value(word, option, Some(value)).is_ok();
    let is_number = value
        .shape()
        .trim_start_matches('-')
        .starts_with(|c: char| c.is_ascii_digit());
    if value.may_hide_option() && !value.lists_files() {
        return Err(unknown(value, UnknownReason::Expansion));
    }
    if is_option(value) && !is_number && !is_listed || value.shape() == "--" {
        return Err(unknown(value, UnknownReason::Option));
    }
    *words = after;
    Ok(taken)
}

fn check_value(word: &Word, option: &KnownOption, value: Option<&Word>) -> Result<(), Unknown> {
    let (Some(values), Some(value)) = (&option.values, value) else {
        return Ok(());
    };
    if values.iter().any(|listed| fits(listed, value)) {
        return Ok(());
    }
    let is_joined = word.shape().ends_with(value.shape());
    Err(if is_joined {
        unknown(word, UnknownReason::Option)
    } else {
        unknown(value, UnknownReason::Argument)
    })
}

/// Returns the location in which a program writes files of its choice.
pub(super) fn chosen_by(path: &[&str]) -> FileAccess {
    let directory = match path {
        // A download has the name that the other side decides.
        [name, ..] if is_listed("downloads", name) => return FileAccess::anywhere(),
        [name, ..] if is_listed("system", name) => "/",
        ["git", command, ..] if is_listed("git_directory", command) => ".git",
        _ => ".",
    };
    FileAccess::at(directory, AccessKind::WriteWithin)
}

/// Returns whether a word is an option by its first character.
fn is_option(word: &Word) -> bool {
    word.shape().len() > 1 && word.shape().starts_with('-')
}

pub(super) fn unknown(word: &Word, reason: UnknownReason) -> Unknown {
    Unknown::new(word.shape(), reason)
}

pub(super) fn missing(word: &str) -> Unknown {
    Unknown::new(word, UnknownReason::Missing)
}
