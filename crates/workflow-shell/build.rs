//! Writes the index of the tables: the files in `tables/`, and the programs that their rows name, in order.
//!
//! Without it, the first look-up of a process would read all tables. A hook is a process with one look-up.

#![expect(clippy::disallowed_methods, reason = "a build script reads files")]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

#[path = "src/programs/table/heads.rs"]
mod heads;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=tables");
    println!("cargo::rerun-if-changed=src/programs/table/heads.rs");
    let directory = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("tables");
    let mut tables = BTreeSet::new();
    for entry in fs::read_dir(&directory)? {
        let name = entry?.file_name().into_string();
        let name = name.map_err(|name| format!("{} is no text", name.display()))?;
        if !matches!(name.as_str(), "README.md" | "variables.txt" | "names.txt") {
            tables.insert(name);
        }
    }
    let mut files = String::new();
    let mut programs: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (number, name) in tables.iter().enumerate() {
        writeln!(
            files,
            "    ({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/tables/{name}\"))),"
        )?;
        let text = fs::read_to_string(directory.join(name))?;
        for program in text.lines().flat_map(heads::programs_of_line) {
            programs
                .entry(program.to_owned())
                .or_default()
                .insert(number);
        }
    }
    let mut index = String::new();
    for (program, numbers) in &programs {
        let numbers: Vec<_> = numbers.iter().collect();
        writeln!(index, "    ({program:?}, &{numbers:?}),")?;
    }
    let text = format!(
        "/// The embedded tables, by file name.\n\
         const FILES: &[(&str, &str)] = &[\n{files}];\n\n\
         /// The programs that rows name, in order, with the indexes of the files.\n\
         const PROGRAMS: &[(&str, &[usize])] = &[\n{index}];\n"
    );
    let out = env::var("OUT_DIR")?;
    fs::write(Path::new(&out).join("tables.rs"), text)?;
    Ok(())
}
