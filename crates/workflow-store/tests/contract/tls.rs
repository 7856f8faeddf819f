//! Addresses of servers, and TLS to them.

use std::path::{Path, PathBuf};

use workflow_store::{AnswerRight, open};

use super::server::Server;

/// Connects and says what failed.
fn connect(url: &str) -> Result<AnswerRight, String> {
    let store = open(PathBuf::new(), Some(url)).map_err(|error| error.to_string())?;
    store.answer_right().map_err(|error| error.to_string())
}

fn refused(url: &str) -> String {
    let error = connect(url).unwrap_err();
    assert!(!error.contains("secret"), "{error}");
    error
}

fn root(path: &Path) -> String {
    format!(
        "sslrootcert={}",
        path.display().to_string().replace('/', "%2F")
    )
}

#[test]
fn a_server_is_accepted_with_a_certificate_of_the_named_authority_for_its_name() {
    let Some(server) = Server::start_with_tls() else {
        return;
    };
    let authority = root(&server.authority());
    for parameters in [
        authority.clone(),
        format!("sslmode=verify-full&{authority}"),
        format!("{authority}&sslmode=require&application_name=test&sslnegotiation=postgres"),
    ] {
        let url = server.tls_url("localhost", &parameters);
        assert_eq!(connect(&url), Ok(AnswerRight::MayRead), "{parameters}");
    }
}

#[test]
fn a_server_with_another_certificate_is_refused_with_what_to_do() {
    let Some(server) = Server::start_with_tls() else {
        return;
    };
    let unknown = refused(&server.tls_url("localhost", "sslmode=require"));
    assert!(unknown.contains("sslrootcert=/path"), "{unknown}");
    let authority = root(&server.authority());
    let other_name = refused(&server.tls_url("127.0.0.1", &authority));
    assert!(other_name.contains("subjectAltName"), "{other_name}");
    let plain = refused(&server.tls_url("localhost", "sslmode=disable"));
    assert!(plain.contains("no encryption"), "{plain}");
}

#[test]
fn a_server_without_tls_is_refused_where_it_is_asked_for() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.url("agent");
    let error = refused(&format!("{url}?sslmode=verify-full"));
    assert!(error.contains("sslmode=disable"), "{error}");
}

#[test]
fn authorities_that_cannot_be_read_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ca.pem");
    let url = format!("postgres://me@localhost:1/w?{}", root(&path));
    let missing = refused(&url);
    assert!(missing.contains("ca.pem"), "{missing}");
    std::fs::write(&path, "no certificate").unwrap();
    let empty = refused(&url);
    assert!(empty.contains("no certificate in PEM"), "{empty}");
    let relative = refused("postgres://me:secret@localhost/w?sslrootcert=ca.pem");
    assert!(relative.contains("whole path"), "{relative}");
}

#[test]
fn an_address_is_refused_without_showing_its_password() {
    for (url, reason) in [
        (
            "postgres://me:secret@db.example.org/w?secret=1",
            "write postgres://",
        ),
        ("mysql://me:secret@db.example.org/w", "write postgres://"),
        ("postgres://db.example.org/w", "write postgres://"),
        (
            "postgres://me:secret@a.example.org,b.example.org/w",
            "name one server",
        ),
        (
            "postgres://me:secret@db.example.org/w?sslmode=prefer",
            "verify-full",
        ),
    ] {
        let error = refused(url);
        assert!(error.contains(reason), "{url}: {error}");
    }
}
