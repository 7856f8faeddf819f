//! The readers of numbers: counts, limits, amounts of money, durations and exit codes.

use super::key::{Key, ValueType};
use super::values::or_report;
use crate::definition::model::{Bound, ExpectedExit};
use crate::definition::syntax::{Kind, Node, Reader};
use crate::diagnostic::{Code, Finding};

/// A whole number; one above `u32::MAX` means `u32::MAX`.
fn whole_number(node: &Node<'_>) -> Option<u32> {
    let Kind::Number(number) = node.kind else {
        return None;
    };
    if !(number >= 0.0 && number.is_finite() && number.fract() == 0.0) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and the cast saturates"
    )]
    Some(number as u32)
}

/// The bounds of a whole number.
fn bounds(key: &Key) -> (u32, Option<u32>) {
    match key.value {
        ValueType::Whole(from, to) => (from, to),
        _ => (0, None),
    }
}

fn whole_in_bounds(key: &Key, node: &Node<'_>) -> Option<u32> {
    let (from, to) = bounds(key);
    whole_number(node).filter(|&number| number >= from && to.is_none_or(|to| number <= to))
}

pub(super) fn read_whole(reader: &mut Reader<'_>, key: &Key, node: &Node<'_>) -> Option<u32> {
    or_report(reader, whole_in_bounds(key, node), || {
        key.out_of_range(
            node,
            &match bounds(key) {
                (from, None) => format!("a whole number of at least {from}"),
                (from, Some(to)) => format!("a whole number from {from} to {to}"),
            },
        )
    })
}

pub(super) fn read_seconds(reader: &mut Reader<'_>, key: &Key, node: &Node<'_>) -> Option<u32> {
    or_report(reader, whole_in_bounds(key, node), || {
        let (from, to) = bounds(key);
        key.out_of_range(
            node,
            &format!("whole seconds from {from} to {}", to.unwrap_or(u32::MAX)),
        )
    })
}

pub(super) fn read_limit(reader: &mut Reader<'_>, key: &Key, node: &Node<'_>) -> Option<u32> {
    let (from, to) = bounds(key);
    let highest = to.unwrap_or(u32::MAX);
    let limit = whole_number(node).filter(|&limit| limit >= from);
    let limit = or_report(reader, limit, || {
        key.out_of_range(node, &format!("a whole number of at least {from}"))
    })?;
    if limit > highest {
        let message = format!(
            "`{}` can be at most {highest}, which is used instead",
            key.name
        );
        let finding = Finding::warning(Code::LimitTooHigh, node.span, message);
        reader.report(finding.help(format!("write `{}: {highest}`, or less", key.name)));
    }
    Some(limit.min(highest))
}

pub(super) fn read_bound(reader: &mut Reader<'_>, key: &Key, node: &Node<'_>) -> Option<Bound> {
    let bound = match &node.kind {
        Kind::Text(text) if text == "unlimited" => Some(Bound::Unlimited),
        _ => whole_number(node).map(Bound::Times),
    };
    or_report(reader, bound, || {
        key.out_of_range(node, "a whole number of at least 0, or `unlimited`")
    })
}

/// An amount of money in hundredths: more than nothing, with two decimals at most.
pub(super) fn read_cents(reader: &mut Reader<'_>, key: &Key, node: &Node<'_>) -> Option<u64> {
    const HIGHEST: f64 = 1e9;
    let cents = match node.kind {
        Kind::Number(number) if number > 0.0 && number <= HIGHEST => {
            let cents = (number * 100.0).round();
            let is_exact = (cents / 100.0 - number).abs() < 1e-9 * number.max(1.0);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is a whole number between the bounds"
            )]
            (is_exact && cents >= 1.0).then_some(cents as u64)
        }
        _ => None,
    };
    or_report(reader, cents, || {
        key.out_of_range(node, "a number above 0 with two decimals at most")
    })
}

/// The longest a command may take, in seconds.
const MAX_DURATION: u32 = 24 * 60 * 60;

pub(super) fn read_duration(reader: &mut Reader<'_>, key: &Key, node: &Node<'_>) -> Option<u32> {
    let seconds = match &node.kind {
        Kind::Text(text) => spelled_duration(text),
        _ => whole_number(node),
    };
    let seconds = seconds.filter(|seconds| (1..=MAX_DURATION).contains(seconds));
    or_report(reader, seconds, || {
        key.out_of_range(
            node,
            "whole seconds, or a number with `s`, `m` or `h`, and at most a day",
        )
    })
}

/// `30s`, `10m`, `1h` in seconds.
fn spelled_duration(text: &str) -> Option<u32> {
    let (number, unit) = [("s", 1), ("m", 60), ("h", 60 * 60)]
        .into_iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))?;
    let is_number =
        !number.is_empty() && number.len() <= 6 && number.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| number.parse::<u32>().ok()?.checked_mul(unit))?
}

pub(super) fn read_exit_code(
    reader: &mut Reader<'_>,
    key: &Key,
    node: &Node<'_>,
) -> Option<ExpectedExit> {
    let exit = match &node.kind {
        Kind::Text(text) if text == "nonzero" => Some(ExpectedExit::Nonzero),
        _ => whole_number(node)
            .and_then(|code| u8::try_from(code).ok())
            .map(|code| ExpectedExit::Code(code.into())),
    };
    or_report(reader, exit, || {
        key.out_of_range(node, "a whole number from 0 to 255, or `nonzero`")
    })
}
