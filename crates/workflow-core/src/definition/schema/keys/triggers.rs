//! The keys of `triggers`.

#[allow(
    clippy::wildcard_imports,
    unused_imports,
    reason = "a section uses some of the table's types"
)]
use super::*;

section! {
    /// An entry of `triggers`.
    trigger {
        FILE: Typed<Text> = Typed::filled(
            "file",
            "A file that is read and then emptied. In your own settings it is an absolute path or `~/…`, in the settings of a project a path inside the project.",
        )
        .default(Default::Described("required: one of `file`, `http`"))
        .example(r#""notes/trigger.txt""#)
        .never_dropped();
        HTTP: Key = Key::new(
            "http",
            ValueType::Map(Section::Http),
            "A port that accepts requests from this machine: on 127.0.0.1 and ::1 only.",
        )
        .default(Default::Described("required: one of `file`, `http`"))
        .example(r#"{"port": 3333, "tokenEnv": "WEBHOOK_TOKEN"}"#)
        .never_dropped();
        PROMPT: Typed<Text> = Typed::template(
            "prompt",
            TemplateKind::Trigger,
            "The message to the agent. `{content}` and `{body}` are the received text.",
        )
        .required()
        .example(r#""Somebody says: {content}""#);
    }
}

section! {
    /// The map under a trigger's `http`.
    http {
        PORT: Typed<u32> = Typed::whole("port", 1, Some(65535), "The port number.")
            .required()
            .example("3333")
            .hint(Hint::Text("write `port: 3333`, for example"))
            .never_dropped();
        TOKEN: Typed<Text> =
            Typed::filled("token", "The token of a request: `Authorization: Bearer <token>`.")
                .default(Default::Described("required: one of `token`, `tokenEnv`"))
                .example(r#""a long random text""#)
                .never_dropped();
        TOKEN_ENV: Typed<Text> = Typed::filled(
            "tokenEnv",
            "The environment variable that contains the token, so that no file does.",
        )
        .default(Default::Described("required: one of `token`, `tokenEnv`"))
        .example(r#""WEBHOOK_TOKEN""#)
        .never_dropped();
    }
}
