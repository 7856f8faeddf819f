//! Writes the seeds into a directory per target: `seeds DIRECTORY [TARGET]`.

use std::path::Path;
use std::{env, fs, io};

use workflow_fuzz::TARGETS;

fn main() -> io::Result<()> {
    let mut arguments = env::args().skip(1);
    let directory = arguments.next().unwrap_or_else(|| "fuzz/corpus".to_owned());
    let only = arguments.next();
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    for target in TARGETS.iter().filter(|target| wanted(target.name)) {
        let directory = Path::new(&directory).join(target.name);
        fs::create_dir_all(&directory)?;
        for (number, seed) in (target.seeds)().iter().enumerate() {
            fs::write(directory.join(format!("seed-{number:04}")), seed)?;
        }
    }
    Ok(())
}
