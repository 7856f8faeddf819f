//! The locations of the keys of definitions and settings.
//!
//! A served catalog keeps no locations: an explanation reads the files once more, through the same
//! parser. Files that have changed or gone since are left out. It knows no meaning of a key.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::rc::Rc;

use super::directory::Directory;
use super::files::{FilePath, Files};
use super::phase_file::{body_span, parse_frontmatter};
use super::{LoadOutcome, Loaded, load_settings_of, parse_settings};
use crate::definition::model::{Limits, RuleSets, TierSettings};
use crate::definition::syntax::{Entry, Kind, Map, Node, Source, Span, frontmatter};
use crate::definition::tier::Tier;
use crate::diagnostic::Location;

/// The files that definitions were loaded from, to look up the locations of keys.
pub struct Origins<'f> {
    files: &'f dyn Files,
    tiers: BTreeMap<String, Tier>,
    limits: Limits,
    settings: Vec<SettingsOrigin>,
    /// The requested workflows.
    read: RefCell<HashMap<String, Option<Rc<WorkflowOrigin>>>>,
}

/// The content of one settings file, and the locations of its keys.
#[derive(Debug)]
pub struct SettingsOrigin {
    /// Its source.
    pub tier: Tier,
    /// Its content.
    pub said: TierSettings,
    /// The locations of its keys.
    pub keys: KeyLocations,
}

/// The locations of a workflow's keys.
#[derive(Debug)]
pub struct WorkflowOrigin {
    /// The directory it comes from.
    pub tier: Tier,
    /// The keys of its definition.
    pub keys: KeyLocations,
    /// Its phase entries, in order.
    pub entries: Vec<EntryOrigin>,
}

/// The location of one phase entry.
#[derive(Debug, Default)]
pub struct EntryOrigin {
    /// The entry in the definition.
    pub entry: Option<Location>,
    /// The keys of the phase: in its own file, or in the definition.
    pub keys: KeyLocations,
}

/// The locations of the keys of one map, and of the maps in it.
#[derive(Debug, Default)]
pub struct KeyLocations(BTreeMap<(String, Option<String>), Location>);

impl KeyLocations {
    /// The location of a key. `["continue", "max"]` is a key of a map in the map; where it is not written out,
    /// the location is that of the key around it.
    #[must_use]
    pub fn of(&self, key: &[&str]) -> Option<&Location> {
        let (outer, inner) = (key.first()?, key.get(1));
        let location = |inner: Option<&&str>| {
            let inner = inner.map(|&inner| inner.to_owned());
            self.0.get(&((*outer).to_owned(), inner))
        };
        location(inner).or_else(|| location(None))
    }

    /// The location of an item of a list in a map: `["tools", "rules"]` and the index of a rule.
    #[must_use]
    pub fn of_item(&self, key: [&str; 2], at: usize) -> Option<&Location> {
        self.of(&[key[0], &item_name(key[1], at)])
    }

    /// The locations of the items of a list.
    pub fn items<'k>(&'k self, list: &'k str) -> impl Iterator<Item = &'k Location> {
        (0..).map_while(move |at| self.0.get(&(list.to_owned(), Some(item_name("", at)))))
    }

    fn new(source: &Source, map: &Map<'_>) -> Self {
        let mut locations = BTreeMap::new();
        for entry in written(map) {
            let mut add = |inner: Option<String>, span| {
                locations.insert((entry.key.to_string(), inner), source.location(span));
            };
            add(None, entry.key_span);
            for (name, span) in items("", &entry.value) {
                add(Some(name), span);
            }
            let Kind::Map(inner) = &entry.value.kind else {
                continue;
            };
            for inner in written(inner) {
                for (name, span) in items(&inner.key, &inner.value) {
                    add(Some(name), span);
                }
                add(Some(inner.key.to_string()), inner.key_span);
            }
        }
        Self(locations)
    }
}

/// The entries with a value. A key without one is taken as absent.
fn written<'m>(map: &'m Map<'m>) -> impl Iterator<Item = &'m Entry<'m>> {
    let entries = map.entries.iter();
    entries.filter(|entry| entry.value.kind != Kind::Null)
}

/// The items of a list with their names and locations.
fn items(list: &str, node: &Node<'_>) -> Vec<(String, Option<Span>)> {
    let Kind::List(items) = &node.kind else {
        return Vec::new();
    };
    let named = items.iter().enumerate();
    named
        .map(|(at, item)| (item_name(list, at), start(item)))
        .collect()
}

/// The name of an item of a list, which is not a name of a key.
fn item_name(list: &str, at: usize) -> String {
    format!("{list}[{at}]")
}

/// The location of a map's first key, or of another value.
fn start(node: &Node<'_>) -> Option<Span> {
    match &node.kind {
        Kind::Map(map) => map.first_key().or(node.span),
        _ => node.span,
    }
}

impl<'f> Origins<'f> {
    /// The origins of what was loaded from these files.
    #[must_use]
    pub fn new(files: &'f dyn Files, loaded: &Loaded) -> Self {
        let in_force = loaded.index.iter();
        let in_force = in_force.filter(|listing| listing.outcome == LoadOutcome::Loaded);
        Self {
            files,
            tiers: in_force
                .map(|listing| (listing.key.clone(), listing.tier))
                .collect(),
            limits: loaded.settings.limits,
            settings: [Tier::Project, Tier::Global]
                .into_iter()
                .filter_map(|tier| settings_origin(files, tier))
                .collect(),
            read: RefCell::default(),
        }
    }

    /// The settings files there are, the one that wins first.
    #[must_use]
    pub fn settings(&self) -> &[SettingsOrigin] {
        &self.settings
    }

    /// The origin of a workflow of the catalog; `None` if its files can no longer be read.
    #[must_use]
    pub fn workflow(&self, key: &str) -> Option<Rc<WorkflowOrigin>> {
        if let Some(read) = self.read.borrow().get(key) {
            return read.clone();
        }
        let read = self.read_workflow(key).map(Rc::new);
        self.read.borrow_mut().insert(key.to_owned(), read.clone());
        read
    }

    /// Reads the locations of a workflow; `None` if its files have changed and can no longer be read.
    fn read_workflow(&self, key: &str) -> Option<WorkflowOrigin> {
        let tier = *self.tiers.get(key)?;
        let directory = Directory {
            files: self.files,
            tier,
            key,
            limits: &self.limits,
            // Locations need no rules.
            sets: &RuleSets::default(),
        };
        let (format, source) = directory.source()?;
        let map = map_of(directory.parse(&source, format).ok()?)?;
        let entries = map.get("phases");
        let entries = match entries.map(|entry| &entry.value.kind) {
            Some(Kind::List(items)) => items.iter(),
            _ => [].iter(),
        };
        Some(WorkflowOrigin {
            tier,
            entries: entries
                .map(|item| entry_origin(&directory, &source, item))
                .collect(),
            keys: KeyLocations::new(&source, &map),
        })
    }
}

impl fmt::Debug for Origins<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Origins")
            .field("tiers", &self.tiers)
            .finish_non_exhaustive()
    }
}

/// Reads the locations of a settings file; `None` if there is none, or it cannot be read.
fn settings_origin(files: &dyn Files, tier: Tier) -> Option<SettingsOrigin> {
    let none = TierSettings::default();
    let outer = match tier {
        Tier::Global => None,
        Tier::Project => load_settings_of(files, Tier::Global, &none, &mut Vec::new()),
    };
    let outer = outer.unwrap_or_default();
    let settings = load_settings_of(files, tier, &outer, &mut Vec::new())?;
    let path = FilePath::settings(tier);
    let bytes = files.read(&path, Limits::default().max_file_bytes).ok()?;
    let source = Source::new(&files.shown(&path), bytes);
    let map = map_of(parse_settings(&source).ok()?)?;
    Some(SettingsOrigin {
        tier,
        said: settings,
        keys: KeyLocations::new(&source, &map),
    })
}

fn entry_origin(directory: &Directory<'_>, source: &Source, item: &Node<'_>) -> EntryOrigin {
    let keys = match &item.kind {
        Kind::Map(map) => KeyLocations::new(source, map),
        Kind::Text(path) => phase_file_keys(directory, path).unwrap_or_default(),
        _ => KeyLocations::default(),
    };
    EntryOrigin {
        entry: item.span.map(|span| source.location(Some(span))),
        keys,
    }
}

/// Reads the locations of a phase file; `None` if it can no longer be read.
fn phase_file_keys(directory: &Directory<'_>, path: &str) -> Option<KeyLocations> {
    let source = directory.open_phase_file(path, None).ok()?;
    let parts = frontmatter::split(source.text()).ok()?;
    let map = map_of(parse_frontmatter(&parts, directory.tree_limits()).ok()?)?;
    let mut keys = KeyLocations::new(&source, &map);
    let body = source.location(Some(body_span(&parts)));
    keys.0.insert(("instructions".to_owned(), None), body);
    Some(keys)
}

fn map_of(node: Node<'_>) -> Option<Map<'_>> {
    match node.kind {
        Kind::Map(map) => Some(map),
        _ => None,
    }
}
