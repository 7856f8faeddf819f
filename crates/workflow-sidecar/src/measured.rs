//! What was measured of hosts, each in some versions: `docs/hosts.json`, which `scripts/hosts` writes.

use std::sync::LazyLock;

use serde::Deserialize;
use workflow_core::diagnostic::shown;

use crate::platform::{ProgramVersion, version_in};

static TABLE: LazyLock<Vec<Measured>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../docs/hosts.json")).expect("the table is valid")
});

/// What was measured of a version of a host.
#[derive(Debug, Deserialize)]
pub(crate) struct Measured {
    host: String,
    pub(crate) version: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "the documents have it"))]
    date: String,
    /// Everything that a host may enforce.
    pub(crate) capabilities: Vec<Capability>,
}

/// Something that a host may enforce.
#[derive(Debug, Deserialize)]
pub(crate) struct Capability {
    pub(crate) name: String,
    pub(crate) value: Enforcement,
    /// What was seen, unless it is enforced.
    #[serde(default)]
    pub(crate) note: Option<String>,
}

/// Whether a capability was seen to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Enforcement {
    Enforced,
    Partly,
    No,
    #[serde(rename = "not run")]
    NotRun,
}

impl Enforcement {
    /// The word of the table.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Enforced => "enforced",
            Self::Partly => "partly",
            Self::No => "not enforced",
            Self::NotRun => "not run",
        }
    }
}

/// The numbers of a version.
pub(crate) fn numbers(version: &str) -> Vec<u64> {
    version
        .split('.')
        .map_while(|part| part.parse().ok())
        .collect()
}

/// The version of a program, if it is on the path and prints one.
pub(crate) fn running_version(name: &str) -> Option<String> {
    version_in(&ProgramVersion::of(name)?.line?).map(str::to_owned)
}

impl Measured {
    /// The versions of a host, in their order.
    fn all(host: &str) -> impl DoubleEndedIterator<Item = &'static Self> {
        TABLE.iter().filter(move |row| row.host == host)
    }

    /// What is known of a version: what was measured of the newest that is not newer, or else of the oldest.
    pub(crate) fn of(host: &str, version: Option<&str>) -> &'static Self {
        let is_newer =
            |row: &&Self| version.is_some_and(|version| numbers(&row.version) > numbers(version));
        let known = Self::all(host).rfind(|row| !is_newer(row));
        known
            .or_else(|| Self::all(host).next())
            .expect("each host was measured")
    }

    /// Says how a version relates to those that were measured, and whether it is one of which they say something: of a
    /// major version that was measured, and not beyond its newest minor version.
    pub(crate) fn standing(host: &str, version: &str) -> (String, bool) {
        let tested = &Self::of(host, Some(version)).version;
        let found = numbers(version);
        let is_verified = Self::all(host).any(|row| {
            let known = numbers(&row.version);
            found.first() == known.first() && found.get(1) <= known.get(1)
        });
        let found = shown(version);
        let text = if tested == version {
            found
        } else if is_verified {
            format!("{found}, tested with {tested}")
        } else {
            format!("{found} is unverified: tested with {tested}")
        };
        (text, is_verified)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::path::Path;
    use std::{env, fs};

    use super::*;
    use crate::hook_hosts::{HOSTS, host};
    use crate::install::opencode;

    #[test]
    fn each_host_has_all_capabilities_in_the_order_of_its_versions() {
        let names: Vec<&str> = HOSTS.iter().map(|host| host.name).collect();
        for host in names.into_iter().chain([opencode::NAME]) {
            let versions: Vec<_> = Measured::all(host)
                .map(|row| numbers(&row.version))
                .collect();
            assert!(!versions.is_empty() && versions.is_sorted(), "{host}");
        }
        let names = |row: &Measured| {
            row.capabilities
                .iter()
                .map(|of| of.name.clone())
                .collect::<Vec<_>>()
        };
        for row in &*TABLE {
            assert_eq!(names(row), names(&TABLE[0]), "{}", row.host);
            for of in &row.capabilities {
                let is_explained = matches!(of.value, Enforcement::Enforced | Enforcement::NotRun);
                assert!(
                    is_explained || of.note.is_some(),
                    "{}: {}",
                    row.host,
                    of.name
                );
            }
        }
    }

    #[test]
    fn a_version_is_found_in_the_line_of_any_host() {
        assert_eq!(version_in("codex-cli 0.169.0"), Some("0.169.0"));
        assert_eq!(version_in("2.1.330 (Claude Code)"), Some("2.1.330"));
        assert_eq!(version_in("GitHub Copilot CLI 1.0.102."), Some("1.0.102"));
        assert_eq!(version_in("v1.2.3-beta"), Some("1.2.3"));
        assert_eq!(version_in("Usage: x"), None);
    }

    #[test]
    fn another_major_version_and_a_newer_minor_one_are_unverified() {
        let is_verified = |version: &str| Measured::standing("claude", version).1;
        assert!(is_verified("2.1.330") && is_verified("2.1.999") && is_verified("2.0.1"));
        assert!(!is_verified("2.2.0") && !is_verified("3.0.0") && !is_verified("1.9.9"));
        let tested = |version: &str| &*Measured::of("claude", Some(version)).version;
        assert_eq!(tested("2.1.200"), "2.1.197", "the newest that is not newer");
        assert_eq!(tested("1.0.0"), "2.1.197");
        assert_eq!(Measured::of("claude", None).version, "2.1.330");
    }

    /// The table of the documents: a column for each version of a host, a row for each capability, and what was seen.
    fn table() -> String {
        let title = |row: &Measured| {
            let name = host(&row.host).map_or(opencode::NAME, |host| host.title);
            format!("{name} {}", row.version)
        };
        let mut text = String::new();
        let mut line = |first: &str, cell: &dyn Fn(&Measured) -> String| {
            let cells: Vec<String> = TABLE.iter().map(cell).collect();
            writeln!(text, "| {first} | {} |", cells.join(" | ")).unwrap();
        };
        line("", &title);
        line("---", &|_| "---".to_owned());
        line("measured", &|row| row.date.clone());
        for (at, of) in TABLE[0].capabilities.iter().enumerate() {
            line(&of.name, &|row| {
                row.capabilities[at].value.word().to_owned()
            });
        }
        text.push('\n');
        for of in &TABLE[0].capabilities {
            let mut seen: Vec<(&str, Vec<String>)> = Vec::new();
            for row in &*TABLE {
                let note = row.capabilities.iter().find(|other| other.name == of.name);
                if let Some(note) = note.and_then(|of| of.note.as_deref()) {
                    match seen.iter_mut().find(|(other, _)| *other == note) {
                        Some((_, titles)) => titles.push(title(row)),
                        None => seen.push((note, vec![title(row)])),
                    }
                }
            }
            for (note, titles) in seen {
                writeln!(text, "- {} in {}: {note}", of.name, titles.join(", ")).unwrap();
            }
        }
        text
    }

    #[test]
    fn the_table_of_the_documents_is_what_was_measured() {
        const MARKERS: [&str; 2] = ["<!-- measured -->\n\n", "<!-- end -->"];
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/HOSTS.md");
        let page = fs::read_to_string(&path).unwrap();
        let (before, rest) = page.split_once(MARKERS[0]).unwrap();
        let (_, after) = rest.split_once(MARKERS[1]).unwrap();
        let expected = [before, MARKERS[0], &table(), "\n", MARKERS[1], after].concat();
        if env::var_os("UPDATE").is_some() {
            fs::write(path, expected).unwrap();
            return;
        }
        assert!(page == expected, "run scripts/gen");
    }
}
