//! Writing a template into a project. Nothing is ever overwritten.

mod ecosystem;
mod first_run;
mod print;
mod templates;
mod test_command;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use ecosystem::Ecosystem;
use print::project_path;
use test_command::ProjectFiles;
use workflow_core::diagnostic::shown;

use crate::files::repository_root;

pub(crate) use print::print_next_steps;
pub(crate) use templates::{Language, STARTER, TEMPLATES, Template, templates};
pub(crate) use test_command::TestCommand;

/// The command of gates in the templates, which is replaced.
const GATE_PLACEHOLDER: &str = "run: [make, test]";
/// The same where a new test must fail without the change.
const NEW_TEST: &str = "run: [make, test] # and a new test fails without the change";
/// The same command at the start of patterns.
const COMMAND_PLACEHOLDER: &str = "\"make test";

/// The files that were written.
pub(crate) struct WrittenTemplate {
    /// The workflow's key, then those of its subworkflows.
    pub(crate) keys: Vec<String>,
    /// All files, relative to the project.
    pub(crate) files: Vec<PathBuf>,
    /// What happened to the schema file for editors; `None` if it was there.
    pub(crate) schema: Option<String>,
    /// The command that runs tests, and the files that contain it.
    pub(crate) tests: TestCommand,
    pub(crate) files_with_tests: Vec<PathBuf>,
}

/// The directory of workflows in a project.
pub(crate) const WORKFLOWS: &str = ".pi/workflows";
/// The schema file, which definitions name in their first lines.
pub(crate) const SCHEMA: &str = ".pi/schemas/workflow.schema.json";
/// The path of the schema from a definition.
const SCHEMA_FROM_WORKFLOW: &str = "../../schemas/workflow.schema.json";

/// Writes a template into a project under a key: all of it, or no workflow at all.
pub(crate) fn write(
    project: &Path,
    template: &Template,
    key: &str,
    language: Language,
    schema: &str,
) -> Result<WrittenTemplate> {
    if !is_valid_name(key) {
        bail!(
            "`{}` cannot be a name: only the letters a to z and A to Z, digits, `_` and `-`, 64 at most",
            shown(key)
        );
    }
    let keys = template.keys(key);
    let mut created = Vec::new();
    let written = create_directories(project, &keys, &mut created).and_then(|()| {
        let mut contents = template.files(key, language);
        let (tests, files_with_tests) = adapt(ProjectFiles(project), &mut contents);
        let mut files = Vec::new();
        for (path, text) in contents {
            let path = Path::new(WORKFLOWS).join(path);
            create(&project.join(&path), &with_schema_line(&path, &text))?;
            files.push(path);
        }
        Ok(WrittenTemplate {
            keys: keys.clone(),
            files,
            schema: write_schema(project, schema)?,
            tests,
            files_with_tests,
        })
    });
    if written.is_err() {
        for directory in created {
            // A partial workflow would block the next attempt. The error above is the one to report.
            let _ = fs::remove_dir_all(directory);
        }
    }
    written
}

/// Creates the directories of new workflows, and collects them in `created`. Fails if one exists.
fn create_directories(project: &Path, keys: &[String], created: &mut Vec<PathBuf>) -> Result<()> {
    let workflows = project.join(WORKFLOWS);
    fs::create_dir_all(&workflows).map_err(|cause| write_error(&workflows, &cause))?;
    for key in keys {
        let path = workflows.join(key);
        fs::create_dir(&path).map_err(|cause| match cause.kind() {
            io::ErrorKind::AlreadyExists => {
                anyhow!(
                    "{WORKFLOWS}/{key} exists already: give the new one another name with `--name`"
                )
            }
            _ => write_error(&path, &cause),
        })?;
        created.push(path);
    }
    Ok(())
}

/// Puts the project's own test command and test files in place of the templates' ones. Returns the command, and the files
/// that contain it.
fn adapt(project: ProjectFiles<'_>, files: &mut [(String, String)]) -> (TestCommand, Vec<PathBuf>) {
    let (ecosystem, other) = (Ecosystem::of(&project.all_names()), Ecosystem::of(&[]));
    let command = TestCommand::of(project);
    let compares = project
        .0
        .canonicalize()
        .is_ok_and(|root| repository_root(&root).is_some());
    let counting = |keys| {
        let gate = command.counting_gate(if compares { keys } else { "" });
        gate.unwrap_or_else(|| command.gate())
    };
    let mut changed = Vec::new();
    for (path, text) in files {
        if text.contains(GATE_PLACEHOLDER) || text.contains(COMMAND_PLACEHOLDER) {
            changed.push(Path::new(WORKFLOWS).join(&path));
        }
        let must_fail = format!("{GATE_PLACEHOLDER}\n    expect:");
        *text = text
            // What must fail may not compile yet.
            .replace(&must_fail, &format!("{}\n    expect:", command.gate()))
            .replace(
                NEW_TEST,
                &counting(", noNewSkips: true, failsWithoutChange: true"),
            )
            .replace(GATE_PLACEHOLDER, &counting(", noNewSkips: true"))
            .replace(COMMAND_PLACEHOLDER, &command.patterns())
            .replace(&list(other.tests), &list(ecosystem.tests))
            .replace(&either(other.changes), &either(ecosystem.changes));
    }
    (command, changed)
}

/// Globs as a list in YAML and JSON5.
fn list(globs: &str) -> String {
    format!("[\"{}\"]", globs.replace(' ', "\", \""))
}

/// Globs as one.
fn either(globs: &str) -> String {
    if globs.contains(' ') {
        format!("\"{{{}}}\"", globs.replace(' ', ","))
    } else {
        format!("\"{globs}\"")
    }
}

/// Returns true for a name that `/workflow NAME` accepts.
fn is_valid_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(allowed)
}

/// Adds to a definition the line that names its schema for editors.
fn with_schema_line(path: &Path, text: &str) -> String {
    match path.extension().and_then(OsStr::to_str) {
        Some("yaml") => format!("# yaml-language-server: $schema={SCHEMA_FROM_WORKFLOW}\n{text}"),
        Some("json5") => {
            let opening = format!("{{\n  $schema: '{SCHEMA_FROM_WORKFLOW}',\n");
            text.replacen("{\n", &opening, 1)
        }
        _ => text.to_owned(),
    }
}

/// Writes the schema file for editors, and says so; one of another version is kept.
fn write_schema(project: &Path, schema: &str) -> Result<Option<String>> {
    let path = project.join(SCHEMA);
    let shown = project_path(project, Path::new(SCHEMA));
    match fs::read(&path) {
        Ok(existing) if existing == schema.as_bytes() => Ok(None),
        Ok(_) => Ok(Some(format!(
            "kept {shown} of another version: `workflow-sidecar schema workflow > {shown}` updates it"
        ))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create(&path, schema)?;
            Ok(Some(format!("wrote {shown}, for your editor")))
        }
        Err(cause) => Err(write_error(&path, &cause)),
    }
}

/// Writes a new file, and its directories.
fn create(path: &Path, text: &str) -> Result<()> {
    let directory = path.parent().map_or(Ok(()), fs::create_dir_all);
    let file = directory.and_then(|()| fs::File::create_new(path));
    let written = file.and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes()));
    written.map_err(|cause| write_error(path, &cause))
}

fn write_error(path: &Path, cause: &io::Error) -> anyhow::Error {
    anyhow!("{} cannot be written: {cause}", path.display())
}

#[cfg(test)]
mod tests;
