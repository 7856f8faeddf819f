//! `run-gate`: the keeper of a gate, which `serve` starts.

use std::io::{self, IsTerminal};

use anyhow::{Context, ensure};

use crate::gate::keep;

pub(super) fn run() -> anyhow::Result<()> {
    ensure!(
        !io::stdin().is_terminal(),
        "`run-gate` is what `serve` starts to run the checks of a phase; it is of no use by hand"
    );
    keep().context("the gate could not be run")
}
