//! Programs that change the system, run commands later or elsewhere, or build by rules in files.

use super::write_rules::Condition::{AtLeast, With, Without};
use super::write_rules::WriteRule::{When, Writing};
use super::write_rules::WriteTarget::Somewhere;
use super::write_rules::{ProgramRow, Subcommand, WriteRule, row};

#[rustfmt::skip] // A row a line.
pub(super) const SYSTEM: &[ProgramRow] = &[
    row(&["crontab"], &["-u"], &[When(&[AtLeast(1)], Somewhere), When(&[With(&["-r", "-e"])], Somewhere)]),
    row(&["at", "batch"], &["-f", "-q"], &[When(&[Without(&["-l", "-c"])], Somewhere)]),
    row(&["mount", "umount", "fdisk", "parted", "swapon", "losetup", "cryptsetup", "useradd", "userdel", "usermod", "groupadd", "passwd", "chsh", "visudo", "sudoedit", "wipefs", "mkfs", "mke2fs", "ldconfig", "update-alternatives"], &[], &[When(&[AtLeast(1)], Somewhere)]),
    row(&["history"], &[], &[When(&[With(&["-w", "-a"])], Somewhere)]),
    row(&["kubectl", "oc"], &["-n", "--namespace", "--context"], &[Writing(&[("cp", &[]), ("rsync", &[])])]),
    row(&["rclone", "gsutil"], &[], &[Writing(&[("copy", &[]), ("copyto", &[]), ("cp", &[]), ("sync", &[]), ("bisync", &[]), ("move", &[]), ("moveto", &[]), ("mv", &[]), ("rsync", &[]), ("delete", &[]), ("purge", &[]), ("mount", &[])])]),
    row(&["gio"], &[], &[Writing(&[("trash", &[]), ("remove", &[]), ("copy", &[]), ("move", &[]), ("mkdir", &[]), ("save", &[]), ("rename", &[])])]),
    row(&["defaults"], &[], &[Writing(&[("write", &[]), ("delete", &[]), ("import", &[])])]),
    row(&["systemctl"], &[], &[Writing(&[("enable", &[]), ("disable", &[]), ("mask", &[]), ("unmask", &[]), ("edit", &[]), ("link", &[])])]),
    row(&["expect"], &["-c"], &[When(&[With(&["-c"])], Somewhere)]),
    row(&["tmux"], &["-L", "-S", "-f"], &[Writing(&[("new", &[]), ("new-session", &[]), ("new-window", &[]), ("neww", &[]), ("send-keys", &[]), ("send", &[]), ("run-shell", &[]), ("run", &[]), ("split-window", &[]), ("respawn-pane", &[]), ("pipe-pane", &[]), ("source-file", &[])])]),
    row(&["screen"], &["-S", "-c"], &[When(&[With(&["-X", "-d", "-m"])], Somewhere)]),
    row(&["gdb", "lldb"], &["-ex", "-x"], &[When(&[With(&["-x", "-ex", "-o", "-s", "--eval-command"])], Somewhere)]),
    row(&["terraform", "tofu"], &[], &[Writing(&[("apply", &[]), ("destroy", &[]), ("fmt", &[Without(&["-check", "-c", "--check"])]), ("import", &[]), ("init", &[]), ("get", &[]), ("taint", &[]), ("state mv", &[]), ("state rm", &[])])]),
    row(&["docker", "podman", "nerdctl"], &["-H", "--context", "-v", "--volume", "--mount", "-e", "--env", "-w", "--name", "-p", "-u"], &[Writing(&[("run", &[With(&["-v", "--volume", "--mount"])]), ("cp", &[]), ("save", &[With(&["-o", "--output"])]), ("export", &[With(&["-o", "--output"])])])]),
    row(&["gh", "glab", "hub"], &["-R", "--repo"], &[Writing(&[("pr checkout", &[]), ("repo clone", &[]), ("repo sync", &[]), ("release download", &[]), ("run download", &[]), ("gist clone", &[]), ("mr checkout", &[]), ("extension install", &[]), ("co", &[])])]),
    row(&["hg", "svn", "jj", "fossil", "bzr"], &["-R", "--cwd", "-m", "-r"], &[WriteRule::Reading(&[("annotate", &[]), ("blame", &[]), ("cat", &[]), ("diff", &[]), ("files", &[]), ("heads", &[]), ("help", &[]), ("id", &[]), ("identify", &[]), ("info", &[]), ("list", &[]), ("log", &[]), ("ls", &[]), ("manifest", &[]), ("obslog", &[]), ("parents", &[]), ("paths", &[]), ("root", &[]), ("show", &[]), ("st", &[]), ("stat", &[]), ("status", &[]), ("summary", &[]), ("tip", &[]), ("version", &[])])]),
    row(&["make", "gmake", "just", "task", "ninja", "rake", "invoke", "nox", "tox"], &["-C", "-f", "-j", "--directory", "--file", "-k", "-e"], &[Writing(MADE), When(&[With(&["--eval"])], Somewhere)]),
    row(&["cmake"], &["-S", "-B", "-G", "--build", "--install", "-P", "--preset"], &[When(&[With(&["--install"])], Somewhere)]),
    row(&["mvn", "mvnw"], &["-f", "-pl", "-P"], &[Writing(&[("install", &[]), ("deploy", &[]), ("spotless:apply", &[]), ("versions:set", &[]), ("release:prepare", &[]), ("fmt:format", &[])])]),
    row(&["gradle", "gradlew"], &["-p", "-b"], &[Writing(&[("publish", &[]), ("publishToMavenLocal", &[]), ("spotlessApply", &[]), ("ktlintFormat", &[]), ("wrapper", &[]), ("init", &[])])]),
    row(&["alembic", "diesel", "sqlx", "prisma", "drizzle-kit", "typeorm", "knex", "sequelize", "rails", "artisan"], &[], &[Writing(&[("revision", &[]), ("upgrade", &[]), ("downgrade", &[]), ("migration", &[]), ("migrate", &[]), ("generate", &[]), ("g", &[]), ("new", &[]), ("destroy", &[]), ("init", &[]), ("db", &[]), ("prepare", &[]), ("format", &[]), ("db:migrate", &[]), ("push", &[]), ("pull", &[])])]),
];

/// Goals whose names say that they change more than build output.
const MADE: &[Subcommand] = &[
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
