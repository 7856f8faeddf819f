//! A template and its values: `template NUL value NUL value …`.

use regex::{Captures, Regex};
use workflow_core::template::{MAX_RESOLVED, Piece, pieces, resolve};

/// The values, in their order.
const NAMES: &[&str] = &["a", "b", "description", "phase_1"];

/// Checks that values are inserted once, and that the length of the result is bounded.
pub fn play(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut parts = text.split('\0');
    let template = parts.next().unwrap_or_default();
    let values: Vec<&str> = parts.collect();
    let value_of = |name: &str| {
        let at = NAMES.iter().position(|known| *known == name)?;
        values.get(at).copied()
    };
    let together: String = pieces(template)
        .map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Variable(name, at) => &template[at..at + name.len() + 2],
        })
        .collect();
    assert_eq!(together, template, "the pieces make up the template");
    let naive = replaced(template, value_of);
    let resolved = resolve(template, value_of);
    if naive.len() <= MAX_RESOLVED {
        assert_eq!(resolved, naive);
    } else {
        let (kept, told) = resolved.rsplit_once('\n').expect("a cut text says so");
        assert!(kept.len() <= MAX_RESOLVED && naive.starts_with(kept));
        assert!(told.starts_with("[cut: "));
    }
}

/// The same, by a regular expression.
fn replaced<'v>(template: &str, value_of: impl Fn(&str) -> Option<&'v str>) -> String {
    let variable = Regex::new(r"\{([A-Za-z0-9_]*)\}").expect("it is an expression");
    let value = |found: &Captures<'_>| value_of(&found[1]).unwrap_or(&found[0]).to_owned();
    variable.replace_all(template, value).into_owned()
}
