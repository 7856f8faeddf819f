//! Package managers, and the scripts they run.
//!
//! Subcommands that query, test, lint or build count as reading, and so do scripts with such a name. Installing,
//! changing dependencies and all other scripts count as writing.

use super::arguments::OptionStyle::{Letters, Words};
use super::write_rules::Condition::{AtLeast, AtMost, Not, With, Without};
use super::write_rules::WriteRule::{Reading, Values, When, Writing};
use super::write_rules::{ProgramRow, WriteTarget};

const DRY: &[&str] = &["-n", "--dry-run"];

#[rustfmt::skip] // A row a line.
pub(super) const PACKAGES: &[ProgramRow] = &[
    ProgramRow {
        names: &["npm", "pnpm"],
        style: Letters,
        takes: &["-C", "--prefix", "--filter", "-F", "-w", "--workspace", "--loglevel", "--registry", "--dir"],
        rules: &[Reading(&[
            ("audit", &[Not(&["fix"]), Without(&["--fix"])]), ("bin", &[]), ("bugs", &[]), ("config get", &[]), ("config list", &[]),
            ("config ls", &[]), ("docs", &[]), ("doctor", &[]), ("explain", &[]), ("find-dupes", &[]), ("fund", &[]),
            ("get", &[]), ("help", &[]), ("info", &[]), ("la", &[]), ("licenses", &[]), ("list", &[]), ("ll", &[]), ("ls", &[]), ("outdated", &[]),
            ("owner ls", &[]), ("pack", &[With(DRY)]), ("ping", &[]), ("pkg get", &[]), ("prefix", &[]), ("publish", &[With(DRY)]),
            ("install", &[With(DRY)]), ("ci", &[With(DRY)]), ("query", &[]), ("root", &[]), ("search", &[]), ("show", &[]), ("store path", &[]), ("token list", &[]), ("v", &[]),
            ("version", &[AtMost(0)]), ("versions", &[]), ("view", &[]), ("whoami", &[]), ("why", &[]),
        ])],
    },
    ProgramRow {
        names: &["yarn"],
        style: Letters,
        takes: &["--cwd"],
        rules: &[
            When(&[AtMost(0), Without(&["--version", "-v", "--help", "-h"])], WriteTarget::Somewhere),
            Reading(&[
                ("audit", &[]), ("bin", &[]), ("config get", &[]), ("config list", &[]), ("help", &[]), ("info", &[]), ("licenses", &[]),
                ("list", &[]), ("npm info", &[]), ("npm audit", &[]), ("outdated", &[]), ("versions", &[]), ("why", &[]), ("workspaces info", &[]), ("workspaces list", &[]),
            ]),
        ],
    },
    ProgramRow {
        names: &["bun"],
        style: Letters,
        takes: &["--cwd"],
        rules: &[Writing(&[
            ("add", &[]), ("build", &[With(&["--outdir", "--outfile"])]), ("create", &[]), ("i", &[]), ("init", &[]), ("install", &[]), ("link", &[]), ("patch", &[]),
            ("remove", &[]), ("rm", &[]), ("unlink", &[]), ("update", &[]), ("upgrade", &[]), ("publish", &[]), ("pm cache", &[]), ("pm trust", &[]),
        ])],
    },
    ProgramRow {
        names: &["deno"],
        style: Letters,
        takes: &[],
        rules: &[Writing(&[
            ("add", &[]), ("cache", &[]), ("compile", &[]), ("fmt", &[Without(&["--check"])]), ("init", &[]), ("install", &[]), ("lint", &[With(&["--fix"])]),
            ("remove", &[]), ("uninstall", &[]), ("upgrade", &[]), ("vendor", &[]), ("publish", &[]), ("run", &[With(&["-A", "--allow-write", "--allow-all"])]),
        ])],
    },
    ProgramRow {
        names: &["pip", "pip2", "pip3", "pipx", "easy_install"],
        style: Letters,
        takes: &["-r", "-c", "-i", "--index-url", "-t", "--target"],
        rules: &[Reading(&[
            ("cache dir", &[]), ("cache info", &[]), ("cache list", &[]), ("check", &[]), ("config get", &[]), ("config list", &[]), ("debug", &[]),
            ("download", &[With(DRY)]), ("environment", &[]), ("freeze", &[]), ("help", &[]), ("index", &[]), ("inspect", &[]), ("install", &[With(DRY)]), ("list", &[]),
            ("show", &[]), ("search", &[]),
        ])],
    },
    ProgramRow {
        names: &["uv", "poetry", "pdm", "hatch", "pipenv", "rye", "pixi"],
        style: Letters,
        takes: &["--directory", "--project", "-p", "--python", "-C"],
        rules: &[Reading(&[
            ("build", &[]), ("cache dir", &[]), ("check", &[]), ("config", &[AtMost(1)]), ("env info", &[]), ("env list", &[]), ("export", &[Without(&["-o", "--output", "--output-file"])]),
            ("graph", &[]), ("help", &[]), ("info", &[]), ("list", &[]), ("lock", &[With(&["--check", "--locked"])]), ("pip check", &[]), ("pip freeze", &[]), ("pip list", &[]), ("pip show", &[]), ("pip tree", &[]),
            ("python find", &[]), ("python list", &[]), ("search", &[]), ("self version", &[]), ("show", &[]), ("sync", &[With(DRY)]), ("test", &[]), ("tool dir", &[]), ("tool list", &[]), ("tree", &[]), ("version", &[AtMost(0)]), ("outdated", &[]),
        ])],
    },
    ProgramRow {
        names: &["conda", "mamba", "micromamba"],
        style: Letters,
        takes: &["-n", "--name", "-p", "--prefix", "-c"],
        rules: &[Reading(&[("config", &[With(&["--show", "--get", "--show-sources"])]), ("env list", &[]), ("info", &[]), ("list", &[]), ("search", &[])])],
    },
    ProgramRow {
        names: &["cargo"],
        style: Letters,
        takes: &["-p", "--package", "--manifest-path", "--config", "-Z", "--target", "--features", "-F", "--bin", "--test", "--example", "-j", "--color", "-C"],
        rules: &[Writing(&[
            ("add", &[Without(DRY)]), ("bump", &[]), ("clippy", &[With(&["--fix"])]), ("dist", &[]), ("edit", &[]), ("fix", &[]), ("fmt", &[Without(&["--check"])]),
            ("generate", &[]), ("generate-lockfile", &[]), ("init", &[]), ("insta accept", &[]), ("insta reject", &[]), ("insta review", &[]),
            ("insta test", &[With(&["--accept", "--accept-unseen", "--review", "--unreferenced"])]), ("install", &[Without(&["--list"])]), ("binstall", &[]), ("login", &[]),
            ("machete", &[With(&["--fix"])]), ("new", &[]), ("publish", &[Without(DRY)]), ("release", &[]), ("remove", &[Without(DRY)]), ("rm", &[Without(DRY)]),
            ("set-version", &[]), ("sort", &[Without(&["-c", "--check"])]), ("sqlx prepare", &[Without(&["--check"])]), ("uninstall", &[]), ("update", &[Without(DRY)]), ("upgrade", &[Without(DRY)]),
            ("vendor", &[]), ("yank", &[]), ("dylint", &[With(&["--fix"])]), ("outdated", &[With(&["--fix"])]), ("workspaces", &[]), ("hakari", &[]), ("fuzz add", &[]), ("fuzz init", &[]), ("deny init", &[]), ("nextest", &[With(&["--update"])]),
        ])],
    },
    ProgramRow {
        names: &["rustup"],
        style: Letters,
        takes: &["--toolchain"],
        rules: &[Reading(&[
            ("check", &[]), ("component list", &[]), ("doc", &[]), ("help", &[]), ("show", &[]), ("target list", &[]), ("toolchain list", &[]), ("which", &[]),
        ])],
    },
    ProgramRow {
        names: &["go"],
        style: Words,
        takes: &["-C", "-o", "-run", "-tags", "-count", "-timeout", "-bench", "-coverprofile", "-cpuprofile", "-memprofile", "-mod", "-f"],
        rules: &[
            Writing(&[
                ("fmt", &[Without(&["-n"])]), ("fix", &[]), ("generate", &[Without(&["-n"])]), ("get", &[]), ("install", &[]), ("mod download", &[]), ("mod edit", &[Without(&["-json", "-print"])]), ("mod init", &[]),
                ("mod tidy", &[Without(&["-diff"])]), ("mod vendor", &[]), ("work edit", &[]), ("work init", &[]), ("work sync", &[]), ("work use", &[]), ("work vendor", &[]), ("clean", &[With(&["-modcache"])]), ("env", &[With(&["-w", "-u"])]),
            ]),
            When(&[With(&["-update", "-update-golden", "-golden"])], WriteTarget::Somewhere),
            Values(&["-o", "-coverprofile", "-cpuprofile", "-memprofile"]),
        ],
    },
    ProgramRow {
        names: &["gem", "bundle", "bundler", "composer", "cocoapods", "pod", "mix", "rebar3", "cabal", "stack", "opam", "luarocks", "cpan", "cpanm", "dart", "flutter", "swift", "nuget", "vcpkg", "conan"],
        style: Letters,
        takes: &["-C"],
        rules: &[Writing(&[
            ("add", &[]), ("archive", &[]), ("clean", &[]), ("config", &[]), ("create", &[]), ("deps.get", &[]), ("deps.update", &[]), ("ecto.migrate", &[]), ("fix", &[Without(DRY)]), ("format", &[Without(&["--check-formatted", "--set-exit-if-changed", "--check"])]),
            ("get", &[]), ("init", &[]), ("install", &[]), ("lock", &[]), ("new", &[]), ("package update", &[]), ("phx.new", &[]), ("pristine", &[]), ("pub add", &[]), ("pub get", &[]), ("pub upgrade", &[]), ("push", &[]), ("remove", &[]), ("require", &[]), ("setup", &[]),
            ("dump-autoload", &[]), ("uninstall", &[]), ("unpack", &[]), ("update", &[]), ("upgrade", &[]), ("vendor", &[]),
        ])],
    },
    ProgramRow {
        names: &["dotnet"],
        style: Letters,
        takes: &["-c", "-f", "-o", "--output"],
        rules: &[
            Writing(&[("add", &[]), ("format", &[Without(&["--verify-no-changes"])]), ("new", &[Not(&["list", "search"])]), ("nuget", &[]), ("publish", &[]), ("remove", &[]), ("restore", &[]), ("sln", &[]), ("tool install", &[]), ("tool update", &[]), ("ef", &[])]),
            Values(&["-o", "--output"]),
        ],
    },
    ProgramRow {
        names: &["apt", "apt-get", "aptitude", "dnf", "yum", "zypper", "apk", "brew", "port", "snap", "flatpak", "choco", "winget", "scoop", "nix-env", "emerge", "pkg"],
        style: Letters,
        takes: &["-o", "-c", "-t"],
        rules: &[Writing(&[
            ("add", &[]), ("autoremove", &[]), ("build-dep", &[]), ("bundle", &[]), ("clean", &[]), ("cleanup", &[]), ("del", &[]), ("dist-upgrade", &[]), ("download", &[]), ("erase", &[]), ("full-upgrade", &[]), ("in", &[]), ("install", &[]), ("link", &[]), ("makecache", &[]),
            ("pin", &[]), ("purge", &[]), ("reinstall", &[]), ("remove", &[]), ("rm", &[]), ("source", &[]), ("tap", &[]), ("uninstall", &[]), ("unlink", &[]), ("untap", &[]), ("update", &[]), ("upgrade", &[]),
        ])],
    },
    ProgramRow { names: &["pacman", "yay", "paru"], style: Letters, takes: &[], rules: &[When(&[With(&["-S", "-R", "-U", "--sync", "--remove", "--upgrade"]), Without(&["-s", "-i", "-p"])], WriteTarget::Somewhere)] },
    ProgramRow { names: &["dpkg", "rpm"], style: Letters, takes: &[], rules: &[When(&[With(&["-i", "-r", "-P", "-e", "-U", "-F", "--install", "--remove", "--purge", "--erase", "--upgrade", "--unpack", "--configure"]), Without(&["-q", "--query"])], WriteTarget::Somewhere)] },
    ProgramRow { names: &["nvm", "fnm", "volta", "asdf", "mise", "pyenv", "rbenv", "corepack", "sdk", "proto"], style: Letters, takes: &[], rules: &[Writing(&[("add", &[]), ("alias", &[]), ("enable", &[]), ("global", &[]), ("install", &[]), ("local", &[]), ("pin", &[]), ("plugin", &[]), ("prepare", &[]), ("reshim", &[]), ("uninstall", &[]), ("upgrade", &[])])] },
    ProgramRow { names: &["virtualenv", "venv", "cookiecutter", "degit", "create-react-app", "create-next-app", "create-vite", "yo", "ng", "create", "nx", "lerna", "turbo", "wasm-pack", "cargo-generate"], style: Letters, takes: &[], rules: &[When(&[Not(&["test", "lint", "build", "list", "ls", "run", "serve", "version", "graph", "affected", "show"]), AtLeast(1)], WriteTarget::Somewhere)] },
];

/// Returns whether name and arguments of a script indicate that it only reads: `test`, `lint:ci`, `build`.
pub(crate) fn script_reads(name: &str, arguments: &[crate::word::Word]) -> bool {
    const CHECKS: &[&str] = &[
        "test",
        "tests",
        "lint",
        "check",
        "checks",
        "typecheck",
        "types",
        "type",
        "tsc",
        "build",
        "compile",
        "coverage",
        "bench",
        "benchmark",
        "e2e",
        "unit",
        "integration",
        "ci",
        "verify",
        "validate",
        "audit",
        "start",
        "dev",
        "serve",
        "preview",
        "spec",
        "smoke",
        "storybook",
        "jest",
        "vitest",
        "eslint",
        "size",
        "watch",
    ];
    const CHANGES: &[&str] = &[
        "fix",
        "write",
        "update",
        "format",
        "fmt",
        "gen",
        "generate",
        "codegen",
        "release",
        "publish",
        "deploy",
        "clean",
        "install",
        "migrate",
        "migration",
        "init",
        "seed",
        "prettier",
        "sync",
        "bump",
        "version",
        "snapshot",
        "snapshots",
        "u",
    ];
    const OPTIONS: &[&str] = &[
        "--fix",
        "--write",
        "-w",
        "-u",
        "--update",
        "--updateSnapshot",
        "--update-snapshots",
        "-o",
        "--output",
    ];
    let parts: Vec<&str> = name.split([':', '-', '_', '.', '/']).collect();
    let verified = parts.len() > 1
        && parts
            .last()
            .is_some_and(|last| ["check", "ci", "verify", "dry", "list"].contains(last));
    let checks = parts.first().is_some_and(|first| CHECKS.contains(first))
        && !parts.iter().any(|part| CHANGES.contains(part));
    let changing = arguments
        .iter()
        .any(|word| OPTIONS.contains(&word.shape().split('=').next().unwrap_or_default()));
    (verified || checks) && !changing
}
