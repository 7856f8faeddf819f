//! Answers from processes of every judgement.

use std::path::PathBuf;

#[cfg(all(unix, feature = "postgres"))]
use super::super::approvals::tests::approvals_of;
use super::super::approvals::tests::{approval_of_approver, approval_with_code, stored_request};
use super::*;
use crate::platform::file_excerpt::ShownFile;
#[cfg(all(unix, feature = "postgres"))]
use crate::store::tests::server::Server;

struct Fixture {
    _agent: tempfile::TempDir,
    approvals: Approvals,
    requests: OpenRequests,
    seal: String,
    code: String,
}

fn file(content: &str) -> ShownFile {
    ShownFile {
        excerpt: content.to_owned(),
        state: format!("hash of {content}"),
    }
}

fn opened() -> Fixture {
    let agent = tempfile::tempdir().unwrap();
    let approvals = Approvals::in_agent_dir(agent.path()).unwrap();
    let mut requests = OpenRequests::default();
    let Opened { code, seal, .. } = requests
        .open("s", &stored_request(), None, &approvals)
        .unwrap();
    let code = code.unwrap();
    approvals
        .store_request(&RequestFile {
            request: stored_request(),
            seal: Some(seal.clone()),
            sidecar: None,
            choice: None,
        })
        .unwrap();
    Fixture {
        _agent: agent,
        approvals,
        requests,
        seal,
        code,
    }
}

impl Fixture {
    fn answer(
        &mut self,
        by: &ProcessJudgement,
        code: Option<&str>,
    ) -> (SocketReply, Option<ShownCode>) {
        let answer = SocketAnswer {
            request: stored_request(),
            choice: "approve".to_owned(),
            comment: Some("Ship it".to_owned()),
            shown: None,
            code: code.map(str::to_owned),
        };
        self.requests.answer(answer, by, &self.approvals)
    }

    fn decision(&self) -> Option<ApprovalDecision> {
        self.requests.decision(&stored_request())
    }

    /// Stores a decision as a program with access to the store can.
    fn forge(&self, code: &str) {
        let decision = StoredDecision {
            asked: Some(stored_request()),
            ..approval_with_code(code)
        };
        let is_stored = self.approvals.store_decision(&stored_request(), &decision);
        assert!(is_stored.unwrap());
    }
}

fn unclear() -> ProcessJudgement {
    ProcessJudgement::Unclear("why".to_owned())
}

fn approved() -> ApprovalDecision {
    ApprovalDecision::Chosen("approve".to_owned())
}

#[test]
fn a_person_answers_without_a_code() {
    let mut fixture = opened();
    assert_eq!(
        fixture.answer(&ProcessJudgement::Person, None).0,
        SocketReply::Noted
    );
    assert_eq!(fixture.decision(), Some(approved()));
    let listed = fixture.approvals.all().unwrap();
    assert_eq!(listed[0].choice.as_deref(), Some("approve"));
}

#[test]
fn the_comment_goes_with_the_answer() {
    let mut fixture = opened();
    assert_eq!(fixture.requests.comment("wf-1"), None);
    fixture.answer(&ProcessJudgement::Person, None);
    let comment = fixture.requests.comment("wf-1");
    assert_eq!(comment.as_deref(), Some("Ship it"));
}

#[test]
fn an_agent_does_not_answer_even_with_the_code() {
    let mut fixture = opened();
    let code = fixture.code.clone();
    let agent = ProcessJudgement::Agent("why".to_owned());
    let (reply, shown) = fixture.answer(&agent, Some(&code));
    assert_eq!(reply, SocketReply::Refused("why".to_owned()));
    assert!(shown.is_none() && fixture.decision().is_none());
}

#[test]
fn an_unclear_answer_needs_the_code_which_is_shown_to_the_session_that_asks() {
    let mut fixture = opened();
    let (reply, shown) = fixture.answer(&unclear(), None);
    assert_eq!(reply, SocketReply::CodeNeeded("why".to_owned()));
    let shown = shown.unwrap();
    assert_eq!(shown.session.as_deref(), Some("s"));
    assert!(fixture.decision().is_none());
    let (_, again) = fixture.answer(&unclear(), None);
    assert!(again.is_none(), "the same code is not shown at once again");
    assert_eq!(
        fixture.answer(&unclear(), Some(&shown.code)).0,
        SocketReply::Noted
    );
    assert_eq!(fixture.decision(), Some(approved()));
}

#[test]
fn a_code_does_not_count_after_five_wrong_ones_and_the_next_request_has_another() {
    let mut fixture = opened();
    for _ in 0..5 {
        let (reply, _) = fixture.answer(&unclear(), Some("2222-2222-2222"));
        assert_eq!(reply, SocketReply::WrongCode);
    }
    let code = fixture.code.clone();
    let (reply, _) = fixture.answer(&unclear(), Some(&code));
    assert_eq!(reply, SocketReply::TooManyCodes);
    let open = fixture
        .requests
        .open("s", &stored_request(), None, &fixture.approvals);
    let other = open.unwrap().code.unwrap();
    assert_ne!(other, code);
    assert_eq!(
        fixture.answer(&unclear(), Some(&code)).0,
        SocketReply::WrongCode
    );
    assert_eq!(
        fixture.answer(&unclear(), Some(&other)).0,
        SocketReply::Noted
    );
}

#[test]
fn a_request_that_is_opened_again_after_its_answer_comes_with_the_choice() {
    let mut fixture = opened();
    fixture.answer(&ProcessJudgement::Person, None);
    let again = fixture
        .requests
        .open("s", &stored_request(), None, &fixture.approvals);
    assert_eq!(again.unwrap().choice.as_deref(), Some("approve"));
}

#[test]
fn a_stored_decision_decides_nothing_while_the_process_runs() {
    let mut fixture = opened();
    let code = fixture.code.clone();
    fixture.forge(&code);
    assert_eq!(fixture.decision(), None);
    let again = fixture
        .requests
        .open("s", &stored_request(), None, &fixture.approvals);
    let again = again.unwrap().code;
    assert_eq!(again.as_ref(), Some(&code), "the code stays the same");
    assert_eq!(fixture.decision(), None);
}

#[test]
fn a_later_process_takes_a_stored_decision_only_with_the_code_of_the_sessions_seal() {
    let mut fixture = opened();
    let (seal_in_session, code) = (fixture.seal.clone(), fixture.code.clone());
    let mut reopen = |forged: &str| {
        fixture.forge(forged);
        fixture.requests = OpenRequests::default();
        let known = Some(seal_in_session.clone());
        let made = fixture
            .requests
            .open("s", &stored_request(), known, &fixture.approvals);
        assert_eq!(made.unwrap().code, None);
        fixture.decision()
    };
    // The stored request may be forged as well, so its seal does not count.
    assert_eq!(reopen("2222-2222-2222"), None);
    assert_eq!(reopen(""), None);
    assert_eq!(reopen(&code.to_lowercase()), Some(approved()));
}

#[test]
fn a_decision_about_a_changed_request_is_outdated() {
    let mut fixture = opened();
    fixture.answer(&ProcessJudgement::Person, None);
    let outdated = Some(ApprovalDecision::Outdated);
    let with_file = StoredRequest {
        shown_file: Some(file("b")),
        ..stored_request()
    };
    assert_eq!(fixture.requests.decision(&with_file), outdated);
    for other in [
        StoredRequest {
            ask: "Ship it?".to_owned(),
            ..stored_request()
        },
        StoredRequest {
            cwd: PathBuf::from("/elsewhere"),
            ..stored_request()
        },
        StoredRequest {
            step: 3,
            ..stored_request()
        },
        StoredRequest {
            consequences: vec!["goes to 🚀 Ship".to_owned()],
            ..stored_request()
        },
    ] {
        assert_eq!(fixture.requests.decision(&other), outdated);
    }
    let with_another_summary = StoredRequest {
        about: Vec::new(),
        ..stored_request()
    };
    assert_eq!(
        fixture.requests.decision(&with_another_summary),
        Some(approved())
    );
    let later = StoredRequest {
        nonce: "m".to_owned(),
        ..stored_request()
    };
    assert_eq!(fixture.requests.decision(&later), None);
    fixture.requests.close("wf-1");
    assert_eq!(fixture.decision(), None);
    assert_eq!(
        fixture.answer(&ProcessJudgement::Person, None).0,
        SocketReply::Gone
    );
}

#[test]
fn the_code_for_trust_counts_once_and_for_one_project() {
    let mut requests = OpenRequests::default();
    let shown = requests.trust_code("/a").unwrap().unwrap();
    assert!(shown.purpose.contains("/a"));
    assert_eq!(requests.check_trust("/b", &shown.code), SocketReply::Gone);
    assert_eq!(requests.check_trust("/a", "2"), SocketReply::WrongCode);
    assert_eq!(requests.check_trust("/a", &shown.code), SocketReply::Noted);
    assert_eq!(requests.check_trust("/a", &shown.code), SocketReply::Gone);
}

#[test]
fn a_request_of_an_earlier_process_takes_its_code_and_a_fresh_one() {
    for typed in ["first", "fresh"] {
        let mut fixture = opened();
        let first = fixture.code.clone();
        // Another process, which knows the seal of the code and not the code.
        fixture.requests = OpenRequests::default();
        let seal = Some(fixture.seal.clone());
        let opened = fixture
            .requests
            .open("s", &stored_request(), seal, &fixture.approvals);
        assert_eq!(opened.unwrap().code, None);
        let (reply, shown) = fixture.answer(&unclear(), None);
        assert_eq!(reply, SocketReply::CodeNeeded("why".to_owned()));
        let fresh = shown.unwrap().code;
        assert_ne!(fresh, first);
        let wrong = fixture.answer(&unclear(), Some("2222-2222-2222")).0;
        assert_eq!(wrong, SocketReply::WrongCode);
        let code = if typed == "first" { &first } else { &fresh };
        assert_eq!(fixture.answer(&unclear(), Some(code)).0, SocketReply::Noted);
        assert_eq!(fixture.decision(), Some(approved()));
    }
}

/// A database, with what two of its roles see.
#[cfg(all(unix, feature = "postgres"))]
struct Fleet {
    of_agent: Approvals,
    of_approver: Approvals,
    _server: Server,
}

#[cfg(all(unix, feature = "postgres"))]
impl Fleet {
    fn start() -> Option<Self> {
        let server = Server::start()?;
        Some(Self {
            of_agent: approvals_of(&server, "agent").1,
            of_approver: approvals_of(&server, "approver").1,
            _server: server,
        })
    }
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn an_approver_on_another_machine_answers_the_very_question_that_was_asked() {
    let Some(fleet) = Fleet::start() else {
        return;
    };
    let mut requests = OpenRequests::default();
    let opened = requests
        .open("s", &stored_request(), None, &fleet.of_agent)
        .unwrap();
    let file = RequestFile {
        request: stored_request(),
        seal: Some(opened.seal),
        sidecar: None,
        choice: None,
    };
    // The agent shows the approver another question than the sidecar has.
    let harmless = StoredRequest {
        ask: "Is it sunny?".to_owned(),
        ..stored_request()
    };
    let mut forged = file.clone();
    forged.request = harmless.clone();
    fleet.of_agent.store_request(&forged).unwrap();
    let stored = fleet
        .of_approver
        .store_decision(&harmless, &approval_of_approver(&harmless));
    assert!(stored.unwrap());
    fleet.of_agent.store_request(&file).unwrap();
    requests.take_stored(&stored_request(), None, &fleet.of_agent);
    assert_eq!(requests.decision(&stored_request()), None);
    let stored = fleet
        .of_agent
        .store_decision(&stored_request(), &approval_of_approver(&stored_request()));
    assert!(stored.is_err(), "the agent's role does not answer");
    let stored = fleet
        .of_approver
        .store_decision(&stored_request(), &approval_of_approver(&stored_request()));
    assert!(stored.unwrap());
    requests.take_stored(&stored_request(), None, &fleet.of_agent);
    assert_eq!(requests.decision(&stored_request()), Some(approved()));
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn an_approver_answers_about_the_excerpt_in_the_store_only_if_it_is_the_files() {
    let Some(fleet) = Fleet::start() else {
        return;
    };
    let about = |content: &str, state: &str| StoredRequest {
        show: Some("plan.md".to_owned()),
        shown_file: Some(ShownFile {
            excerpt: content.to_owned(),
            ..file(state)
        }),
        ..stored_request()
    };
    let asked = about("delete all", "delete all");
    for (shown, expected) in [
        (asked.clone(), approved()),
        // The agent's machine stores a harmless text with the state of the real file.
        (about("tidy up", "delete all"), ApprovalDecision::Outdated),
        (about("tidy up", "tidy up"), ApprovalDecision::Outdated),
    ] {
        let mut requests = OpenRequests::default();
        requests.open("s", &asked, None, &fleet.of_agent).unwrap();
        let stored = RequestFile {
            request: shown.clone(),
            seal: None,
            sidecar: None,
            choice: None,
        };
        fleet.of_agent.clear("wf-1");
        fleet.of_agent.store_request(&stored).unwrap();
        let answer = approval_of_approver(&shown);
        assert!(fleet.of_approver.store_decision(&shown, &answer).unwrap());
        requests.take_stored(&asked, None, &fleet.of_agent);
        assert_eq!(requests.decision(&asked), Some(expected), "{shown:?}");
        let changed = about("delete all", "delete more");
        let outdated = Some(ApprovalDecision::Outdated);
        assert_eq!(requests.decision(&changed), outdated, "the file changed");
    }
}
