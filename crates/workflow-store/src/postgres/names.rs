//! The addresses of a server's name.
//!
//! On Linux the program is linked statically and must not ask the system's name services itself (decision 0010). `getent` asks
//! them, and the client gets an address instead of a name to look up.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::process::{Command, Stdio};

use postgres::Config;
use postgres::config::Host;

/// Options of the system's resolver: it waits for an answer for less than its ten seconds.
const RESOLVER_OPTIONS: &str = "timeout:1 attempts:2";

/// Returns the configurations to try in turn: one for each address of the server.
pub(super) fn with_addresses(config: &Config) -> Result<Vec<Config>, String> {
    match config.get_hosts() {
        [Host::Tcp(name)] if cfg!(target_os = "linux") && config.get_hostaddrs().is_empty() => {
            let addresses = look_up(name)?.into_iter();
            Ok(addresses
                .map(|address| config.clone().hostaddr(address).clone())
                .collect())
        }
        _ => Ok(vec![config.clone()]),
    }
}

/// Returns the addresses of a name, the best one first.
fn look_up(name: &str) -> Result<Vec<IpAddr>, String> {
    if let Ok(address) = name.trim_matches(['[', ']']).parse() {
        return Ok(vec![address]);
    }
    // It is this machine, whatever the name services say (RFC 6761).
    if name.eq_ignore_ascii_case("localhost") {
        return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
    }
    if name.starts_with('-') {
        return Err(format!("{name} is no name of a server"));
    }
    let asked = Command::new("getent")
        .args(["ahosts", name])
        .env("RES_OPTIONS", RESOLVER_OPTIONS)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let asked = asked.map_err(|error| {
        format!("the address of {name} cannot be looked up, because getent cannot be started ({error}): add the address to the setting `store`, as in ?hostaddr=192.0.2.1")
    })?;
    let lines = String::from_utf8_lossy(&asked.stdout);
    let addresses = lines.lines().filter_map(|line| {
        let address = line.split_whitespace().next()?;
        address.parse().ok()
    });
    // There is a line for each kind of socket.
    let mut addresses: Vec<IpAddr> = addresses.collect();
    addresses.dedup();
    if addresses.is_empty() {
        return Err(format!("the system knows no address of {name}"));
    }
    Ok(addresses)
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> Result<Vec<Config>, String> {
        with_addresses(&url.parse().unwrap())
    }

    #[test]
    fn the_client_has_no_name_to_look_up() {
        let found = of("postgres://me:secret@localhost:5433/w").unwrap();
        assert!(found.len() >= 2);
        for config in &found {
            assert_eq!(config.get_hosts(), [Host::Tcp("localhost".to_owned())]);
            assert_eq!(config.get_hostaddrs().len(), 1);
            assert!(config.get_hostaddrs()[0].is_loopback());
            assert_eq!(config.get_ports(), [5433]);
            assert_eq!(config.get_password(), Some(&b"secret"[..]));
        }
        let address = of("postgres://me@127.0.0.9:5434/w").unwrap();
        assert_eq!(address[0].get_hostaddrs(), [IpAddr::from([127, 0, 0, 9])]);
        let given = of("postgres://me@no-such-server.invalid/w?hostaddr=192.0.2.7").unwrap();
        assert_eq!(given[0].get_hostaddrs(), [IpAddr::from([192, 0, 2, 7])]);
    }

    #[test]
    fn a_server_without_an_address_is_named() {
        let error = of("postgres://me@no-such-server.invalid/w").unwrap_err();
        assert!(error.contains("no-such-server.invalid"), "{error}");
        assert!(of("postgres://me@-h/w").is_err());
    }
}
