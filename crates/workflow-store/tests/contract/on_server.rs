//! What only the server has: roles, several machines, and a server that is killed.

use std::path::Path;

use workflow_store::{
    AnswerRight, DAY, POSTGRES_FROM_3, RunQuery, Saved, TrustRequest, has_active_runs,
};

use super::server::Server;
use super::{CWD, answer, ask, does_what_a_store_does, key, run, save};

#[test]
fn a_server_does_what_a_store_does() {
    let Some(server) = Server::start() else {
        return;
    };
    let agent = server.store("agent", "a");
    does_what_a_store_does(&agent, &server.store("approver", "b"));
}

#[test]
fn on_a_server_only_an_approver_answers_and_trusts() {
    let Some(server) = Server::start() else {
        return;
    };
    let (agent, approver) = (server.store("agent", "a"), server.store("approver", "b"));
    assert_eq!(agent.answer_right().unwrap(), AnswerRight::MayRead);
    assert_eq!(approver.answer_right().unwrap(), AnswerRight::MayAnswer);
    let both = server.store("two_roles", "c");
    assert_eq!(both.answer_right().unwrap(), AnswerRight::MayAnswer);
    let owner = server.store("postgres", "d");
    assert_eq!(owner.answer_right().unwrap(), AnswerRight::MayAnswer);
    ask(&agent, "wf-1", "n", 10).unwrap();
    let refused = agent
        .put_answer("wf-1", "n", "yes")
        .unwrap_err()
        .to_string();
    assert!(refused.contains("permission denied"), "{refused}");
    assert!(agent.trust("/project", "a", 1, 9).is_err());
    assert!(agent.revoke("/project").is_err());
    let wanted = TrustRequest {
        project: "/project".to_owned(),
        id: "a".to_owned(),
        commands: "[]".to_owned(),
        owner: "agent".to_owned(),
    };
    agent.request_trust(&wanted, 5, 0).unwrap();
    agent.request_trust(&wanted, 6, 0).unwrap();
    let other = server.store("other_agent", "b");
    server
        .sql_as("other_agent", "DELETE FROM trust_requests")
        .unwrap();
    assert!(approver.request_trust(&wanted, 5, 0).is_err());
    let listed = || approver.trust_requests((6, 7), 9).unwrap();
    assert_eq!(listed(), std::slice::from_ref(&wanted));
    for (time, most) in [((7, 8), 9), ((4, 5), 9), ((6, 7), 0)] {
        assert_eq!(approver.trust_requests(time, most).unwrap(), []);
    }
    other.request_trust(&wanted, 6, 0).unwrap();
    assert_eq!(listed().len(), 2);
    approver.trust("/project", "a", 7, 9).unwrap();
    assert_eq!(listed(), [], "it is trusted");
    approver.revoke("/project").unwrap();
    approver.clear_trust_request(&wanted).unwrap();
    assert_eq!(listed(), []);
    assert!(approver.put_answer("wf-1", "n", "yes").unwrap());
    assert_eq!(answer(&agent, "wf-1").as_deref(), Some("yes"));
    assert!(
        ask(&approver, "wf-1", "m", 11).is_err(),
        "approvers request nothing"
    );
}

#[test]
fn on_a_server_a_login_changes_only_its_own_sessions_and_requests() {
    let Some(server) = Server::start() else {
        return;
    };
    let (agent, other) = (server.store("agent", "a"), server.store("other_agent", "b"));
    save(&agent, "s", 0, Some(run("wf-1", "Analyze", true)), 1);
    ask(&agent, "wf-1", "n", 1).unwrap();
    let refused = ask(&other, "wf-1", "m", 2).unwrap_err().to_string();
    assert!(refused.contains("row-level security"), "{refused}");
    for (sql, refusal) in [
        (
            "UPDATE sessions SET memory = 'forged'",
            "row-level security",
        ),
        (
            "UPDATE sessions SET owner = session_user",
            "permission denied",
        ),
        (
            "INSERT INTO entries SELECT id, 99, 'a', '{}' FROM sessions",
            "row-level security",
        ),
    ] {
        let refused = server.sql_as("other_agent", sql).unwrap_err();
        assert!(refused.contains(refusal), "{sql}: {refused}");
    }
    for hidden in [
        "DELETE FROM sessions",
        "UPDATE entries SET data = '{}'",
        "DELETE FROM entries",
        "DELETE FROM requests",
    ] {
        server.sql_as("other_agent", hidden).unwrap();
    }
    let loaded = agent.load(&key("s")).unwrap();
    assert_eq!((loaded.version, loaded.entries.len()), (1, 1));
    assert!(agent.request("wf-1").unwrap().is_some());
    save(&other, "t", 0, Some(run("wf-2", "Analyze", true)), 1);
    assert_eq!(other.runs(&RunQuery::default()).unwrap().len(), 2);
}

#[test]
fn a_store_of_format_3_is_upgraded_by_its_owner() {
    let Some(server) = Server::start() else {
        return;
    };
    let (agent, other) = (server.store("agent", "a"), server.store("other_agent", "b"));
    save(&agent, "s", 0, Some(run("wf-1", "Analyze", true)), 1);
    server.sql(
        "SET search_path TO workflow_sidecar; DROP TABLE figures; DROP TABLE orders; DROP TABLE trust_requests;
         ALTER TABLE entries DROP COLUMN at; UPDATE format SET version = 3",
    );
    let refused = agent.load(&key("s")).unwrap_err().to_string();
    assert!(refused.contains("runs --schema 3"), "{refused}");
    server.sql(POSTGRES_FROM_3);
    let again = server.sql_as("postgres", POSTGRES_FROM_3).unwrap_err();
    assert!(again.contains("has format 4, not 3"), "{again}");
    assert_eq!(agent.load(&key("s")).unwrap().entries[0].at, 0);
    save(&agent, "s", 1, None, 2);
    save(&other, "s2", 0, None, 2);
    assert_eq!(agent.figures(0, 1, "").unwrap().len(), 2);
    for forged in ["UPDATE figures SET number = 9", "DELETE FROM figures"] {
        let _ = server.sql_as("other_agent", forged);
    }
    assert_eq!(agent.figures(0, 1, "").unwrap()[0].number, 1);
    let refused = server.sql_as("approver", "UPDATE figures SET number = 9");
    assert!(refused.unwrap_err().contains("permission denied"));
    what_a_login_counts_leaves_the_figures_readable(&server);
}

fn what_a_login_counts_leaves_the_figures_readable(server: &Server) {
    let insert = |values: &str| {
        let into = "INSERT INTO figures (host, workflow, kind, name, day, number, total) VALUES";
        let rows = values.split(';');
        let rows = rows.map(|values| format!("{into} ('h', 'w', 'spent', 'tokens', {values})"));
        server.sql_as("other_agent", &rows.collect::<Vec<_>>().join(";"))
    };
    for absurd in ["1000000000000, 1, 1", "0, -1, 1", "0, 1, -1", "-1, 1, 1"] {
        let refused = insert(absurd).unwrap_err();
        assert!(refused.contains("check constraint"), "{refused}");
    }
    let most = i64::MAX;
    insert(&format!("0, 1, {most}; 1, 1, {most}; 100000, 1, 1")).unwrap();
    let found = server.store("agent", "a").figures(0, DAY, "").unwrap();
    let found = found
        .iter()
        .find(|found| found.workflow == "w" && found.name == "tokens");
    assert_eq!(
        found.map(|found| (found.number, found.total)),
        Some((2, most.unsigned_abs()))
    );
}

#[test]
fn an_order_is_written_by_an_approver_and_taken_once() {
    let Some(server) = Server::start() else {
        return;
    };
    let (agent, approver) = (server.store("agent", "a"), server.store("approver", "b"));
    save(&agent, "s", 0, Some(run("wf-1", "Analyze", true)), 1);
    let forged = [
        "INSERT INTO orders SELECT id, 'wf-1', 'skip' FROM sessions",
        "UPDATE orders SET text = 'skip'",
    ];
    assert!(approver.put_order("wf-1", "pause").unwrap());
    for forged in forged {
        let refused = server.sql_as("agent", forged).unwrap_err();
        assert!(refused.contains("permission denied"), "{refused}");
    }
    assert!(agent.put_order("wf-1", "skip").is_err());
    assert!(approver.put_order("wf-1", "resume").unwrap());
    server.sql_as("other_agent", "DELETE FROM orders").unwrap();
    assert_eq!(agent.load(&key("s")).unwrap().order, "resume");
    let orders = agent.orders().unwrap();
    assert_eq!(orders.len(), 1);
    for other in [server.store("other_agent", "a"), server.store("agent", "c")] {
        assert!(!other.take_order(&orders[0]).unwrap());
    }
    assert!(agent.take_order(&orders[0]).unwrap());
    assert!(!agent.take_order(&orders[0]).unwrap());
    assert_eq!(agent.load(&key("s")).unwrap().order, "");
    assert!(approver.put_order("wf-1", "skip").unwrap());
    save(&agent, "s", 1, Some(run("wf-2", "Analyze", true)), 2);
    assert_eq!(agent.load(&key("s")).unwrap().order, "", "of another run");
    assert!(!approver.put_order("wf-1", "skip").unwrap());
    let other = server.store("other_agent", "a");
    save(&other, "t", 0, Some(run("wf-2", "Analyze", true)), 9);
    assert!(
        !approver.put_order("wf-2", "skip").unwrap(),
        "of two sessions"
    );
    agent.prune(3).unwrap();
    assert!(approver.orders().unwrap().is_empty());
}

#[test]
fn a_session_that_another_login_has_written_is_shown_and_not_continued() {
    let Some(server) = Server::start() else {
        return;
    };
    let (agent, other) = (server.store("agent", "a"), server.store("other_agent", "b"));
    save(&other, "s", 0, Some(run("wf-1", "Analyze", true)), 1);
    assert_eq!(other.load(&key("s")).unwrap().version, 1);
    let refused = agent.load(&key("s")).unwrap_err().to_string();
    assert!(refused.contains("the login other_agent"), "{refused}");
    for login in ["agent", "approver"] {
        let shown = server.store(login, "c").look_at(&key("s")).unwrap();
        assert_eq!(shown.entries.len(), 1, "{login}");
    }
}

#[test]
fn a_session_that_moves_to_another_machine_continues_there() {
    let Some(server) = Server::start() else {
        return;
    };
    let (first, second) = (server.store("agent", "a"), server.store("agent", "b"));
    save(&first, "s", 0, Some(run("wf-1", "Analyze", true)), 1);
    assert!(has_active_runs(&server.directory("a"), Path::new(CWD)));
    assert!(!has_active_runs(&server.directory("b"), Path::new(CWD)));
    assert_eq!(second.load(&key("s")).unwrap().version, 1);
    save(&second, "s", 1, Some(run("wf-1", "Fix", true)), 2);
    assert!(has_active_runs(&server.directory("b"), Path::new(CWD)));
    let runs = first.runs(&RunQuery::default()).unwrap();
    assert!(second.is_here(&runs[0]) && !first.is_here(&runs[0]));
    assert_eq!(save(&first, "s", 1, None, 3), Saved::Conflict);
    assert_eq!(first.load(&key("s")).unwrap().entries.len(), 2);
    save(&second, "s", 2, Some(run("wf-1", "Fix", false)), 4);
    assert!(!has_active_runs(&server.directory("b"), Path::new(CWD)));
}

#[test]
fn a_server_that_is_killed_loses_nothing_and_is_found_again() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let store = server.store("agent", "a");
    for from in 0..5 {
        save(&store, "s", from, Some(run("wf-1", "Analyze", true)), from);
    }
    server.kill();
    let error = store.load(&key("s")).unwrap_err().to_string();
    assert!(error.contains("PostgreSQL at agent@"), "{error}");
    assert!(
        has_active_runs(&server.directory("a"), Path::new(CWD)),
        "so hooks block"
    );
    server.resume();
    assert_eq!(store.load(&key("s")).unwrap().version, 5);
    assert_eq!(save(&store, "s", 5, None, 6), Saved::Stored);
}

#[test]
fn a_server_without_the_tables_or_with_newer_ones_is_refused() {
    let Some(server) = Server::start() else {
        return;
    };
    server.sql("UPDATE workflow_sidecar.format SET version = 9");
    let error = server.store("agent", "a").load(&key("s")).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("format (9; this workflow-sidecar reads 4): a newer"),
        "{error}"
    );
    server.sql("DROP SCHEMA workflow_sidecar CASCADE");
    let error = server.store("agent", "a").load(&key("s")).unwrap_err();
    assert!(error.to_string().contains("runs --schema"), "{error}");
}
