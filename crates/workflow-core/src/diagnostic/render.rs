//! The text form of a diagnostic, in the style of rustc.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::{Diagnostic, Location, Region, Severity};

/// The diagnostic as a few lines of text, without a newline at the end.
pub fn render(diagnostic: &Diagnostic, color: bool) -> String {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    renderer.render(&groups(diagnostic))
}

fn groups(diagnostic: &Diagnostic) -> Vec<Group<'_>> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let title = level
        .clone()
        .primary_title(diagnostic.message.as_str())
        .id(diagnostic.code.as_str());
    let group = Group::with_title(title);
    let help = diagnostic.help.as_deref();
    let below = help.map(|help| Level::HELP.message(help));
    match &diagnostic.location {
        None => vec![group.elements(below)],
        Some(Location { file, region: None }) => {
            vec![group.element(Origin::path(&**file)).elements(below)]
        }
        Some(Location {
            file,
            region: Some(region),
        }) => {
            let snippet = snippet(region, help);
            if shows_its_column(region) {
                return vec![group.element(snippet.path(&**file))];
            }
            let origin = Origin::path(&**file)
                .line(region.line as usize)
                .char_column(region.column as usize);
            vec![
                group.element(origin),
                Group::with_level(level).element(snippet),
            ]
        }
    }
}

/// True if the excerpt starts at the start of its line, so that columns can be counted in it.
fn shows_its_column(region: &Region) -> bool {
    let before = region.excerpt.text.get(..region.excerpt.start);
    before.is_some_and(|before| before.chars().count() + 1 == region.column as usize)
}

fn snippet<'a>(region: &'a Region, help: Option<&'a str>) -> Snippet<'a, Annotation<'a>> {
    let excerpt = &region.excerpt;
    Snippet::source(excerpt.text.as_str())
        .line_start(region.line as usize)
        .annotation(
            AnnotationKind::Primary
                .span(excerpt.start..excerpt.end)
                .label(help),
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::{Code, Excerpt};

    fn misspelled() -> Diagnostic {
        let region = Region {
            line: 6,
            column: 3,
            end_line: 6,
            end_column: 11,
            excerpt: Excerpt {
                text: "  whitlist: [read, grep]".into(),
                start: 2,
                end: 10,
            },
        };
        Diagnostic::new(
            Code::UnknownGuardKey,
            Severity::Error,
            "unknown key `whitlist`: a guard must not be dropped",
        )
        .at(Location {
            file: ".pi/workflows/bugfix/reproduce.md".into(),
            region: Some(region),
        })
        .with_help("did you mean `whitelist`?")
    }

    #[test]
    fn shows_the_location_and_the_hint() {
        insta::assert_snapshot!(render(&misspelled(), false), @r"
        error[WF012]: unknown key `whitlist`: a guard must not be dropped
         --> .pi/workflows/bugfix/reproduce.md:6:3
          |
        6 |   whitlist: [read, grep]
          |   ^^^^^^^^ did you mean `whitelist`?
        ");
    }

    #[test]
    fn a_cut_line_keeps_its_real_column() {
        let mut diagnostic = misspelled();
        if let Some(region) = diagnostic
            .location
            .as_mut()
            .and_then(|location| location.region.as_mut())
        {
            region.column = 3001;
            region.excerpt.text = "…whitlist: [read…".into();
            region.excerpt.start = 3;
            region.excerpt.end = 11;
        }
        insta::assert_snapshot!(render(&diagnostic, false), @r"
        error[WF012]: unknown key `whitlist`: a guard must not be dropped
         --> .pi/workflows/bugfix/reproduce.md:6:3001
          |
          |
        6 | …whitlist: [read…
          |  ^^^^^^^^ did you mean `whitelist`?
        ");
    }

    #[test]
    fn a_diagnostic_without_a_region_or_without_a_file() {
        let mut diagnostic = misspelled();
        diagnostic.location = Some(Location::file("a/workflow.yaml"));
        insta::assert_snapshot!(render(&diagnostic, false), @r"
        error[WF012]: unknown key `whitlist`: a guard must not be dropped
        --> a/workflow.yaml
         = help: did you mean `whitelist`?
        ");
        diagnostic.location = None;
        insta::assert_snapshot!(render(&diagnostic, false), @r"
        error[WF012]: unknown key `whitlist`: a guard must not be dropped
         |
         = help: did you mean `whitelist`?
        ");
    }

    #[test]
    fn color_adds_escapes_and_plain_text_has_none() {
        assert!(render(&misspelled(), true).contains('\u{1b}'));
        assert!(!render(&misspelled(), false).contains('\u{1b}'));
    }
}
