//! Names of programs as the tables list them.

/// Returns the name under which the tables list a program: `python3.12` is `python`, `grm` is `rm`,
/// `prettier@3` is `prettier`.
pub(crate) fn known_name(name: &str) -> &str {
    const VERSIONED: &[&str] = &[
        "python",
        "pypy",
        "pip",
        "node",
        "ruby",
        "perl",
        "php",
        "lua",
        "gcc",
        "g++",
        "clang",
        "clang++",
        "clang-format",
        "gunzip",
        "awk",
        "bash",
        "go",
        "ipython",
    ];
    const GNU: &[&str] = &[
        "gchmod",
        "gchown",
        "gcp",
        "gdd",
        "genv",
        "ginstall",
        "gln",
        "gmkdir",
        "gmktemp",
        "gmv",
        "gnice",
        "gnohup",
        "grm",
        "grmdir",
        "gshred",
        "gsort",
        "gsplit",
        "gstdbuf",
        "gtee",
        "gtimeout",
        "gtouch",
        "gtruncate",
        "guniq",
    ];
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let name = match name.split_once('@') {
        Some((package, _)) if !package.is_empty() => package,
        _ => name,
    };
    let short = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    if name.len() > short.len() && VERSIONED.contains(&short) {
        short
    } else if GNU.contains(&name) {
        &name[1..]
    } else if name.starts_with("create-") {
        "create"
    } else if name.starts_with("ld-linux") || name.starts_with("ld-musl") {
        "ld.so"
    } else {
        name
    }
}
