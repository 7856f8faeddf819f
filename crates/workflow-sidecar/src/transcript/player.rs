//! The host's part of a transcript, played.
//!
//! Time is virtual: where a recording ran on the system's clock, the sidecar is asked for a virtual one
//! that starts when it was recorded, and it is moved on whenever something happened later. So a session
//! of an hour replays at once, and says the same.
//!
//! Owns what is sent, and hearing it in the transcript's words. Must not know what is expected.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use workflow_core::definition::Tier;
use workflow_core::types::Millis;

use super::definitions::{Definitions, Directory};
use super::format::{Header, Said};
use super::held::{AGENT_DIR, Held, NoDefinitions, Tiers};
use super::json_text::{at, member, quoted, string, unescaped, with_member, with_replaced};
use super::process::{Process, Program};
use super::sidecar::{InMemory, Sent, Sidecar, Trouble};
use super::steps::{Event, Step};
use super::world::HeldWorld;

/// What `~` stands for where nobody says it.
const HOME: &str = "$HOME";
/// A session of nobody: what time brings is not part of the answer to us.
const NOBODY: &str = "replay:nobody";
const ADVANCE: &str = "replay:advance";

/// What a transcript is replayed against.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stage {
    /// A command in place of the engine in this process.
    pub(crate) against: Option<Program>,
    /// Definitions in place of the transcript's.
    pub(crate) instead: Tiers,
}

/// Why a transcript cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    #[error("{}:{line}: {error}", path.display())]
    Definitions {
        path: PathBuf,
        line: usize,
        error: NoDefinitions,
    },
    #[error("{}:{line}: {error}", path.display())]
    Trouble {
        path: PathBuf,
        line: usize,
        error: Trouble,
    },
    #[error("{}:{line}: {why}: the transcript stays as it is", path.display())]
    Broken {
        path: PathBuf,
        line: usize,
        why: String,
    },
}

/// What was heard in a step, in the words of the transcript.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Because time passed before anything else happened.
    pub(super) before: Vec<String>,
    pub(super) then: Vec<String>,
    /// Why nothing more can be heard.
    pub(super) broken: Option<String>,
}

/// Plays one transcript.
pub(super) struct Player<'a> {
    path: &'a Path,
    stage: &'a Stage,
    held: Arc<Held>,
    world: Arc<HeldWorld>,
    sidecar: Option<Box<dyn Sidecar>>,
    header: Option<&'a Header>,
    /// The time by the clock that was asked for here; none if the transcript has its own.
    now: Option<Millis>,
    /// Ids of the sidecar's requests: in the transcript, and here.
    ids: Vec<(String, String)>,
}

impl<'a> Player<'a> {
    pub(super) fn new(path: &'a Path, stage: &'a Stage) -> Self {
        Self {
            path,
            stage,
            held: Arc::new(Held::instead(stage.instead.clone())),
            world: Arc::default(),
            sidecar: None,
            header: None,
            now: None,
            ids: Vec::new(),
        }
    }

    /// Lets a step happen, and hears what follows.
    pub(super) fn play(&mut self, step: &Step<'a>) -> Result<Heard, ReplayError> {
        let place = (self.path.to_path_buf(), step.line.number);
        if let Event::Definitions(definitions) = step.event {
            let (path, line) = place.clone();
            self.define(definitions)
                .map_err(|error| ReplayError::Definitions { path, line, error })?;
        }
        let mut heard = Heard::default();
        match self.happen(step, &mut heard) {
            Ok(()) => {}
            Err(error @ (Trouble::Silent(_) | Trouble::Babbling)) => {
                heard.broken = Some(error.to_string());
            }
            Err(error) => {
                let (path, line) = place;
                return Err(ReplayError::Trouble { path, line, error });
            }
        }
        if step.is_unknown() {
            self.dismiss(&heard.then);
        } else {
            self.use_names_of(step, &mut heard.then);
        }
        Ok(heard)
    }

    /// How the sidecar ended, if it did although nobody asked for it.
    pub(super) fn last_words(&mut self) -> Option<String> {
        self.sidecar.as_mut()?.last_words()
    }

    /// What else there is to know of what is heard: how the sidecar ended, and its complaints, each a line.
    pub(super) fn hint(&mut self) -> Option<String> {
        let sidecar = self.sidecar.as_mut()?;
        let mut lines: Vec<String> = sidecar.last_words().into_iter().collect();
        let said = sidecar.complaints().into_iter();
        lines.extend(said.map(|line| format!("the command said: {line}")));
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// The definitions that took the place of the transcript's, by the names that were asked for.
    pub(super) fn definitions_in_place(&self) -> BTreeMap<String, Directory> {
        self.held.in_place()
    }

    /// Begins anew: one process follows another.
    fn start(&mut self, header: Option<&'a Header>) {
        self.held.clear();
        self.world.start(header.map_or(HOME, |header| &header.home));
        self.header = header;
        self.sidecar = None;
        self.now = None;
        self.ids.clear();
    }

    fn define(&self, definitions: &Definitions) -> Result<(), NoDefinitions> {
        match definitions {
            Definitions::Named(name) => self.held.name(Tiers::beside(self.path, name)?),
            Definitions::Embedded(directories) => self.held.embed(directories.clone()),
        }
        Ok(())
    }

    fn happen(&mut self, step: &Step<'a>, heard: &mut Heard) -> Result<(), Trouble> {
        match step.event {
            Event::Host(said) => {
                heard.before = self.pass(step.line.at)?;
                heard.then = self.say(said, step)?;
            }
            Event::Gate(gate) => {
                heard.before = self.pass(step.line.at)?;
                heard.then = readable(self.sidecar()?.hear_of_gate(gate)?);
            }
            Event::Trigger(trigger) => {
                heard.before = self.pass(step.line.at)?;
                heard.then = readable(self.sidecar()?.hear_of_trigger(trigger)?);
            }
            Event::World(answer) => {
                self.world.answer(answer.clone());
                return Ok(());
            }
            Event::Time(time) => heard.then = self.pass(Some(time))?,
            Event::End => {
                heard.before = self.pass(step.line.at)?;
                heard.then = readable(self.sidecar()?.end()?);
            }
            Event::Start(header) => self.start(header),
            Event::Definitions(_) => {
                if let Some(sidecar) = &mut self.sidecar {
                    sidecar.redefine()?;
                }
                return Ok(());
            }
        }
        self.world.forget();
        Ok(())
    }

    fn sidecar(&mut self) -> Result<&mut dyn Sidecar, Trouble> {
        let sidecar: Box<dyn Sidecar> = match (self.sidecar.take(), &self.stage.against) {
            (Some(sidecar), _) => sidecar,
            (None, Some(program)) => Box::new(Process::start(program, &self.held)?),
            (None, None) => Box::new(InMemory::new(&self.held, &self.world)),
        };
        Ok(self.sidecar.insert(sidecar).as_mut())
    }

    /// Lets time pass until then.
    fn pass(&mut self, until: Option<Millis>) -> Result<Vec<String>, Trouble> {
        let (Some(now), Some(until)) = (self.now, until) else {
            return Ok(Vec::new());
        };
        if until <= now {
            return Ok(Vec::new());
        }
        self.now = Some(until);
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":"{ADVANCE}","method":"clock/advance","params":{{"sessionId":"{NOBODY}","ms":{}}}}}"#,
            until - now
        );
        let mut heard = self.sidecar()?.say(Sent::Line(line.as_bytes()))?;
        heard.retain(|line| member(line, "id").and_then(string).as_deref() != Some(ADVANCE));
        Ok(readable(heard))
    }

    fn say(&mut self, said: &Said, step: &Step<'_>) -> Result<Vec<String>, Trouble> {
        let line = match said {
            Said::TooLong(limit) => {
                return Ok(readable(self.sidecar()?.say(Sent::TooLong(*limit))?));
            }
            Said::Bytes(bytes) => return Ok(readable(self.sidecar()?.say(Sent::Line(bytes))?)),
            Said::Json(_) => said.text().unwrap_or_default(),
        };
        let method = member(&line, "method").and_then(string);
        // A clock that was the system's was not moved by this. Here it would be.
        if self.now.is_some() && method.as_deref() == Some("clock/advance") {
            let as_told = step.followed.iter().filter_map(|(_, said)| said.text());
            return Ok(as_told.map(|text| unescaped(&text)).collect());
        }
        // Whether it was asked here hangs on what is left out: it was answered when it was.
        if method.is_none() && step.is_unknown() {
            return Ok(Vec::new());
        }
        let line = match method.as_deref() {
            None => self.with_our_id(&line),
            Some("initialize") => self.introduction(&line, step.line.at)?,
            Some(_) => self.with_directory(&line, &["params", "context"], "cwd", Tier::Project)?,
        };
        Ok(readable(self.sidecar()?.say(Sent::Line(line.as_bytes()))?))
    }

    /// The host's introduction: with a clock that can be moved, and directories that are there.
    fn introduction(&mut self, line: &str, now: Option<Millis>) -> Result<String, Trouble> {
        let mut line = line.to_owned();
        let clock = at(&line, &["params", "clock"]);
        if let Some(header) = self.header
            && clock.is_none_or(|clock| clock == "\"system\"")
            && let Some(now) = now
        {
            let seed = header.clock.seed;
            let clock = format!(r#"{{"virtual":{{"now":{now},"seed":{seed}}}}}"#);
            line = with_member(&line, &["params"], "clock", &clock);
            self.now = Some(now);
        }
        let said = at(&line, &["params", "agentDir"]);
        if said.is_none_or(|said| said.starts_with('"') || said == "null") {
            let agent_dir = self.agent_dir(said.and_then(string).as_deref());
            line = with_member(&line, &["params"], "agentDir", &quoted(&agent_dir));
        }
        let line = self.with_directory(&line, &["params"], "agentDir", Tier::Global)?;
        self.with_directory(&line, &["params"], "cwd", Tier::Project)
    }

    /// The agent directory that was meant, where the recording was made.
    fn agent_dir(&self, said: Option<&str>) -> String {
        let [usual, home] = match self.header {
            Some(header) => [&*header.agent_dir, &*header.home],
            None => [AGENT_DIR, HOME],
        };
        match said {
            None | Some("") => usual.to_owned(),
            Some("~") => home.to_owned(),
            Some(said) => match said.strip_prefix("~/") {
                Some(rest) => format!("{}/{rest}", home.trim_end_matches('/')),
                None => said.to_owned(),
            },
        }
    }

    /// The line with a directory as it is called here.
    fn with_directory(
        &mut self,
        line: &str,
        path: &[&str],
        name: &str,
        tier: Tier,
    ) -> Result<String, Trouble> {
        let object = at(line, path);
        let Some(named) = object
            .and_then(|object| member(object, name))
            .and_then(string)
        else {
            return Ok(line.to_owned());
        };
        let directory = self.sidecar()?.directory(tier, &named)?;
        if directory == named {
            return Ok(line.to_owned());
        }
        Ok(with_member(line, path, name, &quoted(&directory)))
    }

    /// An answer of the host under the id of the question here.
    fn with_our_id(&self, line: &str) -> String {
        let Some(id) = member(line, "id") else {
            return line.to_owned();
        };
        let ours = self.ids.iter().rev().find(|(told, _)| told == id);
        match ours {
            Some((_, ours)) => with_replaced(line, vec![(id, ours.clone())]),
            None => line.to_owned(),
        }
    }

    /// Answers the questions in what was heard, so that they wait for nobody.
    fn dismiss(&mut self, heard: &[String]) {
        let questions = heard.iter().filter(|line| {
            member(line, "method").is_some_and(|method| method.starts_with("\"ui/"))
        });
        let ids: Vec<String> = questions
            .filter_map(|line| member(line, "id").map(str::to_owned))
            .collect();
        for id in ids {
            let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":null}}"#);
            if let Some(sidecar) = &mut self.sidecar {
                // What follows hangs on it as well.
                let _ = sidecar.say(Sent::Line(answer.as_bytes()));
            }
        }
    }

    /// Gives what is heard the names that the transcript has: of the sidecar, and of its requests.
    fn use_names_of(&mut self, step: &Step<'_>, heard: &mut [String]) {
        for ((_, told), heard) in step.followed.iter().zip(heard) {
            let told = told.text().unwrap_or_default();
            // Which release speaks is no difference in what it says.
            if let Some(server) = at(&told, &["result", "server"]) {
                *heard = with_server(heard, server);
            }
            let (Some(theirs), Some(ours)) = (request_id(&told), request_id(heard)) else {
                continue;
            };
            if theirs != ours {
                self.ids.push((theirs.to_owned(), ours.to_owned()));
                *heard = with_replaced(heard, vec![(ours, theirs.to_owned())]);
            }
        }
    }
}

/// The answer to an introduction as if this server had given it.
fn with_server(heard: &str, server: &str) -> String {
    match at(heard, &["result", "server"]) {
        Some(_) => with_member(heard, &["result"], "server", server),
        None => heard.to_owned(),
    }
}

/// The id of a line that is a request.
fn request_id(line: &str) -> Option<&str> {
    member(line, "method")?;
    member(line, "id")
}

fn readable(lines: Vec<String>) -> Vec<String> {
    lines.into_iter().map(|line| unescaped(&line)).collect()
}
