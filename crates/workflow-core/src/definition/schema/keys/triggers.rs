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
            "A file that is read and emptied when something stands in it: in your own settings a whole path or `~/…`, in a project's one inside the project.",
        )
        .default(Default::Described("one of the two"))
        .example(r#""notes/trigger.txt""#)
        .never_dropped();
        HTTP: Key = Key::new(
            "http",
            ValueType::Map(Section::Http),
            "A port of this machine that takes requests, on 127.0.0.1 and ::1 only.",
        )
        .default(Default::Described("one of the two"))
        .example(r#"{"port": 3333, "tokenEnv": "WEBHOOK_TOKEN"}"#)
        .never_dropped();
        PROMPT: Typed<Text> = Typed::template(
            "prompt",
            TemplateKind::Trigger,
            "What the agent is told. Both variables stand for what came in.",
        )
        .required()
        .example(r#""Somebody says: {content}""#);
    }
}

section! {
    /// The map under a trigger's `http`.
    http {
        PORT: Typed<u32> = Typed::whole("port", 1, Some(65535), "The port.")
            .required()
            .example("3333")
            .hint(Hint::Text("write `port: 3333`, for example"))
            .never_dropped();
        TOKEN: Typed<Text> =
            Typed::filled("token", "What a request must show: `Authorization: Bearer <token>`.")
                .default(Default::Described("one of the two"))
                .example(r#""a long random text""#)
                .never_dropped();
        TOKEN_ENV: Typed<Text> = Typed::filled(
            "tokenEnv",
            "The environment variable that holds the token, so that it stands in no file.",
        )
        .default(Default::Described("one of the two"))
        .example(r#""WEBHOOK_TOKEN""#)
        .never_dropped();
    }
}
