//! Programs that create, change, move and remove files.

use super::write_rules::Condition::{AtLeast, AtMost, With, Without};
use super::write_rules::WriteRule::{Values, When};
use super::write_rules::WriteTarget::{After, Here, In, Last, Operands, Somewhere};
use super::write_rules::{ProgramRow, row};

#[rustfmt::skip] // A row a line.
pub(super) const FILES: &[ProgramRow] = &[
    row(&["rm", "rmdir", "unlink", "srm", "trash", "trash-put"], &[], &[When(&[], Operands)]),
    row(&["shred"], &["-n", "--iterations", "-s", "--size", "--random-source"], &[When(&[], Operands)]),
    row(&["touch"], &["-d", "--date", "-r", "--reference", "-t", "--time"], &[When(&[], Operands)]),
    row(&["mkdir", "mkfifo"], &["-m", "--mode"], &[When(&[], Operands)]),
    row(&["mknod"], &["-m", "--mode"], &[When(&[], Somewhere)]),
    row(&["truncate"], &["-s", "--size", "-r", "--reference"], &[When(&[], Operands)]),
    row(&["tee", "sponge"], &[], &[When(&[], Operands)]),
    row(&["fallocate"], &["-l", "--length", "-o", "--offset"], &[When(&[], Operands)]),
    row(
        &["chmod", "chown", "chgrp"],
        &["--reference"],
        // `chmod -x file` has no mode before the file.
        &[When(&[With(MODES)], Operands), When(&[Without(MODES)], After(1))],
    ),
    row(&["setfacl", "chattr", "setfattr", "xattr", "chflags"], &[], &[When(&[], Somewhere)]),
    row(&["cp"], &COPYING, &[When(&[], Last(&["-t", "--target-directory"]))]),
    row(&["install"], &COPYING, &[When(&[Without(&["-d", "--directory"])], Last(&["-t", "--target-directory"])), When(&[With(&["-d", "--directory"])], Operands)]),
    row(&["ln", "link"], &COPYING, &[When(&[AtMost(1), Without(&["-t", "--target-directory"])], Here), When(&[AtLeast(2)], Last(&["-t", "--target-directory"])), Values(&["-t", "--target-directory"])]),
    row(&["mv"], &COPYING, &[When(&[], Operands), Values(&["-t", "--target-directory"])]),
    row(&["rename", "prename", "mmv", "vidir"], &[], &[When(&[Without(&["-n", "--nono", "--no-act"])], Somewhere)]),
    row(&["mktemp"], &["-p", "--suffix"], &[When(&[Without(&["-u", "--dry-run"])], Somewhere)]),
    row(&["split"], &["-b", "-l", "-n", "-a", "-C"], &[When(&[AtMost(1)], Here), When(&[AtLeast(2)], After(1))]),
    row(&["csplit"], &["-b", "-f", "--prefix", "-n"], &[When(&[Without(&["-f", "--prefix"])], Here), Values(&["-f", "--prefix"])]),
    row(&["patch"], &["-i", "-p", "-d", "-o", "-r"], &[
        When(&[AtMost(0), Without(DRY_PATCH)], In(&["-d", "--directory"])),
        When(&[AtLeast(1), Without(DRY_PATCH)], Operands),
        Values(&["-o", "-r"]),
    ]),
    row(&["rsync", "scp"], &[], &[When(&[With(&["-e", "--rsh", "-S", "-o"])], Somewhere)]),
    row(&["rsync"], &["-e", "-f", "--filter", "--exclude", "--include", "--exclude-from"], &[When(&[Without(&["-n", "--dry-run", "--list-only"])], Last(&[]))]),
    row(&["scp", "sftp"], &["-i", "-P", "-o", "-F", "-J", "-c", "-l", "-S"], &[When(&[], Last(&[]))]),
    row(&["sd"], &["-f", "--flags", "-n", "--max-replacements"], &[When(&[AtLeast(3), Without(&["-p", "--preview"])], After(2))]),
    row(&["dos2unix", "unix2dos", "mac2unix"], &[], &[When(&[AtLeast(1)], Operands)]),
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
