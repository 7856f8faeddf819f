//! The text form of a diagnostic, in the way of rustc.

use annotate_snippets::{
    Annotation, AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet,
};

use super::{Diagnostic, Place, Region, Severity};

/// The diagnostic as a few lines of text, without a newline at the end.
#[must_use]
pub fn render(diagnostic: &Diagnostic, color: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let title = level
        .primary_title(diagnostic.message.as_str())
        .id(diagnostic.code.as_str());
    let group = Group::with_title(title).elements(elements(diagnostic));
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    renderer.render(&[group])
}

fn elements(diagnostic: &Diagnostic) -> Vec<Element<'_>> {
    let help = diagnostic.help.as_deref();
    let message = help.map(|help| Level::HELP.message(help).into());
    match &diagnostic.place {
        None => message.into_iter().collect(),
        Some(Place { file, region: None }) => {
            let origin = Origin::path(&**file).into();
            std::iter::once(origin).chain(message).collect()
        }
        Some(Place {
            file,
            region: Some(region),
        }) => {
            vec![origin(file, region).into(), snippet(region, help).into()]
        }
    }
}

/// The header line. Separate from the snippet, because a cut line knows nothing of its column.
fn origin<'a>(file: &'a str, region: &Region) -> Origin<'a> {
    Origin::path(file)
        .line(region.line as usize)
        .char_column(region.column as usize)
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

    fn misspelt() -> Diagnostic {
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
        .at(Place {
            file: ".pi/workflows/bugfix/reproduce.md".into(),
            region: Some(region),
        })
        .with_help("did you mean `whitelist`?")
    }

    #[test]
    fn shows_the_place_and_the_cure() {
        insta::assert_snapshot!(render(&misspelt(), false), @r"");
    }

    #[test]
    fn a_file_without_a_region_and_no_place_at_all() {
        let mut diagnostic = misspelt();
        diagnostic.place = Some(Place::file("a/workflow.yaml"));
        insta::assert_snapshot!(render(&diagnostic, false), @r"");
        diagnostic.place = None;
        insta::assert_snapshot!(render(&diagnostic, false), @r"");
    }

    #[test]
    fn color_adds_escapes_and_plain_text_has_none() {
        assert!(render(&misspelt(), true).contains('\u{1b}'));
        assert!(!render(&misspelt(), false).contains('\u{1b}'));
    }
}
