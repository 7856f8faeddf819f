//! Programs that write files, a row each.
//!
//! A program without a row reads, as far as this module is concerned: what a project's own
//! programs and scripts do cannot be seen in the line that starts them. Build tools, compilers
//! without `-o` and test runners have no row for what they put into their own output directories.

use super::arguments::Style::{Letters, Words};
use super::table::If::{AtLeast, AtMost, With, Without};
use super::table::Place::{After, Here, In, Last, Operands, Somewhere};
use super::table::Rule::{Values, When, Writing};
use super::table::{Row, Rule};

/// The rows of a program, by its name without its directory.
pub(super) fn rows(name: &str) -> impl Iterator<Item = &'static Row> {
    [
        FILES,
        ARCHIVES,
        OUTPUTS,
        EDITORS,
        FORMATTERS,
        MACHINE,
        super::packages::ROWS,
    ]
    .into_iter()
    .flatten()
    .chain([&super::git::ROW])
    .filter(move |row| row.names.contains(&name))
}

/// Whether a name is that of a tool that projects install: `yarn prettier` runs it.
pub(super) fn is_tool(name: &str) -> bool {
    [OUTPUTS, FORMATTERS, MACHINE]
        .into_iter()
        .flatten()
        .any(|row| row.names.contains(&name))
}

/// Whether a program formats or repairs all files of the directories that it is given.
pub(super) fn is_formatter(name: &str) -> bool {
    FORMATTERS.iter().any(|row| row.names.contains(&name))
}

const fn always(
    names: &'static [&'static str],
    takes: &'static [&'static str],
    rules: &'static [Rule],
) -> Row {
    Row {
        names,
        style: Letters,
        takes,
        rules,
    }
}

/// What makes, changes, moves and removes files.
#[rustfmt::skip] // A row a line.
const FILES: &[Row] = &[
    always(&["rm", "rmdir", "unlink", "srm", "trash", "trash-put"], &[], &[When(&[], Operands)]),
    always(&["shred"], &["-n", "--iterations", "-s", "--size", "--random-source"], &[When(&[], Operands)]),
    always(&["touch"], &["-d", "--date", "-r", "--reference", "-t", "--time"], &[When(&[], Operands)]),
    always(&["mkdir", "mkfifo"], &["-m", "--mode"], &[When(&[], Operands)]),
    always(&["mknod"], &["-m", "--mode"], &[When(&[], Somewhere)]),
    always(&["truncate"], &["-s", "--size", "-r", "--reference"], &[When(&[], Operands)]),
    always(&["tee", "sponge"], &[], &[When(&[], Operands)]),
    always(&["fallocate"], &["-l", "--length", "-o", "--offset"], &[When(&[], Operands)]),
    always(
        &["chmod", "chown", "chgrp"],
        &["--reference"],
        // `chmod -x file` has no mode before the file.
        &[When(&[With(MODES)], Operands), When(&[Without(MODES)], After(1))],
    ),
    always(&["setfacl", "chattr", "setfattr", "xattr", "chflags"], &[], &[When(&[], Somewhere)]),
    always(&["cp"], &COPYING, &[When(&[], Last(&["-t", "--target-directory"]))]),
    always(&["install"], &COPYING, &[When(&[Without(&["-d", "--directory"])], Last(&["-t", "--target-directory"])), When(&[With(&["-d", "--directory"])], Operands)]),
    always(&["ln", "link"], &COPYING, &[When(&[AtMost(1), Without(&["-t", "--target-directory"])], Here), When(&[AtLeast(2)], Last(&["-t", "--target-directory"])), Values(&["-t", "--target-directory"])]),
    always(&["mv"], &COPYING, &[When(&[], Operands), Values(&["-t", "--target-directory"])]),
    always(&["rename", "prename", "mmv", "vidir"], &[], &[When(&[Without(&["-n", "--nono", "--no-act"])], Somewhere)]),
    always(&["mktemp"], &["-p", "--suffix"], &[When(&[Without(&["-u", "--dry-run"])], Somewhere)]),
    always(&["split"], &["-b", "-l", "-n", "-a", "-C"], &[When(&[AtMost(1)], Here), When(&[AtLeast(2)], After(1))]),
    always(&["csplit"], &["-b", "-f", "--prefix", "-n"], &[When(&[Without(&["-f", "--prefix"])], Here), Values(&["-f", "--prefix"])]),
    always(&["patch"], &["-i", "-p", "-d", "-o", "-r"], &[
        When(&[AtMost(0), Without(DRY_PATCH)], In(&["-d", "--directory"])),
        When(&[AtLeast(1), Without(DRY_PATCH)], Operands),
        Values(&["-o", "-r"]),
    ]),
    always(&["rsync", "scp"], &[], &[When(&[With(&["-e", "--rsh", "-S", "-o"])], Somewhere)]),
    always(&["rsync"], &["-e", "-f", "--filter", "--exclude", "--include", "--exclude-from"], &[When(&[Without(&["-n", "--dry-run", "--list-only"])], Last(&[]))]),
    always(&["scp", "sftp"], &["-i", "-P", "-o", "-F", "-J", "-c", "-l", "-S"], &[When(&[], Last(&[]))]),
    always(&["sd"], &["-f", "--flags", "-n", "--max-replacements"], &[When(&[AtLeast(3), Without(&["-p", "--preview"])], After(2))]),
    always(&["dos2unix", "unix2dos", "mac2unix"], &[], &[When(&[AtLeast(1)], Operands)]),
];

/// With these, `chmod` takes no mode.
const MODES: &[&str] = &["-r", "-w", "-x", "-X", "-s", "-t", "--reference"];

const DRY_PATCH: &[&str] = &["--dry-run", "-C", "--check"];

const COPYING: [&str; 11] = [
    "-t",
    "--target-directory",
    "-S",
    "--suffix",
    "-m",
    "--mode",
    "-o",
    "--owner",
    "-g",
    "--group",
    "--context",
];

/// Archives and compression; `tar` is read on its own.
#[rustfmt::skip] // A row a line.
const ARCHIVES: &[Row] = &[
    always(&["unzip"], &["-d", "-x", "-P"], &[When(&[Without(&["-l", "-p", "-c", "-t", "-z", "-Z", "-v"]), AtLeast(1)], In(&["-d"]))]),
    always(&["zip"], &["-x", "-i"], &[When(&[AtLeast(1), Without(&["-sf"])], Somewhere)]),
    always(&["7z", "7za", "7zr"], &[], &[Writing(&[("a", &[]), ("d", &[]), ("e", &[]), ("rn", &[]), ("u", &[]), ("x", &[])])]),
    always(
        &["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lz4", "brotli", "compress", "uncompress"],
        &["-S", "-o"],
        &[When(&[AtLeast(1), Without(&["-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test"])], Operands), Values(&["-o"])],
    ),
    always(&["cpio", "pax"], &[], &[When(&[With(&["-i", "-p", "-r", "-F", "-O", "--extract", "--pass-through"])], Somewhere)]),
    always(&["unrar", "unar", "cabextract", "ditto"], &[], &[When(&[AtLeast(1)], Somewhere)]),
    always(&["ar"], &[], &[Rule::Reading(&[("t", &[]), ("tv", &[]), ("p", &[])])]),
    Row { names: &["jar"], style: Letters, takes: &[], rules: &[Writing(&[("xf", &[]), ("cf", &[]), ("xvf", &[]), ("cvf", &[]), ("uf", &[])])] },
];

/// Programs that print, unless they are told to write a file.
#[rustfmt::skip] // A row a line.
const OUTPUTS: &[Row] = &[
    always(&["sort"], &["-k", "-t", "-S", "-T", "-o", "--output"], &[Values(&["-o", "--output"])]),
    always(&["shuf", "iconv", "nl", "xmllint", "strings"], &["-o", "--output", "-n", "-f", "-t"], &[Values(&["-o", "--output"])]),
    always(&["uniq"], &["-f", "-s", "-w"], &[When(&[AtLeast(2)], After(1))]),
    always(&["tree"], &["-o", "-L", "-I", "-P"], &[Values(&["-o"])]),
    always(&["xxd"], &["-c", "-l", "-s", "-g", "-o"], &[When(&[AtLeast(2)], After(1))]),
    always(&["curl"], &CURL, &[Values(&["-o", "--output", "-D", "--dump-header", "-c", "--cookie-jar", "--trace", "--trace-ascii", "--stderr", "--libcurl", "--etag-save", "--hsts", "--alt-svc"]), When(&[With(&["-O", "--remote-name", "--remote-name-all"])], In(&["--output-dir"]))]),
    always(&["wget"], &["-O", "--output-document", "-o", "--output-file", "-P", "--directory-prefix", "-U", "--header", "-t", "-T", "--tries", "--timeout"], &[
        When(&[AtLeast(1), Without(&["-O", "--output-document", "--spider"])], In(&["-P", "--directory-prefix"])),
        Values(&["-O", "--output-document", "-o", "--output-file"]),
    ]),
    always(&["aria2c", "axel", "yt-dlp", "youtube-dl", "lftp"], &[], &[When(&[AtLeast(1)], Somewhere)]),
    always(&["http", "https", "xh"], &["-o", "--output"], &[Values(&["-o", "--output"]), When(&[With(&["-d", "--download"])], Here)]),
    always(&["jq", "yq", "tomlq", "xq", "dasel"], &["--arg", "--argjson", "--slurpfile", "--rawfile", "--indent"], &[When(&[With(&["-i", "--in-place", "--inplace"])], After(1))]),
    always(&["script"], &["-c", "-O", "-I", "-B", "-T", "-m", "-o", "--command"], &[When(&[], Operands)]),
    always(&["gpg", "gpg2"], &["-o", "--output", "-r", "--recipient", "-u"], &[Values(&["-o", "--output"]), When(&[With(&["--import", "--gen-key", "--generate-key", "--delete-keys", "--delete-secret-keys"])], Somewhere)]),
    always(&["ssh-keygen"], &["-f", "-t", "-b", "-C", "-N", "-F", "-E"], &[When(&[Without(&["-l", "-F", "-y", "-B", "-L"])], Last(&["-f"]))]),
    always(&["strace", "ltrace"], &["-o", "--output", "-e", "-p", "-s"], &[Values(&["-o", "--output"])]),
    always(&["gcc", "cc", "g++", "c++", "clang", "clang++", "ld", "as", "nasm", "tcc"], &["-o", "-I", "-L", "-D", "-x"], &[Values(&["-o"])]),
    always(&["rustc"], &["-o", "--out-dir", "--crate-type", "--edition", "--emit", "-C", "-L", "--crate-name"], &[Values(&["-o", "--out-dir"])]),
    always(&["pandoc", "dot", "protoc", "bison", "flex", "sass", "lessc", "objdump", "objcopy"], &["-o", "--output", "-t", "-f", "-T"], &[Values(&["-o", "--output"])]),
    always(&["convert", "magick", "ffmpeg", "sox", "pdftotext", "inkscape"], &[], &[When(&[AtLeast(1)], Last(&[]))]),
    Row { names: &["openssl"], style: Words, takes: &["-out", "-keyout", "-in", "-inkey", "-days", "-subj", "-newkey"], rules: &[Values(&["-out", "-keyout"])] },
    always(&["sqlite3"], &["-cmd", "-init", "-separator"], &[]),
    always(&["zig"], &[], &[Writing(&[("fmt", &[Without(&["--check"])]), ("init", &[]), ("init-exe", &[]), ("init-lib", &[])])]),
    always(&["json.tool"], &["--indent"], &[When(&[AtLeast(2)], After(1))]),
    always(&["zipfile", "tarfile"], &[], &[When(&[With(&["-e", "-c", "--extract", "--create"])], Somewhere)]),
    always(&["cProfile", "age", "mmdc"], &["-o", "--output", "-s", "-i"], &[Values(&["-o", "--output"])]),
    always(&["pg_dump", "pg_dumpall", "psql"], &["-f", "--file", "-o", "--output", "-c", "-U", "-h", "-d", "-p"], &[Values(&["-o", "--output"])]),
    always(&["pg_dump", "pg_dumpall"], &["-f", "--file"], &[Values(&["-f", "--file"])]),
    always(&["mongodump", "mongoexport", "mkcert", "plantuml", "screencapture"], &[], &[When(&[AtLeast(1)], Somewhere)]),
    always(&["tsc"], &["-p", "--project", "--outDir", "--outFile"], &[Values(&["--outDir", "--outFile"])]),
    always(&["esbuild"], &["--outfile", "--outdir"], &[Values(&["--outfile", "--outdir"])]),
    always(&["jest", "vitest", "ava", "mocha"], &["-t", "-c", "--config"], &[When(&[With(&["-u", "--update", "--updateSnapshot", "--update-snapshots"])], Somewhere)]),
    always(&["playwright"], &["-g", "--project"], &[When(&[With(&["-u", "--update-snapshots"])], Somewhere)]),
    always(&["pytest", "py.test"], &["-k", "-m", "-p", "-n", "-c", "-o", "--junitxml", "--junit-xml", "--cov-report"], &[When(&[With(&["--snapshot-update", "--update-snapshots", "--force-regen", "--inline-snapshot"])], Somewhere), Values(&["--junitxml", "--junit-xml"])]),
];

const CURL: [&str; 37] = [
    "-o",
    "--output",
    "-D",
    "--dump-header",
    "-c",
    "--cookie-jar",
    "--trace",
    "--trace-ascii",
    "--stderr",
    "--libcurl",
    "--etag-save",
    "--hsts",
    "--alt-svc",
    "--output-dir",
    "-H",
    "--header",
    "-d",
    "--data",
    "--data-raw",
    "--data-binary",
    "-X",
    "--request",
    "-u",
    "--user",
    "-A",
    "--user-agent",
    "-b",
    "--cookie",
    "-e",
    "-m",
    "--max-time",
    "-w",
    "--write-out",
    "-F",
    "--form",
    "-T",
    "-x",
];

/// Editors: what they do is said in keys, not in words.
#[rustfmt::skip] // A row a line.
const EDITORS: &[Row] = &[
    always(&["ed", "red", "ex", "vi", "vim", "nvim", "view", "vimdiff", "emacs", "nano", "pico", "micro", "joe", "helix", "hx", "code"], &["-c", "-S"], &[When(&[AtLeast(1)], Operands), When(&[AtMost(0), With(&["-c", "-S", "-e", "--eval", "--batch"])], Somewhere)]),
];

/// Formatters and linters that can repair.
#[rustfmt::skip] // A row a line.
const FORMATTERS: &[Row] = &[
    always(&["prettier"], &["--parser", "--config", "--ignore-path"], &[When(&[With(&["-w", "--write"])], Operands)]),
    always(&["eslint", "standard", "xo", "stylelint", "oxlint", "tslint", "markdownlint", "markdownlint-cli2", "ktlint", "swiftlint", "golangci-lint", "yamlfix"], &["-c", "--config", "--ext", "-o", "--output-file", "-f", "--format", "--rule", "--max-warnings"], &[When(&[With(&["--fix", "--fix-suggestions", "-F", "--format-fix", "--autocorrect"])], Operands), Values(&["-o", "--output-file"])]),
    always(&["biome", "rome"], &[], &[When(&[With(&["--write", "--apply", "--apply-unsafe", "--fix", "--unsafe"])], Somewhere), Writing(&[("init", &[]), ("migrate", &[With(&["--write"])])])]),
    always(&["black", "yapf3"], &["-c", "--code", "-l", "--line-length", "--config", "-t"], &[When(&[AtLeast(1), Without(&["--check", "--diff", "-c", "--code"])], Operands)]),
    always(&["isort"], &["--profile", "-l", "--settings-path"], &[When(&[AtLeast(1), Without(&["--check", "--check-only", "-c", "--diff", "-d"])], Operands)]),
    always(&["ruff"], &["--select", "--ignore", "--config", "--output-format"], &[Writing(&[("format", &[Without(&["--check", "--diff"])]), ("clean", &[])]), When(&[With(&["--fix", "--fix-only", "--unsafe-fixes", "--add-noqa"]), Without(&["--diff"])], Somewhere)]),
    always(&["autopep8", "yapf", "autoflake", "clang-format", "cmake-format", "stylish-haskell", "ormolu", "fourmolu", "perltidy", "docformatter"], &["--max-line-length", "--style", "--mode", "-m"], &[When(&[With(&["-i", "--in-place", "--inplace"])], Operands), When(&[With(&["--mode"])], Somewhere)]),
    Row { names: &["gofmt", "goimports", "gofumpt", "golines", "gci"], style: Words, takes: &["-r", "-local"], rules: &[When(&[With(&["-w"])], Operands)] },
    always(&["shfmt"], &["-i", "-ln"], &[When(&[With(&["-w", "--write"])], Operands)]),
    always(&["rustfmt", "taplo-format", "nixfmt", "alejandra"], &["--edition", "--config", "--config-path", "--emit"], &[When(&[AtLeast(1), Without(&["--check", "-c"])], Operands)]),
    always(&["taplo", "dprint", "treefmt"], &[], &[Writing(&[("fmt", &[Without(&["--check", "--diff"])]), ("format", &[Without(&["--check", "--diff"])])])]),
    always(&["rubocop", "erb_lint", "standardrb"], &["-c", "--config", "--only", "-f", "--format"], &[When(&[With(&["-a", "-A", "-x", "--autocorrect", "--autocorrect-all", "--auto-correct", "--fix"])], Operands)]),
    always(&["swiftformat", "scalafmt", "google-java-format"], &[], &[When(&[AtLeast(1), Without(&["--lint", "--test", "--check", "--dryrun", "-n", "--dry-run"])], Operands)]),
    always(&["ast-grep", "sg", "comby", "fastmod", "semgrep", "codemod", "jscodeshift", "2to3"], &["-p", "--pattern", "-r", "--rewrite", "-l", "--lang"], &[When(&[With(&["-U", "--update-all", "-i", "--interactive", "--in-place", "--autofix", "-w", "--accept-all"])], Somewhere)]),
    always(&["pre-commit", "lint-staged", "husky", "changeset", "lefthook", "codespell"], &[], &[Writing(&[("run", &[]), ("install", &[]), ("autoupdate", &[]), ("uninstall", &[])]), When(&[With(&["-w", "--write-changes"])], Somewhere)]),
    always(
        &["stylua", "mdformat", "yamlfmt", "buildifier", "pyupgrade", "add-trailing-comma", "reorder-python-imports", "phpcbf", "pint", "nixpkgs-fmt", "csharpier", "ktfmt", "fantomas", "nbstripout", "sort-package-json", "doctoc"],
        &["--config"],
        &[When(&[AtLeast(1), Without(&["--check", "-c", "--diff", "-d", "--lint", "-lint", "-n", "-mode", "--mode", "--dry-run", "--dryrun", "--test"])], Operands)],
    ),
    always(&["rimraf", "del", "del-cli", "mkdirp", "cpx", "cpy", "ncp", "copyfiles"], &[], &[When(&[AtLeast(1)], Somewhere)]),
    always(&["ncu", "npm-check-updates"], &[], &[When(&[With(&["-u", "--upgrade"])], Somewhere)]),
    always(&["php-cs-fixer", "sqlfluff", "djlint", "rector"], &[], &[Writing(&[("fix", &[Without(&["--dry-run"])]), ("format", &[]), ("process", &[Without(&["--dry-run"])])]), When(&[With(&["--reformat"])], Somewhere)]),
    always(&["buf"], &[], &[Writing(&[("format", &[With(&["-w", "--write"])]), ("generate", &[])])]),
];

/// What changes the machine or runs commands later, elsewhere or unseen.
#[rustfmt::skip] // A row a line.
const MACHINE: &[Row] = &[
    always(&["crontab"], &["-u"], &[When(&[AtLeast(1)], Somewhere), When(&[With(&["-r", "-e"])], Somewhere)]),
    always(&["at", "batch"], &["-f", "-q"], &[When(&[Without(&["-l", "-c"])], Somewhere)]),
    always(&["mount", "umount", "fdisk", "parted", "swapon", "losetup", "cryptsetup", "useradd", "userdel", "usermod", "groupadd", "passwd", "chsh", "visudo", "sudoedit", "wipefs", "mkfs", "mke2fs", "ldconfig", "update-alternatives"], &[], &[When(&[AtLeast(1)], Somewhere)]),
    always(&["history"], &[], &[When(&[With(&["-w", "-a"])], Somewhere)]),
    always(&["kubectl", "oc"], &["-n", "--namespace", "--context"], &[Writing(&[("cp", &[]), ("rsync", &[])])]),
    always(&["rclone", "gsutil"], &[], &[Writing(&[("copy", &[]), ("copyto", &[]), ("cp", &[]), ("sync", &[]), ("bisync", &[]), ("move", &[]), ("moveto", &[]), ("mv", &[]), ("rsync", &[]), ("delete", &[]), ("purge", &[]), ("mount", &[])])]),
    always(&["gio"], &[], &[Writing(&[("trash", &[]), ("remove", &[]), ("copy", &[]), ("move", &[]), ("mkdir", &[]), ("save", &[]), ("rename", &[])])]),
    always(&["defaults"], &[], &[Writing(&[("write", &[]), ("delete", &[]), ("import", &[])])]),
    always(&["systemctl"], &[], &[Writing(&[("enable", &[]), ("disable", &[]), ("mask", &[]), ("unmask", &[]), ("edit", &[]), ("link", &[])])]),
    always(&["expect"], &["-c"], &[When(&[With(&["-c"])], Somewhere)]),
    always(&["tmux"], &["-L", "-S", "-f"], &[Writing(&[("new", &[]), ("new-session", &[]), ("new-window", &[]), ("neww", &[]), ("send-keys", &[]), ("send", &[]), ("run-shell", &[]), ("run", &[]), ("split-window", &[]), ("respawn-pane", &[]), ("pipe-pane", &[]), ("source-file", &[])])]),
    always(&["screen"], &["-S", "-c"], &[When(&[With(&["-X", "-d", "-m"])], Somewhere)]),
    always(&["gdb", "lldb"], &["-ex", "-x"], &[When(&[With(&["-x", "-ex", "-o", "-s", "--eval-command"])], Somewhere)]),
    always(&["terraform", "tofu"], &[], &[Writing(&[("apply", &[]), ("destroy", &[]), ("fmt", &[Without(&["-check", "-c", "--check"])]), ("import", &[]), ("init", &[]), ("get", &[]), ("taint", &[]), ("state mv", &[]), ("state rm", &[])])]),
    always(&["docker", "podman", "nerdctl"], &["-H", "--context", "-v", "--volume", "--mount", "-e", "--env", "-w", "--name", "-p", "-u"], &[Writing(&[("run", &[With(&["-v", "--volume", "--mount"])]), ("cp", &[]), ("save", &[With(&["-o", "--output"])]), ("export", &[With(&["-o", "--output"])])])]),
    always(&["gh", "glab", "hub"], &["-R", "--repo"], &[Writing(&[("pr checkout", &[]), ("repo clone", &[]), ("repo sync", &[]), ("release download", &[]), ("run download", &[]), ("gist clone", &[]), ("mr checkout", &[]), ("extension install", &[]), ("co", &[])])]),
    always(&["hg", "svn", "jj", "fossil", "bzr"], &["-R", "--cwd", "-m", "-r"], &[Rule::Reading(&[("annotate", &[]), ("blame", &[]), ("cat", &[]), ("diff", &[]), ("files", &[]), ("heads", &[]), ("help", &[]), ("id", &[]), ("identify", &[]), ("info", &[]), ("list", &[]), ("log", &[]), ("ls", &[]), ("manifest", &[]), ("obslog", &[]), ("parents", &[]), ("paths", &[]), ("root", &[]), ("show", &[]), ("st", &[]), ("stat", &[]), ("status", &[]), ("summary", &[]), ("tip", &[]), ("version", &[])])]),
    always(&["make", "gmake", "just", "task", "ninja", "rake", "invoke", "nox", "tox"], &["-C", "-f", "-j", "--directory", "--file", "-k", "-e"], &[Writing(MADE), When(&[With(&["--eval"])], Somewhere)]),
    always(&["cmake"], &["-S", "-B", "-G", "--build", "--install", "-P", "--preset"], &[When(&[With(&["--install"])], Somewhere)]),
    always(&["mvn", "mvnw"], &["-f", "-pl", "-P"], &[Writing(&[("install", &[]), ("deploy", &[]), ("spotless:apply", &[]), ("versions:set", &[]), ("release:prepare", &[]), ("fmt:format", &[])])]),
    always(&["gradle", "gradlew"], &["-p", "-b"], &[Writing(&[("publish", &[]), ("publishToMavenLocal", &[]), ("spotlessApply", &[]), ("ktlintFormat", &[]), ("wrapper", &[]), ("init", &[])])]),
    always(&["alembic", "diesel", "sqlx", "prisma", "drizzle-kit", "typeorm", "knex", "sequelize", "rails", "artisan"], &[], &[Writing(&[("revision", &[]), ("upgrade", &[]), ("downgrade", &[]), ("migration", &[]), ("migrate", &[]), ("generate", &[]), ("g", &[]), ("new", &[]), ("destroy", &[]), ("init", &[]), ("db", &[]), ("prepare", &[]), ("format", &[]), ("db:migrate", &[]), ("push", &[]), ("pull", &[])])]),
];

/// Goals whose names say that they change more than build output.
const MADE: &[super::table::Subcommand] = &[
    ("install", &[]),
    ("uninstall", &[]),
    ("fmt", &[]),
    ("format", &[]),
    ("fix", &[]),
    ("lint-fix", &[]),
    ("generate", &[]),
    ("gen", &[]),
    ("codegen", &[]),
    ("update", &[]),
    ("upgrade", &[]),
    ("release", &[]),
    ("publish", &[]),
    ("deploy", &[]),
    ("migrate", &[]),
    ("distclean", &[]),
    ("setup", &[]),
    ("init", &[]),
    ("bootstrap", &[]),
    ("vendor", &[]),
    ("tidy", &[]),
];

/// The name under which a program stands in the tables: `python3.12` is `python`, `grm` is `rm`,
/// `prettier@3` is `prettier`.
pub(super) fn known_name(name: &str) -> &str {
    const VERSIONED: &[&str] = &[
        "python",
        "pypy",
        "pip",
        "node",
        "ruby",
        "perl",
        "php",
        "lua",
        "gcc",
        "g++",
        "clang",
        "clang++",
        "clang-format",
        "gunzip",
        "awk",
        "bash",
        "go",
        "ipython",
    ];
    const GNU: &[&str] = &[
        "gchmod",
        "gchown",
        "gcp",
        "gdd",
        "genv",
        "ginstall",
        "gln",
        "gmkdir",
        "gmktemp",
        "gmv",
        "gnice",
        "gnohup",
        "grm",
        "grmdir",
        "gshred",
        "gsort",
        "gsplit",
        "gstdbuf",
        "gtee",
        "gtimeout",
        "gtouch",
        "gtruncate",
        "guniq",
    ];
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let name = match name.split_once('@') {
        Some((package, _)) if !package.is_empty() => package,
        _ => name,
    };
    let short = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    if name.len() > short.len() && VERSIONED.contains(&short) {
        short
    } else if GNU.contains(&name) {
        &name[1..]
    } else if name.starts_with("create-") {
        "create"
    } else if name.starts_with("ld-linux") || name.starts_with("ld-musl") {
        "ld.so"
    } else {
        name
    }
}
