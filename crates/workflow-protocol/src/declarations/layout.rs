//! The layout of a TypeScript declaration.
//!
//! ts-rs puts a declaration without comments on one line, and breaks lines anywhere around comments.

use std::fmt::Write;

/// A declaration with a member a line, as a person would write it.
pub(super) fn laid_out(declaration: &str) -> String {
    let mut layout = Layout::default();
    let mut rest = declaration;
    while let Some(next) = rest.chars().next() {
        let taken = match next {
            '/' if rest.starts_with("/**") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            other => other.len_utf8(),
        };
        layout.add(&rest[..taken]);
        rest = &rest[taken..];
    }
    layout.text
}

/// The text so far and where in it we are.
#[derive(Default)]
struct Layout {
    text: String,
    objects: usize,
    generics: usize,
}

impl Layout {
    /// Adds a comment, a string or a character.
    fn add(&mut self, token: &str) {
        match token {
            "{" => {
                self.objects += 1;
                self.text.push('{');
                self.new_line();
            }
            "}" => {
                self.objects -= 1;
                self.new_line();
                self.text.push('}');
            }
            "," if self.generics == 0 => {
                self.text.push(';');
                self.new_line();
            }
            " " | "\n" => {
                if !self.text.ends_with([' ', '\n']) {
                    self.text.push(' ');
                }
            }
            comment if comment.starts_with("/**") => self.comment(comment),
            other => {
                self.generics += usize::from(other == "<");
                self.generics -= usize::from(other == ">");
                self.text.push_str(other);
            }
        }
    }

    /// Starts a line, unless one has just been started.
    fn new_line(&mut self) {
        self.text.truncate(self.text.trim_end().len());
        write!(self.text, "\n{}", self.indent()).expect("writing to a string cannot fail");
    }

    fn indent(&self) -> String {
        "  ".repeat(self.objects)
    }

    /// Adds a comment, on one line if it has only one.
    fn comment(&mut self, comment: &str) {
        let text = comment
            .trim_start_matches("/**")
            .trim_end_matches("*/")
            .trim();
        let lines: Vec<&str> = text
            .lines()
            .map(|line| line.trim().trim_start_matches('*').trim())
            .collect();
        let indent = self.indent();
        match lines.as_slice() {
            [only] => write!(self.text, "/** {only} */"),
            lines => {
                let lines: String = lines
                    .iter()
                    .map(|line| format!("{indent} * {line}").trim_end().to_owned() + "\n")
                    .collect();
                write!(self.text, "/**\n{lines}{indent} */")
            }
        }
        .expect("writing to a string cannot fail");
        self.new_line();
    }
}

#[cfg(test)]
mod tests {
    use super::laid_out;

    #[test]
    fn a_member_takes_a_line_and_a_short_comment_another() {
        let raw = "/**\n * One.\n */\nexport type A = { \n/**\n * Its\n *\n * b, {c}.\n */\nb?: { c: 1, }, d: Record<string, \"e,\">, };";
        let expected = "\
/** One. */
export type A = {
  /**
   * Its
   *
   * b, {c}.
   */
  b?: {
    c: 1;
  };
  d: Record<string, \"e,\">;
};";
        assert_eq!(laid_out(raw), expected);
    }
}
