//! Searches for lines that the analysis takes for reading although they change something: `canary [SECONDS [SEED]]`.

#![expect(clippy::print_stdout, reason = "somebody reads the report")]

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};
use std::{env, fs};

use workflow_fuzz::canary::{Sandbox, search};

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1).map(|argument| argument.parse::<u64>());
    let seconds = arguments.next().and_then(Result::ok).unwrap_or(60);
    let time = || {
        SystemTime::UNIX_EPOCH
            .elapsed()
            .map_or(0, |time| time.as_secs())
    };
    let seed = arguments.next().and_then(Result::ok).unwrap_or_else(time);
    let Some(mut sandbox) = Sandbox::new() else {
        println!("skipped: there is no bash 5");
        return ExitCode::SUCCESS;
    };
    println!("seed {seed}");
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/cases/canary");
    let until = Instant::now() + Duration::from_secs(seconds);
    let numbers = (0..).take_while(|_| Instant::now() < until);
    let found = search(seed, numbers, &mut sandbox, |hole| println!("{hole:?}"));
    for (number, hole) in found.holes.iter().enumerate() {
        let kept = fs::create_dir_all(&cases)
            .and_then(|()| fs::write(cases.join(format!("{seed}-{number}")), hole));
        kept.expect("the directory of cases is writable");
    }
    let (tried, reading, holes) = (found.tried, found.reading, found.holes.len());
    println!("lines {tried}, judged reading {reading}, holes {holes}");
    ExitCode::from(u8::from(holes > 0))
}
