//! The checks of a gate: commands, files, the repository.

use serde::{Deserialize, Serialize};

use crate::diagnostic::{shown, visible};
use crate::pattern::ProjectGlob;

/// The subject of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Check {
    /// A command is run.
    Run(RunCheck),
    /// A file is looked at.
    File(FileCheck),
    /// The repository is looked at.
    Git(GitCheck),
}

/// A command and its expected result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunCheck {
    /// The program and its arguments; with `shell`, one line for the shell.
    pub command: Vec<String>,
    /// True if the shell reads the line.
    #[serde(default)]
    pub shell: bool,
    /// Seconds until it is ended.
    pub timeout: u32,
    /// The expected exit code.
    pub exit: ExpectedExit,
    /// A regular expression that its output must match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// The output that must match.
    #[serde(default, skip_serializing_if = "OutputStream::is_default")]
    pub stream: OutputStream,
    /// The directory it runs in, from the working directory; `None` is that directory itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Variables that are set for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
}

/// An output of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputStream {
    /// Standard output.
    #[default]
    Stdout,
    /// Standard error.
    Stderr,
    /// Both, in the order in which they are written.
    Both,
}

impl OutputStream {
    /// Its name in messages.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Both => "its output",
        }
    }

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes a reference"
    )]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl RunCheck {
    /// The command as one would type it, in one line without control characters, cut when it is long.
    #[must_use]
    pub fn describe(&self) -> String {
        shown(&self.typed())
    }

    /// The same in full, however long it is: for whoever must know all of it.
    #[must_use]
    pub fn in_full(&self) -> String {
        visible(&self.typed())
    }

    /// As one would type it at the project's root, with its variables and its directory.
    fn typed(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        if let Some(cwd) = &self.cwd {
            parts.push(format!("cd {} &&", quoted(cwd)));
        }
        let variables = self.env.iter();
        parts.extend(variables.map(|(name, value)| format!("{name}={}", quoted(value))));
        if self.shell {
            parts.push(self.command.join(" "));
        } else {
            parts.extend(self.command.iter().map(|word| quoted(word)));
        }
        parts.join(" ")
    }
}

impl Check {
    /// The check as people read it, on one line.
    #[must_use]
    pub fn describe(&self) -> String {
        self.called(shown)
    }

    /// The condition as a phrase; `fit` prepares the parts that come from its definition.
    pub fn requirement(&self, fit: impl Fn(&str) -> String) -> String {
        match self {
            Self::Run(run) => {
                let exit = run.exit.requirement();
                let command = fit(&run.typed());
                match &run.stdout {
                    Some(pattern) => {
                        let stream = match run.stream {
                            OutputStream::Stdout | OutputStream::Both => "",
                            OutputStream::Stderr => " on standard error",
                        };
                        format!("{command} {exit} and print {}{stream}", fit(pattern))
                    }
                    None => format!("{command} {exit}"),
                }
            }
            Self::File(FileCheck { path, changed }) => {
                let path = fit(path);
                match changed {
                    None => format!("{path} must exist"),
                    Some(true) => format!("{path} must have changed"),
                    Some(false) => format!("{path} must not have changed"),
                }
            }
            Self::Git(GitCheck::Clean) => "git must be clean".to_owned(),
            Self::Git(GitCheck::NewCommit) => "git must have a new commit".to_owned(),
        }
    }

    /// The name of the check; `fit` prepares the parts that come from its definition.
    pub fn called(&self, fit: impl Fn(&str) -> String) -> String {
        match self {
            Self::Run(run) => {
                let command = fit(&run.typed());
                match run.exit {
                    ExpectedExit::Code(0) => command,
                    exit => format!("{command} ({})", exit.requirement()),
                }
            }
            Self::File(FileCheck { path, changed }) => {
                let path = fit(path);
                match changed {
                    None => format!("file {path}"),
                    Some(true) => format!("file {path} changed"),
                    Some(false) => format!("file {path} unchanged"),
                }
            }
            Self::Git(GitCheck::Clean) => "git clean".to_owned(),
            Self::Git(GitCheck::NewCommit) => "git new commit".to_owned(),
        }
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,^".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// An expected exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExpectedExit {
    /// This one.
    Code(i32),
    /// Any but 0.
    Nonzero,
}

impl ExpectedExit {
    fn requirement(self) -> String {
        match self {
            Self::Code(0) => "must pass".to_owned(),
            Self::Code(code) => format!("must exit with {code}"),
            Self::Nonzero => "must fail".to_owned(),
        }
    }
}

/// A file that must be there, or one of several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileCheck {
    /// Its path, from the working directory, or a glob.
    pub path: String,
    /// If given, its content must differ from that at the start of the phase, or must not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
}

impl FileCheck {
    /// Returns its glob; `None` if it names one file, or the glob is invalid and thus the name of none.
    #[must_use]
    pub fn glob(&self) -> Option<ProjectGlob> {
        ProjectGlob::read(&self.path)?.ok()
    }
}

/// The expected state of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum GitCheck {
    /// Nothing is changed that is not committed.
    Clean,
    /// There is a commit that was not there when the phase was entered.
    NewCommit,
}
