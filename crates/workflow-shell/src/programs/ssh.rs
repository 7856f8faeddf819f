//! `ssh`: the command runs on another machine.

use super::outcome::{Invocation, NestedCommand, Outcome, Result, argument, joined};
use super::shells::standard_input;
use super::table::{read, row};
use crate::effect::{Effect, Unknown, UnknownReason};

/// `ssh host command`: the command runs on another machine.
pub(super) fn outcome(invocation: &Invocation<'_>) -> Result {
    // It prints its version, or the settings of a host.
    if let Some(Ok(shows)) = row("ssh", invocation.arguments) {
        return Ok(shows);
    }
    let given = read("ssh", invocation.arguments)?;
    // Options may follow the host.
    let Some((_host, rest)) = given.operands.split_first() else {
        return Err(Unknown::new("ssh", UnknownReason::Missing));
    };
    let more = read("ssh", rest)?;
    if let Some(word) = more.values(&["-o"]).first() {
        return Err(argument(word));
    }
    let Some(text) = joined(&more.operands) else {
        return standard_input(invocation, NestedCommand::Elsewhere);
    };
    let mut outcome = Outcome::scripts([text], NestedCommand::Elsewhere, "ssh");
    if more.operands.iter().any(|word| word.may_add_words) {
        outcome.effect = Effect::unknown("ssh", UnknownReason::Expansion);
    }
    Ok(outcome)
}
