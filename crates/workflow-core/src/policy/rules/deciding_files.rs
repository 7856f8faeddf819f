//! Files that decide what a command runs.

use workflow_shell::{Effect, SimpleCommand, UnknownReason, Word};

/// Programs, and the files of their directory that decide what they run.
#[rustfmt::skip] // A row a line.
const FILES: &[(&[&str], &[&str])] = &[
    (&["make", "gmake"], &["GNUmakefile", "makefile", "Makefile"]),
    (&["npm", "pnpm", "yarn", "bun", "npx", "pnpx", "bunx", "deno"], &["package.json", ".npmrc", ".yarnrc.yml", "bunfig.toml", "deno.json"]),
    (&["cargo"], &["Cargo.toml", "build.rs", ".cargo/config.toml", ".cargo/config"]),
    (&["just", "task"], &["justfile", "Justfile", ".justfile", "Taskfile.yml", "Taskfile.yaml"]),
    (&["python", "python3", "pytest", "tox", "nox", "uv", "poetry", "pdm", "hatch"],
     &["pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", "setup.py", "conftest.py", "noxfile.py", "manage.py"]),
    (&["rake", "bundle", "composer", "mix"], &["Rakefile", "Gemfile", "composer.json", "mix.exs"]),
    (&["mvn", "mvnw", "gradle", "gradlew"], &["pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"]),
    (&["cmake", "ctest", "ninja"], &["CMakeLists.txt", "CMakePresets.json", "CTestTestfile.cmake", "build.ninja"]),
    (&["docker", "podman"], &["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml", "Dockerfile"]),
    (&["git"], &[".git/config"]),
];

/// Files of any directory that decide what programs run that only read. A directory counts with all that is in it.
#[rustfmt::skip] // A list.
const ANYWHERE: &[&str] = &[
    ".git", ".cargo", ".mvn", ".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn", ".envrc", "rust-toolchain", "rust-toolchain.toml", "pip.conf",
    ".gitmodules", ".mise.toml", "mise.toml", ".tool-versions",
];

/// Returns whether a path names a file that decides what programs run that only read.
pub(super) fn decides_anywhere(path: &str) -> bool {
    let is_one = |part: &str| ANYWHERE.iter().any(|name| name.eq_ignore_ascii_case(part));
    path.split('/').any(is_one)
}

/// Returns the files that decide what a command runs, from its directory: those of its program, the program or script that it
/// names, and what its options and settings name. NUL stands for a part that only the shell knows.
pub(super) fn deciding_files(command: &SimpleCommand) -> Vec<String> {
    let words = command.words.iter().map(Word::shape);
    let words: Vec<&str> = words.take_while(|word| *word != "--").collect();
    let name = words.first().copied().unwrap_or_default();
    let program = name.rsplit('/').next().unwrap_or_default();
    let row = FILES.iter().find(|(names, _)| names.contains(&program));
    let mut files = row.map_or_else(Vec::new, |(_, files)| files.to_vec());
    files.extend(Some(name).filter(|name| name.contains('/')));
    let runs_script = matches!(
        &command.effect,
        Effect::Unknown(unknown) if matches!(unknown.reason, UnknownReason::Code | UnknownReason::HiddenCode)
    );
    // The options of git name what it works on.
    let takes_files = runs_script || row.is_some() && program != "git";
    for pair in words.windows(2).filter(|_| takes_files) {
        let (word, is_value) = (pair[1], pair[0].starts_with('-'));
        files.extend(word.split('=').skip(1));
        if let Some(option) = word.strip_prefix('-') {
            files.extend(option.get(1..).filter(|_| !option.starts_with('-')));
        } else if is_value || runs_script {
            files.push(word);
            // What follows a script is for the script.
            if !is_value {
                break;
            }
        }
    }
    files.retain(|file| !file.is_empty());
    files.into_iter().map(str::to_owned).collect()
}
