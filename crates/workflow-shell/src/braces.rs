//! `{a,b}` taken apart, as shells and globs have it.

/// How many texts one text may stand for.
const MOST: usize = 64;

/// What a text with `{a,b}` in it stands for; `None` if that is too much. Braces without a comma are
/// told to `single`, with what is in them.
pub(super) fn alternatives(text: &str, single: fn(&str) -> String) -> Option<Vec<String>> {
    let mut done = Vec::new();
    // What is settled, and what is left to be looked at.
    let mut open = vec![(String::new(), text.to_owned())];
    while let Some((before, rest)) = open.pop() {
        if done.len() + open.len() >= MOST {
            return None;
        }
        let Some((start, end, commas)) = first_braces(&rest) else {
            done.push(before + &rest);
            continue;
        };
        let (head, tail) = (&rest[..start], &rest[end + 1..]);
        if commas.is_empty() {
            let inside = single(&rest[start + 1..end]);
            open.push((format!("{before}{head}{inside}"), tail.to_owned()));
            continue;
        }
        let mut from = start + 1;
        for to in commas.into_iter().chain([end]) {
            let part = &rest[from..to];
            open.push((before.clone() + head, format!("{part}{tail}")));
            from = to + 1;
        }
    }
    Some(done)
}

/// The first pair of braces, and the commas that stand right in it.
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
    use super::alternatives;

    fn of(text: &str) -> Vec<String> {
        let mut all = alternatives(text, |inside| format!("{{{inside}}}")).expect("it is not much");
        all.sort();
        all
    }

    #[test]
    fn braces_stand_for_each_of_their_parts() {
        assert_eq!(of("a"), ["a"]);
        assert_eq!(of("{a,b}/c"), ["a/c", "b/c"]);
        assert_eq!(of("{a,b{c,d}}x"), ["ax", "bcx", "bdx"]);
        assert_eq!(of("x{,.bak}"), ["x", "x.bak"]);
        assert_eq!(of("{a}{"), ["{a}{"]);
        assert_eq!(of("\\{a,b}"), ["\\{a,b}"]);
        assert_eq!(alternatives(&"{a,b}".repeat(20), str::to_owned), None);
    }
}
