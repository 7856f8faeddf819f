//! Documents with consoles: their files are written and their commands run, each document in a fresh project.
//!
//! A path in backticks alone on a line, and a fenced block below it, is a file of the project. A `console`
//! block holds commands, each after `$ `, and what they print; `[exit 1]` is the exit code of one that
//! failed. A command is run by `sh`, with `workflow-sidecar` on its path. The project is `~/project`: the home
//! directory is written `~`. `$SESSIONS` is the directory of session files that the real pi wrote.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// Variables that say how the binary behaves, or what it prints.
const FOREIGN: [&str; 9] = [
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "GITHUB_WORKSPACE",
    "NO_COLOR",
    "PI_CODING_AGENT_DIR",
    "RUST_BACKTRACE",
    "WORKFLOW_SIDECAR_LOG",
    "WORKFLOW_SIDECAR_RECORD",
    "WORKFLOW_SIDECAR_RECORD_REDACT",
];

/// The directory of programs that are there if the machine has none of these names.
const PROGRAMS: &str = "programs";

/// A page, and the directory it happens in.
pub(crate) struct Page {
    path: PathBuf,
    text: String,
    home: TempDir,
}

impl Page {
    pub(crate) fn read(path: &Path) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("project")).unwrap();
        // Gates of pages name them; a machine may have none of them.
        for program in ["cargo", "make", "npm"] {
            let programs = home.path().join(PROGRAMS);
            fs::create_dir_all(&programs).unwrap();
            let program = programs.join(program);
            fs::write(&program, "#!/bin/sh\n").unwrap();
            #[cfg(unix)]
            fs::set_permissions(
                &program,
                std::os::unix::fs::PermissionsExt::from_mode(0o755),
            )
            .unwrap();
        }
        Self {
            path: path.to_path_buf(),
            text: fs::read_to_string(path).unwrap(),
            home,
        }
    }

    /// The same page, in a project with one more file.
    pub(crate) fn with_file(self, path: &str, text: &str) -> Self {
        self.write_file(path, text);
        self
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.home.path().join("project")
    }

    /// Does everything the page shows, in order. `UPDATE=1` writes down what is printed.
    pub(crate) fn play(&self) -> Result<(), String> {
        let played = self.played();
        if played == self.text {
            return Ok(());
        }
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&self.path, played).unwrap();
            return Ok(());
        }
        let same = self.text.lines().zip(played.lines());
        let same = same.take_while(|(a, b)| a == b).count();
        let rest = |text: &str| {
            text.lines()
                .skip(same)
                .take(12)
                .fold(String::new(), |all, line| all + "  " + line + "\n")
        };
        Err(format!(
            "{}:{}: the page shows\n{}but what is printed is\n{}UPDATE=1 writes it down.",
            self.path.display(),
            same + 1,
            rest(&self.text),
            rest(&played)
        ))
    }

    /// Writes the files that the page shows.
    pub(crate) fn write_files(&self) {
        for piece in pieces(&self.text) {
            if let Piece::File { path, text, .. } = piece {
                self.write_file(path, &text);
            }
        }
    }

    /// The page as it should be.
    fn played(&self) -> String {
        let mut played = String::new();
        for piece in pieces(&self.text) {
            match piece {
                Piece::Prose(line) => {
                    played += line;
                    played.push('\n');
                }
                Piece::File {
                    path,
                    text,
                    written,
                } => {
                    self.write_file(path, &text);
                    played += &written;
                }
                Piece::Console { fence, commands } => {
                    writeln!(played, "{fence}console").unwrap();
                    for command in commands {
                        writeln!(played, "$ {command}").unwrap();
                        played += &self.output_of(&command);
                    }
                    writeln!(played, "{fence}").unwrap();
                }
            }
        }
        played
    }

    fn write_file(&self, path: &str, text: &str) {
        let path = match path.strip_prefix("~/") {
            Some(path) => self.home.path().join(path),
            None => self.project().join(path),
        };
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The output of a command, and its exit code.
    fn output_of(&self, command: &str) -> String {
        let binary = Path::new(env!("CARGO_BIN_EXE_workflow-sidecar"));
        let binaries = binary.parent().unwrap().display();
        let search = std::env::var("PATH").unwrap_or_default();
        let programs = self.home.path().join(PROGRAMS);
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &format!("exec 2>&1\n{command}")])
            .current_dir(self.project())
            .env(
                "PATH",
                format!("{binaries}:{search}:{}", programs.display()),
            )
            .env("HOME", self.home.path())
            .env(
                "SESSIONS",
                concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/sessions"),
            )
            .env("COLUMNS", "100")
            .stdin(Stdio::null());
        // The variables of the machine must not change the output.
        for variable in FOREIGN {
            shell.env_remove(variable);
        }
        let output = shell.output().unwrap();
        let mut text = String::from_utf8(output.stdout).expect("what is printed is UTF-8");
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        if !output.status.success() {
            let code = output.status.code().expect("no signal ends a command");
            writeln!(text, "[exit {code}]").unwrap();
        }
        let real_home = self.home.path().canonicalize().unwrap();
        let text = text.replace(&real_home.display().to_string(), "~");
        text.replace(&self.home.path().display().to_string(), "~")
    }
}

/// A piece of a page.
enum Piece<'a> {
    /// A line that nothing follows from.
    Prose(&'a str),
    File {
        path: &'a str,
        text: String,
        /// The block as the page has it.
        written: String,
    },
    Console {
        fence: &'a str,
        commands: Vec<String>,
    },
}

fn pieces(page: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut lines = page.lines().peekable();
    let mut named: Option<&str> = None;
    while let Some(line) = lines.next() {
        let info = line.trim_start_matches('`');
        let fence = &line[..line.len() - info.len()];
        if fence.len() < 3 {
            if !line.is_empty() {
                named = path_alone(line);
            }
            pieces.push(Piece::Prose(line));
            continue;
        }
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != fence).collect();
        let text = block
            .iter()
            .fold(String::new(), |text, line| text + line + "\n");
        match (named.take(), info) {
            (_, "console") => pieces.push(Piece::Console {
                fence,
                commands: commands(&block),
            }),
            (Some(path), _) => pieces.push(Piece::File {
                path,
                written: format!("{line}\n{text}{fence}\n"),
                text,
            }),
            (None, _) => {
                pieces.push(Piece::Prose(line));
                pieces.extend(block.into_iter().map(Piece::Prose));
                pieces.push(Piece::Prose(fence));
            }
        }
    }
    pieces
}

/// The commands of a block; one goes on in the next line after a backslash.
fn commands(block: &[&str]) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in block {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (_, Some(command)) if goes_on => {
                command.push('\n');
                command.push_str(line);
            }
            (Some(command), _) => commands.push(command.to_owned()),
            (None, _) => continue,
        }
        goes_on = line.ends_with('\\');
    }
    commands
}

fn path_alone(line: &str) -> Option<&str> {
    let path = line.strip_prefix('`')?.strip_suffix('`')?;
    (path.contains(['/', '.']) && !path.contains([' ', '`'])).then_some(path)
}

/// Every command of the command line, as it answers.
#[test]
fn the_command_line_answers_as_its_pages_show() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cli");
    let mut pages: Vec<PathBuf> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    pages.sort();
    let differences: Vec<String> = std::thread::scope(|scope| {
        let played: Vec<_> = pages
            .iter()
            .map(|path| scope.spawn(move || Page::read(path).play().err()))
            .collect();
        played
            .into_iter()
            .filter_map(|page| page.join().unwrap())
            .collect()
    });
    assert!(!pages.is_empty());
    assert!(differences.is_empty(), "\n{}", differences.join("\n\n"));
}
