//! The extension that pi has installed.

use std::env;
use std::path::{Path, PathBuf};

use workflow_core::diagnostic::shown;

use super::result::{CheckSubject, InstallationCheck};
use crate::install::pi::{PACKAGE, Package, packages};
use crate::platform::disk::HOST_DIRECTORY;
use crate::platform::on_path;

/// The package that it replaces.
const REPLACED_PACKAGE: &str = "@harms-haus/pi-workflows";

/// The environment variable that names a binary.
const BINARY_VARIABLE: &str = "WORKFLOW_SIDECAR_BINARY";

const SUBJECT: CheckSubject = CheckSubject("extension");

/// Checks the extension, its binary, and that pi does not have the package, too, that it replaces.
pub(super) fn checks(agent_dir: &Path, project: &Path, has_pi: bool) -> Vec<InstallationCheck> {
    let directories = [agent_dir.to_path_buf(), project.join(HOST_DIRECTORY)];
    let packages: Vec<Package> = directories.iter().flat_map(|of| packages(of)).collect();
    let named = |name: &str| packages.iter().find(|package| package.name == name);
    let Some(package) = named(PACKAGE) else {
        return vec![if has_pi {
            SUBJECT.warn("not installed in pi", "workflow-sidecar install pi")
        } else {
            SUBJECT.ok("not installed, because pi is not installed")
        }];
    };
    let replaced = named(REPLACED_PACKAGE).map(|replaced| {
        let source = shown(&replaced.source);
        // Both would act.
        let text = format!("{source} is also installed, and both would start workflows");
        SUBJECT.fail(text, format!("pi remove {source}"))
    });
    let checks = [extension(package), sidecar(package)];
    checks.into_iter().chain(replaced).collect()
}

/// Checks the extension, in the version of this binary.
fn extension(package: &Package) -> InstallationCheck {
    let (source, this) = (shown(&package.source), env!("CARGO_PKG_VERSION"));
    match package.version.as_deref() {
        None => SUBJECT.warn(
            format!("{source} is configured and not downloaded yet, so its version is not known"),
            "start pi once: it downloads missing packages",
        ),
        Some(version) if version == this => SUBJECT.ok(format!("{version}: {source}")),
        Some(other) => SUBJECT.fail(
            format!(
                "version {}, but this binary is version {this}: {source}",
                shown(other)
            ),
            "install the same version of both: pi update --extensions",
        ),
    }
}

/// Checks the binary that the extension starts: that of the package for this platform, the one that the environment
/// names, or that of the PATH, in this order.
fn sidecar(extension: &Package) -> InstallationCheck {
    const SUBJECT: CheckSubject = CheckSubject("sidecar");
    let file = format!("{PACKAGE}{}", env::consts::EXE_SUFFIX);
    let packaged = packaged_binary(&extension.directory, &file);
    let named = env::var_os(BINARY_VARIABLE).filter(|path| !path.is_empty());
    let found = packaged
        .map(|path| ("the package for this platform", path))
        .or(named.map(|path| (BINARY_VARIABLE, path.into())))
        .or_else(|| Some(("the PATH", on_path(PACKAGE)?)));
    let Some((from, path)) = found else {
        let text = format!(
            "the extension finds no binary: not in a package for this platform, not in {BINARY_VARIABLE}, not on the PATH"
        );
        let help = "cargo install --locked --path crates/workflow-sidecar, or npm install without --omit=optional";
        return SUBJECT.fail(text, help);
    };
    let shown = path.display();
    if !path.is_file() {
        let text = format!("{from} is {shown}, which does not exist");
        return SUBJECT.fail(text, "correct the path");
    }
    let same = |a: &Path, b: &Path| a.canonicalize().ok() == b.canonicalize().ok();
    match env::current_exe() {
        Ok(this) if same(&this, &path) => SUBJECT.ok(format!("this binary, from {from}: {shown}")),
        _ => SUBJECT.warn(
            format!("another binary, from {from}: {shown}"),
            format!("run `{shown} doctor` to check that one"),
        ),
    }
}

/// Finds the binary of the package for this platform, as Node resolves it from the extension.
fn packaged_binary(extension: &Path, file: &str) -> Option<PathBuf> {
    let os = match env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        os => os,
    };
    let arch = match env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        arch => arch,
    };
    let binary = format!("node_modules/{PACKAGE}-{os}-{arch}/bin/{file}");
    // The real path, as Node follows links.
    let extension = extension.canonicalize().ok()?;
    let mut binaries = extension.ancestors().map(|above| above.join(&binary));
    binaries.find(|binary| binary.is_file())
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::super::CheckStatus;
    use std::fs;

    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn agent_dir(packages: &str) -> TempDir {
        let directory = tempfile::tempdir().unwrap();
        write(
            directory.path(),
            "settings.json",
            &format!(r#"{{"packages": {packages}}}"#),
        );
        directory
    }

    fn found(directory: &TempDir) -> InstallationCheck {
        checks(directory.path(), Path::new("/nowhere"), true).remove(0)
    }

    #[test]
    fn an_installed_package_has_the_version_of_its_manifest() {
        let directory = agent_dir(r#"["npm:other", {"source": "npm:workflow-sidecar@0.0.1"}]"#);
        assert_eq!(found(&directory).status, CheckStatus::Fail);
        let manifest = format!(
            r#"{{"name": "workflow-sidecar", "version": "{}"}}"#,
            env!("CARGO_PKG_VERSION")
        );
        write(
            directory.path(),
            "npm/node_modules/workflow-sidecar/package.json",
            &manifest,
        );
        assert_eq!(found(&directory).status, CheckStatus::Ok);
    }

    #[test]
    fn a_local_package_is_known_by_its_name() {
        let directory = agent_dir(r#"["./here"]"#);
        assert_eq!(found(&directory).status, CheckStatus::Warn);
        write(
            directory.path(),
            "here/package.json",
            r#"{"name": "workflow-sidecar", "version": "0.0.1"}"#,
        );
        assert_eq!(found(&directory).status, CheckStatus::Fail);
    }

    #[test]
    fn a_value_that_is_not_a_list_of_packages_has_none() {
        for packages in ["7", "[7, null, {}]", "{"] {
            assert_eq!(
                found(&agent_dir(packages)).status,
                CheckStatus::Warn,
                "{packages}"
            );
        }
    }

    #[test]
    fn the_replaced_package_beside_the_extension_fails() {
        let directory =
            agent_dir(r#"["npm:workflow-sidecar", "npm:@harms-haus/pi-workflows@1.0.0"]"#);
        let found = checks(directory.path(), Path::new("/nowhere"), true);
        let replaced = found.last().unwrap();
        assert_eq!(replaced.status, CheckStatus::Fail);
        assert!(replaced.text.contains("both would start workflows"));
    }
}
