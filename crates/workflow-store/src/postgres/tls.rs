//! TLS to a server: which authorities are trusted, and what to do about a certificate that is refused.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{CertificateError, ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

/// The name of the protocol, which servers of version 17 look for.
const PROTOCOL: &[u8] = b"postgresql";

/// The client's error about a server without TLS.
const NO_TLS: &str = "server does not support TLS";

/// Encryption with a certificate that is checked, also against the name of the server.
#[derive(Clone)]
pub(super) struct Tls {
    /// The file of the authorities whose certificates are accepted; `None` for those that this machine trusts.
    roots: Option<PathBuf>,
    /// Made for the first connection: the authorities of a machine are more than a hundred.
    connector: Arc<OnceLock<MakeRustlsConnect>>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.roots.fmt(formatter)
    }
}

impl Tls {
    pub(super) fn new(roots: Option<PathBuf>) -> Self {
        Self {
            roots,
            connector: Arc::default(),
        }
    }

    /// Returns what connects, or the reason why the authorities cannot be read.
    pub(super) fn connector(&self) -> Result<MakeRustlsConnect, String> {
        if let Some(made) = self.connector.get() {
            return Ok(made.clone());
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(self.read_roots()?)
            .with_no_client_auth();
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        let made = MakeRustlsConnect::new(config);
        Ok(self.connector.get_or_init(|| made).clone())
    }

    fn read_roots(&self) -> Result<RootCertStore, String> {
        let mut roots = RootCertStore::empty();
        match &self.roots {
            None => {
                let found = rustls_native_certs::load_native_certs();
                // A machine may have authorities that no library reads.
                roots.add_parsable_certificates(found.certs);
                if roots.is_empty() {
                    return Err("this machine trusts no certificate authority: install the package ca-certificates, or name the server's with ?sslrootcert=/path/to/ca.pem".to_owned());
                }
            }
            Some(path) => {
                let refuse =
                    |reason: String| format!("`sslrootcert`, {}: {reason}", path.display());
                let mut read = || -> Result<(), Box<dyn Error>> {
                    for certificate in CertificateDer::pem_file_iter(path)? {
                        roots.add(certificate?)?;
                    }
                    Ok(())
                };
                read().map_err(|error| refuse(error.to_string()))?;
                if roots.is_empty() {
                    return Err(refuse("the file has no certificate in PEM".to_owned()));
                }
            }
        }
        Ok(roots)
    }
}

/// Says what to do about a connection that could not be encrypted. `None` for any other error.
pub(super) fn explain(error: &postgres::Error) -> Option<String> {
    let refused = error.source()?;
    let Some(tls) = refused.downcast_ref::<io::Error>().and_then(tls_error) else {
        let is_missing = refused.to_string().contains(NO_TLS);
        return is_missing.then(|| {
            format!("{refused}: switch `ssl` on at the server, or add ?sslmode=disable in a private network")
        });
    };
    let help = match tls {
        rustls::Error::InvalidCertificate(reason) => match reason {
            CertificateError::UnknownIssuer => {
                "name the certificate of the authority that signed it, with ?sslrootcert=/path/to/ca.pem"
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "write a name that the certificate has as a subjectAltName into the address, or have it issued for this one"
            }
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => {
                "renew it, and compare the clocks of both machines"
            }
            _ => "have one issued by an authority, for the name of the server",
        },
        _ => return Some(format!("the connection cannot be encrypted: {tls}")),
    };
    Some(format!(
        "the server's certificate is refused ({tls}): {help}"
    ))
}

fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}
