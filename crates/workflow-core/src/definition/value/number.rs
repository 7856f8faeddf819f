//! Counts, limits, amounts of money, durations.

use std::marker::PhantomData;

use serde_json::json;

use super::text::check_template;
use crate::definition::guard_text::variable;
use crate::definition::schema::{KeyType, Reader, Shape, Written};
use crate::definition::syntax::{Kind, Node};
use crate::diagnostic::{Code, Finding};
use crate::template::TemplateKind;
use crate::types::whole;

/// The pattern of a value of the run that is a bound.
pub(crate) const VALUE_OF_RUN: &str = r"^\{(inputs|outputs)\..+\}$";

/// A whole number; one above `u32::MAX` means `u32::MAX`.
pub(crate) fn whole_number(node: &Node<'_>) -> Option<u32> {
    let Kind::Number(number) = node.kind else {
        return None;
    };
    whole(number).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
}

/// A whole number from 1, or a value of the run.
pub(crate) type WholeOrValue<T = u32> = OrValue<Whole<1, { u32::MAX }, T>>;

/// A number, or the value of the run that is a whole one: `"{inputs.rounds}"`. As long as there is none, the bound is the highest
/// number.
pub(crate) struct OrValue<N>(PhantomData<N>);

impl<N> KeyType for OrValue<N>
where
    N: KeyType + 'static,
    N::Value: TryFrom<u32>,
{
    type Value = N::Value;
    const SHAPE: Shape = Shape::of(
        || {
            let name = json!({"type": "string", "pattern": VALUE_OF_RUN});
            json!({"anyOf": [(N::SHAPE.schema)(), name]})
        },
        || format!("{}, or a value", N::SHAPE.described_type()),
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<N::Value> {
        if let Kind::Text(text) = written.kind()
            && let Some(name) = variable(text).filter(|name| name.len() + 2 == text.len())
        {
            check_template(reader, TemplateKind::Bound, text, written.span());
            let bound = (written.key.name.to_owned(), name.to_owned());
            reader.sites.bounds.push(bound);
            return u32::MAX.try_into().ok();
        }
        N::read(reader, written)
    }
}

/// A whole number from the first to the last.
pub(crate) struct Whole<const FROM: u32, const TO: u32 = { u32::MAX }, T = u32>(PhantomData<T>);

fn whole_in(
    reader: &mut Reader<'_>,
    written: Written<'_>,
    from: u32,
    to: u32,
    expected: &str,
) -> Option<u32> {
    let number = whole_number(&written.entry.value).filter(|number| (from..=to).contains(number));
    number.or_else(|| reader.refuse(written.out_of_range(expected)))
}

impl<const FROM: u32, const TO: u32, T> KeyType for Whole<FROM, TO, T>
where
    T: TryFrom<u32> + 'static,
{
    type Value = T;
    const SHAPE: Shape = Shape::of(
        || match TO {
            u32::MAX => json!({"type": "integer", "minimum": FROM}),
            _ => json!({"type": "integer", "minimum": FROM, "maximum": TO}),
        },
        || match TO {
            u32::MAX => format!("whole number from {FROM}"),
            _ => format!("whole number, {FROM} to {TO}"),
        },
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<T> {
        let expected = match TO {
            u32::MAX => format!("a whole number of at least {FROM}"),
            _ => format!("a whole number from {FROM} to {TO}"),
        };
        T::try_from(whole_in(reader, written, FROM, TO, &expected)?).ok()
    }
}

/// Whole seconds up to the last.
pub(crate) struct Seconds<const TO: u32>;

impl<const TO: u32> KeyType for Seconds<TO> {
    type Value = u32;
    const SHAPE: Shape = Whole::<0, TO>::SHAPE;

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<u32> {
        let expected = format!("whole seconds from 0 to {TO}");
        whole_in(reader, written, 0, TO, &expected)
    }
}

/// A limit. A value above the highest means the highest.
pub(crate) struct Limit<const HIGHEST: u32>;

impl<const HIGHEST: u32> KeyType for Limit<HIGHEST> {
    type Value = u32;
    const SHAPE: Shape = Whole::<1, HIGHEST>::SHAPE;

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<u32> {
        let expected = "a whole number of at least 1";
        let limit = whole_in(reader, written, 1, u32::MAX, expected)?;
        if limit > HIGHEST {
            let name = written.key.name;
            let message = format!("`{name}` can be at most {HIGHEST}, which is used instead");
            let finding = Finding::warning(Code::LimitTooHigh, written.span(), message);
            reader.report(finding.help(format!("write `{name}: {HIGHEST}`, or less")));
        }
        Some(limit.min(HIGHEST))
    }
}

/// An amount of money in hundredths: more than nothing, with two decimals at most.
pub(crate) struct Cents;

impl KeyType for Cents {
    type Value = u64;
    const SHAPE: Shape = Shape::new(
        || json!({"type": "number", "exclusiveMinimum": 0}),
        "number with two decimals",
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<u64> {
        const HIGHEST: f64 = 1e9;
        let cents = match *written.kind() {
            Kind::Number(number) if number > 0.0 && number <= HIGHEST => {
                let cents = (number * 100.0).round();
                let is_exact = (cents / 100.0 - number).abs() < 1e-9 * number.max(1.0);
                whole(cents).filter(|cents| is_exact && *cents >= 1)
            }
            _ => None,
        };
        let expected = "a number above 0 with two decimals at most";
        cents.or_else(|| reader.refuse(written.out_of_range(expected)))
    }
}

/// Whole seconds, or a number with `s`, `m` or `h`.
pub(crate) struct Duration;

impl KeyType for Duration {
    type Value = u32;
    const SHAPE: Shape = Shape::new(
        || {
            json!({"anyOf": [
                {"type": "integer", "minimum": 1, "maximum": 86400},
                {"type": "string", "pattern": "^0*([1-9][0-9]{0,3}|[1-7][0-9]{4}|8[0-5][0-9]{3}|86[0-3][0-9]{2}|86400)s$"},
                {"type": "string", "pattern": "^0*([1-9][0-9]{0,2}|1[0-3][0-9]{2}|14[0-3][0-9]|1440)m$"},
                {"type": "string", "pattern": "^0*([1-9]|1[0-9]|2[0-4])h$"},
            ]})
        },
        "seconds, `30s`, `10m`, `1h`",
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<u32> {
        const HIGHEST: u32 = 24 * 60 * 60;
        let seconds = match written.kind() {
            Kind::Text(text) => spelled_duration(text),
            _ => whole_number(&written.entry.value),
        };
        let seconds = seconds.filter(|seconds| (1..=HIGHEST).contains(seconds));
        let expected = "whole seconds, or a number with `s`, `m` or `h`, and at most a day";
        seconds.or_else(|| reader.refuse(written.out_of_range(expected)))
    }
}

/// `30s`, `10m`, `1h` in seconds.
pub fn spelled_duration(text: &str) -> Option<u32> {
    let (number, unit) = [("s", 1), ("m", 60), ("h", 60 * 60)]
        .into_iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))?;
    let is_number =
        !number.is_empty() && number.len() <= 6 && number.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| number.parse::<u32>().ok()?.checked_mul(unit))?
}
