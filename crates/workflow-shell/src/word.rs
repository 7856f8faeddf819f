//! Words: the arguments of a command after expansion.

/// The character for a part that only the running shell knows. No argument can contain it.
pub(crate) const UNKNOWN: char = '\0';

/// An argument of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    /// The text, with NUL for each expansion whose result is unknown.
    pub(crate) shape: String,
    /// True if unquoted characters make it a glob or several words.
    pub(crate) is_glob: bool,
    /// True if it is or contains a process substitution.
    pub(crate) is_process: bool,
    /// True if the expansion at its start is the home directory.
    pub(crate) starts_at_home: bool,
    /// True if the unknown part at its start is known not to start with a dash.
    pub(crate) is_no_option: bool,
    /// True if an unquoted unknown part may add words, and so options.
    pub(crate) may_add_words: bool,
    /// True if a substitution at its start lists files.
    pub(crate) starts_with_files: bool,
    /// True if its unknown parts are numbers, each on one line.
    pub(crate) has_numbers_only: bool,
    /// True if one of its unknown parts is not empty.
    pub(crate) is_filled: bool,
    /// True if it is one word in spite of its unknown parts: quoted, or an item of a loop.
    pub(crate) is_one: bool,
}

impl Word {
    /// Creates a word that consists of text only.
    pub fn literal(text: &str) -> Self {
        Self {
            shape: text.to_owned(),
            ..Self::default()
        }
    }

    /// Creates a word of which nothing is known.
    pub fn unknown() -> Self {
        Self::literal("\0")
    }

    /// Returns the text, unless it contains an expansion or a glob.
    pub fn text(&self) -> Option<&str> {
        (!self.is_glob && !self.shape.contains(UNKNOWN)).then_some(self.shape.as_str())
    }

    /// Returns the text with NUL for each expansion.
    pub fn shape(&self) -> &str {
        &self.shape
    }

    /// Returns the name of the program that it names: the text after the last slash.
    pub fn program(&self) -> Option<&str> {
        let name = self.shape.rsplit('/').next().unwrap_or_default();
        (!self.is_glob && !name.is_empty() && !name.contains(UNKNOWN)).then_some(name)
    }

    /// Returns whether it may be an option, or add one, although its text does not start with a dash.
    pub(crate) fn may_hide_option(&self) -> bool {
        let starts_unknown = self.shape.starts_with(UNKNOWN)
            && !self.is_no_option
            && !self.starts_at_home
            && !self.is_process;
        starts_unknown || self.may_add_words || self.has_option_in_braces()
    }

    /// Returns whether it may be no word at all, so that the words behind it move up.
    pub(crate) fn may_be_none(&self) -> bool {
        let is_unknown = self.shape.bytes().all(|byte| byte == 0);
        !self.is_one && !self.shape.is_empty() && is_unknown
    }

    /// Returns whether one of the words that its braces stand for may be an option.
    pub(crate) fn has_option_in_braces(&self) -> bool {
        let shape = &self.shape;
        self.is_glob
            && (shape.starts_with('{') || shape.contains("}-") || shape.starts_with("-{"))
            && (shape.starts_with("-{")
                || ["{-", ",-", "{{", "{\0", ",\0", ",{"]
                    .iter()
                    .any(|part| shape.contains(part)))
    }

    /// Returns whether it stands for names of files that a command lists: `$(git ls-files)`. As with a glob, names that start with
    /// a dash are not expected.
    pub(crate) fn lists_files(&self) -> bool {
        // The substitution may be empty: what follows is no option either.
        let after = self.shape.strip_prefix(UNKNOWN).unwrap_or("-");
        self.starts_with_files
            && !after.contains(UNKNOWN)
            && (after.is_empty() || after.starts_with(['.', '/', '~', '^', ':']))
    }

    /// Returns the word as if its expansions neither were nor added an option.
    pub(crate) fn as_operand(&self) -> Self {
        Self {
            is_no_option: true,
            may_add_words: false,
            ..self.clone()
        }
    }

    /// Returns the word as a part of another one, or as one with none behind it.
    pub(crate) fn as_one(&self) -> Self {
        Self {
            is_one: true,
            ..self.clone()
        }
    }

    /// Creates a word of which only is known that it is no option.
    pub(crate) fn unknown_operand() -> Self {
        Self {
            is_no_option: true,
            ..Self::unknown()
        }
    }

    /// Creates a number that only the running shell knows.
    pub(crate) fn number() -> Self {
        Self {
            has_numbers_only: true,
            is_one: true,
            ..Self::unknown_operand()
        }
    }

    /// Returns the glob-free text, if its first part is no option and no expansion: a name of the shell.
    pub(crate) fn is_plain_name(&self) -> bool {
        !self.is_glob && is_name(&self.shape)
    }

    /// Returns the word with every occurrence of `placeholder` unknown.
    pub(crate) fn with_unknown(&self, placeholder: &str, by: &Self) -> Self {
        let starts_known = !self
            .shape
            .trim_start_matches(UNKNOWN)
            .starts_with(placeholder);
        Self {
            shape: self.shape.replace(placeholder, "\0"),
            is_no_option: by.is_no_option && !self.shape.starts_with(UNKNOWN)
                || starts_known && self.is_no_option,
            has_numbers_only: false,
            is_one: false,
            ..self.clone()
        }
    }

    /// Returns whether it names the standard input or another descriptor.
    pub(crate) fn is_standard_input(&self) -> bool {
        self.shape == "-" || is_descriptor(&self.shape)
    }

    /// Returns whether it is a number or empty.
    pub(crate) fn is_number(&self) -> bool {
        let digits = self.shape.strip_prefix('-').unwrap_or(&self.shape);
        digits.bytes().all(|byte| byte.is_ascii_digit())
            || self.has_numbers_only && self.shape == "\0"
    }

    /// Returns variable and value if it has the form `NAME=value`.
    pub(crate) fn assignment(&self) -> Option<(&str, Self)> {
        let (name, _) = self.shape.split_once('=')?;
        is_name(name).then(|| (name, self.suffix(name.len() + 1)))
    }

    /// Returns the part after `=`, regardless of the part before.
    pub(crate) fn after_equals(&self) -> Option<Self> {
        Some(self.suffix(self.shape.find('=')? + 1))
    }

    /// Returns the path it names, with `~` for the home directory and NUL for unknown parts.
    pub(crate) fn location(&self) -> String {
        if self.starts_at_home && (self.shape.len() == 1 || self.shape[1..].starts_with('/')) {
            return format!("~{}", &self.shape[1..]);
        }
        self.shape.clone()
    }

    /// Returns the word without its first `length` bytes.
    pub(crate) fn suffix(&self, length: usize) -> Self {
        Self {
            shape: self.shape.get(length..).unwrap_or_default().to_owned(),
            starts_at_home: self.starts_at_home && length == 0,
            is_no_option: self.is_no_option && length == 0,
            ..self.clone()
        }
    }
}

/// Returns whether a character can be in a name.
pub(crate) fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns whether a text is a name of the shell.
fn is_name(text: &str) -> bool {
    text.chars().all(is_of_name) && text.starts_with(|first: char| !first.is_ascii_digit())
}

/// Returns whether a path names a descriptor of a process: a file that is open already.
pub(crate) fn is_descriptor(path: &str) -> bool {
    let is_in = |directory: &str| path.starts_with(directory);
    path == "/dev/stdin"
        || is_in("/dev/fd")
        || is_in("/proc/") && (path.contains("/fd/") || path.contains("/fd\0"))
        || path.starts_with("/dev/") && path.contains("..")
}

/// Returns the quoted texts in a program that may be paths.
pub(crate) fn quoted_texts(code: &str) -> impl Iterator<Item = &str> {
    const QUOTES: [char; 3] = ['\'', '"', '`'];
    let mut rest = code;
    std::iter::from_fn(move || {
        loop {
            let at = rest.find(QUOTES)?;
            rest = &rest[at + 1..];
            let end = rest.find(QUOTES)?;
            let text = &rest[..end];
            if !text.is_empty() && !text.contains(char::is_whitespace) {
                return Some(text);
            }
        }
    })
}
