//! Programs that write the files that their operands name.

use super::outcome::{Invocation, Outcome, Result, argument};
use super::table::{Found, read};
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::file_write::FileWrite;
use crate::word::Word;

/// Returns the outcome of such a program.
pub(super) fn outcome(invocation: &Invocation<'_>) -> Option<Result> {
    let arguments = invocation.arguments;
    Some(match invocation.name {
        "cp" | "mv" | "ln" => copied(invocation.name, arguments),
        "install" => installed(arguments),
        "dd" => dd(arguments),
        "tar" | "bsdtar" => tar(arguments),
        "unzip" => unzip(arguments),
        _ => return None,
    })
}

/// `cp`, `mv` and `ln`: the target, and the sources if they change or become reachable under another name.
fn copied(name: &str, arguments: &[Word]) -> Result {
    let given = read(name, None, arguments)?;
    let links = given.has(&["-l", "-s", "--link", "--symbolic-link"]);
    let keeps_sources = name == "cp" && !links;
    let targets = given.values(&["-t", "--target-directory"]);
    let mut files: Vec<Word> = given.operands.clone();
    if files.is_empty() {
        return Err(Unknown::new(name, UnknownReason::Missing));
    }
    match targets.last() {
        Some(target) => files.push((*target).clone()),
        // A link of the same name in the directory.
        None if files.len() == 1 => {
            let here = files[0].shape().trim_end_matches('/').rsplit('/').next();
            files.extend(here.map(Word::literal));
        }
        None => {}
    }
    if keeps_sources && (given.operands.len() > 1 || !targets.is_empty()) {
        files.drain(..files.len() - 1);
    }
    Ok(Outcome::writes(&format!("`{name}`"), &files))
}

fn installed(arguments: &[Word]) -> Result {
    let given = read("install", None, arguments)?;
    let targets = given.values(&["-t", "--target-directory"]);
    let files: Vec<&Word> = match targets.last() {
        Some(target) => vec![*target],
        None if given.has(&["-d", "--directory"]) => given.operands.iter().collect(),
        None => given.operands.last().into_iter().collect(),
    };
    Ok(Outcome::writes("`install`", files))
}

fn dd(arguments: &[Word]) -> Result {
    const NAMES: &[&str] = &[
        "if", "bs", "ibs", "obs", "cbs", "count", "skip", "seek", "status", "conv", "iflag",
        "oflag", "iseek", "oseek",
    ];
    let mut files = Vec::new();
    for word in arguments {
        match word.shape().split_once('=') {
            Some(("of", _)) => files.push(word.suffix(3)),
            Some((name, _)) if NAMES.contains(&name) && !word.may_add_words => {}
            _ => return Err(argument(word)),
        }
    }
    Ok(Outcome::writes("`dd`", &files))
}

/// Returns the arguments of `tar` with dashes before the letters: `tar xzf archive` has their values in the same order behind them.
pub(crate) fn unbundled(arguments: &[Word]) -> Result<Vec<Word>> {
    let [first, rest @ ..] = arguments else {
        return Ok(Vec::new());
    };
    if first.shape().starts_with('-') || first.may_hide_option() {
        return Ok(arguments.to_vec());
    }
    let letters = first.text().ok_or_else(|| argument(first))?;
    let (mut options, mut rest) = (Vec::new(), rest.iter());
    for letter in letters.chars() {
        if !letter.is_ascii_alphabetic() {
            return Err(argument(first));
        }
        options.push(Word::literal(&format!("-{letter}")));
        if matches!(letter, 'f' | 'C' | 'I') {
            options.push(rest.next().cloned().ok_or_else(|| argument(first))?);
        }
    }
    options.extend(rest.cloned());
    Ok(options)
}

/// `tar`: lists, extracts or creates.
fn tar(arguments: &[Word]) -> Result {
    let known = read("tar", None, &unbundled(arguments)?)?;
    let archives = known.values(&["-f", "--file"]);
    let archive = archives.last().copied();
    if let Some(archive) = archive.filter(|archive| {
        archive.shape().contains(':') || archive.shape().starts_with('\0') && archive.may_add_words
    }) {
        return Err(argument(archive));
    }
    let is_pipe = archive.is_some_and(|archive| archive.shape() == "-");
    if known.has(&[
        "-c",
        "--create",
        "-r",
        "--append",
        "-u",
        "--update",
        "-A",
        "--catenate",
        "--delete",
    ]) {
        return match archive {
            _ if is_pipe => Ok(Outcome::reads()),
            Some(archive) => Ok(Outcome::writes("`tar`", [archive])),
            None => Err(Unknown::new("-f", UnknownReason::Missing)),
        };
    }
    if known.has(&["-x", "--extract", "--get"]) {
        if known.has(&["-O", "--to-stdout"]) {
            return Ok(Outcome::reads());
        }
        return Ok(extracted(&known));
    }
    if known.has(&["-t", "--list"]) {
        return Ok(Outcome::reads());
    }
    Err(Unknown::new("-t", UnknownReason::Missing))
}

fn extracted(known: &Found) -> Outcome {
    let path = match known.values(&["-C", "--directory"]).as_slice() {
        _ if known.has(&["-P", "--absolute-names"]) => None,
        [] => Some(".".to_owned()),
        [directory] => directory.path(),
        // Each is relative to the previous one.
        _ => None,
    };
    Outcome::of(Effect::Writes(vec![FileWrite::new(
        "`tar`".to_owned(),
        path,
    )]))
}

fn unzip(arguments: &[Word]) -> Result {
    let known = read("unzip", None, arguments)?;
    if known.has(&["-l", "-v", "-t", "-z", "-p", "-Z", "-c"]) {
        return Ok(Outcome::reads());
    }
    let path = match known.values(&["-d"]).last() {
        Some(directory) => directory.path(),
        None => Some(".".to_owned()),
    };
    Ok(Outcome::of(Effect::Writes(vec![FileWrite::new(
        "`unzip`".to_owned(),
        path,
    )])))
}
