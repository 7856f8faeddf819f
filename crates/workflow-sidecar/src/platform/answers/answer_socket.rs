//! The socket on which a running sidecar takes answers from `workflow-sidecar approve` and `trust`.
//!
//! Each sidecar has a socket and a file with its processes in the user's directory, which only the user can use. One
//! connection has one request and one reply, a JSON line each. The system says which process connects, so that the
//! sidecar judges its ancestry whatever it sends.
//!
//! Owns these files: those of sidecars that are gone are removed with the next one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::ancestry::{
    HostOrigin, ProcessId, ProcessJudgement, ProcessTable, SystemProcesses, judge,
};
use super::approvals::{StoredDecision, StoredRequest};
use workflow_store::create_private_dir;

use crate::files::private_file::{read_json, replace};

const DIRECTORY: &str = "workflow-sidecar/run";

/// A request to a sidecar.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Request {
    /// The question who connects.
    Judge,
    /// An answer to an approval request.
    Answer(Box<SocketAnswer>),
    /// Show the person a code for the trust in a project.
    TrustCode { project: String },
    /// Check that code.
    CheckTrust { project: String, code: String },
    /// The person has trusted a project: what waits for that can continue.
    Trusted { project: String },
}

/// An answer to an approval request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SocketAnswer {
    /// The request as it was shown.
    pub(crate) request: StoredRequest,
    pub(crate) choice: String,
    /// The person's comment for the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) comment: Option<String>,
    /// The state of the file that was shown.
    pub(crate) shown: Option<String>,
    pub(crate) code: Option<String>,
}

impl SocketAnswer {
    /// Makes the decision of the answer. `code` and `asked` are its proof, where it needs one.
    pub(crate) fn into_decision(
        self,
        code: String,
        asked: Option<StoredRequest>,
    ) -> StoredDecision {
        StoredDecision {
            nonce: self.request.nonce,
            choice: self.choice,
            comment: self.comment,
            shown: self.shown,
            code,
            asked,
        }
    }
}

/// The reply of a sidecar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum SocketReply {
    Judged(ProcessJudgement),
    /// The answer counts.
    Noted,
    /// The request no longer exists.
    Gone,
    /// The answer needs a code: the reason.
    CodeNeeded(String),
    WrongCode,
    /// Too many wrong codes were given, so the code no longer counts.
    TooManyCodes,
    /// The answer does not count: the reason.
    Refused(String),
}

/// The file of a running sidecar.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Registration {
    host: Option<ProcessId>,
    socket: PathBuf,
}

/// A sidecar that runs, or whose host does.
#[derive(Debug)]
pub(crate) enum FoundSidecar {
    Running(Registration),
    /// The sidecar is gone, and the host is not.
    HostOnly(ProcessId),
}

/// Finds the sidecars of the user whose hosts run, and removes the files of others.
pub(crate) fn sidecars(agent_dir: &Path) -> io::Result<Vec<FoundSidecar>> {
    let entries = match fs::read_dir(agent_dir.join(DIRECTORY)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let Some(registration) = read_json::<Registration>(&path) else {
            continue;
        };
        if registration.is_running() {
            found.push(FoundSidecar::Running(registration));
            continue;
        }
        match registration.host.filter(ProcessId::is_running) {
            Some(host) => found.push(FoundSidecar::HostOnly(host)),
            None => remove(&path, &registration.socket),
        }
    }
    Ok(found)
}

/// Finds a running sidecar by its name.
pub(crate) fn sidecar(agent_dir: &Path, name: &str) -> Option<Registration> {
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let path = agent_dir.join(DIRECTORY).join(format!("{name}.json"));
    read_json(&path).filter(|registration: &Registration| is_name && registration.is_running())
}

/// Judges this process as a sidecar of a host would.
pub(crate) fn judge_this_process(host: ProcessId) -> ProcessJudgement {
    let table = SystemProcesses;
    let origin = table
        .process(host.pid)
        .filter(|process| process.started == host.started)
        .map(|host| HostOrigin::of_host(host, &table));
    judge(std::process::id(), origin.as_ref(), &table)
}

/// Removes the files of a sidecar.
fn remove(registration: &Path, socket: &Path) {
    for file in [registration, socket] {
        if let Err(error) = fs::remove_file(file)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::debug!("{}: {error}", file.display());
        }
    }
    // A socket with a long path is alone in a directory.
    if let Some(directory) = socket
        .parent()
        .filter(|directory| !directory.ends_with(DIRECTORY))
    {
        // An empty directory that stays harms nothing.
        let _ = fs::remove_dir(directory);
    }
}

#[cfg(unix)]
pub(crate) use unix::AnswerSocket;

#[cfg(unix)]
mod unix {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::thread::{self, JoinHandle};
    use std::time::Duration;

    use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
    use tokio::net::UnixListener;
    use tokio::sync::Semaphore;
    use tokio::time::timeout;
    use tokio_util::sync::CancellationToken;

    use super::{
        DIRECTORY, HostOrigin, Path, PathBuf, ProcessJudgement, Registration, Request, SocketReply,
        SystemProcesses, create_private_dir, fs, io, judge, remove, replace, sidecars,
    };

    /// Bytes of a request or a reply.
    const MAX_BYTES: u64 = 256 * 1024;
    /// Time for a request to arrive.
    const REQUEST_TIME: Duration = Duration::from_secs(5);
    /// Time for a reply, which may wait for the server.
    const REPLY_TIME: Duration = Duration::from_secs(20);
    const MAX_CONNECTIONS: usize = 64;
    /// Bytes of the path of a socket, on every system.
    const MAX_SOCKET_PATH: usize = 100;

    type Handler = dyn Fn(Request, ProcessJudgement) -> SocketReply + Send + Sync;

    /// An open socket, which is closed and removed when this is dropped.
    #[derive(Debug)]
    pub(crate) struct AnswerSocket {
        name: String,
        file: PathBuf,
        socket: PathBuf,
        stop: CancellationToken,
        thread: Option<JoinHandle<()>>,
    }

    impl AnswerSocket {
        /// Opens the socket of this process.
        pub(crate) fn open(
            agent_dir: &Path,
            handle: impl Fn(Request, ProcessJudgement) -> SocketReply + Send + Sync + 'static,
        ) -> io::Result<Self> {
            // Removes the files of others that are gone.
            sidecars(agent_dir)?;
            let directory = agent_dir.join(DIRECTORY);
            for directory in directory.ancestors().take(2) {
                create_private_dir(directory)?;
            }
            let name = std::process::id().to_string();
            let mut socket = directory.join(format!("{name}.sock"));
            if socket.as_os_str().len() > MAX_SOCKET_PATH {
                // Readable by its owner only.
                let short = tempfile::Builder::new()
                    .prefix("workflow-sidecar-")
                    .tempdir()?;
                socket = short.keep().join("sock");
            }
            let file = directory.join(format!("{name}.json"));
            remove(&file, &socket);
            if let Some(directory) = socket.parent() {
                create_private_dir(directory)?;
            }
            let listener = std::os::unix::net::UnixListener::bind(&socket)?;
            fs::set_permissions(&socket, fs::Permissions::from_mode(0o600))?;
            listener.set_nonblocking(true)?;
            let origin = HostOrigin::of(std::process::id(), &SystemProcesses);
            let registration = Registration {
                host: origin.as_ref().map(HostOrigin::host),
                socket: socket.clone(),
            };
            replace(&file, &serde_json::to_string(&registration)?)?;
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_io()
                .enable_time()
                // An answer may wait for the lock of the server.
                .max_blocking_threads(2)
                .build()?;
            let context = runtime.enter();
            let listener = UnixListener::from_std(listener)?;
            drop(context);
            let stop = CancellationToken::new();
            let stopped = stop.clone();
            let thread = thread::Builder::new()
                .name("answers".to_owned())
                .spawn(move || {
                    runtime.block_on(serve(listener, origin, Arc::new(handle), stopped));
                    runtime.shutdown_background();
                })?;
            Ok(Self {
                name,
                file,
                socket,
                stop,
                thread: Some(thread),
            })
        }

        /// Returns the name of this sidecar.
        pub(crate) fn name(&self) -> &str {
            &self.name
        }
    }

    impl Drop for AnswerSocket {
        fn drop(&mut self) {
            self.stop.cancel();
            if let Some(thread) = self.thread.take() {
                // A panic was logged by the thread itself.
                let _ = thread.join();
            }
            remove(&self.file, &self.socket);
        }
    }

    async fn serve(
        listener: UnixListener,
        origin: Option<HostOrigin>,
        handle: Arc<Handler>,
        stopped: CancellationToken,
    ) {
        let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let Some(accepted) = stopped.run_until_cancelled(listener.accept()).await else {
                return;
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!("an answer could not be taken: {error}");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            let Ok(slot) = Arc::clone(&slots).try_acquire_owned() else {
                continue;
            };
            // At once, so that the process is the one that connected.
            let Some(by) = judge_peer(&stream, origin.as_ref()) else {
                continue;
            };
            let handle = Arc::clone(&handle);
            tokio::spawn(async move {
                let _slot = slot;
                if let Err(error) = converse(stream, by, handle).await {
                    tracing::debug!("an answer was not taken: {error}");
                }
            });
        }
    }

    /// Judges the process that connected; `None` if it is another user's or unknown.
    fn judge_peer(
        stream: &tokio::net::UnixStream,
        origin: Option<&HostOrigin>,
    ) -> Option<ProcessJudgement> {
        let peer = stream
            .peer_cred()
            .inspect_err(|error| tracing::warn!("the process that connects is unknown: {error}"))
            .ok()?;
        if peer.uid() != rustix::process::geteuid().as_raw() {
            return None;
        }
        let pid = peer.pid().and_then(|pid| u32::try_from(pid).ok());
        Some(judge(pid.unwrap_or_default(), origin, &SystemProcesses))
    }

    async fn converse(
        stream: tokio::net::UnixStream,
        by: ProcessJudgement,
        handle: Arc<Handler>,
    ) -> io::Result<()> {
        let (reader, mut writer) = stream.into_split();
        let mut line = String::new();
        let mut reader = tokio::io::BufReader::new(reader.take(MAX_BYTES));
        timeout(REQUEST_TIME, reader.read_line(&mut line)).await??;
        let request: Request = serde_json::from_str(&line)?;
        let reply = tokio::task::spawn_blocking(move || handle(request, by)).await?;
        let reply = serde_json::to_string(&reply)? + "\n";
        writer.write_all(reply.as_bytes()).await
    }

    impl Registration {
        pub(super) fn is_running(&self) -> bool {
            UnixStream::connect(&self.socket).is_ok()
        }

        /// Sends a request, and waits for the reply.
        pub(crate) fn request(&self, request: &Request) -> io::Result<SocketReply> {
            let mut stream = UnixStream::connect(&self.socket)?;
            stream.set_read_timeout(Some(REPLY_TIME))?;
            stream.write_all((serde_json::to_string(request)? + "\n").as_bytes())?;
            let mut line = String::new();
            BufReader::new(stream.take(MAX_BYTES)).read_line(&mut line)?;
            Ok(serde_json::from_str(&line)?)
        }
    }
}

/// Without such sockets, answers need the code, and count when the agent asks again.
#[cfg(not(unix))]
impl Registration {
    fn is_running(&self) -> bool {
        false
    }

    /// Fails: there is no socket.
    pub(crate) fn request(&self, _request: &Request) -> io::Result<SocketReply> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
