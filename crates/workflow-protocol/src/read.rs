//! Reading parameters strictly.
//!
//! Owns the way from the text of `params` to a type and the error if it does not fit. What is usual is skimmed; only
//! what is not is read by `serde_json`, and what fails there once more to find the place.

use serde::Deserialize;

use crate::{Error, Kind, skim};

/// Reads the parameters of a call from their text.
pub(crate) fn read<'a, T: Deserialize<'a>>(params: &'a str) -> Result<T, Error> {
    if !params.trim_ascii_start().starts_with('{') {
        return Err(Error::new(
            Kind::InvalidParams,
            "parameters are an object with named members",
        ));
    }
    if let Some(read) = skim(params) {
        return Ok(read);
    }
    serde_json::from_str(params).map_err(|error| located::<T>(params, &error))
}

/// The error of a reading that failed, with its place.
#[cold]
fn located<'a, T: Deserialize<'a>>(params: &'a str, error: &serde_json::Error) -> Error {
    let mut text = serde_json::Deserializer::from_str(params);
    let place = serde_path_to_error::deserialize::<_, T>(&mut text)
        .err()
        .map(|error| named(&error.path().to_string()));
    Error {
        kind: Kind::InvalidParams,
        message: in_words(&error.to_string()),
        path: place.filter(|place| place != "."),
    }
}

/// The place with the names that the tracker does not see.
///
/// The names in an event are read as text of the line, because half a character may stand in them. Of its members only
/// one can be wrong.
fn named(place: &str) -> String {
    place.replace("event.?", "event.toolName")
}

/// The message without "at line 1 column 7", for a request is one line, and the path says more; and without a type
/// of this language.
fn in_words(message: &str) -> String {
    let text = message
        .rsplit_once(" at line ")
        .map_or(message, |(text, _)| text);
    text.replace("expected u64", "expected a whole number from 0 on")
        .replace("expected u32", "expected a whole number from 0 on")
}
