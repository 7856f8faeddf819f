//! `demo`: a scripted agent in example workflows.

pub(super) const EXAMPLES: &str = "\
Examples:
  workflow-sidecar demo                   a blocked tool, a loop, an early stop, a reload, two runs
  NO_COLOR=1 workflow-sidecar demo | less

The example workflows are written to a temporary directory, which is removed afterwards.";
