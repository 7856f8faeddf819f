//! `ssh`: the command runs on another machine.

use super::outcome::{Invocation, NestedCommand, Outcome, Result, argument, joined};
use super::shells::script;
use super::table::read;
use crate::command::StandardInput;
use crate::effect::{Effect, Unknown, UnknownReason};

/// `ssh host command`: the command runs on another machine.
pub(super) fn outcome(invocation: &Invocation<'_>) -> Result {
    match invocation.arguments {
        [word] if word.text() == Some("-V") => return Ok(Outcome::reads()),
        // It prints the settings of a host.
        [word, host]
            if word.text() == Some("-G")
                && !host.may_hide_option()
                && !host.shape().starts_with('-') =>
        {
            return Ok(Outcome::reads());
        }
        _ => {}
    }
    let given = read("ssh", None, invocation.arguments)?;
    // Options may follow the host.
    let Some((_host, rest)) = given.operands.split_first() else {
        return Err(Unknown::new("ssh", UnknownReason::Missing));
    };
    let more = read("ssh", None, rest)?;
    if let Some(word) = more.values(&["-o"]).first() {
        return Err(argument(word));
    }
    let Some(text) = joined(&more.operands) else {
        return match invocation.input {
            StandardInput::Text(word) => Ok(script(word.clone(), NestedCommand::Elsewhere)),
            _ => Err(Unknown::new("ssh", UnknownReason::Input)),
        };
    };
    let mut outcome = script(text, NestedCommand::Elsewhere);
    if more.operands.iter().any(|word| word.may_add_words) {
        outcome.effect = Effect::unknown("ssh", UnknownReason::Expansion);
    }
    Ok(outcome)
}
