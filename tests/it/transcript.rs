//! Transcripts: what a host says and what it must hear, as a file.
//!
//! One JSON object a line. `note` is for people; `definitions` names the directory that the host's
//! `agent` and `project` directories are copied from; `in` is a line of the host (a string is sent
//! as it is, anything else as JSON); `out` is a line of the sidecar (`"*"` is any); `remove` takes a
//! file or directory away. `$CWD` and `$AGENT` stand for the two directories.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;
use tempfile::TempDir;

use crate::connection::Connection;

/// Stands for any line of the sidecar.
const ANY: &str = "\"*\"";

/// A transcript, read.
pub(crate) struct Transcript {
    path: PathBuf,
    lines: Vec<Line>,
}

/// One line of a transcript.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Note(Box<RawValue>),
    Definitions(PathBuf),
    In(Box<RawValue>),
    Out(Box<RawValue>),
    Remove(PathBuf),
}

impl Transcript {
    pub(crate) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let lines = text.lines().enumerate().map(|(at, line)| {
            serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{}:{}: {error}", path.display(), at + 1))
        });
        Self {
            path: path.to_path_buf(),
            lines: lines.collect(),
        }
    }

    /// Plays the host's part and compares what it hears; the message shows the first difference.
    pub(crate) fn replay(&self, connection: &mut dyn Connection) -> Result<(), String> {
        let directories = Directories::new();
        for (at, line) in self.lines.iter().enumerate() {
            let place = || format!("{}:{}", self.path.display(), at + 1);
            match line {
                Line::Note(_) => {}
                Line::Definitions(name) => directories.fill(name),
                Line::Remove(path) => directories.remove(path),
                Line::In(said) => connection.send(&directories.bytes(said)),
                Line::Out(expected) => {
                    let heard = directories.readable(&connection.receive());
                    if expected.get() != ANY && expected.get() != heard {
                        return Err(difference(&place(), expected.get(), &heard));
                    }
                }
            }
        }
        let unheard = connection.finish();
        if unheard.is_empty() {
            return Ok(());
        }
        Err(format!(
            "{}: the sidecar says more:\n{}",
            self.path.display(),
            unheard.join("\n")
        ))
    }

    /// Plays the host's part in memory and writes down what it hears.
    pub(crate) fn bless(&self, connection: &mut dyn Connection) {
        let directories = Directories::new();
        let mut text = String::new();
        let mut lines = self.lines.iter().peekable();
        while let Some(line) = lines.next() {
            match line {
                Line::Out(_) => continue,
                Line::Note(_) | Line::In(_) => {}
                Line::Definitions(name) => directories.fill(name),
                Line::Remove(path) => directories.remove(path),
            }
            text += &line.written();
            let Line::In(said) = line else { continue };
            connection.send(&directories.bytes(said));
            for heard in connection.finish() {
                let expected = lines.next_if(|line| matches!(line, Line::Out(_)));
                let any = expected.is_some_and(|line| line.written() == out(ANY));
                let heard = directories.readable(&heard);
                text += &out(if any { ANY } else { &heard });
            }
        }
        fs::write(&self.path, text).unwrap();
    }
}

fn out(json: &str) -> String {
    format!("{{\"out\":{json}}}\n")
}

impl Line {
    /// The line as it stands in a file.
    fn written(&self) -> String {
        match self {
            Self::Note(note) => format!("{{\"note\":{note}}}\n"),
            Self::Definitions(name) => format!("{{\"definitions\":\"{}\"}}\n", name.display()),
            Self::In(said) => format!("{{\"in\":{said}}}\n"),
            Self::Out(heard) => out(heard.get()),
            Self::Remove(path) => format!("{{\"remove\":\"{}\"}}\n", path.display()),
        }
    }
}

/// The host's two directories, in one that goes when the replay ends.
struct Directories {
    root: TempDir,
}

impl Directories {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for name in ["agent", "project"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        Self { root }
    }

    fn names(&self) -> [(&'static str, String); 2] {
        let path = |name| self.root.path().join(name).display().to_string();
        [("$AGENT", path("agent")), ("$CWD", path("project"))]
    }

    fn fill(&self, name: &Path) {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
        let places = ["transcripts/definitions", "definitions"].map(|place| tests.join(place));
        let from = places.iter().map(|place| place.join(name));
        let from = from.clone().find(|from| from.is_dir());
        copy(
            &from.unwrap_or_else(|| panic!("no definitions {}", name.display())),
            self.root.path(),
        );
    }

    fn remove(&self, path: &Path) {
        let path = self.with_paths(&path.display().to_string());
        let path = Path::new(&path);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }

    /// What is sent for a line of the host.
    fn bytes(&self, said: &RawValue) -> Vec<u8> {
        let line = serde_json::from_str(said.get()).unwrap_or_else(|_| said.get().to_owned());
        let mut line = self.with_paths(&line).into_bytes();
        line.push(b'\n');
        line
    }

    fn with_paths(&self, text: &str) -> String {
        let names = self.names();
        names.iter().fold(text.to_owned(), |text, (name, path)| {
            text.replace(name, path)
        })
    }

    /// A line of the sidecar as it stands in a transcript.
    fn readable(&self, line: &str) -> String {
        let names = self.names();
        names.iter().fold(unescaped(line), |text, (name, path)| {
            text.replace(path, name)
        })
    }
}

/// The same JSON with characters in place of the escapes of what is not ASCII.
///
/// The sidecar escapes all of that, so nothing is lost: two lines that look the same are the same.
fn unescaped(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        text += before;
        let (characters, length) = match (hex(escape), escape.get(6..).and_then(hex)) {
            (Some(high @ 0xd800..0xdc00), Some(low)) => (vec![high, low], 12),
            (Some(unit @ 0x80..), _) => (vec![unit], 6),
            // Any other escape stays. Two characters of it are enough to pass over `\\\\`.
            _ => (escape[..2].encode_utf16().collect(), 2),
        };
        text += &String::from_utf16(&characters).expect("surrogates come in pairs");
        rest = &escape[length..];
    }
    text + rest
}

/// The unit that an escape at the start of the text stands for.
fn hex(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}

/// Shows two lines from where they differ, with what comes before.
fn difference(place: &str, expected: &str, heard: &str) -> String {
    let same = expected.chars().zip(heard.chars());
    let same = same.take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(40);
    let shown = |line: &str| line.chars().skip(from).take(200).collect::<String>();
    let mark = " ".repeat(same - from);
    format!(
        "{place}: the sidecar says something else from character {same} on\n  expected: {}\n     heard: {}\n            {mark}^\n\
         whole line heard:\n{heard}\n\nUPDATE=1 writes down what is heard.",
        shown(expected),
        shown(heard),
    )
}

#[test]
fn escapes_become_characters() {
    assert_eq!(
        unescaped(r"a\ud83d\udd04b\u23f3\n\\u23f3\u0007"),
        "a🔄b⏳\\n\\\\u23f3\\u0007"
    );
}
