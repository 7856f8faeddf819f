//! Texts of the engine, with the names that commands have in a prompt.

use workflow_core::session::Control;

/// The engine's names of the other commands, and how a person types them as a prompt, after the word of the host. Longer ones first.
#[rustfmt::skip] // A row a line.
const COMMANDS: [(&str, &str); 10] = [
    ("The user answers in this session,", "The user answers with the prompt `{workflow} approve`,"),
    ("close this session and trust them with `workflow-sidecar trust` in a terminal", "trust them with the prompt `{workflow} trust`"),
    ("`workflow-sidecar trust` once this session is closed", "the prompt `{workflow} trust`"),
    ("`/workflow ", "`{workflow} "),
    ("/workflow-quick", "{workflow} quick"),
    ("/cancel-workflow", "{workflow} cancel"),
    ("Run /workflow again", "Type it again"),
    ("Usage: /workflow ", "Usage: {workflow} "),
    ("Write: /workflow ", "Write: {workflow} "),
    ("/workflow {", "{workflow} {"),
];

/// Returns a text for the person with the commands as prompts, which begin with this word in the host.
pub(crate) fn with_commands_as_prompts(text: &str, word: &str) -> String {
    let mut text = text.to_owned();
    for control in Control::ALL {
        let prompt = format!("{word} {}", control.short_name());
        text = text.replace(&format!("/{}", control.word()), &prompt);
    }
    for (name, prompt) in COMMANDS {
        text = text.replace(name, &prompt.replace("{workflow}", word));
    }
    text
}
