//! YAML 1.2 core schema into a [`Node`] tree. The only file that knows the YAML library.
//!
//! The library gives events with byte spans; the tree, the core schema and what aliases may cost are
//! decided here, so that a definition means what npm `yaml` makes of it and every duplicate key is found.

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Tag};

use super::node::{Entry, Kind, Map, Node, TreeLimits};
use crate::diagnostic::{Code, Finding, Span};
use hints::hint;

/// Reads one document. `offset` is where `text` starts in its source.
pub(crate) fn parse(text: &str, offset: usize, limits: TreeLimits) -> Result<Node<'_>, Finding> {
    let mut options = granit_parser::Options::default();
    // The composer counts first; these only bound what the scanner keeps.
    options.flow_nesting_limit = limits.depth + 1;
    options.block_nesting_limit = limits.depth + 1;

    let mut composer = Composer {
        text,
        offset,
        limits,
        size: 0,
        open: Vec::new(),
        anchors: HashMap::new(),
        root: None,
    };
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| composer.syntax_error(&error))?;
        composer.take(event, span)?;
    }
    let end = text.len() + offset;
    Ok(composer.root.unwrap_or(Node {
        kind: Kind::Null,
        span: Some(Span::new(end, end)),
    }))
}

struct Composer<'s> {
    text: &'s str,
    offset: usize,
    limits: TreeLimits,
    size: usize,
    /// The maps and lists that are not finished, outermost first.
    open: Vec<Open<'s>>,
    anchors: HashMap<usize, Node<'s>>,
    root: Option<Node<'s>>,
}

/// A map or list that has not ended yet.
struct Open<'s> {
    start: Option<Span>,
    anchor: usize,
    /// The type that its tag gives it, if that is neither a map nor a list.
    tagged: Option<&'static str>,
    is_map: bool,
    /// The items of a list; the keys and values of a map in turn.
    items: Vec<Node<'s>>,
}

impl<'s> Composer<'s> {
    fn take(&mut self, event: Event<'s>, at: granit_parser::Span) -> Result<(), Finding> {
        let span = self.span(at);
        match event {
            Event::DocumentStart(_, version) => self.start_document(version, span)?,
            Event::Scalar(value, style, anchor, tag) => {
                self.count(1, span)?;
                let kind = scalar(value, style, tag.as_deref());
                self.add(Node { kind, span }, anchor);
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.open(false, tag.as_deref(), anchor, span)?;
            }
            Event::MappingStart(_, anchor, tag) => {
                self.open(true, tag.as_deref(), anchor, span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Alias(anchor) => self.add_copy(anchor, span)?,
            // Nothing of the value: the stream's frame, comments, and what is not switched on.
            _ => {}
        }
        Ok(())
    }

    fn start_document(
        &mut self,
        version: Option<granit_parser::YamlVersion>,
        span: Option<Span>,
    ) -> Result<(), Finding> {
        let (message, help) = match version {
            _ if self.root.is_some() => (
                "a second YAML document: a definition is one document".to_owned(),
                "remove the `---` line and everything after it",
            ),
            Some(version) if (version.major, version.minor) != (1, 2) => (
                format!("YAML {}.{} is not read", version.major, version.minor),
                "remove the `%YAML` line: definitions are YAML 1.2",
            ),
            _ => return Ok(()),
        };
        Err(Finding::error(Code::Syntax, span, message).help(help))
    }

    fn open(
        &mut self,
        is_map: bool,
        tag: Option<&Tag>,
        anchor: usize,
        start: Option<Span>,
    ) -> Result<(), Finding> {
        self.count(1, start)?;
        if self.open.len() >= self.limits.depth {
            return Err(self.limits.too_deep(start));
        }
        self.open.push(Open {
            start,
            anchor,
            tagged: tag.and_then(tagged),
            is_map,
            items: Vec::new(),
        });
        Ok(())
    }

    fn close(&mut self, end: Option<Span>) {
        let Some(open) = self.open.pop() else { return };
        let span = open.start.zip(end);
        let span = span.map(|(start, end)| self.without_tail(start.start, end.end));
        let mut items = open.items.into_iter();
        let entries = std::iter::from_fn(|| {
            let (key, value) = (items.next()?, items.next()?);
            Some(Entry {
                key: key_text(self.text, self.offset, &key),
                key_span: key.span,
                value,
            })
        });
        let kind = match open.tagged {
            Some(name) => Kind::Tagged(name),
            None if open.is_map => Kind::Map(Map {
                entries: entries.collect(),
            }),
            None => Kind::List(items.collect()),
        };
        self.add(Node { kind, span }, open.anchor);
    }

    /// A block map or list ends where the next token starts: drop the white space before that.
    fn without_tail(&self, start: usize, end: usize) -> Span {
        let text = self.text.get(start - self.offset..end - self.offset);
        let end = text.map_or(end, |text| start + text.trim_end().len());
        Span::new(start, end)
    }

    /// Adds a finished value: to the innermost open map or list, or at the root.
    fn add(&mut self, node: Node<'s>, anchor: usize) {
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(open) => open.items.push(node),
        }
    }

    fn add_copy(&mut self, anchor: usize, span: Option<Span>) -> Result<(), Finding> {
        let Some(node) = self.anchors.remove(&anchor) else {
            let message = "an alias to a value that contains it";
            return Err(Finding::error(Code::Syntax, span, message).help("write the value itself"));
        };
        let (size, depth) = extent(&node);
        self.count(size, span)?;
        if self.open.len() + depth > self.limits.depth {
            return Err(self.limits.too_deep(span));
        }
        self.add(node.clone(), 0);
        self.anchors.insert(anchor, node);
        Ok(())
    }

    fn count(&mut self, more: usize, span: Option<Span>) -> Result<(), Finding> {
        self.size = self.size.saturating_add(more);
        if self.size > self.limits.size {
            return Err(self.limits.too_large(span));
        }
        Ok(())
    }

    fn span(&self, span: granit_parser::Span) -> Option<Span> {
        let range = span.byte_range()?;
        Some(Span::new(range.start, range.end).moved(self.offset))
    }

    fn syntax_error(&self, error: &ScanError) -> Finding {
        let at = error.marker().byte_offset().map(|at| at + self.offset);
        let span = at.map(|at| Span::new(at, at + 1));
        // The scanner runs ahead of the events, so it may meet the limit first.
        if *error.kind() == ErrorKind::RecursionLimitExceeded {
            return self.limits.too_deep(span);
        }
        let message = format!("not valid YAML: {}", error.info());
        let line = error.marker().line().saturating_sub(1);
        let in_flow = error.info().contains("flow");
        let likely = hint(self.text, line, error.marker().col(), in_flow);
        let finding = likely.unwrap_or_else(|| Finding::error(Code::Syntax, None, ""));
        let at = finding.span.map(|at| at.moved(self.offset));
        Finding {
            message,
            span: at.or(span),
            ..finding
        }
    }
}

/// A key as text; another value is taken as it is written, which no known key resembles.
fn key_text<'s>(text: &'s str, offset: usize, node: &Node<'s>) -> Cow<'s, str> {
    if let Kind::Text(text) = &node.kind {
        return text.clone();
    }
    let written = |span: Span| text.get(span.start - offset..span.end - offset);
    Cow::Borrowed(node.span.and_then(written).unwrap_or(""))
}

/// Returns the number of values and copied bytes of a node, and of its levels.
fn extent(node: &Node<'_>) -> (usize, usize) {
    let sum = |(size, depth): (usize, usize), (more, deeper)| (size + more, depth.max(deeper));
    let (size, depth) = match &node.kind {
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Tagged(_) => return (1, 0),
        Kind::Text(text) => return (1 + text.len(), 0),
        Kind::List(items) => items.iter().map(extent).fold((1, 0), sum),
        Kind::Map(map) => {
            let values = map.entries.iter().map(|entry| extent(&entry.value));
            let keys = map.entries.iter().map(|entry| (entry.key.len(), 0));
            keys.chain(values).fold((1, 0), sum)
        }
    };
    (size, depth + 1)
}

/// The kind of a scalar: of a plain one by the core schema, of a tagged one by its tag, of any other text.
fn scalar<'s>(value: Cow<'s, str>, style: ScalarStyle, tag: Option<&Tag>) -> Kind<'s> {
    let Some(tag) = tag else {
        return match style {
            ScalarStyle::Plain => core_schema(&value).unwrap_or(Kind::Text(value)),
            _ => Kind::Text(value),
        };
    };
    if let Some(name) = tagged(tag) {
        return Kind::Tagged(name);
    }
    let core = core_tag(tag);
    match (core, core_schema(&value)) {
        (Some("null"), Some(kind @ Kind::Null))
        | (Some("bool"), Some(kind @ Kind::Bool(_)))
        | (Some("int" | "float"), Some(kind @ Kind::Number(_))) => kind,
        _ => Kind::Text(value),
    }
}

/// The name of a tag of YAML itself: `int` for `!!int`.
fn core_tag(tag: &Tag) -> Option<&str> {
    const PREFIX: &str = "tag:yaml.org,2002:";
    match tag.handle() {
        PREFIX => Some(tag.suffix()),
        // As it is written in `!<tag:yaml.org,2002:int>`.
        "" => tag.suffix().strip_prefix(PREFIX),
        _ => None,
    }
}

/// The type that a tag gives any value, if npm `yaml` knows it and no key takes that.
fn tagged(tag: &Tag) -> Option<&'static str> {
    Some(match core_tag(tag)? {
        "binary" => "binary data (`!!binary`)",
        "timestamp" => "a date (`!!timestamp`)",
        "set" => "a set (`!!set`)",
        "omap" => "an ordered map (`!!omap`)",
        "pairs" => "a list of pairs (`!!pairs`)",
        _ => return None,
    })
}

/// The YAML 1.2 core schema (section 10.3.2), as npm `yaml` applies it; `None` is text.
fn core_schema(value: &str) -> Option<Kind<'static>> {
    match value {
        "" | "~" | "null" | "Null" | "NULL" => return Some(Kind::Null),
        "true" | "True" | "TRUE" => return Some(Kind::Bool(true)),
        "false" | "False" | "FALSE" => return Some(Kind::Bool(false)),
        ".nan" | ".NaN" | ".NAN" => return Some(Kind::Number(f64::NAN)),
        _ => {}
    }
    let radix = |digits: &str, radix: u32| -> Option<f64> {
        let mut digits = digits.chars().map(|c| c.to_digit(radix)).peekable();
        digits.peek()?;
        digits.try_fold(0.0, |sum, digit| {
            Some(sum * f64::from(radix) + f64::from(digit?))
        })
    };
    if let Some(digits) = value.strip_prefix("0o") {
        return radix(digits, 8).map(Kind::Number);
    }
    if let Some(digits) = value.strip_prefix("0x") {
        return radix(digits, 16).map(Kind::Number);
    }
    decimal(value).map(Kind::Number)
}

/// `[-+]? ( \.inf | ( \.[0-9]+ | [0-9]+ (\.[0-9]*)? ) ([eE][-+]?[0-9]+)? )`
fn decimal(value: &str) -> Option<f64> {
    let unsigned = value.strip_prefix(['-', '+']).unwrap_or(value);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return value.replace('.', "").parse().ok();
    }
    // Rust's own grammar differs in words only: `inf`, `nan`, `infinity`.
    let is_sign = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '-' | '+');
    let starts_well = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let is_number = starts_well && unsigned.chars().all(is_sign);
    is_number.then(|| value.parse().ok())?
}

mod hints;
#[cfg(test)]
mod tests;
