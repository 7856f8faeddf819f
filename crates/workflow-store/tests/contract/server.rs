//! A server of `PostgreSQL` for a test, on a socket in a directory of its own.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use workflow_store::{POSTGRES_SCHEMA, Store, open};

use super::authority::Authority;

/// The time for the server to start.
const DEADLINE: Duration = Duration::from_secs(60);

/// A server that ends with the test.
pub(crate) struct Server {
    directory: tempfile::TempDir,
    programs: PathBuf,
    /// The user that it runs as: root may not.
    user: Option<&'static str>,
    port: u16,
    /// True if it listens on loopback too, with TLS.
    has_tls: bool,
}

impl Server {
    /// Starts a server with the tables, and logins for each role. `None` if `PostgreSQL` is not installed.
    pub(crate) fn start() -> Option<Self> {
        Some(Self::prepare()?.started())
    }

    /// Starts one that asks for a password and TLS on loopback. Its certificate is for `localhost`, signed by the authority in
    /// [`Server::authority`].
    pub(super) fn start_with_tls() -> Option<Self> {
        let mut server = Self::prepare()?;
        let Some(authority) = Authority::new(server.directory.path().join("ca")) else {
            writeln("skipped: openssl is not installed");
            return None;
        };
        let data = PathBuf::from(server.data());
        authority.sign(
            "localhost",
            &data.join("server.crt"),
            &data.join("server.key"),
        );
        let access = "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n";
        fs::write(data.join("pg_hba.conf"), access).unwrap();
        if let Some(user) = server.user {
            let owned = Command::new("chown").args(["-R", user]).arg(&data).status();
            assert!(owned.unwrap().success());
        }
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        server.port = free.local_addr().unwrap().port();
        server.has_tls = true;
        drop(free);
        let server = server.started();
        server.sql("ALTER ROLE agent PASSWORD 'of the agent'");
        Some(server)
    }

    /// The certificate of the authority that signed the server's.
    pub(super) fn authority(&self) -> PathBuf {
        self.directory.path().join("ca/ca.pem")
    }

    /// The address of the agent on loopback, for a name of the server.
    pub(super) fn tls_url(&self, name: &str, parameters: &str) -> String {
        let port = self.port;
        format!("postgres://agent:of%20the%20agent@{name}:{port}/postgres?{parameters}")
    }

    fn prepare() -> Option<Self> {
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
            port: 5432,
            has_tls: false,
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
        Some(server)
    }

    fn started(self) -> Self {
        self.resume();
        self.sql(POSTGRES_SCHEMA);
        self.sql(
            "CREATE ROLE agent LOGIN IN ROLE workflow_agent;
             CREATE ROLE other_agent LOGIN IN ROLE workflow_agent;
             CREATE ROLE approver LOGIN IN ROLE workflow_approver;
             CREATE ROLE two_roles LOGIN NOINHERIT IN ROLE workflow_agent, workflow_approver;
             GRANT USAGE ON SCHEMA workflow_sidecar TO two_roles;
             GRANT SELECT ON ALL TABLES IN SCHEMA workflow_sidecar TO two_roles;",
        );
        self
    }

    /// The address for a login.
    pub(crate) fn url(&self, login: &str) -> String {
        let socket = self.directory.path().display().to_string();
        let socket = socket.replace('/', "%2F");
        format!("postgres://{login}@{socket}/postgres")
    }

    /// The store as a login has it, on a machine with a directory of its own.
    pub(crate) fn store(&self, login: &str, machine: &str) -> Store {
        open(self.directory(machine), Some(&self.url(login))).unwrap()
    }

    /// The directory of a machine.
    pub(crate) fn directory(&self, machine: &str) -> PathBuf {
        self.directory.path().join(machine)
    }

    /// Runs SQL as the owner.
    pub(crate) fn sql(&self, sql: &str) {
        let error = self.sql_as("postgres", sql).err();
        assert_eq!(error, None, "{sql}");
    }

    /// Runs SQL as a login, on the tables of the store.
    pub(super) fn sql_as(&self, login: &str, sql: &str) -> Result<(), String> {
        let socket = self.directory.path().display().to_string();
        let port = self.port.to_string();
        let search = "SET search_path TO workflow_sidecar";
        let arguments = ["-q", "-v", "ON_ERROR_STOP=1", "-U", login, "-p", &port];
        let more = ["-h", &socket, "-c", search, "-c", sql, "postgres"];
        let output = self.output("psql", &[&arguments[..], &more].concat());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        output.status.success().then_some(()).ok_or(error)
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
        let socket = format!(".s.PGSQL.{}.lock", self.port);
        for lock in ["data/postmaster.pid", &socket] {
            fs::remove_file(self.directory.path().join(lock)).unwrap();
        }
    }

    /// Starts the server with its data.
    pub(super) fn resume(&self) {
        let data = self.data();
        let socket = self.directory.path().display().to_string();
        let port = self.port;
        let listens = if self.has_tls {
            "-c listen_addresses=127.0.0.1 -c ssl=on"
        } else {
            "-c listen_addresses="
        };
        let options = format!("{listens} -c unix_socket_directories={socket} -c port={port}");
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
