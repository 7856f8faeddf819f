//! Git: the subcommands that read.
//!
//! Every other subcommand counts as writing, aliases included: they can be anything. `fetch` counts as reading
//! because no file of the project changes.

use super::arguments::OptionStyle;
use super::write_rules::Condition::{AtMost, Not, With, Without};
use super::write_rules::{ProgramRow, WriteRule};
use crate::analysis::FileWrite;
use crate::word::Word;

const LISTING: &[&str] = &[
    "-l",
    "--list",
    "--contains",
    "--no-contains",
    "--merged",
    "--no-merged",
    "--points-at",
    "--show-current",
];
const CHANGING: &[&str] = &[
    "-d",
    "-D",
    "-m",
    "-M",
    "-c",
    "-C",
    "-f",
    "-u",
    "--delete",
    "--move",
    "--copy",
    "--force",
    "--set-upstream-to",
    "--unset-upstream",
    "--edit-description",
];
const SETTING: &[&str] = &[
    "--unset",
    "--unset-all",
    "--add",
    "--replace-all",
    "--remove-section",
    "--rename-section",
    "-e",
    "--edit",
];
const DRY: &[&str] = &["-n", "--dry-run"];

/// Options with a value before the subcommand, and the few after it that matter.
pub(crate) const TAKES: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--super-prefix",
    "--config-env",
    "--message",
    "--format",
    "--output",
    "--sort",
    "--contains",
    "--points-at",
    "-S",
    "-G",
    "--author",
    "--since",
    "--until",
    "--grep",
];

#[rustfmt::skip] // A row a line.
pub(super) const GIT: ProgramRow = ProgramRow {
    names: &["git"],
    style: OptionStyle::Letters,
    takes: TAKES,
    rules: &[
        WriteRule::Values(&["--output"]),
        WriteRule::Reading(&[
            ("add", &[With(DRY)]),
            ("annotate", &[]),
            ("apply", &[With(&["--check", "--stat", "--numstat", "--summary"]), Without(&["--apply"])]),
            ("archive", &[Without(&["-o", "--output"])]),
            ("bisect log", &[]),
            ("bisect view", &[]),
            ("blame", &[]),
            ("branch", &[AtMost(0), Without(CHANGING)]),
            ("branch", &[With(LISTING), Without(CHANGING)]),
            ("bundle list-heads", &[]),
            ("bundle verify", &[]),
            ("cat-file", &[]),
            ("check-attr", &[]),
            ("check-ignore", &[]),
            ("check-mailmap", &[]),
            ("check-ref-format", &[]),
            ("cherry", &[]),
            ("clean", &[With(DRY)]),
            ("column", &[]),
            ("commit", &[With(&["--dry-run"])]),
            ("config", &[With(&["--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list"]), Without(SETTING)]),
            ("config", &[AtMost(1), Without(SETTING)]),
            ("config get", &[]),
            ("config list", &[]),
            ("count-objects", &[]),
            ("describe", &[]),
            ("diff", &[]),
            ("diff-files", &[]),
            ("diff-index", &[]),
            ("diff-tree", &[]),
            ("fetch", &[]),
            ("for-each-ref", &[]),
            ("format-patch", &[With(&["--stdout"])]),
            ("fsck", &[Without(&["--lost-found"])]),
            ("get-tar-commit-id", &[]),
            ("grep", &[Without(&["-O", "--open-files-in-pager"])]),
            ("hash-object", &[Without(&["-w"])]),
            ("help", &[]),
            ("interpret-trailers", &[Without(&["--in-place"])]),
            ("lfs env", &[]),
            ("lfs ls-files", &[]),
            ("lfs status", &[]),
            ("log", &[]),
            ("ls-files", &[]),
            ("ls-remote", &[Without(&["--upload-pack", "--exec"])]),
            ("ls-tree", &[]),
            ("merge-base", &[]),
            ("merge-file", &[With(&["-p", "--stdout"])]),
            ("merge-tree", &[]),
            ("mv", &[With(DRY)]),
            ("name-rev", &[]),
            ("notes", &[AtMost(0)]),
            ("notes list", &[]),
            ("notes show", &[]),
            ("patch-id", &[]),
            ("push", &[With(DRY)]),
            ("range-diff", &[]),
            ("reflog", &[Not(&["expire", "delete", "drop", "write"])]),
            ("remote", &[AtMost(0)]),
            ("remote get-url", &[]),
            ("remote show", &[]),
            ("request-pull", &[]),
            ("rerere diff", &[]),
            ("rerere status", &[]),
            ("rev-list", &[]),
            ("rev-parse", &[]),
            ("rm", &[With(DRY)]),
            ("shortlog", &[]),
            ("show", &[]),
            ("show-branch", &[]),
            ("show-ref", &[]),
            ("sparse-checkout list", &[]),
            ("stash list", &[]),
            ("stash show", &[]),
            ("status", &[]),
            ("stripspace", &[]),
            ("submodule", &[AtMost(0)]),
            ("submodule status", &[]),
            ("submodule summary", &[]),
            ("symbolic-ref", &[AtMost(1), Without(&["-d", "--delete"])]),
            ("tag", &[AtMost(0)]),
            ("tag", &[With(&["-l", "--list", "-n", "--contains", "--points-at", "--merged", "-v", "--verify"]), Without(&["-d", "--delete"])]),
            ("var", &[]),
            ("verify-commit", &[]),
            ("verify-tag", &[]),
            ("version", &[]),
            ("whatchanged", &[]),
            ("worktree list", &[]),
        ]),
    ],
};

/// Returns a write if a setting given with `-c` names a program, because git runs it.
pub(crate) fn configured_programs(words: &[Word]) -> Option<FileWrite> {
    const HARMLESS: &[&str] = &["cat", "less", "true", "false", ""];
    words
        .iter()
        .zip(words.iter().skip(1))
        .filter(|(option, _)| option.shape() == "-c" || option.shape() == "--config-env")
        .filter_map(|(_, setting)| setting.shape().split_once('='))
        .find(|(key, value)| runs_its_value(&key.to_ascii_lowercase()) && !HARMLESS.contains(value))
        .map(|(key, _)| FileWrite::new(format!("`git -c {key}`"), None))
}

fn runs_its_value(key: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "pager",
        "editor",
        "external",
        "sshcommand",
        "fsmonitor",
        "hookspath",
        "helper",
        "program",
        "command",
        "cmd",
        "textconv",
        "driver",
        "clean",
        "smudge",
        "process",
        "askpass",
    ];
    key.starts_with("alias.")
        || key.starts_with("pager.")
        || ENDINGS.iter().any(|ending| key.ends_with(ending))
}
