//! Writes the man pages into a directory: one for the command line, one for each command.

use std::path::Path;
use std::{env, fs};

use anyhow::Context;

fn main() -> anyhow::Result<()> {
    let directory = env::args_os().nth(1).context("name a directory")?;
    fs::create_dir_all(&directory)?;
    clap_mangen::generate_to(workflow_sidecar::cli::command_line(), Path::new(&directory))?;
    Ok(())
}
