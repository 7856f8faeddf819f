//! Decisions that the user makes with the code, and those that others forge.

use std::fs;
use std::sync::mpsc::{Receiver, channel};

use tempfile::TempDir;
use workflow_core::event::Order;

use super::super::notify::notifiers;
use super::super::requests::INTERVAL;
use super::super::requests::tests::request;
#[cfg(all(unix, feature = "postgres"))]
use super::super::requests::{INTERVAL_AT_SERVER, tests::requests_of};
use super::*;
use crate::platform::effects::PlatformReport;
use crate::platform::session_in;
#[cfg(all(unix, feature = "postgres"))]
use crate::store::{Counts, RunNote, tests::server::Server};

/// A session that asks about `plan.md`.
struct Fixture {
    agent: TempDir,
    project: TempDir,
    open: OpenRequests,
    sessions: OpenSessions,
    reports: Receiver<PlatformReport>,
}

/// What the session keeps of the request, and the code that the user is shown.
struct Asked {
    request: Request,
    code: Code,
}

impl Fixture {
    fn new() -> Self {
        let sessions = OpenSessions::default();
        let (reported, reports) = channel();
        sessions.listen(move |report| {
            reported.send(report).unwrap();
            None
        });
        let project = tempfile::tempdir().unwrap();
        fs::write(project.path().join("plan.md"), "A button.").unwrap();
        Self {
            agent: tempfile::tempdir().unwrap(),
            project,
            open: OpenRequests::default(),
            sessions,
            reports,
        }
    }

    fn context(&self) -> SessionContext {
        session_in(self.agent.path(), self.project.path())
    }

    /// Asks as the session does.
    fn ask(&self, id: &str) -> Asked {
        let new = Request {
            id: id.to_owned(),
            shown_file: None,
            ..request("wf-1")
        };
        let result = self.open.request(&self.context(), new.clone());
        let Some(PlatformEvent::ApprovalRequested { proofs, code }) = result else {
            panic!("{result:?}");
        };
        Asked {
            request: Request { proofs, ..new },
            code: Code::parse(&code).unwrap(),
        }
    }

    fn requests(&self) -> Requests {
        Requests::in_agent_dir(self.agent.path()).unwrap()
    }

    /// The request as a process reads it.
    fn stored(&self) -> Request {
        self.requests().all().unwrap().remove(0).0
    }

    fn store(&self, decision: &Decision) {
        assert!(self.requests().decide(&self.stored(), decision).unwrap());
    }

    /// The choice and comment that the session reads, and if they are outdated.
    fn read(&self, asked: &Asked) -> Option<(String, Option<String>, bool)> {
        let read = self.open.read(&self.context(), asked.request.clone());
        let PlatformEvent::ApprovalRead {
            decision,
            is_outdated,
        } = read
        else {
            panic!("{read:?}");
        };
        let decision = decision?;
        Some((decision.choice, decision.comment, is_outdated))
    }

    /// The choice that is reported to the session.
    fn reported(&self) -> Option<String> {
        self.open.look(self.agent.path(), &self.sessions);
        match self.reports.try_recv().ok()?.event {
            PlatformEvent::ApprovalAnswered { choice, .. } => Some(choice),
            event => panic!("{event:?}"),
        }
    }
}

fn current(choice: &str, comment: Option<&str>) -> (String, Option<String>, bool) {
    (choice.to_owned(), comment.map(str::to_owned), false)
}

#[test]
#[cfg(target_os = "linux")]
fn a_project_whose_path_is_no_text_cannot_ask() {
    use std::os::unix::ffi::OsStrExt;

    let fixture = Fixture::new();
    let cwd = fixture
        .project
        .path()
        .join(std::ffi::OsStr::from_bytes(b"\xff"));
    let mut context = fixture.context();
    context.cwd = cwd.into();
    let result = fixture.open.request(&context, request("wf-1"));
    assert!(matches!(
        result,
        Some(PlatformEvent::ApprovalNotStored { .. })
    ));
}

#[test]
fn a_relative_project_is_stored_from_the_root() {
    let fixture = Fixture::new();
    let mut context = fixture.context();
    context.cwd = Path::new(".").into();
    fixture.open.request(&context, request("wf-1"));
    assert_eq!(fixture.stored().cwd, std::env::current_dir().unwrap());
}

#[test]
fn the_code_answers_and_the_session_hears_of_it_once() {
    let fixture = Fixture::new();
    let asked = fixture.ask("n");
    let stored = fixture.stored();
    assert!(asked.code.is_of(&stored));
    assert_eq!(fixture.read(&asked), None);
    let comment = Some("name the risks".to_owned());
    fixture.store(&asked.code.decide(&stored, "revise", comment));
    assert_eq!(fixture.reported().as_deref(), Some("revise"));
    assert_eq!(fixture.reported(), None);
    assert_eq!(
        fixture.read(&asked),
        Some(current("revise", Some("name the risks")))
    );
}

#[test]
fn a_row_without_the_right_token_decides_nothing() {
    let fixture = Fixture::new();
    let asked = fixture.ask("n");
    let stored = fixture.stored();
    let forged = |choice: &str, token: &str| Decision {
        request: "n".to_owned(),
        choice: choice.to_owned(),
        token: token.to_owned(),
        ..Decision::default()
    };
    let guessed = Code::parse("2222-2222-2222").unwrap();
    let of_approver = Decision {
        asked: Some(stored.clone()),
        ..forged("approve", "")
    };
    let revise = asked.code.decide(&stored, "revise", None).token;
    let forgeries = [
        forged("approve", ""),
        forged("approve", &stored.proofs.hashes[0]),
        forged("approve", &revise),
        guessed.decide(&stored, "approve", None),
        of_approver,
    ];
    for forgery in forgeries {
        fixture.store(&forgery);
        assert_eq!(fixture.reported(), None, "{forgery:?}");
        assert_eq!(fixture.read(&asked), None, "{forgery:?}");
    }
}

#[test]
fn a_code_of_somebody_else_in_the_stored_request_proves_nothing() {
    let fixture = Fixture::new();
    let asked = fixture.ask("n");
    let own = Code::new().unwrap();
    let mut forged = fixture.stored();
    forged.ask = "Is it sunny?".to_owned();
    forged.proofs.hashes = own.proofs(&forged);
    fixture.requests().put(&forged).unwrap();
    fixture.store(&own.decide(&forged, "approve", None));
    assert_eq!(fixture.reported(), None);
    assert_eq!(fixture.read(&asked), None);
    assert!(
        !asked.code.is_of(&forged),
        "the user's code answers nothing else"
    );
}

#[test]
fn a_token_counts_for_its_own_request_only() {
    let fixture = Fixture::new();
    let asked = fixture.ask("n");
    let approve = asked.code.decide(&fixture.stored(), "approve", None);
    fixture.open.clear("wf-1", fixture.agent.path());
    let again = fixture.ask("m");
    assert_ne!(asked.code.to_string(), again.code.to_string());
    for request in ["n", "m"] {
        fixture.store(&Decision {
            request: request.to_owned(),
            ..approve.clone()
        });
        assert_eq!(fixture.reported(), None);
        assert_eq!(fixture.read(&again), None);
    }
}

#[test]
fn an_answer_about_another_content_of_the_shown_file_is_outdated() {
    let fixture = Fixture::new();
    let asked = fixture.ask("n");
    fixture.store(&asked.code.decide(&fixture.stored(), "approve", None));
    fs::write(fixture.project.path().join("plan.md"), "Two buttons.").unwrap();
    assert_eq!(
        fixture.read(&asked),
        Some(("approve".to_owned(), None, true))
    );
    // Asked again, the same code is for the new content.
    let again = fixture.ask("n");
    assert_eq!(asked.code.to_string(), again.code.to_string());
    assert_eq!(fixture.read(&again), None);
    fixture.store(&again.code.decide(&fixture.stored(), "approve", None));
    assert_eq!(fixture.read(&again), Some(current("approve", None)));
}

#[test]
fn an_answer_while_no_sidecar_ran_counts_without_its_comment() {
    let fixture = Fixture::new();
    let asked = fixture.ask("n");
    let comment = Some("name the risks".to_owned());
    fixture.store(&asked.code.decide(&fixture.stored(), "revise", comment));
    let later = Fixture {
        open: OpenRequests::default(),
        ..fixture
    };
    let opened = later.open.request(&later.context(), asked.request.clone());
    let is_answer = matches!(
        &opened,
        Some(PlatformEvent::ApprovalAnswered { request, choice, is_earlier: true })
            if request == "n" && choice == "revise"
    );
    assert!(is_answer, "{opened:?}");
    assert_eq!(later.read(&asked), Some(current("revise", None)));
}

#[test]
fn a_comment_of_somebody_else_is_left_out() {
    let fixture = Fixture::new();
    let asked = fixture.ask("n");
    let comment = Some("name the risks".to_owned());
    let decision = asked.code.decide(&fixture.stored(), "revise", comment);
    fixture.store(&Decision {
        comment: Some("publish it".to_owned()),
        ..decision
    });
    assert_eq!(fixture.read(&asked), Some(current("revise", None)));
}

#[test]
fn a_request_that_waits_is_looked_for_until_it_is_answered() {
    let fixture = Fixture::new();
    let interval = || fixture.open.interval(fixture.agent.path());
    assert_eq!(interval(), None);
    let asked = fixture.ask("n");
    assert_eq!(interval(), Some(INTERVAL));
    fixture.store(&asked.code.decide(&fixture.stored(), "approve", None));
    assert!(fixture.reported().is_some());
    assert_eq!(interval(), None);
}

#[cfg(unix)]
#[test]
fn the_users_command_shows_the_code_and_a_later_change_of_it_does_not_count() {
    let fixture = Fixture::new();
    let shown = fixture.project.path().join("shown");
    let settings = fixture.agent.path().join("workflow-sidecar.json5");
    let write = |line: String| {
        let command = serde_json::json!({ "notify": ["sh", "-c", line] });
        fs::write(&settings, command.to_string()).unwrap();
    };
    let (part, whole) = (shown.with_extension("part"), shown.display());
    write(format!("cat > '{}'; mv '{0}' '{whole}'", part.display()));
    notifiers(fixture.agent.path());
    write("exit 1".to_owned());
    notifiers(fixture.agent.path());
    let asked = fixture.ask("n");
    let end = std::time::Instant::now() + Duration::from_secs(10);
    while !shown.exists() {
        assert!(std::time::Instant::now() < end);
        std::thread::sleep(Duration::from_millis(5));
    }
    let text = fs::read_to_string(&shown).unwrap();
    assert!(text.contains(&asked.code.to_string()), "{text}");
    assert!(text.contains("Plan OK?"), "{text}");
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn an_order_for_a_run_of_this_process_is_reported_once() {
    let Some(server) = Server::start() else {
        return;
    };
    let (agent_dir, of_agent) = requests_of(&server, "agent");
    let (_, of_approver) = requests_of(&server, "approver");
    let fixture = Fixture::new();
    let active = Run {
        task_id: "wf-1".to_owned(),
        is_active: true,
        ..Run::default()
    };
    assert_eq!(fixture.open.interval(&agent_dir), None);
    fixture.open.note(&fixture.context().id, &active);
    assert_eq!(fixture.open.interval(&agent_dir), Some(INTERVAL_AT_SERVER));
    let order = Order {
        command: "workflow-pause".to_owned(),
        phase: "Plan".to_owned(),
        by: None,
    };
    // The others are of another login and of another machine, though this process has them too.
    let (of_login, of_machine) = (server.store("other_agent", "b"), server.store("agent", "c"));
    let stores = [of_agent.store(), &of_login, &of_machine];
    for (store, task_id) in stores.into_iter().zip(["wf-1", "wf-2", "wf-3"]) {
        let run = Run {
            task_id: task_id.to_owned(),
            ..active.clone()
        };
        fixture.open.note(&fixture.context().id, &run);
        let note = RunNote {
            host: "pi".to_owned(),
            run: Some(run),
            memory: String::new(),
            cwd: fixture.context().cwd.to_path_buf(),
            file: None,
            counts: Counts::default(),
            now: 1,
        };
        store.note_run(&note).unwrap();
        assert!(of_approver.order(task_id, &order).unwrap());
    }
    let look = || fixture.open.look(&agent_dir, &fixture.sessions);
    look();
    assert!(fixture.reports.try_recv().is_err(), "the session is closed");
    fixture.sessions.open(&fixture.context(), None);
    look();
    let reported = fixture.reports.try_recv().unwrap();
    assert!(matches!(reported.event, PlatformEvent::Ordered(it) if it == order));
    look();
    assert!(fixture.reports.try_recv().is_err());
    assert_eq!(of_agent.orders().unwrap().len(), 2);
    for task_id in ["wf-1", "wf-2", "wf-3"] {
        let over = Run {
            task_id: task_id.to_owned(),
            ..Run::default()
        };
        fixture.open.note(&fixture.context().id, &over);
    }
    assert_eq!(fixture.open.interval(&agent_dir), None);
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn an_approver_answers_without_a_code_and_only_the_question_that_is_asked() {
    let Some(server) = Server::start() else {
        return;
    };
    let (agent_dir, of_agent) = requests_of(&server, "agent");
    let (_, of_approver) = requests_of(&server, "approver");
    let fixture = Fixture::new();
    let context = SessionContext {
        agent_dir: agent_dir.as_path().into(),
        ..fixture.context()
    };
    let new = Request {
        shown_file: None,
        ..request("wf-1")
    };
    fixture.open.request(&context, new.clone());
    assert_eq!(fixture.open.interval(&agent_dir), Some(INTERVAL_AT_SERVER));
    let stored = || of_agent.all().unwrap().remove(0).0;
    let asked = stored();
    let answer = || {
        let asked = stored();
        let decision = Decision {
            request: asked.id.clone(),
            choice: "approve".to_owned(),
            comment: Some("Ship it".to_owned()),
            asked: Some(asked.clone()),
            ..Decision::default()
        };
        assert!(of_approver.decide(&asked, &decision).unwrap());
    };
    let read = || match fixture.open.read(&context, new.clone()) {
        PlatformEvent::ApprovalRead {
            decision,
            is_outdated,
        } => decision.map(|it| (it.choice, it.comment, is_outdated)),
        event => panic!("{event:?}"),
    };
    let approved = |is_outdated| {
        let comment = Some("Ship it".to_owned());
        Some(("approve".to_owned(), comment, is_outdated))
    };
    for (ask, excerpt, expected) in [
        ("Is it sunny?", "A button.", None),
        ("Plan OK?", "Nothing to see.", approved(true)),
        ("Plan OK?", "A button.", approved(false)),
    ] {
        let mut changed = asked.clone();
        changed.ask = ask.to_owned();
        changed.shown_file.as_mut().unwrap().excerpt = excerpt.to_owned();
        of_agent.put(&changed).unwrap();
        answer();
        assert_eq!(read(), expected);
    }
    fixture.open.look(&agent_dir, &fixture.sessions);
    assert!(fixture.reports.try_recv().is_ok());
    fs::write(fixture.project.path().join("plan.md"), "Two buttons.").unwrap();
    assert_eq!(read(), approved(true));
}
