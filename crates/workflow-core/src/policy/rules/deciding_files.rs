//! Files that decide what a command runs.

use super::call::Call;
use super::patches::path_in;
use workflow_shell::{SimpleCommand, Word, is_known_location};

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
    (&["node", "nodejs", "tsx", "ts-node"], &["package.json", "index.js", "index.mjs", "index.cjs", "index.ts"]),
    (&["go"], &["go.mod", "go.work", "main.go"]),
    (&["terraform", "tofu"], &["main.tf"]),
    (&["git"], &[".git/config"]),
];

/// Programs for which a word without a slash and a dot is a name that these files define.
#[rustfmt::skip] // A list.
const GOALS: &[&str] = &["make", "gmake", "npm", "pnpm", "yarn", "cargo", "just", "task", "rake", "mvn", "mvnw", "gradle", "gradlew", "go"];

/// Files of any directory that decide what programs run that only read. A directory counts with all that is in it.
#[rustfmt::skip] // A list.
const ANYWHERE: &[&str] = &[
    ".git", ".cargo", ".mvn", ".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn", ".envrc", "rust-toolchain", "rust-toolchain.toml", "pip.conf",
    ".gitmodules", ".mise.toml", "mise.toml", ".tool-versions",
    ".venv", "venv", "node_modules", "vendor",
];

/// Returns whether a path names a file that decides what programs run that only read.
pub(super) fn decides_anywhere(path: &str) -> bool {
    let is_one = |part: &str| ANYWHERE.iter().any(|name| name.eq_ignore_ascii_case(part));
    path.split('/').any(is_one)
}

/// Returns the directories in which git may find a repository for a command, unless the project's root is its directory; `None`
/// if they are not known. Any directory with a `HEAD` is one, and its configuration names programs.
pub(super) fn directories_of_git(command: &SimpleCommand, call: &Call<'_>) -> Option<Vec<String>> {
    let mut words = command.words.iter();
    if words.next().and_then(Word::program) != Some("git") {
        return Some(Vec::new());
    }
    let mut directory = command.directory.clone()?;
    while let Some(word) = words.next().filter(|word| word.shape().starts_with('-')) {
        match word.shape() {
            "-C" => {
                let inner = words.next().and_then(Word::text)?;
                directory = path_in(&directory, inner);
            }
            "-c" => drop(words.next()),
            "-p" | "-P" | "--paginate" | "--literal-pathspecs" | "--version" => {}
            option if option.starts_with("--no-") => {}
            _ => return None,
        }
    }
    if call.is_same_directory(&directory, "") {
        return Some(Vec::new());
    }
    let above = directory.match_indices('/').map(|(at, _)| &directory[..at]);
    let all = above.filter(|path| !path.is_empty()).chain([&*directory]);
    Some(all.map(ToOwned::to_owned).collect())
}

/// Returns the files that may decide what a command runs, from its directory: those of its program, what its words name, and both
/// in a directory that they name. NUL stands for a part that only the shell knows.
pub(super) fn deciding_files(command: &SimpleCommand) -> Vec<String> {
    const SEPARATORS: [char; 4] = ['=', ':', ',', '@'];
    let words = command.words.iter().map(Word::shape);
    let words: Vec<&str> = words.filter(|word| *word != "--").collect();
    let name = words.first().copied().unwrap_or_default();
    let program = name.rsplit('/').next().unwrap_or_default();
    let row = FILES.iter().find(|(names, _)| names.contains(&program));
    let row = row.map_or(&[][..], |(_, files)| files);
    let is_own = name.contains('/') && !command.words.first().is_some_and(is_known_location);
    // Operands of a program of the project are for it.
    let is_free = |word: &str| is_own || GOALS.contains(&program) && !word.contains(['/', '.']);
    let mut named = vec![if name.contains('/') { name } else { "" }];
    // What git works on is no code.
    for pair in words.windows(2).filter(|_| program != "git") {
        let word = pair[1];
        let is_value = pair.iter().any(|word| word.starts_with('-')) || word.contains('=');
        if is_value || !is_free(word) {
            // `-Cdocs`
            let option = word.strip_prefix('-').filter(|_| !word.starts_with("--"));
            let joined = option.and_then(|option| option.get(1..));
            named.extend(word.split(SEPARATORS).chain([word]).chain(joined));
        }
    }
    named.retain(|name| !name.is_empty() && !name.starts_with('-'));
    named.dedup();
    let inner = [row, &named].concat();
    let within = |directory| inner.iter().map(move |file| path_in(directory, file));
    // `python -m docs.x`
    let modules = named.iter().map(|name| name.replace('.', "/"));
    let directories = [""].iter().chain(&named);
    directories
        .flat_map(|directory| within(directory))
        .chain(modules)
        .collect()
}
