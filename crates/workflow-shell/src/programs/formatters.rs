//! Formatters and linters that can repair files.

use super::arguments::OptionStyle::Words;
use super::write_rules::Condition::{AtLeast, With, Without};
use super::write_rules::WriteRule::{Values, When, Writing};
use super::write_rules::WriteTarget::{Operands, Somewhere};
use super::write_rules::{ProgramRow, row};

#[rustfmt::skip] // A row a line.
pub(super) const FORMATTERS: &[ProgramRow] = &[
    row(&["prettier"], &["--parser", "--config", "--ignore-path"], &[When(&[With(&["-w", "--write"])], Operands)]),
    row(&["eslint", "standard", "xo", "stylelint", "oxlint", "tslint", "markdownlint", "markdownlint-cli2", "ktlint", "swiftlint", "golangci-lint", "yamlfix"], &["-c", "--config", "--ext", "-o", "--output-file", "-f", "--format", "--rule", "--max-warnings"], &[When(&[With(&["--fix", "--fix-suggestions", "-F", "--format-fix", "--autocorrect"])], Operands), Values(&["-o", "--output-file"])]),
    row(&["biome", "rome"], &[], &[When(&[With(&["--write", "--apply", "--apply-unsafe", "--fix", "--unsafe"])], Somewhere), Writing(&[("init", &[]), ("migrate", &[With(&["--write"])])])]),
    row(&["black", "yapf3"], &["-c", "--code", "-l", "--line-length", "--config", "-t"], &[When(&[AtLeast(1), Without(&["--check", "--diff", "-c", "--code"])], Operands)]),
    row(&["isort"], &["--profile", "-l", "--settings-path"], &[When(&[AtLeast(1), Without(&["--check", "--check-only", "-c", "--diff", "-d"])], Operands)]),
    row(&["ruff"], &["--select", "--ignore", "--config", "--output-format"], &[Writing(&[("format", &[Without(&["--check", "--diff"])]), ("clean", &[])]), When(&[With(&["--fix", "--fix-only", "--unsafe-fixes", "--add-noqa"]), Without(&["--diff"])], Somewhere)]),
    row(&["autopep8", "yapf", "autoflake", "clang-format", "cmake-format", "stylish-haskell", "ormolu", "fourmolu", "perltidy", "docformatter"], &["--max-line-length", "--style", "--mode", "-m"], &[When(&[With(&["-i", "--in-place", "--inplace"])], Operands), When(&[With(&["--mode"])], Somewhere)]),
    ProgramRow { names: &["gofmt", "goimports", "gofumpt", "golines", "gci"], style: Words, takes: &["-r", "-local"], rules: &[When(&[With(&["-w"])], Operands)] },
    row(&["shfmt"], &["-i", "-ln"], &[When(&[With(&["-w", "--write"])], Operands)]),
    row(&["rustfmt", "taplo-format", "nixfmt", "alejandra"], &["--edition", "--config", "--config-path", "--emit"], &[When(&[AtLeast(1), Without(&["--check", "-c"])], Operands)]),
    row(&["taplo", "dprint", "treefmt"], &[], &[Writing(&[("fmt", &[Without(&["--check", "--diff"])]), ("format", &[Without(&["--check", "--diff"])])])]),
    row(&["rubocop", "erb_lint", "standardrb"], &["-c", "--config", "--only", "-f", "--format"], &[When(&[With(&["-a", "-A", "-x", "--autocorrect", "--autocorrect-all", "--auto-correct", "--fix"])], Operands)]),
    row(&["swiftformat", "scalafmt", "google-java-format"], &[], &[When(&[AtLeast(1), Without(&["--lint", "--test", "--check", "--dryrun", "-n", "--dry-run"])], Operands)]),
    row(&["ast-grep", "sg", "comby", "fastmod", "semgrep", "codemod", "jscodeshift", "2to3"], &["-p", "--pattern", "-r", "--rewrite", "-l", "--lang"], &[When(&[With(&["-U", "--update-all", "-i", "--interactive", "--in-place", "--autofix", "-w", "--accept-all"])], Somewhere)]),
    row(&["pre-commit", "lint-staged", "husky", "changeset", "lefthook", "codespell"], &[], &[Writing(&[("run", &[]), ("install", &[]), ("autoupdate", &[]), ("uninstall", &[])]), When(&[With(&["-w", "--write-changes"])], Somewhere)]),
    row(
        &["stylua", "mdformat", "yamlfmt", "buildifier", "pyupgrade", "add-trailing-comma", "reorder-python-imports", "phpcbf", "pint", "nixpkgs-fmt", "csharpier", "ktfmt", "fantomas", "nbstripout", "sort-package-json", "doctoc"],
        &["--config"],
        &[When(&[AtLeast(1), Without(&["--check", "-c", "--diff", "-d", "--lint", "-lint", "-n", "-mode", "--mode", "--dry-run", "--dryrun", "--test"])], Operands)],
    ),
    row(&["rimraf", "del", "del-cli", "mkdirp", "cpx", "cpy", "ncp", "copyfiles"], &[], &[When(&[AtLeast(1)], Somewhere)]),
    row(&["ncu", "npm-check-updates"], &[], &[When(&[With(&["-u", "--upgrade"])], Somewhere)]),
    row(&["php-cs-fixer", "sqlfluff", "djlint", "rector"], &[], &[Writing(&[("fix", &[Without(&["--dry-run"])]), ("format", &[]), ("process", &[Without(&["--dry-run"])])]), When(&[With(&["--reformat"])], Somewhere)]),
    row(&["buf"], &[], &[Writing(&[("format", &[With(&["-w", "--write"])]), ("generate", &[])])]),
];
