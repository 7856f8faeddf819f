//! The address of a server: the setting `store` as the client takes it.

use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use postgres::Config;
use postgres::config::{Host, SslMode};

use super::refused;
use super::tls::Tls;
use crate::types::StoreError;

/// The time for a connection. Less than the time that a hook has for its answer.
const CONNECT: Duration = Duration::from_secs(2);
/// The server's treatment of an operation that takes too long.
const OPTIONS: &str =
    "-c statement_timeout=2000 -c lock_timeout=2000 -c search_path=workflow_sidecar";

/// A server, and how to connect to it.
#[derive(Debug, Clone)]
pub(super) struct Address {
    pub(super) config: Config,
    /// `None` if nothing is encrypted.
    pub(super) tls: Option<Tls>,
    /// The server as it is shown: without the password.
    pub(super) endpoint: String,
}

impl Address {
    /// The reason why an address cannot be used does not quote it, because it may have a password.
    pub(super) fn parse(url: &str) -> Result<Self, StoreError> {
        let is_url = url.starts_with("postgres://") || url.starts_with("postgresql://");
        let (url, mode, root) = split_encryption(url);
        let config = url.parse::<Config>().ok();
        let config = config.filter(|config| is_url && config.get_user().is_some());
        let mut config = config.ok_or_else(|| {
            refused(
                "the setting `store`",
                "this is no address of a server: write postgres://user@server/database",
            )
        })?;
        let endpoint = endpoint(&config);
        if config.get_hosts().len() > 1 {
            return Err(refused(&endpoint, "name one server, not several"));
        }
        if root.as_ref().is_some_and(|path| !path.is_absolute()) {
            return Err(refused(
                &endpoint,
                "`sslrootcert` must be a whole path, because hooks start in many directories: ?sslrootcert=/path/to/ca.pem",
            ));
        }
        let is_encrypted = match mode.as_deref() {
            Some("disable") => false,
            Some("require" | "verify-full") => true,
            // Connections to a port or socket of this machine cannot be intercepted.
            None => is_elsewhere(&config) || root.is_some(),
            Some(_) => {
                return Err(refused(
                    &endpoint,
                    "`sslmode` must be verify-full (the default for another machine; require is the same) or, in a private network, disable",
                ));
            }
        };
        let options = config
            .get_options()
            .map_or_else(String::new, |given| format!("{given} "));
        config
            .ssl_mode(if is_encrypted {
                SslMode::Require
            } else {
                SslMode::Disable
            })
            .connect_timeout(CONNECT)
            .tcp_user_timeout(CONNECT)
            .application_name("workflow-sidecar")
            .options(&format!("{options}{OPTIONS}"));
        Ok(Self {
            config,
            tls: is_encrypted.then(|| Tls::new(root)),
            endpoint,
        })
    }
}

/// Returns true if a connection can leave this machine.
fn is_elsewhere(config: &Config) -> bool {
    let is_elsewhere = |host: &Host| match host {
        Host::Tcp(name) => {
            let address = name.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
            name != "localhost" && !address.is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => false,
    };
    let mut addresses = config.get_hostaddrs().iter();
    config.get_hosts().iter().any(is_elsewhere) || addresses.any(|address| !address.is_loopback())
}

/// Takes the parameters about encryption out of an address, which the client does not know in this form: returns the address
/// without them, `sslmode` and `sslrootcert`.
fn split_encryption(url: &str) -> (String, Option<String>, Option<PathBuf>) {
    let (mut mode, mut root) = (None, None);
    // As the client reads it: a password may contain a question mark.
    let after_login = url.find('@').unwrap_or(0);
    let Some(question_mark) = url[after_login..].find('?') else {
        return (url.to_owned(), mode, root);
    };
    let (server, parameters) = url.split_at(after_login + question_mark);
    let mut kept = Vec::new();
    for parameter in parameters[1..].split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = percent_decode_str(value).decode_utf8_lossy().into_owned();
        match name {
            "sslmode" => mode = Some(value),
            "sslrootcert" => root = Some(PathBuf::from(value)),
            _ => kept.push(parameter),
        }
    }
    let question_mark = if kept.is_empty() { "" } else { "?" };
    (
        format!("{server}{question_mark}{}", kept.join("&")),
        mode,
        root,
    )
}

/// The server as it is shown.
fn endpoint(config: &Config) -> String {
    let host = match config.get_hosts() {
        [Host::Tcp(name), ..] => name.clone(),
        #[cfg(unix)]
        [Host::Unix(path), ..] => path.display().to_string(),
        [] => String::new(),
    };
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    format!("{user}@{host}/{database}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_leaves_the_machine_is_encrypted_unless_it_is_switched_off() {
        let is_encrypted = |url: &str| {
            let address = Address::parse(url).unwrap();
            assert!(!format!("{address:?}").contains("secret"));
            address.tls.is_some()
        };
        assert!(is_encrypted("postgres://me:secret@db.example.org/w"));
        assert!(is_encrypted("postgres://me:secret?x@db.example.org/w"));
        assert!(is_encrypted(
            "postgres://me:secret@localhost/w?hostaddr=192.0.2.1"
        ));
        assert!(is_encrypted(
            "postgres://me@localhost/w?sslmode=verify-full"
        ));
        assert!(!is_encrypted("postgres://me:secret@localhost/w"));
        assert!(!is_encrypted("postgres://me:secret@%2Ftmp/w"));
        assert!(!is_encrypted(
            "postgres://me:secret@db.example.org/w?sslmode=disable"
        ));
    }
}
