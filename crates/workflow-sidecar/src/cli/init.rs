//! `init`: a new workflow from a template.

use std::path::PathBuf;

use anyhow::{bail, ensure};
use workflow_core::definition::nearest;
use workflow_core::diagnostic::shown;

use super::schema;
use crate::init::{Language, STARTER, Template, print_next_steps, templates, write};
use crate::present::Page;
use crate::share::Copying;

/// The default key.
const DEFAULT_KEY: &str = "my-workflow";

/// Create a workflow, commented or ready-made
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Workflows to copy, with --from [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Copy workflows from a directory, or from a commit or tag of a git repository: `ADDRESS@COMMIT`
    #[arg(long, value_name = "SOURCE", conflicts_with_all = ["template", "json5", "no_run", "name"])]
    from: Option<String>,
    /// With --from: show the files and guards, and write nothing
    #[arg(long, requires = "from")]
    dry_run: bool,
    /// With --from: replace files that were changed here, or are not from there
    #[arg(long, requires = "from")]
    force: bool,
    /// Workflow to create: the commented `starter`, or a ready-made one
    #[arg(long, short, value_name = "NAME", value_parser = templates().map(|template| template.name).collect::<Vec<_>>())]
    template: Option<String>,
    /// Write the definition in JSON5
    #[arg(long)]
    json5: bool,
    /// Do not run the test command
    #[arg(long)]
    no_run: bool,
    /// Directory of the project; the workflow is written to its `.pi/workflows`
    #[arg(long, value_name = "DIR", default_value = ".")]
    project: PathBuf,
    /// Command name, and name of the directory [default: name of the template; of the starter `my-workflow`]
    #[arg(long, value_name = "KEY")]
    name: Option<String>,
}

impl Arguments {
    fn template(&self) -> &'static Template {
        let asked = |template: &&Template| Some(template.name) == self.template.as_deref();
        templates().find(asked).unwrap_or(&STARTER)
    }

    fn key(&self) -> &str {
        let template = self.template().name;
        let is_starter = template == STARTER.name;
        let default = if is_starter { DEFAULT_KEY } else { template };
        self.name.as_deref().unwrap_or(default)
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let project = &arguments.project;
    ensure!(project.is_dir(), "{} is not a directory", project.display());
    let mut page = Page::default();
    if let Some(from) = &arguments.from {
        let copying = Copying {
            from,
            names: &arguments.names,
            project,
            force: arguments.force,
            dry_run: arguments.dry_run,
        };
        let done = copying.run(&mut page);
        page.print()?;
        return done;
    }
    if let [name, ..] = &*arguments.names {
        bail!("{}", suggestion(name));
    }
    let language = if arguments.json5 {
        Language::Json5
    } else {
        Language::Yaml
    };
    let (template, key) = (arguments.template(), arguments.key());
    let written = write(project, template, key, language, schema::WORKFLOW)?;
    written.print_files(project, &mut page);
    if !arguments.no_run {
        written.run_tests(project, &mut page)?;
    }
    written.print_problems(project, &mut page);
    print_next_steps(project, key, template, &mut page);
    page.print()
}

/// Suggests the option that a bare name belongs to.
fn suggestion(bare: &str) -> String {
    let templates = templates().map(|template| template.name);
    match nearest(bare, templates) {
        Some(template) => format!("did you mean `init --template {template}`?"),
        None => format!(
            "did you mean `init --name {}`? The ready-made ones: `workflow-sidecar list --templates`",
            shown(bare)
        ),
    }
}
