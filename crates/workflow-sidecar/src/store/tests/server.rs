//! A server of `PostgreSQL` for a test, on a socket in a directory of its own.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::super::postgres::{PostgresStore, SCHEMA};

/// The time for the server to start.
const DEADLINE: Duration = Duration::from_secs(60);
const PORT: &str = "5432";

/// A server that ends with the test.
pub(crate) struct Server {
    directory: tempfile::TempDir,
    programs: PathBuf,
    /// The user that it runs as: root may not.
    user: Option<&'static str>,
}

impl Server {
    /// Starts a server with the tables, and logins for each role. `None` if `PostgreSQL` is not installed.
    pub(crate) fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            writeln("skipped: PostgreSQL is not installed (Debian: apt install postgresql)");
            return None;
        };
        let directory = tempfile::Builder::new()
            .prefix("wf-pg")
            .tempdir_in("/tmp")
            .unwrap();
        let user = is_root().then_some("postgres");
        let server = Self {
            directory,
            programs,
            user,
        };
        if let Some(user) = user {
            let owned = Command::new("chown")
                .arg(user)
                .arg(server.directory.path())
                .status();
            assert!(owned.unwrap().success(), "the user {user} exists");
        }
        let data = server.data();
        server.run("initdb", &["-D", &data, "-A", "trust", "-N"]);
        server.resume();
        server.sql(SCHEMA);
        server.sql(
            "CREATE ROLE agent LOGIN IN ROLE workflow_agent;
             CREATE ROLE approver LOGIN IN ROLE workflow_approver;
             CREATE ROLE two_roles LOGIN NOINHERIT IN ROLE workflow_agent, workflow_approver;
             GRANT USAGE ON SCHEMA workflow_sidecar TO two_roles;
             GRANT SELECT ON ALL TABLES IN SCHEMA workflow_sidecar TO two_roles;",
        );
        Some(server)
    }

    /// The address for a login.
    pub(crate) fn url(&self, login: &str) -> String {
        let socket = self.directory.path().display().to_string();
        let socket = socket.replace('/', "%2F");
        format!("postgres://{login}@{socket}/postgres")
    }

    /// The store as a login has it, on a machine with a directory of its own.
    pub(super) fn store(&self, login: &str, machine: &str) -> PostgresStore {
        let url = self.url(login);
        PostgresStore::new(&url, self.directory(machine)).unwrap()
    }

    /// The directory of a machine.
    pub(crate) fn directory(&self, machine: &str) -> PathBuf {
        self.directory.path().join(machine)
    }

    /// Runs SQL as the owner.
    pub(super) fn sql(&self, sql: &str) {
        let socket = self.directory.path().display().to_string();
        let arguments = ["-q", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-h"];
        let arguments = [&arguments[..], &[&*socket, "-c", sql, "postgres"]].concat();
        self.run("psql", &arguments);
    }

    /// Kills the server and all of its processes.
    pub(super) fn kill(&mut self) {
        let id = fs::read_to_string(self.directory.path().join("data/postmaster.pid")).unwrap();
        let id = id.lines().next().unwrap().to_owned();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        let children = children.unwrap_or_default();
        let processes = [&*id].into_iter().chain(children.split_whitespace());
        let processes: Vec<&str> = processes.collect();
        for process in &processes {
            let killed = Command::new("kill").args(["-9", process]).status();
            assert!(killed.is_ok());
        }
        let end = Instant::now() + DEADLINE;
        let runs = |process: &&str| fs::read_link(format!("/proc/{process}/exe")).is_ok();
        while processes.iter().any(runs) && Instant::now() < end {
            thread::sleep(Duration::from_millis(10));
        }
        // The process may still be in the table, where nothing waits for its end.
        let socket = format!(".s.PGSQL.{PORT}.lock");
        for lock in ["data/postmaster.pid", &socket] {
            fs::remove_file(self.directory.path().join(lock)).unwrap();
        }
    }

    /// Starts the server with its data.
    pub(super) fn resume(&self) {
        let data = self.data();
        let socket = self.directory.path().display().to_string();
        let options =
            format!("-c listen_addresses= -c unix_socket_directories={socket} -c port={PORT}");
        let log = self.directory.path().join("log").display().to_string();
        let seconds = DEADLINE.as_secs().to_string();
        let arguments = [
            "-D", &data, "-w", "-t", &seconds, "-l", &log, "-o", &options,
        ];
        self.run("pg_ctl", &[&arguments[..], &["start"]].concat());
    }

    fn data(&self) -> String {
        self.directory.path().join("data").display().to_string()
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let output = self.output(program, arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {arguments:?}: {error}");
    }

    fn output(&self, program: &str, arguments: &[&str]) -> Output {
        let program = self.programs.join(program);
        let mut command = match self.user {
            Some(user) => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid", user, "--regid", user, "--clear-groups"]);
                command.arg(program);
                command
            }
            None => Command::new(program),
        };
        if self.user.is_none() && arguments.contains(&"-A") {
            command.args(["-U", "postgres"]);
        }
        // The server keeps its standard streams open.
        let log = self.directory.path().join("output");
        let file = || fs::File::create(&log).unwrap();
        let status = command
            .args(arguments)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file())
            .status()
            .unwrap();
        Output {
            status,
            stdout: Vec::new(),
            stderr: fs::read(&log).unwrap(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let data = self.data();
        self.output("pg_ctl", &["-D", &data, "-m", "immediate", "stop"]);
    }
}

/// Finds the directory of the server's programs.
fn programs() -> Option<PathBuf> {
    let asked = Command::new("pg_config").arg("--bindir").output();
    let asked = asked.ok().map(|output| {
        let text = String::from_utf8_lossy(&output.stdout);
        PathBuf::from(text.trim())
    });
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let debian = debian.flatten().map(|entry| entry.path().join("bin"));
    let mut all = asked.into_iter().chain(debian);
    all.find(|directory| {
        let has = |program: &str| directory.join(program).exists();
        has("initdb") && has("pg_ctl") && has("psql")
    })
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn writeln(text: &str) {
    use std::io::Write;
    drop(writeln!(std::io::stderr(), "{text}"));
}
