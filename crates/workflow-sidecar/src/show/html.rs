//! Runs as a web page in one file, which loads nothing.

use askama::Template;

use super::Timelines;
use super::described::Below;
use super::page::RunPage;

/// The longest page, in bytes.
const LONGEST: usize = 300_000;

/// The page. Texts are escaped; only the picture, which has its own escapes, and the style are not.
#[derive(Template)]
#[template(path = "show/page.html")]
struct Html<'p> {
    title: &'p str,
    runs: &'p [RunPage],
    style: &'static str,
}

impl Timelines {
    /// Makes a web page of the runs.
    pub(crate) fn html(self) -> anyhow::Result<String> {
        self.fitted(LONGEST, |runs| {
            let title = runs.first().map_or("No run", |run| &*run.workflow);
            let style = include_str!("page.css");
            let html = Html { title, runs, style };
            Ok(html.render()?)
        })
    }
}
