use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::header::{CONTENT_TYPE, COOKIE, HOST, LOCATION, ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, Method, StatusCode};
use tempfile::TempDir;
use tower::ServiceExt;
use workflow_core::approval::Request;

use super::question::hash_of;
use super::{Access, Board, Guard, router};
use crate::platform::answers::code::Code;
use crate::platform::answers::requests::Requests;
use crate::platform::answers::requests::tests::request;
use crate::store::{Counts, Run, RunNote, of_agent_dir};

const PLACE: &str = "127.0.0.1:7317";

/// A board in memory, over a store with one run that waits.
struct World {
    agent_dir: TempDir,
    pages: Router,
    token: String,
    cookie: Option<String>,
    code: Code,
}

/// A page as it came.
struct Came {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

fn access(header: Option<&'static str>) -> Access {
    Access {
        address: PLACE.parse::<SocketAddr>().unwrap(),
        host: header.map(|_| "board.example.org".to_owned()),
        header: header.map(|header| header.parse().unwrap()),
    }
}

fn run(task_id: &str, state: &str) -> Run {
    Run {
        task_id: task_id.to_owned(),
        workflow: "feature".to_owned(),
        phase: "Plan".to_owned(),
        task: "a button".to_owned(),
        status: String::new(),
        state: state.to_owned(),
        waiting: String::new(),
        is_active: !["complete", "cancelled", "ended"].contains(&state),
    }
}

fn asked(task_id: &str, code: &Code) -> Request {
    let mut asked = Request {
        show: None,
        shown_file: None,
        ..request(task_id)
    };
    asked.proofs.hashes = code.proofs(&asked);
    asked
}

impl World {
    fn new(access: Access) -> Self {
        let agent_dir = tempfile::tempdir().unwrap();
        let requests = Requests::in_agent_dir(agent_dir.path()).unwrap();
        let code = Code::new().unwrap();
        requests.put(&asked("wf-1", &code)).unwrap();
        let world = Self {
            agent_dir,
            code,
            ..Self::over(requests, access)
        };
        world.note(run("wf-1", "waits"));
        world
    }

    /// A board over the store of these requests.
    fn over(requests: Requests, access: Access) -> Self {
        let guard = Guard::new(access).unwrap();
        let address = guard.address();
        let token = address.split_once("token=").map(|(_, token)| token);
        Self {
            token: token.unwrap_or_default().to_owned(),
            pages: router(Arc::new(Board::new(requests, guard))),
            agent_dir: tempfile::tempdir().unwrap(),
            cookie: None,
            code: Code::new().unwrap(),
        }
    }

    /// One whose browser has taken the token.
    fn entered() -> Self {
        let mut world = Self::new(access(None));
        let entered = world.get(&format!("/enter?token={}", world.token));
        assert_eq!(entered.status, StatusCode::SEE_OTHER);
        assert_eq!(entered.headers[LOCATION], "/");
        let cookie = entered.headers[SET_COOKIE].to_str().unwrap();
        assert!(cookie.ends_with("; HttpOnly; SameSite=Lax; Path=/"));
        world.cookie = cookie.split(';').next().map(str::to_owned);
        world
    }

    fn note(&self, run: Run) {
        let note = RunNote {
            host: "pi".to_owned(),
            run: Some(run),
            memory: String::new(),
            cwd: PathBuf::from("/project"),
            file: None,
            counts: Counts::default(),
            now: 1,
        };
        of_agent_dir(self.agent_dir.path())
            .unwrap()
            .note_run(&note)
            .unwrap();
    }

    fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Came {
        let mut request = axum::http::Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header(HOST, PLACE);
        }
        if let Some(cookie) = &self.cookie {
            request = request.header(COOKIE, cookie);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        runtime.block_on(async {
            let came = self.pages.clone().oneshot(request).await.unwrap();
            let (head, body) = came.into_parts();
            let body = to_bytes(body, usize::MAX).await.unwrap();
            Came {
                status: head.status,
                headers: head.headers,
                text: String::from_utf8(body.to_vec()).unwrap(),
            }
        })
    }

    fn get(&self, path: &str) -> Came {
        self.send(Method::GET, path, &[], "")
    }

    fn answer(&self, code: &str, choice: &str) -> Came {
        let request = self.shown();
        let body = format!("run=wf-1&request={request}&code={code}&choice={choice}&comment=well");
        let origin = format!("http://{PLACE}");
        self.send(
            Method::POST,
            "/answer",
            &[(ORIGIN.as_str(), &origin)],
            &body,
        )
    }

    /// What a page of the question says of it.
    fn shown(&self) -> String {
        let requests = Requests::in_agent_dir(self.agent_dir.path()).unwrap();
        let asked = requests.all().unwrap().pop();
        asked.map_or_else(String::new, |(asked, _)| hash_of(&asked))
    }

    /// The choice that is stored.
    fn stored(&self) -> Option<(String, Option<String>)> {
        let requests = Requests::in_agent_dir(self.agent_dir.path()).unwrap();
        let decision = requests.all().unwrap().pop()?.1?;
        Some((decision.choice, decision.comment))
    }
}

#[test]
fn the_token_counts_once_and_its_cookie_opens_all_pages() {
    let world = World::entered();
    let page = world.get("/");
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.text.contains("1 run waits for a person."));
    assert!(page.text.contains("/a?run=wf"));
    let other = World {
        cookie: None,
        ..world
    };
    for path in ["/", "/?run=wf-1", "/live", "/a?run=wf-1"] {
        assert_eq!(other.get(path).status, StatusCode::UNAUTHORIZED, "{path}");
    }
    for token in [&*other.token, "", "0"] {
        let entered = other.get(&format!("/enter?token={token}"));
        assert_eq!(entered.status, StatusCode::UNAUTHORIZED);
        assert!(!entered.headers.contains_key(SET_COOKIE));
    }
    let forged = World {
        cookie: Some("board-7317=0".to_owned()),
        ..other
    };
    assert_eq!(forged.get("/").status, StatusCode::UNAUTHORIZED);
}

#[test]
fn another_host_or_origin_is_refused() {
    let world = World::entered();
    for host in [
        "evil.example",
        "evil.example:7317",
        "127.0.0.1",
        "127.0.0.1:80",
        "localhost",
        "",
        "[::1]:7317",
    ] {
        let came = world.send(Method::GET, "/", &[("host", host)], "");
        assert_eq!(came.status, StatusCode::MISDIRECTED_REQUEST, "{host}");
        assert!(!came.text.contains("a button"));
    }
    assert_eq!(
        world
            .send(Method::GET, "/", &[("host", "localhost:7317")], "")
            .status,
        StatusCode::OK
    );
    let (request, code) = (world.shown(), &world.code);
    let body = format!("run=wf-1&request={request}&code={code}&choice=approve");
    for origin in [
        "null",
        "http://evil.example",
        "http://127.0.0.1:80",
        "http://localhost:7317",
        "file://",
        "",
    ] {
        let came = world.send(Method::POST, "/answer", &[("origin", origin)], &body);
        assert_eq!(came.status, StatusCode::FORBIDDEN, "{origin}");
    }
    assert_eq!(
        world.send(Method::POST, "/answer", &[], &body).status,
        StatusCode::FORBIDDEN
    );
    assert_eq!(world.stored(), None);
}

#[test]
fn every_answer_forbids_scripts_of_others_frames_and_copies() {
    let world = World::entered();
    for path in ["/", "/nothing", "/style.css", "/enter", "/?run=wf-0"] {
        let headers = world.get(path).headers;
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
        assert!(!policy.contains("unsafe"));
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert_eq!(headers["cache-control"], "no-store");
    }
}

#[test]
fn a_code_answers_its_question_once_and_only_with_one_of_its_choices() {
    let world = World::entered();
    let code = world.code.to_string();
    assert_eq!(
        world.answer(&code, "perhaps").status,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(world.stored(), None);
    let came = world.answer(&code.to_lowercase(), "revise");
    assert_eq!(came.status, StatusCode::OK);
    assert!(came.text.contains("revise: stored."), "{}", came.text);
    assert_eq!(
        world.stored(),
        Some(("revise".to_owned(), Some("well".to_owned())))
    );
    assert!(world.get("/").text.contains("answered: revise"));
    let requests = Requests::in_agent_dir(world.agent_dir.path()).unwrap();
    // The run has used the answer, and asks again.
    requests.clear("wf-1");
    requests.put(&asked("wf-1", &Code::new().unwrap())).unwrap();
    let came = world.answer(&code, "approve");
    assert!(
        came.text.contains("nothing that waits has this code"),
        "{}",
        came.text
    );
    assert_eq!(world.stored(), None);
}

#[test]
fn a_wrong_code_is_refused_and_the_sixth_waits() {
    let world = World::entered();
    for _ in 0..4 {
        let came = world.answer("2222-2222-2222", "approve");
        assert!(came.text.contains("nothing was answered"), "{}", came.text);
        assert!(came.text.contains("well"), "the comment is kept");
    }
    assert_eq!(
        world.get("/a?run=wf-1&code=2222-2222-2222").status,
        StatusCode::OK
    );
    let code = world.code.to_string();
    let waits = |world: &World| {
        for came in [
            world.answer(&code, "approve"),
            world.get(&format!("/a?code={code}")),
        ] {
            assert_eq!(came.status, StatusCode::TOO_MANY_REQUESTS);
            assert!(came.text.contains("Try again in"));
        }
        assert_eq!(world.stored(), None);
    };
    waits(&world);
    // Strangers have their own five, and keep nobody else from answering.
    let nobody = World {
        cookie: None,
        ..world
    };
    assert_eq!(
        nobody.get(&format!("/a?code={code}")).status,
        StatusCode::OK
    );
    for _ in 0..5 {
        nobody.get("/a?code=2222-2222-2222");
    }
    waits(&nobody);
}

#[test]
fn a_link_with_its_code_shows_one_question_to_whoever_has_it_and_nothing_else() {
    let world = World::new(access(None));
    let code = world.code.to_string();
    let question = world.get(&format!("/a?run=wf-1&code={code}"));
    assert_eq!(question.status, StatusCode::OK);
    assert!(question.text.contains("Plan OK?") && question.text.contains("goes to 🔧 Build"));
    let wrong = world.get("/a?run=wf-1&code=2222-2222-2222");
    assert_eq!(wrong.status, StatusCode::FORBIDDEN);
    assert!(!wrong.text.contains("Plan OK?"));
    assert_eq!(world.answer("", "approve").status, StatusCode::FORBIDDEN);
    assert_eq!(world.stored(), None);
    assert_eq!(world.answer(&code, "approve").status, StatusCode::OK);
    assert!(world.stored().is_some());
}

#[test]
fn what_a_page_did_not_show_is_not_answered() {
    let world = World::entered();
    let code = world.code.to_string();
    let page = world.shown();
    let requests = Requests::in_agent_dir(world.agent_dir.path()).unwrap();
    let mut other = asked("wf-1", &world.code);
    other.about = vec!["The agent says: it deletes the data.".to_owned()];
    other.proofs.hashes = world.code.proofs(&other);
    requests.put(&other).unwrap();
    let body = format!("run=wf-1&request={page}&code={code}&choice=approve");
    let origin = format!("http://{PLACE}");
    let origin = [(ORIGIN.as_str(), &*origin)];
    let came = world.send(Method::POST, "/answer", &origin, &body);
    assert_eq!(came.status, StatusCode::CONFLICT);
    assert!(came.text.contains("another one"), "{}", came.text);
    assert_eq!(world.stored(), None);
}

#[test]
fn pages_of_other_places_can_only_link() {
    let world = World::entered();
    let ask = |mode| {
        let headers = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", mode)];
        world
            .send(Method::GET, "/a?code=2222-2222-2222", &headers, "")
            .status
    };
    assert_eq!(ask("no-cors"), StatusCode::FORBIDDEN);
    assert_eq!(ask("navigate"), StatusCode::FORBIDDEN, "the code is wrong");
    for _ in 0..9 {
        ask("no-cors");
    }
    let code = world.code.to_string();
    assert_eq!(world.get(&format!("/a?code={code}")).status, StatusCode::OK);
    let head = world.send(
        Method::HEAD,
        &format!("/enter?token={}", world.token),
        &[],
        "",
    );
    assert!(!head.headers.contains_key(SET_COOKIE));
}

#[test]
fn a_changed_file_is_not_approved() {
    let world = World::entered();
    let requests = Requests::in_agent_dir(world.agent_dir.path()).unwrap();
    let mut shows = request("wf-1");
    shows.proofs.hashes = world.code.proofs(&shows);
    requests.put(&shows).unwrap();
    let came = world.answer(&world.code.to_string(), "approve");
    assert_eq!(came.status, StatusCode::CONFLICT);
    assert!(
        came.text
            .contains("plan.md has changed since the run asked")
    );
    assert_eq!(world.stored(), None);
}

#[test]
fn a_long_form_is_refused() {
    let world = World::entered();
    let came = world.answer(&world.code.to_string(), &"x".repeat(70_000));
    assert_eq!(came.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[test]
fn a_proxy_says_who_asks_and_nobody_else_does() {
    let world = World::new(access(Some("x-forwarded-user")));
    let ask = |headers: &[(&str, &str)]| world.send(Method::GET, "/", headers, "").status;
    let host = ("host", "board.example.org");
    let user = ("x-forwarded-user", "ada");
    assert_eq!(ask(&[host, user]), StatusCode::OK);
    assert_eq!(ask(&[host]), StatusCode::UNAUTHORIZED);
    assert_eq!(
        ask(&[host, user, ("x-forwarded-user", "eve")]),
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(
        ask(&[host, ("x-forwarded-user", " ")]),
        StatusCode::UNAUTHORIZED
    );
    // The store of this machine asks for a code all the same.
    let origin = ("origin", "https://board.example.org");
    let body = "run=wf-1&request=n&choice=approve";
    let came = world.send(Method::POST, "/answer", &[host, user, origin], body);
    assert!(came.text.contains("is no code"), "{}", came.text);
    assert_eq!(world.stored(), None);
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn an_approver_answers_under_its_name_without_a_code_and_an_agents_login_cannot() {
    use crate::platform::answers::requests::tests::requests_of;
    use crate::store::tests::server::Server;

    let Some(server) = Server::start() else {
        return;
    };
    let (_, of_agent) = requests_of(&server, "agent");
    let asked = Request {
        show: None,
        shown_file: None,
        ..request("wf-1")
    };
    of_agent.put(&asked).unwrap();
    let host = ("host", "board.example.org");
    let (origin, user) = (
        ("origin", "https://board.example.org"),
        ("x-forwarded-user", "ada"),
    );
    let body = |request: &str| format!("run=wf-1&request={request}&choice=approve");
    let board = |login| {
        World::over(
            requests_of(&server, login).1,
            access(Some("x-forwarded-user")),
        )
    };
    let send = |board: &World, headers: &[(&str, &str)], body: &str| {
        board.send(Method::POST, "/answer", headers, body).status
    };
    let agent = board("agent");
    assert_eq!(
        send(&agent, &[host, origin, user], &body("n")),
        StatusCode::FORBIDDEN
    );
    let page = agent.send(Method::GET, "/a?run=wf-1", &[host, user], "");
    assert!(
        page.text.contains("may not answer") && page.text.contains("Plan OK?"),
        "{}",
        page.text
    );
    let approver = board("approver");
    assert_eq!(
        send(&approver, &[host, origin], &body("n")),
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(
        send(&approver, &[host, origin, user], &body("n")),
        StatusCode::CONFLICT
    );
    assert_eq!(of_agent.all().unwrap()[0].1, None);
    assert_eq!(
        send(&approver, &[host, origin, user], &body(&hash_of(&asked))),
        StatusCode::OK
    );
    let decision = of_agent.all().unwrap().remove(0).1.unwrap();
    assert_eq!(decision.by.as_deref(), Some("ada"));
    assert_eq!(decision.asked, Some(asked));
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn an_approver_orders_and_nobody_else_does() {
    use crate::platform::answers::requests::tests::requests_of;
    use crate::store::tests::server::Server;

    let local = World::entered();
    assert_eq!(local.get("/order?run=wf-1").status, StatusCode::FORBIDDEN);
    local.note(run("wf-1", "active"));
    let page = local.get("/?run=wf-1");
    assert_eq!(page.status, StatusCode::OK);
    assert!(!page.text.contains("/order"));
    let Some(server) = Server::start() else {
        return;
    };
    let board = |login| {
        World::over(
            requests_of(&server, login).1,
            access(Some("x-forwarded-user")),
        )
    };
    let (agent, approver) = (board("agent"), board("approver"));
    let (_, of_agent) = requests_of(&server, "agent");
    let note = RunNote {
        host: "pi".to_owned(),
        run: Some(run("wf-1", "active")),
        memory: String::new(),
        cwd: PathBuf::from("/project"),
        file: None,
        counts: Counts::default(),
        now: crate::time::wall_time(),
    };
    of_agent.store().note_run(&note).unwrap();
    let headers = [
        ("host", "board.example.org"),
        ("origin", "https://board.example.org"),
        ("x-forwarded-user", "ada"),
    ];
    let body = |phase: &str, command: &str| format!("run=wf-1&phase={phase}&command={command}");
    let send = |board: &World, body: &str| board.send(Method::POST, "/order", &headers, body);
    let phase = run("wf-1", "active").phase;
    let skip = body(&phase, "workflow-skip");
    assert_eq!(send(&agent, &skip).status, StatusCode::FORBIDDEN);
    let stranger = approver.send(Method::POST, "/order", &headers[..2], &skip);
    assert_eq!(stranger.status, StatusCode::UNAUTHORIZED);
    for (body, status) in [
        (body("Other", "workflow-skip"), StatusCode::CONFLICT),
        (body(&phase, "workflow-goto"), StatusCode::BAD_REQUEST),
        (skip.replace("wf-1", "wf-2"), StatusCode::NOT_FOUND),
    ] {
        assert_eq!(send(&approver, &body).status, status, "{body}");
    }
    assert!(of_agent.orders().unwrap().is_empty());
    let page = |path| approver.send(Method::GET, path, &headers, "").text;
    assert!(page("/?run=wf-1").contains("href=\"/order?run=wf"));
    let came = send(&approver, &skip);
    assert_eq!(came.status, StatusCode::OK);
    assert!(came.text.contains("skip: stored."), "{}", came.text);
    let (_, order) = of_agent.orders().unwrap().remove(0);
    assert_eq!(
        (&*order.command, order.by.as_deref()),
        ("workflow-skip", Some("ada"))
    );
    for path in ["/order?run=wf-1", "/?run=wf-1"] {
        assert!(page(path).contains("Ordered by ada: workflow-skip."));
    }
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn an_approver_trusts_commands_and_nobody_else_does() {
    use workflow_core::definition::RunCheck;

    use crate::platform::answers::requests::tests::requests_of;
    use crate::platform::answers::trust_store::{session_trusts, trust_requests};
    use crate::platform::session_in;
    use crate::store::tests::server::Server;

    let local = World::entered();
    assert_eq!(local.get("/trust").status, StatusCode::FORBIDDEN);
    let Some(server) = Server::start() else {
        return;
    };
    let board = |login| {
        let (_, requests) = requests_of(&server, login);
        World::over(requests, access(Some("x-forwarded-user")))
    };
    let (agent, approver) = (board("agent"), board("approver"));
    let (agent_dir, of_agent) = requests_of(&server, "agent");
    let project = tempfile::tempdir().unwrap();
    let session = session_in(&agent_dir, project.path());
    let commands = [RunCheck {
        command: vec!["make".to_owned(), "<b>".to_owned()],
        ..RunCheck::default()
    }];
    assert!(!session_trusts(&session, &commands));
    let (_, wanted) = trust_requests(of_agent.store()).unwrap().remove(0);
    let headers = [
        ("host", "board.example.org"),
        ("origin", "https://board.example.org"),
        ("x-forwarded-user", "ada"),
    ];
    let send = |board: &World, body: &str| board.send(Method::POST, "/trust", &headers, body);
    let body = |id: &str, answer: &str| {
        let project = wanted.project.replace('/', "%2F");
        format!("project={project}&id={id}&answer={answer}")
    };
    let page = || approver.send(Method::GET, "/trust", &headers, "").text;
    let shown = page();
    assert!(
        shown.contains("<code>make &#39;&#60;b&#62;&#39;</code>"),
        "{shown}"
    );
    assert!(shown.contains("login agent"), "{shown}");
    let runs = approver.send(Method::GET, "/", &headers, "").text;
    assert!(runs.contains("href=\"/trust\""), "{runs}");
    let trust = body(&wanted.id, "trust");
    assert_eq!(send(&agent, &trust).status, StatusCode::FORBIDDEN);
    assert_eq!(
        send(&approver, &body("x", "trust")).status,
        StatusCode::CONFLICT
    );
    assert!(!session_trusts(&session, &commands));
    assert!(
        send(&approver, &body(&wanted.id, "decline"))
            .text
            .contains("do not run")
    );
    assert_eq!(send(&approver, &trust).status, StatusCode::CONFLICT);
    assert!(!session_trusts(&session, &commands));
    assert!(send(&approver, &trust).text.contains("are trusted"));
    assert!(session_trusts(&session, &commands));
    assert!(page().contains("No project waits"));
}

#[test]
fn hostile_texts_stay_texts() {
    let world = World::entered();
    let hostile = "</td><script>alert(1)</script>\" onload=\"x\" \u{202e}\u{1b}[2J";
    let requests = Requests::in_agent_dir(world.agent_dir.path()).unwrap();
    let mut bad = Request {
        workflow: hostile.to_owned(),
        phase: hostile.to_owned(),
        task: hostile.to_owned(),
        cwd: PathBuf::from(hostile),
        ask: hostile.to_owned(),
        choices: vec![hostile.to_owned(), "no".to_owned()],
        about: vec![hostile.to_owned()],
        consequences: vec![hostile.to_owned()],
        ..asked("wf-1", &world.code)
    };
    bad.proofs.hashes = world.code.proofs(&bad);
    requests.put(&bad).unwrap();
    world.note(Run {
        workflow: hostile.to_owned(),
        phase: hostile.to_owned(),
        task: hostile.to_owned(),
        waiting: hostile.to_owned(),
        ..run(hostile, "waits")
    });
    let code = world.code.to_string();
    let query = "%3C%2Foption%3E%3Cscript%3E%22";
    let paths = [
        "/".to_owned(),
        format!("/?q={query}&host={query}&state={query}"),
        format!("/?run={query}"),
        "/?run=wf-1".to_owned(),
        format!("/a?run={query}"),
        format!("/a?run=wf-1&code={query}"),
        format!("/a?run=wf-1&code={code}"),
    ];
    for path in paths {
        let text = world.get(&path).text;
        let scripts = text.matches("<script").count();
        assert_eq!(scripts, 1, "{path}: {text}");
        assert!(!text.contains("\" onload"), "{path}");
        assert!(
            !text.contains(['\u{202e}', '\u{1b}']) || path.contains("code="),
            "{path}"
        );
    }
}

#[test]
fn a_run_that_is_kept_elsewhere_is_shown_with_what_is_known_and_what_can_be_typed() {
    let world = World::entered();
    let page = world.get("/?run=wf-1");
    assert_eq!(page.status, StatusCode::OK);
    for text in [
        "What happened is not known here",
        "/workflow-pause",
        "/a?run=wf",
    ] {
        assert!(page.text.contains(text), "{text}: {}", page.text);
    }
    assert_eq!(world.get("/?run=wf-2").status, StatusCode::NOT_FOUND);
}

#[test]
fn a_filter_finds_runs_and_keeps_what_was_chosen() {
    let world = World::entered();
    world.note(run("wf-2", "complete"));
    let all = world.get("/").text;
    assert!(all.contains("wf-2") || all.contains("wf%2D2"));
    let some = world.get("/?state=complete&q=BUTTON").text;
    assert!(some.contains("Nothing waits for a person."));
    assert!(some.contains("<option value=\"complete\" selected>complete"));
    assert!(some.contains("feature"));
    assert!(
        world
            .get("/?host=codex")
            .text
            .contains("There are no others here.")
    );
}

#[test]
fn figures_are_shown_with_bars_and_hostile_names_stay_texts() {
    let world = World::entered();
    assert!(world.get("/figures").text.contains("There are no figures."));
    let mut counts = Counts::default();
    counts.add(["<script>", "asked", "rule <b>"], 5, 0);
    counts.add(["<script>", "allowed", "rule <b>"], 5, 0);
    let store = of_agent_dir(world.agent_dir.path()).unwrap();
    let note = RunNote {
        host: "pi".to_owned(),
        run: Some(run("wf-3", "active")),
        memory: String::new(),
        cwd: PathBuf::from("/project"),
        file: None,
        counts,
        now: crate::time::wall_time(),
    };
    store.note_run(&note).unwrap();
    let page = world.get("/figures");
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.text.contains("Always allowed"), "{}", page.text);
    assert!(page.text.contains("<rect width=\"100\""));
    assert_eq!(page.text.matches("<script").count(), 1);
    assert!(!page.text.contains("<b>\n"));
}

#[test]
fn a_store_that_goes_away_is_said_and_one_that_comes_back_is_shown() {
    let world = World::entered();
    let store = world
        .agent_dir
        .path()
        .join("workflow-sidecar/store.sqlite3");
    let kept = std::fs::read(&store).unwrap();
    std::fs::write(&store, "this is no database, and was one before").unwrap();
    let away = world.get("/");
    assert_eq!(away.status, StatusCode::SERVICE_UNAVAILABLE);
    std::fs::remove_file(&store).unwrap();
    let gone = world.get("/");
    assert_eq!(gone.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(gone.text.contains("is gone"), "{}", gone.text);
    std::fs::write(&store, kept).unwrap();
    assert_eq!(world.get("/").status, StatusCode::OK);
}
