//! Runs as a web page in one file, which loads nothing, and as a part of the board's pages.

use askama::Template;

use super::Timelines;
use super::described::Below;
use super::page::RunPage;
use crate::graph::STYLE;

/// The longest page, in bytes.
const LONGEST: usize = 300_000;

/// The page. Texts are escaped; only the picture, which has its own escapes, and the style are not.
#[derive(Template)]
#[template(path = "show/page.html")]
struct Html<'p> {
    title: &'p str,
    runs: &'p [RunPage],
}

/// What a page shows of runs.
#[derive(Template)]
#[template(path = "show/articles.html")]
struct Articles<'p> {
    runs: &'p [RunPage],
}

impl Timelines {
    /// Makes a web page of the runs.
    pub(crate) fn html(self) -> anyhow::Result<String> {
        self.fitted(LONGEST, |runs| {
            let title = runs.first().map_or("No run", |run| &*run.workflow);
            Ok(Html { title, runs }.render()?)
        })
    }

    /// Makes HTML of the runs, for a page with [`style`].
    pub(crate) fn articles(self) -> anyhow::Result<String> {
        self.fitted(LONGEST, |runs| Ok(Articles { runs }.render()?))
    }
}

/// The style of a page with runs and their pictures.
pub(crate) fn style() -> String {
    [include_str!("page.css"), STYLE].concat()
}
