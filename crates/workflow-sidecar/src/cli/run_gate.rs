//! `run-gate`: the supervisor process of a gate, which `serve` starts.

use std::io::{self, IsTerminal};

use anyhow::{Context, ensure};

use crate::platform::gates::supervise;

pub(super) fn run() -> anyhow::Result<()> {
    ensure!(
        !io::stdin().is_terminal(),
        "`run-gate` is what `serve` starts to run the checks of a phase; it is of no use by hand"
    );
    supervise().context("the gate could not be run")
}
