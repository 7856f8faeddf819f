//! The sidecar on standard input and output.

use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use workflow_core::effect::TriggerOutcome;
use workflow_protocol::Dropped;

use super::clock::Alarm;
use super::dispatch::Dispatch;
use super::frame::{Frame, Frames};
use super::outbox::Outbox;
use super::server::Surroundings;
use crate::log::LINES;
use crate::platform::{Platform, PlatformReport, RealPlatform};
use crate::record::{Cause, HostLine, Recorder};

/// Lines that wait are written at the latest when there are this many bytes of them.
const MANY: usize = 64 << 10;

/// Serves the host on standard input and output until either ends, or the host says so.
///
/// A line longer than `max_line` bytes is refused and skipped. A host that is gone is no error.
pub(crate) fn serve(max_line: usize, recorder: Option<Recorder>) -> io::Result<()> {
    let is_recorded = recorder.is_some();
    let changed = Arc::new(Notify::new());
    let real = Arc::new(RealPlatform::default());
    let surroundings = match &recorder {
        Some(recorder) => Surroundings::repeatable(recorder.loader(), recorder.seed()),
        None => Surroundings::default(),
    };
    let platform = Arc::clone(&real) as Arc<dyn Platform>;
    let surroundings = surroundings.on_platform(match &recorder {
        Some(recorder) => recorder.platform(platform),
        None => platform,
    });
    let dispatch = Arc::new(Dispatch::new(surroundings, Arc::clone(&changed)));
    let pen = Arc::new(Pen::on_stdout(recorder)?);
    let alarm = {
        let (waiting, due, pen) = (
            Arc::clone(&dispatch),
            Arc::clone(&dispatch),
            Arc::clone(&pen),
        );
        Alarm::start(
            changed,
            move || waiting.due_in(),
            move || {
                pen.tick(&due);
            },
        )?
    };
    {
        let (dispatch, pen) = (Arc::clone(&dispatch), Arc::clone(&pen));
        real.listen(move |report| {
            let mut pen = pen.take();
            let outcome = pen.platform_reported(report, &dispatch);
            pen.flush_or_end();
            outcome
        });
    }
    // Whoever looks at lines themselves gets them whole.
    let shortens = !is_recorded && !tracing::enabled!(target: LINES, tracing::Level::TRACE);
    let frames = Frames::new(standard_input()?, max_line, shortens);
    let served = speak(&dispatch, frames, max_line, &pen);
    drop(alarm);
    real.finish();
    match served {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        served => served,
    }
}

/// Reads, decides and writes until nothing more comes.
fn speak(
    dispatch: &Dispatch,
    mut frames: Frames<File>,
    max_line: usize,
    pen: &Pen,
) -> io::Result<()> {
    loop {
        let frame = frames.next()?;
        let is_end = frame == Frame::End;
        let mut pen = pen.take();
        pen.happen(
            match frame {
                Frame::Line(line, dropped) => Event::Host(HostLine::Line(line), dropped),
                Frame::TooLong => Event::Host(HostLine::TooLong(max_line), Dropped::default()),
                Frame::End => Event::Host(HostLine::End, Dropped::default()),
            },
            dispatch,
        );
        if is_end {
            return pen.flush();
        }
        let is_over = dispatch.is_over();
        // While more lines are there already, their answers are written together.
        if is_over || !frames.has_next() || pen.outbox.as_bytes().len() > MANY {
            pen.flush()?;
        }
        if is_over {
            return Ok(());
        }
    }
}

/// The right to decide and to write: only one thread has it at a time.
struct Pen(Mutex<Writing>);

/// What is decided and not written yet, and where it goes.
struct Writing {
    outbox: Outbox,
    output: File,
    recorder: Option<Recorder>,
}

/// What something follows from.
#[derive(Debug, Clone, Copy)]
enum Event<'a> {
    /// What the host says, and what was taken out of it.
    Host(HostLine<'a>, Dropped),
    Time,
}

impl Event<'_> {
    fn happen(self, dispatch: &Dispatch, out: &mut Outbox) {
        match self {
            Self::Host(HostLine::Line(line), dropped) => dispatch.take(line, dropped, out),
            Self::Host(HostLine::TooLong(limit), _) => Dispatch::refuse_long_line(limit, out),
            Self::Host(HostLine::End, _) => dispatch.finish(out),
            Self::Time => dispatch.tick(out),
        }
    }
}

impl Pen {
    fn on_stdout(recorder: Option<Recorder>) -> io::Result<Self> {
        Ok(Self(Mutex::new(Writing {
            outbox: Outbox::default(),
            output: standard_output()?,
            recorder,
        })))
    }

    fn take(&self) -> MutexGuard<'_, Writing> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what time brings.
    fn tick(&self, dispatch: &Dispatch) {
        let mut pen = self.take();
        pen.happen(Event::Time, dispatch);
        pen.flush_or_end();
    }
}

impl Writing {
    /// Does what follows from an event.
    fn happen(&mut self, event: Event<'_>, dispatch: &Dispatch) {
        self.catch_up(dispatch);
        let Some(recorder) = &mut self.recorder else {
            return event.happen(dispatch, &mut self.outbox);
        };
        if let Event::Host(line, _) = event {
            let from = self.outbox.len();
            let (looks_at_it, denials) = (dispatch.hangs_on_payload(), dispatch.denials());
            event.happen(dispatch, &mut self.outbox);
            let depends_on_payload = looks_at_it || dispatch.denials() > denials;
            let cause = Cause::Host {
                line,
                depends_on_payload,
            };
            recorder.write(dispatch.now(), cause, &self.outbox.as_bytes()[from..]);
        }
    }

    /// While it is recorded, what time brought comes first, as it does where the recording is replayed.
    fn catch_up(&mut self, dispatch: &Dispatch) {
        let Some(recorder) = &mut self.recorder else {
            return;
        };
        if dispatch.look_at_clock() {
            let from = self.outbox.len();
            dispatch.tick(&mut self.outbox);
            let followed = &self.outbox.as_bytes()[from..];
            recorder.write(dispatch.now(), Cause::Time, followed);
        }
    }

    /// Handles a report of the platform, and says what happens to the message of a trigger.
    fn platform_reported(
        &mut self,
        report: PlatformReport,
        dispatch: &Dispatch,
    ) -> Option<TriggerOutcome> {
        self.catch_up(dispatch);
        let Some(recorder) = &mut self.recorder else {
            return dispatch.platform_reported(report, &mut self.outbox);
        };
        let from = self.outbox.len();
        let outcome = dispatch.platform_reported(report.clone(), &mut self.outbox);
        let followed = &self.outbox.as_bytes()[from..];
        // A trigger that is not watched any more has no effect.
        if report.trigger.is_none() || outcome.is_some() || !followed.is_empty() {
            recorder.write(dispatch.now(), Cause::Platform(&report), followed);
        }
        outcome
    }

    /// Writes, on another thread than the one that reads.
    fn flush_or_end(&mut self) {
        if self.flush().is_err() {
            // Nobody hears us, and that thread may read for ever.
            std::process::exit(0);
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.outbox.as_bytes().is_empty() {
            self.output.write_all(self.outbox.as_bytes())?;
            self.outbox.clear();
        }
        Ok(())
    }
}

/// Standard input without the buffer and the lock of [`io::Stdin`].
#[cfg(unix)]
fn standard_input() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(io::stdin().as_fd().try_clone_to_owned()?.into())
}

/// Standard output without the buffer and the lock of [`io::Stdout`].
#[cfg(unix)]
fn standard_output() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(io::stdout().as_fd().try_clone_to_owned()?.into())
}

/// Standard input without the buffer and the lock of [`io::Stdin`].
#[cfg(windows)]
fn standard_input() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(io::stdin().as_handle().try_clone_to_owned()?.into())
}

/// Standard output without the buffer and the lock of [`io::Stdout`].
#[cfg(windows)]
fn standard_output() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(io::stdout().as_handle().try_clone_to_owned()?.into())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// Gives what it has in pieces of odd sizes.
    struct Pieces<'a>(&'a [u8]);

    impl Read for Pieces<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let size = room.len().min(4099).min(self.0.len());
            self.0.read(&mut room[..size])
        }
    }

    /// The answers to lines, by whether long ones are shortened; and whether one was.
    fn answers(lines: &[u8], shortens: bool) -> (String, bool) {
        let surroundings = Surroundings::default();
        let dispatch = Dispatch::new(surroundings, Arc::new(Notify::new()));
        let mut frames = Frames::new(Pieces(lines), 1 << 20, shortens);
        let (mut out, mut is_shorter) = (Outbox::default(), false);
        while let Frame::Line(line, dropped) = frames.next().unwrap() {
            is_shorter |= dropped != Dropped::default();
            dispatch.take(line, dropped, &mut out);
        }
        let out = String::from_utf8(out.as_bytes().to_vec()).unwrap();
        (out, is_shorter)
    }

    /// The beginning of a session, and a call with a list in its parameters.
    fn lines(method: &str, list: &[u8]) -> Vec<u8> {
        let begin = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"host":{"name":"h","version":"1"},"cwd":"/nowhere","agentDir":"/nowhere"}}
{"jsonrpc":"2.0","id":2,"method":"hook/session_start"}
"#;
        let call = format!(r#"{{"jsonrpc":"2.0","id":3,"method":"{method}","params":"#);
        [begin, call.as_bytes(), list, b"\n"].concat()
    }

    #[test]
    fn a_long_line_is_answered_as_if_nothing_were_taken_out_of_it() {
        let message = r#"{"role":"user","content":"Ünd so weiter\n"},"#.repeat(3000);
        let entry = r#"{"type":"message","message":{"content":"Ünd so weiter"}},"#.repeat(3000);
        for (method, before, list) in [
            ("hook/agent_end", r#"{"event":{"messages":["#, &message),
            ("hook/session_start", r#"{"context":{"branch":["#, &entry),
        ] {
            for end in [
                &br#"{"role":"assistant","stopReason":"stop"}]}}}"#[..],
                br#"{"type":"custom","customType":"workflow:state","data":{}}]}}}"#,
                br#"{}],"later":1}}}"#,
                b"{}]}}",
                b"{}]}}} {",
                "{}]},\"Ü\":}}".as_bytes(),
                "{}]}},\"params\":\"Ü\"}".as_bytes(),
                "{}]}},\"params\":\"Ü\"".as_bytes(),
                b"]}}}",
                b"{\"\xff\"}]}}}",
                b"{}]},\"\xff\"}}",
                b"{\"a\":01}]}}}",
            ] {
                for part in [list.len(), list.len() / 2] {
                    let (list, rest) = list.split_at(list.floor_char_boundary(part));
                    // The second time it breaks off in the middle, and what follows is long too.
                    let list = [before.as_bytes(), list.as_bytes(), end, rest.as_bytes()].concat();
                    let lines = lines(method, &list);
                    let (expected, _) = answers(&lines, false);
                    let (answered, is_shorter) = answers(&lines, true);
                    assert_eq!(answered, expected, "{method} {}", end.escape_ascii());
                    assert!(is_shorter, "{method}");
                }
            }
        }
    }

    #[test]
    fn a_line_that_is_shortened_may_be_no_longer_than_another() {
        let list = format!(
            r#"{{"event":{{"messages":[0{}]}}}}}}"#,
            ",1".repeat(1 << 19)
        );
        for shortens in [true, false] {
            let lines = lines("hook/agent_end", list.as_bytes());
            let mut frames = Frames::new(&lines[..], 1 << 20, shortens);
            frames.next().unwrap();
            frames.next().unwrap();
            assert_eq!(frames.next().unwrap(), Frame::TooLong);
            assert_eq!(frames.next().unwrap(), Frame::End);
        }
    }
}
