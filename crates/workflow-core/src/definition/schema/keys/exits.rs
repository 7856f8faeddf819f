//! The keys of `gate` and `approve`.

#[allow(
    clippy::wildcard_imports,
    unused_imports,
    reason = "a section uses some of the table's types"
)]
use super::*;

section! {
    /// A check of `gate`.
    gate {
        RUN: Key = Key::new(
            "run",
            ValueType::CommandLine,
            "A program and its arguments, or with `shell: true` a shell line. It passes as `expect` says.",
        )
        .default(Default::Described("required: one of `run`, `file`, `git`, `commit`"))
        .example(r#"["cargo", "test", "--quiet"]"#)
        .never_dropped();
        SHELL: Typed<bool> = Typed::flag("shell", "Whether `run` is a shell line.")
            .default(Default::Described("`false`"))
            .example("false")
            .never_dropped();
        TIMEOUT: Typed<u32> =
            Typed::duration("timeout", "The longest time that `run` may take, at most a day.")
                .default(Default::Text("10m"))
                .example(r#""10m""#)
                .hint(Hint::Text("write `30s`, `10m` or `1h`"))
                .never_dropped();
        EXPECT: Key = Key::new("expect", ValueType::Map(Section::Expect), "The result of `run` that passes.")
            .default(Default::Described("`exit: 0`"))
            .example(r#"{"exit": 0}"#)
            .never_dropped();
        CWD: Typed<Text> = Typed::directory("cwd", "The directory in which `run` runs, relative to the project and inside it.")
            .default(Default::Described("the project"))
            .example(r#""packages/api""#)
            .never_dropped();
        ENV: Typed<Partial<(String, String)>> =
            Typed::variables("env", "Environment variables for `run`, in addition to those of the sidecar.")
                .example(r#"{"CI": "true"}"#)
                .never_dropped();
        FILE: Typed<Text> = Typed::files("file", "A file of the project that must exist, or a glob (with `*`, `?` or `{`) that a file must match. A directory does not count.")
            .default(Default::Described("required: one of `run`, `file`, `git`, `commit`"))
            .example(r#""docs/plan.md""#)
            .never_dropped();
        CHANGED: Typed<bool> = Typed::flag(
            "changed",
            "`true`: the content of `file`, or of a file that its glob matches, must differ from when the phase was entered. `false`: it must be the same.",
        )
        .default(Default::Described("either"))
        .example("true")
        .never_dropped();
        GIT: Typed<CleanRepository> = Typed::one_of("git", "`clean`: every change is committed.")
            .default(Default::Described("required: one of `run`, `file`, `git`, `commit`"))
            .example(r#""clean""#)
            .never_dropped();
        COMMIT: Typed<NewCommit> = Typed::one_of("commit", "`new`: there is a commit that did not exist when the phase was entered.")
            .default(Default::Described("required: one of `run`, `file`, `git`, `commit`"))
            .example(r#""new""#)
            .never_dropped();
        ON_FAIL: Typed<Text> = Typed::filled(
            "onFail",
            "The id of the same workflow to which the run goes when the check fails.",
        )
        .default(Default::Described("it stays in the phase"))
        .example(r#""reproduce""#)
        .never_dropped();
    }
}

section! {
    /// The expected result of a `run`.
    expect {
        EXIT: Typed<ExpectedExit> = Typed::exit_code("exit", "The exit code, or `nonzero` for any code but 0.")
            .default(Default::Number(0))
            .example(r#""nonzero""#)
            .hint(Hint::OfCode)
            .never_dropped();
        STDOUT: Typed<Text> = Typed::regex("stdout", "A regular expression that standard output must match.")
            .default(Default::Described("any"))
            .example(r#""0 failed""#)
            .never_dropped();
        STDERR: Typed<Text> = Typed::regex("stderr", "A regular expression that standard error must match. Give only one of `stdout`, `stderr`, `output`.")
            .default(Default::Described("any"))
            .example(r#""0 warnings""#)
            .never_dropped();
        OUTPUT: Typed<Text> = Typed::regex("output", "A regular expression that both streams together must match, in the order in which they are written.")
            .default(Default::Described("any"))
            .example(r#""0 failed""#)
            .never_dropped();
    }
}

section! {
    /// `approve`.
    approve {
        ASK: Typed<Text> = Typed::template("ask", TemplateKind::Ask, "The question.").required().example(r#""Is the plan right?""#);
        CHOICES: Key = Key::new(
            "choices",
            ValueType::ChoicesOrTargets,
            "The possible answers. In a list the first one approves; with any other one the run stays in the phase. A map names the target of each answer: an id of the same workflow, `next`, `end`, `done` or `cancel`.",
        )
        .default(Default::Described("`[approve, revise]`"))
        .example(r#"["approve", "revise"]"#)
        .never_dropped();
        COMMENT: Typed<bool> = Typed::flag("comment", "Whether the user is asked for a comment, which the agent reads: `{approval.comment}`.")
            .default(Default::Described("`false`"))
            .example("true")
            .never_dropped();
        SHOW: Typed<Text> = Typed::file("show", "A file of the project that is shown with the question.")
            .example(r#""docs/plan.md""#)
            .never_dropped();
    }
}
