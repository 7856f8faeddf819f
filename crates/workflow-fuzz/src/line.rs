//! A line of a host: what is skimmed means what `serde_json` reads, and what is shortened means what the whole line does.

use std::fmt::Debug;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use workflow_protocol::{Dropped, Method, Shortening, for_each_method, method, skim};

/// The first byte says in which pieces the line comes.
pub fn play(data: &[u8]) {
    let Some((pieces, rest)) = data.split_first() else {
        return;
    };
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let (short, dropped) = shortened(line, 1 + usize::from(*pieces));
    assert_eq!(short.len() + dropped.bytes, line.len(), "nothing is lost");
    let Some((line, short)) = texts(line, &short, dropped) else {
        return;
    };
    skims::<IgnoredAny>(line);
    skims::<&RawValue>(line);
    skims::<Envelope<'_>>(line);
    same_flaw(line, short, dropped);
    let (whole, short) = (envelope(line), envelope(short));
    assert_eq!(whole.is_some(), short.is_some(), "{line}");
    if let (Some(whole), Some(short)) = (whole, short) {
        same_params(whole.params, short.params);
    }
}

/// A line as it is when it has come, piece by piece.
fn shortened(line: &[u8], piece: usize) -> (Vec<u8>, Dropped) {
    let mut short = Vec::new();
    let mut shortening = None;
    let mut is_over = false;
    for piece in line.chunks(piece) {
        short.extend_from_slice(piece);
        shortening = shortening.or_else(|| Shortening::begin(&short));
        if let Some(shortening) = shortening.as_mut().filter(|_| !is_over) {
            let (length, ends) = Shortening::go_on(shortening, &mut short);
            short.truncate(length);
            is_over = ends;
        }
    }
    let dropped = shortening.map(|shortening| shortening.dropped);
    (short, dropped.unwrap_or_default())
}

/// Both lines as text; if they are none, they stop being text at the same place.
fn texts<'a>(line: &'a [u8], short: &'a [u8], dropped: Dropped) -> Option<(&'a str, &'a str)> {
    match (std::str::from_utf8(line), std::str::from_utf8(short)) {
        (Ok(line), Ok(short)) => Some((line, short)),
        (Err(whole), Err(short)) => {
            assert_eq!(whole.valid_up_to(), short.valid_up_to() + dropped.bytes);
            None
        }
        (whole, short) => panic!("{whole:?}, and shortened {short:?}"),
    }
}

/// What can be skimmed, `serde_json` reads as the same.
fn skims<'a, T: Deserialize<'a> + Debug>(json: &'a str) {
    if let Some(skimmed) = skim::<T>(json) {
        let read = serde_json::from_str::<T>(json);
        let read = read.unwrap_or_else(|error| panic!("{error}, but skimmed: {json}"));
        assert_eq!(format!("{skimmed:?}"), format!("{read:?}"), "{json}");
    }
}

/// Where a line is not JSON, the shortened one is not either, for the same reason.
fn same_flaw(line: &str, short: &str, dropped: Dropped) {
    let read = |line| serde_json::from_str::<IgnoredAny>(line);
    match (read(line), read(short)) {
        (Ok(_), Ok(_)) => {}
        (Err(whole), Err(other)) => {
            assert_eq!(whole.classify(), other.classify(), "{line}");
            let before = |text: &str, column: usize| {
                let before = text.bytes().take(column);
                before.filter(|byte| byte & 0xc0 != 0x80).count()
            };
            let (column, other) = (whole.column(), other.column());
            assert_eq!(column, other + dropped.bytes, "{line}");
            assert_eq!(
                before(line, column),
                before(short, other) + dropped.chars,
                "{line}"
            );
        }
        (whole, other) => panic!("{whole:?}, and shortened {other:?}: {line}"),
    }
}

/// Of an envelope what matters here.
#[derive(Debug, Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

fn envelope(line: &str) -> Option<Envelope<'_>> {
    serde_json::from_str(line).ok()
}

/// To every method, the parameters mean the same, however they are read.
fn same_params(whole: Option<&RawValue>, short: Option<&RawValue>) {
    let (whole, short) = (whole.map(RawValue::get), short.map(RawValue::get));
    macro_rules! check {
        ($($(#[$doc:meta])* $row:ident: $handler:ident = $name:literal ($params:ident) -> $result:ty;)*) => {$(
            if let Some(params) = whole {
                skims::<workflow_protocol::$params<'_>>(params);
            }
            let (one, other) = (method::$row::read(whole), method::$row::read(short));
            let is_error = one.is_err();
            let shown = [format!("{one:?}"), format!("{other:?}")].map(|shown| if is_error { without_numbers(&shown) } else { shown });
            assert_eq!(shown[0], shown[1], "{} {whole:?}", $name);
        )*};
    }
    for_each_method!(check);
}

/// An error without the numbers of elements, which are those of the list that is left.
fn without_numbers(error: &str) -> String {
    let mut parts = error.split('[');
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept.push('[');
        kept.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    kept
}
