//! Writes the index of the tables: the files in `tables/`, the programs that their rows name, and the names
//! in `names.txt` and `variables.txt`, in order.
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
    let mut programs: Vec<_> = programs.into_iter().collect();
    programs.sort_by_key(|(program, _)| program.len());
    let mut index = String::new();
    for (program, numbers) in &programs {
        let numbers: Vec<_> = numbers.iter().collect();
        writeln!(index, "    ({program:?}, &{numbers:?}),")?;
    }
    let text = format!(
        "/// The embedded tables, by file name.\n\
         const FILES: &[(&str, &str)] = &[\n{files}];\n\n\
         /// The programs that rows name, the shorter ones first, with the indexes of the files.\n\
         const PROGRAMS: &[(&str, &[usize])] = &[\n{index}];\n"
    );
    let out = env::var("OUT_DIR")?;
    let mut names = fs::read_to_string(directory.join("names.txt"))?;
    names += &fs::read_to_string(directory.join("variables.txt"))?;
    fs::write(Path::new(&out).join("names.rs"), index_of_names(&names)?)?;
    fs::write(Path::new(&out).join("tables.rs"), text)?;
    Ok(())
}

/// Returns the lists with their names, the shorter ones first.
fn index_of_names(text: &str) -> Result<String, Box<dyn Error>> {
    let mut lists: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut list = "";
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut items = line;
        if let Some(row) = line.strip_prefix('@') {
            (list, items) = row.split_once(" =").ok_or("a list without ` =`")?;
        }
        lists
            .entry(list)
            .or_default()
            .extend(items.split_ascii_whitespace());
    }
    let mut lists: Vec<_> = lists.into_iter().collect();
    lists.sort_by_key(|(list, _)| list.len());
    let mut index = String::new();
    for (list, names) in lists {
        let mut names: Vec<_> = names.into_iter().collect();
        names.sort_by_key(|name| name.len());
        writeln!(index, "    ({list:?}, &{names:?}),")?;
    }
    Ok(format!(
        "/// The lists of `names.txt` and `variables.txt` with their names, the shorter ones first.\n\
         const LISTS: &[(&str, &[&str])] = &[\n{index}];\n"
    ))
}
