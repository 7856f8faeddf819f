//! Ready-made workflows, embedded in the binary.
//!
//! A template is a directory of `templates/`: a definition in both languages beside the phase files they share;
//! a directory in it is a subworkflow; its key is the workflow's with the directory's name behind it.

use workflow_core::definition::{Loaded, MemoryFiles, Tier, load};

/// The language a definition is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Yaml,
    Json5,
}

/// A ready-made workflow.
pub(crate) struct Template {
    /// Its name, and its default key.
    pub(crate) name: &'static str,
    /// The files of its directory: path and text.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// Values for its required inputs, as they are typed; empty if it has none.
    pub(crate) inputs: &'static str,
}

/// A template with its definition in both languages, and these files.
macro_rules! template {
    ($name:literal $inputs:literal: $($file:literal)*) => {
        Template {
            name: $name,
            inputs: $inputs,
            files: &[
                ("workflow.yaml", include_str!(concat!("../../templates/", $name, "/workflow.yaml"))),
                ("workflow.json5", include_str!(concat!("../../templates/", $name, "/workflow.json5"))),
                $(($file, include_str!(concat!("../../templates/", $name, "/", $file))),)*
            ],
        }
    };
}

/// The template that `init` writes by default.
pub(crate) const STARTER: Template = template!("starter" "": "plan.md" "do.md" "check.md");

/// The ready-made workflows.
pub(crate) const TEMPLATES: &[Template] = &[
    template!("feature" "": "spec.md" "agree.md" "plan.md" "wrap-up.md"
        "build/workflow.yaml" "build/workflow.json5" "build/implement.md" "build/check.md"),
    template!("tdd" "": "list.md" "look-back.md"
        "cycle/workflow.yaml" "cycle/workflow.json5" "cycle/red.md" "cycle/green.md" "cycle/clean.md"),
    template!("backlog" "": "plan.md" "report.md"
        "task/workflow.yaml" "task/workflow.json5" "task/build.md" "task/review.md"),
    template!("bugfix" "": "reproduce.md" "cause.md" "fix.md" "verify.md"),
    template!("review" "": "scope.md" "read.md" "prove.md" "report.md"),
    template!("refactor" "": "survey.md" "safety-net.md" "compare.md"
        "step/workflow.yaml" "step/workflow.json5" "step/change.md" "step/check.md"),
    template!("release" " version=1.2.0": "look.md" "agree.md" "publish.md"
        "candidate/workflow.yaml" "candidate/workflow.json5" "candidate/prepare.md" "candidate/confirm.md"),
    template!("docs" "": "outline.md" "write.md" "follow.md" "polish.md"),
];

/// The commented workflow and the ready-made ones.
pub(crate) fn templates() -> impl Iterator<Item = &'static Template> {
    std::iter::once(&STARTER).chain(TEMPLATES)
}

/// Quotes a name that YAML would not read as text, such as `1e5`, `true` and `-`.
fn yaml_text(name: &str) -> String {
    let is_word = |word: &&str| name.eq_ignore_ascii_case(word);
    let is_text = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && !["true", "false", "null"].iter().any(is_word);
    if is_text {
        name.to_owned()
    } else {
        format!("\"{name}\"")
    }
}

/// Replaces the workflow's display name by one that is derived from the key.
fn with_display_name(key: &str, text: &str, language: Language) -> String {
    let words = key.replace(['-', '_'], " ");
    let mut letters = words.trim().chars();
    let name = match letters.next() {
        Some(first) => first.to_ascii_uppercase().to_string() + letters.as_str(),
        None => key.to_owned(),
    };
    let named = match language {
        Language::Yaml => yaml_text(&name),
        Language::Json5 => format!("'{name}',"),
    };
    let mut lines = text.lines();
    let line = lines.find_map(|line| Some((line, line.trim_start().strip_prefix("name: ")?)));
    let Some((line, before)) = line else {
        return text.to_owned();
    };
    text.replacen(line, &line.replace(before, &named), 1)
}

impl Template {
    /// Returns its purpose in a sentence: the first line of its definition.
    pub(crate) fn about(&self) -> &'static str {
        let definition = self.files.first().map_or("", |(_, text)| text);
        let first = definition.lines().next().unwrap_or_default();
        first.trim_start_matches(['#', ' '])
    }

    /// Returns the keys of its workflows under a key: the main one first.
    pub(super) fn keys(&self, key: &str) -> Vec<String> {
        let inner = self
            .files
            .iter()
            .filter_map(|(path, _)| path.split_once('/'));
        let inner = inner.map(|(inner, _)| format!("{key}-{inner}"));
        let mut keys: Vec<String> = std::iter::once(key.to_owned()).chain(inner).collect();
        keys.dedup();
        keys
    }

    /// Returns its files under a key, with their paths in a workflows directory.
    pub(super) fn files(&self, key: &str, language: Language) -> Vec<(String, String)> {
        let unwanted = match language {
            Language::Yaml => ".json5",
            Language::Json5 => ".yaml",
        };
        let files = self.files.iter();
        let wanted = files.filter(|(path, _)| !path.ends_with(unwanted));
        let renamed = wanted.map(|(path, text)| {
            let text = self.with_key(key, text);
            match path.split_once('/') {
                Some((inner, file)) => (format!("{key}-{inner}/{file}"), text),
                None if path.starts_with("workflow.") && key != self.name => {
                    let text = with_display_name(key, &text, language);
                    (format!("{key}/{path}"), text)
                }
                None => (format!("{key}/{path}"), text),
            }
        });
        renamed.collect()
    }

    /// Replaces the template's name by a key.
    fn with_key(&self, key: &str, text: &str) -> String {
        let name = self.name;
        let in_yaml = yaml_text(key);
        let contexts = [
            ("commandName: ", &*in_yaml),
            ("commandName: '", key),
            ("subworkflow: ", key),
            ("subworkflow: '", key),
            ("/workflow ", key),
        ];
        let texts = contexts.iter();
        texts.fold(text.to_owned(), |text, (context, key)| {
            text.replace(&format!("{context}{name}"), &format!("{context}{key}"))
        })
    }

    /// Loads it as a project's workflow.
    pub(crate) fn load(&self, language: Language) -> Loaded {
        let files = self.files(self.name, language).into_iter();
        load(&files.fold(MemoryFiles::new(), |files, (path, text)| {
            files.with(Tier::Project, &path, text)
        }))
    }
}
