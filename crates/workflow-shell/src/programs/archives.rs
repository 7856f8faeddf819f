//! Archive and compression programs; `tar` is in [`super::special`].

use super::write_rules::Condition::{AtLeast, With, Without};
use super::write_rules::WriteRule::{Values, When, Writing};
use super::write_rules::WriteTarget::{In, Operands, Somewhere};
use super::write_rules::{ProgramRow, WriteRule, row};

#[rustfmt::skip] // A row a line.
pub(super) const ARCHIVES: &[ProgramRow] = &[
    row(&["unzip"], &["-d", "-x", "-P"], &[When(&[Without(&["-l", "-p", "-c", "-t", "-z", "-Z", "-v"]), AtLeast(1)], In(&["-d"]))]),
    row(&["zip"], &["-x", "-i"], &[When(&[AtLeast(1), Without(&["-sf"])], Somewhere)]),
    row(&["7z", "7za", "7zr"], &[], &[Writing(&[("a", &[]), ("d", &[]), ("e", &[]), ("rn", &[]), ("u", &[]), ("x", &[])])]),
    row(
        &["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lz4", "brotli", "compress", "uncompress"],
        &["-S", "-o"],
        &[When(&[AtLeast(1), Without(&["-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test"])], Operands), Values(&["-o"])],
    ),
    row(&["cpio", "pax"], &[], &[When(&[With(&["-i", "-p", "-r", "-F", "-O", "--extract", "--pass-through"])], Somewhere)]),
    row(&["unrar", "unar", "cabextract", "ditto"], &[], &[When(&[AtLeast(1)], Somewhere)]),
    row(&["ar"], &[], &[WriteRule::Reading(&[("t", &[]), ("tv", &[]), ("p", &[])])]),
    row(&["jar"], &[], &[Writing(&[("xf", &[]), ("cf", &[]), ("xvf", &[]), ("cvf", &[]), ("uf", &[])])]),
];
