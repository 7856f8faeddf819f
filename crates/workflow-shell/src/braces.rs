//! Brace expansion: `{a,b}` as shells and globs define it.

/// The largest number of texts that one text may stand for.
const MAX_TEXTS: usize = 64;

/// Expands all braces with a comma, in the order of a shell. Braces without one are replaced by the result of `single` for their
/// content. Returns `None` if there would be more than 64 texts.
pub fn expand_braces(text: &str, single: fn(&str) -> String) -> Option<Vec<String>> {
    let mut done = Vec::new();
    // Each entry is a prefix that is done and a rest that is not.
    let mut open = vec![(String::new(), text.to_owned())];
    while let Some((mut before, rest)) = open.pop() {
        if done.len() + open.len() >= MAX_TEXTS {
            return None;
        }
        let mut rest = rest.as_str();
        loop {
            let Some((start, end, commas)) = first_braces(rest) else {
                done.push(before + rest);
                break;
            };
            let (head, tail) = (&rest[..start], &rest[end + 1..]);
            before.push_str(head);
            if commas.is_empty() {
                before.push_str(&single(&rest[start + 1..end]));
                rest = tail;
                continue;
            }
            let mut to = end;
            for comma in commas.into_iter().rev().chain([start]) {
                let part = &rest[comma + 1..to];
                open.push((before.clone(), format!("{part}{tail}")));
                to = comma;
            }
            break;
        }
    }
    Some(done)
}

/// Returns whether a text may have a sequence from capital to small letters or back, as `{Z..a}`, which has a backquote.
pub(crate) fn has_mixed_sequence(text: &str) -> bool {
    text.as_bytes().windows(5).any(|part| match *part {
        [b'{', from, b'.', b'.', to] => {
            from.is_ascii_uppercase() && to.is_ascii_lowercase()
                || from.is_ascii_lowercase() && to.is_ascii_uppercase()
        }
        _ => false,
    })
}

/// Finds the first pair of braces and the commas at its top level.
fn first_braces(text: &str) -> Option<(usize, usize, Vec<usize>)> {
    let (mut start, mut depth, mut commas) = (None, 0_usize, Vec::new());
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'{' => {
                start.get_or_insert(at);
                depth += 1;
            }
            b'}' if depth == 1 => return Some((start?, at, commas)),
            b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 1 => commas.push(at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::expand_braces;

    fn expanded(text: &str) -> Vec<String> {
        expand_braces(text, |inside| format!("{{{inside}}}")).expect("the number of texts is small")
    }

    #[test]
    fn braces_expand_to_each_of_their_parts() {
        assert_eq!(expanded("a"), ["a"]);
        assert_eq!(expanded("{a,b}/c"), ["a/c", "b/c"]);
        assert_eq!(expanded("{a,b{c,d}}x"), ["ax", "bcx", "bdx"]);
        assert_eq!(expanded("x{,.bak}"), ["x", "x.bak"]);
        assert_eq!(expanded("{b,a}{d,c}"), ["bd", "bc", "ad", "ac"]);
        assert_eq!(expanded("{a}{"), ["{a}{"]);
        assert_eq!(expanded("\\{a,b}"), ["\\{a,b}"]);
        assert_eq!(expand_braces(&"{a,b}".repeat(20), str::to_owned), None);
    }
}
