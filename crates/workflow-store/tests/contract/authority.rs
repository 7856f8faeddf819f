//! A certificate authority for a test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An authority in a directory of its own. Its certificate is `ca.pem`.
pub(super) struct Authority {
    directory: PathBuf,
}

impl Authority {
    /// Makes one. `None` if openssl is not installed.
    pub(super) fn new(directory: PathBuf) -> Option<Self> {
        fs::create_dir(&directory).unwrap();
        let authority = Self { directory };
        let request = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test -keyout ca.key -out ca.pem";
        authority.openssl(request).then_some(authority)
    }

    /// Writes a certificate for the name of a server, and its key.
    pub(super) fn sign(&self, name: &str, certificate: &Path, key: &Path) {
        let extension = format!("subjectAltName=DNS:{name}\n");
        fs::write(self.directory.join("extension"), extension).unwrap();
        let request = "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=server -keyout key -out request";
        assert!(self.openssl(request));
        let sign = "x509 -req -days 2 -in request -CA ca.pem -CAkey ca.key -CAcreateserial -extfile extension -out certificate";
        assert!(self.openssl(sign));
        fs::rename(self.directory.join("certificate"), certificate).unwrap();
        fs::rename(self.directory.join("key"), key).unwrap();
    }

    fn openssl(&self, arguments: &str) -> bool {
        let status = Command::new("openssl")
            .args(arguments.split(' '))
            .current_dir(&self.directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    }
}
