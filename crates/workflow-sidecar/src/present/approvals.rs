//! Requests for approval, as people and programs read them.

use serde::Serialize;
use workflow_core::approval::{Proofs, Request};
use workflow_core::diagnostic::{shown, visible, visible_lines};

use super::page::{DIMMED, GOOD, NOTABLE, Page, TITLE, paint};
use crate::platform::answers::requests::AskedRequest;
use crate::platform::file_excerpt;

/// A request in a list.
#[derive(Serialize)]
pub(crate) struct ListedRequest {
    #[serde(flatten)]
    request: Request,
    /// The answer that was not used yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<String>,
}

impl From<AskedRequest> for ListedRequest {
    fn from((request, decision): AskedRequest) -> Self {
        Self {
            request: Request {
                shown_file: None,
                proofs: Proofs::default(),
                ..request
            },
            choice: decision.map(|decision| decision.choice),
        }
    }
}

impl ListedRequest {
    /// Returns true if there is no answer yet.
    pub(crate) fn waits(&self) -> bool {
        self.choice.is_none()
    }
}

/// Adds a list of requests.
pub(crate) fn approvals_page(listed: &[ListedRequest], page: &mut Page) {
    if listed.is_empty() {
        page.line("Nothing waits for your approval.");
    }
    for ListedRequest { request, choice } in listed {
        add_title(request, page);
        page.line(format_args!("  {}", visible(&request.ask)));
        page.line(match choice {
            None => format!("  {}", paint(NOTABLE, "waits")),
            Some(choice) => {
                let answered = paint(GOOD, "answered");
                format!("  {answered}: {}; not used yet", visible(choice))
            }
        });
    }
}

/// The run of a request, where it is.
fn add_title(request: &Request, page: &mut Page) {
    let [workflow, phase] = [&request.workflow, &request.phase].map(|name| visible(name));
    let place = paint(TITLE, format_args!("{workflow} > {phase}"));
    page.line(format_args!("{place}: {}", shown(&request.task)));
    let cwd = visible(&request.cwd.to_string_lossy());
    let run = format_args!("{} in {cwd}", request.task_id);
    page.line(format_args!("  {}", paint(DIMMED, run)));
}

/// A request with what it is about, the file that it shows, and what each choice does.
pub(crate) fn approval_page(request: &Request) -> Page {
    let mut page = Page::default();
    add_title(request, &mut page);
    if !request.about.is_empty() {
        page.line("");
    }
    for line in &request.about {
        page.line(format_args!("  {}", visible(line)));
    }
    if let (Some(show), Some(file)) = (&request.show, &request.shown_file) {
        page.line(format_args!("\n{}", visible(show)));
        page.block("  ", visible_lines(&file.excerpt).trim_end());
        if file.excerpt.ends_with(file_excerpt::CUT) {
            let cut = paint(DIMMED, "This is the beginning of a longer file.");
            page.line(format_args!("  {cut}"));
        }
    }
    page.line(format_args!(
        "\n{}",
        paint(TITLE, visible_lines(&request.ask))
    ));
    let choices = request.choices.iter().zip(&request.consequences);
    let choices = choices.enumerate().map(|(at, (choice, does))| {
        let choice = format!("{} {}", at + 1, visible(choice));
        (choice, visible(does))
    });
    page.pairs(&choices.collect::<Vec<_>>());
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::answers::requests::tests::request;

    #[test]
    fn a_question_has_what_it_is_about_and_what_each_choice_does() {
        let page = approval_page(&Request {
            shown_file: None,
            ..request("wf-1")
        });
        assert_eq!(
            anstream::adapter::strip_str(&page.0).to_string(),
            "Feature > Plan: a button\n  wf-1 in /project\n\n  The agent says: It is a button.\n\nPlan OK?\n\
             \x20 1 approve  goes to 🔧 Build\n  2 revise   stays in Plan\n"
        );
    }
}
