//! The extension for pi, which pi installs itself.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

/// The name of the host.
pub(crate) const NAME: &str = "pi";

const PROGRAM: &str = if cfg!(windows) { "pi.cmd" } else { "pi" };

/// Has pi install or remove the package.
pub(super) fn run(command: &str, for_project: bool, dry_run: bool) -> anyhow::Result<()> {
    let program = std::env::current_exe().context("the path of this program is not known")?;
    let source = source(&program);
    let local = for_project.then_some("-l");
    let arguments = [command, &source].into_iter().chain(local);
    let line = format!("pi {}", arguments.clone().collect::<Vec<_>>().join(" "));
    anstream::println!("{line}");
    if dry_run {
        anstream::println!("Dry run: nothing was changed.");
        return Ok(());
    }
    match Command::new(PROGRAM).args(arguments).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => bail!(
            "`{line}` failed. With a checkout of the repository, `pi {command} <checkout>/protocol/typescript` needs no registry"
        ),
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(
            "pi is not on the PATH. Install it with `npm install -g @earendil-works/pi-coding-agent`, then run `{line}`"
        ),
        Err(error) => Err(error).context("pi cannot be started"),
    }
}

/// The package as pi knows it: the one that this program came with, or the registry's.
fn source(program: &Path) -> String {
    let program = program.canonicalize();
    let program = program.as_deref().unwrap_or(Path::new(""));
    let beside = ["node_modules/workflow-sidecar", "protocol/typescript"];
    let packages = program
        .ancestors()
        .flat_map(|directory| beside.map(|package| directory.join(package)));
    let mut found = packages.filter(|package| package.join("package.json").is_file());
    found.next().map_or_else(
        || "npm:workflow-sidecar".to_owned(),
        |package| package.display().to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_that_the_program_came_with_is_installed_before_that_of_the_registry() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().canonicalize().expect("a real path");
        let bin = root.join("node_modules/workflow-sidecar-linux-x64/bin");
        std::fs::create_dir_all(&bin).expect("directories");
        let program = bin.join("workflow-sidecar");
        std::fs::write(&program, "").expect("a file");
        assert_eq!(source(&program), "npm:workflow-sidecar");
        let package = root.join("node_modules/workflow-sidecar");
        std::fs::create_dir(&package).expect("a directory");
        std::fs::write(package.join("package.json"), "{}").expect("a file");
        assert_eq!(source(&program), package.display().to_string());
    }
}
