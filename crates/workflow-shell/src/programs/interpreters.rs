//! Interpreters with code in the line: `python -c`, `node -e`, `perl -pe` and similar.
//!
//! A script in a file belongs to the project and counts as reading. Code in the line counts as writing if it
//! contains a name that writes files or starts programs. The search is by name, because parsing all these
//! languages is not feasible: it finds what is written openly.

use super::arguments::{OptionStyle, split_arguments};
use crate::analysis::FileWrite;
use crate::command::StandardInput;
use crate::word::Word;

/// The distance from `open` within which its mode is searched, in characters.
const MAX_CALL_CHARS: usize = 400;

/// The options of an interpreter.
struct Interpreter {
    names: &'static [&'static str],
    takes: &'static [&'static str],
    /// Options whose value is code.
    code: &'static [&'static str],
    /// Options with which it does not read code from its input.
    without_input: &'static [&'static str],
}

#[rustfmt::skip] // A row a line.
const INTERPRETERS: &[Interpreter] = &[
    Interpreter { names: &["python", "pypy", "ipython"], takes: &["-c", "-m", "-W", "-X"], code: &["-c"], without_input: &["-m", "-V", "--version"] },
    Interpreter { names: &["node", "nodejs", "tsx", "ts-node"], takes: &["-e", "--eval", "-p", "--print", "-r", "--require", "--import", "-C"], code: &["-e", "--eval", "-p", "--print"], without_input: &["-v", "--version", "-c", "--check", "--test"] },
    Interpreter { names: &["perl"], takes: &["-e", "-E", "-I", "-M", "-m", "-i?", "-F?", "-C?", "-D?", "-x?"], code: &["-e", "-E"], without_input: &["-v", "-V", "-c"] },
    Interpreter { names: &["ruby"], takes: &["-e", "-I", "-r", "-i?", "-F?", "-K?", "-x?"], code: &["-e"], without_input: &["-v", "-c", "--version"] },
    Interpreter { names: &["php"], takes: &["-r", "-B", "-R", "-E", "-d", "-c", "-f"], code: &["-r", "-B", "-R", "-E"], without_input: &["-v", "-m", "-i", "-l", "--version"] },
    Interpreter { names: &["lua", "luajit", "julia", "Rscript", "R", "elixir", "iex", "groovy", "scala", "ghc", "ghci", "clojure", "clj", "bb", "osascript", "erl", "swipl", "sbcl", "guile", "racket"], takes: &["-e", "--eval", "-l", "-r"], code: &["-e", "--eval", "-E"], without_input: &["-v", "--version"] },
    Interpreter { names: &["deno"], takes: &[], code: &[], without_input: &["-V", "--version"] },
    Interpreter { names: &["bun"], takes: &["-e", "--eval", "-p", "--print"], code: &["-e", "--eval", "-p", "--print"], without_input: &[] },
    Interpreter { names: &["pwsh", "powershell"], takes: &["-c", "-Command", "-File"], code: &["-c", "-Command", "--command"], without_input: &[] },
];

/// Names that write files or start programs; each starts a word.
const WRITING: &[&str] = &[
    // Python
    "write_text",
    "write_bytes",
    "writelines",
    "makedirs",
    "unlink",
    "rmdir",
    "mkdir",
    "touch(",
    "rmtree",
    "copytree",
    "copyfile",
    "shutil",
    "os.remove",
    "os.rename",
    "os.replace",
    "os.system",
    "os.popen",
    "os.exec",
    "os.spawn",
    "os.posix_spawn",
    "os.truncate",
    "os.symlink",
    "os.link",
    "os.chmod",
    "os.write",
    "os.open",
    "subprocess",
    "pty.",
    "exec(",
    "eval(",
    "compile(",
    "__import__",
    "fileinput",
    "urlretrieve",
    "extractall",
    "to_csv(",
    "to_json(",
    "to_parquet(",
    "savefig(",
    "rename(",
    "replace_file",
    "NamedTemporaryFile",
    "mkdtemp",
    "mkstemp",
    "getattr(os",
    "setattr(os",
    "import_module",
    "ctypes",
    "chmod",
    "chown",
    "utime",
    "np.save",
    "torch.save",
    "to_excel(",
    // JavaScript
    "writeFile",
    "appendFile",
    "createWriteStream",
    "rmSync",
    "fs.rm",
    "rmdirSync",
    "renameSync",
    "copyFile",
    "cpSync",
    "symlink",
    "truncate",
    "openSync",
    "child_process",
    "execSync",
    "spawn",
    "execFile",
    "Function(",
    "process.binding",
    "outputFile",
    "outputJson",
    ".rm(",
    "writeSync",
    "linkSync",
    "Deno.write",
    "Deno.remove",
    "Deno.run",
    "Deno.Command",
    "Bun.write",
    "Bun.spawn",
    "Bun.$",
    // Ruby and Perl
    "File.write",
    "IO.write",
    "File.delete",
    "File.rename",
    "FileUtils",
    "IO.popen",
    "Open3",
    "system",
    "qx",
    "%x",
    "File::Copy",
    "File::Path",
    "rename",
    "Pathname.new",
    // PHP
    "file_put_contents",
    "copy(",
    "shell_exec",
    "passthru",
    "popen",
    "proc_open",
    // Others
    "os.execute",
    "io.popen",
    "io.output",
    "file.remove",
    "writeLines",
    "write.csv",
    "saveRDS",
    "download.file",
    "do shell script",
    "Set-Content",
    "Out-File",
    "Add-Content",
    "Remove-Item",
    "New-Item",
    "Copy-Item",
    "Move-Item",
    "Rename-Item",
    "Start-Process",
];

/// Returns whether a program runs code that may be in the line.
pub(crate) fn is_interpreter(name: &str) -> bool {
    INTERPRETERS.iter().any(|row| row.names.contains(&name))
}

/// Returns the writes of inline code.
pub(crate) fn writes(name: &str, arguments: &[Word], input: &StandardInput) -> Vec<FileWrite> {
    let Some(interpreter) = INTERPRETERS.iter().find(|row| row.names.contains(&name)) else {
        return Vec::new();
    };
    let arguments: &[Word] = &arguments
        .iter()
        .map(|word| option_letters(name, word))
        .collect::<Vec<_>>();
    let given = split_arguments(arguments, OptionStyle::Letters, interpreter.takes);
    let mut writes = Vec::new();
    let has_code = given.has(interpreter.code);
    if matches!(name, "perl" | "ruby") && given.has(&["-i"]) {
        let files = given
            .operands
            .iter()
            .skip(usize::from(!has_code))
            .map(|word| FileWrite::to_word(format!("`{name} -i`"), word));
        let written = writes.len();
        writes.extend(files);
        if writes.len() == written {
            writes.push(FileWrite::new(format!("`{name} -i`"), None));
        }
    }
    let mut code: Vec<Option<&str>> = given
        .values(interpreter.code)
        .map(|word| word.map(Word::shape))
        .collect();
    let reads_input = !has_code
        && !given.has(interpreter.without_input)
        && given.operands.first().is_none_or(Word::is_standard_input);
    if reads_input {
        match input {
            StandardInput::Text(word) => code.push(Some(word.shape())),
            StandardInput::Pipe => code.push(None),
            StandardInput::Inherited | StandardInput::File => {}
        }
    }
    if name == "deno"
        && given
            .operands
            .first()
            .is_some_and(|word| word.shape() == "eval")
    {
        code.extend(given.operands.get(1).map(|word| Some(word.shape())));
    }
    let process = !has_code
        && given
            .operands
            .first()
            .is_some_and(Word::is_process_substitution);
    if process
        || code
            .iter()
            .any(|code| code.is_none_or(|code| writing(name, code)))
    {
        writes.push(FileWrite::new(format!("`{name}` code in the line"), None));
    }
    writes
}

/// Returns a word with its option letters normalized: in `perl -0777pi` the number belongs to the letter before
/// it, and `node -pe` is `-p` followed by the code.
fn option_letters(name: &str, word: &Word) -> Word {
    let shape = word.shape();
    match name {
        "node" | "nodejs" if shape == "-pe" => Word::literal("-p"),
        "perl"
            if shape.len() > 1
                && shape.starts_with('-')
                && !shape.starts_with("--")
                && !shape.starts_with("-e")
                && !shape.starts_with("-E") =>
        {
            let letters: String = shape
                .chars()
                .filter(|letter| !letter.is_ascii_digit())
                .collect();
            Word::literal(if letters == "-" { "-0" } else { &letters })
        }
        _ => word.clone(),
    }
}

/// Returns whether code contains a name that writes.
fn writing(name: &str, code: &str) -> bool {
    let has_run_operators = matches!(name, "perl" | "ruby" | "php")
        && (code.contains('`') || contains_name(code, "exec "));
    hides_statement(code)
        || has_run_operators
        || WRITING.iter().any(|word| contains_name(code, word))
        || imports_writing(code)
        || ["open", "fopen", "ZipFile", "TarFile"]
            .iter()
            .any(|open| opens_for_writing(code, open))
}

/// Returns whether a function that changes files is imported from Python's `os`.
fn imports_writing(code: &str) -> bool {
    const NAMES: &[&str] = &[
        "*",
        "remove",
        "removedirs",
        "rename",
        "renames",
        "replace",
        "system",
        "link",
        "open",
        "write",
    ];
    code.split("from os import").skip(1).any(|rest| {
        let end = rest.find([';', '\n']).unwrap_or(rest.len());
        rest[..end]
            .split(|next: char| next != '*' && next != '_' && !next.is_alphanumeric())
            .any(|name| NAMES.contains(&name))
    })
}

/// Returns whether a statement starts with an unknown part.
fn hides_statement(code: &str) -> bool {
    code.match_indices('\0').any(|(at, _)| {
        let before = code[..at].trim_end_matches([' ', '\t']);
        before.is_empty() || before.ends_with([';', '\n', '{'])
    })
}

/// Returns whether code contains a name that is not the end of a longer one.
fn contains_name(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        let begins = word.starts_with('.')
            || before.is_none_or(|before| !before.is_alphanumeric() && before != '_');
        // `/x/.exec(…)` searches, `print_function(…)` prints.
        let method = before == Some('.')
            && matches!(word, "exec(" | "eval(" | "compile(" | "copy(" | "system");
        let ends = !word.ends_with(|last: char| last.is_ascii_lowercase())
            || after.is_none_or(|after| !after.is_lowercase() && after != '_')
            || word.len() > 6;
        begins && !method && ends
    })
}

/// Returns whether a call of `open` has a mode that writes, or (Perl) contains `>`.
fn opens_for_writing(code: &str, open: &str) -> bool {
    code.match_indices(open).any(|(at, _)| {
        let rest = &code[at + open.len()..];
        let Some(arguments) = rest
            .trim_start()
            .strip_prefix('(')
            .or_else(|| rest.strip_prefix(' '))
        else {
            return false;
        };
        let end = arguments
            .char_indices()
            .take(MAX_CALL_CHARS)
            .find(|(_, next)| matches!(next, ';' | '\n'));
        let end = end
            .or_else(|| arguments.char_indices().nth(MAX_CALL_CHARS))
            .map_or(arguments.len(), |(end, _)| end);
        let arguments = &arguments[..end];
        // The first argument is the file, unless `open` is a method of the file: `Path(x).open('w')`.
        let method = open == "open" && code[..at].ends_with('.');
        let named = !method && arguments.starts_with(['\'', '"']);
        let texts = arguments.split(['\'', '"']).skip(1).step_by(2);
        texts.skip(usize::from(named)).any(|text| {
            let mode = text.trim_start();
            let letters = !mode.is_empty()
                && mode.len() <= 3
                && mode.bytes().all(|byte| b"rwaxbtU+c".contains(&byte))
                && mode.contains(['w', 'a', 'x', '+']);
            letters
                || mode.starts_with('>')
                || mode.starts_with("+<")
                || mode.starts_with('|')
                || mode.ends_with('|')
        })
    })
}
