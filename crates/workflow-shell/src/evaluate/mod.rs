//! Walks what a line consists of and notes what runs and what is written.
//!
//! Owns what runs in which order, and the variables the line sets. It
//! must not know programs: those are in the tables, in `runners` and in `special`.

use crate::diagnostic::shown;

use super::parse::parse;
use super::runners::{Inner, runs};
use super::scope::{Input, Scope, is_no_file, move_to};
use super::touches::{Spot, mentioned, quoted_texts, stays_in_git_directory, wholes};
use super::tree::{Assignment, Command, Joined, Kind, List, Piece, Plain, Raw, Redirection};
use super::word::{Variables, expand, expand_whole};
use super::{
    Change, Line, Simple, Touch, Unreadable, Word, Write, Writes, code, programs, special,
};
use crate::guard::alternatives::alternatives;

/// How often one command may run another before nobody writes so in earnest.
const DEEPEST: usize = 40;

/// The longest value of a variable that is kept, in bytes.
const LONGEST_VALUE: usize = 256;

/// How many variables are kept: to know that nothing else sets one takes a look at the whole line.
const MOST_VARIABLES: usize = 50;

/// How often values of variables are put in their places.
const MOST_USES: usize = 1000;

/// How much text is read for each byte of the line, and for any line: wrappers and `eval` have
/// the same text read again.
const WORK: usize = 5;
const LEAST_WORK: usize = 64 * 1024;

/// How many places a line may touch before it counts as touching any.
const MOST_TOUCHES: usize = 4000;

/// The longest path that is one, in bytes: systems open none that is longer.
const LONGEST_PATH: usize = 4096;

struct Reader<'a> {
    source: &'a str,
    commands: Vec<Simple>,
    writes: Vec<Write>,
    touches: Vec<Touch>,
    unreadable: Option<Unreadable>,
    variables: Variables,
    /// Variables that are set only if all before them succeeded.
    tentative: Vec<String>,
    looked_up: usize,
    used: usize,
    /// How many bytes may still be read.
    work: usize,
    /// Whether `~` is another place than before.
    home_moved: bool,
    /// Whether `cd` may go elsewhere than it says.
    paths_searched: bool,
}

pub(super) fn read(directory: &str, line: &str) -> Line {
    Reader::of(line, LEAST_WORK + WORK * line.len()).line(directory, 0)
}

impl<'a> Reader<'a> {
    fn of(source: &'a str, work: usize) -> Self {
        Self {
            source,
            commands: Vec::new(),
            writes: Vec::new(),
            touches: Vec::new(),
            unreadable: None,
            variables: Variables::new(),
            tentative: Vec::new(),
            looked_up: 0,
            used: 0,
            work,
            home_moved: false,
            paths_searched: false,
        }
    }

    /// Reads the line, which starts in this directory and stands `depth` levels inside others.
    fn line(mut self, directory: &str, depth: usize) -> Line {
        if self.source.contains('\0') {
            self.give_up(Unreadable::Unparsed("it holds a NUL".to_owned()));
        } else {
            self.text(self.source, &Scope::start(directory, depth));
        }
        self.doubt_places();
        let writes = match self.unreadable {
            Some(unreadable) => Writes::Unreadable(unreadable),
            None if self.writes.is_empty() => Writes::No,
            None => Writes::Yes(self.writes),
        };
        Line {
            commands: self.commands,
            writes,
            touches: self.touches,
        }
    }

    /// Whether so much more may be read.
    fn may_read(&mut self, length: usize) -> bool {
        let left = self.work.checked_sub(length);
        if left.is_none() {
            self.give_up(Unreadable::Tangled);
        }
        self.work = left.unwrap_or(0);
        left.is_some()
    }

    /// Reads a text as a shell would; the directory in which it ends.
    fn text(&mut self, text: &str, scope: &Scope<'_>) -> Option<String> {
        if !self.may_read(text.len()) {
            return None;
        }
        let parsed = match parse(text, scope.depth) {
            Ok(parsed) => parsed,
            Err(error) => {
                self.give_up(Unreadable::Unparsed(error.to_string()));
                return None;
            }
        };
        let mut scope = Scope {
            here_documents: &parsed.here_documents,
            ..scope.clone()
        };
        self.list(&parsed.list, &mut scope);
        scope.directory
    }

    /// Notes why it cannot be told; what came out of the line is made fit to be shown.
    fn give_up(&mut self, why: Unreadable) {
        self.unreadable.get_or_insert_with(|| match why {
            Unreadable::Long | Unreadable::Tangled | Unreadable::Deep => why,
            Unreadable::Unparsed(text) => Unreadable::Unparsed(told(&text)),
            Unreadable::Program(name) => Unreadable::Program(told(&name)),
            Unreadable::Unseen(name) => Unreadable::Unseen(told(&name)),
        });
    }

    /// Forgets paths that may lead elsewhere after all.
    fn doubt_places(&mut self) {
        let (home, searched) = (self.home_moved, self.paths_searched);
        for write in &mut self.writes {
            write.path.take_if(|path| {
                home && path.starts_with('~') || searched && !path.starts_with(['/', '~'])
            });
        }
        for touch in &mut self.touches {
            if home && touch.path.starts_with('~') {
                touch.path.replace_range(..1, "\0");
            } else if searched {
                touch.unmoor();
            }
        }
    }

    fn list(&mut self, list: &List, scope: &mut Scope<'_>) {
        scope.depth += 1;
        for step in list {
            if step.joined != Joined::And {
                self.settle(scope);
            }
            if step.pipeline.len() > 1 || step.background {
                let taker = step.pipeline.iter().rposition(takes_words);
                for (place, command) in step.pipeline.iter().enumerate() {
                    let mut apart = scope.apart();
                    apart.heard |= taker.is_some_and(|taker| taker > place);
                    if place > 0 {
                        apart.input = Input::Pipe;
                    }
                    self.command(command, &mut apart);
                }
            } else if let Some(command) = step.pipeline.first() {
                if step.joined == Joined::Or {
                    self.perhaps(scope, |reader, apart| reader.command(command, apart));
                } else {
                    let behind_and =
                        std::mem::replace(&mut scope.chained, step.joined == Joined::And);
                    self.command(command, scope);
                    scope.chained = behind_and;
                }
            }
        }
        self.settle(scope);
        scope.depth -= 1;
    }

    /// What held only behind `&&` holds no longer.
    fn settle(&mut self, scope: &mut Scope<'_>) {
        if std::mem::take(&mut scope.moved) {
            scope.directory = None;
        }
        for name in self.tentative.drain(..) {
            self.variables.remove(&name);
        }
    }

    /// Reads what may run or not, once or often: afterwards the directory is known only if it is
    /// the same in any case.
    fn perhaps<'b>(&mut self, scope: &mut Scope<'b>, read: impl FnOnce(&mut Self, &mut Scope<'b>)) {
        let mut apart = scope.apart();
        let before = self.noted();
        read(self, &mut apart);
        if apart.directory != scope.directory {
            scope.directory = None;
            self.forget_places(before);
        }
    }

    /// How many writes and touches are noted.
    fn noted(&self) -> (usize, usize) {
        (self.writes.len(), self.touches.len())
    }

    /// Relative paths noted since then may be seen from another directory.
    fn forget_places(&mut self, (writes, touches): (usize, usize)) {
        for write in &mut self.writes[writes..] {
            write.path.take_if(|path| !path.starts_with(['/', '~']));
        }
        for touch in &mut self.touches[touches..] {
            touch.unmoor();
        }
    }

    fn command(&mut self, command: &Command, scope: &mut Scope<'_>) {
        let outer = scope.input.clone();
        for redirection in &command.redirections {
            self.redirection(redirection, scope);
        }
        match &command.kind {
            Kind::Simple(plain) => self.plain(plain, scope),
            Kind::Group(list) => self.list(list, scope),
            Kind::Subshell(list) => self.list(list, &mut scope.apart()),
            Kind::Perhaps {
                words,
                bodies,
                loops,
            } => {
                self.raws(words, scope);
                if *loops {
                    self.name_all(&words[1..], scope);
                }
                self.perhaps(scope, |reader, apart| {
                    for body in bodies {
                        reader.list(body, apart);
                    }
                });
            }
            Kind::Function(body) => {
                let before = self.noted();
                let mut apart = Scope {
                    input: Input::Inherited,
                    ..scope.apart()
                };
                self.list(body, &mut apart);
                self.forget_places(before);
                if apart.directory != scope.directory {
                    // Wherever it is called, it goes there.
                    scope.directory = None;
                }
            }
        }
        scope.input = outer;
    }

    fn redirection(&mut self, redirection: &Redirection, scope: &mut Scope<'_>) {
        match redirection {
            Redirection::Read(raw) => {
                self.raw(raw, scope);
                self.name_all(std::slice::from_ref(raw), scope);
                let process = matches!(raw.0.as_slice(), [Piece::Process(_)]);
                scope.input = if process { Input::Pipe } else { Input::File };
            }
            Redirection::Write(raw) => {
                self.raw(raw, scope);
                self.write_to(raw, scope);
            }
            Redirection::Duplicate(raw) => {
                self.raw(raw, scope);
                let word = expand_whole(raw, &self.variables);
                let descriptor = word
                    .shape()
                    .trim_end_matches('-')
                    .bytes()
                    .all(|byte| byte.is_ascii_digit());
                if !descriptor {
                    self.write_to(raw, scope);
                }
            }
            Redirection::HereString(raw) => {
                self.raw(raw, scope);
                self.name_all(std::slice::from_ref(raw), scope);
                scope.input = Input::Text(expand_whole(raw, &self.variables));
            }
            Redirection::HereDocument(number) => {
                if let Some(raw) = scope.here_documents.get(*number) {
                    self.raw(raw, scope);
                    scope.input = Input::Text(expand_whole(raw, &self.variables));
                }
            }
        }
    }

    fn write_to(&mut self, raw: &Raw, scope: &Scope<'_>) {
        let words = expand(raw, &self.variables);
        if !words.iter().all(Word::is_process) || words.is_empty() {
            let how = "a redirection".to_owned();
            let write = match words.as_slice() {
                [word] => Write::at(how, word),
                _ => Write::new(how, None),
            };
            self.write(write, scope);
        }
    }

    fn write(&mut self, write: Write, scope: &Scope<'_>) {
        if write.path.as_deref().is_some_and(is_no_file) {
            return;
        }
        self.touch(&write.spot, scope);
        let path = write.path.and_then(|path| scope.path(&path));
        let how = told(&write.how);
        let spot = write.spot;
        self.writes.push(Write { how, path, spot });
    }

    /// Notes that words are named where a command takes files from them.
    fn name_all(&mut self, raws: &[Raw], scope: &Scope<'_>) {
        for raw in raws {
            for word in expand(raw, &self.variables) {
                self.touch(&Spot::of(&word, Change::Read), scope);
            }
        }
    }

    /// Notes a place that is touched, each of the places that braces stand for.
    fn touch(&mut self, spot: &Spot, scope: &Scope<'_>) {
        if self.touches.len() > MOST_TOUCHES {
            return;
        }
        let anywhere = |reader: &mut Self| {
            let Spot { shape, .. } = Spot::anywhere();
            reader
                .touches
                .push(Touch::new(shape, false, Change::Written));
        };
        if self.touches.len() == MOST_TOUCHES {
            return anywhere(self);
        }
        if spot.shape.is_empty() || spot.shape.len() > LONGEST_PATH {
            return;
        }
        let ranged = |inside: &str| {
            if inside.contains("..") {
                "*".to_owned()
            } else {
                format!("{{{inside}}}")
            }
        };
        let shapes = if spot.pattern && spot.shape.contains('{') {
            alternatives(&spot.shape, ranged)
        } else {
            Some(vec![spot.shape.clone()])
        };
        let Some(shapes) = shapes else {
            return anywhere(self);
        };
        for shape in shapes {
            let touch = Touch::new(scope.place(&shape), spot.pattern, spot.change);
            self.touches.push(touch);
        }
    }

    /// Reads what runs while words are expanded.
    fn raws(&mut self, raws: &[Raw], scope: &Scope<'_>) {
        for raw in raws {
            self.raw(raw, scope);
        }
    }

    fn raw(&mut self, raw: &Raw, scope: &Scope<'_>) {
        self.pieces(&raw.0, scope);
    }

    fn pieces(&mut self, pieces: &[Piece], scope: &Scope<'_>) {
        for piece in pieces {
            match piece {
                Piece::Text { .. } => {}
                Piece::Substitution(list) => self.list(
                    list,
                    &mut Scope {
                        heard: true,
                        ..scope.apart()
                    },
                ),
                Piece::Process(list) => self.list(
                    list,
                    &mut Scope {
                        input: Input::Pipe,
                        ..scope.apart()
                    },
                ),
                Piece::Expansion { name, inside, .. } => {
                    self.used += usize::from(name.is_some() && !self.variables.is_empty());
                    if self.used > MOST_USES {
                        self.variables.clear();
                    }
                    self.pieces(inside, scope);
                }
                Piece::Array(items) => self.raws(items, scope),
            }
        }
    }

    fn plain(&mut self, plain: &Plain, scope: &mut Scope<'_>) {
        for assignment in &plain.assignments {
            self.raw(&assignment.value, scope);
        }
        self.raws(&plain.words, scope);
        let words: Vec<Word> = plain
            .words
            .iter()
            .flat_map(|raw| expand(raw, &self.variables))
            .collect();
        for assignment in &plain.assignments {
            self.assign(assignment, words.is_empty(), scope);
        }
        if !words.is_empty() {
            self.judge(&words, scope);
        }
    }

    fn assign(&mut self, assignment: &Assignment, lasting: bool, scope: &Scope<'_>) {
        let value = expand_whole(&assignment.value, &self.variables);
        self.touch(&Spot::of(&value, Change::Read), scope);
        self.set(&assignment.name, &value, scope);
        if lasting && assignment.name == "IFS" {
            // Words end elsewhere from now on.
            self.variables.clear();
            self.looked_up = MOST_VARIABLES;
        }
        let known = lasting && scope.sure && assignment.whole && self.looked_up < MOST_VARIABLES;
        self.looked_up += usize::from(known);
        let known = known && named_once(self.source, &assignment.name);
        match value
            .text()
            .filter(|text| known && text.len() <= LONGEST_VALUE)
        {
            Some(text) => {
                self.variables
                    .insert(assignment.name.clone(), text.to_owned());
                self.tentative
                    .extend(scope.chained.then(|| assignment.name.clone()));
            }
            None => {
                self.variables.remove(&assignment.name);
            }
        }
    }

    /// What setting a variable does, if it is one that others look at.
    fn set(&mut self, name: &str, value: &Word, scope: &Scope<'_>) {
        match name {
            "HOME" => self.home_moved = true,
            "CDPATH" => self.paths_searched |= !value.shape().is_empty(),
            _ => {}
        }
        let Some(text) = value.text().filter(|text| !text.is_empty()) else {
            return;
        };
        if special::runs_its_value(name, text) {
            let apart = Scope {
                depth: scope.depth + 1,
                ..scope.apart()
            };
            self.text(text, &apart);
        }
        if special::renews_files(name, text) {
            self.write(Write::own(format!("`{name}`"), name), scope);
        }
    }

    /// Notes a simple command and what it does.
    fn judge(&mut self, words: &[Word], scope: &mut Scope<'_>) {
        if scope.depth > DEEPEST {
            return self.give_up(Unreadable::Deep);
        }
        let Some(first) = words.first() else { return };
        if !self.may_read(words.iter().map(|word| word.shape().len() + 2).sum()) {
            return;
        }
        self.commands.push(Simple {
            words: words.to_vec(),
        });
        let Some(program) = first.program() else {
            return self.give_up(Unreadable::Program(first.shape().to_owned()));
        };
        if words.iter().any(Word::hides_option) {
            return self.give_up(Unreadable::Unseen(program.to_owned()));
        }
        let name = programs::known_name(program);
        for spot in mentioned(name, words, scope.heard) {
            self.touch(&spot, scope);
        }
        if matches!(words, [_, help] | [_, _, help] if matches!(help.shape(), "--help" | "--version"))
            && !special::runs_anything(name)
        {
            return;
        }
        if matches!(name, "cd" | "pushd" | "popd" | "chdir") {
            return move_to(words, scope);
        }
        let runs = runs(name, words, &scope.input);
        for inner in runs.inner {
            self.inner(inner, scope);
        }
        if runs.nothing_else {
            return;
        }
        let arguments = &words[1..];
        let writes = special::writes(name, arguments, &scope.input);
        let writes = writes
            .into_iter()
            .chain(programs::rows(name).flat_map(|row| row.writes(name, arguments)));
        let wholes = wholes(name, arguments);
        let own_files = name == "git" && (!wholes.is_empty() || stays_in_git_directory(arguments));
        for mut write in writes {
            match write.spot.change {
                Change::Own if own_files => write.spot = Spot::at(".git", Change::Own),
                Change::Written if programs::is_formatter(name) => write.spot.change = Change::Own,
                _ => {}
            }
            self.write(write, scope);
        }
        for spot in wholes {
            self.touch(&spot, scope);
        }
        if let (true, Input::Text(code)) = (code::is_interpreter(name), &scope.input) {
            for text in quoted_texts(code.shape()) {
                self.touch(&Spot::at(text, Change::Read), scope);
            }
        }
    }

    fn inner(&mut self, inner: Inner, scope: &mut Scope<'_>) {
        let depth = scope.depth + 1;
        match inner {
            Inner::Here(words) => {
                scope.depth = depth;
                self.judge(&words, scope);
                scope.depth = depth - 1;
            }
            Inner::Command(words) => self.judge(
                &words,
                &mut Scope {
                    depth,
                    ..scope.apart()
                },
            ),
            Inner::Elsewhere(words) => {
                self.judge(
                    &words,
                    &mut Scope {
                        depth,
                        directory: None,
                        ..scope.apart()
                    },
                );
            }
            Inner::Script(word) => {
                let variables = std::mem::take(&mut self.variables);
                self.text(
                    word.shape(),
                    &Scope {
                        depth,
                        here_documents: &[],
                        ..scope.apart()
                    },
                );
                self.variables = variables;
            }
            Inner::Evaluated(word) => {
                let apart = Scope {
                    depth,
                    here_documents: &[],
                    ..scope.apart()
                };
                if self.text(word.shape(), &apart) != scope.directory {
                    scope.directory = None;
                }
            }
            Inner::Remote(word) => {
                let text = word.shape().replace('\0', "_");
                if self.may_read(text.len()) {
                    let line = Reader::of(&text, self.work).line("", depth);
                    self.commands.extend(line.commands);
                    if let Writes::Unreadable(why @ (Unreadable::Tangled | Unreadable::Deep)) =
                        line.writes
                    {
                        self.give_up(why);
                    }
                }
            }
            Inner::Variable(name, value) => {
                if name == "IFS" {
                    self.variables.clear();
                }
                self.set(&name, &value, scope);
            }
            Inner::Unseen(name) => self.give_up(Unreadable::Unseen(name)),
        }
    }
}

/// Whether a command may take what it reads for the names of files.
fn takes_words(command: &Command) -> bool {
    let Kind::Simple(plain) = &command.kind else {
        return true;
    };
    let is_taker = |raw: &Raw| matches!(raw.0.as_slice(), [Piece::Text { text, .. }] if matches!(text.as_str(), "xargs" | "gxargs" | "parallel"));
    plain.words.iter().any(is_taker)
}

/// Text out of the line, for people.
fn told(text: &str) -> String {
    shown(&text.replace('\0', "…"))
}

/// Whether a variable's name stands in the line just once but for its uses: then nothing but its
/// one assignment can have set it.
fn named_once(source: &str, name: &str) -> bool {
    let is_name =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = source.as_bytes();
    source
        .match_indices(name)
        .filter(|(at, _)| {
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            !is_name(before)
                && !matches!(before, Some(b'$' | b'{'))
                && !is_name(bytes.get(at + name.len()))
        })
        .take(2)
        .count()
        == 1
}
