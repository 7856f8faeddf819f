//! Programs that write the files that their operands name.

use super::options::{Known, Place, argument, split};
use super::outcome::{Invocation, Outcome, Result};
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::file_write::FileWrite;
use crate::word::Word;

/// Programs that write all of their operands but the first ones.
#[rustfmt::skip] // A row a line: name, options, number of other operands.
const OPERANDS: &[(&str, &str, usize)] = &[
    ("rm", "-rRfdviIP --recursive --force --dir --verbose --interactive?= --one-file-system --preserve-root?=", 0),
    ("rmdir", "-pv --parents --verbose --ignore-fail-on-non-empty", 0),
    ("unlink", "", 0),
    ("mkdir", "-pv -m= --parents --verbose --mode=", 0),
    ("touch", "-acmh -d= -t= -r= --no-create --date= --reference= --time= --no-dereference", 0),
    ("truncate", "-co -s= -r= --no-create --size= --reference= --io-blocks", 0),
    ("mkfifo", "-m= --mode=", 0),
    ("shred", "-fuvxz -n= -s= --force --remove?= --verbose --zero --exact --iterations= --size=", 0),
    ("chmod", "-Rvcfh --recursive --verbose --changes --silent --quiet", 1),
    ("chown", "-RvcfhHLP --recursive --verbose --changes --silent --quiet --no-dereference", 1),
    ("chgrp", "-RvcfhHLP --recursive --verbose --changes --silent --quiet --no-dereference", 1),
    ("trash", "-vrf", 0), ("trash-put", "-vrf", 0), ("rimraf", "-g --glob", 0),
    ("tee", "-aip --append --ignore-interrupts --output-error?=", 0),
];

/// Returns the outcome of such a program.
pub(super) fn outcome(invocation: &Invocation<'_>) -> Option<Result> {
    let name = invocation.name;
    let arguments = invocation.arguments;
    if let Some((_, options, skip)) = OPERANDS.iter().find(|(row, _, _)| *row == name) {
        return Some(operands(name, arguments, options, *skip));
    }
    Some(match name {
        "pdftotext" => return pdf_text(arguments),
        "cp" => copied(
            name,
            arguments,
            "-rRafvnpPLHdiuTXlsx -t= --recursive --archive --force --verbose --no-clobber --update?= --parents --preserve?= --no-preserve= --dereference --no-dereference --target-directory= --no-target-directory --interactive --one-file-system --reflink?= --sparse= --link --symbolic-link",
        ),
        "mv" => copied(
            name,
            arguments,
            "-fvniuT -t= --force --verbose --no-clobber --interactive --update?= --target-directory= --no-target-directory",
        ),
        "ln" => copied(
            name,
            arguments,
            "-sfnvrTiLP -t= --symbolic --force --no-dereference --verbose --relative --target-directory= --no-target-directory --interactive",
        ),
        "install" => installed(arguments),
        "dd" => dd(arguments),
        "tar" | "bsdtar" => tar(arguments),
        "unzip" => unzip(arguments),
        _ => return None,
    })
}

fn operands(name: &str, arguments: &[Word], options: &str, skip: usize) -> Result {
    // `chmod -x file`: the mode looks like an option.
    if name == "chmod"
        && let [mode, rest @ ..] = arguments
        && mode.shape().len() > 1
        && mode.shape().starts_with('-')
        && mode.shape()[1..]
            .bytes()
            .all(|byte| b"rwxXst".contains(&byte))
    {
        return operands(name, rest, options, 0);
    }
    let known = split(arguments, options, Place::Anywhere)?;
    let files = known.operands.iter().skip(skip).copied();
    let files = files.filter(|word| !word.is_process_substitution());
    Ok(Outcome::writes(&format!("`{name}`"), files))
}

/// `cp`, `mv` and `ln`: the target, and the sources if they change or become reachable under another name.
fn copied(name: &str, arguments: &[Word], options: &str) -> Result {
    let known = split(arguments, options, Place::Anywhere)?;
    let target = known.values(&["-t", "--target-directory"]);
    let operation = format!("`{name}`");
    let links = known.has(&["-l", "-s", "--link", "--symbolic-link"]);
    let files: Vec<&Word> = match (target.last(), known.operands.as_slice()) {
        (_, []) => return Err(Unknown::new(name, UnknownReason::Missing)),
        (Some(target), all) if name == "cp" && !links => {
            all.iter().take(0).copied().chain([*target]).collect()
        }
        (Some(target), all) => all.iter().copied().chain([*target]).collect(),
        (None, [one]) => {
            // A link of the same name in the directory.
            let here = one
                .shape()
                .trim_end_matches('/')
                .rsplit('/')
                .next()
                .map(Word::literal);
            let mut outcome = Outcome::writes(&operation, [*one]);
            outcome = match here {
                Some(here) => Outcome::writes(&operation, [*one, &here]),
                None => outcome,
            };
            return Ok(outcome);
        }
        (None, all) if name == "cp" && !links => vec![all[all.len() - 1]],
        (None, all) => all.to_vec(),
    };
    Ok(Outcome::writes(&operation, files))
}

fn installed(arguments: &[Word]) -> Result {
    const OPTIONS: &str = "-cdDvCpT -m= -o= -g= -t= --directory --mode= --owner= --group= --target-directory= --verbose --compare --preserve-timestamps --no-target-directory";
    let known = split(arguments, OPTIONS, Place::Anywhere)?;
    let target = known.values(&["-t", "--target-directory"]);
    let files: Vec<&Word> = match target.last() {
        Some(target) => vec![*target],
        None if known.has(&["-d", "--directory"]) => known.operands.clone(),
        None => known.operands.last().copied().into_iter().collect(),
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

/// Programs that `tar` runs to compress.
const COMPRESSORS: &[&str] = &[
    "gzip", "pigz", "bzip2", "lbzip2", "pbzip2", "xz", "zstd", "zstdmt", "lz4", "brotli",
];

/// `tar`: lists, extracts or creates.
fn tar(arguments: &[Word]) -> Result {
    const OPTIONS: &str = "-txcruAzjJZvOpPhkma -f= -C= -I= --use-compress-program= --list --extract --get --create --append --update --catenate --delete --file= --directory= --gzip --bzip2 --xz --zstd --lzma --verbose --exclude= --strip-components= --to-stdout --wildcards --no-wildcards --totals --numeric-owner --no-same-owner --no-same-permissions --no-recursion --full-time --preserve-permissions --absolute-names --dereference --auto-compress --sort= --mtime= --owner= --group= --exclude-vcs --keep-old-files --overwrite";
    // `tar xzf archive`: letters first, followed by their values in the same order.
    let bundled: Vec<Word>;
    let arguments = match arguments {
        [first, rest @ ..] if !first.shape().starts_with('-') && !first.may_hide_option() => {
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
            bundled = options;
            &bundled[..]
        }
        all => all,
    };
    let known = split(arguments, OPTIONS, Place::Anywhere)?;
    let compressors = known.values(&["-I", "--use-compress-program"]);
    let compresses = |word: &&&Word| {
        let words = word.text().map(|text| text.split(' ').collect::<Vec<_>>());
        words.is_some_and(|words| {
            let is_level = |word: &&str| {
                word.strip_prefix('-').is_some_and(|rest| {
                    rest.bytes()
                        .all(|byte| byte.is_ascii_digit() || b"Tpe".contains(&byte))
                })
            };
            COMPRESSORS.contains(&words[0]) && words[1..].iter().all(is_level)
        })
    };
    if let Some(word) = compressors.iter().find(|word| !compresses(word)) {
        return Err(argument(word));
    }
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

fn extracted(known: &Known<'_>) -> Outcome {
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

/// `pdftotext file -`: the text goes to the standard output only if `-` is the second file.
fn pdf_text(arguments: &[Word]) -> Option<Result> {
    let [options @ .., file, output] = arguments else {
        return None;
    };
    if output.shape() != "-" || file.shape().starts_with('-') || file.may_hide_option() {
        return None;
    }
    let mut options = options.iter().map(Word::shape);
    while let Some(option) = options.next() {
        match option {
            "-layout" | "-raw" | "-nopgbrk" | "-q" | "-bbox" | "-bbox-layout" | "-htmlmeta"
            | "-tsv" | "-nodiag" | "-table" | "-simple" => {}
            "-f" | "-l" | "-r" | "-x" | "-y" | "-W" | "-H" | "-fixed" => {
                let value = options.next()?;
                if !value.bytes().all(|byte| byte.is_ascii_digit()) {
                    return None;
                }
            }
            "-enc" if options.next() == Some("UTF-8") => {}
            _ => return None,
        }
    }
    Some(Ok(Outcome::reads()))
}

fn unzip(arguments: &[Word]) -> Result {
    let known = split(arguments, "-lvtzpZqoncCjxu1m -d=", Place::Anywhere)?;
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
