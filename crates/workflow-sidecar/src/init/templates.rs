//! The ready-made workflows, which are in the binary.
//!
//! A template is a directory of `templates/`: a definition in both languages beside the phase files they share;
//! a directory in it is a subworkflow, whose key is the workflow's with the directory's name behind it.

use workflow_core::definition::{Loaded, MemoryFiles, Tier, load};

use super::Language;

/// A ready-made workflow.
#[derive(Debug)]
pub(crate) struct Template {
    /// What it is asked for by, and its key unless another is given.
    pub(crate) name: &'static str,
    /// The files of its directory: where they are in it, and what they say.
    pub(super) files: &'static [(&'static str, &'static str)],
}

macro_rules! template {
    ($name:literal: $($file:literal)*) => {
        Template {
            name: $name,
            files: &[
                $(($file, include_str!(concat!("../../templates/", $name, "/", $file))),)*
            ],
        }
    };
}

/// What `init` writes when nothing is asked for.
pub(crate) const STARTER: Template = template!("starter":
    "workflow.yaml" "workflow.json5" "plan.md" "do.md" "check.md");

/// The workflows that are good as they are.
pub(crate) const TEMPLATES: &[Template] = &[
    template!("feature":
        "workflow.yaml" "workflow.json5" "spec.md" "agree.md" "plan.md" "wrap-up.md"
        "build/workflow.yaml" "build/workflow.json5" "build/implement.md" "build/check.md"),
    template!("tdd":
        "workflow.yaml" "workflow.json5" "list.md" "look-back.md"
        "cycle/workflow.yaml" "cycle/workflow.json5" "cycle/red.md" "cycle/green.md" "cycle/clean.md"),
    template!("bugfix":
        "workflow.yaml" "workflow.json5" "reproduce.md" "cause.md" "fix.md" "verify.md"),
    template!("review":
        "workflow.yaml" "workflow.json5" "scope.md" "read.md" "prove.md" "report.md"),
    template!("refactor":
        "workflow.yaml" "workflow.json5" "survey.md" "safety-net.md" "compare.md"
        "step/workflow.yaml" "step/workflow.json5" "step/change.md" "step/check.md"),
    template!("release":
        "workflow.yaml" "workflow.json5" "look.md" "agree.md" "publish.md"
        "candidate/workflow.yaml" "candidate/workflow.json5" "candidate/prepare.md" "candidate/confirm.md"),
    template!("docs":
        "workflow.yaml" "workflow.json5" "outline.md" "write.md" "follow.md" "polish.md"),
];

/// A name as YAML takes it for text: `1e5`, `true` and `-` mean something else there.
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

impl Template {
    /// What it is for, in a sentence: the first line of its definition.
    pub(crate) fn about(&self) -> &'static str {
        let definition = self.files.first().map_or("", |(_, text)| text);
        let first = definition.lines().next().unwrap_or_default();
        first.trim_start_matches(['#', ' '])
    }

    /// The keys of its workflows when it is called this: its own first.
    pub(super) fn keys(&self, key: &str) -> Vec<String> {
        let mut keys = vec![key.to_owned()];
        for (path, _) in self.files {
            let inner = path
                .split_once('/')
                .map(|(inner, _)| format!("{key}-{inner}"));
            keys.extend(inner.filter(|inner| keys.last() != Some(inner)));
        }
        keys.dedup();
        keys
    }

    /// Its files when it is called this, each with its place in a workflows directory.
    pub(super) fn files(&self, key: &str, language: Language) -> Vec<(String, String)> {
        let unwanted = match language {
            Language::Yaml => ".json5",
            Language::Json5 => ".yaml",
        };
        let wanted = self
            .files
            .iter()
            .filter(|(path, _)| !path.ends_with(unwanted));
        wanted
            .map(|(path, text)| {
                let place = match path.split_once('/') {
                    Some((inner, file)) => format!("{key}-{inner}/{file}"),
                    None => format!("{key}/{path}"),
                };
                (place, self.called(key, text))
            })
            .collect()
    }

    /// A text in which the template's own name is this one.
    fn called(&self, key: &str, text: &str) -> String {
        let name = self.name;
        let in_yaml = yaml_text(key);
        let places = [
            ("commandName: ", &*in_yaml),
            ("commandName: '", key),
            ("subworkflow: ", key),
            ("subworkflow: '", key),
            ("/workflow ", key),
        ];
        places.iter().fold(text.to_owned(), |text, (place, key)| {
            text.replace(&format!("{place}{name}"), &format!("{place}{key}"))
        })
    }

    /// What it means, loaded as a project's own.
    pub(crate) fn load(&self, language: Language) -> Loaded {
        let files = self.files(self.name, language);
        let files = files
            .into_iter()
            .fold(MemoryFiles::new(), |files, (path, text)| {
                files.with(Tier::Project, &path, text)
            });
        load(&files)
    }
}
