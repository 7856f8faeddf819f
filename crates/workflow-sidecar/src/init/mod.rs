//! Starting a workflow: the ready-made ones, and writing one into a project.
//!
//! Owns what is written where, and that nothing is ever overwritten. It must not know the command line.

mod templates;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) use templates::{STARTER, TEMPLATES, Template};

/// The language a definition is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Yaml,
    Json5,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    /// The name could not be typed behind `/workflow`.
    #[error(
        "`{0}` cannot be a name: only the letters a to z and A to Z, digits, `_` and `-`, 64 at most"
    )]
    Name(String),
    /// A workflow has this name.
    #[error("{} is there already: give the new one another name with `--name`", .0.display())]
    Exists(PathBuf),
    /// The disk refused.
    #[error("{} cannot be written: {cause}", .path.display())]
    Write {
        /// What was to be written.
        path: PathBuf,
        /// Why it could not.
        cause: io::Error,
    },
}

/// What was written.
#[derive(Debug)]
pub(crate) struct Written {
    /// The workflow's key, then those of its subworkflows.
    pub(crate) keys: Vec<String>,
    /// All files, where they are in the project.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) schema: SchemaFile,
}

/// What became of the schema, which editors read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaFile {
    /// It was not there, and is written.
    Written,
    /// It was there.
    Same,
    /// One was there that is not this version's, and still is.
    Other,
}

/// Where workflows are in a project.
pub(crate) const WORKFLOWS: &str = ".pi/workflows";
/// Where the schema is that definitions name in their first lines.
pub(crate) const SCHEMA: &str = ".pi/schemas/workflow.schema.json";
/// The schema as a definition names it.
const SCHEMA_FROM_WORKFLOW: &str = "../../schemas/workflow.schema.json";

/// Writes a template into a project, under this name: all of it, or no workflow at all.
pub(crate) fn write(
    project: &Path,
    template: &Template,
    key: &str,
    language: Language,
    schema: &str,
) -> Result<Written, Problem> {
    if !can_be_typed(key) {
        return Err(Problem::Name(workflow_core::diagnostic::shown(key)));
    }
    let keys = template.keys(key);
    let directories = keys.iter().map(|key| Path::new(WORKFLOWS).join(key));
    let mut own = Vec::new();
    let written = make(project, directories, &mut own).and_then(|()| {
        let files = write_files(project, template.files(key, language))?;
        let schema = write_schema(project, schema)?;
        Ok(Written {
            keys,
            files,
            schema,
        })
    });
    if written.is_err() {
        for directory in own {
            // Half a workflow would keep the next attempt from its place.
            let _ = fs::remove_dir_all(directory);
        }
    }
    written
}

/// Makes the directories of new workflows, none of which may be there, and notes each that is made.
fn make(
    project: &Path,
    directories: impl Iterator<Item = PathBuf>,
    made: &mut Vec<PathBuf>,
) -> Result<(), Problem> {
    let workflows = project.join(WORKFLOWS);
    fs::create_dir_all(&workflows)
        .map_err(|cause| refused(project, Path::new(WORKFLOWS), cause))?;
    for directory in directories {
        let path = project.join(&directory);
        match fs::create_dir(&path) {
            Ok(()) => made.push(path),
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
                return Err(Problem::Exists(directory));
            }
            Err(cause) => return Err(refused(project, &directory, cause)),
        }
    }
    Ok(())
}

/// Writes files, each by its place in the workflows directory.
fn write_files(project: &Path, files: Vec<(String, String)>) -> Result<Vec<PathBuf>, Problem> {
    let mut written = Vec::new();
    for (path, text) in files {
        let path = Path::new(WORKFLOWS).join(path);
        let text = with_schema_line(&path, &text);
        create(&project.join(&path), &text).map_err(|cause| refused(project, &path, cause))?;
        written.push(path);
    }
    Ok(written)
}

/// Whether `/workflow NAME` could start it.
fn can_be_typed(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(allowed)
}

/// A file's text; a definition gets the line that tells an editor its schema.
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

fn write_schema(project: &Path, schema: &str) -> Result<SchemaFile, Problem> {
    let path = project.join(SCHEMA);
    match fs::read(&path) {
        Ok(there) if there == schema.as_bytes() => Ok(SchemaFile::Same),
        Ok(_) => Ok(SchemaFile::Other),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let written = create(&path, schema);
            written.map_err(|cause| refused(project, Path::new(SCHEMA), cause))?;
            Ok(SchemaFile::Written)
        }
        Err(cause) => Err(refused(project, Path::new(SCHEMA), cause)),
    }
}

/// Writes a file that must not be there, and the directories it stands in.
fn create(path: &Path, text: &str) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let mut file = fs::File::create_new(path)?;
    io::Write::write_all(&mut file, text.as_bytes())
}

fn refused(project: &Path, path: &Path, cause: io::Error) -> Problem {
    Problem::Write {
        path: project.join(path),
        cause,
    }
}

#[cfg(test)]
mod tests;
