//! The location of the store: a database in the user's state directory, or the server that the user's settings name.
//!
//! What is stored there, and how, is [`workflow_store`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

pub(crate) use workflow_store::{
    AnswerRight, Counts, DAY, Figure, IndexedRun, MARKER, MARKERS, OF_ALL, POSTGRES_FROM_3,
    POSTGRES_SCHEMA, Run, RunNote, RunQuery, SHOWN_ONLY, Saved, SessionChange, SessionKey, Store,
    StoreError, StoredEntry, StoredOrder, StoredSession, Ticket, TrustRequest, has_active_runs,
};

use crate::files::{STATE_DIRECTORY, home_dir};
use crate::user_settings::user_setting;

/// The name of the directory of the store in an agent directory that is not the user's default one.
const IN_AGENT_DIR: &str = "workflow-sidecar";

/// Returns the directory of the store: the given one, or the user's. It depends on nothing but the home directory, because
/// hosts start servers and hooks with different environments.
pub(crate) fn state_directory(given: Option<&Path>) -> Result<PathBuf, StoreError> {
    let users = || Some(home_dir()?.join(STATE_DIRECTORY));
    let directory = given.map(Path::to_path_buf).or_else(users);
    let reason = "the home directory is not known: set HOME, or pass --state";
    directory.ok_or_else(|| StoreError::new(reason))
}

/// Returns the store of the user's default agent directory, or of another one, which has a store of its own.
pub(crate) fn of_agent_dir(agent_dir: &Path) -> Result<Store, StoreError> {
    open(directory_of(agent_dir)?, agent_dir)
}

/// The servers that the user's settings named when this process read them first, by agent directory. Who can write the settings
/// must not choose the server that answers in an open session.
static SERVERS: Mutex<BTreeMap<PathBuf, Option<String>>> = Mutex::new(BTreeMap::new());

/// Returns the store with a directory, and with the settings of an agent directory as this process read them first.
pub(crate) fn open(directory: PathBuf, agent_dir: &Path) -> Result<Store, StoreError> {
    let mut servers = SERVERS.lock();
    if !servers.contains_key(agent_dir) {
        let server = user_setting(agent_dir, "store")?;
        servers.insert(agent_dir.to_path_buf(), server);
    }
    workflow_store::open(directory, servers[agent_dir].as_deref())
}

/// The directory of that store.
pub(crate) fn directory_of(agent_dir: &Path) -> Result<PathBuf, StoreError> {
    let is_default = home_dir().is_some_and(|home| agent_dir == home.join(".pi/agent"));
    if is_default {
        state_directory(None)
    } else {
        Ok(agent_dir.join(IN_AGENT_DIR))
    }
}

#[cfg(test)]
mod open_tests {
    use super::*;

    #[test]
    fn a_server_that_the_settings_name_later_does_not_answer_in_this_process() {
        let agent_dir = tempfile::tempdir().unwrap();
        let runs = || of_agent_dir(agent_dir.path())?.runs(&RunQuery::default());
        assert!(runs().unwrap().is_empty());
        let settings = agent_dir.path().join("workflow-sidecar.json5");
        std::fs::write(settings, "{store: 'postgres://agent@127.0.0.1:1/other'}").unwrap();
        assert!(runs().unwrap().is_empty(), "the first store is asked");
    }

    #[test]
    fn a_mistake_about_the_command_that_notifies_leaves_the_store_as_it_is() {
        for settings in ["{notify: 'notify-send'}", "{notify: ['notify-send'"] {
            let agent_dir = tempfile::tempdir().unwrap();
            let agent_dir = agent_dir.path();
            std::fs::write(agent_dir.join("workflow-sidecar.json5"), settings).unwrap();
            let store = of_agent_dir(agent_dir).unwrap();
            assert!(store.runs(&RunQuery::default()).unwrap().is_empty());
            assert_eq!(crate::platform::answers::notify::notifiers(agent_dir), []);
        }
    }
}

/// A server of the tests of the store.
#[cfg(test)]
#[cfg(all(unix, feature = "postgres"))]
#[path = "../../workflow-store/tests/contract"]
pub(crate) mod tests {
    mod authority;
    #[expect(dead_code, reason = "the tests of the store use it all")]
    pub(crate) mod server;
}
