//! Writes the man pages into a directory: one for the command line, one for each command.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap_mangen::Man;

fn main() -> anyhow::Result<()> {
    let directory = std::env::args_os().nth(1).context("name a directory")?;
    let directory = PathBuf::from(directory);
    fs::create_dir_all(&directory)?;
    let mut command = workflow_sidecar::cli::command_line().disable_help_subcommand(true);
    command.build();
    write_page(&directory, &command, command.get_name())?;
    for of in command.get_subcommands() {
        let name = format!("{}-{}", command.get_name(), of.get_name());
        write_page(&directory, &of.clone().display_name(&name), &name)?;
    }
    Ok(())
}

fn write_page(directory: &Path, command: &clap::Command, name: &str) -> io::Result<()> {
    let mut page = File::create(directory.join(format!("{name}.1")))?;
    let version = concat!("workflow-sidecar ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).title(name).source(version);
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let more = command.get_after_help();
    let more = more.map(ToString::to_string).unwrap_or_default();
    more.split("\n\n")
        .try_for_each(|part| write_part(&mut page, part))
}

/// A paragraph as it stands; one under a heading is a section.
fn write_part(page: &mut impl Write, part: &str) -> io::Result<()> {
    let (heading, text) = match part.split_once(":\n") {
        Some((heading, text)) => (Some(heading), text),
        None => (None, part),
    };
    match heading {
        Some(heading) => writeln!(page, ".SH {}", heading.to_uppercase())?,
        None => writeln!(page, ".PP")?,
    }
    writeln!(page, ".nf")?;
    for line in text.lines() {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        // A line that starts with a dot would be a request.
        writeln!(page, "\\&{line}")?;
    }
    writeln!(page, ".fi")
}
