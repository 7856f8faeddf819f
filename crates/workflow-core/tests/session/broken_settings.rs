//! Settings files with mistakes: readable guards apply, and unreadable ones block.

use serde_json::{Value, json, value::to_raw_value};
use workflow_core::definition::{
    FilePath, FileProblem, Files, MemoryFiles, Root, SettingsStatus, Tier, TierEntry, TierSettings,
    load,
};

use crate::event::Event;
use crate::world::{World, line, workflow};

/// Files that lie elsewhere than they usually do.
#[derive(Debug)]
struct Elsewhere(MemoryFiles);

impl Files for Elsewhere {
    fn entries(&self, root: Root) -> Result<Vec<TierEntry>, FileProblem> {
        self.0.entries(root)
    }

    fn read(&self, path: &FilePath, max_bytes: u32) -> Result<Vec<u8>, FileProblem> {
        self.0.read(path, max_bytes)
    }

    fn shown(&self, _path: &FilePath) -> String {
        "/x/[app]/{a,b}*/.pi/workflow-sidecar.json5".to_owned()
    }
}

#[test]
fn a_file_with_a_path_like_a_pattern_needs_consent_and_no_other_file_does() {
    let files = MemoryFiles::new().with_settings(Tier::Project, "{tools: {");
    let mut world = World::new(vec![workflow("w", &["a"])]);
    world.settings = load(&Elsewhere(files)).settings;
    world.reload();
    let mut edit = |path: &str| world.call("edit", &json!({ "path": path }));
    for other in [
        "/x/a/a/.pi/workflow-sidecar.json5",
        "/x/[app]/b/.pi/workflow-sidecar.json5",
    ] {
        assert!(!line(&edit(other), "block").is_empty());
    }
    let itself = edit("/x/[app]/{a,b}*/.pi/workflow-sidecar.json5");
    assert!(!line(&itself, "ask").is_empty());
}

#[test]
fn a_key_of_other_programs_blocks_if_it_restricts_tools_and_not_if_it_bounds_time() {
    let is_loaded = |settings: &str| {
        let files = MemoryFiles::new().with_settings(Tier::Project, settings);
        load(&files).tiers.iter().all(TierSettings::is_loaded)
    };
    for restriction in [
        "{readonly: true}",
        "{permissions: 'ask'}",
        "{deny: ['edit']}",
    ] {
        assert!(!is_loaded(restriction), "{restriction}");
    }
    for other in [
        "{timeout: 5}",
        "{maxTurns: 3}",
        "{agent: 'x'}",
        "{hints: {}}",
    ] {
        assert!(is_loaded(other), "{other}");
    }
}

/// A session under these settings of the project.
fn under(settings: impl Into<Vec<u8>>) -> World {
    let files = MemoryFiles::new().with_settings(Tier::Project, settings);
    let mut world = World::new(vec![workflow("w", &["a"])]);
    world.settings = load(&files).settings;
    world.reload();
    world
}

fn is_blocked(world: &mut World, tool: &str, input: &Value) -> bool {
    let lines = world.call(tool, input);
    lines.iter().any(|line| line.starts_with("block "))
}

/// Returns whether the replacement of the settings blocks all tools.
fn is_closed(world: &mut World) -> bool {
    ["read", "bash", "anything"]
        .iter()
        .all(|tool| is_blocked(world, tool, &json!({})))
}

/// Returns the result that the model reads, if it was changed.
fn read(world: &mut World, text: &str) -> Option<String> {
    let content = to_raw_value(&json!([{"type": "text", "text": text}]));
    let content = content.expect("a value is JSON");
    let lines = world.step(Event::ToolResult {
        tool: "bash",
        content: Some(&content),
        is_error: false,
    });
    lines.first().cloned()
}

#[test]
fn settings_of_which_nothing_can_be_read_let_no_tool_run() {
    for settings in [
        &b"{tools: {blacklist: ['bash']}"[..],
        b"",
        b"[]",
        b"{tools: {blacklist: ['b\xffash']}}",
        b"{tools: {blacklist: ['bash']}, tools: {}}",
    ] {
        let mut world = under(settings);
        assert!(is_closed(&mut world), "{}", settings.escape_ascii());
        assert_eq!(world.settings.project.status, SettingsStatus::Unreadable);
        world.command("w the task");
        assert!(is_closed(&mut world), "{}", settings.escape_ascii());
        assert!(line(&world.tool("status"), "tool").contains("N-w"));
    }
    let mut world = under("{}");
    assert!(!is_blocked(&mut world, "bash", &json!({})));
}

#[test]
fn the_reason_names_the_location_and_correcting_it_needs_consent() {
    let mut world = under("{\n  tools: {\n");
    let file = json!({"path": ".pi/workflow-sidecar.json5"});
    let blocked = world.call("write", &json!({"path": "src/main.rs"}));
    assert!(
        line(&blocked, "block").starts_with(
            "block by Policy: [workflow] The tool \"write\" is blocked by the project's settings (.pi/workflow-sidecar.json5:2): not \
             valid JSON5"
        ),
        "{blocked:?}"
    );
    for tool in ["read", "edit", "write"] {
        let asked = world.call(tool, &file);
        assert!(line(&asked, "ask").contains("json5:2"), "{asked:?}");
        world.answer(true);
    }
    let shell = json!({"command": "cat .pi/workflow-sidecar.json5"});
    assert!(is_blocked(&mut world, "bash", &shell));
}

#[test]
fn both_lists_apply_if_both_are_given() {
    let mut world = under("{tools: {whitelist: ['read', 'bash'], blacklist: ['bash']}}");
    assert!(!is_blocked(&mut world, "read", &json!({})));
    for tool in ["bash", "edit"] {
        assert!(is_blocked(&mut world, tool, &json!({})), "{tool}");
    }
}

#[test]
fn lists_and_rules_that_cannot_be_read_are_closed() {
    for tools in [
        "'none'",
        "{blacklist: 'bash'}",
        "{blacklist: ['bash', ['edit']]}",
        "{whitelist: null}",
        "{whitelist: {read: true}}",
        "{rules: {block: 'bash'}}",
        "{rules: ['bash']}",
        "{rules: null}",
        "{rules: [{blok: 'bash'}]}",
        "{rules: [{block: 3}]}",
        "{whitlist: ['read']}",
    ] {
        assert!(
            is_closed(&mut under(format!("{{tools: {tools}}}"))),
            "{tools}"
        );
    }
    for settings in [
        "{toolz: {blacklist: ['bash']}}",
        "{blacklist: ['bash']}",
        "{budget: 5}",
    ] {
        assert!(is_closed(&mut under(settings)), "{settings}");
    }
    // What says nothing about tools closes nothing.
    for settings in ["{gate: []}", "{contxt: 1}", "{triggers: 3}", "{tools: {}}"] {
        assert!(
            !is_blocked(&mut under(settings), "bash", &json!({})),
            "{settings}"
        );
    }
}

#[test]
fn no_rule_that_allows_precedes_a_lost_rule() {
    for tools in [
        "{rules: ['block bash rm', {allow: '*'}]}",
        "{rules: [{allow: '*'}, 'block bash rm']}",
        "{ruls: [{block: 'bash'}], rules: [{allow: '*'}]}",
        "{blacklist: 'bash', rules: [{allow: '*'}]}",
    ] {
        let mut world = under(format!("{{tools: {tools}}}"));
        assert!(is_closed(&mut world), "{tools}");
        let file = json!({"path": ".pi/workflow-sidecar.json5"});
        assert!(!line(&world.call("edit", &file), "ask").is_empty());
    }
    let misspelled = "{toolz: {blacklist: ['bash']}, tools: {rules: [{allow: '*'}]}}";
    assert!(is_closed(&mut under(misspelled)));
}

#[test]
fn one_bad_name_takes_nothing_from_the_others() {
    let mut world = under("{tools: {rules: [{block: ['bash', '', 3]}]}}");
    assert!(is_blocked(&mut world, "bash", &json!({})));
    assert!(!is_blocked(&mut world, "read", &json!({})));
    let mut world = under("{tools: {blacklist: [' bash ', 'edit']}}");
    for tool in ["bash", "edit"] {
        assert!(is_blocked(&mut world, tool, &json!({})), "{tool}");
    }
    // `exit` is perhaps a misspelled `edit`, and perhaps a tool.
    let mut world = under("{tools: {rules: [{block: ['bash', 'exit']}]}}");
    assert!(is_blocked(&mut world, "exit", &json!({})));
    let mut world = under("{tools: {rules: [{allow: ['read', '']}, {block: '*'}]}}");
    assert!(is_blocked(&mut world, "read", &json!({})));
    let mut world = under("{tools: {rules: [{block: 'bash', ask: 'edit', allow: 'read'}]}}");
    for (tool, blocked) in [("bash", true), ("edit", true), ("read", false)] {
        assert_eq!(is_blocked(&mut world, tool, &json!({})), blocked, "{tool}");
    }
}

#[test]
fn results_are_withheld_where_it_cannot_be_read_what_to_redact() {
    for results in [
        "[{redact: ['sk-[0-9]+', 'sk-[']}]",
        "[{redact: 'sk-['}]",
        "[{redact: 3}]",
        "[{redact: null}]",
        "[{redact: []}]",
        "[{redcat: 'sk-1'}]",
        "[{tool: 'bash', maxChars: 100, redcat: 'sk-1'}]",
        "['sk-1']",
        "{redact: 'sk-1'}",
        "null",
    ] {
        let mut world = under(format!("{{results: {results}}}"));
        let found = read(&mut world, "sk-1 here");
        let found = found.unwrap_or_else(|| panic!("{results} lets it through"));
        assert!(found.contains("json5:1"), "{results}: {found}");
        assert!(!found.contains("sk-1"), "{results}: {found}");
    }
    assert!(read(&mut under("{result: [{redact: 'sk-1'}]}"), "sk-1").is_some());
    // What does not redact hides nothing.
    for results in ["[{maxChars: 0}]", "[{append: 3}]"] {
        let mut world = under(format!("{{results: {results}}}"));
        assert_eq!(read(&mut world, "sk-1 here"), None, "{results}");
    }
}

#[test]
fn the_last_known_good_guards_replace_those_that_cannot_be_read() {
    let global = "{tools: {blacklist: ['write']}, context: 'every-turn'}";
    let of = |project: &str| {
        let files = MemoryFiles::new().with_settings(Tier::Global, global);
        load(&files.with_settings(Tier::Project, project))
    };
    let sound = of("{tools: {blacklist: ['bash']}, defaults: {continue: 'wait'}}");
    let mut broken = of("{tools: {");
    assert!(sound.tiers.iter().all(TierSettings::is_loaded));
    assert!(!broken.tiers[1].is_loaded());
    broken.keep_last_known_good(Tier::Project, sound.tiers[1].clone());
    assert_eq!(broken.settings.project.tools, sound.settings.project.tools);
    assert_eq!(
        broken.settings.project.status,
        SettingsStatus::LastKnownGood
    );
    assert_eq!(broken.settings.user, sound.settings.user);
    assert_eq!(broken.settings.auto_continue, sound.settings.auto_continue);
    assert_eq!(broken.settings.context, sound.settings.context);
}

#[test]
fn changed_settings_cancel_open_questions() {
    let mut world = under("{tools: {");
    let again = |world: &mut World| {
        let loaded = world.loaded();
        world.step(Event::Settings { loaded: &loaded })
    };
    world.call("edit", &json!({"path": ".pi/workflow-sidecar.json5"}));
    assert_eq!(again(&mut world), [""; 0]);
    let sound =
        "{tools: {blacklist: ['bash']}, triggers: [{file: 'in.txt', prompt: 'It says {content}'}]}";
    let files = MemoryFiles::new().with_settings(Tier::Project, sound);
    world.settings = load(&files).settings;
    let lines = again(&mut world);
    let block = line(&lines, "settled block #1 by Failure: ");
    assert!(
        block.contains("the settings changed, so other rules may apply"),
        "{block}"
    );
    assert!(line(&lines, "notify Info").contains("can be read again"));
    assert_eq!(
        line(&lines, "watch"),
        r#"watch [{"on":{"file":"in.txt"},"prompt":"It says {content}","tier":"project","source":".pi/workflow-sidecar.json5:1"}]"#
    );
    assert!(is_blocked(&mut world, "bash", &json!({})));
    assert!(!is_blocked(&mut world, "edit", &json!({})));
}
