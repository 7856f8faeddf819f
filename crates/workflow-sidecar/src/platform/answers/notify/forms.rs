//! The texts of notices, and the requests that send them.

use serde_json::{Value, json};
use workflow_core::definition::{NoticeTemplate, NoticeText, NotifierAddress};
use workflow_core::diagnostic::visible_lines;
use workflow_core::without_secrets;

use super::Notice;

/// Characters of one text of a notice.
const MAX_TEXT: usize = 1000;
/// Characters that a terminal shows.
const MAX_IN_TERMINAL: usize = 200;

/// A text of a workflow or a task, as it is sent.
fn sent(text: &str) -> String {
    let text = without_secrets(text);
    visible_lines(&text).chars().take(MAX_TEXT).collect()
}

impl Notice {
    /// The notice for people, each part on a line of its own.
    pub(super) fn text(&self, say: NoticeText, link: Option<&str>) -> String {
        let (run, says_task) = (&self.run, say == NoticeText::Task);
        let mut parts = vec![sent(&run.workflow)];
        if !run.phase.is_empty() {
            parts.extend([" > ".to_owned(), sent(&run.phase)]);
        }
        parts.push(match &self.question {
            Some((ask, _)) if says_task => format!(" waits for your approval: {}", sent(ask)),
            Some(_) => " waits for your approval".to_owned(),
            None => format!(": {}", sent(run.words())),
        });
        if says_task {
            parts.extend(["\nTask: ".to_owned(), sent(&run.task)]);
        }
        let mut text = parts.concat();
        if let Some((_, code)) = &self.question {
            text += "\nAnswer in the host, or in a terminal: workflow-sidecar approve ";
            text += code;
        }
        text + &link.map_or_else(String::new, |link| format!("\n{link}")) + "\n"
    }

    /// What makes a terminal show it: without a character that acts on the terminal, and without the code.
    pub(super) fn of_terminal(&self) -> String {
        let text = self.text(NoticeText::Name, None);
        let line = text.lines().next().unwrap_or_default().chars();
        let line: String = line
            .filter(|c| !c.is_control())
            .take(MAX_IN_TERMINAL)
            .collect();
        format!("\x1b]9;workflow-sidecar: {line}\x07")
    }

    /// The page of the run in a board. The code is only sent encrypted.
    fn link(&self, board: &str) -> String {
        let is_sign = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let run: String = self.run.task_id.chars().filter(is_sign).collect();
        let board = board.trim_end_matches('/');
        match &self.question {
            Some((_, code)) if board.starts_with("https:") => {
                format!("{board}/a?run={run}&code={code}")
            }
            Some(_) => format!("{board}/a?run={run}"),
            None => format!("{board}/?run={run}"),
        }
    }
}

/// The request for an address, as `curl` reads it.
pub(super) fn request(address: &NotifierAddress, notice: &Notice) -> String {
    let link = address.link.as_ref().map(|board| notice.link(board));
    let link = link.as_deref();
    let text = notice.text(address.say, link);
    let mut headers = vec![("Content-Type", "application/json")];
    let body = match address.template {
        NoticeTemplate::Json => {
            json_of(notice, address.say == NoticeText::Task, &text, link).to_string()
        }
        NoticeTemplate::Slack => {
            let text = text.replace('&', "&amp;").replace('<', "&lt;");
            json!({ "text": text.replace('>', "&gt;") }).to_string()
        }
        NoticeTemplate::Teams => card(&text, link).to_string(),
        NoticeTemplate::Ntfy => {
            headers = vec![("Content-Type", "text/plain")];
            headers.extend(link.map(|link| ("Click", link)));
            text
        }
    };
    let mut lines = vec![("url", address.url.clone()), ("data-raw", body)];
    let own = address.headers.iter();
    let own = own.map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in headers.into_iter().chain(own) {
        lines.push(("header", format!("{name}: {value}")));
    }
    if address.url.starts_with("http:") {
        // It is on this machine.
        lines.push(("noproxy", "*".to_owned()));
    }
    let option = |(name, value): (&str, String)| format!("{name} = \"{}\"\n", quoted(&value));
    lines.into_iter().map(option).collect()
}

/// A value in the quotes of a file of options.
fn quoted(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    value.replace('\n', "\\n").replace('\t', "\\t")
}

fn json_of(notice: &Notice, says_task: bool, text: &str, link: Option<&str>) -> Value {
    let (run, project) = (&notice.run, notice.project.file_name());
    let question = notice.question.as_ref();
    let ask = question.filter(|_| says_task);
    let mut object = json!({
        "event": notice.event,
        "run": run.task_id,
        "workflow": sent(&run.workflow),
        "phase": sent(&run.phase),
        "project": project.map(|name| sent(&name.to_string_lossy())),
        "text": text,
        "task": says_task.then(|| sent(&run.task)),
        "asks": ask.map(|(ask, _)| sent(ask)),
        "code": question.map(|(_, code)| code),
        "link": link,
    });
    if let Some(members) = object.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    object
}

/// An Adaptive Card, whose texts are no Markdown.
fn card(text: &str, link: Option<&str>) -> Value {
    let block =
        |text| json!({"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text}]});
    let body: Vec<Value> = text.lines().map(block).collect();
    let open = |url| json!({"type": "Action.OpenUrl", "title": "Open", "url": url});
    let actions: Vec<Value> = link.into_iter().map(open).collect();
    let content =
        json!({"type": "AdaptiveCard", "version": "1.4", "body": body, "actions": actions});
    let kind = "application/vnd.microsoft.card.adaptive";
    json!({"type": "message", "attachments": [{"contentType": kind, "content": content}]})
}
