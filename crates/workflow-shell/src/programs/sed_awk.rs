//! Output files of `sed` and `awk` programs.
//!
//! The readers know as much of the two languages as it takes to find output files. Unknown syntax ends the
//! search: these programs are short, and most of them only print.

/// Returns the files that a `sed` script writes; `None` where it runs a command.
pub(crate) fn sed(script: &str) -> Vec<Option<String>> {
    let mut sed = Sed {
        rest: script,
        files: Vec::new(),
    };
    while sed.command().is_some() {}
    sed.files
}

struct Sed<'a> {
    rest: &'a str,
    files: Vec<Option<String>>,
}

impl<'a> Sed<'a> {
    fn next(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    fn line(&mut self) -> &'a str {
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        line
    }

    /// Reads one command with its addresses.
    fn command(&mut self) -> Option<()> {
        loop {
            match self.next()? {
                ' '
                | '\t'
                | '\n'
                | ';'
                | '{'
                | '}'
                | '0'..='9'
                | '$'
                | ','
                | '+'
                | '~'
                | '!'
                | '\0'
                | 'I'
                | 'M' => {}
                '/' => self.delimited('/')?,
                '\\' => {
                    let delimiter = self.next()?;
                    self.delimited(delimiter)?;
                }
                's' => {
                    let delimiter = self.next()?;
                    self.delimited(delimiter)?;
                    self.delimited(delimiter)?;
                    return self.flags();
                }
                'y' => {
                    let delimiter = self.next()?;
                    self.delimited(delimiter)?;
                    self.delimited(delimiter)?;
                    return Some(());
                }
                'w' | 'W' => {
                    self.file();
                    return Some(());
                }
                'e' => {
                    self.line();
                    self.files.push(None);
                    return Some(());
                }
                ':' | 'b' | 't' | 'T' => {
                    let end = self.rest.find([';', '\n', '}']).unwrap_or(self.rest.len());
                    self.rest = &self.rest[end..];
                    return Some(());
                }
                'a' | 'i' | 'c' => {
                    while self.line().ends_with('\\') {}
                    return Some(());
                }
                'r' | 'R' | '#' | 'v' => {
                    self.line();
                    return Some(());
                }
                _ => return Some(()),
            }
        }
    }

    fn delimited(&mut self, delimiter: char) -> Option<()> {
        let mut bracket = false;
        loop {
            match self.next()? {
                '\\' => {
                    self.next()?;
                }
                '[' => bracket = true,
                ']' => bracket = false,
                next if next == delimiter && !bracket => return Some(()),
                next if next == delimiter && !self.rest.contains(']') => return Some(()),
                _ => {}
            }
        }
    }

    fn flags(&mut self) -> Option<()> {
        loop {
            match self.next()? {
                'w' => {
                    self.file();
                    return Some(());
                }
                'e' => self.files.push(None),
                ';' | '\n' | '}' => return Some(()),
                _ => {}
            }
        }
    }

    fn file(&mut self) {
        let name = self.line().trim();
        self.files
            .push((!name.contains('\0')).then(|| name.to_owned()));
    }
}

/// Returns the files that an `awk` program writes; `None` where it runs a command or computes the name.
pub(crate) fn awk(program: &str) -> Vec<Option<String>> {
    let mut files = Vec::new();
    let mut printing = false;
    let mut open = 0_usize;
    let mut text = String::new();
    let mut rest = program;
    // The last character that was not blank: after a value, `/` divides.
    let mut before = ' ';
    while let Some(next) = rest.chars().next() {
        rest = &rest[next.len_utf8()..];
        match next {
            '"' => rest = awk_string(rest).1,
            '/' if !(before.is_alphanumeric() || matches!(before, '_' | ')' | ']' | '$' | '"')) => {
                rest = awk_regex(rest);
            }
            '#' => rest = rest.split_once('\n').map_or("", |(_, rest)| rest),
            '(' => open += 1,
            ')' => open = open.saturating_sub(1),
            ';' | '\n' | '}' => printing = false,
            '>' if printing && open == 0 => {
                rest = rest.trim_start_matches('>');
                files.push(awk_target(rest));
            }
            '|' if rest.starts_with('|') => rest = &rest[1..],
            '|' => {
                let reads = rest.trim_start_matches(['&', ' ']).starts_with("getline");
                // `print | "sort"` only sorts; any other command may do anything.
                let harmless = awk_target(rest).is_some_and(|command| {
                    ["sort", "cat", "uniq", "wc", "head", "column"]
                        .contains(&command.split(' ').next().unwrap_or_default())
                        && !command.contains(['>', ';', '&', '|', '`', '$'])
                        && !command.contains("-o")
                });
                if reads || printing && !harmless {
                    files.push(None);
                }
            }
            letter if letter.is_ascii_alphabetic() || letter == '_' => {
                text.clear();
                text.push(letter);
                let end = rest
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .unwrap_or(rest.len());
                text.push_str(&rest[..end]);
                rest = &rest[end..];
                match text.as_str() {
                    "print" | "printf" => {
                        printing = true;
                        open = 0;
                    }
                    "system" => files.push(None),
                    _ => {}
                }
            }
            _ => {}
        }
        if !matches!(next, ' ' | '\t') {
            before = next;
        }
    }
    files.retain(|file| file.as_deref().is_none_or(|file| file != "-"));
    files
}

/// Returns the string literal that follows, if one does.
fn awk_target(rest: &str) -> Option<String> {
    let rest = rest.trim_start().strip_prefix('"')?;
    let (text, after) = awk_string(rest);
    let alone = after
        .trim_start()
        .chars()
        .next()
        .is_none_or(|next| matches!(next, ';' | '}' | '\n' | ')'));
    (alone && !text.contains('\0')).then(|| text.to_owned())
}

/// Returns the text after the regular expression that starts here.
fn awk_regex(rest: &str) -> &str {
    let (mut escaped, mut bracket) = (false, false);
    for (at, next) in rest.char_indices() {
        match next {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => bracket = true,
            ']' => bracket = false,
            '\n' => return &rest[at..],
            '/' if !bracket => return &rest[at + 1..],
            _ => {}
        }
    }
    ""
}

/// Splits a string literal from the text after it.
fn awk_string(rest: &str) -> (&str, &str) {
    let mut escaped = false;
    for (at, next) in rest.char_indices() {
        match next {
            '\\' if !escaped => escaped = true,
            '"' if !escaped => return (&rest[..at], &rest[at + 1..]),
            _ => escaped = false,
        }
    }
    (rest, "")
}
