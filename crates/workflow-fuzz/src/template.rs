//! A template and its values: `template NUL value NUL value …`.

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

/// The same, read letter by letter.
fn replaced<'v>(template: &str, value_of: impl Fn(&str) -> Option<&'v str>) -> String {
    let letters: Vec<char> = template.chars().collect();
    let mut out = String::new();
    let mut at = 0;
    while at < letters.len() {
        let name: String = letters[at..]
            .iter()
            .skip(1)
            .take_while(|c| c.is_ascii_alphanumeric() || **c == '_')
            .collect();
        let closes = letters.get(at + 1 + name.len()) == Some(&'}');
        if let Some(value) = value_of(&name).filter(|_| letters[at] == '{' && closes) {
            out.push_str(value);
            at += name.len() + 2;
        } else {
            out.push(letters[at]);
            at += 1;
        }
    }
    out
}
