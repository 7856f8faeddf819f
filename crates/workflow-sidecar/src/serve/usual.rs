//! The usual request, without reading its line twice.
//!
//! A host writes all its requests alike: `{"jsonrpc":"2.0","id":1,"method":"m","params":{…}}`.
//! What stands before the parameters is seen at a glance, and the parameters are read by whoever
//! takes them. Owns that glance. It is a guess about the rest of the line: it holds if the
//! parameters can be taken as they are, and otherwise the line has to be read in full.

use workflow_protocol::Text;

use super::envelope::Call;

/// The id, the method and the text of the parameters, if the line looks like the usual request.
pub(super) fn glance(line: &str) -> Option<(&str, Call<'_>)> {
    let rest = line.strip_prefix(r#"{"jsonrpc":"2.0","id":"#)?;
    let (id, rest) = split_id(rest)?;
    let rest = rest.strip_prefix(r#","method":"#)?;
    let (method, rest) = split_string(rest)?;
    let rest = rest.strip_prefix(r#","params":"#)?;
    let params = rest.strip_suffix('}')?;
    params.starts_with('{').then(|| {
        let method = Text::from(&method[1..method.len() - 1]);
        let params = Some(params);
        (id, Call { method, params })
    })
}

/// A whole number or a plain string, as it stands there, and what follows.
fn split_id(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    match digits {
        0 => split_string(text),
        1 => Some(text.split_at(1)),
        _ if text.starts_with('0') => None,
        _ => Some(text.split_at(digits)),
    }
}

/// A string without escapes, with its quotes, and what follows.
fn split_string(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('"')?;
    let end = inner
        .bytes()
        .position(|byte| matches!(byte, b'"' | b'\\' | ..0x20))?;
    let is_plain = inner.as_bytes()[end] == b'"';
    is_plain.then(|| text.split_at(end + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Option<(&str, String, &str)> {
        let (id, call) = glance(line)?;
        Some((id, call.method.into_owned(), call.params.unwrap()))
    }

    #[test]
    fn the_usual_request_is_seen() {
        assert_eq!(
            found(r#"{"jsonrpc":"2.0","id":12,"method":"a/b","params":{"x":{}}}"#),
            Some(("12", "a/b".to_owned(), r#"{"x":{}}"#))
        );
        assert_eq!(
            found(r#"{"jsonrpc":"2.0","id":"é","method":"m","params":{}}"#),
            Some((r#""é""#, "m".to_owned(), "{}"))
        );
        assert!(found(r#"{"jsonrpc":"2.0","id":0,"method":"m","params":{}}"#).is_some());
    }

    #[test]
    fn anything_unusual_is_left_alone() {
        for line in [
            "",
            "{}",
            r#" {"jsonrpc":"2.0","id":1,"method":"m","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{}} "#,
            r#"{"jsonrpc":"2.0","id": 1,"method":"m","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":01,"method":"m","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":-1,"method":"m","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"m","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"m","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":"\n","method":"m","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m\u0020","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":7,"params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[]}"#,
            r#"{"jsonrpc":"2.0","method":"m","params":{},"id":1}"#,
        ] {
            assert_eq!(found(line), None, "{line}");
        }
    }
}
