//! Texts of the engine, with the names that commands have in a prompt.

/// The engine's names of commands, and how a person types them as a prompt. Longer ones first.
const COMMANDS: [(&str, &str); 12] = [
    ("/workflow-status", "workflow status"),
    ("/workflow-pause", "workflow pause"),
    ("/workflow-resume", "workflow resume"),
    ("/workflow-next", "workflow next"),
    ("/workflow-skip", "workflow skip"),
    ("/workflow-goto", "workflow goto"),
    ("/workflow-approve", "workflow approve"),
    ("/cancel-workflow", "workflow cancel"),
    ("Run /workflow again", "Type it again"),
    ("Usage: /workflow ", "Usage: workflow "),
    ("Write: /workflow ", "Write: workflow "),
    ("/workflow {", "workflow {"),
];

/// Returns a text for the person with the commands as prompts.
pub(crate) fn with_commands_as_prompts(text: &str) -> String {
    COMMANDS
        .iter()
        .fold(text.to_owned(), |text, (name, prompt)| {
            text.replace(name, prompt)
        })
}
