//! The servers of an address one by one, with the addresses of their names.
//!
//! On Linux the program is linked statically and must not ask the system's name services itself (decision 0010). `getent` asks
//! them, and the client gets an address instead of a name to look up.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::process::{Command, Stdio};

use postgres::Config;
use postgres::config::Host;

/// Options of the system's resolver: it waits for an answer for less than its ten seconds.
const RESOLVER_OPTIONS: &str = "timeout:1 attempts:2";

/// Returns the configurations to try in turn: one for each address of each server.
pub(super) fn servers(config: &Config) -> Result<Vec<Config>, String> {
    let (hosts, ports) = (config.get_hosts(), config.get_ports());
    if !cfg!(target_os = "linux") || !config.get_hostaddrs().is_empty() {
        return Ok(vec![config.clone()]);
    }
    let mut servers = Vec::new();
    let mut unknown = None;
    for (number, host) in hosts.iter().enumerate() {
        let mut server = without_hosts(config);
        if let Some(port) = ports.get(number).or(ports.first()) {
            server.port(*port);
        }
        match host {
            #[cfg(unix)]
            Host::Unix(path) => {
                server.host_path(path);
                servers.push(server);
            }
            Host::Tcp(name) => {
                server.host(name);
                match look_up(name) {
                    Ok(addresses) => servers.extend(addresses.into_iter().map(|address| {
                        let mut server = server.clone();
                        server.hostaddr(address);
                        server
                    })),
                    Err(reason) => unknown = Some(reason),
                }
            }
        }
    }
    match unknown {
        Some(reason) if servers.is_empty() => Err(reason),
        _ => Ok(servers),
    }
}

fn without_hosts(config: &Config) -> Config {
    let mut server = Config::new();
    server
        .ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .channel_binding(config.get_channel_binding())
        .target_session_attrs(config.get_target_session_attrs())
        .keepalives(config.get_keepalives());
    if let Some(user) = config.get_user() {
        server.user(user);
    }
    if let Some(password) = config.get_password() {
        server.password(password);
    }
    if let Some(database) = config.get_dbname() {
        server.dbname(database);
    }
    if let Some(options) = config.get_options() {
        server.options(options);
    }
    if let Some(name) = config.get_application_name() {
        server.application_name(name);
    }
    if let Some(time) = config.get_connect_timeout() {
        server.connect_timeout(*time);
    }
    if let Some(time) = config.get_tcp_user_timeout() {
        server.tcp_user_timeout(*time);
    }
    server
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
    let mut addresses = Vec::new();
    for line in lines.lines() {
        let address = line.split_whitespace().next();
        if let Some(address) = address.and_then(|address| address.parse().ok())
            && !addresses.contains(&address)
        {
            addresses.push(address);
        }
    }
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
        servers(&url.parse().unwrap())
    }

    #[test]
    fn the_client_has_no_name_to_look_up() {
        let found = of("postgres://me:secret@localhost:5433,127.0.0.9:5434/w").unwrap();
        assert!(found.len() >= 2);
        for config in &found {
            assert_eq!(config.get_hosts().len(), config.get_hostaddrs().len());
            assert_eq!(config.get_password(), Some(&b"secret"[..]));
        }
        assert_eq!(found[0].get_hosts(), [Host::Tcp("localhost".to_owned())]);
        assert!(found[0].get_hostaddrs()[0].is_loopback());
        assert_eq!(found[0].get_ports(), [5433]);
        let last = found.last().unwrap();
        assert_eq!(last.get_hostaddrs(), [IpAddr::from([127, 0, 0, 9])]);
        assert_eq!(last.get_ports(), [5434]);
    }

    #[test]
    fn a_server_without_an_address_is_named() {
        let error = of("postgres://me@no-such-server.invalid/w").unwrap_err();
        assert!(error.contains("no-such-server.invalid"), "{error}");
        assert!(of("postgres://me@-h/w").is_err());
    }

    #[test]
    fn the_server_that_is_known_is_tried_though_another_is_not() {
        let found = of("postgres://me@no-such-server.invalid,localhost/w").unwrap();
        assert_eq!(found[0].get_hosts(), [Host::Tcp("localhost".to_owned())]);
    }
}
