//! Strict reading of parameters.

pub(crate) mod lenient;

use serde::Deserialize;

use crate::error::{Error, Kind};

/// Reads the parameters of a call from their text, which was read as JSON with its message: the names in an event are not
/// searched for control characters again.
pub(crate) fn read<'a, T: Deserialize<'a>>(params: &'a str) -> Result<T, Error> {
    if !params.trim_ascii_start().starts_with('{') {
        let message = "parameters are an object with named members";
        return Err(Error::new(Kind::InvalidParams, message));
    }
    serde_json::from_str(params).map_err(|error| located::<T>(params, &error))
}

/// Reads the parameters again, to find the path of the error.
fn located<'a, T: Deserialize<'a>>(params: &'a str, error: &serde_json::Error) -> Error {
    let mut text = serde_json::Deserializer::from_str(params);
    let path = serde_path_to_error::deserialize::<_, T>(&mut text)
        .err()
        .map(|error| with_member_name(&error.path().to_string()));
    Error {
        kind: Kind::InvalidParams,
        message: describe(&error.to_string()),
        path: path.filter(|path| path != "."),
    }
}

/// Completes a path with a member name that the path tracker does not see.
///
/// The member names of an event are read as raw JSON text, because they may hold lone surrogates. Only one of its
/// members can be wrong.
fn with_member_name(path: &str) -> String {
    path.replace("event.?", "event.toolName")
}

/// Removes "at line 1 column 7" from a message, because a request is one line and the path says more, and the names
/// of Rust types.
fn describe(message: &str) -> String {
    let text = message
        .rsplit_once(" at line ")
        .map_or(message, |(text, _)| text);
    text.replace("expected u64", "expected a whole number from 0 on")
        .replace("expected u32", "expected a whole number from 0 on")
        // No other parameter is a list.
        .replace(
            "expected a sequence",
            "expected an array of session entries",
        )
}
