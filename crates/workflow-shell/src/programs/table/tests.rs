use super::arguments::chosen_by;
use super::evaluation::Program;
use super::lists::List;
use super::parsing::parse;
use super::row::{Node, Output, Programs, Row};
use super::{FILES, PROGRAMS, is_harmless_variable, is_interpreted_variable, rows};
use crate::effect::{Effect, UnknownReason};
use crate::file_write::FileWrite;
use crate::word::Word;
use std::sync::Arc;

/// Evaluates a line of literal words; `$` stands for an expansion.
fn effect_in(tables: &'static Programs, line: &str) -> Option<Effect> {
    let mut words = line
        .split_ascii_whitespace()
        .map(|word| Word::literal(&word.replace('$', "\0")));
    let name = words.next()?;
    let arguments: Vec<_> = words.collect();
    Some(effect(program(tables, name.shape())?, &arguments))
}

fn effect(program: Program, arguments: &[Word]) -> Effect {
    match program.outcome(arguments) {
        Ok(outcome) => outcome.effect,
        Err(unknown) => Effect::Unknown(unknown),
    }
}

fn program(tables: &'static Programs, name: &str) -> Option<Program> {
    let (name, node) = tables.get_key_value(name)?;
    Some(Program { name, node })
}

fn tables(text: &'static str) -> &'static Programs {
    let (tables, mistakes) = parse(&[("test.txt", text)], |_| true);
    assert_eq!(mistakes, Vec::<String>::new());
    Box::leak(Box::new(tables))
}

#[expect(clippy::unnecessary_wraps, reason = "results are compared with it")]
fn unknown(word: &str, reason: UnknownReason) -> Option<Effect> {
    Some(Effect::unknown(word, reason))
}

fn unknown_option(word: &str) -> Option<Effect> {
    unknown(word, UnknownReason::Option)
}

fn unknown_argument(word: &str) -> Option<Effect> {
    unknown(word, UnknownReason::Argument)
}

#[expect(clippy::unnecessary_wraps, reason = "results are compared with it")]
fn writes(operation: &str, operands: Option<&[&str]>) -> Option<Effect> {
    let operation = operation.to_owned();
    Some(Effect::Writes(match operands {
        Some(words) => {
            let words = words.iter().map(|word| Word::literal(word));
            let write = |word| FileWrite::to_word(operation.clone(), &word);
            words.map(write).collect()
        }
        None => vec![FileWrite::within(operation, chosen_by(&["a"]))],
    }))
}

const READS: Option<Effect> = Some(Effect::Reads);
const PROJECT: Option<Effect> = Some(Effect::RunsProjectCode);

/// Returns the places at which a row does nothing, because an earlier one says the same or writes in any case.
fn repeated_rows(tables: &Programs) -> Vec<String> {
    fn add(name: &str, node: &Node, found: &mut Vec<String>) {
        for (index, row) in node.rows.iter().enumerate() {
            let hides = |other: &&Arc<Row>| {
                other.kind.writes_in_any_case()
                    || other.kind == row.kind && other.arguments == row.arguments
            };
            if node.rows[..index].iter().any(|other| hides(&other)) {
                found.push(format!("`{name}` has a row that does nothing"));
            }
        }
        for (word, node) in &node.subcommands {
            add(&format!("{name} {word}"), node, found);
        }
    }
    let mut found = Vec::new();
    for (name, node) in tables {
        add(name, node, &mut found);
    }
    found
}

#[test]
fn a_row_that_does_nothing_is_found() {
    let found = |text| repeated_rows(tables(text));
    assert_eq!(found("a: *\n\na: *"), ["`a` has a row that does nothing"]);
    assert_eq!(
        found("a b [writes]\na b: -x"),
        ["`a b` has a row that does nothing"]
    );
    assert_eq!(found("a: -x\na: -y\na [writes]"), [""; 0]);
}

#[test]
fn variables_are_names_with_values_in_parentheses() {
    for list in ["harmless", "interpreted"] {
        for row in List::named(list).names() {
            let (name, values) = row.split_once('=').unwrap_or((row, "()"));
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '*';
            assert!(!name.is_empty() && name.chars().all(is_name), "{row}");
            assert!(values.starts_with('(') && values.ends_with(')'), "{row}");
        }
    }
}

#[test]
fn every_row_is_well_formed() {
    let (tables, mut mistakes) = parse(FILES, |_| true);
    mistakes.extend(repeated_rows(&tables));
    assert!(mistakes.is_empty(), "\n{}", mistakes.join("\n"));
}

#[test]
fn the_rows_of_one_program_are_those_of_the_whole_tables() {
    fn shape(node: &Node) -> String {
        let rows = node.rows.iter().chain(&node.prefix);
        let rows: Vec<_> = rows.map(|row| &row.kind).collect();
        let mut parts: Vec<_> = node.subcommands.iter().collect();
        parts.sort_by_key(|(name, _)| **name);
        let parts: Vec<_> = parts
            .into_iter()
            .map(|(name, node)| format!("{name}: {}", shape(node)))
            .collect();
        format!("{rows:?} {parts:?}")
    }
    let (whole, _) = parse(FILES, |_| true);
    assert_eq!(PROGRAMS.len(), whole.len());
    for (name, node) in &whole {
        let own = rows(name).unwrap();
        assert_eq!(shape(own.node), shape(node));
    }
}

#[test]
fn mistakes_name_file_and_line() {
    let mistakes = |text| parse(&[("x.txt", text)], |_| true).1;
    for (text, word) in [
        ("\na: -x what\n", "what"),
        ("\na: -x -x", "-x"),
        ("\na *", "a *"),
        ("\na [odd]: *", "odd"),
        ("\na: @b", "@b"),
    ] {
        assert_eq!(mistakes(text), [format!("x.txt:2: `{word}` is a mistake")]);
    }
}

#[test]
fn a_program_without_a_row_has_no_effect() {
    assert_eq!(effect_in(tables("a: *"), "b"), None);
}

#[test]
fn a_row_with_a_star_reads_with_any_arguments() {
    let t = tables("a|b: *");
    assert_eq!(effect_in(t, "a -x --y=z w $ -- -q"), READS);
    assert_eq!(effect_in(t, "b"), READS);
}

#[test]
fn letters_are_joined_and_take_values() {
    let t = tables("a: -xy -k= -i?= -<n>");
    for line in [
        "a -xy", "a -yx", "a -xk v", "a -kv -x", "a -ifoo", "a -i v", "a -12",
    ] {
        assert_eq!(effect_in(t, line), READS, "{line}");
    }
    assert_eq!(effect_in(t, "a -xz"), unknown_option("-xz"));
    assert_eq!(effect_in(t, "a -xk"), unknown_option("-xk"));
    assert_eq!(effect_in(t, "a -x5"), unknown_option("-x5"));
    assert_eq!(effect_in(t, "a -x$"), unknown_option("-x…"));
}

#[test]
fn long_options_are_not_abbreviated() {
    let t = tables("a: --flag --key= --opt?=(x|y)");
    for line in ["a --flag --key=v", "a --key v", "a --opt", "a --opt=x z"] {
        assert_eq!(effect_in(t, line), READS, "{line}");
    }
    for word in ["--fla", "--ke=v", "--flag=v", "--opt=z", "--opt=$"] {
        let shown = word.replace('$', "…");
        let expected = unknown_option(&shown);
        assert_eq!(effect_in(t, &format!("a {word}")), expected);
    }
}

#[test]
fn a_value_may_have_to_be_a_path_of_the_project() {
    let t = tables("a: --config=(<path>)");
    assert_eq!(effect_in(t, "a --config x/y.js --config=z.js"), READS);
    for value in ["/tmp/x", "../x", "~/x", "$/x", "http://x", "fix=true"] {
        let line = format!("a --config={value}");
        assert!(!matches!(effect_in(t, &line), READS), "{value}");
    }
}

#[test]
fn a_value_may_have_to_be_of_a_kind() {
    let t = tables("a: --env=(<check>) --config=(<setting>) --format=(<format>)");
    assert_eq!(
        effect_in(t, "a --env py311,lint --config max_width=80"),
        READS
    );
    assert_eq!(effect_in(t, "a --format %h;%s"), READS);
    for word in [
        "--env=py311,format",
        "--config=emit_mode=Files",
        "--format=x;",
        "--format=#(x)",
    ] {
        assert_eq!(effect_in(t, &format!("a {word}")), unknown_option(word));
    }
}

#[test]
fn a_quoted_expansion_is_one_operand() {
    let t = tables("a: operands:0..1");
    let program = program(t, "a").unwrap();
    let operand = Word {
        is_no_option: true,
        ..Word::unknown()
    };
    let quoted = Word {
        is_one: true,
        ..operand.clone()
    };
    assert_eq!(Some(effect(program, &[quoted])), READS);
    assert_eq!(Some(effect(program, &[operand])), unknown_argument("…"));
}

#[test]
fn a_value_that_looks_like_an_option_is_unknown() {
    let t = tables("a: --key= -o=>");
    assert_eq!(effect_in(t, "a --key -ox"), unknown_option("-ox"));
    assert_eq!(effect_in(t, "a --key --"), unknown_option("--"));
    assert_eq!(effect_in(t, "a --key -5"), READS);
}

#[test]
fn an_expansion_that_may_be_an_option_is_unknown() {
    let t = tables("a: -x --key=\nb: *");
    assert_eq!(effect_in(t, "a $"), unknown("…", UnknownReason::Expansion));
    assert_eq!(effect_in(t, "a src/$ --key=$"), READS);
    assert_eq!(effect_in(t, "a -- $"), READS);
    assert_eq!(effect_in(t, "b $"), READS);
    let braces = Word {
        is_glob: true,
        ..Word::literal("{-x,-o}")
    };
    let program = program(t, "a").unwrap();
    let expected = unknown("{-x,-o}", UnknownReason::Expansion);
    assert_eq!(Some(effect(program, &[braces])), expected);
    let glob = Word {
        is_glob: true,
        ..Word::literal("*.rs")
    };
    assert_eq!(Some(effect(program, &[glob])), READS);
}

#[test]
fn whole_words_have_one_dash_or_two() {
    let t = tables("a [words]: -run= -v -mod=(vendor)");
    for line in ["a -run x", "a --run=x -v", "a -mod=vendor"] {
        assert_eq!(effect_in(t, line), READS, "{line}");
    }
    for word in ["-r", "-vv", "-v=false", "-mod=mod"] {
        let expected = unknown_option(word);
        assert_eq!(effect_in(t, &format!("a {word}")), expected);
    }
}

#[test]
fn subcommands_may_be_listed_by_their_start() {
    let t = tables("a describe-*|list: -x\na describe-y [writes]\nb * list: -x");
    assert_eq!(effect_in(t, "a describe-x -x"), READS);
    assert_eq!(effect_in(t, "a describe-y"), writes("`a describe-y`", None));
    assert_eq!(effect_in(t, "a describe-$"), unknown_argument("describe-…"));
    assert_eq!(effect_in(t, "b c list"), READS);
    assert_eq!(effect_in(t, "b c drop"), unknown_argument("drop"));
    assert_eq!(effect_in(t, "b C list"), unknown_argument("C"));
}

#[test]
fn the_longest_subcommand_wins() {
    let t = tables("a: operands:0 -v\na b: -x\na b c|d: -y\na [prefix]: -C=\na e [writes]");
    for line in ["a", "a -v", "a b -x o", "a -C z b d -y", "a b -x c"] {
        assert_eq!(effect_in(t, line), READS, "{line}");
    }
    assert_eq!(effect_in(t, "a b c -x"), unknown_option("-x"));
    assert_eq!(effect_in(t, "a q"), unknown_argument("q"));
    assert_eq!(effect_in(t, "a -v e"), unknown_argument("e"));
    assert_eq!(effect_in(t, "a b -C z"), unknown_option("-C"));
    assert_eq!(effect_in(t, "a e --any"), writes("`a e`", None));
}

#[test]
fn a_program_without_a_row_of_its_own_needs_a_subcommand() {
    let t = tables("a b: *");
    assert_eq!(effect_in(t, "a c"), unknown_argument("c"));
    assert_eq!(effect_in(t, "a $"), unknown("…", UnknownReason::Expansion));
    assert_eq!(
        effect_in(t, "a"),
        unknown("a subcommand", UnknownReason::Missing)
    );
    assert_eq!(effect_in(t, "a -x b"), unknown_option("-x"));
}

#[test]
fn global_options_are_known_behind_the_subcommand() {
    let t = tables("a [global]: -n=\na b: -x");
    for line in ["a -n v b", "a b -n v -x", "a b -xn v"] {
        assert_eq!(effect_in(t, line), READS, "{line}");
    }
}

#[test]
fn a_toolchain_precedes_the_subcommand() {
    let t = tables("a [prefix]: operands:(+*)\na b: -x\na c [writes]");
    assert_eq!(effect_in(t, "a +nightly b -x"), READS);
    assert_eq!(effect_in(t, "a +nightly c"), writes("`a c`", None));
    assert_eq!(effect_in(t, "a +$ b"), unknown_argument("+…"));
}

#[test]
fn the_first_operand_ends_options_if_the_row_says_so() {
    let t = tables("a [leading]: -x");
    assert_eq!(effect_in(t, "a -x o $ -z --"), READS);
    assert_eq!(effect_in(t, "a $"), unknown("…", UnknownReason::Expansion));
    assert_eq!(effect_in(t, "a -z o"), unknown_option("-z"));
}

#[test]
fn rows_are_tried_in_order() {
    let t =
        tables("a b: needs:(--dry-run|-n) --dry-run -n -x\na b [writes]\nc: -x\nc: -y operands:0");
    assert_eq!(effect_in(t, "a b -xn o"), READS);
    assert_eq!(effect_in(t, "a b -x"), writes("`a b`", None));
    assert_eq!(effect_in(t, "a b -n --no-dry-run"), writes("`a b`", None));
    assert_eq!(effect_in(t, "a b --dry-run=false"), writes("`a b`", None));
    assert_eq!(effect_in(t, "a b --dry-run false"), writes("`a b`", None));
    assert_eq!(effect_in(t, "c -y"), READS);
    assert_eq!(effect_in(t, "c -x o"), READS);
    assert_eq!(effect_in(t, "c -y o"), unknown_option("-y"));
}

#[test]
fn operands_are_counted_and_compared() {
    let t = tables(
        "a: operands:0..1\nb: operands:(now|+*)\nc: operands:1..2\nd: operands:without(:|+)",
    );
    assert_eq!(effect_in(t, "a x"), READS);
    assert_eq!(effect_in(t, "a x y"), unknown_argument("y"));
    assert_eq!(effect_in(t, "a x -- y"), unknown_argument("y"));
    assert_eq!(effect_in(t, "a s/$"), unknown_argument("s/…"));
    assert_eq!(effect_in(t, "d x y"), READS);
    assert_eq!(effect_in(t, "d x:y"), unknown_argument("x:y"));
    assert_eq!(effect_in(t, "d x/$"), unknown_argument("x/…"));
    assert_eq!(effect_in(t, "b +%s now"), READS);
    assert_eq!(effect_in(t, "b 1200"), unknown_argument("1200"));
    assert_eq!(
        effect_in(t, "c"),
        unknown("an operand", UnknownReason::Missing)
    );
}

#[test]
fn written_files_are_named() {
    let t =
        tables("a: -o=> --out=>- -x!\nb: --fix!! -q\nc [project]: -o=>\nd [writes operands]: -q");
    assert_eq!(
        effect_in(t, "a in -o out"),
        writes("`a -o`", Some(&["out"]))
    );
    assert_eq!(effect_in(t, "a -oout"), writes("`a -o`", Some(&["out"])));
    assert_eq!(effect_in(t, "a -o - in"), writes("`a -o`", Some(&["-"])));
    assert_eq!(effect_in(t, "a --out=- -o /dev/null"), READS);
    assert_eq!(effect_in(t, "a -x -o f"), writes("`a -x`", None));
    assert_eq!(effect_in(t, "a -o f -z"), unknown_option("-z"));
    assert_eq!(
        effect_in(t, "b --fix s t"),
        writes("`b --fix`", Some(&["s", "t"]))
    );
    assert_eq!(effect_in(t, "b --fix"), writes("`b --fix`", None));
    assert_eq!(effect_in(t, "c"), PROJECT);
    assert_eq!(effect_in(t, "c -o f"), writes("`c -o`", Some(&["f"])));
    assert_eq!(effect_in(t, "d -q s"), writes("`d`", Some(&["s"])));
}

#[test]
fn the_target_of_operands_is_named_and_so_is_the_directory_below_which_is_written() {
    let t = tables(
        "a [writes target]: -t= target:(-t)\nb [writes operands]: -t= target:(-t)\nc [writes below]: -C= below:(-C)",
    );
    assert_eq!(effect_in(t, "a x y"), writes("`a`", Some(&["y"])));
    assert_eq!(effect_in(t, "a -t d x y"), writes("`a`", Some(&["d"])));
    assert_eq!(effect_in(t, "a x"), writes("`a`", Some(&["."])));
    assert_eq!(effect_in(t, "b x y"), writes("`b`", Some(&["x", "y"])));
    assert_eq!(effect_in(t, "b -t d x"), writes("`b`", Some(&["x", "d"])));
    for (line, directory) in [("c x", "."), ("c x -C d", "d"), ("c -C /d -C e", "\0")] {
        let Some(Effect::Writes(files)) = effect_in(t, line) else {
            panic!("{line} writes");
        };
        assert_eq!(files[0].path, None, "{line}");
        assert_eq!(files[0].location.path, directory, "{line}");
    }
}

#[test]
fn words_behind_two_dashes_are_operands_unless_the_row_says_otherwise() {
    let t = tables("a: -x\nb: -x rest:*\nd: -x -- -D= operands:0");
    assert_eq!(effect_in(t, "a -- -z"), READS);
    assert_eq!(effect_in(t, "b -- -z $"), READS);
    assert_eq!(effect_in(t, "d o -- -D w"), READS);
    assert_eq!(effect_in(t, "d -- o"), unknown_argument("o"));
    assert_eq!(effect_in(t, "d -- -x"), unknown_option("-x"));
}

#[test]
fn starts_of_options_are_known_if_the_whole_word_is() {
    let t = tables("a [words]: -W* -c");
    assert_eq!(effect_in(t, "a -Wall -c"), READS);
    assert_eq!(effect_in(t, "a -Wx;y"), unknown_option("-Wx;y"));
    assert_eq!(effect_in(t, "a -W$"), unknown_option("-W…"));
}

#[test]
fn variables_are_harmless_by_name_or_value() {
    assert!(is_harmless_variable("CI", None));
    assert!(is_harmless_variable("LC_ALL", Some("C")));
    assert!(is_harmless_variable("GIT_PAGER", Some("cat")));
    assert!(!is_harmless_variable("GIT_PAGER", None));
    assert!(!is_harmless_variable("GIT_PAGER", Some("sh")));
    assert!(!is_harmless_variable("GIT_TRACE", Some("1")));
    assert!(!is_harmless_variable("FOO", Some("1")));
}

#[test]
fn variables_that_programs_interpret_are_known() {
    for name in [
        "PATH",
        "IFS",
        "BASH_ENV",
        "LD_PRELOAD",
        "GIT_TRACE",
        "TAR_OPTIONS",
        "GIT_PAGER",
        "PYTHONPATH",
        "HOME",
    ] {
        assert!(is_interpreted_variable(name), "{name}");
    }
    for name in ["x", "BIN", "files", "CI", "RUST_LOG"] {
        assert!(!is_interpreted_variable(name), "{name}");
    }
}

#[test]
fn a_row_may_say_what_a_command_prints() {
    let prints = |line: &str| {
        let t = tables(
            "a [prefix]: -C=\na b: -x\na b [prints names]: -q --format=(%h) needs:(-q|--format)\na b [prints number]: -c operands:1 operands:(<number>)\n\
             a c [prints numbers] [leading]: operands:(<number>)\na d [prints filter]: rest:*",
        );
        let words: Vec<_> = line.split(' ').map(Word::literal).collect();
        let program = program(t, "a").unwrap();
        program.printed(&words)
    };
    assert_eq!(prints("b -q x"), Some(Output::Names));
    assert_eq!(prints("-C z b --format=%h"), Some(Output::Names));
    assert_eq!(prints("b --format=%B"), None);
    assert_eq!(prints("b -q -x"), None);
    assert_eq!(prints("b -q -- x"), None);
    assert_eq!(prints("b x"), None);
    assert_eq!(prints("b -c 1"), Some(Output::Number));
    assert_eq!(prints("b -c x"), None);
    assert_eq!(prints("c 1 -x"), Some(Output::Numbers));
    assert_eq!(prints("c x 1"), None);
    assert_eq!(prints("d -- -x"), Some(Output::Filter));
}

#[test]
fn no_row_about_outputs_knows_an_unlisted_option() {
    for (program, _) in PROGRAMS {
        let words = [Word::literal("--unlisted")];
        assert_eq!(super::printed(program, &words), None, "{program}");
    }
}
